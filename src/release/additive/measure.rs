//! The exact sums behind an answer, by one walk over the rows.

use super::{Presence, Spread};
use crate::data::{NO_VALUE, NumberedTexts, Schema, Table};
use crate::release::error::ReleaseError;
use crate::release::tally::{Moments, each_row};

pub fn count_rows(table: &Table, (rows, groups): (Option<&[u32]>, usize)) -> Vec<i128> {
    let Some(rows) = rows else {
        return vec![table.rows() as i128];
    };
    let mut counts = vec![0_i128; groups];
    for &group in rows.iter().filter(|&&group| group != NO_VALUE) {
        counts[group as usize] += 1;
    }
    counts
}

impl Presence {
    pub fn count(
        &self,
        schema: &Schema,
        table: &Table,
        (rows, groups): (Option<&[u32]>, usize),
    ) -> Result<Vec<i128>, ReleaseError> {
        let mut counts = vec![0_i128; groups];
        match self {
            Self::Number(reader) => each_row(
                rows,
                |sink| reader.read(table, sink),
                |group, position: f64| counts[group] += i128::from(!position.is_nan()),
            )?,
            Self::Text(name) => {
                let texts = NumberedTexts::read(table, schema, name)?;
                each_row(
                    rows,
                    |sink| {
                        sink(&texts.rows);
                        Ok(())
                    },
                    |group, text: u32| counts[group] += i128::from(text != NO_VALUE),
                )?;
            }
        }
        Ok(counts)
    }
}

impl Spread {
    pub fn measure(
        &self,
        table: &Table,
        groups: (Option<&[u32]>, usize),
        with_squares: bool,
    ) -> Result<Vec<Vec<i128>>, ReleaseError> {
        let found = Moments::of(table, &self.line, self.centre, groups, with_squares)?;
        let mut sums = vec![found.first];
        if with_squares {
            sums.push(found.second);
        }
        if self.known_count.is_none() {
            sums.push(found.count);
        }
        Ok(sums)
    }
}
