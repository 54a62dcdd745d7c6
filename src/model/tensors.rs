//! Tensors as files hold them: by name, with a shape, checked when they come back.

use burn::tensor::Tensor;
use half::f16;
use safetensors::tensor::{Dtype, TensorView};

use super::parameters::{SlotMap, read};

/// A tensor as files hold it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Its name.
    pub name: String,
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Row-major values.
    pub values: Vec<f32>,
}

impl NamedTensor {
    /// A vector, as a matrix of one row.
    pub fn flat(name: &str, values: &Tensor<1>) -> Self {
        Self {
            name: name.to_owned(),
            shape: [1, values.dims()[0]],
            values: read(values.clone()),
        }
    }

    /// A matrix.
    pub fn matrix(name: &str, values: &Tensor<2>) -> Self {
        Self {
            name: name.to_owned(),
            shape: values.dims(),
            values: read(values.clone()),
        }
    }

    /// A tensor of a safetensors file.
    ///
    /// # Errors
    /// When it is not a matrix of single- or half-precision numbers.
    pub fn of(name: &str, view: &TensorView<'_>) -> Result<Self, String> {
        let other = || {
            format!(
                "the tensor `{name}` is {:?} {:?}, not an F32 or F16 matrix",
                view.dtype(),
                view.shape()
            )
        };
        let &[rows, columns] = view.shape() else {
            return Err(other());
        };
        let values = match view.dtype() {
            Dtype::F32 => {
                let (values, _) = view.data().as_chunks::<4>();
                values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
            Dtype::F16 => {
                let (values, _) = view.data().as_chunks::<2>();
                values
                    .iter()
                    .map(|bytes| f16::from_le_bytes(*bytes).to_f32())
                    .collect()
            }
            _ => return Err(other()),
        };
        Ok(Self {
            name: name.to_owned(),
            shape: [rows, columns],
            values,
        })
    }
}

/// Tensors read from a file do not make up the generator they claim to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// One is absent.
    #[error("the tensor `{0}` is missing")]
    Missing(String),
    /// One has another shape.
    #[error("the tensor `{name}` has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: [usize; 2],
        /// The shape that the layers need.
        expected: [usize; 2],
    },
    /// A value is NaN or infinite.
    #[error("the tensor `{0}` holds a value that is not finite")]
    NotFinite(String),
    /// The heads do not tile the row.
    #[error("the output blocks do not fit together")]
    Heads,
}

/// The values of the tensor of that name.
///
/// # Errors
/// When it is missing, or has another shape or a value that is not finite.
pub fn find<'a>(
    tensors: &'a [NamedTensor],
    name: &str,
    shape: [usize; 2],
) -> Result<&'a [f32], WeightsError> {
    let tensor = tensors.iter().find(|tensor| tensor.name == name);
    let tensor = tensor.ok_or_else(|| WeightsError::Missing(name.to_owned()))?;
    if tensor.shape != shape || tensor.values.len() != shape[0] * shape[1] {
        let name = name.to_owned();
        return Err(WeightsError::Shape {
            name,
            found: tensor.shape,
            expected: shape,
        });
    }
    if tensor.values.iter().any(|value| !value.is_finite()) {
        return Err(WeightsError::NotFinite(name.to_owned()));
    }
    Ok(&tensor.values)
}

impl SlotMap {
    /// Every slot as a file's tensor.
    pub fn named(&self, parameters: &Tensor<1>) -> Vec<NamedTensor> {
        let parameters = read(parameters.clone());
        let slots = self.slots().iter();
        slots
            .map(|slot| NamedTensor {
                name: slot.name.clone(),
                shape: [slot.rows, slot.columns],
                values: parameters[slot.start..slot.start + slot.len()].to_vec(),
            })
            .collect()
    }

    /// The flat vector, put together from a file's tensors.
    ///
    /// # Errors
    /// When one is missing, or has another shape or a value that is not finite.
    pub fn values(&self, tensors: &[NamedTensor]) -> Result<Vec<f32>, WeightsError> {
        let mut values = Vec::with_capacity(self.len());
        for slot in self.slots() {
            values.extend_from_slice(find(tensors, &slot.name, [slot.rows, slot.columns])?);
        }
        Ok(values)
    }
}
