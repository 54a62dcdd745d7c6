//! IDX files made in memory, for tests.

/// A file of grey images of this side.
pub fn idx_images(side: usize, pixels: &[u8]) -> Vec<u8> {
    let count = pixels.len() / (side * side);
    let mut bytes = vec![0, 0, 8, 3];
    for size in [count, side, side] {
        bytes.extend((size as u32).to_be_bytes());
    }
    bytes.extend(pixels);
    bytes
}

/// A file of labels.
pub fn idx_labels(labels: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 1];
    bytes.extend((labels.len() as u32).to_be_bytes());
    bytes.extend(labels);
    bytes
}
