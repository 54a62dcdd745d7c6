//! Synthetic rows or images from a generator into a file or folder.

use std::path::{Path, PathBuf};

use crate::data::RuleCounts;
use crate::engine::command::Condition;
use crate::engine::event::{Area, Problem};
use crate::export::image::ImagesAhead;
use crate::export::{
    GeneratorFile, ImageWriter, KeptRule, SealedImages, SealedTable, TableFormat, TableWriter, Written,
    check_not_input,
};
use crate::num::{Progress, RandomSource};
use crate::train::image::ImageGenerator;
use crate::train::{DeviceKind, Synthesizer, TableGenerator};

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
    check_not_input(std::slice::from_ref(&request.out), &[&request.model]).map_err(|error| failed(&error))?;
    let file = GeneratorFile::load(&request.model, DeviceKind::Flex).map_err(|error| failed(&error))?;
    let claim = file.claim();
    let wanted = (request.rows, request.condition.as_ref());
    let mut random = RandomSource::from_operating_system();
    let target = (request.out.as_path(), request.overwrite);
    let sealed = write_output(&file.generator, target, wanted, &mut random, progress, told)?;
    let written = sealed.written().clone();
    sealed.publish()?;
    Ok(Sampled { written, claim })
}

/// What was drawn, whole, waiting for its name.
pub(super) enum Sealed {
    Table(SealedTable),
    Images(SealedImages),
}

impl Sealed {
    pub const fn written(&self) -> &Written {
        match self {
            Self::Table(sealed) => sealed.written(),
            Self::Images(sealed) => sealed.written(),
        }
    }

    pub fn publish(self) -> Result<Written, Problem> {
        match self {
            Self::Table(sealed) => sealed.publish(),
            Self::Images(sealed) => sealed.publish(),
        }
        .map_err(|error| failed(&error))
    }
}

/// Draws what a generator makes into a file or folder that still waits for its name.
pub(super) fn write_output(
    generator: &Synthesizer,
    (path, overwrite): (&Path, bool),
    wanted: (usize, Option<&Condition>),
    random: &mut RandomSource,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<Sealed, Problem> {
    match generator {
        Synthesizer::Table(generator) => {
            let schema = generator.encoder().schema();
            TableFormat::check_rows(path, wanted.0).map_err(|error| failed(&error))?;
            let writer = TableWriter::create(path, schema, overwrite).map_err(|error| failed(&error))?;
            write_rows(generator, writer, wanted, random, progress, told).map(Sealed::Table)
        }
        Synthesizer::Images(generator) => {
            let ahead = ImagesAhead {
                form: generator.form(),
                count: wanted.0,
                classes: generator.classes(),
            };
            let writer = ImageWriter::create(path, ahead, overwrite).map_err(|error| failed(&error))?;
            write_images(generator, writer, wanted, random, progress, told).map(Sealed::Images)
        }
    }
}

/// Draws images and writes them, a few hundred at a time.
fn write_images(
    generator: &ImageGenerator,
    mut writer: ImageWriter<'_>,
    (images, condition): (usize, Option<&Condition>),
    random: &mut RandomSource,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<SealedImages, Problem> {
    let class = condition
        .map(|condition| generator.class_of(condition))
        .transpose()
        .map_err(|error| failed(&error))?;
    let mut written = 0;
    for drawn in generator.batches(images, class, random) {
        progress.check().map_err(|error| failed(&error))?;
        writer.write(&drawn).map_err(|error| failed(&error))?;
        written += drawn.codes.len();
        progress.set(written as u64, images as u64);
        told(written);
    }
    writer.seal().map_err(|error| failed(&error))
}

/// Draws rows and writes them, a batch at a time, so that memory stays constant however many are asked for.
/// The file is whole then, and still waits for its name.
fn write_rows(
    generator: &TableGenerator,
    mut writer: TableWriter,
    (rows, condition): (usize, Option<&Condition>),
    random: &mut RandomSource,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<SealedTable, Problem> {
    let (mut written, mut counts) = (0, RuleCounts::default());
    for batch in generator
        .batches(rows, condition, random, &mut counts)
        .map_err(|error| failed(&error))?
    {
        progress.check().map_err(|error| failed(&error))?;
        let batch = batch.map_err(|error| failed(&error))?;
        writer.write(&batch).map_err(|error| failed(&error))?;
        written += batch.num_rows();
        progress.set(written as u64, rows as u64);
        told(written);
    }
    let rules = &generator.encoder().schema().rule;
    let kept = rules
        .iter()
        .zip(&counts.mended)
        .map(|(rule, &mended)| KeptRule {
            rule: rule.to_string(),
            mended,
        })
        .collect();
    let sealed = writer.seal().map_err(|error| failed(&error))?;
    Ok(sealed.with_rules(kept, counts.left_out))
}
