//! One export, on its own thread: table, certificate, recipe and generator, whole or absent.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::certify::{certificate, recipe};
use crate::engine::command::ExportRequest;
use crate::engine::coordinator::ExportEnd;
use crate::engine::event::{Area, Exported, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::run_job::FinishedRun;
use crate::engine::sample::write_output;
use crate::engine::settings::Language;
use crate::export::image::labels_file;
use crate::export::{AtomicFile, ExportError, GENERATOR_ENDING, GeneratorFile, check_target};
use crate::num::{Progress, RandomSource};
use crate::privacy::meaning;

/// Everything that an export's thread needs.
pub(super) struct ExportJob {
    pub request: ExportRequest,
    pub finished: Arc<FinishedRun>,
    pub ledger: LedgerHandle,
    pub progress: Progress,
}

/// The files of one export: the table, and its papers beside it.
struct Targets {
    table: PathBuf,
    certificate: PathBuf,
    page: PathBuf,
    recipe: PathBuf,
    generator: PathBuf,
}

impl Targets {
    fn of(table: &Path) -> Self {
        let beside = |ending: &str| {
            let mut name = table.as_os_str().to_owned();
            name.push(".");
            name.push(ending);
            PathBuf::from(name)
        };
        Self {
            table: table.to_path_buf(),
            certificate: beside("certificate.json"),
            page: beside("certificate.html"),
            recipe: beside("recipe.toml"),
            generator: beside(GENERATOR_ENDING),
        }
    }

    fn papers(&self) -> [&PathBuf; 4] {
        [&self.certificate, &self.page, &self.recipe, &self.generator]
    }

    /// The table or the images first. Images in a pair of files have their labels in one of their own.
    fn all(&self) -> Vec<PathBuf> {
        let labels = labels_file(&self.table);
        std::iter::once(self.table.clone())
            .chain(labels)
            .chain(self.papers().map(Clone::clone))
            .collect()
    }
}

/// The files that an export under this name writes, the table or the images first: to be asked about before budget is
/// spent.
pub fn exported_files(table: &Path) -> Vec<PathBuf> {
    Targets::of(table).all()
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Problem {
    Problem::new(Area::Export, error)
}

impl ExportJob {
    /// Writes the files.
    pub fn run(self) -> Result<Exported, ExportEnd> {
        let targets = Targets::of(&self.request.path);
        if !self.request.overwrite
            && let Some(existing) = targets.all().into_iter().find(|path| path.exists())
        {
            return Err(ExportEnd::Exists(existing));
        }
        super::catching(Area::Export, || self.write(targets)).map_err(|problem| {
            if self.progress.is_cancelled() {
                ExportEnd::Cancelled
            } else {
                ExportEnd::Failed(problem)
            }
        })
    }

    /// Prepares every file under another name and only then gives them their own, the papers before the table:
    /// a table never lies there without its certificate, and a failure leaves all that was there as it was.
    fn write(&self, targets: Targets) -> Result<Exported, Problem> {
        let overwrite = self.request.overwrite;
        let finished = &*self.finished;
        let generator = &finished.trained.generator;
        for target in targets.papers() {
            check_target(target, overwrite).map_err(|error| failed(&error))?;
        }
        // Rows are drawn from what is released already, so their randomness is no part of the promise; under a
        // fixed seed the rows are fixed too.
        let mut random = finished
            .request
            .seed
            .map_or_else(RandomSource::from_operating_system, RandomSource::seeded);
        let wanted = (self.request.rows, self.request.condition.as_ref());
        let sealed = write_output(
            generator,
            (&targets.table, overwrite),
            wanted,
            &mut random,
            &self.progress,
            &mut |_| {},
        )?;
        let written = sealed.written().clone();

        let certificate = certificate(finished, &targets.table, &written, &self.ledger)?;
        let json = certificate.to_json().map_err(|error| failed(&error))?;
        let generator = GeneratorFile {
            generator: generator.clone(),
            plan: finished.plan.clone(),
            certificate: Some(serde_json::to_value(&certificate).map_err(|error| failed(&error))?),
        };
        let generator = generator
            .to_bytes(&targets.generator)
            .map_err(|error| failed(&error))?;
        let recipe = recipe(finished, self.request.rows)?
            .to_toml()
            .map_err(|error| failed(&error))?;
        let papers = [
            prepare(&targets.generator, &generator, overwrite)?,
            prepare(&targets.recipe, recipe.as_bytes(), overwrite)?,
            prepare(
                &targets.page,
                certificate
                    .to_html(page_language(self.request.language))
                    .as_bytes(),
                overwrite,
            )?,
            prepare(&targets.certificate, json.as_bytes(), overwrite)?,
        ];
        for paper in papers {
            paper.commit().map_err(|error| failed(&error))?;
        }
        sealed.publish()?;
        Ok(Exported {
            run: self.request.run,
            table: targets.table,
            written,
            records: certificate.records.unwrap_or_default(),
            certificate: targets.certificate,
            certificate_page: targets.page,
            recipe: targets.recipe,
            generator: targets.generator,
            epsilon: certificate.guarantee.as_ref().map(|guarantee| guarantee.epsilon),
            is_claim: certificate.verdict().is_claim(),
            verdict: certificate.verdict().to_string(),
        })
    }
}

/// The window's language as the certificate's page calls it.
fn page_language(language: Language) -> meaning::Language {
    match language {
        Language::English => meaning::Language::English,
        Language::Chinese => meaning::Language::Chinese,
    }
}

/// A small file under another name, whole, waiting for its own.
fn prepare(path: &Path, bytes: &[u8], overwrite: bool) -> Result<AtomicFile, Problem> {
    let mut file = AtomicFile::create(path, overwrite).map_err(|error| failed(&error))?;
    file.write_all(bytes)
        .map_err(|source| failed(&ExportError::from_write(path, source)))?;
    Ok(file)
}
