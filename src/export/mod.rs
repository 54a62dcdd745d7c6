//! Tables, model files, recipes and privacy certificates: whatever leaves.

pub mod atomic;
pub mod certificate;
mod checkpoint_file;
mod error;
pub mod image;
mod model_file;
mod packed;
mod recipe;
mod room;
mod step_journal;
pub mod table;

pub use atomic::{AtomicFile, check_not_input, check_target, try_target, write_atomically};
pub use certificate::{
    Certificate, CertificateFacts, Verdict, read_certificate, write_certificate, write_certificate_page,
};
pub use checkpoint_file::{CheckpointFile, save_checkpoint};
pub use error::ExportError;
pub(crate) use error::size;
pub use image::{ImageFormat, ImageWriter, SealedImages, check_images_target, try_images_target};
pub use model_file::{GENERATOR_ENDING, GeneratorFile};
pub use recipe::Recipe;
pub use room::{check_images_room, check_table_room};
pub use step_journal::{JournalError, StepJournal};
pub use table::{KeptRule, SealedTable, TableFormat, TableWriter, Written};
