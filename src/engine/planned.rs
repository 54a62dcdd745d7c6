//! From a request to a plan, and from a plan to what trains: a table's rows or images.

use crate::data::{
    EncoderSettings, PersonRows, Provenance, Room, RowEncoder, Schema, StoredRows, Table, persons,
};
use crate::engine::command::{Method, PrivacyTarget, RunRequest};
use crate::engine::event::{Area, Problem};
use crate::engine::snapshot::Dataset;
use crate::message;
use crate::num::machine::free_memory;
use crate::num::{Delta, Message, Progress, RandomSource};
use crate::privacy::{EventList, Neighboring};
use crate::train::image::{ImageMethod, ImagePlan, ImageSettings, ImageTraining, TrainImages};
use crate::train::keep::Life;
use crate::train::pairs::{PairPlan, PairSettings, PairTraining, TableRelease};
use crate::train::{
    Control, DeviceKind, Observation, Plan, PlanError, PlanSummary, PlanWarning, Privacy, RunSettings,
    TrainError, TrainSettings, Trained, Training, describe, known_units, recommended, rounded_up,
};

/// A checked and calibrated run, by what it learns from.
pub(super) enum Planned {
    Table(Box<Plan>),
    Pairs(Box<PairPlan>),
    Images(Box<ImagePlan>),
}

impl Planned {
    /// Plans the run that is asked for on a data set.
    pub fn of(request: &RunRequest, dataset: &Dataset) -> Result<Self, Problem> {
        match (&dataset.images, request.method.release()) {
            (None, Some(release)) => {
                let settings = pair_settings_for(request, release)?;
                let privacy = privacy_of(request, &dataset.schema);
                PairPlan::new(
                    release,
                    &settings,
                    &dataset.schema,
                    units(request, &dataset.schema, &dataset.table)?,
                    privacy,
                )
                .map(|plan| Self::Pairs(Box::new(plan)))
                .map_err(|error| Problem::new(Area::Train, &error))
            }
            (None, None) => plan_for(
                request,
                &dataset.schema,
                units(request, &dataset.schema, &dataset.table)?,
            )
            .map(|plan| Self::Table(Box::new(plan))),
            (Some(images), _) => {
                let method = image_method(request.method)?;
                let settings = image_settings_for(request, method)?;
                let privacy = privacy_of(request, &dataset.schema);
                let plan = ImagePlan::new(method, &settings, &dataset.schema, images, privacy)
                    .map_err(|error| Problem::new(Area::Train, &error))?;
                check_memory(plan.memory(), free_memory())?;
                Ok(Self::Images(Box::new(plan)))
            }
        }
    }

    pub fn summary(&self) -> PlanSummary {
        match self {
            Self::Table(plan) => plan.summary(),
            Self::Pairs(plan) => plan.summary(),
            Self::Images(plan) => plan.summary(),
        }
    }

    pub fn warnings(&self) -> &[PlanWarning] {
        match self {
            Self::Table(plan) => plan.warnings(),
            Self::Pairs(plan) => plan.warnings(),
            Self::Images(plan) => plan.warnings(),
        }
    }

    pub fn events(&self) -> EventList {
        match self {
            Self::Table(plan) => plan.events(),
            Self::Pairs(plan) => plan.events(),
            Self::Images(plan) => plan.events(),
        }
    }

    pub fn epsilon(&self) -> Option<f64> {
        match self {
            Self::Table(plan) => plan.epsilon(),
            Self::Pairs(plan) => plan.epsilon(),
            Self::Images(plan) => plan.epsilon(),
        }
    }

    pub fn delta(&self) -> Option<Delta> {
        match self {
            Self::Table(plan) => plan.delta(),
            Self::Pairs(plan) => plan.delta(),
            Self::Images(plan) => plan.delta(),
        }
    }

    pub fn steps(&self) -> u64 {
        match self {
            Self::Table(plan) => plan.steps(),
            Self::Pairs(plan) => plan.steps(),
            Self::Images(plan) => plan.steps(),
        }
    }

    /// Brings the rows or images into the form that is trained on. Where persons are the unit of a promise, the rows
    /// that count of those who have too many are drawn now.
    pub fn encode(self, dataset: &Dataset, room: &Room, random: &mut RandomSource) -> Result<Ready, Problem> {
        let persons = self.epsilon().map(|_| random);
        let failed = |error| Problem::new(Area::Train, &error);
        match (self, &dataset.images) {
            (Self::Images(plan), Some(images)) => {
                let images = TrainImages::new(images.clone(), &dataset.schema).map_err(failed)?;
                Ok(Ready::Images(plan, Box::new(images)))
            }
            (Self::Table(plan), _) => {
                let (encoder, rows) = encoded(dataset, plan.encoder_settings(), (room, persons))?;
                Ok(Ready::Table(plan, encoder, rows))
            }
            (Self::Pairs(plan), _) => {
                let (encoder, rows) = encoded(dataset, plan.encoder_settings(), (room, persons))?;
                Ok(Ready::Pairs(plan, encoder, rows))
            }
            (Self::Images(_), None) => Err(Problem::plain(
                Area::Train,
                Message::plain("the data set has no images"),
            )),
        }
    }
}

/// A run that the machine has no room for is refused before anything is spent on it.
fn check_memory(needed: u64, free: Option<u64>) -> Result<(), Problem> {
    let Some(free) = free.filter(|free| needed > *free) else {
        return Ok(());
    };
    let gigabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e9);
    Err(Problem::plain(
        Area::Train,
        message!(
            "say-memory",
            "this run would take about {needed} GB of memory, and {free} GB are free: choose narrower layers, smaller batches or fewer frequencies, or close other programs",
            needed = gigabytes(needed),
            free = gigabytes(free)
        ),
    ))
}

type Encoded = (Box<RowEncoder>, Box<StoredRows>);

/// The table's rows, encoded, and what encoded them; person by person if there is randomness to draw rows with and
/// persons are the unit.
fn encoded(
    dataset: &Dataset,
    settings: &EncoderSettings,
    (room, random): (&Room, Option<&mut RandomSource>),
) -> Result<Encoded, Problem> {
    let failed = |error| Problem::new(Area::Train, &error);
    let (schema, table) = (&dataset.schema, &dataset.table);
    let encoder = RowEncoder::new(schema, settings).map_err(failed)?;
    let drawn = match (&schema.unit, random) {
        (Some(unit), Some(random)) => Some(PersonRows::drawn(table, schema, unit, random).map_err(failed)?),
        _ => None,
    };
    let rows = encoder
        .store(table, drawn, room, &Progress::default())
        .map_err(failed)?;
    Ok((Box::new(encoder), Box::new(rows)))
}

/// How many units a run on a table draws from: persons, if they are the unit of its promise, or rows.
pub(super) fn units(request: &RunRequest, schema: &Schema, table: &Table) -> Result<usize, Problem> {
    if request.target.is_none() {
        return Ok(table.rows());
    }
    persons(table, schema).map_err(|error| Problem::new(Area::Train, &error))
}

/// All that a run needs.
pub(super) enum Ready {
    Table(Box<Plan>, Box<RowEncoder>, Box<StoredRows>),
    Pairs(Box<PairPlan>, Box<RowEncoder>, Box<StoredRows>),
    Images(Box<ImagePlan>, Box<TrainImages>),
}

impl Ready {
    /// Numbers outside their bounds: a private figure.
    pub fn clamped_cells(&self) -> u64 {
        match self {
            Self::Table(_, _, rows) | Self::Pairs(_, _, rows) => rows.clamped_cells(),
            Self::Images(..) => 0,
        }
    }

    /// Trains to the end. What only somebody who watches needs is left out where nobody does.
    pub fn train(
        self,
        (device, watched): (DeviceKind, bool),
        random: RandomSource,
        life: Life,
        control: &Control,
        observe: &mut dyn FnMut(Observation),
    ) -> Result<Trained, TrainError> {
        match self {
            Self::Table(plan, encoder, rows) => Training::new(*plan, *encoder, *rows, device, random)?
                .kept(life)
                .run(control, observe),
            Self::Pairs(plan, encoder, rows) => PairTraining::new(*plan, *encoder, *rows, device, random)?
                .kept(life)
                .run(control, observe),
            Self::Images(plan, images) => {
                let training = ImageTraining::new(*plan, *images, device, random)?;
                training.with_figures(watched).kept(life).run(control, observe)
            }
        }
    }
}

/// How the method learns from images.
fn image_method(method: Method) -> Result<ImageMethod, Problem> {
    method.on_images().ok_or_else(|| {
        let error = PlanError::Method {
            method: method.name(),
            data: "images",
            instead: "dp-merf",
        };
        Problem::new(Area::Train, &error)
    })
}

/// The promise asked for, as it can be made on this data.
fn privacy_of(request: &RunRequest, schema: &Schema) -> Privacy {
    match request.target {
        Some(target) => Privacy::Private {
            epsilon: target.epsilon,
            delta: target.delta,
            neighboring: relation_under(schema, target.neighboring),
        },
        None => Privacy::None,
    }
}

/// Settings that came with a recipe for another kind of data or another method.
fn other_settings() -> Problem {
    Problem::plain(
        Area::Train,
        message!(
            "say-other-settings",
            "these settings are for another method or kind of data than the one at hand; leave them out, or take a recipe for it"
        ),
    )
}

/// A setting that the method does not look at.
fn unused(method: Method, key: &str) -> Problem {
    Problem::plain(
        Area::Train,
        message!(
            "say-setting-unused",
            "the method `{method}` does not look at the setting `{key}`; leave it out",
            method = method.name(),
            key = key
        ),
    )
}

fn pair_settings_for(request: &RunRequest, release: TableRelease) -> Result<PairSettings, Problem> {
    let mut settings = match &request.settings {
        Some(RunSettings::Pairs(settings)) => settings.clone(),
        Some(_) => return Err(other_settings()),
        None => PairSettings::recommended(release),
    };
    for (key, value) in &request.overrides {
        if !release.uses(key) {
            return Err(unused(request.method, key));
        }
        describe::set_text(&mut settings, key, value).map_err(|error| Problem::new(Area::Train, &error))?;
    }
    Ok(settings)
}

fn image_settings_for(request: &RunRequest, method: ImageMethod) -> Result<ImageSettings, Problem> {
    let epsilon = request.target.map(|target| target.epsilon);
    let mut settings = match &request.settings {
        Some(RunSettings::Images(settings)) => settings.clone(),
        Some(_) => return Err(other_settings()),
        None => ImageSettings::recommended(method, epsilon),
    };
    for (key, value) in &request.overrides {
        if !method.uses(key) {
            return Err(unused(request.method, key));
        }
        describe::set_text(&mut settings, key, value).map_err(|error| Problem::new(Area::Train, &error))?;
    }
    Ok(settings)
}

/// The plan of a request: the settings asked for, or the recommended ones, and single changes to them.
pub(super) fn plan_for(request: &RunRequest, schema: &Schema, units: usize) -> Result<Plan, Problem> {
    if request.method == Method::WganGp {
        let error = PlanError::Method {
            method: request.method.name(),
            data: "tables",
            instead: "gan",
        };
        return Err(Problem::new(Area::Train, &error));
    }
    let privacy = privacy_of(request, schema);
    let settings = settings_for(request, schema, units)?;
    Plan::new(&settings, schema, units, privacy).map_err(|error| {
        Problem::new(
            Area::Train,
            &with_an_epsilon_that_works(error, request, schema, units),
        )
    })
}

/// Recommended settings change with ε, so the smallest ε under those of a tiny one need not work under its own: it is
/// raised until it does.
fn with_an_epsilon_that_works(
    error: PlanError,
    request: &RunRequest,
    schema: &Schema,
    units: usize,
) -> PlanError {
    const TRIES: usize = 20;
    let (&PlanError::BudgetTooSmall { epsilon, smallest }, Some(target)) = (&error, request.target) else {
        return error;
    };
    let mut smallest = smallest;
    for _ in 0..TRIES {
        let told = rounded_up(smallest);
        let target = PrivacyTarget {
            epsilon: told,
            ..target
        };
        let attempt = RunRequest {
            target: Some(target),
            ..request.clone()
        };
        let privacy = Privacy::Private {
            epsilon: told,
            delta: target.delta,
            neighboring: relation_under(schema, target.neighboring),
        };
        let planned = settings_for(&attempt, schema, units)
            .map(|settings| Plan::new(&settings, schema, units, privacy));
        if let Ok(Err(PlanError::BudgetTooSmall { smallest: next, .. })) = planned {
            smallest = next.max(told * 1.005);
        } else {
            smallest = told;
            break;
        }
    }
    PlanError::BudgetTooSmall { epsilon, smallest }
}

/// The relation under which a run's promise on this data is made.
///
/// With one row or person more or less their number differs too, and is private. Where it is public knowledge, neighbours
/// have the same number, and "one more or less" becomes "one zeroed out", with the same figures.
pub fn relation_under(schema: &Schema, asked: Neighboring) -> Neighboring {
    let is_public = schema
        .known_units()
        .is_some_and(|rows| rows.provenance == Provenance::Declared);
    match asked {
        Neighboring::AddRemoveOne if is_public => Neighboring::ZeroOutOne,
        other => other,
    }
}

fn settings_for(request: &RunRequest, schema: &Schema, units: usize) -> Result<TrainSettings, Problem> {
    let epsilon = request.target.map(|target| target.epsilon);
    let mut settings = match (&request.settings, epsilon) {
        (Some(RunSettings::Table(settings)), _) => settings.clone(),
        (Some(_), _) => return Err(other_settings()),
        (None, Some(epsilon)) => recommended(known_units(schema, units), schema, epsilon),
        (None, None) => TrainSettings::default(),
    };
    // Marginals first: other recommendations follow from them, and what is set by hand stands above those.
    let (marginals, others): (Vec<_>, Vec<_>) =
        (request.overrides.iter()).partition(|(key, _)| key == "marginals");
    for (key, value) in marginals.into_iter().chain(others) {
        describe::set_text(&mut settings, key, value).map_err(|error| Problem::new(Area::Train, &error))?;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_beyond_the_machines_memory_is_refused_with_both_figures() {
        assert!(check_memory(5_000_000_000, Some(6_000_000_000)).is_ok());
        assert!(
            check_memory(5_000_000_000, None).is_ok(),
            "nothing is known of the machine"
        );
        let refused = check_memory(5_000_000_000, Some(4_200_000_000)).unwrap_err();
        let said = refused.message.to_string();
        assert!(said.contains("5.0 GB") && said.contains("4.2 GB"), "{said}");
    }
}
