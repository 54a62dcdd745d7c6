//! What is declared of images on the command line.

use std::path::PathBuf;

use clap::Args;

use crate::data::image::{ImageOptions, LARGEST_SIDE, MOST_CLASSES};

/// What is publicly known of images, and how pictures become alike.
#[derive(Clone, Debug, Args)]
pub struct ImageArgs {
    /// Images whose labels are numbers: there are this many classes, 0 and up. Say what is public knowledge.
    #[arg(long, value_name = "N", default_value_t = ImageOptions::default().classes as u64,
        value_parser = clap::value_parser!(u64).range(1..=MOST_CLASSES as u64))]
    classes: u64,
    /// A folder of pictures: crops each to the square in its middle and resizes it to this side (a multiple of 4).
    #[arg(long, value_name = "SIDE", value_parser = parse_side)]
    size: Option<usize>,
    /// A folder of pictures: makes all grey (1) or coloured (3); without it, as the first is.
    #[arg(long, value_name = "1|3", value_parser = parse_channels)]
    channels: Option<usize>,
    /// Pictures of 16 bits a channel: the values that become black and white.
    #[arg(long, value_name = "LOW,HIGH", value_parser = parse_window)]
    grey_window: Option<[u16; 2]>,
    /// A folder of pictures: a CSV file with the columns `file` and `label`. Without it, folders within name the classes,
    /// or `labels.csv` in the folder does, or a CSV file of the folder's name beside it.
    #[arg(long, value_name = "CSV")]
    labels: Option<PathBuf>,
    /// Leaves out pictures that cannot be read, instead of stopping at the first.
    #[arg(long)]
    skip_damaged: bool,
}

impl ImageArgs {
    /// As a reader takes it.
    pub fn options(&self) -> ImageOptions {
        ImageOptions {
            classes: self.classes as usize,
            side: self.size,
            colours: self.channels,
            window: self.grey_window,
            labels: self.labels.clone(),
            skip_damaged: self.skip_damaged,
        }
    }
}

fn parse_side(text: &str) -> Result<usize, String> {
    let side: Option<usize> = text.parse().ok();
    side.filter(|side| (8..=LARGEST_SIDE).contains(side) && side.is_multiple_of(4))
        .ok_or_else(|| format!("expected a multiple of 4 from 8 to {LARGEST_SIDE}, such as 16, 28 or 32"))
}

fn parse_channels(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        _ => Err("expected 1 for grey or 3 for colour".to_owned()),
    }
}

fn parse_window(text: &str) -> Result<[u16; 2], String> {
    let numbers = text.split_once(',').and_then(|(low, high)| {
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        (low < high).then_some([low, high])
    });
    numbers
        .ok_or_else(|| "expected two whole numbers from 0 to 65535, the lower first, as in 0,4095".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_declarations_are_wrong_arguments() {
        assert_eq!(parse_side("28"), Ok(28));
        assert!(
            ["0", "7", "30", "64", "x"]
                .iter()
                .all(|text| parse_side(text).is_err())
        );
        assert!(parse_channels("2").is_err());
        assert_eq!(parse_window("0, 4095"), Ok([0, 4095]));
        assert!(
            ["5,5", "9,1", "1", "1,70000"]
                .iter()
                .all(|text| parse_window(text).is_err())
        );
    }
}
