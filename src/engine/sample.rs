//! Synthetic rows or images from a generator into a file or folder.

use std::path::{Path, PathBuf};

use crate::data::RuleCounts;
use crate::engine::command::Condition;
use crate::engine::event::{Area, Problem};
use crate::engine::pipeline::side_by_side;
use crate::export::certificate::Records;
use crate::export::image::ImagesAhead;
use crate::export::{
    GeneratorFile, ImageWriter, KeptRule, SealedImages, SealedTable, TableFormat, TableWriter, Written,
    check_images_room, check_not_input, check_table_room,
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
    /// What was drawn.
    pub records: Records,
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
    let records = match &sealed {
        Sealed::Table(_) => Records::Rows,
        Sealed::Images(_) => Records::Images,
    };
    sealed.publish()?;
    Ok(Sampled {
        written,
        records,
        claim,
    })
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
            write_rows(generator, (path, writer), wanted, random, progress, told).map(Sealed::Table)
        }
        Synthesizer::Images(generator) => {
            let ahead = ImagesAhead {
                form: generator.form(),
                count: wanted.0,
                classes: generator.classes(),
            };
            let writer = ImageWriter::create(path, ahead, overwrite).map_err(|error| failed(&error))?;
            write_images(generator, (path, ahead, writer), wanted, random, progress, told).map(Sealed::Images)
        }
    }
}

/// Draws images and writes them, a few hundred at a time.
fn write_images(
    generator: &ImageGenerator,
    (path, ahead, mut writer): (&Path, ImagesAhead<'_>, ImageWriter<'_>),
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
    side_by_side(
        progress,
        move || Ok(generator.batches(images, class, random).map(Ok)),
        |drawn| {
            if written == 0 {
                check_images_room(path, ahead, &drawn).map_err(|error| failed(&error))?;
            }
            writer.write(&drawn).map_err(|error| failed(&error))?;
            written += drawn.codes.len();
            progress.set(written as u64, images as u64);
            told(written);
            Ok(())
        },
    )?;
    writer.seal().map_err(|error| failed(&error))
}

/// Draws rows and writes them side by side, a batch at a time, so that memory stays constant however many are asked for.
/// The file is whole then, and still waits for its name.
fn write_rows(
    generator: &TableGenerator,
    (path, mut writer): (&Path, TableWriter),
    (rows, condition): (usize, Option<&Condition>),
    random: &mut RandomSource,
    progress: &Progress,
    told: &mut dyn FnMut(usize),
) -> Result<SealedTable, Problem> {
    let (mut written, mut counts) = (0, RuleCounts::default());
    let (schema, counted) = (generator.encoder().schema(), &mut counts);
    side_by_side(
        progress,
        move || {
            let batches = generator.batches(rows, condition, random, counted);
            let batches = batches.map_err(|error| failed(&error))?;
            Ok(batches.map(|batch| batch.map_err(|error| failed(&error))))
        },
        |batch| {
            if written == 0 {
                check_table_room(path, schema, &batch, rows).map_err(|error| failed(&error))?;
            }
            writer.write(&batch).map_err(|error| failed(&error))?;
            written += batch.num_rows();
            progress.set(written as u64, rows as u64);
            told(written);
            Ok(())
        },
    )?;
    let kept = schema
        .rule
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, EncoderSettings, Kind, Provenance, RowEncoder, Schema};
    use crate::model::{Generator, GeneratorShape};
    use crate::train::heads_of;

    fn generator() -> TableGenerator {
        let declared = |column: Column| column.with_provenance(Provenance::Declared);
        let schema = Schema::new(vec![
            declared(Column::new("colour", Kind::Categorical).with_domain(["red", "green", "blue"])),
            declared(
                Column::new("size", Kind::Integer)
                    .with_bounds(0, 99)
                    .with_missing(true),
            ),
        ]);
        let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).unwrap();
        let mut random = RandomSource::seeded(1);
        let shape = GeneratorShape {
            latent: 4,
            hidden: vec![8, 8],
            batch_norm: true,
            heads: heads_of(&encoder),
        };
        let network = Generator::new(shape, &mut random, &DeviceKind::Flex.open().unwrap());
        TableGenerator::new(network.freeze(&mut random), encoder, None)
    }

    #[test]
    fn side_by_side_a_seed_gives_the_rows_that_it_gives_by_turns() {
        let folder = tempfile::tempdir().unwrap();
        let generator = generator();
        let condition = Condition {
            column: "colour".into(),
            value: "green".into(),
        };
        for (name, condition) in [("all.csv", None), ("some.csv", Some(&condition))] {
            let by_turns = folder.path().join("by_turns.csv");
            let mut writer = TableWriter::create(&by_turns, generator.encoder().schema(), true).unwrap();
            let (mut random, mut counts) = (RandomSource::seeded(7), RuleCounts::default());
            for batch in generator
                .batches(50_000, condition, &mut random, &mut counts)
                .unwrap()
            {
                writer.write(&batch.unwrap()).unwrap();
            }
            writer.seal().unwrap().publish().unwrap();
            let path = folder.path().join(name);
            let synthesizer = Synthesizer::Table(Box::new(generator.clone()));
            let mut told = Vec::new();
            let sealed = write_output(
                &synthesizer,
                (&path, false),
                (50_000, condition),
                &mut RandomSource::seeded(7),
                &Progress::new(),
                &mut |rows| told.push(rows),
            );
            assert_eq!(sealed.unwrap().publish().unwrap().rows, 50_000);
            assert!(std::fs::read(&path).unwrap() == std::fs::read(&by_turns).unwrap());
            assert!(told.is_sorted() && told.last() == Some(&50_000));
        }
    }

    #[test]
    fn a_cancelled_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let synthesizer = Synthesizer::Table(Box::new(generator()));
        let progress = Progress::new();
        let ended = write_output(
            &synthesizer,
            (&folder.path().join("t.csv"), false),
            (1_000_000, None),
            &mut RandomSource::seeded(7),
            &progress,
            &mut |_| progress.cancel(),
        );
        assert!(ended.is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
