//! The generator's output: one head for each block of an encoded row.

use burn::tensor::{Device, Tensor};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::model::parameters::matrix;

/// What a head emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadKind {
    /// One of `width` categories, as a one-hot block.
    OneHot,
    /// A number in `[0, 1]`.
    Scalar,
}

/// One block of an encoded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// What it emits.
    pub kind: HeadKind,
    /// The first of its columns.
    pub offset: usize,
    /// How many columns it has; 1 for a scalar.
    pub width: usize,
}

/// All heads, side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heads {
    heads: Vec<Head>,
    width: usize,
}

/// Rows drawn from the heads, compact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadSamples {
    /// Rows drawn.
    pub rows: usize,
    /// The category of each one-hot head, row by row.
    pub codes: Vec<u16>,
    /// The number of each scalar head, row by row.
    pub scalars: Vec<f32>,
}

impl HeadSamples {
    /// Puts more rows of the same heads behind these.
    pub fn append(&mut self, more: Self) {
        self.rows += more.rows;
        self.codes.extend(more.codes);
        self.scalars.extend(more.scalars);
    }
}

impl Heads {
    /// Lays heads of these kinds and widths side by side.
    pub fn new(kinds: impl IntoIterator<Item = (HeadKind, usize)>) -> Self {
        let mut width = 0;
        let heads = kinds
            .into_iter()
            .map(|(kind, columns)| {
                let head = Head {
                    kind,
                    offset: width,
                    width: columns,
                };
                width += columns;
                head
            })
            .collect();
        Self { heads, width }
    }

    /// The heads, left to right.
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// The encoded width of a row.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// How many heads are one-hot.
    pub fn one_hot_count(&self) -> usize {
        self.heads
            .iter()
            .filter(|head| head.kind == HeadKind::OneHot)
            .count()
    }

    /// Whether the heads lie side by side without gap and each has a possible width.
    pub fn is_consistent(&self) -> bool {
        let mut next = 0;
        let fits = self.heads.iter().all(|head| {
            let starts = head.offset == next;
            next += head.width;
            let width = match head.kind {
                HeadKind::OneHot => head.width >= 1 && head.width <= usize::from(u16::MAX) + 1,
                HeadKind::Scalar => head.width == 1,
            };
            starts && width
        });
        fits && next == self.width
    }

    /// The uniform numbers by which [`Heads::place`] draws. Shape `[rows, one-hot heads]`, row-major.
    pub fn draws(&self, rows: usize, random: &mut impl Rng) -> Vec<f32> {
        (0..rows * self.one_hot_count())
            .map(|_| random.random::<f32>())
            .collect()
    }

    /// Draws each one-hot head categorically from its softmax; scalars are the sigmoid of their logit.
    ///
    /// # Shapes
    /// - logits: `[rows, width]`, row-major
    /// - draws: those of [`Heads::draws`] for these rows
    pub fn place(&self, rows: usize, logits: &[f32], draws: &[f32]) -> HeadSamples {
        let one_hot = self.one_hot_count();
        let mut samples = HeadSamples {
            rows,
            codes: Vec::with_capacity(rows * one_hot),
            scalars: Vec::with_capacity(rows * (self.heads.len() - one_hot)),
        };
        let mut weights = Vec::new();
        let mut draws = draws.iter().copied();
        for row in logits.chunks_exact(self.width) {
            for head in &self.heads {
                let logits = &row[head.offset..head.offset + head.width];
                match head.kind {
                    HeadKind::OneHot => {
                        let draw = draws.next().unwrap_or(0.0);
                        samples.codes.push(category_at(draw, logits, &mut weights));
                    }
                    HeadKind::Scalar => samples.scalars.push(1.0 / (1.0 + (-logits[0]).exp())),
                }
            }
        }
        samples
    }

    /// Expands samples to encoded rows. Shape `[rows, width]`, row-major.
    pub fn dense(&self, samples: &HeadSamples) -> Vec<f32> {
        let mut out = vec![0.0; samples.rows * self.width];
        let (mut codes, mut scalars) = (samples.codes.iter(), samples.scalars.iter());
        for row in out.chunks_exact_mut(self.width) {
            for head in &self.heads {
                match head.kind {
                    HeadKind::OneHot => {
                        if let Some(&code) = codes.next() {
                            row[head.offset + usize::from(code)] = 1.0;
                        }
                    }
                    HeadKind::Scalar => {
                        if let Some(&scalar) = scalars.next() {
                            row[head.offset] = scalar;
                        }
                    }
                }
            }
        }
        out
    }
}

/// The index at a uniform draw, where each has probability proportional to `exp(logit)`.
fn category_at(draw: f32, logits: &[f32], weights: &mut Vec<f32>) -> u16 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    weights.clear();
    weights.extend(logits.iter().map(|logit| (logit - top).exp()));
    let total: f32 = weights.iter().sum();
    let mut left = draw * total;
    for (index, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return index as u16;
        }
    }
    // Rounding left a sliver at the end: the likeliest category takes it.
    let best = weights.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(index, _)| index as u16)
}

/// The heads' differentiable outputs: constants that the training pass needs, kept on a device.
#[derive(Clone, Debug)]
pub(crate) struct SoftHeads {
    heads: Heads,
    /// `[width, heads]`: 1 where a column belongs to a head.
    membership: Tensor<2>,
    /// `[1, width]`: 1 on the columns of scalar heads; `None` if there are none.
    scalar: Option<Tensor<2>>,
}

/// What a training pass of the generator emits.
pub(crate) struct SoftRows {
    /// Rows for the critic: hard one-hot blocks forward, the tempered softmax backward. `[batch, width]`.
    pub rows: Tensor<2>,
    /// Each head's probabilities, without noise. `[batch, width]`.
    pub probabilities: Tensor<2>,
}

impl SoftHeads {
    pub fn new(heads: Heads, device: &Device) -> Self {
        let count = heads.heads.len();
        let mut membership = vec![0.0; heads.width * count];
        let mut scalar = vec![0.0; heads.width];
        for (index, head) in heads.heads.iter().enumerate() {
            for column in head.offset..head.offset + head.width {
                membership[column * count + index] = 1.0;
                if head.kind == HeadKind::Scalar {
                    scalar[column] = 1.0;
                }
            }
        }
        let has_scalars = heads.one_hot_count() < count;
        let scalar = has_scalars.then(|| matrix(scalar, 1, heads.width, device));
        let membership = matrix(membership, heads.width, count, device);
        Self {
            heads,
            membership,
            scalar,
        }
    }

    /// Straight-through Gumbel-softmax (Jang et al. 2017; Maddison et al. 2017) on one-hot heads, the sigmoid
    /// on scalar ones.
    ///
    /// # Shapes
    /// - logits: `[batch, width]`, tracked by autodiff
    /// - gumbel: `[batch, width]`, standard Gumbel noise
    pub fn emit(&self, logits: &Tensor<2>, gumbel: Tensor<2>, temperature: f64) -> SoftRows {
        let noisy = logits.clone() + gumbel.autodiff();
        let top = self.head_maxima(noisy.clone().inner());
        let hard = noisy.clone().inner().equal(top.clone()).float();
        let soft = self.softmax(noisy.div_scalar(temperature), top.div_scalar(temperature));
        let rows = soft.clone() + (hard - soft.inner()).autodiff();
        let probabilities = self.probabilities(logits);
        match &self.scalar {
            None => SoftRows { rows, probabilities },
            Some(scalar) => {
                let scalar = scalar.clone().autodiff();
                let one_hot = scalar.clone().neg().add_scalar(1.0);
                SoftRows {
                    rows: rows * one_hot + probabilities.clone() * scalar,
                    probabilities,
                }
            }
        }
    }

    /// The softmax of one-hot heads, the sigmoid of scalar ones.
    ///
    /// # Shapes
    /// - logits: `[batch, width]`, tracked by autodiff
    pub fn probabilities(&self, logits: &Tensor<2>) -> Tensor<2> {
        let probabilities = self.softmax(logits.clone(), self.head_maxima(logits.clone().inner()));
        match &self.scalar {
            None => probabilities,
            Some(scalar) => {
                let scalar = scalar.clone().autodiff();
                let numbers = burn::tensor::activation::sigmoid(logits.clone()) * scalar.clone();
                probabilities * scalar.neg().add_scalar(1.0) + numbers
            }
        }
    }

    /// The largest value of each head, in each of its columns. `[batch, width]`, untracked.
    fn head_maxima(&self, values: Tensor<2>) -> Tensor<2> {
        let maxima = self
            .heads
            .heads
            .iter()
            .map(|head| values.clone().narrow(1, head.offset, head.width).max_dim(1));
        let maxima = Tensor::cat(maxima.collect(), 1);
        // A product with ones and zeros copies exactly.
        maxima.matmul(self.membership.clone().transpose())
    }

    /// The softmax of each head's columns. One product with the membership matrix sums all heads at once;
    /// slicing the heads apart would cost autodiff a full-width gradient for each of them.
    fn softmax(&self, values: Tensor<2>, maxima: Tensor<2>) -> Tensor<2> {
        let exponentials = (values - maxima.autodiff()).exp();
        let membership = self.membership.clone().autodiff();
        let sums = exponentials
            .clone()
            .matmul(membership.clone())
            .matmul(membership.transpose());
        exponentials / sums
    }
}

/// Standard Gumbel noise. Shape `[count]`.
pub(crate) fn gumbel_noise(count: usize, random: &mut impl Rng) -> Vec<f32> {
    // 23 random bits and a half: never 0 or 1, and exact in `f32`.
    const SCALE: f32 = 1.0 / (1 << 23) as f32;
    (0..count)
        .map(|_| {
            let uniform = ((random.next_u32() >> 9) as f32 + 0.5) * SCALE;
            -(-uniform.ln()).ln()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::model::parameters::read;

    fn heads() -> Heads {
        Heads::new([
            (HeadKind::OneHot, 3),
            (HeadKind::Scalar, 1),
            (HeadKind::OneHot, 2),
        ])
    }

    fn sample(heads: &Heads, logits: &[f32], random: &mut impl Rng) -> HeadSamples {
        let rows = logits.len() / heads.width();
        let draws = heads.draws(rows, random);
        heads.place(rows, logits, &draws)
    }

    #[test]
    fn samples_follow_the_softmax() {
        // Each of 5 cells is off by more than 5.7 standard deviations with probability below 6e-8 (false alarm
        // at most 1e-6 for the test).
        let mut random = ChaCha20Rng::seed_from_u64(1);
        let logits = [0.0, 1.0, -1.0, 0.3, 2.0, 0.0_f32];
        let rows = 40_000;
        let many: Vec<f32> = logits.iter().copied().cycle().take(rows * 6).collect();
        let samples = sample(&heads(), &many, &mut random);
        assert_eq!(
            (samples.rows, samples.codes.len(), samples.scalars.len()),
            (rows, 2 * rows, rows)
        );
        for (head, range) in [(0, 0..3), (1, 4..6)] {
            let weights: Vec<f64> = logits[range]
                .iter()
                .map(|logit| f64::from(*logit).exp())
                .collect();
            let total: f64 = weights.iter().sum();
            for (code, weight) in weights.iter().enumerate() {
                let share = weight / total;
                let hits = samples
                    .codes
                    .iter()
                    .skip(head)
                    .step_by(2)
                    .filter(|c| usize::from(**c) == code)
                    .count();
                let deviation = (rows as f64 * share * (1.0 - share)).sqrt();
                assert!(
                    (hits as f64 - rows as f64 * share).abs() < 5.7 * deviation,
                    "head {head} code {code}"
                );
            }
        }
    }

    #[test]
    fn dense_rows_are_one_hot() {
        let mut random = ChaCha20Rng::seed_from_u64(2);
        let logits: Vec<f32> = (0..60).map(|i| (i % 7) as f32).collect();
        let heads = heads();
        let dense = heads.dense(&sample(&heads, &logits, &mut random));
        for row in dense.chunks(6) {
            assert_eq!(row[0..3].iter().sum::<f32>(), 1.0);
            assert_eq!(row[4..6].iter().sum::<f32>(), 1.0);
            assert!((0.0..=1.0).contains(&row[3]));
        }
    }

    #[test]
    fn training_rows_are_hard_forward_and_soft_backward() {
        let device = Device::flex();
        let mut random = ChaCha20Rng::seed_from_u64(4);
        let soft_heads = SoftHeads::new(heads(), &device);
        let values: Vec<f32> = (0..12).map(|_| random.random::<f32>()).collect();
        let noise = matrix(gumbel_noise(12, &mut random), 2, 6, &device);
        let logits = matrix(values, 2, 6, &device).autodiff().require_grad();
        let out = soft_heads.emit(&logits, noise, 0.66);
        let hard = read(out.rows.clone().inner());
        for row in hard.chunks(6) {
            assert!(
                row[..3]
                    .iter()
                    .chain(&row[4..])
                    .all(|x| (x - x.round()).abs() < 1e-6),
                "{row:?}"
            );
        }
        for row in read(out.probabilities.clone().inner()).chunks(6) {
            assert!((row[..3].iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        // Weighted unequally, or each block's gradient would sum to zero by itself.
        let weights = matrix((0..12).map(|i| i as f32).collect(), 2, 6, &device).autodiff();
        let gradients = (out.rows * weights).sum().backward();
        let gradient = read(logits.grad(&gradients).expect("logits require a gradient"));
        assert!(gradient.iter().any(|g| g.abs() > 1e-3), "{gradient:?}");
        assert!(
            gradient[..3].iter().sum::<f32>().abs() < 1e-4,
            "a softmax's gradient sums to zero"
        );
    }
}
