//! What a critic is trained to tell apart by.

use burn::tensor::{Tensor, activation};
use serde::{Deserialize, Serialize};

/// What the critic is trained to tell apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriticLoss {
    /// `−D(real)`, `+D(fake)` (Arjovsky et al. 2017, weights clamped).
    #[default]
    Wasserstein,
    /// Binary cross-entropy on the score as a logit (Goodfellow et al. 2014).
    CrossEntropy,
    /// `max(0, 1 − D(real))`, `max(0, 1 + D(fake))`: scores beyond the margin teach nothing more (Lim & Ye 2017).
    Hinge,
}

/// On which side of the critic's decision a batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Real rows: the score should be high.
    Real,
    /// Generated rows: the score should be low.
    Fake,
}

impl Side {
    /// The factor on the score inside the loss: the loss falls as `sign · score` does.
    const fn sign(self) -> f64 {
        match self {
            Self::Real => -1.0,
            Self::Fake => 1.0,
        }
    }
}

impl CriticLoss {
    /// The loss of each example. Shape `[batch, 1]`.
    pub fn values(self, scores: Tensor<2>, side: Side) -> Tensor<2> {
        let signed = scores.mul_scalar(side.sign());
        match self {
            Self::Wasserstein => signed,
            Self::CrossEntropy => activation::softplus(signed, 1.0),
            Self::Hinge => activation::relu(signed.add_scalar(1.0)),
        }
    }

    /// The loss of an example whose score is 0, where that is the border between the two sides.
    pub fn undecided(self) -> Option<f64> {
        match self {
            Self::Wasserstein => None,
            Self::CrossEntropy => Some(std::f64::consts::LN_2),
            Self::Hinge => Some(1.0),
        }
    }

    /// The derivative of each example's loss by its score. Shape `[batch, 1]`.
    pub fn slopes(self, scores: Tensor<2>, side: Side) -> Tensor<2> {
        match self {
            Self::Wasserstein => scores.full_like(side.sign()),
            Self::CrossEntropy => activation::sigmoid(scores.mul_scalar(side.sign())).mul_scalar(side.sign()),
            Self::Hinge => {
                let inside = scores.mul_scalar(side.sign()).greater_scalar(-1.0).float();
                inside.mul_scalar(side.sign())
            }
        }
    }

    /// The slope of the generator's summed loss by each score. Shape `[batch, 1]`.
    pub fn generator_slopes(self, scores: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Wasserstein | Self::Hinge => scores.full_like(-1.0),
            // −log σ(D), the form that does not saturate.
            Self::CrossEntropy => activation::sigmoid(scores.neg()).neg(),
        }
    }

    /// The generator's mean loss. Shape `[1]`.
    pub fn generator_value(self, scores: Tensor<2>) -> Tensor<1> {
        match self {
            Self::Wasserstein | Self::Hinge => scores.mean().neg(),
            Self::CrossEntropy => activation::softplus(scores.neg(), 1.0).mean(),
        }
    }
}
