//! Windows of images as rows of a matrix, and back.
//!
//! Channels lie last, so a window is `kernel` runs of `kernel · channels` numbers, and cutting it out is copying them.
//! On a processor that is what is done, run by run; elsewhere it is said in views of tensors, which a processor walks
//! number by number (transposed convolutions of small images took most of their time there).

use burn::tensor::ops::PadMode;
use burn::tensor::{Tensor, TensorData};

use crate::model::device::in_memory;

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
        let device = images.device();
        if in_memory(&device) {
            let shape = [
                batch * self.count(height) * self.count(width),
                self.kernel * self.kernel * channels,
            ];
            let read = images.into_data();
            let numbers = read.as_slice::<f32>().expect("images are 32-bit numbers");
            let cut = self.cut(numbers, [height, width, channels]);
            return Tensor::from_data(TensorData::new(cut, shape), &device);
        }
        self.patches_of_views(images)
    }

    /// [`Window::patches`] as views of a tensor.
    fn patches_of_views(self, images: Tensor<4>) -> Tensor<2> {
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
        let device = windows.device();
        if in_memory(&device) {
            let channels = windows.dims()[1] / (self.kernel * self.kernel);
            let form = [self.side(rows), self.side(columns), channels];
            let shape = [batch, form[0], form[1], channels];
            let read = windows.into_data();
            let numbers = read.as_slice::<f32>().expect("windows are 32-bit numbers");
            let mut images = vec![0.0; shape.iter().product()];
            self.add_up(numbers, &mut images, form);
            return Tensor::from_data(TensorData::new(images, shape), &device);
        }
        self.gather_of_views(windows, [batch, rows, columns])
    }

    /// [`Window::gather`] as views of tensors.
    fn gather_of_views(self, windows: Tensor<2>, [batch, rows, columns]: [usize; 3]) -> Tensor<4> {
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

impl Window {
    /// The windows of images, run by run.
    fn cut(self, images: &[f32], form: [usize; 3]) -> Vec<f32> {
        let [height, width, channels] = form;
        let each = self.count(height) * self.count(width) * self.kernel * self.kernel * channels;
        let count = images.len() / (height * width * channels).max(1);
        let mut windows = vec![0.0; count * each];
        let pairs = images
            .chunks_exact(height * width * channels)
            .zip(windows.chunks_exact_mut(each));
        for (image, windows) in pairs {
            self.each_run(form, |in_window, in_image, length| {
                windows[in_window..in_window + length].copy_from_slice(&image[in_image..in_image + length]);
            });
        }
        windows
    }

    /// Adds windows up at their places, run by run.
    fn add_up(self, windows: &[f32], images: &mut [f32], form: [usize; 3]) {
        let [height, width, channels] = form;
        let each = self.count(height) * self.count(width) * self.kernel * self.kernel * channels;
        let pairs = images
            .chunks_exact_mut(height * width * channels)
            .zip(windows.chunks_exact(each));
        for (image, windows) in pairs {
            self.each_run(form, |in_window, in_image, length| {
                let sums = &mut image[in_image..in_image + length];
                let values = &windows[in_window..in_window + length];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            });
        }
    }

    /// Every run of numbers that lies side by side in a window and in its image: where it starts in the windows of one
    /// image, where in the image, and its length. What of a window lies outside the image is in no run.
    fn each_run(self, [height, width, channels]: [usize; 3], mut run: impl FnMut(usize, usize, usize)) {
        let Self {
            kernel,
            stride,
            padding,
        } = self;
        let line = kernel * channels;
        let mut window = 0;
        for row in 0..self.count(height) {
            for column in 0..self.count(width) {
                let left = column * stride;
                let cut_off = padding.saturating_sub(left).min(kernel);
                let first = left + cut_off - padding;
                let length = (left + kernel)
                    .saturating_sub(padding)
                    .min(width)
                    .saturating_sub(first);
                for down in 0..kernel {
                    let in_image = (row * stride + down).checked_sub(padding);
                    if let Some(y) = in_image.filter(|y| *y < height && length > 0) {
                        run(
                            window + down * line + cut_off * channels,
                            (y * width + first) * channels,
                            length * channels,
                        );
                    }
                }
                window += kernel * line;
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            // Both ways of saying it are the same.
            assert_eq!(read(cut.clone()), read(window.patches_of_views(x.clone())));
            let viewed = read(window.gather_of_views(y.clone(), [2, count, count]));
            let near = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-5;
            assert!(read(back.clone()).iter().zip(&viewed).all(near), "{window:?}");
            let one = read((cut * y).sum())[0];
            let other = read((x * back).sum())[0];
            assert!((one - other).abs() < 1e-3, "{window:?}: {one} {other}");
        }
    }
}
