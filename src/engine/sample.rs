//! Synthetic rows from a generator into a file.

use std::path::PathBuf;

use crate::engine::command::Condition;
use crate::engine::event::{Area, Problem};
use crate::export::{GeneratorFile, SealedTable, TableWriter, Written, check_not_input, check_target};
use crate::num::{Progress, RandomSource};
use crate::train::{DeviceKind, TableGenerator};

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

/// Rows from a saved generator, in their file.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The file.
    pub written: Written,
    /// What may be claimed of the rows, in words: what the generator's certificate claims.
    pub claim: String,
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Problem {
    Problem::new(Area::Export, error)
}

/// Draws rows from a saved generator into a file, telling how many are written.
///
/// Post-processing of what was released already: it touches no private row and costs nothing.
///
/// # Errors
/// When the generator cannot be read, the condition names no known value, or the table cannot be written;
/// nothing is left then.
pub fn sample_file(
    request: &SampleRequest,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<Sampled, Problem> {
    check_target(&request.out, request.overwrite).map_err(|error| failed(&error))?;
    check_not_input(std::slice::from_ref(&request.out), &[&request.model]).map_err(|error| failed(&error))?;
    let file = GeneratorFile::load(&request.model, DeviceKind::Flex).map_err(|error| failed(&error))?;
    let claim = file.claim();
    let schema = file.generator.encoder().schema();
    let writer =
        TableWriter::create(&request.out, schema, request.overwrite).map_err(|error| failed(&error))?;
    let wanted = (request.rows, request.condition.as_ref());
    let mut random = RandomSource::from_operating_system();
    let sealed = write_rows(&file.generator, writer, wanted, &mut random, progress, told)?;
    let written = sealed.written().clone();
    sealed.publish().map_err(|error| failed(&error))?;
    Ok(Sampled { written, claim })
}

/// Draws rows and writes them, a batch at a time, so that memory stays constant however many are asked for.
/// The file is whole then, and still waits for its name.
pub(super) fn write_rows(
    generator: &TableGenerator,
    mut writer: TableWriter,
    (rows, condition): (usize, Option<&Condition>),
    random: &mut RandomSource,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<SealedTable, Problem> {
    let mut written = 0;
    for batch in generator
        .batches(rows, condition, random)
        .map_err(|error| failed(&error))?
    {
        progress.check().map_err(|error| failed(&error))?;
        let batch = batch.map_err(|error| failed(&error))?;
        writer.write(&batch).map_err(|error| failed(&error))?;
        written += batch.num_rows();
        progress.set(written as u64, rows as u64);
        told(written);
    }
    writer.seal().map_err(|error| failed(&error))
}
