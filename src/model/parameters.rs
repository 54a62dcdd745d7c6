//! One flat vector for all parameters of a network.
//!
//! A flat clip bounds the norm over all layers together, noise has the same standard deviation in every
//! coordinate, and Adam treats coordinates alike: all three are one tensor operation on one vector. A network
//! keeps the vector and a map of where each of its tensors lies.

use burn::tensor::{Device, Tensor, TensorData};
use rand::{Rng, RngExt};

/// Where one tensor of a network lies in the flat vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The tensor's name in files, such as `hidden.0.weight`.
    pub name: String,
    /// Its first position.
    pub start: usize,
    /// Rows; 1 for vectors.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

impl Slot {
    /// How many numbers it holds.
    pub const fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This slot's part of the vector. Shape `[rows, columns]`.
    pub fn view(&self, parameters: &Tensor<1>) -> Tensor<2> {
        parameters
            .clone()
            .narrow(0, self.start, self.len())
            .reshape([self.rows, self.columns])
    }
}

/// Collects the slots of a network while it is laid out.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotMap {
    slots: Vec<Slot>,
    len: usize,
}

impl SlotMap {
    /// Appends a tensor and returns its slot's index.
    pub fn push(&mut self, name: String, rows: usize, columns: usize) -> usize {
        self.slots.push(Slot {
            name,
            start: self.len,
            rows,
            columns,
        });
        self.len += rows * columns;
        self.slots.len() - 1
    }

    /// The slots, in the order of the vector.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Every slot's part of the vector, in order.
    pub fn view_all(&self, parameters: &Tensor<1>) -> Vec<Tensor<2>> {
        self.slots.iter().map(|slot| slot.view(parameters)).collect()
    }

    /// The length of the vector.
    pub const fn len(&self) -> usize {
        self.len
    }
}

/// Uniform numbers in `±1/√fan_in`, the usual start of a linear layer and of its bias.
pub(crate) fn uniform_start(count: usize, fan_in: usize, random: &mut impl Rng) -> Vec<f32> {
    let bound = 1.0 / (fan_in.max(1) as f32).sqrt();
    (0..count)
        .map(|_| (random.random::<f32>() * 2.0 - 1.0) * bound)
        .collect()
}

/// Puts numbers on a device. Shape `[length]`.
pub fn vector(values: Vec<f32>, device: &Device) -> Tensor<1> {
    let length = values.len();
    Tensor::from_data(TensorData::new(values, [length]), device)
}

/// Puts a row-major matrix on a device. Shape `[rows, columns]`.
pub fn matrix(values: Vec<f32>, rows: usize, columns: usize, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// Reads numbers back; waits for the device.
///
/// # Panics
/// When the device fails while computing, which the worker that owns it reports.
pub fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .try_into_vec_as::<f32>()
        .expect("the device returns what it computed")
}
