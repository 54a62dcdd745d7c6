//! Windows of images as rows of a matrix, and back.
//!
//! Channels lie last, so a window is `kernel` runs of `kernel · channels` numbers, and cutting it out is copying them.

use burn::tensor::Tensor;
use burn::tensor::ops::PadMode;

/// Where the windows of a convolution lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The side of a window.
    pub kernel: usize,
    /// The distance between windows.
    pub stride: usize,
    /// Zeros around the image.
    pub padding: usize,
}

impl Window {
    /// A window.
    pub const fn new(kernel: usize, stride: usize, padding: usize) -> Self {
        Self {
            kernel,
            stride,
            padding,
        }
    }

    /// How many windows fit along a side.
    pub const fn count(self, side: usize) -> usize {
        (side + 2 * self.padding - self.kernel) / self.stride + 1
    }

    /// The side of the image whose windows are `count` along a side, if they end flush.
    pub const fn side(self, count: usize) -> usize {
        (count - 1) * self.stride + self.kernel - 2 * self.padding
    }

    /// All windows as rows.
    ///
    /// # Shapes
    /// - images: `[batch, height, width, channels]`
    /// - out: `[batch · rows · columns, kernel · kernel · channels]`, a window's numbers row by row, channels last
    pub fn patches(self, images: Tensor<4>) -> Tensor<2> {
        let [batch, height, width, channels] = images.dims();
        let (rows, columns) = (self.count(height), self.count(width));
        let around = (self.padding, self.padding);
        let padded = if self.padding > 0 {
            images.pad([around, around, (0, 0)], PadMode::Constant(0.0))
        } else {
            images
        };
        padded
            .unfold::<5, _>(1, self.kernel, self.stride)
            .unfold::<6, _>(2, self.kernel, self.stride)
            .permute([0, 1, 2, 4, 5, 3])
            .reshape([batch * rows * columns, self.kernel * self.kernel * channels])
    }

    /// The transpose of [`Window::patches`]: every row is added at its window's place.
    ///
    /// A window whose side is a multiple `m` of the stride falls into `m · m` tiles of the stride's side, and tiles at
    /// the same place in their windows lie side by side without overlap: the sum is that of `m · m` shifted images.
    ///
    /// # Shapes
    /// - windows: `[batch · rows · columns, kernel · kernel · channels]`
    /// - out: `[batch, side(rows), side(columns), channels]`
    pub fn gather(self, windows: Tensor<2>, [batch, rows, columns]: [usize; 3]) -> Tensor<4> {
        let Self {
            kernel,
            stride,
            padding,
        } = self;
        let channels = windows.dims()[1] / (kernel * kernel);
        let tiles = kernel / stride;
        let windows = windows.reshape([batch * rows * columns, tiles, stride, tiles, stride * channels]);
        let mut sum: Option<Tensor<4>> = None;
        for down in 0..tiles {
            for right in 0..tiles {
                let tile = windows
                    .clone()
                    .narrow(1, down, 1)
                    .narrow(3, right, 1)
                    .reshape([batch, rows, columns, stride, stride * channels])
                    .permute([0, 1, 3, 2, 4])
                    .reshape([batch, rows * stride, columns * stride, channels]);
                let shift = |at: usize| (at * stride, (tiles - 1 - at) * stride);
                let placed = tile.pad([shift(down), shift(right), (0, 0)], PadMode::Constant(0.0));
                sum = Some(match sum {
                    Some(sum) => sum + placed,
                    None => placed,
                });
            }
        }
        let whole = sum.expect("a window has at least one tile");
        if padding == 0 {
            return whole;
        }
        whole
            .narrow(1, padding, self.side(rows))
            .narrow(2, padding, self.side(columns))
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::model::{DeviceKind, read};

    fn images(shape: [usize; 4], random: &mut ChaCha20Rng) -> Tensor<4> {
        let values: Vec<f32> = (0..shape.iter().product())
            .map(|_| random.random::<f32>() - 0.5)
            .collect();
        Tensor::from_data(TensorData::new(values, shape), &DeviceKind::Flex.open().unwrap())
    }

    #[test]
    fn a_window_is_read_row_by_row_with_zeros_around() {
        let values: Vec<f32> = (1..=9_u8).map(f32::from).collect();
        let device = DeviceKind::Flex.open().unwrap();
        let image = Tensor::<4>::from_data(TensorData::new(values, [1, 3, 3, 1]), &device);
        let rows = read(Window::new(2, 2, 1).patches(image));
        assert_eq!(
            rows,
            [0., 0., 0., 1., 0., 0., 2., 3., 0., 4., 0., 7., 5., 6., 8., 9.]
        );
    }

    #[test]
    fn gathering_is_the_transpose_of_cutting() {
        // ⟨patches(x), y⟩ = ⟨x, gather(y)⟩ for every x and y.
        let mut random = ChaCha20Rng::seed_from_u64(3);
        for (window, side, channels) in [
            (Window::new(4, 2, 1), 8, 3),
            (Window::new(8, 2, 3), 12, 1),
            (Window::new(2, 2, 0), 6, 2),
            (Window::new(3, 1, 1), 5, 2),
        ] {
            let count = window.count(side);
            let x = images([2, side, side, channels], &mut random);
            let cut = window.patches(x.clone());
            let [rows, width] = cut.dims();
            let y = images([1, 1, rows, width], &mut random).reshape([rows, width]);
            let back = window.gather(y.clone(), [2, count, count]);
            assert_eq!(back.dims(), x.dims(), "{window:?}");
            let one = read((cut * y).sum())[0];
            let other = read((x * back).sum())[0];
            assert!((one - other).abs() < 1e-3, "{window:?}: {one} {other}");
        }
    }
}
