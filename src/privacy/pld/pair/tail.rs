//! Normal tails kept exact on both sides.

use crate::num::logspace::normal_cdf;

/// Φ kept as the smaller tail, so that differences are exact on both sides.
#[derive(Clone, Copy)]
pub struct Tail {
    pub smaller: f64,
    pub upper: bool,
}

impl Tail {
    pub fn at(u: f64) -> Self {
        Self {
            smaller: normal_cdf(-u.abs()),
            upper: u > 0.0,
        }
    }

    /// Φ at `to` minus Φ here.
    pub fn until(self, to: Self) -> f64 {
        let mass = match (self.upper, to.upper) {
            (false, false) => to.smaller - self.smaller,
            (true, true) => self.smaller - to.smaller,
            (false, true) => 1.0 - self.smaller - to.smaller,
            (true, false) => 0.0,
        };
        mass.max(0.0)
    }

    /// 1 − Φ.
    pub fn above(self) -> f64 {
        if self.upper {
            self.smaller
        } else {
            1.0 - self.smaller
        }
    }
}
