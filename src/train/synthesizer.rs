//! A trained generator together with what turns its output into rows of the schema.

use arrow::array::AsArray as _;
use arrow::compute::{cast, concat_batches, filter_record_batch};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use crate::data::{DataError, EncodedRows, FineWeights, RowEncoder, Rule, RuleCounts};
use crate::model::Generator;
use crate::num::RandomSource;

/// Rows drawn and decoded at a time.
const BATCH: usize = 8192;
/// Rows drawn for each one wanted, at most, before a condition is given up as too rare.
const MOST_TRIES: usize = 1000;
/// Rows that are drawn at least before giving up.
const LEAST_TRIES: usize = 200_000;

/// `COLUMN=VALUE`: keeps rows whose categorical or boolean column has the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// The value as the schema's domain spells it; empty for missing.
    pub value: String,
}

/// Why rows could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The condition names no column that can have one.
    #[error("a condition on `{0}` is not possible: name a categorical or boolean column of the schema")]
    Column(String),
    /// The column never has this value.
    #[error("`{column}` never is `{value}`; its values are {known}")]
    Value {
        /// The column.
        column: String,
        /// The value asked for.
        value: String,
        /// The values that it can have.
        known: String,
    },
    /// The generator hardly ever makes such rows.
    #[error(
        "only {found} of {drawn} generated rows have `{column}` = `{value}`, too few to collect {wanted}"
    )]
    TooRare {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// Rows found.
        found: usize,
        /// Rows drawn.
        drawn: usize,
        /// Rows wanted.
        wanted: usize,
    },
    /// The generator hardly ever makes rows in which the schema's rules hold.
    #[error(
        "only {found} of {drawn} generated rows keep the schema's rules, even mended, too few to collect {wanted}; widen the bounds of the rules' columns, or take a rule out"
    )]
    Rules {
        /// Rows found.
        found: usize,
        /// Rows drawn.
        drawn: usize,
        /// Rows wanted.
        wanted: usize,
    },
    /// Codes could not be decoded.
    #[error(transparent)]
    Decode(#[from] DataError),
    /// Batches could not be put together.
    #[error("generated rows could not be put together")]
    Arrow(#[from] ArrowError),
}

/// Draws rows of the schema: post-processing, so any number of rows costs nothing more.
#[derive(Clone, Debug)]
pub struct TableGenerator {
    generator: Generator,
    encoder: RowEncoder,
    fine: Option<FineWeights>,
}

/// A condition found in the encoder.
struct Wanted<'a> {
    condition: &'a Condition,
    /// The index among the one-hot blocks.
    block: usize,
    code: u16,
}

impl TableGenerator {
    /// Puts a frozen generator together with its encoder. Their blocks must be the same.
    pub const fn new(generator: Generator, encoder: RowEncoder, fine: Option<FineWeights>) -> Self {
        Self {
            generator,
            encoder,
            fine,
        }
    }

    /// The network.
    pub const fn network(&self) -> &Generator {
        &self.generator
    }

    /// The encoder.
    pub const fn encoder(&self) -> &RowEncoder {
        &self.encoder
    }

    /// Weights of fine cells, if they were bought.
    pub const fn fine(&self) -> Option<&FineWeights> {
        self.fine.as_ref()
    }

    /// Draws encoded rows.
    pub fn sample_encoded(&self, rows: usize, random: &mut RandomSource) -> EncodedRows {
        let mut encoded = self.encoder.blank_rows(rows);
        let (mut codes, mut scalars) = (0, 0);
        let mut left = rows;
        while left > 0 {
            let samples = self.generator.sample(left.min(BATCH), random);
            encoded.codes[codes..codes + samples.codes.len()].copy_from_slice(&samples.codes);
            encoded.scalars[scalars..scalars + samples.scalars.len()].copy_from_slice(&samples.scalars);
            codes += samples.codes.len();
            scalars += samples.scalars.len();
            left -= samples.rows;
        }
        encoded
    }

    /// Turns encoded rows into rows of the schema.
    ///
    /// # Errors
    /// When the rows are of another encoder.
    pub fn decode(&self, rows: &EncodedRows, random: &mut RandomSource) -> Result<RecordBatch, SampleError> {
        Ok(self.encoder.decode(rows, self.fine.as_ref(), random)?)
    }

    /// Draws rows, all at once.
    ///
    /// # Errors
    /// When the condition is not possible, or too rare to be met by drawing and throwing away.
    pub fn sample(
        &self,
        rows: usize,
        condition: Option<&Condition>,
        random: &mut RandomSource,
    ) -> Result<RecordBatch, SampleError> {
        let mut counts = RuleCounts::default();
        let batches = self
            .batches(rows, condition, random, &mut counts)?
            .collect::<Result<Vec<_>, _>>()?;
        Ok(concat_batches(&self.encoder.decoded_schema(), &batches)?)
    }

    /// Draws rows, a few thousand at a time: for tables that are written as they are made. The schema's rules hold in
    /// them; how often they had to be made to hold is counted.
    ///
    /// # Errors
    /// When the condition is not possible. An item is an error when the condition turns out to be too rare.
    pub fn batches<'a>(
        &'a self,
        rows: usize,
        condition: Option<&'a Condition>,
        random: &'a mut RandomSource,
        counts: &'a mut RuleCounts,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, SampleError>> + 'a, SampleError> {
        let wanted = condition
            .map(|condition| Wanted::find(&self.encoder, condition))
            .transpose()?;
        let (mut found, mut drawn, mut is_over) = (0, 0, false);
        let has_rules = !self.encoder.schema().rule.is_empty();
        Ok(std::iter::from_fn(move || {
            while found < rows && !is_over {
                let left = rows - found;
                let count = if wanted.is_some() { BATCH } else { left.min(BATCH) };
                drawn += count;
                match self.batch(count, left, wanted.as_ref(), (&mut *random, &mut *counts)) {
                    Ok(batch) if batch.num_rows() > 0 => {
                        found += batch.num_rows();
                        return Some(Ok(batch));
                    }
                    Ok(_) => {}
                    Err(error) => {
                        is_over = true;
                        return Some(Err(error));
                    }
                }
                if drawn < LEAST_TRIES.max(found.max(1).saturating_mul(MOST_TRIES)) {
                    continue;
                }
                if has_rules && wanted.is_none() {
                    is_over = true;
                    return Some(Err(SampleError::Rules {
                        found,
                        drawn,
                        wanted: rows,
                    }));
                }
                if let Some(Wanted { condition, .. }) = &wanted {
                    is_over = true;
                    let Condition { column, value } = (*condition).clone();
                    return Some(Err(SampleError::TooRare {
                        column,
                        value,
                        found,
                        drawn,
                        wanted: rows,
                    }));
                }
            }
            None
        }))
    }

    /// Draws `count` rows and keeps at most `left` that are wanted.
    fn batch(
        &self,
        count: usize,
        left: usize,
        wanted: Option<&Wanted<'_>>,
        (random, counts): (&mut RandomSource, &mut RuleCounts),
    ) -> Result<RecordBatch, SampleError> {
        let mut encoded = self.sample_encoded(count, random);
        if let Some(wanted) = wanted {
            let per_row = encoded.codes_per_row();
            let codes = encoded
                .codes
                .iter()
                .skip(wanted.block)
                .step_by(per_row)
                .enumerate();
            let matching = codes
                .filter(|(_, code)| **code == wanted.code)
                .map(|(row, _)| row);
            encoded = encoded.select(&matching.take(left).collect::<Vec<_>>());
        }
        let batch = self.encoder.keep_rules(self.decode(&encoded, random)?, counts)?;
        match wanted {
            Some(wanted) if self.decides(&wanted.condition.column) => Ok(wanted.condition.kept(&batch)?),
            _ => Ok(batch),
        }
    }

    /// Whether a rule may have changed a category.
    fn decides(&self, name: &str) -> bool {
        let rules = &self.encoder.schema().rule;
        rules
            .iter()
            .any(|rule| matches!(rule, Rule::Decides { column, .. } if column == name))
    }
}

impl Condition {
    /// The rows that meet it, of decoded ones with a category in its column.
    fn kept(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let missing = || ArrowError::SchemaError(format!("no column `{}`", self.column));
        let column = batch.column_by_name(&self.column).ok_or_else(missing)?;
        let texts = cast(column, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>();
        let meets = texts
            .iter()
            .map(|text| Some(text.unwrap_or_default() == self.value));
        filter_record_batch(batch, &meets.collect())
    }

    /// Whether rows of this encoder can meet the condition: to be asked before budget is spent.
    ///
    /// # Errors
    /// When it names no column that can have one, or a value that the column never has.
    pub fn check(&self, encoder: &RowEncoder) -> Result<(), SampleError> {
        Wanted::find(encoder, self).map(drop)
    }
}

impl<'a> Wanted<'a> {
    fn find(encoder: &RowEncoder, condition: &'a Condition) -> Result<Self, SampleError> {
        let unknown = || SampleError::Column(condition.column.clone());
        let schema = encoder.schema();
        let column = schema.position(&condition.column).ok_or_else(unknown)?;
        if schema.column[column].kind.is_numeric() {
            return Err(unknown());
        }
        let one_hot = encoder.blocks().iter().filter(|block| block.is_one_hot());
        let (index, block) = one_hot
            .enumerate()
            .find(|(_, block)| block.column() == column)
            .ok_or_else(unknown)?;
        let labels = encoder.labels(block);
        match labels.iter().position(|label| *label == condition.value) {
            Some(code) => Ok(Self {
                condition,
                block: index,
                code: code as u16,
            }),
            None => Err(SampleError::Value {
                column: condition.column.clone(),
                value: condition.value.clone(),
                known: labels
                    .iter()
                    .map(|label| format!("`{label}`"))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }
}
