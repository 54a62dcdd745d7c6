//! The only place where private rows meet noise.
//!
//! Each function here looks at private rows, adds the noise that the plan says, and records the event in the
//! account, all in one: what is recorded is what was done. It asks the account **before** it looks, and an
//! event that would pass the budget is refused with no row touched.
//!
//! **A critic step** (Abadi et al. 2016, with book-keeping): each row enters by its own coin of probability q;
//! the gradients of the rows drawn are clipped to ℓ2 norm C over all layers together and summed; Gaussian noise
//! of standard deviation z·C is added to every coordinate. Adding, removing or zeroing one row moves the
//! clipped sum by at most C, so this is one Poisson-sampled Gaussian with (q, z). The caller divides by the
//! **expected** batch: a constant, so it is post-processing. A batch is summed in parts of a bounded size, whatever its
//! own: each example is clipped by itself, so the parts' sum is the batch's.
//!
//! **Persons** as units of several rows: each person enters by its own coin; the gradients of a person's rows are summed,
//! and the sum is clipped to C. So whoever comes or goes moves the sum by at most C, whatever rows they have.
//!
//! **A mean embedding** of images or rows: see [`embedding`]. **Counts of pairs** of columns: see [`pairs`](mod@pairs).
//!
//! **Histograms**: see [`RowLayout`] for their ℓ2 sensitivity under each relation.

mod embedding;
mod pairs;
mod persons;

use burn::tensor::{Device, Tensor};
use rand_distr::{Distribution, StandardNormal};

pub use embedding::{
    ClassMeans, JointMeans, joint_embedding, mean_embedding, sensitivity as embedding_sensitivity,
};
pub use pairs::{PairCounts, pairs, sensitivity as pair_sensitivity};

use super::budget::{Budget, step_event};
use super::layout::RowLayout;
use super::plan::Plan;
use super::sampler::PoissonSampler;
use super::training::TrainError;
use crate::data::{StoreError, StoredRows};
use crate::model::{ClippedSum, Critic, CriticBatch, CriticLoss, Side, matrix, vector};
use crate::num::{NoiseMultiplier, RandomSource, SamplingRate};
use crate::privacy::{
    AccountantKind, AccountingError, CountedEvent, EventList, PrivacyEvent, RunningAccountant,
};

/// Why a private operation did not happen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It would pass the budget.
    #[error("the next event would bring ε to {would_be}, past the budget of {budget}")]
    OverBudget {
        /// ε with the event.
        would_be: f64,
        /// The budget.
        budget: f64,
    },
    /// It cannot be accounted.
    #[error("the next event cannot be accounted")]
    Accounting(#[from] AccountingError),
    /// It was charged, and then the rows could not be read.
    #[error(transparent)]
    Rows(#[from] StoreError),
}

/// What has been spent so far, and what may be spent.
#[derive(Clone, Debug)]
pub struct Account {
    /// `None` for a run without a promise: nothing is charged, and nothing may be claimed.
    private: Option<PrivateAccount>,
}

#[derive(Clone, Debug)]
struct PrivateAccount {
    budget: Budget,
    accountant: RunningAccountant,
    executed: EventList,
    epsilon: f64,
}

impl Account {
    /// An account with nothing spent, for a plan.
    pub fn open(plan: &Plan) -> Self {
        Self::of(
            plan.protection().map(|protection| protection.budget),
            AccountantKind::Rdp,
        )
    }

    /// An account with nothing spent, by the accountant that the plan was calibrated with.
    pub fn of(budget: Option<Budget>, accountant: AccountantKind) -> Self {
        let private = budget.map(|budget| PrivateAccount {
            budget,
            accountant: RunningAccountant::new(accountant, budget.neighboring),
            executed: EventList::new(budget.neighboring),
            epsilon: 0.0,
        });
        Self { private }
    }

    /// Whether a promise is kept.
    pub const fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// ε of everything executed, at the budget's δ.
    pub fn epsilon(&self) -> Option<f64> {
        self.private.as_ref().map(|private| private.epsilon)
    }

    /// Everything executed so far, in order.
    pub fn executed(&self) -> EventList {
        self.private
            .as_ref()
            .map_or_else(EventList::default, |private| private.executed.clone())
    }

    /// Charges what an earlier part of a run may have done, without a look: [`keep`](crate::train::keep) says why that
    /// covers all of it.
    ///
    /// # Errors
    /// When it would pass the budget, which no part of the same plan does.
    pub fn taken_up(&mut self, events: &EventList) -> Result<(), TrainError> {
        for CountedEvent { event, count } in &events.events {
            for _ in 0..*count {
                self.charge(event.clone(), || ())
                    .map_err(|refusal| TrainError::OtherCheckpoint(refusal.to_string()))?;
            }
        }
        Ok(())
    }

    /// Runs `look`, which touches private rows, if the event fits into what is left, and records the event.
    ///
    /// The event is recorded even if `look` panics half-way, since noise may have been seen by then.
    fn charge<T>(&mut self, event: PrivacyEvent, look: impl FnOnce() -> T) -> Result<T, Refusal> {
        let Some(private) = &mut self.private else {
            return Ok(look());
        };
        let mut after = private.accountant.clone();
        after.compose(&event)?;
        let would_be = after.epsilon(private.budget.delta)?;
        let budget = private.budget.epsilon.get();
        if would_be.is_nan() || would_be > budget {
            return Err(Refusal::OverBudget { would_be, budget });
        }
        private.accountant = after;
        private.epsilon = would_be;
        append(&mut private.executed, event);
        Ok(look())
    }
}

/// Appends an event; steps at the same rate and noise join the stretch before.
fn append(list: &mut EventList, event: PrivacyEvent) {
    if let (
        Some(CountedEvent {
            event:
                PrivacyEvent::PoissonSampledGaussian {
                    sampling_rate,
                    noise_multiplier,
                    steps,
                },
            count: 1,
        }),
        PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: q,
            noise_multiplier: z,
            steps: more,
        },
    ) = (list.events.last_mut(), &event)
        && sampling_rate.to_bits() == q.to_bits()
        && noise_multiplier.to_bits() == z.to_bits()
    {
        *steps += more;
        return;
    }
    list.push(event, 1);
}

/// Private examples that a critic can be shown.
pub trait Examples {
    /// The examples of these indices on a device.
    ///
    /// # Errors
    /// When they are kept in a file that cannot be read.
    fn batch(&self, indices: &[usize], device: &Device) -> Result<CriticBatch, StoreError>;

    /// Where each person's examples begin, and where the last one's end; `None` where each example is a unit of its own.
    fn persons(&self) -> Option<&[usize]> {
        None
    }
}

impl Examples for StoredRows {
    fn batch(&self, indices: &[usize], device: &Device) -> Result<CriticBatch, StoreError> {
        Ok(dense(self, indices, device)?.into())
    }

    fn persons(&self) -> Option<&[usize]> {
        StoredRows::persons(self)
    }
}

/// How real rows enter a critic step.
#[derive(Clone, Debug)]
pub struct StepRule {
    /// Draws the units: rows, or persons with all their rows.
    pub sampler: PoissonSampler,
    /// q, as it is charged.
    pub rate: SamplingRate,
    /// C.
    pub clip_norm: f64,
    /// The critic's loss.
    pub loss: CriticLoss,
    /// Rows whose gradients are taken at a time.
    pub micro_batch: usize,
}

/// What a critic step learns from real rows.
pub struct RealGradient {
    /// The noisy sum of clipped gradients. Shape `[parameters]`.
    pub sum: Tensor<1>,
    /// How many units were drawn: for the steward only.
    pub batch: usize,
    /// Losses and gradient norms of the units drawn; `None` when there were none. For the steward only.
    pub seen: Option<ClippedSum>,
}

/// The noisy sum of the critic's clipped gradients on real rows drawn by their own coins, charged as one step
/// of Poisson-sampled Gaussian noise. Without a promise: the plain sum, and no charge.
///
/// # Errors
/// When the step would pass the budget; no row has been drawn then. When the rows drawn are kept in a file that cannot be
/// read.
pub fn critic_gradient(
    account: &mut Account,
    critic: &Critic,
    examples: &impl Examples,
    rule: &StepRule,
    noise_multiplier: Option<f64>,
    random: &mut RandomSource,
    device: &Device,
) -> Result<RealGradient, Refusal> {
    // A private account without noise would be charged as infinite and so be refused.
    let event = step_event(rule.rate, noise_multiplier.unwrap_or(0.0), 1);
    account.charge(event, || {
        let drawn = rule.sampler.draw(random);
        let clip = noise_multiplier.map(|_| rule.clip_norm);
        let seen = if let (Some(persons), Some(clip)) = (examples.persons(), clip) {
            persons::clipped_sum(critic, (examples, persons), &drawn, (rule, clip), device)?
        } else {
            let mut seen: Option<ClippedSum> = None;
            for indices in drawn.chunks(rule.micro_batch.max(1)) {
                let batch = examples.batch(indices, device)?;
                let part = critic.clipped_gradient_sum(batch, rule.loss, Side::Real, clip);
                seen = Some(match seen {
                    Some(seen) => seen.and(part),
                    None => part,
                });
            }
            seen
        };
        let length = critic.parameter_count();
        let mut sum = seen
            .as_ref()
            .map_or_else(|| Tensor::zeros([length], device), |seen| seen.sum.clone());
        if let Some(noise_multiplier) = noise_multiplier {
            sum = sum + normal_noise(length, noise_multiplier * rule.clip_norm, random, device);
        }
        Ok(RealGradient {
            sum,
            batch: drawn.len(),
            seen,
        })
    })?
}

/// Rows drawn by their own coins, as they are: only for a run without a promise, `None` for any other. `None` too when
/// none was drawn.
pub fn unprotected_batch(
    account: &Account,
    examples: &impl Examples,
    rule: &StepRule,
    random: &mut RandomSource,
    device: &Device,
) -> Option<CriticBatch> {
    if account.private.is_some() {
        return None;
    }
    let drawn = rule.sampler.draw(random);
    if drawn.is_empty() {
        return None;
    }
    // Rows that cannot be read end the run at its next step, with a message.
    examples.batch(&drawn, device).ok()
}

/// Expands the rows of these indices on a device. Shape `[batch, width]`.
fn dense(rows: &StoredRows, indices: &[usize], device: &Device) -> Result<Tensor<2>, StoreError> {
    let width = rows.width();
    let mut values = vec![0.0; indices.len() * width];
    rows.write_dense(indices, &mut values)?;
    Ok(matrix(values, indices.len(), width, device))
}

fn normal_noise(count: usize, deviation: f64, random: &mut RandomSource, device: &Device) -> Tensor<1> {
    let noise = (0..count).map(|_| {
        let unit: f64 = StandardNormal.sample(random);
        (unit * deviation) as f32
    });
    vector(noise.collect(), device)
}

/// Counts of every category of every feature, split by the label's category if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassCounts {
    /// Categories of the label; 1 without a label.
    pub classes: usize,
    /// `[classes, width]` row-major over encoded columns; columns that belong to no feature stay 0.
    pub counts: Vec<f64>,
    /// The standard deviation of the noise in each cell.
    pub deviation: f64,
}

/// Noisy marginals of all features, charged as one Gaussian event. Without a promise: the plain counts.
///
/// # Errors
/// When they would pass the budget; nothing has been counted then. When the rows are kept in a file that cannot be read.
pub fn marginals(
    account: &mut Account,
    rows: &StoredRows,
    layout: &RowLayout,
    noise: Option<NoiseMultiplier>,
    random: &mut RandomSource,
) -> Result<ClassCounts, Refusal> {
    let deviation = histogram_deviation(account, noise, |budget| {
        layout.marginal_sensitivity(budget.neighboring)
    });
    account.charge(histogram_event(noise), || {
        let width = layout.width();
        let classes = layout.label().map_or(1, |label| label.width);
        let mut counts = vec![0.0; classes * width];
        rows.each_piece(|piece| {
            for row in piece.codes.chunks_exact(layout.one_hot().len().max(1)) {
                let class = layout.label_index().map_or(0, |label| usize::from(row[label]));
                for (index, block) in layout.features() {
                    counts[class * width + block.offset + usize::from(row[index])] += 1.0;
                }
            }
        })?;
        for (_, block) in layout.features() {
            for class in 0..classes {
                let start = class * width + block.offset;
                add_noise(&mut counts[start..start + block.width], deviation, random);
            }
        }
        Ok(ClassCounts {
            classes,
            counts,
            deviation,
        })
    })?
}

/// Noisy fine histograms, one a binned number, charged as one Gaussian event. Without a promise: plain counts.
///
/// # Errors
/// When they would pass the budget; nothing has been counted then. When the rows are kept in a file that cannot be read.
pub fn fine_histograms(
    account: &mut Account,
    rows: &StoredRows,
    layout: &RowLayout,
    noise: Option<NoiseMultiplier>,
    random: &mut RandomSource,
) -> Result<FineCounts, Refusal> {
    let deviation = histogram_deviation(account, noise, |budget| {
        layout.fine_sensitivity(budget.neighboring)
    });
    account.charge(histogram_event(noise), || {
        let columns = layout.fine();
        let mut counts: Vec<Vec<f64>> = columns.iter().map(|column| vec![0.0; column.cells]).collect();
        rows.each_piece(|piece| {
            for row in piece.fine.chunks_exact(columns.len().max(1)) {
                for (counts, &cell) in counts.iter_mut().zip(row) {
                    // A missing number has no cell.
                    if let Some(count) = counts.get_mut(usize::from(cell)) {
                        *count += 1.0;
                    }
                }
            }
        })?;
        counts
            .iter_mut()
            .for_each(|counts| add_noise(counts, deviation, random));
        Ok(FineCounts { counts, deviation })
    })?
}

/// Noisy counts of fine cells, in the order of [`RowLayout::fine`].
#[derive(Clone, Debug, PartialEq)]
pub struct FineCounts {
    /// Counts of each column's cells.
    pub counts: Vec<Vec<f64>>,
    /// The standard deviation of the noise in each cell.
    pub deviation: f64,
}

fn histogram_event(noise: Option<NoiseMultiplier>) -> PrivacyEvent {
    PrivacyEvent::Gaussian {
        noise_multiplier: noise.map_or(0.0, NoiseMultiplier::get),
    }
}

fn histogram_deviation(
    account: &Account,
    noise: Option<NoiseMultiplier>,
    sensitivity: impl FnOnce(&Budget) -> f64,
) -> f64 {
    match (&account.private, noise) {
        (Some(private), Some(noise)) => noise.get() * sensitivity(&private.budget),
        _ => 0.0,
    }
}

fn add_noise(values: &mut [f64], deviation: f64, random: &mut RandomSource) {
    if deviation > 0.0 {
        for value in values {
            let unit: f64 = StandardNormal.sample(random);
            *value += unit * deviation;
        }
    }
}

#[cfg(test)]
mod tests;
