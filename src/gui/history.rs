//! What was chosen before: one drag, one typed number, one choice is one step back, whichever page it was made on.

use std::sync::Arc;

use crate::data::{Provenance, Schema};
use crate::engine::command::{Condition, RunId, RunRequest};
use crate::gui::command::Page;
use crate::gui::pages::explore::ExploreSettings;
use crate::gui::pages::privacy::PrivacyChoices;

/// How many steps are kept.
const KEPT: usize = 200;

/// All that a person has chosen and can take back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The schema under review.
    pub schema: SchemaChoice,
    /// The question that is explored.
    pub explore: ExploreSettings,
    /// The plan.
    pub plan: RunRequest,
    /// The export's form, apart from the path, which has the undo of a text.
    pub export: ExportChoices,
    /// What the privacy page reads and supposes.
    pub privacy: PrivacyChoices,
}

/// The export's form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportChoices {
    /// The run whose generator draws the rows.
    pub run: Option<RunId>,
    /// How many rows; `None` while nobody has said.
    pub rows: Option<usize>,
    /// Which rows only.
    pub condition: Option<Condition>,
}

/// The schema of the open table, and which table that is.
#[derive(Clone, Debug, Default)]
pub struct SchemaChoice(pub Option<(u64, Arc<Schema>)>);

impl PartialEq for SchemaChoice {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            // The engine hands the same schema out until it changes, so most comparisons end at the address.
            (Some(one), Some(other)) => {
                one.0 == other.0 && (Arc::ptr_eq(&one.1, &other.1) || one.1 == other.1)
            }
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl SchemaChoice {
    fn table(&self) -> Option<u64> {
        self.0.as_ref().map(|known| known.0)
    }

    /// What budget has bought for the schema. It is paid for, so no step back takes it away.
    fn bought(&self) -> Vec<&crate::data::Column> {
        self.0.as_ref().map_or_else(Vec::new, |known| {
            let columns = known.1.column.iter();
            columns
                .filter(|column| column.provenance == Some(Provenance::Bought))
                .collect()
        })
    }

    fn bought_rows(&self) -> Option<u64> {
        let rows = self.0.as_ref()?.1.rows?;
        (rows.provenance == Provenance::Bought).then_some(rows.value)
    }
}

impl Choices {
    /// The page on which two sets of choices differ first.
    pub fn page_of_difference(&self, other: &Self) -> Page {
        if self.schema != other.schema {
            Page::Data
        } else if self.explore != other.explore {
            Page::Explore
        } else if self.export != other.export {
            Page::Export
        } else if self.privacy != other.privacy {
            Page::Privacy
        } else {
            Page::Train
        }
    }
}

/// The choices before and after the present ones.
#[derive(Default)]
pub struct History {
    before: Vec<Choices>,
    after: Vec<Choices>,
    settled: Option<Choices>,
    /// The schema that the engine still shows although another one was asked for.
    stale: Option<SchemaChoice>,
}

impl History {
    /// Looks at the choices after a frame. A change counts as made once nothing is held down.
    pub fn observe(&mut self, mut now: Choices, held: bool) {
        let Some(settled) = &mut self.settled else {
            self.settled = Some(now);
            return;
        };
        // The device is no part of the plan's form.
        settled.plan.device = now.plan.device;
        if now.schema.table() != settled.schema.table() {
            // Another table: what was chosen for the last one does not fit it.
            *self = Self {
                settled: Some(now),
                ..Self::default()
            };
            return;
        }
        if self.stale.as_ref() == Some(&now.schema) {
            now.schema = settled.schema.clone();
        } else {
            self.stale = None;
        }
        if held || *settled == now {
            return;
        }
        if settled.schema.bought() != now.schema.bought()
            || settled.schema.bought_rows() != now.schema.bought_rows()
        {
            self.before.clear();
            self.after.clear();
            *settled = now;
            return;
        }
        self.before.push(std::mem::replace(settled, now));
        if self.before.len() > KEPT {
            self.before.remove(0);
        }
        self.after.clear();
    }

    /// Takes in a plan that the program changed by itself: no step to take back.
    pub fn absorb(&mut self, plan: &RunRequest) {
        if let Some(settled) = &mut self.settled {
            settled.plan.clone_from(plan);
        }
    }

    /// The choices before the last change and those left by going back, if there was a change.
    pub fn back(&mut self) -> Option<(Choices, Choices)> {
        let wanted = self.before.pop()?;
        let left = self.turn_to(&wanted)?;
        self.after.push(left.clone());
        Some((wanted, left))
    }

    /// The choices after the change that was last taken back, and those left by making it again.
    pub fn forth(&mut self) -> Option<(Choices, Choices)> {
        let wanted = self.after.pop()?;
        let left = self.turn_to(&wanted)?;
        self.before.push(left.clone());
        Some((wanted, left))
    }

    fn turn_to(&mut self, wanted: &Choices) -> Option<Choices> {
        let left = self.settled.replace(wanted.clone())?;
        if left.schema != wanted.schema {
            self.stale = Some(left.schema.clone());
        }
        Some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples;
    use crate::engine::command::PrivacyTarget;

    fn at(epsilon: f64) -> Choices {
        Choices {
            plan: RunRequest {
                target: Some(PrivacyTarget {
                    epsilon,
                    ..PrivacyTarget::default()
                }),
                ..RunRequest::default()
            },
            ..Choices::default()
        }
    }

    fn went(step: Option<(Choices, Choices)>) -> Option<Choices> {
        step.map(|(wanted, _)| wanted)
    }

    #[test]
    fn a_drag_is_one_step_and_can_be_made_again() {
        let mut history = History::default();
        history.observe(at(1.0), false);
        for epsilon in [1.2, 1.7, 2.4] {
            history.observe(at(epsilon), true);
        }
        history.observe(at(2.4), false);
        history.observe(at(3.0), false);
        assert_eq!(went(history.back()), Some(at(2.4)));
        assert_eq!(went(history.back()), Some(at(1.0)));
        assert_eq!(went(history.back()), None);
        assert_eq!(went(history.forth()), Some(at(2.4)));
        // A new change forgets what was taken back.
        history.observe(at(5.0), false);
        assert_eq!(went(history.forth()), None);
        assert_eq!(went(history.back()), Some(at(2.4)));
    }

    fn with_schema(table: u64, schema: &Schema) -> Choices {
        Choices {
            schema: SchemaChoice(Some((table, Arc::new(schema.clone())))),
            ..Choices::default()
        }
    }

    fn schema() -> Schema {
        samples::find("german_credit").unwrap().schema().unwrap()
    }

    #[test]
    fn a_schema_that_the_engine_has_not_taken_back_yet_is_no_new_step() {
        let first = schema();
        let mut second = first.clone();
        second.label = None;
        let mut history = History::default();
        history.observe(with_schema(1, &first), false);
        history.observe(with_schema(1, &second), false);
        let (wanted, left) = history.back().unwrap();
        assert_eq!(wanted.page_of_difference(&left), Page::Data);
        assert_eq!(wanted, with_schema(1, &first));
        // The snapshot is older than the command.
        history.observe(with_schema(1, &second), false);
        history.observe(with_schema(1, &first), false);
        assert_eq!(went(history.forth()), Some(with_schema(1, &second)));
    }

    #[test]
    fn another_table_and_what_was_bought_end_the_way_back() {
        let first = schema();
        let mut second = first.clone();
        second.label = None;
        let mut bought = second.clone();
        bought.column[0].provenance = Some(Provenance::Bought);
        let mut history = History::default();
        history.observe(with_schema(1, &first), false);
        history.observe(with_schema(1, &second), false);
        history.observe(with_schema(1, &bought), false);
        assert_eq!(went(history.back()), None);
        history.observe(with_schema(1, &first), false);
        history.observe(with_schema(2, &first), false);
        assert_eq!(went(history.back()), None);
    }
}
