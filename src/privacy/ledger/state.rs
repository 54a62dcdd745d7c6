//! What the entries add up to: one account per data set, kept in memory and brought up to date entry by entry.

use std::collections::{BTreeMap, HashMap};

use serde::de::IgnoredAny;

use super::cap::Limits;
use super::entry::{Budget, Charge, DatasetId, DatasetSummary, Outcome, PrivacyUnit, Shares, Total};
use super::head::Head;
use super::key::{Hash, from_hex};
use super::record::{Cost, Record, RecordKind, ReservationGist, SettlementBody, TotalBody, VersionBody};
use crate::privacy::Neighboring;

/// The total of one data set.
#[derive(Clone, Debug)]
pub(super) struct TotalState {
    pub epsilon: f64,
    pub delta: f64,
    /// The order, and whether a part of δ is set apart; fixed by the first charge.
    pub order: Option<(f64, bool)>,
    /// What settled jobs cost at the order.
    pub spent: (f64, f64),
}

impl TotalState {
    /// The limits, once the order is fixed.
    pub(super) fn limits(&self) -> Option<Limits> {
        self.order
            .map(|(order, apart)| Limits::new(order, self.epsilon, self.delta, apart))
    }

    fn fix(&mut self, cost: &Cost) {
        if self.order.is_none() {
            self.order = Some((cost.order, cost.delta > 0.0));
        }
    }
}

/// A job that is reserved and not settled.
#[derive(Clone, Debug)]
pub(super) struct OpenJob {
    pub account: usize,
    pub charge: Charge,
    pub cost: Option<Cost>,
}

/// One data set.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub name: String,
    pub versions: Vec<Hash>,
    /// What the columns of its newest version are called, as a keyed hash.
    pub columns: Option<Hash>,
    pub total: Option<TotalState>,
    /// Relation and unit of the jobs so far, if they are all alike.
    pub promise: Option<(Neighboring, PrivacyUnit)>,
    /// Whether jobs of differing relation or unit were charged.
    pub mixed: bool,
    pub public: bool,
    pub spent: Charge,
    pub jobs: u64,
    pub discarded: u64,
    pub last_ms: i64,
}

impl Account {
    fn new(name: &str, version: Hash) -> Self {
        Self {
            name: name.into(),
            versions: vec![version],
            columns: None,
            total: None,
            promise: None,
            mixed: false,
            public: false,
            spent: Charge::default(),
            jobs: 0,
            discarded: 0,
            last_ms: 0,
        }
    }

    fn note_columns(&mut self, columns: Option<&str>) {
        if let Some(columns) = columns.and_then(from_hex) {
            self.columns = Some(columns);
        }
    }
}

/// Whether promises under the two relations add up. Zero-out has the numbers of add/remove here.
pub(super) fn adds_up(one: Neighboring, other: Neighboring) -> bool {
    (one == Neighboring::ReplaceOne) == (other == Neighboring::ReplaceOne)
}

/// All accounts, as of the entry `count` with hash `hash`.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub count: u64,
    pub hash: Hash,
    pub last_ms: i64,
    pub accounts: Vec<Account>,
    by_version: HashMap<Hash, usize>,
    /// In the order of the ledger, so that sums come out alike at every reading.
    pub open: BTreeMap<u64, OpenJob>,
}

impl State {
    pub(super) fn new(genesis: Hash) -> Self {
        Self {
            count: 0,
            hash: genesis,
            last_ms: i64::MIN,
            accounts: Vec::new(),
            by_version: HashMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// The end of the chain.
    pub(super) const fn end(&self) -> Head {
        Head {
            count: self.count,
            hash: self.hash,
        }
    }

    /// The account of a data set, by any of its versions.
    pub(super) fn account(&self, dataset: &DatasetId) -> Option<usize> {
        self.by_version.get(&dataset.0).copied()
    }

    fn account_or_new(&mut self, dataset: Hash, name: &str) -> usize {
        let next = self.accounts.len();
        let index = *self.by_version.entry(dataset).or_insert(next);
        if index == next {
            self.accounts.push(Account::new(name, dataset));
        }
        index
    }

    /// Takes in the next entry. The caller has checked its place in the chain.
    ///
    /// # Errors
    /// Says in words what an entry means that no entry written by this program can mean.
    pub(super) fn apply(&mut self, record: &Record<'_>) -> Result<(), String> {
        let kind = RecordKind::from_name(record.kind)
            .ok_or_else(|| format!("an entry of the unknown kind \"{}\"", record.kind))?;
        let dataset = record.dataset_hash().ok_or("its data set is no identity")?;
        let account = match kind {
            RecordKind::Reservation => self.apply_reservation(record, dataset)?,
            RecordKind::Settlement => self.apply_settlement(record)?,
            RecordKind::Total => self.apply_total(record, dataset)?,
            RecordKind::Version => self.apply_version(record, dataset)?,
        };
        self.accounts[account].last_ms = record.time_ms;
        self.count = record.sequence;
        self.hash = record.stored_hash().ok_or("its hash has the wrong length")?;
        self.last_ms = record.time_ms;
        Ok(())
    }

    fn apply_reservation(&mut self, record: &Record<'_>, dataset: Hash) -> Result<usize, String> {
        let body: ReservationGist<'_> = parse(record.body)?;
        let index = self.account_or_new(dataset, &body.dataset_name);
        let account = &mut self.accounts[index];
        if account.name != body.dataset_name {
            account.name = body.dataset_name.into_owned();
        }
        account.note_columns(body.columns.as_deref());
        account.public = body.public;
        account.jobs += 1;
        match &account.promise {
            None => account.promise = Some((body.events.neighboring, body.unit)),
            Some((relation, unit)) => {
                account.mixed |=
                    !adds_up(*relation, body.events.neighboring) || !unit.adds_up_with(&body.unit);
            }
        }
        if let (Some(total), Some(cost)) = (&mut account.total, &body.cost) {
            total.fix(cost);
        }
        let charge = Charge {
            epsilon: body.epsilon,
            delta: body.delta,
        };
        self.open.insert(
            record.sequence,
            OpenJob {
                account: index,
                charge,
                cost: body.cost,
            },
        );
        Ok(index)
    }

    fn apply_settlement(&mut self, record: &Record<'_>) -> Result<usize, String> {
        let body: SettlementBody<IgnoredAny> = parse(record.body)?;
        let job = self
            .open
            .remove(&record.job)
            .ok_or_else(|| format!("it settles entry {}, which is no open reservation", record.job))?;
        let account = &mut self.accounts[job.account];
        account.spent = account.spent.plus(body.charged);
        if matches!(body.outcome, Outcome::Discarded | Outcome::Failed { .. }) {
            account.discarded += 1;
        }
        if let (Some(total), Some(cost)) = (&mut account.total, &body.cost) {
            total.spent.0 += cost.value;
            total.spent.1 += cost.delta;
        }
        Ok(job.account)
    }

    fn apply_total(&mut self, record: &Record<'_>, dataset: Hash) -> Result<usize, String> {
        let body: TotalBody = parse(record.body)?;
        let index = self.account_or_new(dataset, &body.dataset_name);
        let account = &mut self.accounts[index];
        account.name = body.dataset_name;
        account.note_columns(body.columns.as_deref());
        if let Some(total) = &mut account.total {
            total.epsilon = body.epsilon;
            total.delta = body.delta;
        } else {
            let mut total = TotalState {
                epsilon: body.epsilon,
                delta: body.delta,
                order: None,
                spent: (0.0, 0.0),
            };
            if let Some(earlier) = &body.earlier {
                let beside = earlier.open.iter().map(|(_, cost)| cost.delta).sum::<f64>();
                total.order = Some((earlier.spent.order, earlier.spent.delta + beside > 0.0));
                total.spent = (earlier.spent.value, earlier.spent.delta);
                for (job, cost) in &earlier.open {
                    let job = self
                        .open
                        .get_mut(job)
                        .ok_or_else(|| format!("entry {job} is no open reservation"))?;
                    job.cost = Some(*cost);
                }
            }
            account.total = Some(total);
        }
        Ok(index)
    }

    fn apply_version(&mut self, record: &Record<'_>, dataset: Hash) -> Result<usize, String> {
        let body: VersionBody = parse(record.body)?;
        let index = from_hex(&body.of)
            .and_then(|of| self.by_version.get(&of).copied())
            .ok_or("it continues a data set that is not known")?;
        if self.by_version.insert(dataset, index).is_some() {
            return Err("its content is known already".into());
        }
        let account = &mut self.accounts[index];
        account.versions.push(dataset);
        account.name = body.dataset_name;
        account.note_columns(body.columns.as_deref());
        Ok(index)
    }

    /// What the unsettled jobs of an account hold: by basic composition, and at the order of its total.
    pub(super) fn reserved(&self, account: usize) -> (Charge, (f64, f64)) {
        let mut charge = Charge::default();
        let mut cost = (0.0, 0.0);
        for job in self.open.values().filter(|job| job.account == account) {
            charge = charge.plus(job.charge);
            if let Some(at_order) = &job.cost {
                cost.0 += at_order.value;
                cost.1 += at_order.delta;
            }
        }
        (charge, cost)
    }

    /// The shares of an account's total.
    pub(super) fn shares(&self, account: usize) -> Option<Shares> {
        let total = self.accounts[account].total.as_ref()?;
        let Some(limits) = total.limits() else {
            return Some(Shares {
                spent: 0.0,
                reserved: 0.0,
                left: 1.0,
            });
        };
        let (_, reserved) = self.reserved(account);
        let spent = limits.share(total.spent.0, total.spent.1).min(1.0);
        let both = limits
            .share(total.spent.0 + reserved.0, total.spent.1 + reserved.1)
            .min(1.0);
        Some(Shares {
            spent,
            reserved: (both - spent).max(0.0),
            left: 1.0 - both,
        })
    }

    /// Where a data set's budget stands.
    pub(super) fn budget(&self, dataset: &DatasetId) -> Budget {
        let Some(index) = self.account(dataset) else {
            return Budget {
                dataset: None,
                dataset_name: String::new(),
                total: None,
                shares: None,
                spent: Charge::default(),
                reserved: Charge::default(),
                public: false,
                jobs: 0,
                discarded: 0,
                promise: None,
            };
        };
        let account = &self.accounts[index];
        Budget {
            dataset: Some(index as u64 + 1),
            dataset_name: account.name.clone(),
            total: account.total.as_ref().map(|total| Total {
                epsilon: total.epsilon,
                delta: total.delta,
                order: total.order.map(|order| order.0),
                sets_apart: total.order.is_some_and(|order| order.1),
            }),
            shares: self.shares(index),
            spent: account.spent,
            reserved: self.reserved(index).0,
            public: account.public,
            jobs: account.jobs,
            discarded: account.discarded,
            promise: account.promise.clone(),
        }
    }

    /// All data sets, in the order in which they came.
    pub(super) fn datasets(&self) -> Vec<DatasetSummary> {
        self.accounts
            .iter()
            .enumerate()
            .filter_map(|(index, account)| {
                Some(DatasetSummary {
                    number: index as u64 + 1,
                    name: account.name.clone(),
                    id: DatasetId(*account.versions.last()?),
                    versions: account.versions.len() as u64,
                    has_total: account.total.is_some(),
                    last_ms: account.last_ms,
                })
            })
            .collect()
    }
}

pub(super) fn parse<'a, T: serde::Deserialize<'a>>(body: &'a str) -> Result<T, String> {
    serde_json::from_str(body).map_err(|error| format!("its text cannot be read: {error}"))
}
