//! What a statistic's noise would be at any ε and by any mechanism, for planning: closed forms, without a price.
//!
//! [`Outlook::new`] decides from the schema and the question alone, as a release does, so sensitivities and the noise of
//! the discrete mechanisms and of the exponential one are those that a release has. The continuous and the textbook
//! mechanisms and randomised response are there to be compared with: nothing is released by them.
//!
//! What depends on the rows ([`Truth`], and errors of means, variances and choices) is for the steward only.

mod law;
mod mechanism;

pub use self::law::Law;
pub use self::mechanism::{Mechanism, PartSensitivity, Reason, Sensitivity, Summed};
use crate::data::{Schema, Table};
use crate::num::{Delta, Epsilon, RandomSource};
use crate::privacy::mechanism::utility::{
    Candidates, Noise as Planned, ResponseError, concentrated_sigma, textbook_gaussian_sigma,
};
use crate::privacy::mechanism::{MechanismError, RandomizedResponse};
use crate::privacy::{EventList, Neighboring, PrivacyEvent, gaussian_sigma};

use crate::release::additive::Sums;
use crate::release::answer::{Label, Value};
use crate::release::error::ReleaseError;
use crate::release::plan;
use crate::release::request::{Query, ReleaseRequest};
use crate::release::selection::Choices;

/// The ε that pictures span.
pub const SHOWN_EPSILONS: (f64, f64) = (0.001, 10.0);
/// How many real draws a picture shows.
pub const DRAWS: usize = 200;

/// The ε of a draw: spread evenly over [`SHOWN_EPSILONS`] on a log scale.
pub fn draw_epsilon(draw: usize) -> f64 {
    let (low, high) = SHOWN_EPSILONS;
    low * (high / low).powf((draw as f64 + 0.5) / DRAWS as f64)
}

/// A statistic to think about, without a price.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The statistic.
    pub query: Query,
    /// The column; a count may do without.
    pub column: Option<String>,
    /// A column of a public domain: the statistic of each of its values.
    pub by: Option<String>,
    /// Add/remove one or replace one. A declared row count turns the former into zero-out one.
    pub neighboring: Neighboring,
}

/// One noisy number at its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartNoise {
    /// The noise.
    pub noise: Planned,
    /// Its unit in steps of the sum that it is added to.
    pub steps: f64,
}

/// What was found in the rows of one cell (a group, a bin, or everything). For the steward only.
#[derive(Clone, Debug, PartialEq)]
pub struct CellTruth {
    /// The group, if there are groups.
    pub group: Option<Label>,
    /// The bin, of a histogram.
    pub bin: Option<Label>,
    /// The statistic as it would be shown.
    pub shown: Value,
    /// The statistic as a number of the column's unit (dates in days, times in seconds).
    pub number: f64,
    pub(in crate::release) found: Found,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::release) enum Found {
    /// Exact sums, in steps of the line, and how many rows or values they are of.
    Sums { sums: Vec<f64>, count: f64 },
    /// The candidates with their scores.
    Candidates(Candidates),
}

impl CellTruth {
    /// How many rows or values the cell holds, where that is known.
    pub fn count(&self) -> Option<f64> {
        match &self.found {
            Found::Sums { count, .. } => Some(*count),
            Found::Candidates(_) => None,
        }
    }
}

/// What was found in the rows. For the steward only.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// A cell for each group and bin.
    pub cells: Vec<CellTruth>,
    /// For each cell (the first [`MOST_RESPONSES`]) the error of randomised response in real draws, at
    /// [`draw_epsilon`]; empty where it does not fit.
    pub responses: Vec<Vec<f64>>,
}

/// Cells with real draws of randomised response.
pub const MOST_RESPONSES: usize = 64;

/// A statistic's noise, at any ε and by any mechanism that fits it.
#[derive(Clone, Debug)]
pub struct Outlook {
    relation: Neighboring,
    max_rows: u64,
    /// Categories of randomised response, where it fits.
    categories: Option<u64>,
    task: Task,
}

#[derive(Clone, Debug)]
enum Task {
    Sums(Box<Sums>),
    Choices(Box<Choices>),
    /// A search for the schema: what it finds is not known beforehand.
    Search,
}

impl Outlook {
    /// Decides from the schema and the question alone. Reads no rows.
    ///
    /// # Errors
    /// As a release of the question would.
    pub fn new(schema: &Schema, question: &Question) -> Result<Self, ReleaseError> {
        let request = ReleaseRequest {
            by: question.by.clone(),
            neighboring: question.neighboring,
            // Any δ: only the search for values asks for one, and its noise is not looked at here.
            delta: 1e-6,
            ..ReleaseRequest::new(question.query, question.column.as_deref(), 1.0)
        };
        // What a release refuses is refused here, in its words.
        plan::ReleasePlan::new(schema, &request)?;
        let noise = request.check()?;
        let setting = plan::setting(schema, &request, noise)?;
        let task = match question.query {
            Query::Quantile { .. } | Query::Mode => Task::Choices(Box::new(Choices::new(&setting)?)),
            Query::Bounds | Query::Categories => Task::Search,
            _ => Task::Sums(Box::new(Sums::new(&setting)?)),
        };
        let categories = match &task {
            // One answer of one person: with several rows of a person, several answers would compose.
            Task::Sums(sums) if schema.unit.is_none() => sums.categories(),
            _ => None,
        };
        Ok(Self {
            relation: setting.neighbours.relation,
            max_rows: setting.neighbours.max_rows,
            categories,
            task,
        })
    }

    /// The relation of the promise.
    pub fn relation(&self) -> Neighboring {
        self.relation
    }

    /// The most rows of one unit that count.
    pub fn max_rows(&self) -> u64 {
        self.max_rows
    }

    /// The mechanisms that fit the question, in the order in which they are offered. Empty for a search.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> + '_ {
        Mechanism::ALL
            .into_iter()
            .filter(|mechanism| match (&self.task, mechanism) {
                (Task::Choices(_), Mechanism::Exponential) => true,
                (Task::Sums(_), Mechanism::RandomizedResponse) => self.categories.is_some(),
                (Task::Sums(_), mechanism) => *mechanism != Mechanism::Exponential,
                _ => false,
            })
    }

    /// How far one unit moves the statistic; `None` for a search.
    pub fn sensitivity(&self) -> Option<Sensitivity> {
        match &self.task {
            Task::Sums(sums) => Some(sums.sensitivity()),
            Task::Choices(choices) => Some(Sensitivity::Score(choices.sensitivity())),
            Task::Search => None,
        }
    }

    /// The noise of each part by an additive mechanism.
    ///
    /// # Errors
    /// δ = 0 with a Gaussian, a scale that cannot be drawn, or a mechanism that does not fit.
    pub fn noise(
        &self,
        mechanism: Mechanism,
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Vec<PartNoise>, ReleaseError> {
        match &self.task {
            Task::Sums(sums) => sums.noise(mechanism, epsilon, multiplier(mechanism, epsilon, delta)?),
            _ => Err(does_not_fit()),
        }
    }

    /// How a cell's error is distributed. Where it depends on the rows (means, variances, choices, responses), `cell`
    /// must be there, and what comes out is for the steward only.
    ///
    /// Of means and variances to first order in the noise over the number of values, before the answer is cut to what is
    /// possible.
    ///
    /// # Errors
    /// As [`Outlook::noise`], or a cell that is needed and missing.
    pub fn law<'a>(
        &self,
        mechanism: Mechanism,
        (epsilon, delta): (Epsilon, Delta),
        cell: Option<&'a CellTruth>,
        all: Option<&Truth>,
    ) -> Result<Law<'a>, ReleaseError> {
        match (&self.task, mechanism) {
            (Task::Choices(_), Mechanism::Exponential) => match cell.map(|cell| &cell.found) {
                Some(Found::Candidates(candidates)) => Ok(Law::Choice(candidates.at(epsilon.get()))),
                _ => Err(does_not_fit()),
            },
            (Task::Sums(_), Mechanism::RandomizedResponse) => {
                let response = self.response(epsilon)?;
                let (Some(cell), Some(all)) = (cell.and_then(CellTruth::count), all) else {
                    return Err(does_not_fit());
                };
                let persons: f64 = all.cells.iter().filter_map(CellTruth::count).sum();
                Ok(Law::Response(ResponseError::new(
                    response,
                    persons as u64,
                    cell as u64,
                )?))
            }
            (Task::Sums(sums), _) => {
                let parts = self.noise(mechanism, epsilon, delta)?;
                Ok(Law::Noise(sums.law(&parts, cell)?))
            }
            _ => Err(does_not_fit()),
        }
    }

    /// By how many ranks or rows, at most, a choice is off at 95 %, whatever the rows are: what a release states.
    /// `None` for sums.
    pub fn rank_error(&self, epsilon: f64) -> Option<f64> {
        match &self.task {
            Task::Choices(choices) => Some(choices.bound() / epsilon),
            _ => None,
        }
    }

    /// Whether the error depends on the rows.
    pub fn depends_on_rows(&self, mechanism: Mechanism) -> bool {
        match &self.task {
            Task::Sums(sums) => mechanism == Mechanism::RandomizedResponse || sums.is_ratio(),
            Task::Choices(_) => true,
            Task::Search => false,
        }
    }

    /// A released value as a number, from the noise that uniform numbers stand for (one a part, or one of a choice): with
    /// the release's own arithmetic and cuts. `None` where the mechanism has no such noise.
    pub fn answer(
        &self,
        parts: &[PartNoise],
        law: Option<&Law<'_>>,
        cell: &CellTruth,
        uniforms: &[f64],
    ) -> Option<f64> {
        match (&self.task, &cell.found, law) {
            (Task::Sums(_), _, Some(Law::Response(error))) => {
                let noise = Planned::Gaussian {
                    sigma: error.root_mean_square_error().max(f64::MIN_POSITIVE),
                };
                Some(cell.number + noise.quantile(*uniforms.first()?))
            }
            (Task::Sums(task), Found::Sums { sums, .. }, _) => {
                if uniforms.len() < parts.len() || parts.len() != sums.len() {
                    return None;
                }
                let noisy: Vec<f64> = sums
                    .iter()
                    .zip(parts)
                    .zip(uniforms)
                    .map(|((sum, part), &uniform)| sum + part.noise.quantile(uniform) * part.steps)
                    .collect();
                Some(task.number(&noisy))
            }
            (Task::Choices(_), _, Some(Law::Choice(law))) => Some(law.draw(*uniforms.first()?)),
            _ => None,
        }
    }

    /// All that would happen to private data, for composing several such questions.
    ///
    /// # Errors
    /// As [`Outlook::noise`].
    pub fn events(
        &self,
        mechanism: Mechanism,
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<EventList, ReleaseError> {
        let mut events = EventList::new(self.relation);
        match (&self.task, mechanism) {
            (Task::Choices(_), _) => events.push(
                PrivacyEvent::Exponential {
                    epsilon: epsilon.get(),
                },
                1,
            ),
            (_, Mechanism::RandomizedResponse) => events.push(self.response(epsilon)?.event(), 1),
            (Task::Sums(sums), _) => {
                sums.events(
                    &mut events,
                    mechanism,
                    epsilon,
                    multiplier(mechanism, epsilon, delta)?,
                )?;
            }
            (Task::Search, _) => return Err(does_not_fit()),
        }
        Ok(events)
    }

    fn response(&self, epsilon: Epsilon) -> Result<RandomizedResponse, ReleaseError> {
        let categories = self.categories.ok_or_else(does_not_fit)?;
        Ok(RandomizedResponse::for_epsilon(epsilon, categories)?)
    }

    /// Reads the rows. What comes out is for the steward only; nothing is spent.
    ///
    /// # Errors
    /// When the table is not the schema's.
    pub fn measure(
        &self,
        schema: &Schema,
        table: &Table,
        random: &mut RandomSource,
    ) -> Result<Truth, ReleaseError> {
        let cells = match &self.task {
            Task::Sums(sums) => sums.measure(schema, table)?,
            Task::Choices(choices) => choices.measure(schema, table)?,
            Task::Search => Vec::new(),
        };
        let responses = if self.categories.is_some() {
            let counts: Vec<f64> = cells.iter().filter_map(CellTruth::count).collect();
            let total: f64 = counts.iter().sum();
            counts
                .iter()
                .take(MOST_RESPONSES)
                .map(|&count| self.responses(count as u64, (total - count) as u64, random))
                .collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        Ok(Truth { cells, responses })
    }

    /// Errors of the estimate of one category's count in real draws of all persons' reports, which are binomial.
    fn responses(&self, hold: u64, rest: u64, random: &mut RandomSource) -> Result<Vec<f64>, ReleaseError> {
        use rand_distr::{Binomial, Distribution as _};
        (0..DRAWS)
            .map(|draw| {
                let response = self.response(Epsilon::new(draw_epsilon(draw))?)?;
                let (p, other) = (response.truth_probability(), response.other_probability());
                let mut reports = 0.0;
                for (persons, chance) in [(hold, p), (rest, other)] {
                    // Probabilities between 0 and 1 are what the response was made of.
                    if let Ok(law) = Binomial::new(persons, chance) {
                        reports += law.sample(random) as f64;
                    }
                }
                let estimate = (reports - (hold + rest) as f64 * other) / (p - other);
                Ok(estimate - hold as f64)
            })
            .collect()
    }
}

fn does_not_fit() -> ReleaseError {
    MechanismError::NothingToChoose("the mechanism does not fit the question").into()
}

/// σ over the ℓ2 sensitivity, of the Gaussians.
fn multiplier(mechanism: Mechanism, epsilon: Epsilon, delta: Delta) -> Result<f64, ReleaseError> {
    if mechanism.needs_delta() && delta.get() == 0.0 {
        return Err(ReleaseError::DeltaNeeded {
            what: "the Gaussian mechanism",
        });
    }
    Ok(match mechanism {
        Mechanism::TextbookGaussian => textbook_gaussian_sigma(epsilon, delta, 1.0)?,
        Mechanism::AnalyticGaussian => gaussian_sigma(epsilon, delta, 1.0)
            .map_err(|_| MechanismError::NothingToChoose("no noise keeps this promise"))?,
        Mechanism::DiscreteGaussian => concentrated_sigma(epsilon, delta)?,
        _ => 0.0,
    })
}
