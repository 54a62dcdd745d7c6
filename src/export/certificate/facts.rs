//! From what is known of a run to its certificate.

use chrono::{SecondsFormat, Utc};

use super::{
    Certificate, Check, DataSet, Domain, DomainColumn, FORMAT, Guarantee, NoiseKind, NotAccounted,
    NotProtected, Odds, ProfilePoint, Records, Resumed, Sampling, Software, Spending, Stop, SyntheticFile,
    VERSION, Variant, Verdict,
};
use crate::data::{Kind, Provenance, Schema};
use crate::num::{Delta, RandomOrigin};
use crate::privacy::ledger::{Budget, Charge, Entry, PrivacyUnit};
use crate::privacy::{
    Accountant as _, AccountantKind, AccountingError, CountedEvent, EventList, Neighboring, PldAccountant,
    PrivacyEvent,
};

/// ε of the profile's points, beside that of the guarantee itself.
const PROFILE_EPSILONS: [f64; 12] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0];

/// Everything that a certificate is issued from. What is not known stays `None`, and the verdict says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CertificateFacts {
    /// The data set as people call it.
    pub data_set: DataSet,
    /// The method, as the command line names it.
    pub method: String,
    /// The file that was written.
    pub synthetic_file: SyntheticFile,
    /// What its records are.
    pub records: Records,
    /// The events that are charged (after a stop by a person: the whole plan); `None` for a method without
    /// privacy.
    pub events: Option<EventList>,
    /// δ at which ε is stated.
    pub delta: f64,
    /// Which accountant states it.
    pub accountant: AccountantKind,
    /// The unit of privacy.
    pub unit: Option<PrivacyUnit>,
    /// The columns and where they are known from.
    pub domain: Option<Domain>,
    /// How rows were sampled, as run.
    pub sampling: Option<Sampling>,
    /// How noise was represented.
    pub noise: Vec<NoiseKind>,
    /// Where random bits came from.
    pub random_source: Option<RandomOrigin>,
    /// Why the work ended.
    pub stop: Option<Stop>,
    /// How often the work was cut short and taken up again.
    pub resumed: Option<Resumed>,
    /// What the ledger says.
    pub spending: Option<Spending>,
    /// What was decided with private figures in view.
    pub choices: Choices,
    /// Empirical figures that may leave.
    pub checks: Vec<Check>,
    /// Libraries worth naming, beside this program.
    pub software: Vec<Software>,
}

/// What a person did with private figures in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Settings were chosen by them.
    pub tuned: bool,
    /// They were shown at all.
    pub looked: bool,
    /// A checkpoint was chosen by them.
    pub chose_checkpoint: bool,
}

impl Domain {
    /// What a schema says of the columns: names, kinds and where they are known from, no values.
    pub fn of(schema: &Schema) -> Self {
        let mut domain = Self {
            rows: schema.rows.map(|rows| rows.provenance),
            persons: schema
                .unit
                .as_ref()
                .and_then(|unit| unit.persons)
                .map(|persons| persons.provenance),
            form: schema.read_provenance(),
            ..Self::default()
        };
        for column in &schema.column {
            if schema.uses(column) {
                // The two values of a boolean are known without looking.
                let known = (column.kind == Kind::Boolean).then_some(Provenance::Declared);
                domain.columns.push(DomainColumn {
                    name: column.name.clone(),
                    kind: column.kind.as_str().into(),
                    provenance: column.provenance.or(known),
                });
            } else {
                domain.dropped.push(column.name.clone());
            }
        }
        domain
    }
}

impl From<&Schema> for PrivacyUnit {
    fn from(schema: &Schema) -> Self {
        match &schema.unit {
            None => Self::Row,
            Some(unit) => Self::Person {
                column: unit.column.clone(),
                max_rows: unit.max_rows.into(),
            },
        }
    }
}

impl Software {
    /// This program.
    fn this_program() -> Self {
        Self {
            name: "pointillist".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// A library in the version that this program was built with; `None` if it was built without.
    pub fn of_library(name: &str) -> Option<Self> {
        const LOCK: &str = include_str!("../../../Cargo.lock");
        let package = LOCK
            .split("[[package]]")
            .find(|package| field(package, "name") == Some(name))?;
        Some(Self {
            name: name.into(),
            version: field(package, "version")?.into(),
        })
    }
}

/// The value of a line `name = "value"`.
fn field<'a>(package: &'a str, name: &str) -> Option<&'a str> {
    package.lines().find_map(|line| {
        let (key, value) = line.split_once(" = ")?;
        (key == name).then(|| value.trim_matches('"'))
    })
}

impl Spending {
    /// What the ledger says of a job and its data set, with the end of its chain.
    pub fn of(entry: &Entry, budget: &Budget, (ledger_entries, ledger_head): (u64, String)) -> Self {
        let spent = Charge {
            epsilon: entry.epsilon,
            delta: entry.delta,
        };
        Self {
            ledger_entry: entry.id.0,
            reserved: entry.reserved.unwrap_or(spent),
            spent,
            total: budget.total.map(|total| Charge {
                epsilon: total.epsilon,
                delta: total.delta,
            }),
            left: budget.shares.map(|shares| shares.left),
            data_set_spent: budget.spent,
            data_set_reserved: budget.reserved,
            discarded_runs: budget.discarded,
            ledger_entries,
            ledger_head,
            scope: "spends known to this installation".into(),
        }
    }
}

/// The guarantee that follows from events; `None` if no finite ε does.
pub(super) fn guarantee_of(
    events: &EventList,
    delta: f64,
    accountant: AccountantKind,
) -> Result<Option<Guarantee>, AccountingError> {
    let checked = Delta::new(delta).map_err(|_| AccountingError::Epsilon(delta))?;
    let mut state = accountant.start(events.neighboring);
    state.compose_list(events)?;
    let epsilon = state.epsilon(checked)?;
    if !epsilon.is_finite() {
        return Ok(None);
    }
    let deltas = match accountant {
        // Each δ alone would cost a composition of its own.
        AccountantKind::Pld => {
            let mut whole = PldAccountant::new(events.neighboring);
            whole.compose_list(events)?;
            whole.profile(&PROFILE_EPSILONS)?
        }
        AccountantKind::Rdp => PROFILE_EPSILONS
            .iter()
            .map(|&at| state.delta(at))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let mut profile = vec![ProfilePoint { epsilon, delta }];
    profile.extend(
        PROFILE_EPSILONS
            .iter()
            .zip(deltas)
            .map(|(&epsilon, delta)| ProfilePoint { epsilon, delta }),
    );
    profile.sort_by(|one, other| one.epsilon.total_cmp(&other.epsilon));
    profile.dedup_by(|one, other| one.epsilon.total_cmp(&other.epsilon).is_eq());
    Ok(Some(Guarantee {
        variant: if delta > 0.0 {
            Variant::Approximate
        } else {
            Variant::Pure
        },
        epsilon,
        delta,
        rho: rho_of(events),
        mu: mu_of(events),
        accountant,
        accountant_version: env!("CARGO_PKG_VERSION").into(),
        profile,
    }))
}

/// μ of the whole, if it is Gaussian noise on all rows only: 1/σ each, composed as a root of squares (Dong, Roth
/// & Su 2022, Corollary 2).
fn mu_of(events: &EventList) -> Option<f64> {
    let mut squares = 0.0;
    for CountedEvent { event, count } in &events.events {
        let PrivacyEvent::Gaussian { noise_multiplier } = event else {
            return None;
        };
        squares += *count as f64 / (noise_multiplier * noise_multiplier);
    }
    (!events.events.is_empty()).then(|| squares.sqrt())
}

/// ρ of the whole, if all events are zero-concentrated: 1/2σ² for Gaussian noise, ε²/2 for a pure mechanism (Bun
/// & Steinke 2016, Propositions 1.6 and 1.4), and they add up.
fn rho_of(events: &EventList) -> Option<f64> {
    let mut sum = 0.0;
    for CountedEvent { event, count } in &events.events {
        let rho = match event {
            PrivacyEvent::Gaussian { noise_multiplier } => 0.5 / (noise_multiplier * noise_multiplier),
            PrivacyEvent::Pure { epsilon } => 0.5 * epsilon * epsilon,
            PrivacyEvent::Zcdp { rho } => *rho,
            _ => return None,
        };
        sum += *count as f64 * rho;
    }
    (!events.events.is_empty()).then_some(sum)
}

/// What is not covered, as it follows from domain and noise.
pub(super) fn not_protected(
    domain: Option<&Domain>,
    unit: Option<&PrivacyUnit>,
    relation: Option<Neighboring>,
    noise: &[NoiseKind],
) -> Vec<NotProtected> {
    let mut list = Vec::new();
    if let Some(domain) = domain {
        for column in &domain.columns {
            if matches!(
                column.provenance,
                Some(Provenance::Accepted | Provenance::Suggested)
            ) {
                list.push(NotProtected::AcceptedDomain {
                    column: column.name.clone(),
                });
            }
        }
        if matches!(domain.form, Some(Provenance::Accepted | Provenance::Suggested)) {
            list.push(NotProtected::AcceptedForm);
        }
        let (count, revealed) = match unit {
            Some(PrivacyUnit::Person { .. }) => (domain.persons, NotProtected::PersonCount),
            Some(PrivacyUnit::Row) | None => (domain.rows, NotProtected::RowCount),
        };
        let is_known = matches!(count, Some(Provenance::Declared | Provenance::Bought));
        // The other relations speak of data sets of the same, public size.
        if !is_known && relation == Some(Neighboring::AddRemoveOne) {
            list.push(revealed);
        }
    }
    if noise.contains(&NoiseKind::FloatingPointGaussian) {
        list.push(NotProtected::FloatingPointNoise);
    }
    list
}

impl Certificate {
    /// Issues a certificate. ε, profile, odds and verdict are derived here, from the events.
    ///
    /// # Errors
    /// When the accountant has no proof for an event under the relation, or δ is out of range.
    pub fn issue(facts: CertificateFacts) -> Result<Self, AccountingError> {
        let guarantee = match &facts.events {
            Some(events) => guarantee_of(events, facts.delta, facts.accountant)?,
            None => None,
        };
        let relation = facts.events.as_ref().map(|events| events.neighboring);
        let mut not_accounted = Vec::new();
        let stopped = facts.stop == Some(Stop::ByPerson);
        for (is_so, what) in [
            (facts.choices.tuned, NotAccounted::Tuning),
            (facts.choices.looked, NotAccounted::Looking),
            (facts.choices.chose_checkpoint, NotAccounted::CheckpointChoice),
            (stopped, NotAccounted::MomentOfStopping),
        ] {
            if is_so {
                not_accounted.push(what);
            }
        }
        let mut certificate = Self {
            format: FORMAT.into(),
            version: VERSION,
            verdict: Verdict::DifferentiallyPrivate,
            issued: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            data_set: facts.data_set,
            method: facts.method,
            synthetic_file: facts.synthetic_file,
            records: Some(facts.records),
            odds: None,
            guarantee,
            relation,
            not_protected: not_protected(facts.domain.as_ref(), facts.unit.as_ref(), relation, &facts.noise),
            unit: facts.unit,
            domain: facts.domain,
            sampling: facts.sampling,
            noise: facts.noise,
            random_source: facts.random_source,
            events: facts.events,
            stop: facts.stop,
            resumed: facts.resumed,
            spending: facts.spending,
            not_accounted,
            checks: facts.checks,
            software: std::iter::once(Software::this_program())
                .chain(facts.software)
                .collect(),
            digest: String::new(),
            seal: None,
        };
        let profile = certificate.guarantee.as_ref().map(|guarantee| &guarantee.profile);
        certificate.odds = profile.map(|profile| Odds::of(profile, certificate.unit_of_odds()));
        certificate.verdict = certificate.verdict();
        certificate.digest = certificate.compute_digest();
        Ok(certificate)
    }
}
