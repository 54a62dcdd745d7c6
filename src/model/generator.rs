//! The multilayer generator of encoded rows.
//!
//! Latents → linear, batch norm, ReLU (repeated) → linear → one head a block. Batch norm couples the rows of
//! one forward pass to each other. That is sound here, and only here, because every pass runs on latents
//! alone: no row that enters a private sum ever shares a pass with another example's data.

use std::panic::resume_unwind;

use burn::tensor::{Device, Tensor, activation};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::model::device::in_memory;
use crate::model::heads::{HeadSamples, Heads, SoftHeads, SoftRows, gumbel_noise};
use crate::model::parameters::{Slot, SlotMap, matrix, read, uniform_start, vector};
use crate::model::tensors::{NamedTensor, WeightsError, find};

/// Added to batch norm's variance.
const STABILISER: f64 = 1e-5;
/// Latents over which batch norm's moments are taken when a generator is frozen.
const FREEZING_ROWS: usize = 8192;
/// Rows of a frozen generator that pass at a time: a layer of 256 of them takes half a megabyte.
const PIECE_ROWS: usize = 512;
/// Threads on which they pass, at most.
const MOST_THREADS: usize = 8;

/// The shape of a generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorShape {
    /// How many latents a row is made from.
    pub latent: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Whether hidden layers are normalised over the batch.
    pub batch_norm: bool,
    /// The output.
    pub heads: Heads,
}

/// A generator of encoded rows.
#[derive(Clone, Debug)]
pub struct Generator {
    shape: GeneratorShape,
    map: SlotMap,
    parameters: Tensor<1>,
    /// The parameters cut into tensors, once for each change: a slice is a copy.
    leaves: Vec<Tensor<2>>,
    soft_heads: SoftHeads,
    device: Device,
    /// Batch norm's moments once frozen, a pair for each hidden layer.
    frozen: Option<Vec<Moments>>,
}

/// Batch norm's mean and variance of one layer. Shapes `[1, width]`.
#[derive(Clone, Debug)]
struct Moments {
    mean: Tensor<2>,
    variance: Tensor<2>,
}

/// A training pass without drawing: each head's probabilities, and the leaves to which a judgement flows back.
pub struct SoftPass {
    leaves: Vec<Tensor<2>>,
    probabilities: Tensor<2>,
}

impl SoftPass {
    /// Each head's probabilities (a scalar head's number). Shape `[batch, width]`, tracked.
    pub fn probabilities(&self) -> Tensor<2> {
        self.probabilities.clone()
    }

    /// The loss's gradient by all parameters, flat. Shape `[parameters]`.
    pub fn gradient(self, loss: &Tensor<1>) -> Tensor<1> {
        gradient(&self.leaves, loss)
    }
}

/// A training pass: rows to be judged, and the leaves to which the judgement flows back.
pub struct TrainingPass {
    leaves: Vec<Tensor<2>>,
    rows: SoftRows,
}

impl TrainingPass {
    /// Rows for the critic, hard forward and soft backward. Shape `[batch, width]`, tracked.
    pub fn rows(&self) -> Tensor<2> {
        self.rows.rows.clone()
    }

    /// Each head's probabilities (a scalar head's number). Shape `[batch, width]`, tracked.
    pub fn probabilities(&self) -> Tensor<2> {
        self.rows.probabilities.clone()
    }

    /// The loss's gradient by all parameters, flat. Shape `[parameters]`.
    pub fn gradient(self, loss: &Tensor<1>) -> Tensor<1> {
        gradient(&self.leaves, loss)
    }
}

/// A loss's gradient by all leaves, flat.
fn gradient(leaves: &[Tensor<2>], loss: &Tensor<1>) -> Tensor<1> {
    let mut gradients = loss.backward();
    let parts = leaves.iter().map(|leaf| {
        let [rows, columns] = leaf.dims();
        let gradient = leaf.grad_remove(&mut gradients);
        gradient
            .unwrap_or_else(|| leaf.clone().inner().zeros_like())
            .reshape([rows * columns])
    });
    Tensor::cat(parts.collect(), 0)
}

impl Generator {
    /// A generator with fresh weights.
    pub fn new(shape: GeneratorShape, random: &mut impl Rng, device: &Device) -> Self {
        let map = slots(&shape);
        let mut values = Vec::with_capacity(map.len());
        for slot in map.slots() {
            let fan_in = fan_in(&shape, &slot.name);
            match slot.name.rsplit('.').next() {
                Some("scale") => values.extend(std::iter::repeat_n(1.0, slot.len())),
                Some("shift") => values.extend(std::iter::repeat_n(0.0, slot.len())),
                _ => values.extend(uniform_start(slot.len(), fan_in, random)),
            }
        }
        Self::assemble(shape, map, vector(values, device), None, device)
    }

    fn assemble(
        shape: GeneratorShape,
        map: SlotMap,
        parameters: Tensor<1>,
        frozen: Option<Vec<Moments>>,
        device: &Device,
    ) -> Self {
        let soft_heads = SoftHeads::new(shape.heads.clone(), device);
        let leaves = map.view_all(&parameters);
        Self {
            shape,
            map,
            parameters,
            leaves,
            soft_heads,
            device: device.clone(),
            frozen,
        }
    }

    /// The shape.
    pub const fn shape(&self) -> &GeneratorShape {
        &self.shape
    }

    /// The heads.
    pub const fn heads(&self) -> &Heads {
        &self.shape.heads
    }

    /// The flat parameters. Shape `[parameters]`.
    pub const fn parameters(&self) -> &Tensor<1> {
        &self.parameters
    }

    /// Replaces the parameters; a frozen generator thaws.
    pub fn set_parameters(&mut self, parameters: Tensor<1>) {
        self.leaves = self.map.view_all(&parameters);
        self.parameters = parameters;
        self.frozen = None;
    }

    /// Starts each one-hot head at these probabilities: the output's bias becomes their logarithm.
    ///
    /// # Shapes
    /// - probabilities: `[width]`; entries of scalar heads are ignored
    pub fn set_output_shares(&mut self, probabilities: &[f64]) {
        /// A share of nothing still has to be reachable.
        const FLOOR: f64 = 1e-6;
        let slot = self.output_bias().clone();
        let mut parameters = read(self.parameters.clone());
        for head in self.shape.heads.heads() {
            if head.kind == super::HeadKind::OneHot {
                for column in head.offset..head.offset + head.width {
                    parameters[slot.start + column] = probabilities[column].max(FLOOR).ln() as f32;
                }
            }
        }
        self.set_parameters(vector(parameters, &self.device));
    }

    fn output_bias(&self) -> &Slot {
        let slots = self.map.slots();
        &slots[slots.len() - 1]
    }

    /// The logits of all heads, and the moments that batch norm used.
    fn flow(
        &self,
        leaves: &[Tensor<2>],
        latents: Tensor<2>,
        fixed: Option<&[Moments]>,
    ) -> (Tensor<2>, Vec<Moments>) {
        let mut used = Vec::new();
        let mut leaves = leaves.iter().cloned();
        let mut next = || leaves.next().expect("one leaf for each slot");
        let mut flow = latents;
        for layer in 0..self.shape.hidden.len() {
            flow = flow.matmul(next()) + next();
            if self.shape.batch_norm {
                let moments = fixed.map_or_else(|| Moments::of(&flow), |fixed| fixed[layer].clone());
                let root = moments.variance.clone().add_scalar(STABILISER).sqrt();
                flow = (flow - moments.mean.clone()) / root * next() + next();
                used.push(moments);
            }
            flow = activation::relu(flow);
        }
        (flow.matmul(next()) + next(), used)
    }

    /// The parameters as leaves of a gradient, and the logits of rows that were made with them.
    fn tracked(&self, rows: usize, random: &mut impl Rng) -> (Vec<Tensor<2>>, Tensor<2>) {
        let leaves: Vec<_> = self
            .leaves
            .iter()
            .cloned()
            .map(|leaf| leaf.autodiff().require_grad())
            .collect();
        let latents = self.latents(rows, random).autodiff();
        let (logits, _) = self.flow(&leaves, latents, None);
        (leaves, logits)
    }

    /// A pass through which gradients flow to the probabilities alone: nothing is drawn.
    pub fn soft_pass(&self, rows: usize, random: &mut impl Rng) -> SoftPass {
        let (leaves, logits) = self.tracked(rows, random);
        SoftPass {
            probabilities: self.soft_heads.probabilities(&logits),
            leaves,
        }
    }

    /// A pass through which gradients flow.
    pub fn training_pass(&self, rows: usize, temperature: f64, random: &mut impl Rng) -> TrainingPass {
        let (leaves, logits) = self.tracked(rows, random);
        let width = self.shape.heads.width();
        let gumbel = matrix(gumbel_noise(rows * width, random), rows, width, &self.device);
        TrainingPass {
            rows: self.soft_heads.emit(&logits, gumbel, temperature),
            leaves,
        }
    }

    /// Draws rows, categorically. Unless frozen, the rows share batch norm's moments.
    pub fn sample(&self, rows: usize, random: &mut impl Rng) -> HeadSamples {
        if rows == 0 {
            return HeadSamples::default();
        }
        let latents = self.latent_values(rows, random);
        let draws = self.shape.heads.draws(rows, random);
        // Nothing random is left, so rows that share no moments pass by themselves: few at a time, which stay in a core's
        // cache, and on every core.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (pieces, threads) = match self.frozen {
            Some(_) if in_memory(&self.device) => (rows.div_ceil(PIECE_ROWS), cores.min(MOST_THREADS)),
            _ => (1, 1),
        };
        let (latent, one_hot) = (self.shape.latent, self.shape.heads.one_hot_count());
        let piece = rows.div_ceil(pieces);
        let pass = &|start: usize| {
            let end = rows.min(start + piece);
            let part = latents[start * latent..end * latent].to_vec();
            let part = matrix(part, end - start, latent, &self.device);
            let (logits, _) = self.flow(&self.leaves, part, self.frozen.as_deref());
            let draws = &draws[start * one_hot..end * one_hot];
            self.shape.heads.place(end - start, &read(logits), draws)
        };
        let starts: Vec<usize> = (0..rows).step_by(piece).collect();
        let mut shares = starts.chunks(starts.len().div_ceil(threads));
        let own = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            let others: Vec<_> = shares
                .map(|share| scope.spawn(move || share.iter().map(|start| pass(*start)).collect::<Vec<_>>()))
                .collect();
            let mut samples = HeadSamples::default();
            own.iter().for_each(|start| samples.append(pass(*start)));
            for other in others {
                let drawn = other.join().unwrap_or_else(|panic| resume_unwind(panic));
                drawn.into_iter().for_each(|part| samples.append(part));
            }
            samples
        })
    }

    /// A copy whose batch norm no longer looks at the batch: its moments are taken once, over many latents,
    /// for the present parameters. Each row drawn from it is independent of the others.
    #[must_use]
    pub fn freeze(&self, random: &mut impl Rng) -> Self {
        let latents = self.latents(FREEZING_ROWS, random);
        let (_, moments) = self.flow(&self.leaves, latents, None);
        Self {
            frozen: Some(moments),
            ..self.clone()
        }
    }

    fn latents(&self, rows: usize, random: &mut impl Rng) -> Tensor<2> {
        let values = self.latent_values(rows, random);
        matrix(values, rows, self.shape.latent, &self.device)
    }

    fn latent_values(&self, rows: usize, random: &mut impl Rng) -> Vec<f32> {
        (0..rows * self.shape.latent)
            .map(|_| StandardNormal.sample(random))
            .collect()
    }

    /// The tensors that a file holds: all parameters, and batch norm's moments if frozen.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        let mut tensors = self.map.named(&self.parameters);
        for (layer, moments) in self.frozen.iter().flatten().enumerate() {
            for (part, tensor) in [("mean", &moments.mean), ("variance", &moments.variance)] {
                tensors.push(NamedTensor {
                    name: format!("hidden.{layer}.{part}"),
                    shape: tensor.dims(),
                    values: read(tensor.clone()),
                });
            }
        }
        tensors
    }

    /// Puts a frozen generator together from a file's tensors.
    ///
    /// # Errors
    /// When a tensor is missing, has another shape or a value that is not finite.
    pub fn from_tensors(
        shape: GeneratorShape,
        tensors: &[NamedTensor],
        device: &Device,
    ) -> Result<Self, WeightsError> {
        if !shape.heads.is_consistent() {
            return Err(WeightsError::Heads);
        }
        let map = slots(&shape);
        let values = map.values(tensors)?;
        let mut moments = Vec::new();
        if shape.batch_norm {
            for (layer, &width) in shape.hidden.iter().enumerate() {
                let load = |part: &str| {
                    let values = find(tensors, &format!("hidden.{layer}.{part}"), [1, width])?;
                    Ok(matrix(values.to_vec(), 1, width, device))
                };
                moments.push(Moments {
                    mean: load("mean")?,
                    variance: load("variance")?,
                });
            }
        }
        Ok(Self::assemble(
            shape,
            map,
            vector(values, device),
            Some(moments),
            device,
        ))
    }
}

impl Moments {
    /// The mean and the (biased) variance over the batch.
    fn of(values: &Tensor<2>) -> Self {
        let mean = values.clone().mean_dim(0);
        let variance = (values.clone() - mean.clone()).square().mean_dim(0);
        Self { mean, variance }
    }
}

fn slots(shape: &GeneratorShape) -> SlotMap {
    let mut map = SlotMap::default();
    let mut width = shape.latent;
    for (layer, &out) in shape.hidden.iter().enumerate() {
        map.push(format!("hidden.{layer}.weight"), width, out);
        map.push(format!("hidden.{layer}.bias"), 1, out);
        if shape.batch_norm {
            map.push(format!("hidden.{layer}.scale"), 1, out);
            map.push(format!("hidden.{layer}.shift"), 1, out);
        }
        width = out;
    }
    map.push("output.weight".to_owned(), width, shape.heads.width());
    map.push("output.bias".to_owned(), 1, shape.heads.width());
    map
}

/// The width of the layer below the tensor of this name.
fn fan_in(shape: &GeneratorShape, name: &str) -> usize {
    let layer = name
        .split('.')
        .nth(1)
        .and_then(|layer| layer.parse::<usize>().ok());
    match layer {
        Some(0) => shape.latent,
        Some(layer) => shape.hidden[layer - 1],
        None => shape.hidden.last().copied().unwrap_or(shape.latent),
    }
}

#[cfg(test)]
mod tests;
