//! What an ε means: how well the best attacker can tell whether one unit was in the data.
//!
//! All figures speak of an attacker who knows every other row and the mechanism, and who is asked one question: was
//! this unit in the data? That is the test of P against Q whose trade-off curve differential privacy bounds
//! (Wasserman & Zhou 2010; Dong, Roth, Su 2022). [`caveats`] belong beside every figure.

#![allow(
    clippy::float_cmp,
    reason = "exact edges such as q = 1 and an unchanged bracket are meant"
)]

use crate::num::logspace::{normal_cdf, normal_quantile};

/// A language in which [`Meaning::odds_sentence`] and [`caveats`] are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Language {
    /// English.
    English,
    /// 简体中文.
    Chinese,
}

/// What is hidden, as [`Meaning::odds_sentence`] and [`caveats`] call it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Unit {
    /// A row of a table.
    #[default]
    Row,
    /// An image.
    Image,
    /// A person, with all that is known of them.
    Person,
}

/// What is known of a guarantee.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// One pair (ε, δ): the worst case of all mechanisms that keep it.
    Pair {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
    /// δ at many ε, both directions at least: each point bounds the attacker, all together bound it best.
    Profile(Vec<(f64, f64)>),
    /// A Gaussian pair with this μ.
    Gaussian {
        /// μ, the shift over the noise.
        mu: f64,
    },
}

impl Meaning {
    /// The least type II error β of a test whose type I error is `alpha`: the trade-off curve.
    ///
    /// From (ε, δ): f(α) = max{0, 1 − δ − e^ε α, e^(−ε)(1 − δ − α)} (Wasserman & Zhou 2010, Thm 2.4; Kairouz, Oh,
    /// Viswanath 2015). A profile gives the largest over its points. A Gaussian: Φ(Φ⁻¹(1−α) − μ) (Dong, Roth, Su
    /// 2022, Def. 2.6).
    pub fn type_two_error(&self, alpha: f64) -> f64 {
        let alpha = alpha.clamp(0.0, 1.0);
        match self {
            Self::Pair { epsilon, delta } => pair_error(*epsilon, *delta, alpha),
            Self::Profile(points) => points
                .iter()
                .map(|&(epsilon, delta)| pair_error(epsilon, delta, alpha))
                .fold(0.0, f64::max),
            Self::Gaussian { mu } => normal_cdf(-normal_quantile(alpha) - mu),
        }
    }

    /// The best attacker's true-positive rate at a false-positive rate: 1 − f(α).
    pub fn true_positive_rate(&self, false_positive_rate: f64) -> f64 {
        let alpha = false_positive_rate.clamp(0.0, 1.0);
        match self {
            // The same as 1 − f, without losing a small rate to rounding.
            Self::Pair { epsilon, delta } => pair_rate(*epsilon, *delta, alpha),
            Self::Profile(points) => points
                .iter()
                .map(|&(epsilon, delta)| pair_rate(epsilon, delta, alpha))
                .fold(1.0, f64::min),
            Self::Gaussian { mu } => normal_cdf(normal_quantile(alpha) + mu),
        }
    }

    /// The largest difference of true- and false-positive rate.
    ///
    /// From (ε, δ): (e^ε − 1 + 2δ)/(e^ε + 1) (Kairouz, Oh, Viswanath 2015). A profile: δ(0), the total variation,
    /// or the best of its points. A Gaussian: 2Φ(μ/2) − 1.
    pub fn advantage(&self) -> f64 {
        match self {
            Self::Pair { epsilon, delta } => pair_advantage(*epsilon, *delta),
            Self::Profile(points) => points
                .iter()
                .map(|&(epsilon, delta)| pair_advantage(epsilon, delta))
                .fold(1.0, f64::min),
            Self::Gaussian { mu } => 1.0 - 2.0 * normal_cdf(-mu / 2.0),
        }
    }

    /// The largest share of right answers when units are members with probability `prior`: 1 − min over α of
    /// p f(α) + (1−p) α.
    pub fn accuracy(&self, prior: f64) -> f64 {
        let p = prior.clamp(0.0, 1.0);
        match self {
            Self::Pair { epsilon, delta } => pair_accuracy(*epsilon, *delta, p),
            // Each point's curve lies below the whole's, so each bounds the accuracy from above.
            Self::Profile(points) => points
                .iter()
                .map(|&(epsilon, delta)| pair_accuracy(epsilon, delta, p))
                .fold(1.0, f64::min),
            Self::Gaussian { mu } => {
                if p == 0.0 || p == 1.0 || *mu == 0.0 {
                    return p.max(1.0 - p);
                }
                // The best test says "member" where the likelihood ratio e^(μx − μ²/2) is above (1−p)/p.
                let threshold = mu / 2.0 + ((1.0 - p) / p).ln() / mu;
                (1.0 - p) * normal_cdf(threshold) + p * normal_cdf(mu - threshold)
            }
        }
    }

    /// The largest probability of membership that any outcome can lead to, from a prior: e^ε p/(1 − p + e^ε p).
    ///
    /// Holds outcome by outcome for δ = 0 only; otherwise [`Meaning::relaxed_posterior`] says with which exceptions.
    /// `None` where no such bound below 1 exists (a Gaussian, a profile, δ > 0).
    pub fn posterior(&self, prior: f64) -> Option<f64> {
        match self {
            Self::Pair { epsilon, delta: 0.0 } => Some(posterior_at(*epsilon, prior)),
            _ => None,
        }
    }

    /// The least probability of membership that any outcome can lead to; as [`Meaning::posterior`].
    pub fn least_posterior(&self, prior: f64) -> Option<f64> {
        match self {
            Self::Pair { epsilon, delta: 0.0 } => Some(posterior_at(-epsilon, prior)),
            _ => None,
        }
    }

    /// A bound on the posterior and the probability (over outcomes with the unit in the data) that it is passed.
    ///
    /// Where P(o) > 2e^ε Q(o), P(o) − e^ε Q(o) > P(o)/2, and such outcomes' P − e^ε Q adds up to at most δ; so they
    /// have probability at most 2δ (Kasiviswanathan & Smith 2014, Lemma 3.3, with factor 2).
    pub fn relaxed_posterior(&self, prior: f64) -> Option<(f64, f64)> {
        match self {
            Self::Pair { epsilon, delta } => Some((
                posterior_at(epsilon + std::f64::consts::LN_2, prior),
                (2.0 * delta).min(1.0),
            )),
            _ => None,
        }
    }

    /// Of those called members at a false-positive rate, the largest share that are, from a prior.
    pub fn precision(&self, false_positive_rate: f64, prior: f64) -> f64 {
        let hits = prior * self.true_positive_rate(false_positive_rate);
        let all = hits + (1.0 - prior) * false_positive_rate;
        if all > 0.0 { hits / all } else { prior }
    }

    /// The odds of one unit in plain words: a fair guess beside the best attack. Numbers are rounded up.
    pub fn odds_sentence(&self, language: Language, unit: Unit) -> String {
        let right = of_hundred(self.accuracy(0.5));
        let found = of_hundred(self.true_positive_rate(0.01));
        match (language, unit) {
            (Language::English, Unit::Row) => format!(
                "Of 100 attackers who must each say whether one row is in the data, guessing gets 50 right; \
                 seeing everything released, at most {right}. An attacker who may be wrong about 1 in 100 rows that \
                 are not in the data recognises at most {found} of 100 that are."
            ),
            (Language::English, Unit::Image) => format!(
                "Of 100 attackers who must each say whether one image is in the data, guessing gets 50 right; \
                 seeing everything released, at most {right}. An attacker who may be wrong about 1 in 100 images that \
                 are not in the data recognises at most {found} of 100 that are."
            ),
            // The very words of certificates of version 1, which `verify` compares.
            (Language::English, Unit::Person) => format!(
                "Of 100 attackers who must each say whether one person is in the data, guessing gets 50 right; \
                 seeing everything released, at most {right}. An attacker who may wrongly accuse 1 person in 100 \
                 recognises at most {found} of 100 who are in the data."
            ),
            (Language::Chinese, Unit::Row) => format!(
                "若有 100 名攻击者各自判断某一行是否在数据中，随机猜测会有 50 人猜对；看到全部发布内容后，\
                 最多 {right} 人猜对。若攻击者每 100 行不在数据中的行里可误判 1 行，则每 100 行在数据中的行里\
                 最多能认出 {found} 行。"
            ),
            (Language::Chinese, Unit::Image) => format!(
                "若有 100 名攻击者各自判断某一张图像是否在数据中，随机猜测会有 50 人猜对；看到全部发布内容后，\
                 最多 {right} 人猜对。若攻击者每 100 张不在数据中的图像里可误判 1 张，则每 100 张在数据中的图像里\
                 最多能认出 {found} 张。"
            ),
            (Language::Chinese, Unit::Person) => format!(
                "若有 100 名攻击者各自判断某人是否在数据中，随机猜测会有 50 人猜对；看到全部发布内容后，\
                 最多 {right} 人猜对。若攻击者每 100 个不在数据中的人里可误判 1 人，则每 100 个在数据中的人里\
                 最多能认出 {found} 人。"
            ),
        }
    }
}

/// What must stand beside every figure: whom they speak of, and what they leave out.
pub const fn caveats(language: Language, unit: Unit) -> [&'static str; 3] {
    match (language, unit) {
        (Language::English, Unit::Row) => [
            "These are bounds for the worst case: an attacker who knows every other row.",
            "Rows are taken to be independent; relatives, or rows of a person beyond those that the unit covers, can give more away.",
            "What is true of the population is not protected: it can be learned without anyone's row.",
        ],
        (Language::English, Unit::Image) => [
            "These are bounds for the worst case: an attacker who knows every other image.",
            "Images are taken to be independent; several of one person or thing can give more away.",
            "What is true of the population is not protected: it can be learned without any one image.",
        ],
        (Language::English, Unit::Person) => [
            "These are bounds for the worst case: an attacker who knows the rows of everybody else.",
            "Persons are taken to be independent; relatives, or rows of a person beyond those that the unit covers, can give more away.",
            "What is true of the population is not protected: it can be learned without anyone's rows.",
        ],
        (Language::Chinese, Unit::Row) => [
            "这些是最坏情况下的上界：攻击者已知其余所有行。",
            "假定各行相互独立；亲属，或同一人超出保护单位所含的行，可能泄露更多。",
            "总体的规律不受保护：没有任何人的数据也能得知。",
        ],
        (Language::Chinese, Unit::Image) => [
            "这些是最坏情况下的上界：攻击者已知其余所有图像。",
            "假定各图像相互独立；同一人或同一物的多张图像可能泄露更多。",
            "总体的规律不受保护：没有任何一张图像也能得知。",
        ],
        (Language::Chinese, Unit::Person) => [
            "这些是最坏情况下的上界：攻击者已知其余所有人的行。",
            "假定各人相互独立；亲属，或同一人超出保护单位所含的行，可能泄露更多。",
            "总体的规律不受保护：没有任何人的数据也能得知。",
        ],
    }
}

fn pair_error(epsilon: f64, delta: f64, alpha: f64) -> f64 {
    let rest = 1.0 - delta;
    // e^ε α overflows to ∞ harmlessly, but ∞·0 would not.
    let steep = if alpha == 0.0 {
        rest
    } else {
        rest - epsilon.exp() * alpha
    };
    steep.max((-epsilon).exp() * (rest - alpha)).max(0.0)
}

/// min{1, e^ε α + δ, 1 − e^(−ε)(1 − δ − α)}.
fn pair_rate(epsilon: f64, delta: f64, alpha: f64) -> f64 {
    let steep = if alpha == 0.0 {
        delta
    } else {
        epsilon.exp() * alpha + delta
    };
    steep.min(1.0 - (-epsilon).exp() * (1.0 - delta - alpha)).min(1.0)
}

fn pair_advantage(epsilon: f64, delta: f64) -> f64 {
    // (e^ε − 1)/(e^ε + 1) = tanh(ε/2), and 2/(e^ε + 1) = 1 − tanh(ε/2).
    let t = (epsilon / 2.0).tanh();
    (t + delta * (1.0 - t)).min(1.0)
}

/// The curve is a line in three pieces, so the least of p f + (1−p) α lies at a kink: α = 0, 1 − δ, or where the two
/// slanted lines meet, α = f = (1 − δ)/(1 + e^ε).
fn pair_accuracy(epsilon: f64, delta: f64, p: f64) -> f64 {
    let rest = 1.0 - delta;
    let meeting = rest * (-epsilon).exp() / (1.0 + (-epsilon).exp());
    let error = (p * rest).min((1.0 - p) * rest).min(meeting);
    1.0 - error
}

fn posterior_at(epsilon: f64, prior: f64) -> f64 {
    // Odds times e^ε, written so that neither end overflows.
    prior / (prior + (1.0 - prior) * (-epsilon).exp())
}

/// A rate as how many of a hundred, as certificates say it: one decimal, never below, without a trailing zero.
pub fn of_hundred(rate: f64) -> String {
    let text = rounded_up(100.0 * rate, 1);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A figure of at most a hundred with so many decimals, never below it.
pub fn rounded_up(value: f64, decimals: u8) -> String {
    let scale = 10f64.powi(i32::from(decimals));
    // A hair's width of rounding must not push 62.0 to 62.1.
    let shown = (value * scale - 1e-9).ceil().clamp(0.0, 100.0 * scale) / scale;
    // Adding nothing makes the negative zero of a rate just below one an ordinary one.
    format!("{:.*}", usize::from(decimals), shown + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_without_a_sign() {
        for nothing in [0.0, -0.0, -1e-18, 1e-13] {
            assert_eq!(rounded_up(nothing, 2), "0.00");
            assert_eq!(of_hundred(nothing), "0");
        }
    }

    #[test]
    fn figures_of_the_design() {
        let one = Meaning::Pair {
            epsilon: 1.0,
            delta: 1e-5,
        };
        assert!((one.advantage() - 0.4621).abs() < 5e-5);
        assert!((one.true_positive_rate(0.01) - 0.0272).abs() < 5e-5);
        let eight = Meaning::Pair {
            epsilon: 8.0,
            delta: 1e-5,
        };
        assert!((eight.advantage() - 0.9993).abs() < 5e-5);
        assert!((eight.true_positive_rate(0.01) - 0.9997).abs() < 5e-5);
        // The Gaussians that reach these ε at δ = 1e-5.
        assert!((Meaning::Gaussian { mu: 1.0 / 3.7306 }.true_positive_rate(0.01) - 0.0198).abs() < 5e-5);
        assert!((Meaning::Gaussian { mu: 1.0 / 0.60023 }.true_positive_rate(0.01) - 0.2545).abs() < 5e-5);
    }

    #[test]
    fn a_profile_is_tighter_than_any_of_its_points_and_meets_the_closed_form() {
        let mu = 1.0;
        let points: Vec<(f64, f64)> = (0..=600)
            .map(|i| f64::from(i) * 0.01)
            .map(|epsilon| (epsilon, crate::privacy::gaussian::delta(mu, epsilon)))
            .collect();
        let profile = Meaning::Profile(points.clone());
        let gaussian = Meaning::Gaussian { mu };
        for alpha in [1e-3, 0.01, 0.1, 0.5, 0.9] {
            let (a, b) = (
                profile.true_positive_rate(alpha),
                gaussian.true_positive_rate(alpha),
            );
            assert!(a >= b - 1e-12 && a - b < 1e-4, "{alpha}: {a} {b}");
            let single = Meaning::Pair {
                epsilon: points[300].0,
                delta: points[300].1,
            };
            assert!(single.true_positive_rate(alpha) >= a);
        }
        assert!((profile.advantage() - gaussian.advantage()).abs() < 1e-12);
        // As close as the profile's nearest ε is to ln(0.7/0.3).
        let (a, b) = (profile.accuracy(0.3), gaussian.accuracy(0.3));
        assert!(a >= b - 1e-12 && a - b < 1e-3, "{a} {b}");
    }

    #[test]
    fn sentences_round_up_and_name_both_numbers_and_the_unit() {
        let one = Meaning::Pair {
            epsilon: 1.0,
            delta: 0.0,
        };
        for (unit, english, chinese) in [
            (Unit::Row, "one row", "2.8 行"),
            (Unit::Image, "one image", "2.8 张"),
            (Unit::Person, "one person", "2.8 人"),
        ] {
            let sentence = one.odds_sentence(Language::English, unit);
            for part in ["at most 73.2", "at most 2.8", english] {
                assert!(sentence.contains(part), "{part}: {sentence}");
            }
            let sentence = one.odds_sentence(Language::Chinese, unit);
            for part in ["最多 73.2", chinese] {
                assert!(sentence.contains(part), "{part}: {sentence}");
            }
        }
        let nothing = Meaning::Pair {
            epsilon: 1e9,
            delta: 0.0,
        }
        .odds_sentence(Language::English, Unit::Row);
        assert!(nothing.contains("at most 100"), "{nothing}");
        assert_eq!(of_hundred(62.0 / 100.0), "62");
    }

    #[test]
    fn only_rows_are_called_rows() {
        for language in [Language::English, Language::Chinese] {
            let said = caveats(language, Unit::Image).concat();
            assert!(!said.contains("row") && !said.contains('行'), "{said}");
        }
    }

    #[test]
    fn extremes_are_numbers() {
        for meaning in [
            Meaning::Pair {
                epsilon: 0.0,
                delta: 0.0,
            },
            Meaning::Pair {
                epsilon: 1e9,
                delta: 0.5,
            },
            Meaning::Profile(Vec::new()),
            Meaning::Gaussian { mu: 0.0 },
            Meaning::Gaussian { mu: 1e6 },
        ] {
            for x in [0.0, 1e-300, 0.3, 1.0] {
                for value in [
                    meaning.type_two_error(x),
                    meaning.true_positive_rate(x),
                    meaning.accuracy(x),
                    meaning.precision(x, 0.2),
                ] {
                    assert!((0.0..=1.0).contains(&value), "{meaning:?} {x} {value}");
                }
            }
            assert!((0.0..=1.0).contains(&meaning.advantage()));
        }
    }
}
