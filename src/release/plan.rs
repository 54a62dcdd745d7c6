//! Everything about a release that is decided before a row is read.

use crate::data::{Column, DataError, Kind, Provenance, Schema, Table};
use crate::message;
use crate::num::{Delta, Epsilon, RandomSource};
use crate::privacy::ledger::PrivacyUnit;
use crate::privacy::{EventList, Neighboring};

use super::additive::Additive;
use super::answer::Answer;
use super::bounds::BoundsSearch;
use super::categories::CategorySearch;
use super::error::ReleaseError;
use super::note::Note;
use super::persons::counts_persons;
use super::request::{Noise, Query, ReleaseRequest};
use super::selection::Choice;
use super::sensitivity::Neighbours;

/// More values than this are not released at once.
const MAX_CELLS: usize = 1_000_000;

/// A validated release: what it does, what it costs, what it protects.
#[derive(Clone, Debug)]
pub struct ReleasePlan {
    schema: Schema,
    request: ReleaseRequest,
    noise: Noise,
    events: EventList,
    epsilon: f64,
    delta: f64,
    unprotected: Vec<String>,
    task: Task,
}

/// What a person may see of a release before paying for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The mechanism.
    pub noise: Noise,
    /// ε that is charged.
    pub epsilon: f64,
    /// δ that is charged.
    pub delta: f64,
    /// How many values are released.
    pub values: usize,
    /// The half-width of an interval, where it is known beforehand: of counts and sums, in the value's unit.
    pub half_width: Option<f64>,
}

#[derive(Clone, Debug)]
enum Task {
    Additive(Additive),
    Choice(Choice),
    Bounds(BoundsSearch),
    Categories(CategorySearch),
}

/// What a task needs to know of the request.
pub(super) struct Setting<'a> {
    pub schema: &'a Schema,
    pub request: &'a ReleaseRequest,
    /// The column, if the query has one.
    pub column: Option<&'a Column>,
    pub noise: Noise,
    pub neighbours: Neighbours,
    pub epsilon: Epsilon,
    pub delta: Delta,
}

impl Setting<'_> {
    /// The column of a query that needs one.
    pub fn column(&self) -> Result<&Column, ReleaseError> {
        self.column.ok_or(ReleaseError::NoColumn {
            query: self.request.query.name(),
        })
    }
}

impl ReleasePlan {
    /// Validates a request against the schema. Reads no rows.
    ///
    /// # Errors
    /// Says which column, number or mechanism stands in the way, and what to do.
    pub fn new(schema: &Schema, request: &ReleaseRequest) -> Result<Self, ReleaseError> {
        schema.validate()?;
        check_form(schema)?;
        let noise = request.check()?;
        let setting = setting(schema, request, noise)?;
        let (task, events, (epsilon, delta)) = plan_task(&setting)?;
        let unprotected = [request.column.as_deref(), request.by.as_deref()]
            .into_iter()
            .flatten()
            .filter(|name| is_unprotected(schema, request, name))
            .map(str::to_owned)
            .collect();
        Ok(Self {
            schema: schema.clone(),
            request: request.clone(),
            noise,
            events,
            epsilon,
            delta,
            unprotected,
            task,
        })
    }

    /// Reads the rows, adds noise and says what may be said.
    ///
    /// Charge [`ReleasePlan::events`] before calling it: from here on privacy is spent.
    ///
    /// # Errors
    /// When the table is not the schema's.
    pub fn run(&self, table: &Table, random: &mut RandomSource) -> Result<Answer, ReleaseError> {
        let mut answer = match &self.task {
            Task::Additive(task) => task.run(&self.schema, table, random)?,
            Task::Choice(task) => task.run(&self.schema, table, random)?,
            Task::Bounds(task) => task.run(&self.schema, table, random)?,
            Task::Categories(task) => task.run(&self.schema, table, random)?,
        };
        if self.schema.read_provenance() == Some(Provenance::Accepted) {
            answer.notes.push(Note::FormAccepted);
        }
        if let Some(unit) = &self.schema.unit {
            let column = unit.column.clone();
            answer.notes.push(if counts_persons(&self.schema, &self.request) {
                Note::PersonsOnce { column }
            } else {
                Note::FirstRows {
                    column,
                    max_rows: unit.max_rows,
                }
            });
        }
        Ok(answer)
    }

    /// The request.
    pub fn request(&self) -> &ReleaseRequest {
        &self.request
    }

    /// All that happens to private data, under the relation of the promise.
    pub fn events(&self) -> &EventList {
        &self.events
    }

    /// The relation of the promise.
    pub fn neighboring(&self) -> Neighboring {
        self.events.neighboring
    }

    /// ε of the promise: at most what was asked.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// δ of the promise: 0 where the mechanism needs none.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The mechanism.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Whose presence is hidden.
    pub fn unit(&self) -> PrivacyUnit {
        match &self.schema.unit {
            None => PrivacyUnit::Row,
            Some(unit) => PrivacyUnit::Person {
                column: unit.column.clone(),
                max_rows: u64::from(unit.max_rows),
            },
        }
    }

    /// Columns whose bounds or values were read off the rows and let stand: they are used, and not protected.
    pub fn unprotected_columns(&self) -> &[String] {
        &self.unprotected
    }

    /// What can be told before anything is paid.
    pub fn preview(&self) -> Preview {
        let (values, half_width) = match &self.task {
            Task::Additive(task) => (task.cells(), task.half_width()),
            Task::Choice(task) => (task.cells(), None),
            Task::Bounds(_) => (2, None),
            Task::Categories(_) => (1, None),
        };
        Preview {
            noise: self.noise,
            epsilon: self.epsilon,
            delta: self.delta,
            values,
            half_width,
        }
    }

    #[cfg(test)]
    pub(super) fn additive(&self) -> Option<&Additive> {
        match &self.task {
            Task::Additive(task) => Some(task),
            _ => None,
        }
    }

    #[cfg(test)]
    pub(super) fn choice(&self) -> Option<&Choice> {
        match &self.task {
            Task::Choice(task) => Some(task),
            _ => None,
        }
    }

    #[cfg(test)]
    pub(super) fn bounds(&self) -> Option<&BoundsSearch> {
        match &self.task {
            Task::Bounds(task) => Some(task),
            _ => None,
        }
    }
}

/// A checked request against its schema.
pub(super) fn setting<'a>(
    schema: &'a Schema,
    request: &'a ReleaseRequest,
    noise: Noise,
) -> Result<Setting<'a>, ReleaseError> {
    let column = match &request.column {
        // Its cells are nobody's values: they only tell whose rows are whose.
        Some(_) if counts_persons(schema, request) => None,
        Some(name) => Some(find_column(schema, name)?),
        None => None,
    };
    check_groups(schema, request)?;
    Ok(Setting {
        schema,
        request,
        column,
        noise,
        neighbours: neighbours(schema, request),
        epsilon: Epsilon::new(request.epsilon)?,
        delta: Delta::new(request.delta)?,
    })
}

fn find_column<'a>(schema: &'a Schema, name: &str) -> Result<&'a Column, ReleaseError> {
    let column = schema.find(name).ok_or_else(|| ReleaseError::UnknownColumn {
        column: name.to_owned(),
        known: schema
            .column
            .iter()
            .map(|column| format!("`{}`", column.name))
            .collect::<Vec<_>>()
            .join(", "),
    })?;
    if column.is_used() {
        Ok(column)
    } else {
        Err(ReleaseError::Dropped {
            column: name.to_owned(),
            kind: column.kind.as_str(),
        })
    }
}

/// Refuses a column whose bounds or values nobody has decided on.
pub(super) fn check_decided(column: &Column) -> Result<(), ReleaseError> {
    let Some(why) = column.open_reason() else {
        return Ok(());
    };
    let column_name = column.name.clone();
    Err(match column.kind {
        // Two spellings are declared sooner than bought.
        Kind::Boolean => ReleaseError::OpenBoolean {
            column: column_name,
            why,
        },
        kind => ReleaseError::Open {
            column: column_name,
            why,
            buy: if kind == Kind::Categorical {
                "categories"
            } else {
                "bounds"
            },
        },
    })
}

/// What every row is read by must be as decided as what the query uses.
fn check_form(schema: &Schema) -> Result<(), ReleaseError> {
    if schema.read_provenance() != Some(Provenance::Suggested) {
        return Ok(());
    }
    Err(ReleaseError::Data(DataError::Schema {
        place: message!("place-schema", "schema"),
        message: message!(
            "form-open",
            "how the file is read was found in the file, so nothing may rest on it yet: declare it, or accept it \
             (`[read]` in the schema, or on the Data page)"
        ),
    }))
}

fn check_groups(schema: &Schema, request: &ReleaseRequest) -> Result<(), ReleaseError> {
    let Some(by) = &request.by else { return Ok(()) };
    let column = find_column(schema, by)?;
    if !matches!(column.kind, Kind::Categorical | Kind::Boolean) {
        return Err(ReleaseError::NoGroups {
            column: by.clone(),
            kind: column.kind.as_str(),
        });
    }
    check_decided(column)
}

/// Whether the release relies on what was read off a column's rows. A count of cells needs neither bounds nor
/// values, and what is bought does not rely on what was there before.
fn is_unprotected(schema: &Schema, request: &ReleaseRequest, name: &str) -> bool {
    let relies = request.by.as_deref() == Some(name)
        || !matches!(request.query, Query::Count | Query::Bounds | Query::Categories);
    relies
        && schema
            .find(name)
            .and_then(|column| column.provenance)
            .is_some_and(|provenance| !provenance.is_protected())
}

/// The relation under which a statistic's promise on this data is made: under add/remove one with a public row count,
/// neighbours have that many rows, and one becomes blank.
pub fn relation_under(schema: &Schema, asked: Neighboring) -> Neighboring {
    let rows_are_public = schema
        .rows
        .is_some_and(|rows| rows.provenance == Provenance::Declared);
    match asked {
        Neighboring::ReplaceOne => Neighboring::ReplaceOne,
        _ if rows_are_public => Neighboring::ZeroOutOne,
        _ => Neighboring::AddRemoveOne,
    }
}

fn neighbours(schema: &Schema, request: &ReleaseRequest) -> Neighbours {
    Neighbours {
        relation: relation_under(schema, request.neighboring),
        max_rows: match &schema.unit {
            // A person counts once, with however many rows.
            Some(_) if counts_persons(schema, request) => 1,
            Some(unit) => u64::from(unit.max_rows),
            None => 1,
        },
    }
}

type Planned = (Task, EventList, (f64, f64));

fn plan_task(setting: &Setting<'_>) -> Result<Planned, ReleaseError> {
    Ok(match setting.request.query {
        Query::Quantile { .. } | Query::Mode => {
            let task = Choice::new(setting)?;
            check_cells(task.cells())?;
            let events = task.events();
            (Task::Choice(task), events, (setting.epsilon.get(), 0.0))
        }
        Query::Bounds => {
            let (task, cost) = BoundsSearch::new(setting)?;
            (Task::Bounds(task), cost.events, (cost.epsilon, cost.delta))
        }
        Query::Categories => {
            let task = CategorySearch::new(setting)?;
            let events = task.events();
            let promise = (setting.epsilon.get(), setting.delta.get());
            (Task::Categories(task), events, promise)
        }
        _ => {
            let (task, cost) = Additive::new(setting)?;
            check_cells(task.cells())?;
            (Task::Additive(task), cost.events, (cost.epsilon, cost.delta))
        }
    })
}

fn check_cells(cells: usize) -> Result<(), ReleaseError> {
    if cells > MAX_CELLS {
        return Err(ReleaseError::TooManyCells {
            cells,
            most: MAX_CELLS,
        });
    }
    Ok(())
}
