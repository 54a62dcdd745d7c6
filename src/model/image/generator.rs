//! The generator of images by class.
//!
//! Latents and the class → linear → linear, as a map of a quarter of the image's side → two transposed convolutions
//! that double it → sigmoid. Hidden layers are normalised over the batch. That couples images of one pass to each
//! other, which is sound here: every pass runs on latents and classes alone, never on private images.

use burn::tensor::{Device, Tensor, activation};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::layers::{ChannelMoments, Normalised, batch_norm, flat, positive};
use super::patches::Window;
use crate::model::parameters::{SlotMap, matrix, read, uniform_start, vector};
use crate::model::tensors::{NamedTensor, WeightsError, find};

/// The transposed convolutions double the side.
const DOUBLING: Window = Window::new(4, 2, 1);
/// Images over which batch norm's moments are taken when a generator is frozen.
const FREEZING_IMAGES: usize = 2000;
/// Hidden layers that are normalised.
const NORMALISED: usize = 3;
/// Their names in files.
const HIDDEN: [&str; NORMALISED] = ["dense.0", "dense.1", "double.0"];

/// The shape of a generator of images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageGeneratorShape {
    /// Latents of an image, beside its class.
    pub latent: usize,
    /// Classes.
    pub classes: usize,
    /// The width of the first layer.
    pub hidden: usize,
    /// Channels of the smallest map; half as many at twice its side.
    pub channels: usize,
    /// The image's side, a multiple of 4.
    pub side: usize,
    /// The image's own channels: 1 for grey, 3 for colour.
    pub colours: usize,
}

impl ImageGeneratorShape {
    const fn quarter(&self) -> usize {
        self.side / 4
    }

    const fn half_channels(&self) -> usize {
        self.channels.div_ceil(2)
    }

    /// Numbers of one image.
    pub const fn pixels(&self) -> usize {
        self.side * self.side * self.colours
    }

    /// Whether a network of this shape can be, and is of a size that anyone would want.
    pub fn is_possible(&self) -> bool {
        let in_range = |value: usize, most: usize| (1..=most).contains(&value);
        self.side.is_multiple_of(4)
            && in_range(self.side, 256)
            && in_range(self.colours, 3)
            && in_range(self.classes, 256)
            && [self.latent, self.hidden, self.channels]
                .iter()
                .all(|width| in_range(*width, 4096))
    }

    /// The widths of the hidden layers that are normalised.
    const fn widths(&self) -> [usize; NORMALISED] {
        let quarter = self.quarter();
        [
            self.hidden,
            quarter * quarter * self.channels,
            self.half_channels(),
        ]
    }

    fn slots(&self) -> SlotMap {
        let [first, second, third] = self.widths();
        let window = DOUBLING.kernel * DOUBLING.kernel;
        let mut map = SlotMap::default();
        let inputs = [self.latent + self.classes, first, self.channels];
        let outputs = [first, second, third * window];
        for ((name, width), (input, output)) in HIDDEN
            .iter()
            .zip(self.widths())
            .zip(inputs.into_iter().zip(outputs))
        {
            map.push(format!("{name}.weight"), input, output);
            map.push(format!("{name}.scale"), 1, width);
            map.push(format!("{name}.shift"), 1, width);
        }
        map.push("double.1.weight".to_owned(), third, self.colours * window);
        map.push("double.1.bias".to_owned(), 1, self.colours);
        map
    }

    /// The inputs that one output of the tensor of this name sums over.
    fn fan_in(&self, name: &str) -> usize {
        let window = DOUBLING.kernel * DOUBLING.kernel / (DOUBLING.stride * DOUBLING.stride);
        match name {
            "dense.0.weight" => self.latent + self.classes,
            "dense.1.weight" => self.hidden,
            "double.0.weight" => self.channels * window,
            _ => self.half_channels() * window,
        }
    }
}

/// A generator of images.
#[derive(Clone, Debug)]
pub struct ImageGeneratorNet {
    shape: ImageGeneratorShape,
    map: SlotMap,
    parameters: Tensor<1>,
    /// The parameters cut into tensors, once for each change: a slice is a copy.
    leaves: Vec<Tensor<2>>,
    device: Device,
    /// Batch norm's moments once frozen.
    frozen: Option<[ChannelMoments; NORMALISED]>,
}

/// A forward pass, kept for its gradient.
pub struct ImagePass {
    /// Images in `[0, 1]`. Shape `[batch, side, side, colours]`.
    pub images: Tensor<4>,
    input: Tensor<2>,
    /// Each hidden layer's output after ReLU, and its normalisation.
    hidden: Vec<(Tensor<2>, Normalised)>,
    moments: [ChannelMoments; NORMALISED],
}

impl ImageGeneratorNet {
    /// A generator with fresh weights.
    pub fn new(shape: ImageGeneratorShape, random: &mut impl Rng, device: &Device) -> Self {
        let map = shape.slots();
        let mut values = Vec::with_capacity(map.len());
        for slot in map.slots() {
            match slot.name.rsplit('.').next() {
                Some("scale") => values.extend(std::iter::repeat_n(1.0, slot.len())),
                Some("shift") => values.extend(std::iter::repeat_n(0.0, slot.len())),
                _ => values.extend(uniform_start(slot.len(), shape.fan_in(&slot.name), random)),
            }
        }
        let parameters = vector(values, device);
        Self {
            leaves: map.view_all(&parameters),
            shape,
            map,
            parameters,
            device: device.clone(),
            frozen: None,
        }
    }

    /// The shape.
    pub const fn shape(&self) -> &ImageGeneratorShape {
        &self.shape
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

    /// Latents and classes side by side. Shape `[batch, latent + classes]`.
    fn input(&self, classes: &[usize], random: &mut impl Rng) -> Tensor<2> {
        let width = self.shape.latent + self.shape.classes;
        let mut values = vec![0.0; classes.len() * width];
        for (row, &class) in values.chunks_exact_mut(width).zip(classes) {
            for value in &mut row[..self.shape.latent] {
                *value = StandardNormal.sample(random);
            }
            row[self.shape.latent + class] = 1.0;
        }
        matrix(values, classes.len(), width, &self.device)
    }

    fn flow(&self, input: Tensor<2>, fixed: Option<&[ChannelMoments; NORMALISED]>) -> ImagePass {
        let batch = input.dims()[0];
        let quarter = self.shape.quarter();
        let mut hidden: Vec<(Tensor<2>, Normalised)> = Vec::with_capacity(NORMALISED);
        let mut moments = Vec::with_capacity(NORMALISED);
        let mut flow = input.clone();
        for layer in 0..NORMALISED {
            let [weight, scale, shift] = [0, 1, 2].map(|part| self.leaves[3 * layer + part].clone());
            flow = flow.matmul(weight);
            if layer + 1 == NORMALISED {
                let doubled = DOUBLING.gather(flow, [batch, quarter, quarter]);
                let rows = batch * 4 * quarter * quarter;
                flow = doubled.reshape([rows, self.shape.half_channels()]);
            }
            let used = fixed.map_or_else(|| ChannelMoments::of(&flow), |fixed| fixed[layer].clone());
            let (out, normalised) = batch_norm(flow, scale, shift, &used);
            let out = activation::relu(out);
            moments.push(used);
            flow = out.clone();
            if layer == 1 {
                // The second layer's output is a map: one row a place from here on.
                flow = flow.reshape([batch * quarter * quarter, self.shape.channels]);
            }
            hidden.push((out, normalised));
        }
        let last = self.leaves[3 * NORMALISED].clone();
        let bias = self.leaves[3 * NORMALISED + 1].clone();
        let image = DOUBLING.gather(flow.matmul(last), [batch, 2 * quarter, 2 * quarter]);
        let image = image + bias.reshape([1, 1, 1, self.shape.colours]);
        ImagePass {
            images: activation::sigmoid(image),
            input,
            hidden,
            moments: moments.try_into().expect("one pair for each hidden layer"),
        }
    }

    /// A pass whose gradient can be asked for. The images share batch norm's moments.
    ///
    /// # Shapes
    /// - classes: one for each image, each below the shape's number of classes
    pub fn training_pass(&self, classes: &[usize], random: &mut impl Rng) -> ImagePass {
        self.flow(self.input(classes, random), None)
    }

    /// Images of these classes, in `[0, 1]`. Unless frozen, they share batch norm's moments.
    ///
    /// # Shapes
    /// - out: `[classes, side, side, colours]`
    pub fn generate(&self, classes: &[usize], random: &mut impl Rng) -> Tensor<4> {
        self.flow(self.input(classes, random), self.frozen.as_ref())
            .images
    }

    /// The gradient by all parameters, flat, from that at the images. Shape `[parameters]`.
    ///
    /// # Shapes
    /// - gradient: `[batch, side, side, colours]`
    ///
    /// # Panics
    /// When the pass is not one of this network.
    pub fn backward(&self, pass: ImagePass, gradient: Tensor<4>) -> Tensor<1> {
        let ImagePass {
            images,
            input,
            mut hidden,
            ..
        } = pass;
        let batch = input.dims()[0];
        let quarter = self.shape.quarter();
        // Sigmoid's slope is y·(1 − y).
        let slope = images.clone() - images.square();
        let at_image = gradient * slope;
        let pixels = batch * self.shape.side * self.shape.side;
        let at_bias = at_image.clone().reshape([pixels, self.shape.colours]).sum_dim(0);
        let mut windows = DOUBLING.patches(at_image);
        let (below, _) = &hidden[NORMALISED - 1];
        let mut parts = vec![
            flat(at_bias),
            flat(below.clone().transpose().matmul(windows.clone())),
        ];
        let mut weight = self.leaves[3 * NORMALISED].clone();
        for layer in (0..NORMALISED).rev() {
            let (out, normalised) = hidden.pop().expect("one output for each hidden layer");
            let [rows, width] = out.dims();
            let at_out = windows.matmul(weight.transpose()).reshape([rows, width]) * positive(&out);
            let scale = self.leaves[3 * layer + 1].clone();
            let (at_flow, at_scale, at_shift) = normalised.backward(at_out, scale);
            windows = if layer + 1 == NORMALISED {
                let side = 2 * quarter;
                DOUBLING.patches(at_flow.reshape([batch, side, side, width]))
            } else {
                at_flow
            };
            weight = self.leaves[3 * layer].clone();
            let below = match hidden.last() {
                Some((below, _)) => below.clone(),
                None => input.clone(),
            };
            let below = below.reshape([windows.dims()[0], weight.dims()[0]]);
            parts.push(flat(at_shift));
            parts.push(flat(at_scale));
            parts.push(flat(below.transpose().matmul(windows.clone())));
        }
        // From the last tensor to the first; the vector has them the other way round.
        parts.reverse();
        Tensor::cat(parts, 0)
    }

    /// Images of these classes. Unless frozen, they share batch norm's moments.
    ///
    /// # Shapes
    /// - out: `[classes, side · side · colours]` as bytes, channels last
    pub fn sample(&self, classes: &[usize], random: &mut impl Rng) -> Vec<u8> {
        if classes.is_empty() {
            return Vec::new();
        }
        read(self.generate(classes, random))
            .into_iter()
            .map(|value| (value * 255.0).round() as u8)
            .collect()
    }

    /// A copy whose batch norm no longer looks at the batch: its moments are taken once, over many latents of all
    /// classes alike. Each image drawn from it is independent of the others.
    #[must_use]
    pub fn freeze(&self, random: &mut impl Rng) -> Self {
        let classes: Vec<usize> = (0..FREEZING_IMAGES)
            .map(|image| image % self.shape.classes)
            .collect();
        let pass = self.flow(self.input(&classes, random), None);
        Self {
            frozen: Some(pass.moments),
            ..self.clone()
        }
    }

    /// The tensors that a file holds: all parameters, and batch norm's moments if frozen.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        let mut tensors = self.map.named(&self.parameters);
        for (name, moments) in HIDDEN.iter().zip(self.frozen.iter().flatten()) {
            for (part, tensor) in [("mean", &moments.mean), ("variance", &moments.variance)] {
                tensors.push(NamedTensor {
                    name: format!("{name}.{part}"),
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
        shape: ImageGeneratorShape,
        tensors: &[NamedTensor],
        device: &Device,
    ) -> Result<Self, WeightsError> {
        let map = shape.slots();
        let parameters = vector(map.values(tensors)?, device);
        let load = |layer: usize, part: &str| {
            let (name, width) = (HIDDEN[layer], shape.widths()[layer]);
            let values = find(tensors, &format!("{name}.{part}"), [1, width])?;
            Ok(matrix(values.to_vec(), 1, width, device))
        };
        let moments = |layer: usize| {
            Ok(ChannelMoments {
                mean: load(layer, "mean")?,
                variance: load(layer, "variance")?,
            })
        };
        let frozen = [moments(0)?, moments(1)?, moments(2)?];
        Ok(Self {
            leaves: map.view_all(&parameters),
            shape,
            map,
            parameters,
            device: device.clone(),
            frozen: Some(frozen),
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::model::DeviceKind;

    fn shape(colours: usize) -> ImageGeneratorShape {
        ImageGeneratorShape {
            latent: 3,
            classes: 2,
            hidden: 6,
            channels: 4,
            side: 8,
            colours,
        }
    }

    /// The signs of all hidden units, and the sum of all pixels squared, in double precision: differences of small
    /// steps drown otherwise.
    fn seen(network: &ImageGeneratorNet) -> (Vec<bool>, f64, ImagePass) {
        let classes = [0, 1, 0, 1, 1, 0, 0, 1];
        let pass = network.training_pass(&classes, &mut ChaCha20Rng::seed_from_u64(2));
        let units = pass.hidden.iter().flat_map(|(out, _)| read(out.clone()));
        let signs = units.map(|unit| unit > 0.0).collect();
        let pixels = read(pass.images.clone());
        let value = pixels.iter().map(|pixel| f64::from(*pixel).powi(2)).sum();
        (signs, value, pass)
    }

    #[test]
    fn the_gradient_matches_finite_differences() {
        // A step that carries a unit over the kink of its ReLU tells the slope of neither side: there is nothing to
        // compare with, and all other places agree. (What wgpu computes is held against flex where generators learn.)
        const STEP: f32 = 3e-4;
        for kind in [DeviceKind::Flex, DeviceKind::Ndarray] {
            let device = kind.open().unwrap();
            for colours in [1, 3] {
                let mut network =
                    ImageGeneratorNet::new(shape(colours), &mut ChaCha20Rng::seed_from_u64(1), &device);
                let (signs_at_start, _, pass) = seen(&network);
                let slopes = pass.images.clone().mul_scalar(2.0);
                let gradient = read(network.backward(pass, slopes));
                let start = read(network.parameters().clone());
                assert_eq!(gradient.len(), start.len());
                let mut at = |place: usize, by: f32| {
                    let mut values = start.clone();
                    values[place] += by;
                    network.set_parameters(vector(values, &device));
                    let (signs, value, _) = seen(&network);
                    (signs == signs_at_start, value)
                };
                let (mut compared, mut kinks) = (0, 0);
                for place in (0..start.len()).step_by(7) {
                    let ((above_is_smooth, above), (below_is_smooth, below)) =
                        (at(place, STEP), at(place, -STEP));
                    if !(above_is_smooth && below_is_smooth) {
                        kinks += 1;
                        continue;
                    }
                    compared += 1;
                    let expected = (above - below) / (2.0 * f64::from(STEP));
                    let got = f64::from(gradient[place]);
                    assert!(
                        (got - expected).abs() < 1e-2 * (1.0 + expected.abs()),
                        "{kind}, {colours} colours, place {place}: {got}, not {expected}"
                    );
                }
                assert!(
                    compared > 4 * kinks,
                    "{kind}: {kinks} of {compared} places have a kink"
                );
            }
        }
    }

    #[test]
    fn a_frozen_generator_comes_back_from_its_tensors() {
        let device = DeviceKind::Flex.open().unwrap();
        let mut random = ChaCha20Rng::seed_from_u64(3);
        let frozen = ImageGeneratorNet::new(shape(1), &mut random, &device).freeze(&mut random);
        let loaded = ImageGeneratorNet::from_tensors(shape(1), &frozen.tensors(), &device).unwrap();
        let draw = |network: &ImageGeneratorNet, classes: &[usize]| {
            network.sample(classes, &mut ChaCha20Rng::seed_from_u64(4))
        };
        assert_eq!(draw(&frozen, &[0, 1, 1]), draw(&loaded, &[0, 1, 1]));
        // Frozen, an image does not depend on those beside it.
        assert_eq!(draw(&frozen, &[0, 1])[..64], draw(&frozen, &[0])[..]);
        assert!(matches!(
            ImageGeneratorNet::from_tensors(shape(1), &frozen.tensors()[1..], &device),
            Err(WeightsError::Missing(_))
        ));
    }
}
