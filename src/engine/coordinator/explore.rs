//! Previews and compositions for the window: each one at a time on a thread of its own, and the newest question wins.

use std::sync::Arc;

use crate::engine::coordinator::{Coordinator, Note};
use crate::engine::event::{Area, Problem};
use crate::engine::explore::{Explored, explore};
use crate::engine::several::{Composed, SeveralRequest};
use crate::release::outlook::Question;

/// The last answers, and what waits for a thread.
#[derive(Default)]
pub(super) struct ExploreState {
    seen: Option<Arc<Explored>>,
    is_looking: bool,
    next: Option<Box<Question>>,
    composed: Option<Arc<Composed>>,
    is_composing: bool,
    next_several: Option<Box<SeveralRequest>>,
}

impl ExploreState {
    pub fn seen(&self) -> Option<Arc<Explored>> {
        self.seen.clone()
    }

    pub fn composed(&self) -> Option<Arc<Composed>> {
        self.composed.clone()
    }

    /// Forgets what was read off another table.
    pub fn forget(&mut self) {
        *self = Self {
            is_looking: self.is_looking,
            is_composing: self.is_composing,
            ..Self::default()
        };
    }
}

impl Coordinator {
    pub(super) fn explore(&mut self, question: Box<Question>) {
        self.explore.next = Some(question);
        self.next_exploration();
    }

    fn next_exploration(&mut self) {
        if self.explore.is_looking {
            return;
        }
        let (Some(question), Some(dataset)) = (self.explore.next.take(), self.dataset.current()) else {
            return;
        };
        let (generation, table) = (dataset.generation, dataset.table.clone());
        let (schema, misfit) = (Arc::clone(&dataset.schema), dataset.misfit.clone());
        let notes = self.note_sender.clone();
        let spawned = std::thread::Builder::new().name("explore".into()).spawn(move || {
            let outcome = match misfit {
                Some(problem) => Err(problem),
                None => crate::engine::catching(Area::Release, || explore(&schema, &table, &question)),
            };
            // A coordinator that is gone needs no preview.
            let _ = notes.send(Note::Explored {
                generation,
                explored: Box::new(Explored {
                    question: *question,
                    schema,
                    outcome,
                }),
            });
        });
        match spawned {
            Ok(_) => self.explore.is_looking = true,
            Err(error) => {
                self.fail(Problem::new(
                    Area::Release,
                    &crate::engine::EngineError::Thread(error),
                ));
            }
        }
    }

    pub(super) fn explored(&mut self, generation: u64, explored: Explored) {
        self.explore.is_looking = false;
        if self
            .dataset
            .current()
            .is_some_and(|dataset| dataset.generation == generation)
        {
            self.explore.seen = Some(Arc::new(explored));
        }
        self.next_exploration();
    }

    pub(super) fn compose_several(&mut self, request: Box<SeveralRequest>) {
        self.explore.next_several = Some(request);
        self.next_composition();
    }

    fn next_composition(&mut self) {
        if self.explore.is_composing {
            return;
        }
        let Some(request) = self.explore.next_several.take() else {
            return;
        };
        let notes = self.note_sender.clone();
        let spawned = std::thread::Builder::new().name("compose".into()).spawn(move || {
            let asked = (*request).clone();
            let composed = crate::engine::catching(Area::Release, || Ok(request.compose()));
            let _ = notes.send(Note::Composed(Box::new(composed.unwrap_or(Composed {
                request: asked,
                points: Vec::new(),
                share: None,
            }))));
        });
        match spawned {
            Ok(_) => self.explore.is_composing = true,
            Err(error) => {
                self.fail(Problem::new(
                    Area::Release,
                    &crate::engine::EngineError::Thread(error),
                ));
            }
        }
    }

    pub(super) fn several_composed(&mut self, composed: Composed) {
        self.explore.is_composing = false;
        self.explore.composed = Some(Arc::new(composed));
        self.next_composition();
    }
}
