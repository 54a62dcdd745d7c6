//! The settings of a run by one release, one by one.

use super::table::{Settable, WIDTHS, integer, real, scale, setting};
use super::{Described, SettingDescription, SettingGroup, SettingRange};
use crate::train::pairs::PairSettings;

/// All settings of runs by one release. Which of them a method looks at, it says itself
/// ([`TableRelease::uses`](crate::train::pairs::TableRelease::uses)).
#[rustfmt::skip]
pub const PAIR_SETTINGS: [SettingDescription<PairSettings>; 15] = [
    setting!("steps", steps, Privacy, "steps", integer(1, 1_000_000), false,
        "Steps of the generator; they cost no privacy."),
    setting!("pair-weight", pair_weight, Marginals, "", scale(0.01, 1e5), true,
        "How strongly the generator is pulled towards the noisy pairs."),
    setting!("frequencies", frequencies, Marginals, "", integer(250, 20_000), false,
        "Random frequencies of the mean embedding: more tell more, under the same noise each."),
    setting!("marginal-share", marginal_share, Marginals, "of ρ", real(0.0, 0.99), true,
        "The share of the embedding's budget that tells each column by itself; the rest tells how columns go together."),
    setting!("fine-decode", fine_decode, Marginals, "", SettingRange::Switch, false,
        "Buys noisy fine histograms, so that numbers inside a bin follow the data instead of being uniform."),
    setting!("fine-share", fine_share, Marginals, "of ρ", real(0.01, 0.9), false,
        "The share of the budget that buys the fine histograms; the pairs or the embedding have the rest."),
    setting!("bins", bins, Encoding, "bins", integer(2, 256), true,
        "Bins of a number that has none declared, equally wide on its scale."),
    setting!("generator-batch", generator_batch, Generator, "rows", integer(2, 65_536), true,
        "Generated rows in a step of the generator."),
    setting!("latent", latent, Generator, "numbers", integer(1, 4096), true,
        "Random numbers from which one row is made."),
    setting!("generator-hidden", generator_hidden, Generator, "units", WIDTHS, true,
        "Widths of the generator's hidden layers."),
    setting!("batch-norm", batch_norm, Generator, "", SettingRange::Switch, true,
        "Normalises the generator's hidden layers over generated rows (never over private ones)."),
    setting!("generator-learning-rate", generator_learning_rate, Generator, "", scale(1e-6, 1.0), true,
        "How far the generator moves in a step, at the start."),
    setting!("generator-beta1", generator_beta1, Generator, "", real(0.0, 0.999), true,
        "How long the generator's Adam remembers past gradients."),
    setting!("generator-beta2", generator_beta2, Generator, "", real(0.0, 0.9999), true,
        "How long the generator's Adam remembers past squared gradients."),
    setting!("averaging", averaging, Generator, "", real(0.0, 0.99999), true,
        "Decay of the running average of the generator's weights, from which rows are drawn."),
];

impl Described for PairSettings {
    const TEXTS: &'static str = "pairs-setting";

    fn table() -> &'static [SettingDescription<Self>] {
        &PAIR_SETTINGS
    }
}
