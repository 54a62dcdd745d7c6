//! A review that was made of a table, put on the same table with other columns.

use super::{Rule, Schema};

/// What of a review does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Columns that were reviewed and are not there any more.
    pub gone: Vec<String>,
    /// Columns that were not reviewed.
    pub new: Vec<String>,
}

impl Schema {
    /// This schema with what was reviewed of the columns that both have; the others stay as they are. What speaks of columns
    /// that are gone (a rule, the person's column, the label) goes with them. Nothing where no column is in both.
    pub fn reviewed_as(&self, review: &Self) -> Option<(Self, Changes)> {
        let names = |schema: &Self, other: &Self| -> Vec<String> {
            let columns = schema.column.iter().map(|column| &column.name);
            columns
                .filter(|name| other.find(name).is_none())
                .cloned()
                .collect()
        };
        let changes = Changes {
            gone: names(review, self),
            new: names(self, review),
        };
        if changes.new.len() == self.column.len() {
            return None;
        }
        let is_there = |name: &str| self.find(name).is_some();
        let column = self
            .column
            .iter()
            .map(|own| review.find(&own.name).unwrap_or(own));
        let reviewed = Self {
            column: column.cloned().collect(),
            label: review.label.clone().filter(|label| is_there(label)),
            unit: review.unit.clone().filter(|unit| is_there(&unit.column)),
            rule: review
                .rule
                .iter()
                .filter(|rule: &&Rule| rule.columns().into_iter().all(is_there))
                .cloned()
                .collect(),
            ..review.clone()
        };
        Some((reviewed, changes))
    }
}

#[cfg(test)]
mod tests {
    use crate::data::samples;
    use crate::data::schema::Unit;

    use super::*;

    #[test]
    fn what_fits_is_kept_and_what_does_not_is_told() {
        let mut review = samples::find("german_credit").unwrap().schema().unwrap();
        let mut table = review.clone();
        let names: Vec<String> = review.column.iter().map(|column| column.name.clone()).collect();
        review.column[1].missing = true;
        let unit = |column: &str| Unit {
            column: column.to_owned(),
            max_rows: 3,
            persons: None,
        };
        let rule = |lower: usize, upper: usize| Rule::Order {
            lower: names[lower].clone(),
            upper: names[upper].clone(),
        };
        review.unit = Some(unit(&names[0]));
        review.label = Some(names[2].clone());
        review.rule = vec![rule(0, 1), rule(1, 2)];
        assert_eq!(
            table.reviewed_as(&review),
            Some((review.clone(), Changes::default()))
        );
        // The first column has another name now, and the order is another one.
        table.column[0].name = "new".to_owned();
        table.column.swap(0, 5);
        let (reviewed, changes) = table.reviewed_as(&review).unwrap();
        assert_eq!(changes.gone, [names[0].clone()]);
        assert_eq!(changes.new, ["new"]);
        let order = |schema: &Schema| -> Vec<String> {
            schema.column.iter().map(|column| column.name.clone()).collect()
        };
        assert_eq!(order(&reviewed), order(&table));
        assert!(reviewed.find(&names[1]).unwrap().missing);
        assert_eq!(reviewed.find("new"), table.find("new"));
        assert_eq!((reviewed.unit, reviewed.label), (None, review.label.clone()));
        assert_eq!(reviewed.rule, [rule(1, 2)]);
        table.column.truncate(0);
        assert_eq!(table.reviewed_as(&review), None);
    }
}
