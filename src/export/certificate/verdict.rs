//! Whether a certificate makes a claim of differential privacy, and if not, why.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Certificate, Sampling};
use crate::data::Provenance;
use crate::num::RandomOrigin;
use crate::privacy::{CountedEvent, PrivacyEvent};

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "claim", rename_all = "snake_case")]
pub enum Verdict {
    /// The stated promise holds, with what the certificate lists as not protected and not accounted.
    DifferentiallyPrivate,
    /// No claim is made.
    NoDpClaim {
        /// Why, all of it.
        reasons: Vec<NoClaim>,
    },
}

impl Verdict {
    /// Whether a claim is made.
    pub fn is_claim(&self) -> bool {
        *self == Self::DifferentiallyPrivate
    }

    /// The reasons why none is made.
    pub fn reasons(&self) -> &[NoClaim] {
        match self {
            Self::DifferentiallyPrivate => &[],
            Self::NoDpClaim { reasons } => reasons,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DifferentiallyPrivate => formatter.write_str("differentially private"),
            Self::NoDpClaim { reasons } => {
                formatter.write_str("no DP claim")?;
                for (index, reason) in reasons.iter().enumerate() {
                    write!(formatter, "{}{reason}", if index == 0 { ": " } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

/// Why no claim is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoClaim {
    /// The method makes no promise.
    MethodWithoutPrivacy,
    /// Nothing says what was done to the private data.
    NoEvents,
    /// The events give no finite ε.
    NoFiniteEpsilon,
    /// The unit of privacy is missing.
    NoUnit,
    /// The neighbouring relation is missing.
    NoRelation,
    /// The relation stated is not the one of the events.
    OtherRelation,
    /// The domain is missing.
    NoDomain,
    /// A used column's bounds or values have no provenance.
    NoProvenance {
        /// The column.
        column: String,
    },
    /// A used column's bounds or values were read off private rows and nobody decided on them.
    Suggested {
        /// The column.
        column: String,
    },
    /// How the data was sampled is missing.
    NoSampling,
    /// The events quote another sampling than the one that was run.
    OtherSampling {
        /// The event's type.
        event: String,
    },
    /// Where random bits came from is missing.
    NoRandomSource,
    /// Random bits came from a fixed seed.
    Seeded,
}

impl fmt::Display for NoClaim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MethodWithoutPrivacy => formatter.write_str("the method makes no promise"),
            Self::NoEvents => formatter.write_str("nothing says what was done to the private data"),
            Self::NoFiniteEpsilon => formatter.write_str("the events give no finite ε"),
            Self::NoUnit => formatter.write_str("the unit of privacy is missing"),
            Self::NoRelation => formatter.write_str("the neighbouring relation is missing"),
            Self::OtherRelation => formatter.write_str("the relation is not the one of the events"),
            Self::NoDomain => formatter.write_str("the columns and where they are known from are missing"),
            Self::NoProvenance { column } => {
                write!(
                    formatter,
                    "nobody said where the bounds or values of \"{column}\" are known from"
                )
            }
            Self::Suggested { column } => {
                write!(
                    formatter,
                    "the bounds or values of \"{column}\" were read off the private data"
                )
            }
            Self::NoSampling => formatter.write_str("how the data was sampled is missing"),
            Self::OtherSampling { event } => {
                write!(
                    formatter,
                    "an event `{event}` quotes another sampling than was run"
                )
            }
            Self::NoRandomSource => formatter.write_str("where random bits came from is missing"),
            Self::Seeded => formatter.write_str("random bits came from a fixed seed"),
        }
    }
}

impl Certificate {
    /// The verdict as it follows from the other fields.
    pub fn verdict(&self) -> Verdict {
        let mut reasons = Vec::new();
        match (&self.guarantee, &self.events) {
            (None, None) => reasons.push(NoClaim::MethodWithoutPrivacy),
            (_, None) => reasons.push(NoClaim::NoEvents),
            (None, Some(_)) => reasons.push(NoClaim::NoFiniteEpsilon),
            (Some(guarantee), Some(_)) => {
                if !guarantee.epsilon.is_finite() || guarantee.epsilon < 0.0 {
                    reasons.push(NoClaim::NoFiniteEpsilon);
                }
            }
        }
        if self.unit.is_none() {
            reasons.push(NoClaim::NoUnit);
        }
        match (self.relation, &self.events) {
            (None, _) => reasons.push(NoClaim::NoRelation),
            (Some(relation), Some(events)) if relation != events.neighboring => {
                reasons.push(NoClaim::OtherRelation);
            }
            _ => {}
        }
        self.judge_domain(&mut reasons);
        match self.sampling {
            None => reasons.push(NoClaim::NoSampling),
            Some(run) => {
                if let Some(events) = &self.events {
                    judge_sampling(run, &events.events, &mut reasons);
                }
            }
        }
        match self.random_source {
            None => reasons.push(NoClaim::NoRandomSource),
            Some(RandomOrigin::Seeded(_)) => reasons.push(NoClaim::Seeded),
            Some(RandomOrigin::OperatingSystem) => {}
        }
        if reasons.is_empty() {
            Verdict::DifferentiallyPrivate
        } else {
            Verdict::NoDpClaim { reasons }
        }
    }

    fn judge_domain(&self, reasons: &mut Vec<NoClaim>) {
        let Some(domain) = &self.domain else {
            reasons.push(NoClaim::NoDomain);
            return;
        };
        for column in &domain.columns {
            let column_name = || column.name.clone();
            match column.provenance {
                None => reasons.push(NoClaim::NoProvenance {
                    column: column_name(),
                }),
                Some(Provenance::Suggested) => reasons.push(NoClaim::Suggested {
                    column: column_name(),
                }),
                Some(Provenance::Declared | Provenance::Bought | Provenance::Accepted) => {}
            }
        }
    }
}

/// A loop that shuffles, or draws batches of a fixed size, may not quote another sampling's amplification.
fn judge_sampling(run: Sampling, events: &[CountedEvent], reasons: &mut Vec<NoClaim>) {
    for CountedEvent { event, .. } in events {
        let fits = match event {
            PrivacyEvent::PoissonSampledGaussian { .. } => run == Sampling::Poisson,
            PrivacyEvent::FixedSizeSampledGaussian { .. } => run == Sampling::FixedSize,
            PrivacyEvent::RowDrawGaussian { .. } => run == Sampling::RowDraws,
            PrivacyEvent::RoundRobinGaussian { .. } => run == Sampling::RoundRobin,
            PrivacyEvent::Parallel { branches } => {
                for branch in branches {
                    judge_sampling(run, branch, reasons);
                }
                true
            }
            _ => true,
        };
        let reason = NoClaim::OtherSampling {
            event: event.name().into(),
        };
        if !fits && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
}
