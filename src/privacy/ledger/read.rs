//! Reads entries back from the database.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::LedgerError;
use super::entry::{Charge, Entry, EntryId, Outcome, Status};
use super::key::{Hash, from_hex};
use super::record::{COLUMNS, Record, RecordKind, ReservationBody, SettlementBody, TotalBody, VersionBody};
use super::state::{adds_up, parse};
use super::verify::Finding;
use crate::privacy::{EventList, Neighboring};

/// The stored hash of one entry.
pub(super) fn hash_of(connection: &Connection, sequence: u64) -> rusqlite::Result<Option<Hash>> {
    let hash: Option<Vec<u8>> = connection
        .prepare_cached("SELECT hash FROM entries WHERE sequence = ?1")?
        .query_row([sequence.cast_signed()], |row| row.get(0))
        .optional()?;
    Ok(hash.and_then(|hash| hash.try_into().ok()))
}

/// How many entries there are.
pub(super) fn count(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .query_row("SELECT count(*) FROM entries", [], |row| row.get::<_, i64>(0))
        .map(i64::cast_unsigned)
}

/// Whether an entry is a reservation.
pub(super) fn is_reservation(connection: &Connection, entry: EntryId) -> Result<bool, LedgerError> {
    let path = connection.path().unwrap_or_default().to_owned();
    let kind: Option<String> = connection
        .prepare_cached("SELECT kind FROM entries WHERE sequence = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([entry.0.cast_signed()], |row| row.get(0))
                .optional()
        })
        .map_err(|error| LedgerError::from_database(Path::new(&path), error))?;
    Ok(kind.as_deref() == Some(RecordKind::Reservation.name()))
}

/// Turns rows into the lines that people read, in the order of the ledger.
#[derive(Default)]
struct Lines {
    entries: Vec<Entry>,
    /// Place in `entries` of each job.
    jobs: HashMap<u64, usize>,
    /// Data set number of each version.
    datasets: HashMap<Hash, u64>,
    known: u64,
}

impl Lines {
    fn number(&mut self, dataset: Hash) -> u64 {
        let known = &mut self.known;
        *self.datasets.entry(dataset).or_insert_with(|| {
            *known += 1;
            *known
        })
    }

    fn take(&mut self, record: &Record<'_>) -> Result<(), String> {
        let dataset = record.dataset_hash().ok_or("its data set is no identity")?;
        match RecordKind::from_name(record.kind).ok_or("it is of an unknown kind")? {
            RecordKind::Reservation => {
                let body: ReservationBody = parse(record.body)?;
                self.jobs.insert(record.sequence, self.entries.len());
                let reserved = Charge {
                    epsilon: body.epsilon,
                    delta: body.delta,
                };
                let entry = Entry {
                    kind: body.kind,
                    status: Status::Reserved,
                    reserved: Some(reserved),
                    relation: Some(body.events.neighboring),
                    unit: Some(body.unit),
                    public: body.public,
                    seed: body.seed,
                    events: Some(body.events),
                    ..self.plain(record, dataset, body.dataset_name, reserved, body.description)
                };
                self.entries.push(entry);
            }
            RecordKind::Settlement => {
                let body: SettlementBody = parse(record.body)?;
                let place = *self.jobs.get(&record.job).ok_or("it settles no known job")?;
                let entry = &mut self.entries[place];
                entry.status = Status::from(&body.outcome);
                entry.settled_ms = Some(record.time_ms);
                entry.epsilon = body.charged.epsilon;
                entry.delta = body.charged.delta;
                entry.note = body.note;
                match body.outcome {
                    Outcome::Finished | Outcome::Failed { .. } => entry.events = Some(body.events),
                    Outcome::Discarded => {
                        entry.events = entry.relation.map(|relation| EventList {
                            neighboring: relation,
                            events: Vec::new(),
                        });
                    }
                    // The whole plan stays charged, unless more than that was executed.
                    Outcome::StoppedByPerson => {
                        if entry
                            .reserved
                            .is_some_and(|plan| body.executed.epsilon > plan.epsilon)
                        {
                            entry.events = Some(body.events);
                        }
                    }
                }
            }
            RecordKind::Total => {
                let body: TotalBody = parse(record.body)?;
                let total = Charge {
                    epsilon: body.epsilon,
                    delta: body.delta,
                };
                let status = if body.raised {
                    Status::TotalRaised
                } else {
                    Status::TotalSet
                };
                let entry = Entry {
                    kind: "total".into(),
                    status,
                    ..self.plain(record, dataset, body.dataset_name, total, body.reason)
                };
                self.entries.push(entry);
            }
            RecordKind::Version => {
                let body: VersionBody = parse(record.body)?;
                let of = from_hex(&body.of)
                    .and_then(|of| self.datasets.get(&of).copied())
                    .ok_or("it continues a data set that is not known")?;
                self.datasets.insert(dataset, of);
                let entry = Entry {
                    kind: "version".into(),
                    status: Status::NewVersion,
                    ..self.plain(
                        record,
                        dataset,
                        body.dataset_name,
                        Charge::default(),
                        String::new(),
                    )
                };
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    fn plain(
        &mut self,
        record: &Record<'_>,
        dataset: Hash,
        dataset_name: String,
        charge: Charge,
        description: String,
    ) -> Entry {
        Entry {
            id: EntryId(record.sequence),
            dataset: self.number(dataset),
            dataset_name,
            time_ms: record.time_ms,
            settled_ms: None,
            kind: String::new(),
            status: Status::Reserved,
            epsilon: charge.epsilon,
            delta: charge.delta,
            reserved: None,
            relation: None,
            unit: None,
            public: false,
            seed: None,
            description,
            note: None,
            events: None,
        }
    }
}

/// All entries, or those of the data set with this index.
pub(super) fn entries(
    connection: &Connection,
    path: &Path,
    account: Option<usize>,
) -> Result<Vec<Entry>, LedgerError> {
    let failed = |error| LedgerError::from_database(path, error);
    let mut lines = Lines::default();
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM entries ORDER BY sequence"))
        .map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let record = Record::from_row(row).map_err(failed)?;
        lines.take(&record).map_err(|reason| LedgerError::Broken {
            path: path.into(),
            findings: vec![Finding::Meaningless {
                entry: record.sequence,
                reason,
            }],
        })?;
    }
    let mut entries = lines.entries;
    if let Some(account) = account {
        entries.retain(|entry| entry.dataset == account as u64 + 1);
    }
    Ok(entries)
}

/// The charged events of a data set's jobs.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub settled: Vec<EventList>,
    pub open: Vec<(EntryId, EventList)>,
}

/// The charged events of the jobs on the data set with this index.
pub(super) fn jobs(connection: &Connection, account: usize) -> Result<Jobs, LedgerError> {
    let path = connection.path().unwrap_or_default().to_owned();
    let mut jobs = Jobs::default();
    for entry in entries(connection, Path::new(&path), Some(account))? {
        match (entry.events, entry.status) {
            (Some(events), Status::Reserved) => jobs.open.push((entry.id, events)),
            (Some(events), _) => jobs.settled.push(events),
            (None, _) => {}
        }
    }
    Ok(jobs)
}

/// Lists of events as one, if their relations add up.
pub(super) fn together(lists: impl Iterator<Item = EventList>) -> Option<EventList> {
    let mut all: Option<EventList> = None;
    for list in lists {
        match &mut all {
            None => all = Some(list),
            Some(all) if adds_up(all.neighboring, list.neighboring) => {
                // The row count was private for one of them at least.
                if list.neighboring == Neighboring::AddRemoveOne {
                    all.neighboring = list.neighboring;
                }
                all.events.extend(list.events);
            }
            Some(_) => return None,
        }
    }
    all
}
