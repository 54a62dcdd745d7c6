//! A small classifier of images: two convolutions, each followed by a pool, and two linear layers.
//!
//! It measures, and never enters a private sum: as the judge of synthetic images (trained on them, tested on real
//! ones), and, trained on public images, as the eye through which distributions of images are compared.

use burn::tensor::{Device, Tensor, TensorData, activation};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::layers::{flat, positive};
use super::patches::Window;
use crate::model::adam::{Adam, AdamSettings};
use crate::model::parameters::{SlotMap, matrix, read, uniform_start, vector};
use crate::model::tensors::{NamedTensor, WeightsError};

/// Both convolutions keep the side.
const SAME: Window = Window::new(3, 1, 1);
/// Images that are looked at at a time where no gradient is wanted.
const READING: usize = 250;

/// The shape of a classifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassifierShape {
    /// The image's side, a multiple of 4.
    pub side: usize,
    /// The image's own channels.
    pub colours: usize,
    /// Channels of the two convolutions.
    pub channels: [usize; 2],
    /// The width of the layer below the classes: the features.
    pub features: usize,
    /// Classes.
    pub classes: usize,
}

impl ClassifierShape {
    /// The judge of synthetic images: 32 and 64 channels, 128 features.
    pub const fn judge(side: usize, colours: usize, classes: usize) -> Self {
        Self {
            side,
            colours,
            channels: [32, 64],
            features: 128,
            classes,
        }
    }

    /// Numbers of one image.
    pub const fn pixels(&self) -> usize {
        self.side * self.side * self.colours
    }

    const fn quarter(&self) -> usize {
        self.side / 4
    }

    fn slots(&self) -> SlotMap {
        let window = SAME.kernel * SAME.kernel;
        let [first, second] = self.channels;
        let mut map = SlotMap::default();
        let layers = [
            ("convolution.0", window * self.colours, first),
            ("convolution.1", window * first, second),
            ("dense.0", self.quarter() * self.quarter() * second, self.features),
            ("dense.1", self.features, self.classes),
        ];
        for (name, input, output) in layers {
            map.push(format!("{name}.weight"), input, output);
            map.push(format!("{name}.bias"), 1, output);
        }
        map
    }
}

/// How a classifier is trained: by Adam on the cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassifierTraining {
    /// Passes over the images.
    pub epochs: usize,
    /// Images in a step.
    pub batch: usize,
    /// The learning rate at the start; it falls in a straight line to a tenth.
    pub learning_rate: f64,
}

impl Default for ClassifierTraining {
    fn default() -> Self {
        Self {
            epochs: 3,
            batch: 100,
            learning_rate: 2e-3,
        }
    }
}

/// A classifier.
#[derive(Clone, Debug)]
pub struct Classifier {
    shape: ClassifierShape,
    map: SlotMap,
    parameters: Tensor<1>,
    leaves: Vec<Tensor<2>>,
    device: Device,
}

/// A forward pass, kept for its gradient.
struct Pass {
    /// The windows that each convolution saw, its output before the pool, and after pool and ReLU.
    convolutions: Vec<(Tensor<2>, Tensor<4>, Tensor<4>)>,
    /// The features, after ReLU.
    features: Tensor<2>,
    logits: Tensor<2>,
}

/// What a classifier says of images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// `[images, features]`, row-major.
    pub features: Vec<f32>,
    /// `[images, classes]`, row-major: each row sums to 1.
    pub probabilities: Vec<f32>,
}

impl Classifier {
    /// A classifier with fresh weights.
    pub fn new(shape: ClassifierShape, random: &mut impl Rng, device: &Device) -> Self {
        let map = shape.slots();
        let mut values = Vec::with_capacity(map.len());
        let mut fan_in = 1;
        for slot in map.slots() {
            if slot.rows > 1 {
                fan_in = slot.rows;
            }
            values.extend(uniform_start(slot.len(), fan_in, random));
        }
        Self::assemble(shape, map, vector(values, device), device)
    }

    fn assemble(shape: ClassifierShape, map: SlotMap, parameters: Tensor<1>, device: &Device) -> Self {
        Self {
            leaves: map.view_all(&parameters),
            shape,
            map,
            parameters,
            device: device.clone(),
        }
    }

    /// The shape.
    pub const fn shape(&self) -> &ClassifierShape {
        &self.shape
    }

    /// The tensors that a file holds.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        self.map.named(&self.parameters)
    }

    /// Puts a classifier together from a file's tensors.
    ///
    /// # Errors
    /// When a tensor is missing, has another shape or a value that is not finite.
    pub fn from_tensors(
        shape: ClassifierShape,
        tensors: &[NamedTensor],
        device: &Device,
    ) -> Result<Self, WeightsError> {
        let map = shape.slots();
        let parameters = vector(map.values(tensors)?, device);
        Ok(Self::assemble(shape, map, parameters, device))
    }

    fn convolve(&self, layer: usize, images: Tensor<4>) -> (Tensor<2>, Tensor<4>, Tensor<4>) {
        let [batch, side, _, _] = images.dims();
        let windows = SAME.patches(images);
        let channels = self.shape.channels[layer];
        let out = windows
            .clone()
            .matmul(self.leaves[2 * layer].clone())
            .reshape([batch, side, side, channels]);
        // The pool goes first: a bias shared by a whole map and ReLU keep the order, and see a quarter of the numbers.
        let bias = self.leaves[2 * layer + 1].clone().reshape([1, 1, 1, channels]);
        let pooled = activation::relu(largest(&out) + bias);
        (windows, out, pooled)
    }

    fn pass(&self, images: Tensor<4>) -> Pass {
        let batch = images.dims()[0];
        let mut convolutions = Vec::with_capacity(2);
        let mut flow = images;
        for layer in 0..2 {
            let done = self.convolve(layer, flow);
            flow = done.2.clone();
            convolutions.push(done);
        }
        let width = self.leaves[4].dims()[0];
        let flow = flow.reshape([batch, width]).matmul(self.leaves[4].clone()) + self.leaves[5].clone();
        let features = activation::relu(flow);
        let logits = features.clone().matmul(self.leaves[6].clone()) + self.leaves[7].clone();
        Pass {
            convolutions,
            features,
            logits,
        }
    }

    /// The gradient by all parameters, flat, from that at the logits.
    fn backward(&self, pass: Pass, at_logits: Tensor<2>) -> Tensor<1> {
        let Pass {
            mut convolutions,
            features,
            ..
        } = pass;
        let batch = features.dims()[0];
        let at_features = at_logits.clone().matmul(self.leaves[6].clone().transpose()) * positive(&features);
        let [_, last] = self.shape.channels;
        let quarter = self.shape.quarter();
        let below = (convolutions[1].2.clone()).reshape([batch, quarter * quarter * last]);
        let mut parts = vec![
            flat(at_logits.clone().sum_dim(0)),
            flat(features.transpose().matmul(at_logits)),
            flat(at_features.clone().sum_dim(0)),
            flat(below.transpose().matmul(at_features.clone())),
        ];
        let mut at_pooled = at_features
            .matmul(self.leaves[4].clone().transpose())
            .reshape([batch, quarter, quarter, last]);
        for layer in (0..2).rev() {
            let (windows, out, pooled) = convolutions.pop().expect("one for each layer");
            let [_, side, _, channels] = out.dims();
            let at_biased = at_pooled * positive(&pooled);
            let rows = batch * side * side / 4;
            let at_bias = at_biased.clone().reshape([rows, channels]).sum_dim(0);
            let at_out = spread(&out, at_biased);
            let rows = batch * side * side;
            parts.push(flat(at_bias));
            parts.push(flat(
                windows
                    .transpose()
                    .matmul(at_out.clone().reshape([rows, channels])),
            ));
            if layer == 0 {
                break;
            }
            at_pooled = SAME
                .patches(at_out)
                .matmul(turned(self.leaves[2 * layer].clone(), channels))
                .reshape([batch, side, side, self.shape.channels[layer - 1]]);
        }
        // From the last tensor to the first; the vector has them the other way round.
        parts.reverse();
        Tensor::cat(parts, 0)
    }

    /// Images as the network takes them, from bytes. Shape `[batch, side, side, colours]`.
    fn images(&self, bytes: impl Iterator<Item = u8>, count: usize) -> Tensor<4> {
        let ClassifierShape { side, colours, .. } = self.shape;
        let values: Vec<f32> = bytes.map(|byte| f32::from(byte) / 255.0).collect();
        Tensor::from_data(
            TensorData::new(values, [count, side, side, colours]),
            &self.device,
        )
    }

    /// Trains on images and their classes. `told` is asked after every step with the share that is done, and ends the
    /// training by answering false.
    ///
    /// # Shapes
    /// - bytes: `[images, side · side · colours]`
    pub fn train(
        &mut self,
        bytes: &[u8],
        classes: &[u8],
        settings: ClassifierTraining,
        random: &mut impl Rng,
        told: &mut dyn FnMut(f64) -> bool,
    ) {
        let pixels = self.shape.pixels();
        let adam = AdamSettings {
            learning_rate: settings.learning_rate,
            beta1: 0.9,
            beta2: 0.999,
        };
        let mut adam = Adam::new(adam, self.map.len(), &self.device);
        let mut order: Vec<usize> = (0..classes.len()).collect();
        let batch = settings.batch.clamp(1, classes.len().max(1));
        let steps = settings.epochs * (classes.len() / batch);
        let mut step = 0_usize;
        for _ in 0..settings.epochs {
            order.shuffle(random);
            for chosen in order.chunks_exact(batch) {
                let images = chosen
                    .iter()
                    .flat_map(|image| bytes[image * pixels..(image + 1) * pixels].iter().copied());
                let pass = self.pass(self.images(images, batch));
                let mut truth = vec![0.0; batch * self.shape.classes];
                for (row, image) in truth.chunks_exact_mut(self.shape.classes).zip(chosen) {
                    row[usize::from(classes[*image])] = 1.0;
                }
                let truth = matrix(truth, batch, self.shape.classes, &self.device);
                let at_logits =
                    (activation::softmax(pass.logits.clone(), 1) - truth).div_scalar(batch as f64);
                let gradient = self.backward(pass, at_logits);
                adam.set_learning_rate(settings.learning_rate * (1.0 - 0.9 * step as f64 / steps as f64));
                self.parameters = adam.step(self.parameters.clone(), gradient);
                self.leaves = self.map.view_all(&self.parameters);
                step += 1;
                if !told(step as f64 / steps as f64) {
                    return;
                }
            }
        }
    }

    /// Features and class probabilities of images. `told` is asked after every batch with the number that is done, and
    /// ends the work early by answering false.
    ///
    /// # Shapes
    /// - bytes: `[images, side · side · colours]`
    pub fn read(&self, bytes: &[u8], told: &mut dyn FnMut(usize) -> bool) -> Reading {
        let mut reading = Reading::default();
        let mut done = 0;
        for piece in bytes.chunks(READING * self.shape.pixels()) {
            let count = piece.len() / self.shape.pixels();
            let pass = self.pass(self.images(piece.iter().copied(), count));
            reading.features.extend(read(pass.features));
            reading
                .probabilities
                .extend(read(activation::softmax(pass.logits, 1)));
            done += count;
            if !told(done) {
                break;
            }
        }
        reading
    }
}

impl Reading {
    /// The likeliest class of each image.
    pub fn classes(&self, classes: usize) -> Vec<usize> {
        let rows = self.probabilities.chunks_exact(classes);
        rows.map(|row| {
            let likeliest = row
                .iter()
                .enumerate()
                .max_by(|one, other| one.1.total_cmp(other.1));
            likeliest.map_or(0, |(class, _)| class)
        })
        .collect()
    }
}

/// The largest of each 2 × 2 places. Shapes `[batch, side, side, channels]` to `[batch, side/2, side/2, channels]`.
fn largest(values: &Tensor<4>) -> Tensor<4> {
    let [batch, side, _, channels] = values.dims();
    let half = side / 2;
    values
        .clone()
        .reshape([batch * half, 2, half, 2 * channels])
        .max_dim(1)
        .reshape([batch * half * half, 2, channels])
        .max_dim(1)
        .reshape([batch, half, half, channels])
}

/// The gradient of [`largest`]: to the place that was largest, in equal parts where several were.
fn spread(values: &Tensor<4>, gradient: Tensor<4>) -> Tensor<4> {
    let [batch, side, _, channels] = values.dims();
    let half = side / 2;
    let shape = [batch * half, 2, half, 2, channels];
    let single = [batch * half, 1, half, 1, channels];
    let values = values.clone().reshape(shape);
    let top = values.clone().max_dim(1).max_dim(3).expand(shape);
    let is_top = values.equal(top).float();
    let ties = is_top.clone().sum_dim(1).sum_dim(3);
    let each = gradient.reshape(single) / ties;
    (is_top * each).reshape([batch, side, side, channels])
}

/// The weight by which windows of a gradient become the gradient at the input of a [`SAME`] convolution: turned by
/// half a turn, channels exchanged. Shape `[9 · out, in]` from `[9 · in, out]`.
fn turned(weight: Tensor<2>, out: usize) -> Tensor<2> {
    let window = SAME.kernel * SAME.kernel;
    let input = weight.dims()[0] / window;
    weight
        .reshape([window, input, out])
        .flip([0])
        .permute([0, 2, 1])
        .reshape([window * out, input])
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::model::DeviceKind;

    fn small() -> ClassifierShape {
        ClassifierShape {
            side: 8,
            colours: 2,
            channels: [3, 4],
            features: 5,
            classes: 3,
        }
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        for kind in [DeviceKind::Flex, DeviceKind::Ndarray] {
            let device = kind.open().unwrap();
            let mut random = ChaCha20Rng::seed_from_u64(1);
            let mut network = Classifier::new(small(), &mut random, &device);
            let bytes: Vec<u8> = (0..4 * 128).map(|_| random.random()).collect();
            let weights = matrix(
                (0..12).map(|_| random.random::<f32>() - 0.5).collect(),
                4,
                3,
                &device,
            );
            let images = |network: &Classifier| network.images(bytes.iter().copied(), 4);
            let value = |network: &Classifier| {
                let logits = network.pass(images(network)).logits;
                f64::from(read((logits * weights.clone()).sum())[0])
            };
            let pass = network.pass(images(&network));
            let gradient = read(network.backward(pass, weights.clone()));
            let start = read(network.parameters.clone());
            let mut set = |place: usize, by: f32| {
                let mut values = start.clone();
                values[place] += by;
                network.parameters = vector(values, &device);
                network.leaves = network.map.view_all(&network.parameters);
                value(&network)
            };
            for place in (0..start.len()).step_by(7) {
                let step = 2e-3;
                let expected = (set(place, step) - set(place, -step)) / (2.0 * f64::from(step));
                let got = f64::from(gradient[place]);
                assert!(
                    (got - expected).abs() < 5e-3 * (1.0 + expected.abs()),
                    "{kind}, place {place}: {got}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn it_learns_which_half_is_bright() {
        let mut random = ChaCha20Rng::seed_from_u64(2);
        let mut bytes = Vec::new();
        let mut classes = Vec::new();
        for image in 0..300_u32 {
            let class = (image % 2) as u8;
            for row in 0..8_u8 {
                for _ in 0..16 {
                    let bright = (row < 4) == (class == 0);
                    bytes.push(random.random_range(0..100) + if bright { 100 } else { 0 });
                }
            }
            classes.push(class);
        }
        let device = DeviceKind::Flex.open().unwrap();
        let mut network = Classifier::new(small(), &mut random, &device);
        let settings = ClassifierTraining {
            epochs: 20,
            batch: 20,
            learning_rate: 1e-2,
        };
        network.train(&bytes, &classes, settings, &mut random, &mut |_| true);
        let found = network.read(&bytes, &mut |_| true).classes(3);
        let right = found
            .iter()
            .zip(&classes)
            .filter(|(found, class)| **found == usize::from(**class));
        assert!(right.count() > 290);
        let loaded = Classifier::from_tensors(small(), &network.tensors(), &device).unwrap();
        assert_eq!(
            loaded.read(&bytes, &mut |_| true),
            network.read(&bytes, &mut |_| true)
        );
    }
}
