//! What is declared of images on the command line.

use clap::Args;

use crate::data::image::{ImageOptions, MOST_CLASSES};

/// What is publicly known of images.
#[derive(Clone, Debug, Args)]
pub struct ImageArgs {
    /// Images whose labels are numbers: there are this many classes, 0 and up. Say what is public knowledge.
    #[arg(long, value_name = "N", default_value_t = ImageOptions::default().classes as u64,
        value_parser = clap::value_parser!(u64).range(1..=MOST_CLASSES as u64))]
    classes: u64,
}

impl ImageArgs {
    /// As a reader takes it.
    pub fn options(&self) -> ImageOptions {
        ImageOptions {
            classes: self.classes as usize,
            ..ImageOptions::default()
        }
    }
}
