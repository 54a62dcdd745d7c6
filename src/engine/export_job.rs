//! One export, on its own thread: table, certificate, recipe and generator, whole or absent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::certify::certificate;
use crate::engine::command::ExportRequest;
use crate::engine::coordinator::ExportEnd;
use crate::engine::event::{Area, Exported, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::run_job::FinishedRun;
use crate::engine::sample::write_rows;
use crate::engine::snapshot::LedgerView;
use crate::export::{GeneratorFile, Recipe, TableWriter, check_target, write_certificate};
use crate::num::{Progress, RandomSource};

/// Everything that an export's thread needs.
pub(super) struct ExportJob {
    pub request: ExportRequest,
    pub finished: Arc<FinishedRun>,
    pub ledger: LedgerHandle,
    pub entries: Arc<LedgerView>,
    pub progress: Progress,
}

/// The files of one export: the table, and its papers beside it.
struct Targets {
    table: PathBuf,
    certificate: PathBuf,
    recipe: PathBuf,
    generator: PathBuf,
}

impl Targets {
    fn of(table: &Path) -> Self {
        let beside = |ending: &str| {
            let mut name = table.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Self {
            table: table.to_path_buf(),
            certificate: beside(".certificate.json"),
            recipe: beside(".recipe.toml"),
            generator: beside(".generator.safetensors"),
        }
    }

    fn all(&self) -> [&PathBuf; 4] {
        [&self.table, &self.certificate, &self.recipe, &self.generator]
    }
}

impl ExportJob {
    /// Writes the files. The papers go first: a table never lies there without them.
    pub fn run(self) -> Result<Exported, ExportEnd> {
        let targets = Targets::of(&self.request.path);
        if !self.request.overwrite
            && let Some(existing) = targets.all().into_iter().find(|path| path.exists())
        {
            return Err(ExportEnd::Exists(existing.clone()));
        }
        let outcome = super::catching(Area::Export, || self.write(&targets));
        match outcome {
            Ok(exported) => Ok(exported),
            Err(_) if self.progress.is_cancelled() => Err(ExportEnd::Cancelled),
            Err(problem) => Err(ExportEnd::Failed(problem)),
        }
    }

    fn write(&self, targets: &Targets) -> Result<Exported, Problem> {
        let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Export, error);
        let overwrite = self.request.overwrite;
        for target in targets.all() {
            check_target(target, overwrite).map_err(|error| failed(&error))?;
        }
        let finished = &*self.finished;
        let generator = &finished.trained.generator;
        let writer = TableWriter::create(&targets.table, generator.schema(), overwrite)
            .map_err(|error| failed(&error))?;
        // Rows are drawn from what is released already, so their randomness is not part of the promise; under a
        // fixed seed the rows are fixed too.
        let mut random =
            finished.request.seed.map_or_else(RandomSource::from_operating_system, RandomSource::seeded);
        let wanted = (self.request.rows, self.request.condition.as_ref());
        let written = write_rows(generator, writer, wanted, &mut random, &self.progress, &mut |_| {})?;
        let papers = self.write_papers(targets, &written);
        match papers {
            Ok(verdict) => Ok(Exported {
                run: self.request.run,
                table: targets.table.clone(),
                written,
                certificate: targets.certificate.clone(),
                recipe: targets.recipe.clone(),
                generator: targets.generator.clone(),
                verdict,
            }),
            Err(problem) => {
                // A table without its certificate must not stay.
                let _ = std::fs::remove_file(&targets.table);
                Err(problem)
            }
        }
    }

    /// Writes certificate, recipe and generator; returns the verdict.
    fn write_papers(&self, targets: &Targets, written: &crate::export::Written) -> Result<String, Problem> {
        let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Export, error);
        let overwrite = self.request.overwrite;
        let finished = &*self.finished;
        let budget = match finished.identity {
            Some(identity) => self.ledger.budget(identity).ok(),
            None => None,
        };
        let certificate = certificate(finished, &targets.table, written, budget.as_ref());
        GeneratorFile::of(&finished.trained.generator, &certificate)
            .and_then(|file| file.save(&targets.generator, overwrite))
            .map_err(|error| failed(&error))?;
        Recipe::of(finished)
            .save(&targets.recipe, overwrite)
            .map_err(|error| failed(&error))?;
        write_certificate(&targets.certificate, &certificate, overwrite).map_err(|error| failed(&error))?;
        Ok(certificate.verdict().to_string())
    }
}
