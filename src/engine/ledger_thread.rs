//! The thread that owns the ledger. Everybody else asks it and waits for the answer.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::privacy::ledger::{
    Budget, DatasetId, DatasetSummary, Entry, EntryId, Ledger, LedgerError, Reservation, Settlement,
    Verification,
};

/// How many requests may wait; askers beyond that wait to ask.
const QUEUE: usize = 64;

/// How long to wait for a ledger that another program held, when it is tried again.
const WAIT_AGAIN: Duration = Duration::from_secs(1);

type Reply<T> = Sender<Result<T, LedgerError>>;

enum Request {
    Identify {
        digest: [u8; 32],
        columns: [u8; 32],
        reply: Reply<DatasetId>,
    },
    Reserve {
        reservation: Box<Reservation>,
        reply: Reply<EntryId>,
    },
    Settle {
        entry: EntryId,
        settlement: Box<Settlement>,
        reply: Reply<()>,
    },
    SetTotal {
        total: Box<Total>,
        reply: Reply<EntryId>,
    },
    MayBeVersionOf {
        dataset: DatasetId,
        name: String,
        reply: Reply<Vec<DatasetSummary>>,
    },
    ContinueBudget {
        new: DatasetId,
        of: u64,
        name: String,
        reply: Reply<()>,
    },
    Entries {
        reply: Reply<Vec<Entry>>,
    },
    Budget {
        dataset: DatasetId,
        reply: Reply<Budget>,
    },
    Head {
        reply: Reply<(u64, String)>,
    },
    Seal {
        text: String,
        reply: Reply<String>,
    },
    Verify {
        reply: Reply<Verification>,
    },
}

impl Request {
    /// Whether the ledger has to be written to answer.
    const fn writes(&self) -> bool {
        matches!(
            self,
            Self::Reserve { .. } | Self::Settle { .. } | Self::SetTotal { .. } | Self::ContinueBudget { .. }
        )
    }
}

/// A total budget to set for a data set.
#[derive(Clone, Debug)]
pub struct Total {
    /// The data set.
    pub dataset: DatasetId,
    /// Its name as shown.
    pub name: String,
    /// ε and δ of the total.
    pub epsilon: f64,
    /// δ of the total.
    pub delta: f64,
    /// Why this total.
    pub reason: String,
}

/// Asks the ledger's thread. Clones ask the same thread.
#[derive(Clone, Debug)]
pub struct LedgerHandle {
    requests: Sender<Request>,
}

impl LedgerHandle {
    /// Starts the thread that opens the ledger in `home` and owns it from then on.
    ///
    /// A ledger that cannot be opened answers every request with the reason: nothing is spent then.
    ///
    /// # Errors
    /// When the operating system starts no thread.
    pub fn spawn(home: &Path) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (requests, inbox) = bounded(QUEUE);
        let home = home.to_path_buf();
        let thread = std::thread::Builder::new()
            .name("ledger".into())
            .spawn(move || serve(&home, &inbox))?;
        Ok((Self { requests }, thread))
    }

    fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, LedgerError> {
        let (reply, answer) = bounded(1);
        self.requests
            .send(request(reply))
            .map_err(|_| LedgerError::Closed)?;
        answer.recv().map_err(|_| LedgerError::Closed)?
    }

    /// The keyed identity of a data set's content; `columns` is a digest of its columns' names, by which a changed
    /// and renamed file is known.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn identify(&self, digest: [u8; 32], columns: [u8; 32]) -> Result<DatasetId, LedgerError> {
        self.ask(|reply| Request::Identify {
            digest,
            columns,
            reply,
        })
    }

    /// Reserves what a job may spend; on disk and synced when this returns.
    ///
    /// # Errors
    /// When the ledger cannot be used, or the budget does not allow it. Nothing is reserved then.
    pub fn reserve(&self, reservation: Reservation) -> Result<EntryId, LedgerError> {
        self.ask(|reply| Request::Reserve {
            reservation: Box::new(reservation),
            reply,
        })
    }

    /// Says what a reserved job really spent.
    ///
    /// # Errors
    /// When the ledger cannot be used; the reservation stays charged then.
    pub fn settle(&self, entry: EntryId, settlement: Settlement) -> Result<(), LedgerError> {
        self.ask(|reply| Request::Settle {
            entry,
            settlement: Box::new(settlement),
            reply,
        })
    }

    /// Sets a data set's total budget.
    ///
    /// # Errors
    /// When the ledger cannot be used or refuses the total.
    pub fn set_total(&self, total: Total) -> Result<EntryId, LedgerError> {
        self.ask(|reply| Request::SetTotal {
            total: Box::new(total),
            reply,
        })
    }

    /// Known data sets of this name with other content, if this content is not known itself.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn may_be_version_of(
        &self,
        dataset: DatasetId,
        name: String,
    ) -> Result<Vec<DatasetSummary>, LedgerError> {
        self.ask(|reply| Request::MayBeVersionOf { dataset, name, reply })
    }

    /// Says that content is a new version of the data set with this number, and continues its budget.
    ///
    /// # Errors
    /// When the ledger cannot be used, knows no such data set, or knows the content as another one.
    pub fn continue_budget(&self, new: DatasetId, of: u64, name: String) -> Result<(), LedgerError> {
        self.ask(|reply| Request::ContinueBudget { new, of, name, reply })
    }

    /// How many entries there are, and the hash of the last.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn head(&self) -> Result<(u64, String), LedgerError> {
        self.ask(|reply| Request::Head { reply })
    }

    /// The seal under a text that this installation issues.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn seal(&self, text: String) -> Result<String, LedgerError> {
        self.ask(|reply| Request::Seal { text, reply })
    }

    /// Reads the whole chain afresh and says what does not fit.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn verify(&self) -> Result<Verification, LedgerError> {
        self.ask(|reply| Request::Verify { reply })
    }

    /// All entries, oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn entries(&self) -> Result<Vec<Entry>, LedgerError> {
        self.ask(|reply| Request::Entries { reply })
    }

    /// What a data set has spent.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn budget(&self, dataset: DatasetId) -> Result<Budget, LedgerError> {
        self.ask(|reply| Request::Budget { dataset, reply })
    }
}

/// Opens the ledger and answers until nobody can ask any more.
fn serve(home: &Path, inbox: &Receiver<Request>) {
    let mut opened = Ledger::open_to_read(home);
    for request in inbox {
        // A ledger that was locked or on a full disk a moment ago may be usable now. Whoever asks first after a
        // failure is told of that one; those after them do not wait for long once more.
        let may_have_changed = match &opened {
            Ok(ledger) => ledger.is_read_only() && request.writes(),
            Err(error) => matches!(error, LedgerError::Closed),
        };
        if may_have_changed {
            opened = Ledger::open_to_read_within(home, WAIT_AGAIN);
        }
        match &mut opened {
            Ok(ledger) => answer(ledger, request),
            Err(_) => refuse(&mut opened, request),
        }
    }
}

// An asker that has gone away (its run failed meanwhile) needs no answer, so failed replies are dropped.
fn answer(ledger: &mut Ledger, request: Request) {
    match request {
        Request::Identify {
            digest,
            columns,
            reply,
        } => {
            let identity = ledger.identify(digest);
            if let Ok(dataset) = &identity {
                ledger.note_columns(dataset, columns);
            }
            drop(reply.send(identity));
        }
        Request::Reserve { reservation, reply } => drop(reply.send(ledger.reserve(&reservation))),
        Request::Settle {
            entry,
            settlement,
            reply,
        } => drop(reply.send(ledger.settle(entry, &settlement))),
        Request::SetTotal { total, reply } => drop(reply.send(ledger.set_total(
            &total.dataset,
            &total.name,
            (total.epsilon, total.delta),
            &total.reason,
        ))),
        Request::MayBeVersionOf { dataset, name, reply } => {
            drop(reply.send(ledger.may_be_version_of(&dataset, &name)));
        }
        Request::ContinueBudget { new, of, name, reply } => {
            drop(reply.send(ledger.continue_budget_of(&new, of, &name)));
        }
        Request::Entries { reply } => drop(reply.send(ledger.entries(None))),
        Request::Budget { dataset, reply } => drop(reply.send(ledger.budget(&dataset))),
        Request::Head { reply } => drop(reply.send(ledger.head())),
        Request::Seal { text, reply } => drop(reply.send(Ok(ledger.seal(&text)))),
        Request::Verify { reply } => drop(reply.send(ledger.verify())),
    }
}

fn refuse(opened: &mut Result<Ledger, LedgerError>, request: Request) {
    // The error is handed to one asker; the next attempt to open makes a fresh one.
    let Err(error) = std::mem::replace(opened, Err(LedgerError::Closed)) else {
        return;
    };
    match request {
        Request::Identify { reply, .. } => drop(reply.send(Err(error))),
        Request::Reserve { reply, .. } | Request::SetTotal { reply, .. } => drop(reply.send(Err(error))),
        Request::Settle { reply, .. } | Request::ContinueBudget { reply, .. } => {
            drop(reply.send(Err(error)));
        }
        Request::MayBeVersionOf { reply, .. } => drop(reply.send(Err(error))),
        Request::Entries { reply } => drop(reply.send(Err(error))),
        Request::Budget { reply, .. } => drop(reply.send(Err(error))),
        Request::Head { reply } => drop(reply.send(Err(error))),
        Request::Seal { reply, .. } => drop(reply.send(Err(error))),
        Request::Verify { reply } => drop(reply.send(Err(error))),
    }
}
