//! From a run that has ended to its certificate and its recipe.

use std::path::Path;
use std::sync::Arc;

use crate::data::Provenance;
use crate::engine::event::{Area, Problem};
use crate::engine::ledger_thread::LedgerHandle;
use crate::engine::run_job::FinishedRun;
use crate::engine::snapshot::{Dataset, RunClaims};
use crate::engine::{Method, PrivacyTarget, RunRequest};
use crate::export::certificate::{
    Certificate, CertificateFacts, Choices, DataSet, Domain, DomainColumn, NoiseKind, Records, Sampling,
    Software, Spending, Stop, SyntheticFile,
};
use crate::export::{Recipe, Written};
use crate::message;
use crate::num::{Delta, Epsilon, Message};
use crate::privacy::AccountantKind;
use crate::privacy::ledger::PrivacyUnit;
use crate::train::describe;
use crate::train::image::ImageSettings;
use crate::train::pairs::PairSettings;
use crate::train::{DeviceKind, RunSettings, StopReason, TrainSettings};

/// The certificate of a file drawn from a run's generator.
///
/// Every figure in it is public or released: the schema's declarations, the plan, the events and the ledger.
///
/// # Errors
/// When the events cannot be accounted, or the ledger cannot be read.
pub(super) fn certificate(
    finished: &FinishedRun,
    file: &Path,
    written: &Written,
    ledger: &LedgerHandle,
) -> Result<Certificate, Problem> {
    let facts = CertificateFacts {
        synthetic_file: SyntheticFile {
            name: file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            sha256: written.sha256.clone(),
            bytes: written.bytes,
            rows: written.rows,
        },
        spending: spending(finished, ledger)?,
        ..facts(finished)
    };
    let mut certificate = Certificate::issue(facts).map_err(|error| Problem::new(Area::Export, &error))?;
    if certificate.spending.is_some() {
        let seal = ledger.seal(certificate.digest.clone());
        certificate.seal = Some(seal.map_err(|error| Problem::new(Area::Ledger, &error))?);
    }
    Ok(certificate)
}

/// What the certificate of any file drawn from this run's generator will say of the run itself: worked out by the
/// same function that issues it, so that a window cannot say anything else.
///
/// # Errors
/// When the events cannot be accounted.
pub(super) fn claims(finished: &FinishedRun) -> Result<RunClaims, Problem> {
    let certificate =
        Certificate::issue(facts(finished)).map_err(|error| Problem::new(Area::Export, &error))?;
    Ok(RunClaims {
        guarantee: certificate.guarantee,
        relation: certificate.relation,
        unit: certificate.unit,
        records: certificate.records.unwrap_or_default(),
        not_protected: certificate.not_protected,
        not_accounted: certificate.not_accounted,
        schema: Arc::clone(&finished.dataset.schema),
        path: finished.dataset.path.clone(),
    })
}

/// All that does not depend on a file or on the ledger.
fn facts(finished: &FinishedRun) -> CertificateFacts {
    let schema = &finished.dataset.schema;
    let private = finished.request.method.is_private() && finished.plan.delta.is_some();
    let stop = finished.trained.stopped;
    CertificateFacts {
        data_set: DataSet {
            name: finished.dataset.name.clone(),
            description: String::new(),
            public: schema.public,
        },
        method: finished.request.method.name().into(),
        records: if finished.dataset.images.is_some() {
            Records::Images
        } else {
            Records::Rows
        },
        events: private.then(|| charged_events(finished)),
        delta: finished.plan.delta.unwrap_or(0.0),
        // One plan, made before the first look at the rows: the tightest accountant is right for it. (The plan was
        // calibrated by Rényi orders, whose ε is what the ledger charges, and never less than this one.)
        accountant: AccountantKind::Pld,
        unit: private.then(|| PrivacyUnit::from(&**schema)),
        domain: Some(domain_of(finished)),
        sampling: private.then(|| sampling_of(finished)),
        noise: if private {
            vec![NoiseKind::FloatingPointGaussian]
        } else {
            Vec::new()
        },
        random_source: Some(finished.trained.random),
        stop: Some(match stop {
            StopReason::Planned => Stop::Planned,
            StopReason::BudgetReached => Stop::BudgetReached,
            StopReason::ByPerson => Stop::ByPerson,
        }),
        resumed: (finished.resumed.times > 0).then_some(finished.resumed),
        // Whoever stops a run by hand may have looked at it; nobody can tell.
        choices: Choices {
            looked: finished.choices.looked || stop == StopReason::ByPerson,
            ..finished.choices
        },
        checks: Vec::new(),
        software: ["burn", "rand_chacha", "rand_distr"]
            .into_iter()
            .filter_map(Software::of_library)
            .collect(),
        ..CertificateFacts::default()
    }
}

/// What was known of the data. Of images: their form, which is public, and their classes.
fn domain_of(finished: &FinishedRun) -> Domain {
    let dataset = &finished.dataset;
    let mut domain = Domain::of(&dataset.schema);
    if let Some(images) = &dataset.images {
        domain.columns.insert(
            0,
            DomainColumn {
                name: "image".into(),
                kind: format!("image ({})", images.form()),
                provenance: Some(Provenance::Declared),
            },
        );
    }
    // Noisy counts are part of what these release, and nothing else of theirs tells how many rows, images or persons
    // there are.
    if matches!(finished.request.method, Method::DpMerf | Method::Gem) {
        let count = match dataset.schema.unit {
            None => &mut domain.rows,
            Some(_) => &mut domain.persons,
        };
        count.get_or_insert(Provenance::Bought);
    }
    domain
}

/// How rows came into what was released.
fn sampling_of(finished: &FinishedRun) -> Sampling {
    match finished.request.method {
        Method::DpMerf | Method::Gem => Sampling::AllRows,
        Method::Dpgan | Method::Gan | Method::WganGp => Sampling::Poisson,
    }
}

/// What is charged: after a stop by a person the whole plan, otherwise what was executed.
pub(super) fn charged_events(finished: &FinishedRun) -> crate::privacy::EventList {
    match finished.trained.stopped {
        StopReason::ByPerson => finished.planned.clone(),
        StopReason::Planned | StopReason::BudgetReached => finished.trained.executed.clone(),
    }
}

fn spending(finished: &FinishedRun, ledger: &LedgerHandle) -> Result<Option<Spending>, Problem> {
    let (Some(entry), Some(identity)) = (finished.entry, finished.identity) else {
        return Ok(None);
    };
    let failed = |error| Problem::new(Area::Ledger, &error);
    let entries = ledger.entries().map_err(failed)?;
    let budget = ledger.budget(identity).map_err(failed)?;
    let head = ledger.head().map_err(failed)?;
    Ok(entries
        .iter()
        .find(|known| known.id == entry)
        .map(|known| Spending::of(known, &budget, head)))
}

/// Everything needed to do the run again.
///
/// # Errors
/// When a setting or the schema cannot be written as TOML.
pub(super) fn recipe(finished: &FinishedRun, rows: usize) -> Result<Recipe, Problem> {
    let mut recipe = recipe_of(&finished.request, &finished.plan.settings, &finished.dataset)?;
    recipe.rows = Some(rows as u64);
    Ok(recipe)
}

/// A run on a data set as a recipe's file holds it, before anything is drawn.
///
/// # Errors
/// As [`recipe`].
pub(super) fn recipe_of(
    request: &RunRequest,
    settings: &RunSettings,
    dataset: &Dataset,
) -> Result<Recipe, Problem> {
    let failed = |error: toml::ser::Error| Problem::new(Area::Export, &error);
    let mut recipe = Recipe::new(request.method.name());
    recipe.epsilon = request.target.map(|target| target.epsilon);
    recipe.delta = request.target.map(|target| target.delta);
    recipe.relation = request.target.map(|target| target.neighboring);
    recipe.seed = request.seed;
    recipe.device = Some(request.device.name().into());
    let recipe = match settings {
        RunSettings::Table(settings) => recipe.with_settings(settings),
        RunSettings::Pairs(settings) => recipe.with_settings(settings),
        RunSettings::Images(settings) => recipe.with_settings(settings),
    };
    recipe
        .and_then(|recipe| recipe.with_schema(&*dataset.schema))
        .map_err(failed)
}

impl RunRequest {
    /// The run that a recipe's file describes, with values that can be.
    ///
    /// # Errors
    /// When the file cannot be read, or a value in it is none that the run could have: names file, key and what was
    /// expected.
    pub fn load_recipe(path: &Path) -> Result<Self, Problem> {
        let recipe = Recipe::load(path).map_err(|error| Problem::new(Area::Train, &error))?;
        let checked = Self::from_recipe(&recipe).and_then(|request| {
            request.check_values()?;
            Ok(request)
        });
        checked.map_err(|problem| Problem {
            message: message!(
                "say-recipe-wrong",
                "{path}: the recipe cannot be used: {reason}",
                path = path.display().to_string(),
                reason = problem.message
            ),
            ..problem
        })
    }

    /// Whether promise and settings are in their ranges.
    fn check_values(&self) -> Result<(), Problem> {
        let wrong = |error: &(dyn std::error::Error + 'static)| Problem::new(Area::Train, error);
        if let Some(target) = self.target {
            Epsilon::new(target.epsilon).map_err(|error| wrong(&error))?;
            Delta::new(target.delta).map_err(|error| wrong(&error))?;
        }
        match &self.settings {
            Some(RunSettings::Table(settings)) => describe::check(settings),
            Some(RunSettings::Pairs(settings)) => describe::check(settings),
            Some(RunSettings::Images(settings)) => describe::check(settings),
            None => Ok(()),
        }
        .map_err(|error| wrong(&error))
    }

    /// The run that a recipe describes.
    ///
    /// # Errors
    /// When the recipe names a method, device or setting that this program does not know.
    pub fn from_recipe(recipe: &Recipe) -> Result<Self, Problem> {
        let wrong = |message: Message| Problem::plain(Area::Train, message);
        let method = Method::ALL
            .into_iter()
            .find(|method| method.name() == recipe.method)
            .ok_or_else(|| {
                wrong(message!(
                    "say-recipe-method",
                    "the recipe's method `{name}` is not known here; expected one of {known}",
                    name = recipe.method,
                    known = Method::ALL.map(Method::name).join(", ")
                ))
            })?;
        let device = match &recipe.device {
            Some(name) => DeviceKind::from_name(name).ok_or_else(|| {
                wrong(message!(
                    "say-recipe-device",
                    "the recipe's device `{name}` is not known here; expected one of {known}",
                    name = name,
                    known = DeviceKind::ALL.map(DeviceKind::name).join(", ")
                ))
            })?,
            None => DeviceKind::default(),
        };
        // The key stands on a line of its own behind what was expected.
        let misread = |error: toml::de::Error| wrong(error.to_string().trim_end().replace('\n', " ").into());
        let settings = if recipe.settings.contains_key(PairSettings::OWN_KEY) {
            let settings = recipe.settings::<PairSettings>().map_err(misread)?;
            Some(RunSettings::Pairs(settings))
        } else if recipe.settings.contains_key(ImageSettings::OWN_KEY) {
            let settings = recipe.settings::<ImageSettings>().map_err(misread)?;
            Some(RunSettings::Images(settings))
        } else if recipe.settings.is_empty() {
            None
        } else {
            let settings = recipe.settings::<TrainSettings>().map_err(misread)?;
            Some(RunSettings::Table(settings))
        };
        let target = match (recipe.epsilon, recipe.delta) {
            (Some(epsilon), Some(delta)) => Some(PrivacyTarget {
                epsilon,
                delta,
                neighboring: recipe.relation.unwrap_or(PrivacyTarget::default().neighboring),
            }),
            _ => None,
        };
        Ok(Self {
            method,
            target,
            settings,
            overrides: Vec::new(),
            device,
            seed: recipe.seed,
            ..Self::default()
        })
    }
}
