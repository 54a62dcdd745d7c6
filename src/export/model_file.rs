//! A trained generator as a file: weights in safetensors, and in its metadata all that `sample` needs.
//!
//! The file holds nothing of the private rows: weights and fine-cell weights are post-processing of the run's
//! private events, the schema is what the steward reviewed. The certificate travels inside, so that rows drawn
//! later can still say what they are worth.

use std::path::Path;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::ExportError;
use super::atomic::write_atomically;
use super::certificate::Certificate;
use super::packed::{check_version, pack, tensors_of, text_of};
use crate::data::{EncoderSettings, FineWeights, RowEncoder, Schema};
use crate::model::image::{ImageGeneratorNet, ImageGeneratorShape};
use crate::model::{DeviceKind, Generator, GeneratorShape, NamedTensor};
use crate::num::files::read_whole;
use crate::train::image::ImageGenerator;
use crate::train::keep::Checkpoint;
use crate::train::{PlanSummary, Synthesizer, TableGenerator, heads_of};

/// Far more than the largest generator that can be set up.
const MOST_BYTES: u64 = 4 << 30;

/// The version of the metadata that this program writes.
const VERSION: u64 = 1;
/// The metadata's key in the file's header.
const KEY: &str = "pointillist";
/// The ending of a generator's file.
pub const GENERATOR_ENDING: &str = "generator.safetensors";

/// What the metadata says, beside the tensors.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Metadata {
    version: u64,
    program_version: String,
    #[serde(flatten)]
    parts: Parts,
    plan: PlanSummary,
    certificate: Option<serde_json::Value>,
}

/// What the metadata says of the generator itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Parts {
    Images(ImageParts),
    Table(Box<TableParts>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct TableParts {
    schema: Schema,
    encoder: EncoderSettings,
    latent: usize,
    hidden: Vec<usize>,
    batch_norm: bool,
    fine: Option<FineWeights>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ImageParts {
    image: ImageGeneratorShape,
    classes: Vec<String>,
    shares: Vec<f64>,
}

impl Parts {
    fn of(generator: &Synthesizer) -> Self {
        match generator {
            Synthesizer::Table(generator) => {
                let (network, encoder) = (generator.network(), generator.encoder());
                Self::Table(Box::new(TableParts {
                    schema: encoder.schema().clone(),
                    encoder: *encoder.settings(),
                    latent: network.shape().latent,
                    hidden: network.shape().hidden.clone(),
                    batch_norm: network.shape().batch_norm,
                    fine: generator.fine().cloned(),
                }))
            }
            Synthesizer::Images(generator) => Self::Images(ImageParts {
                image: generator.network().shape().clone(),
                classes: generator.classes().to_vec(),
                shares: generator.shares().to_vec(),
            }),
        }
    }

    /// Puts the generator together with the file's tensors.
    fn assemble(self, tensors: &[NamedTensor], device: &Device) -> Result<Synthesizer, String> {
        match self {
            Self::Table(parts) => {
                let parts = *parts;
                let encoder =
                    RowEncoder::new(&parts.schema, &parts.encoder).map_err(|error| error.to_string())?;
                check_fine(parts.fine.as_ref(), &encoder)?;
                let shape = GeneratorShape {
                    latent: parts.latent,
                    hidden: parts.hidden,
                    batch_norm: parts.batch_norm,
                    heads: heads_of(&encoder),
                };
                let network =
                    Generator::from_tensors(shape, tensors, device).map_err(|error| error.to_string())?;
                Ok(Synthesizer::Table(Box::new(TableGenerator::new(
                    network, encoder, parts.fine,
                ))))
            }
            Self::Images(parts) => {
                let fits = parts.image.is_possible()
                    && parts.classes.len() == parts.image.classes
                    && parts.shares.len() == parts.image.classes
                    && parts
                        .shares
                        .iter()
                        .all(|share| share.is_finite() && *share >= 0.0);
                if !fits {
                    return Err("its shape, its classes and their shares do not fit together".to_owned());
                }
                let network = ImageGeneratorNet::from_tensors(parts.image, tensors, device)
                    .map_err(|error| error.to_string())?;
                Ok(Synthesizer::Images(Box::new(ImageGenerator::new(
                    network,
                    parts.classes,
                    parts.shares,
                ))))
            }
        }
    }
}

/// A generator, how it came about, and what it promises.
#[derive(Debug)]
pub struct GeneratorFile {
    /// Draws rows or images.
    pub generator: Synthesizer,
    /// The plan that it was trained by.
    pub plan: PlanSummary,
    /// The certificate of the run, as JSON; `None` when there was none.
    pub certificate: Option<serde_json::Value>,
}

impl GeneratorFile {
    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When the file exists and may not be replaced, or cannot be written.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), ExportError> {
        write_atomically(path, &self.to_bytes(path)?, overwrite)
    }

    /// The file's bytes; `path` is named in errors.
    ///
    /// # Errors
    /// When the metadata or a tensor cannot be written in this format.
    pub fn to_bytes(&self, path: &Path) -> Result<Vec<u8>, ExportError> {
        let json = serde_json::to_string(&self.metadata()).map_err(|error| ExportError::Unwritable {
            path: path.into(),
            reason: error.to_string(),
        })?;
        pack(path, KEY, json, &self.tensors())
    }

    fn metadata(&self) -> Metadata {
        Metadata {
            version: VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            parts: Parts::of(&self.generator),
            plan: self.plan.clone(),
            certificate: self.certificate.clone(),
        }
    }

    fn tensors(&self) -> Vec<NamedTensor> {
        match &self.generator {
            Synthesizer::Table(generator) => generator.network().tensors(),
            Synthesizer::Images(generator) => generator.network().tensors(),
        }
    }

    /// The same as the last checkpoint of its run: what is left of one that has ended until it is exported.
    ///
    /// # Errors
    /// When the metadata cannot be written as JSON.
    pub fn to_checkpoint(&self, step: u64) -> Result<Checkpoint, serde_json::Error> {
        Ok(Checkpoint {
            step,
            state: serde_json::to_value(self.metadata())?,
            tensors: self.tensors(),
        })
    }

    /// What [`Self::to_checkpoint`] has kept; `path` is named in errors.
    ///
    /// # Errors
    /// When the checkpoint is none of a generator, or its parts do not fit together.
    pub fn from_checkpoint(
        path: &Path,
        checkpoint: Checkpoint,
        device: DeviceKind,
    ) -> Result<Self, ExportError> {
        let bad = |reason: String| ExportError::NotACheckpoint {
            path: path.into(),
            reason,
        };
        let metadata = serde_json::from_value(checkpoint.state).map_err(|error| bad(error.to_string()))?;
        Self::assemble(metadata, &checkpoint.tensors, device).map_err(bad)
    }

    fn assemble(metadata: Metadata, tensors: &[NamedTensor], device: DeviceKind) -> Result<Self, String> {
        let device = device.open().map_err(|error| error.to_string())?;
        Ok(Self {
            generator: metadata.parts.assemble(tensors, &device)?,
            plan: metadata.plan,
            certificate: metadata.certificate,
        })
    }

    /// What may be claimed of rows drawn from the generator, in words: what its certificate claims.
    pub fn claim(&self) -> String {
        let certificate = self.certificate.clone();
        certificate
            .and_then(|json| serde_json::from_value::<Certificate>(json).ok())
            .map_or_else(
                || "no DP claim: the generator has no certificate".to_owned(),
                |certificate| certificate.verdict().to_string(),
            )
    }

    /// Reads a file back.
    ///
    /// # Errors
    /// When the file cannot be read, is no generator of this program, or its parts do not fit together.
    pub fn load(path: &Path, device: DeviceKind) -> Result<Self, ExportError> {
        let bytes = read_whole(path, MOST_BYTES).map_err(|source| ExportError::Read {
            path: path.into(),
            source,
        })?;
        let bad = |reason: String| ExportError::NotAGenerator {
            path: path.into(),
            reason,
        };
        let json = text_of(&bytes, KEY).map_err(bad)?;
        check_version(path, &json, VERSION, bad)?;
        let metadata: Metadata = serde_json::from_str(&json).map_err(|error| bad(error.to_string()))?;
        let tensors = tensors_of(&bytes, &json).map_err(bad)?;
        Self::assemble(metadata, &tensors, device).map_err(bad)
    }
}

fn check_fine(fine: Option<&FineWeights>, encoder: &RowEncoder) -> Result<(), String> {
    let Some(fine) = fine else { return Ok(()) };
    let cells: Vec<usize> = encoder
        .fine_layouts()
        .map(crate::data::FineLayout::cells)
        .collect();
    let fits = fine.columns.len() == cells.len()
        && fine.columns.iter().zip(cells).all(|(weights, cells)| {
            weights.len() == cells && weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
        });
    if fits {
        Ok(())
    } else {
        Err("its weights of fine cells do not fit its schema".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::data::{Column, Kind, Provenance};
    use crate::num::RandomSource;
    use crate::train::{Plan, Privacy, TrainSettings};

    fn file() -> GeneratorFile {
        let declared = |column: Column| column.with_provenance(Provenance::Declared);
        let schema = Schema::new(vec![
            declared(Column::new("colour", Kind::Categorical).with_domain(["red", "green"])),
            declared(
                Column::new("size", Kind::Integer)
                    .with_bounds(0, 99)
                    .with_missing(true),
            ),
        ]);
        let plan = Plan::new(&TrainSettings::default(), &schema, 100, Privacy::None).unwrap();
        let encoder = RowEncoder::new(&schema, plan.encoder_settings()).unwrap();
        let mut random = RandomSource::seeded(1);
        let shape = GeneratorShape {
            latent: 4,
            hidden: vec![8, 8],
            batch_norm: true,
            heads: heads_of(&encoder),
        };
        let network = Generator::new(shape, &mut random, &DeviceKind::Flex.open().unwrap());
        let columns = encoder
            .fine_layouts()
            .map(|layout| vec![0.1; layout.cells()])
            .collect();
        GeneratorFile {
            generator: Synthesizer::Table(Box::new(TableGenerator::new(
                network.freeze(&mut random),
                encoder,
                Some(FineWeights { columns }),
            ))),
            plan: plan.summary(),
            certificate: Some(serde_json::json!({"epsilon": 0.1})),
        }
    }

    #[test]
    fn a_saved_generator_draws_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("adult.generator.safetensors");
        let saved = file();
        saved.save(&path, false).unwrap();
        assert!(matches!(
            saved.save(&path, false),
            Err(ExportError::Exists { .. })
        ));
        let loaded = GeneratorFile::load(&path, DeviceKind::Flex).unwrap();
        let draw = |file: &GeneratorFile| {
            let Synthesizer::Table(generator) = &file.generator else {
                panic!("a table's generator comes back as one");
            };
            generator.sample(300, None, &mut RandomSource::seeded(2)).unwrap()
        };
        assert_eq!(draw(&saved), draw(&loaded));
        // A file keeps the English of a warning, without what translates it.
        let text = |file: &GeneratorFile| serde_json::to_value(&file.plan).unwrap();
        assert_eq!(
            (text(&loaded), loaded.certificate),
            (text(&saved), saved.certificate)
        );
    }

    #[test]
    fn other_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let load = || GeneratorFile::load(&path, DeviceKind::Flex).unwrap_err();
        assert!(matches!(load(), ExportError::Read { .. }));
        file().save(&path, false).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(
                matches!(load(), ExportError::NotAGenerator { .. }),
                "cut at {cut}"
            );
        }
        // The metadata is a JSON text inside the header's JSON, hence the backslashes.
        let start = br#"{\"version\":"#;
        let position = whole
            .windows(start.len())
            .position(|window| window == start)
            .unwrap();
        let mut newer = whole;
        newer[position + start.len()] = b'9';
        fs::write(&path, &newer).unwrap();
        assert!(matches!(load(), ExportError::Newer { found: 9, .. }));
    }
}
