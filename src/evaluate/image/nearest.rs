//! The real images nearest to a generated one: whether a generator copies is seen by eye. For the steward only.

use std::num::NonZeroUsize;

use crate::data::image::ImageSet;
use crate::num::StewardOnly;

/// A real image, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its place in the set.
    pub image: usize,
    /// The root mean square of the differences of all channels of all pixels, in steps of 255.
    pub distance: f64,
}

/// The real images nearest to one, given as bytes, the nearest first; among equals the first of the set. Empty if the
/// image has another form.
///
/// Fast enough for a click: the pixels of a set are read once, on all cores.
pub fn nearest_images(real: &ImageSet, image: &[u8], count: usize) -> StewardOnly<Vec<Neighbour>> {
    let pixels = real.form().pixels();
    if image.len() != pixels || count == 0 {
        return StewardOnly::new(Vec::new());
    }
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = real.len().div_ceil(threads);
    let mut found: Vec<(u64, usize)> = std::thread::scope(|scope| {
        let work: Vec<_> = real
            .bytes()
            .chunks(share * pixels)
            .enumerate()
            .map(|(part, bytes)| scope.spawn(move || nearest_of(bytes, part * share, image, count)))
            .collect();
        work.into_iter()
            .flat_map(|work| {
                work.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    found.sort_unstable();
    found.truncate(count);
    let neighbours = found.into_iter().map(|(square, image)| Neighbour {
        image,
        distance: (square as f64 / pixels as f64).sqrt(),
    });
    StewardOnly::new(neighbours.collect())
}

/// The nearest of some images, whose first has this place in the set: their squared distances and places.
fn nearest_of(bytes: &[u8], first: usize, image: &[u8], count: usize) -> Vec<(u64, usize)> {
    let mut all: Vec<(u64, usize)> = bytes
        .chunks_exact(image.len())
        .enumerate()
        .map(|(place, other)| (squared_distance(other, image), first + place))
        .collect();
    if all.len() > count {
        all.select_nth_unstable(count - 1);
        all.truncate(count);
    }
    all
}

/// In whole numbers, in pieces whose sum fits 32 bits, which the compiler turns into vector instructions.
fn squared_distance(one: &[u8], other: &[u8]) -> u64 {
    const PIECE: usize = 1 << 12;
    one.chunks(PIECE)
        .zip(other.chunks(PIECE))
        .map(|(one, other)| {
            let squares = one.iter().zip(other).map(|(one, other)| {
                let difference = i32::from(*one) - i32::from(*other);
                (difference * difference) as u32
            });
            u64::from(squares.sum::<u32>())
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use super::*;
    use crate::data::image::ImageForm;
    use crate::num::RandomSource;

    fn set(count: usize, side: usize) -> ImageSet {
        let mut random = RandomSource::seeded(5);
        let bytes = (0..count * side * side).map(|_| random.random()).collect();
        ImageSet::from_bytes("set", ImageForm { side, colours: 1 }, bytes, None).unwrap()
    }

    #[test]
    fn a_copy_is_found_and_distances_are_those_of_the_pixels() {
        let set = set(1000, 8);
        let mut copy = set.bytes()[777 * 64..778 * 64].to_vec();
        copy[3] = copy[3].wrapping_add(if copy[3] < 128 { 8 } else { 248 });
        let found = nearest_images(&set, &copy, 3).into_steward();
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].image, found[0].distance), (777, 1.0), "√(8² / 64)");
        assert!(found[1].distance <= found[2].distance && found[1].distance > 50.0);
        let plain = |image: usize| -> f64 {
            let squares = set.bytes()[image * 64..(image + 1) * 64].iter().zip(&copy);
            let sum: f64 = squares
                .map(|(one, two)| (f64::from(*one) - f64::from(*two)).powi(2))
                .sum();
            (sum / 64.0).sqrt()
        };
        for neighbour in &found {
            assert!((plain(neighbour.image) - neighbour.distance).abs() < 1e-12);
        }
        let closer = (0..1000)
            .filter(|image| plain(*image) < found[2].distance)
            .count();
        assert_eq!(closer, 2);
    }

    #[test]
    fn what_has_another_form_has_no_neighbours() {
        let set = set(10, 8);
        assert!(nearest_images(&set, &[0; 63], 3).for_steward().is_empty());
        assert!(nearest_images(&set, &[0; 64], 0).for_steward().is_empty());
        assert_eq!(nearest_images(&set, &[0; 64], 99).for_steward().len(), 10);
    }
}
