//! The real images nearest to a generated one: sought on a thread of its own, and the newest question wins.

use std::sync::Arc;

use crate::engine::command::NearestQuestion;
use crate::engine::coordinator::{Coordinator, Note};
use crate::engine::event::{Area, Problem};
use crate::engine::snapshot::NearestAnswer;
use crate::evaluate::image::nearest_images;

/// Real images that are shown beside a generated one.
const COUNT: usize = 6;

/// The last answer, and what waits for a thread.
#[derive(Default)]
pub(super) struct NearestState {
    answer: Option<Arc<NearestAnswer>>,
    is_looking: bool,
    next: Option<Box<NearestQuestion>>,
}

impl NearestState {
    pub fn answer(&self) -> Option<Arc<NearestAnswer>> {
        self.answer.clone()
    }

    /// Forgets what was found among other images.
    pub fn forget(&mut self) {
        (self.answer, self.next) = (None, None);
    }
}

impl Coordinator {
    pub(super) fn find_nearest(&mut self, question: Box<NearestQuestion>) {
        self.nearest.next = Some(question);
        self.next_search();
    }

    fn next_search(&mut self) {
        if self.nearest.is_looking {
            return;
        }
        let Some(question) = self.nearest.next.take() else {
            return;
        };
        // A run learns from the images that were open when it was started: others tell nothing of copies.
        let of_run = self
            .runs
            .views()
            .into_iter()
            .find(|run| run.id == question.run)
            .map(|run| run.generation);
        let open = self.dataset.current();
        let Some((images, generation)) = open
            .filter(|dataset| of_run == Some(dataset.generation))
            .and_then(|dataset| Some((dataset.images.clone()?, dataset.generation)))
        else {
            return;
        };
        let notes = self.note_sender.clone();
        let spawned = std::thread::Builder::new().name("nearest".into()).spawn(move || {
            let found = crate::engine::catching(Area::Train, || {
                Ok(nearest_images(&images, &question.image, COUNT))
            });
            let answer = NearestAnswer {
                question: *question,
                generation,
                real: found.unwrap_or_default(),
            };
            // A coordinator that is gone needs no answer.
            let _ = notes.send(Note::NearestFound(Box::new(answer)));
        });
        match spawned {
            Ok(_) => self.nearest.is_looking = true,
            Err(error) => self.fail(Problem::new(
                Area::Train,
                &crate::engine::EngineError::Thread(error),
            )),
        }
    }

    pub(super) fn nearest_found(&mut self, answer: NearestAnswer) {
        self.nearest.is_looking = false;
        let open = self.dataset.current();
        if open.is_some_and(|dataset| dataset.generation == answer.generation) {
            self.nearest.answer = Some(Arc::new(answer));
        }
        self.next_search();
    }
}
