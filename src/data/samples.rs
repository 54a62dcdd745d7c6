//! Three small public tables with reviewed schemas, inside the program.

use super::read::read_parquet_bytes;
use super::{DataError, Schema, Table};
use crate::num::progress::Progress;

/// A table that ships with the program.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its name in commands and recipes, and the stem of its files.
    pub id: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Who made it and where it is published.
    pub attribution: &'static str,
    /// Its licence.
    pub licence: &'static str,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    parquet: &'static [u8],
    schema: &'static str,
}

static ALL: [Sample; 3] = [
    Sample {
        id: "adult",
        title: "Adult (census income)",
        attribution: "Barry Becker and Ronny Kohavi (1996), UCI Machine Learning Repository, doi.org/10.24432/C5XW20",
        licence: "CC BY 4.0",
        rows: 32_561,
        columns: 15,
        parquet: include_bytes!("../../assets/samples/adult.parquet"),
        schema: include_str!("../../assets/samples/adult.schema.toml"),
    },
    Sample {
        id: "nhanes",
        title: "NHANES 2017–2018 (health examinations)",
        attribution: "US Centers for Disease Control and Prevention, National Center for Health Statistics",
        licence: "public domain",
        rows: 5_265,
        columns: 21,
        parquet: include_bytes!("../../assets/samples/nhanes.parquet"),
        schema: include_str!("../../assets/samples/nhanes.schema.toml"),
    },
    Sample {
        id: "german_credit",
        title: "German Credit (loans)",
        attribution: "Hans Hofmann (1994), UCI Machine Learning Repository, doi.org/10.24432/C5NC77",
        licence: "CC BY 4.0",
        rows: 1_000,
        columns: 21,
        parquet: include_bytes!("../../assets/samples/german_credit.parquet"),
        schema: include_str!("../../assets/samples/german_credit.schema.toml"),
    },
];

/// All samples, the one to begin with first.
pub fn all() -> &'static [Sample] {
    &ALL
}

/// The sample of that [`id`](Sample::id).
pub fn find(id: &str) -> Option<&'static Sample> {
    ALL.iter().find(|sample| sample.id == id)
}

impl Sample {
    /// Reads the table. It is named `ID.parquet`.
    ///
    /// # Errors
    /// Only when cancelled.
    pub fn table(&self, progress: &Progress) -> Result<Table, DataError> {
        read_parquet_bytes(&format!("{}.parquet", self.id), self.parquet, progress)
    }

    /// The reviewed schema.
    ///
    /// # Errors
    /// Never, as the tests show; the type is that of every schema that is read.
    pub fn schema(&self) -> Result<Schema, DataError> {
        Schema::from_toml(self.schema)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::data::{EncoderSettings, RowEncoder};

    #[test]
    fn samples_read_fit_their_schemas_and_are_ready_to_train() {
        for sample in all() {
            let table = sample.table(&Progress::new()).unwrap();
            assert_eq!(
                (table.rows(), table.width()),
                (sample.rows, sample.columns),
                "{}",
                sample.id
            );
            let schema = sample.schema().unwrap();
            assert!(schema.public && schema.label.is_some());
            assert!(schema.open_columns().is_empty());
            assert_eq!(schema.unprotected_columns().count(), 0);
            assert!(
                schema
                    .column
                    .iter()
                    .map(|column| &column.name)
                    .eq(table.column_names())
            );
            schema.check(&table, &Progress::new()).unwrap();
            let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).unwrap();
            let encoded = encoder.encode(&table, &Progress::new()).unwrap();
            assert_eq!(
                encoded.clamped_cells(),
                0,
                "{}: declared bounds hold all rows",
                sample.id
            );
            let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(1);
            let decoded = encoder.decode(&encoded, None, &mut random).unwrap();
            assert_eq!(
                (decoded.num_rows(), decoded.num_columns()),
                (table.rows(), table.width())
            );
            assert_eq!(find(sample.id).map(|found| found.title), Some(sample.title));
        }
    }

    #[test]
    fn the_csv_of_adult_fits_its_declared_schema_too() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let source = root.join("../shared/data/tabular/adult.csv");
        let Ok(text) = std::fs::read_to_string(&source) else {
            println!("skipped: {} is not at hand", source.display());
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("adult_train.csv");
        let end = text
            .match_indices('\n')
            .nth(32_561)
            .map_or(text.len(), |(place, _)| place + 1);
        std::fs::write(&path, &text[..end]).unwrap();
        let table =
            crate::data::read_table(&path, &crate::data::ReadOptions::default(), &Progress::new()).unwrap();
        let schema = Schema::load(&root.join("tests/fixtures/adult.schema.toml")).unwrap();
        schema.check(&table, &Progress::new()).unwrap();
        assert_eq!(schema, all()[0].schema().unwrap());
        let sample = all()[0].table(&Progress::new()).unwrap();
        assert_eq!(
            table.preview(0..40_000).unwrap(),
            sample.preview(0..40_000).unwrap()
        );
    }
}
