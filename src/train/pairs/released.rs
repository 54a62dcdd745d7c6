//! What was released, whichever way, and the loss that pulls a generator towards it.

use burn::tensor::{Device, Tensor};

use super::embedding::{EmbeddingLoss, ReleasedEmbedding};
use super::loss::{PairDistance, PairLoss, PairMeans, PairShares};
use super::plan::{PairPlan, TableRelease};
use crate::model::{Generator, NamedTensor, WeightsError};
use crate::num::RandomSource;
use crate::train::layout::RowLayout;

/// A loss of the means of a batch of probabilities, worked out in parts: means of each part, then the distance of all
/// of them, then the slope of each part.
pub trait BatchLoss: Sync {
    /// What a part says.
    type Means: Send;
    /// What a part's slope needs of the pass before it.
    type Pass: Send;
    /// The loss of a batch, and what its slope is made from.
    type Distance: Sync;

    /// The means over part of a batch.
    ///
    /// # Shapes
    /// - probabilities: `[part, width]`, not tracked
    fn means(&self, probabilities: &Tensor<2>, step: u64) -> (Self::Means, Self::Pass);

    /// The means of equally large parts together.
    fn of_parts(parts: Vec<Self::Means>) -> Option<Self::Means>;

    /// The loss of a batch.
    fn distance(&self, means: Self::Means, batch: usize, step: u64) -> Self::Distance;

    /// The loss as a number. Shape `[1]`.
    fn value(distance: &Self::Distance) -> Tensor<1>;

    /// The slope of the loss of a whole batch by the probabilities of part of it.
    ///
    /// # Shapes
    /// - probabilities: `[part, width]`, not tracked
    /// - out: `[part, width]`
    fn slope(
        &self,
        distance: &Self::Distance,
        probabilities: &Tensor<2>,
        pass: Self::Pass,
        batch: usize,
    ) -> Tensor<2>;
}

impl BatchLoss for PairLoss {
    type Means = PairMeans;
    type Pass = ();
    type Distance = PairDistance;

    fn means(&self, probabilities: &Tensor<2>, _: u64) -> (PairMeans, ()) {
        (self.means(probabilities), ())
    }

    fn of_parts(parts: Vec<PairMeans>) -> Option<PairMeans> {
        PairMeans::of_parts(parts)
    }

    fn distance(&self, means: PairMeans, _: usize, _: u64) -> PairDistance {
        self.distance(means)
    }

    fn value(distance: &PairDistance) -> Tensor<1> {
        distance.value.clone()
    }

    fn slope(&self, distance: &PairDistance, probabilities: &Tensor<2>, (): (), batch: usize) -> Tensor<2> {
        self.slope(distance, probabilities, batch)
    }
}

/// What was released.
#[derive(Clone, Debug, PartialEq)]
pub enum Released {
    /// Counts of pairs, as shares.
    Pairs(PairShares),
    /// A mean embedding.
    Embedding(ReleasedEmbedding),
}

impl Released {
    /// Takes what was released back from a file's tensors.
    ///
    /// # Errors
    /// When they are missing, or not those of the plan.
    pub fn restored(tensors: &[NamedTensor], plan: &PairPlan) -> Result<Self, WeightsError> {
        match plan.release() {
            TableRelease::Pairs => PairShares::restored(tensors, plan.layout()).map(Self::Pairs),
            TableRelease::MeanEmbedding => ReleasedEmbedding::restored(tensors, plan).map(Self::Embedding),
        }
    }

    /// Each category's share, from which the generator starts. Shape `[width]`.
    pub fn column_shares(&self, layout: &RowLayout) -> Vec<f64> {
        match self {
            Self::Pairs(shares) => shares.column_shares(layout),
            Self::Embedding(released) => released.column_shares(layout),
        }
    }

    /// The loss, on a device.
    pub fn loss(&self, plan: &PairPlan, device: &Device) -> ReleaseLoss {
        let layout = plan.layout();
        match self {
            Self::Pairs(shares) => ReleaseLoss::Pairs(Box::new(PairLoss::new(
                shares,
                layout,
                plan.settings().pair_weight,
                device,
            ))),
            Self::Embedding(released) => {
                ReleaseLoss::Embedding(Box::new(EmbeddingLoss::new(released, layout, device)))
            }
        }
    }
}

/// The distance of a generator from what was released, on a device.
pub enum ReleaseLoss {
    /// Of its pairs.
    Pairs(Box<PairLoss>),
    /// Of its mean embedding.
    Embedding(Box<EmbeddingLoss>),
}

impl ReleaseLoss {
    /// What was released, as a file's tensors.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        match self {
            Self::Pairs(loss) => vec![loss.tensor()],
            Self::Embedding(loss) => loss.released().tensors(),
        }
    }

    /// The loss of a fresh batch and its slope by the generator's parameters, each part of the batch on a core of its
    /// own. Shapes `[1]` and `[parameters]`.
    pub fn slope(
        &self,
        generator: &Generator,
        randoms: &mut [RandomSource],
        batch: usize,
        step: u64,
    ) -> (Tensor<1>, Tensor<1>) {
        match self {
            Self::Pairs(loss) => slope_of(&**loss, generator, randoms, batch, step),
            Self::Embedding(loss) => slope_of(&**loss, generator, randoms, batch, step),
        }
    }
}

/// The loss's slope is worked out by hand: autodiff then only has to know the generator. Parts are normalised by
/// themselves, which is as sound as all together: they hold generated rows only.
fn slope_of<L: BatchLoss>(
    loss: &L,
    generator: &Generator,
    randoms: &mut [RandomSource],
    batch: usize,
    step: u64,
) -> (Tensor<1>, Tensor<1>) {
    let part = batch / randoms.len();
    let batch = part * randoms.len();
    let passes = in_parallel(randoms.iter_mut().map(|random| {
        move || {
            let pass = generator.soft_pass(part, random);
            let (means, seen) = loss.means(&pass.probabilities().inner(), step);
            ((pass, seen), means)
        }
    }));
    let (passes, means): (Vec<_>, Vec<_>) = passes.into_iter().unzip();
    let means = L::of_parts(means).expect("a batch has a part");
    let distance = loss.distance(means, batch, step);
    let of = &distance;
    let gradients = in_parallel(passes.into_iter().map(|(pass, seen)| {
        move || {
            let probabilities = pass.probabilities();
            let slope = loss.slope(of, &probabilities.clone().inner(), seen, batch);
            pass.gradient(&(probabilities * slope.autodiff()).sum())
        }
    }));
    let gradient = gradients.into_iter().reduce(|sum, more| sum + more);
    (L::value(&distance), gradient.expect("a batch has a part"))
}

/// Runs the jobs side by side, the last one on this thread; what they came to, in their order.
fn in_parallel<T: Send, F: FnOnce() -> T + Send>(jobs: impl Iterator<Item = F>) -> Vec<T> {
    let mut jobs: Vec<F> = jobs.collect();
    let Some(last) = jobs.pop() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = jobs.into_iter().map(|job| scope.spawn(job)).collect();
        let last = last();
        let joined = others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.chain(std::iter::once(last)).collect()
    })
}
