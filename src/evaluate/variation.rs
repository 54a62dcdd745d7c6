//! Total variation of marginals: how far shares of categories are off, from 0 (equal) to 1 (disjoint).

use crate::data::EncodedRows;

/// Half the sum of absolute differences of two lists of shares.
///
/// # Panics
/// When the lists differ in length: they are not shares of the same categories.
pub fn total_variation(real: &[f64], synthetic: &[f64]) -> f64 {
    assert_eq!(real.len(), synthetic.len(), "shares of the same categories");
    0.5 * real
        .iter()
        .zip(synthetic)
        .map(|(real, synthetic)| (real - synthetic).abs())
        .sum::<f64>()
}

/// Mean total variation over all single one-hot blocks, and over all pairs of them; `None` where there is no
/// block or pair, or no row on a side. On real rows the results are for the steward only.
///
/// # Panics
/// When the rows are of different encoders.
pub fn mean_total_variation(real: &EncodedRows, synthetic: &EncodedRows) -> (Option<f64>, Option<f64>) {
    assert_eq!(real.blocks(), synthetic.blocks(), "rows of the same encoder");
    if real.is_empty() || synthetic.is_empty() {
        return (None, None);
    }
    let widths: Vec<usize> = real
        .blocks()
        .iter()
        .filter(|block| block.is_one_hot())
        .map(crate::data::Block::width)
        .collect();
    let mut single = Vec::new();
    let mut pairs = Vec::new();
    for (one, &width) in widths.iter().enumerate() {
        let shares = |rows: &EncodedRows| shares(rows, width, |row| usize::from(row[one]));
        single.push(total_variation(&shares(real), &shares(synthetic)));
        for (two, &other) in widths.iter().enumerate().skip(one + 1) {
            let cell = |row: &[u16]| usize::from(row[one]) * other + usize::from(row[two]);
            let shares = |rows: &EncodedRows| self::shares(rows, width * other, cell);
            pairs.push(total_variation(&shares(real), &shares(synthetic)));
        }
    }
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    (mean(&single), mean(&pairs))
}

fn shares(rows: &EncodedRows, cells: usize, cell: impl Fn(&[u16]) -> usize) -> Vec<f64> {
    let mut counts = vec![0.0; cells];
    for row in rows.codes.chunks_exact(rows.codes_per_row()) {
        counts[cell(row)] += 1.0;
    }
    counts.iter_mut().for_each(|count| *count /= rows.rows() as f64);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, EncoderSettings, Kind, Provenance, RowEncoder, Schema};

    #[test]
    fn counts_single_columns_and_pairs() {
        let column = |name: &str| {
            Column::new(name, Kind::Categorical)
                .with_domain(["x", "y"])
                .with_provenance(Provenance::Declared)
        };
        let schema = Schema::new(vec![column("one"), column("two")]);
        let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).unwrap();
        let mut real = encoder.blank_rows(4);
        let mut synthetic = encoder.blank_rows(2);
        real.codes = vec![0, 0, 0, 0, 1, 1, 1, 1];
        synthetic.codes = vec![0, 1, 1, 0];
        let (single, pairs) = mean_total_variation(&real, &synthetic);
        assert_eq!(
            (single, pairs),
            (Some(0.0), Some(1.0)),
            "columns agree, their relation is turned round"
        );
        assert_eq!(mean_total_variation(&real, &encoder.blank_rows(0)), (None, None));
        assert_eq!(total_variation(&[0.5, 0.5], &[1.0, 0.0]), 0.5);
    }
}
