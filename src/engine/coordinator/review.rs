//! The schema under review: changed, taken back, held against the rows, written.

use std::path::PathBuf;
use std::sync::Arc;

use crate::data::{Column, Provenance, RowCount, Schema};
use crate::engine::command::{ColumnEdit, SchemaEdit};
use crate::engine::coordinator::Coordinator;
use crate::engine::event::{Area, EngineEvent, Problem};
use crate::engine::loader::{Reading, Task};
use crate::export::check_not_input;
use crate::message;

/// Names that are told of a list.
const MOST_NAMES: usize = 8;

/// The first names of a list.
fn named(names: &[String]) -> String {
    match names {
        [] => "–".to_owned(),
        names if names.len() <= MOST_NAMES => names.join(", "),
        names => format!("{}, … ({})", names[..MOST_NAMES].join(", "), names.len()),
    }
}

impl Coordinator {
    pub(super) fn edit_schema(&mut self, edit: SchemaEdit) {
        let Some(dataset) = self.dataset.current() else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "say-schema-no-table",
                    "there is no open table whose schema could be changed"
                ),
            ));
        };
        // Another reading needs suggestions read off the rows, which the loader finds; the rest is done at once.
        let change = match &edit {
            SchemaEdit::Column {
                name,
                edit: ColumnEdit::Kind(kind),
            } => Some((name, Reading::Kind(*kind))),
            SchemaEdit::Column {
                name,
                edit: ColumnEdit::Format(format),
            } => Some((name, Reading::Format(format.clone()))),
            _ => None,
        };
        if let Some((name, change)) = change {
            let task = Task::Reprofile {
                generation: dataset.generation,
                table: dataset.table.clone(),
                schema: Arc::clone(&dataset.schema),
                column: name.clone(),
                change,
            };
            let _ = self.tasks.send(task);
            return;
        }
        let mut schema = (*dataset.schema).clone();
        let was_public = schema.public;
        match apply(&mut schema, edit) {
            Ok(()) => {
                let is_public = schema.public;
                self.replace_schema(schema);
                if is_public != was_public {
                    self.refresh_ledger();
                }
            }
            Err(problem) => self.fail(problem),
        }
    }

    /// Puts an earlier schema of the open table back. If its columns have changed since, what was reviewed of those that are
    /// still there comes back, and the rest is told; one of another table changes nothing.
    pub(super) fn restore_schema(&mut self, schema: &Schema) {
        let Some(dataset) = self.dataset.current() else {
            return;
        };
        if *schema == *dataset.schema {
            return;
        }
        let Some((reviewed, changes)) = dataset.schema.reviewed_as(schema) else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "schema-other-columns",
                    "the schema that was kept has other columns than this table; the table's own is used"
                ),
            ));
        };
        let was_public = dataset.schema.public;
        let is_public = reviewed.public;
        self.replace_schema(reviewed);
        if is_public != was_public {
            self.refresh_ledger();
        }
        if !changes.gone.is_empty() || !changes.new.is_empty() {
            self.tell(EngineEvent::Warning {
                run: None,
                area: Area::Schema,
                message: message!(
                    "schema-columns-changed",
                    "the table's columns have changed since its schema was reviewed; gone: {gone}; new, to be reviewed: {new}",
                    gone = named(&changes.gone),
                    new = named(&changes.new)
                ),
            });
        }
    }

    pub(super) fn replace_schema(&mut self, schema: Schema) {
        self.dataset.set_schema(schema);
        self.check_schema();
        // The plan that is shown was made for another schema: work it out anew.
        if let Some(shown) = self.plan.shown() {
            self.preview_plan(Box::new(shown.request.clone()));
        }
    }

    fn check_schema(&mut self) {
        if self.dataset.checking {
            return;
        }
        if let Some(dataset) = &self.dataset.current {
            self.dataset.checking = true;
            let task = Task::Check {
                generation: dataset.generation,
                revision: self.dataset.schema_revision,
                table: dataset.table.clone(),
                schema: Arc::clone(&dataset.schema),
            };
            let _ = self.tasks.send(task);
        }
    }

    pub(super) fn checked(&mut self, generation: u64, revision: u64, misfit: Option<Problem>) {
        self.dataset.checking = false;
        if revision != self.dataset.schema_revision {
            return self.check_schema();
        }
        if let Some(dataset) = &mut self.dataset.current
            && dataset.generation == generation
        {
            Arc::make_mut(dataset).misfit = misfit;
        }
    }

    pub(super) fn reprofiled(&mut self, generation: u64, suggestion: Result<Column, Problem>) {
        let Some(dataset) = self
            .dataset
            .current()
            .filter(|dataset| dataset.generation == generation)
        else {
            return;
        };
        let mut schema = (*dataset.schema).clone();
        match suggestion {
            Ok(column) => {
                if let Some(place) = schema.column.iter_mut().find(|known| known.name == column.name) {
                    *place = column;
                }
                self.replace_schema(schema);
            }
            Err(problem) => self.fail(problem),
        }
    }

    pub(super) fn save_schema(&mut self, path: Option<PathBuf>) {
        let Some(dataset) = self.dataset.current() else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "say-save-no-table",
                    "there is no open table whose schema could be saved"
                ),
            ));
        };
        let target = path
            .or_else(|| dataset.schema_path.clone())
            .or_else(|| dataset.path.as_deref().map(Schema::path_beside));
        let Some(target) = target else {
            return self.fail(Problem::plain(
                Area::Schema,
                message!(
                    "say-save-sample",
                    "this table ships with the program and has no folder; name a file for its schema"
                ),
            ));
        };
        let data: Vec<_> = dataset.path.as_deref().into_iter().collect();
        if let Err(error) = check_not_input(std::slice::from_ref(&target), &data) {
            return self.fail(Problem::new(Area::Schema, &error));
        }
        match dataset.schema.save(&target) {
            Ok(()) => {
                if let Some(dataset) = &mut self.dataset.current {
                    let dataset = Arc::make_mut(dataset);
                    dataset.schema_changed = false;
                    dataset.schema_path = Some(target.clone());
                }
                self.tell(EngineEvent::SchemaSaved(target));
            }
            Err(error) => self.fail(Problem::new(Area::Schema, &error)),
        }
    }
}

/// Makes a change to the schema.
fn apply(schema: &mut Schema, edit: SchemaEdit) -> Result<(), Problem> {
    match edit {
        SchemaEdit::Column { name, edit } => {
            let spelling = match &edit {
                ColumnEdit::MissingSpelling(text) => Some(text.clone()),
                _ => None,
            };
            let Some(column) = schema.find_mut(&name) else {
                return Err(Problem::plain(
                    Area::Schema,
                    message!(
                        "say-no-column",
                        "the schema has no column `{column}`",
                        column = name
                    ),
                ));
            };
            edit_column(column, edit);
            if let Some(text) = spelling.filter(|text| !schema.is_missing(text)) {
                schema.missing.push(text);
            }
            Ok(())
        }
        SchemaEdit::AcceptAllSuggestions => {
            schema.accept_suggestions();
            Ok(())
        }
        SchemaEdit::AcceptForm => {
            schema.accept_form();
            Ok(())
        }
        SchemaEdit::Label(label) => {
            schema.label = label;
            Ok(())
        }
        SchemaEdit::Unit(unit) => {
            schema.unit = unit;
            // The column that tells persons apart takes no part itself.
            if schema
                .unit
                .as_ref()
                .is_some_and(|unit| Some(&unit.column) == schema.label.as_ref())
            {
                schema.label = None;
            }
            Ok(())
        }
        SchemaEdit::Rows(rows) => {
            schema.rows = rows.map(|value| RowCount {
                value,
                provenance: Provenance::Declared,
            });
            Ok(())
        }
        SchemaEdit::Public(public) => {
            schema.public = public;
            Ok(())
        }
    }
}

fn edit_column(column: &mut Column, edit: ColumnEdit) {
    match edit {
        // The loader carries these two out, with suggestions read off the rows.
        ColumnEdit::Kind(kind) => column.set_kind(kind),
        ColumnEdit::Format(format) => column.format = format,
        ColumnEdit::Lower(bound) => column.type_lower(bound),
        ColumnEdit::Upper(bound) => column.type_upper(bound),
        ColumnEdit::Scale(scale) => column.scale = scale,
        ColumnEdit::Domain(domain) => column.declare_domain(domain),
        ColumnEdit::Missing(missing) => column.missing = missing,
        ColumnEdit::MissingSpelling(_) => column.missing = true,
        ColumnEdit::AcceptSuggestion => {
            column.accept_suggestion();
        }
        ColumnEdit::WithdrawAcceptance => {
            column.withdraw_acceptance();
        }
    }
}
