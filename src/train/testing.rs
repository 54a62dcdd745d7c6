//! A small table with two related columns and a number, for the tests of this room.

use std::sync::Arc;

use rand::RngExt;

use crate::data::{Column, EncodedRows, EncoderSettings, Kind, Provenance, RowEncoder, Schema};
use crate::num::RandomSource;
use crate::privacy::Neighboring;
use crate::train::plan::PlanSummary;

/// `colour` (3 categories), `size` (0 to 99, or missing) and the label `kind`, which follows the colour.
pub fn schema() -> Schema {
    let declared = |column: Column| column.with_provenance(Provenance::Declared);
    let mut schema = Schema::new(vec![
        declared(Column::new("colour", Kind::Categorical).with_domain(["red", "green", "blue"])),
        declared(
            Column::new("size", Kind::Integer)
                .with_bounds(0, 99)
                .with_missing(true),
        ),
        declared(Column::new("kind", Kind::Categorical).with_domain(["a", "b"])),
        Column::new("name", Kind::Identifier),
    ]);
    schema.label = Some("kind".to_owned());
    schema
}

/// How much more noise a release's counts carry where a unit is replaced than where one comes or goes.
pub fn price_of_replacing(summary: impl Fn(Neighboring) -> PlanSummary) -> f64 {
    let deviation = |neighboring| summary(neighboring).marginal_deviation.unwrap();
    deviation(Neighboring::ReplaceOne) / deviation(Neighboring::AddRemoveOne)
}

/// The encoder of [`schema`] under default settings.
pub fn encoder() -> RowEncoder {
    RowEncoder::new(&schema(), &EncoderSettings::default()).unwrap()
}

/// Rows of that table.
pub fn rows(count: usize) -> EncodedRows {
    let mut random = RandomSource::seeded(99);
    let encoder = encoder();
    let fine = Arc::new(encoder.fine_cells(1).unwrap().clone());
    let mut rows = encoder.blank_rows(count);
    for row in 0..count {
        let colour = random.random_range(0..3_u16);
        let missing = random.random_bool(0.1);
        let bins = fine.bins() as u16;
        let bin = (colour * 6 + random.random_range(0..6)).min(bins - 1);
        rows.codes[3 * row] = colour;
        rows.codes[3 * row + 1] = if missing { bins } else { bin };
        rows.codes[3 * row + 2] = u16::from(colour == 0);
        if !missing {
            rows.fine[row] = fine.cells_of(usize::from(bin)).start as u16;
        }
    }
    rows
}
