//! Synthetic rows from a generator into a file.

use std::path::PathBuf;

use crate::engine::command::Condition;
use crate::engine::event::{Area, Problem};
use crate::export::{GeneratorFile, TableWriter, Written};
use crate::num::{Progress, RandomSource};
use crate::train::Generator;

/// Rows drawn at a time: memory stays constant however many are asked for.
const BATCH: usize = 8192;

/// More rows from a saved generator.
#[derive(Clone, Debug)]
pub struct SampleRequest {
    /// The generator's file.
    pub model: PathBuf,
    /// How many rows.
    pub rows: usize,
    /// The table to write.
    pub out: PathBuf,
    /// Only rows whose column has this value.
    pub condition: Option<Condition>,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

/// Draws rows from a saved generator into a file, telling how many are written.
///
/// Post-processing of what was released already: it touches no private row and costs nothing.
///
/// # Errors
/// When the generator cannot be read, the condition names no known value, or the table cannot be written;
/// nothing is left then.
pub fn sample_file(request: &SampleRequest, told: &mut dyn FnMut(usize)) -> Result<Written, Problem> {
    let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Export, error);
    crate::export::check_target(&request.out, request.overwrite).map_err(|error| failed(&error))?;
    let file = GeneratorFile::load(&request.model).map_err(|error| failed(&error))?;
    let generator = file.generator().map_err(|error| failed(&error))?;
    let writer = TableWriter::create(&request.out, generator.schema(), request.overwrite)
        .map_err(|error| failed(&error))?;
    let progress = Progress::default();
    let condition = request.condition.as_ref();
    let mut random = RandomSource::from_operating_system();
    write_rows(&generator, writer, (request.rows, condition), &mut random, &progress, told)
}

/// Draws rows and writes them, a batch at a time.
pub(super) fn write_rows(
    generator: &Generator,
    mut writer: TableWriter,
    (rows, condition): (usize, Option<&Condition>),
    random: &mut RandomSource,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<Written, Problem> {
    let failed = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Export, error);
    let condition = condition.map(|condition| (condition.column.as_str(), condition.value.as_str()));
    let mut written = 0;
    while written < rows {
        if progress.is_cancelled() {
            return Err(Problem::plain(Area::Export, "the export was given up; nothing was written"));
        }
        let batch = generator
            .sample((rows - written).min(BATCH), condition, random)
            .map_err(|error| failed(&error))?;
        writer.write(&batch).map_err(|error| failed(&error))?;
        written += batch.num_rows();
        progress.set(written as u64, rows as u64);
        told(written);
    }
    writer.finish().map_err(|error| failed(&error))
}
