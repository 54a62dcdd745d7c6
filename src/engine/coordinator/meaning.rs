//! What a data set's account comes to: one question at a time on a thread of its own, the newest wins.

use std::sync::Arc;

use crate::engine::EngineError;
use crate::engine::coordinator::{Coordinator, Note};
use crate::engine::event::{Area, Problem};
use crate::engine::meaning::{MeaningAnswer, MeaningQuestion, weigh};
use crate::engine::snapshot::{LedgerCheck, LedgerView};

/// The last answer, and the question that waits for the thread.
#[derive(Default)]
pub(super) struct MeaningState {
    answer: Option<Arc<MeaningAnswer>>,
    is_weighing: bool,
    next: Option<Box<MeaningQuestion>>,
}

impl MeaningState {
    pub fn answer(&self) -> Option<Arc<MeaningAnswer>> {
        self.answer.clone()
    }
}

impl Coordinator {
    pub(super) fn weigh(&mut self, question: Box<MeaningQuestion>) {
        self.meaning.next = Some(question);
        self.next_weighing();
    }

    fn next_weighing(&mut self) {
        if self.meaning.is_weighing {
            return;
        }
        let Some(question) = self.meaning.next.take() else {
            return;
        };
        let notes = self.note_sender.clone();
        let last = self.meaning.answer.clone();
        let spawned = std::thread::Builder::new().name("meaning".into()).spawn(move || {
            let answer = crate::engine::catching(Area::Ledger, || Ok(weigh(*question, last.as_deref())));
            // A coordinator that is gone needs no answer.
            let _ = notes.send(Note::Weighed(Box::new(answer)));
        });
        match spawned {
            Ok(_) => self.meaning.is_weighing = true,
            Err(error) => self.fail(Problem::new(Area::Ledger, &EngineError::Thread(error))),
        }
    }

    pub(super) fn weighed(&mut self, answer: Result<MeaningAnswer, Problem>) {
        self.meaning.is_weighing = false;
        match answer {
            Ok(answer) => self.meaning.answer = Some(Arc::new(answer)),
            Err(problem) => self.fail(problem),
        }
        self.next_weighing();
    }

    /// Reads the whole chain afresh and keeps what was found beside the entries.
    pub(super) fn check_ledger(&mut self) {
        let check = match self.ledger.verify() {
            Ok(found) => LedgerCheck {
                entries: found.entries,
                findings: found
                    .findings
                    .iter()
                    .map(crate::engine::told::ledger::finding)
                    .collect(),
            },
            Err(error) => {
                self.ledger_view = Arc::new(LedgerView {
                    problem: Some(Problem::new(Area::Ledger, &error)),
                    ..(*self.ledger_view).clone()
                });
                return;
            }
        };
        self.ledger_view = Arc::new(LedgerView {
            check: Some(check),
            ..(*self.ledger_view).clone()
        });
    }
}
