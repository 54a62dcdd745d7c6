//! Small images for tests.

use std::path::{Path, PathBuf};

/// A pair of IDX files with 8 × 8 images of three classes: bright above, below, or on the left. The images' file.
pub fn idx_pair(folder: &Path, name: &str, count: usize) -> PathBuf {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    let mut noise = 1_u32;
    for image in 0..count {
        let class = image % 3;
        labels.push(class as u8);
        for row in 0..8 {
            for column in 0..8 {
                let bright = match class {
                    0 => row < 4,
                    1 => row >= 4,
                    _ => column < 4,
                };
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                pixels.push((noise >> 26) as u8 + if bright { 180 } else { 0 });
            }
        }
    }
    let head = |dimensions: u8, sizes: &[usize]| {
        let mut head = vec![0, 0, 8, dimensions];
        sizes
            .iter()
            .for_each(|size| head.extend((*size as u32).to_be_bytes()));
        head
    };
    let mut file = head(1, &[count]);
    file.extend(labels);
    std::fs::write(folder.join(format!("{name}-labels-idx1-ubyte")), file).unwrap();
    let mut file = head(3, &[count, 8, 8]);
    file.extend(pixels);
    let path = folder.join(format!("{name}-images-idx3-ubyte"));
    std::fs::write(&path, file).unwrap();
    path
}
