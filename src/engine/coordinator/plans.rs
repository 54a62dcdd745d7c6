//! Plans worked out while a person changes the form: one at a time, and the newest request wins.

use std::sync::Arc;

use crate::engine::command::{EpsilonQuestion, RunRequest};
use crate::engine::coordinator::Coordinator;
use crate::engine::loader::Task;
use crate::engine::snapshot::{EpsilonAnswer, PlanPreview};

/// The plan last worked out, the one under way, and the newest request that waits for it.
#[derive(Default)]
pub(super) struct PlanState {
    shown: Option<Arc<PlanPreview>>,
    under_way: bool,
    waiting: Option<Box<RunRequest>>,
    epsilon: Option<Arc<EpsilonAnswer>>,
    is_looking: bool,
    next_question: Option<Box<EpsilonQuestion>>,
}

impl PlanState {
    pub fn shown(&self) -> Option<Arc<PlanPreview>> {
        self.shown.clone()
    }

    /// Forgets what was shown and asked: it was about another table. What is under way is still answered.
    pub fn forget(&mut self) {
        *self = Self {
            under_way: self.under_way,
            is_looking: self.is_looking,
            ..Self::default()
        };
    }

    pub fn epsilon(&self) -> Option<Arc<EpsilonAnswer>> {
        self.epsilon.clone()
    }
}

impl Coordinator {
    pub(super) fn preview_plan(&mut self, request: Box<RunRequest>) {
        if let Some(shown) = &self.plan.shown
            && shown.request != *request
        {
            self.plan.shown = Some(Arc::new(PlanPreview {
                outdated: true,
                ..(**shown).clone()
            }));
        }
        self.plan.waiting = Some(request);
        self.next_plan();
    }

    /// Works the plan in view out again: the budget that it is a share of has changed.
    pub(super) fn plan_again(&mut self) {
        if self.plan.waiting.is_none()
            && let Some(shown) = &self.plan.shown
        {
            let request = Box::new(shown.request.clone());
            self.preview_plan(request);
        }
    }

    /// Sends the newest request for a plan once the one under way is answered.
    pub(super) fn next_plan(&mut self) {
        if self.plan.under_way {
            return;
        }
        let Some(dataset) = self.dataset.current() else {
            self.plan = PlanState::default();
            return;
        };
        if let Some(request) = self.plan.waiting.take() {
            self.plan.under_way = true;
            let task = Task::Plan {
                dataset: Arc::clone(dataset),
                request,
                total: dataset.budget.as_ref().and_then(|budget| budget.total),
            };
            // The loader ends only with the coordinator.
            let _ = self.tasks.send(task);
        }
    }

    pub(super) fn planned(&mut self, generation: u64, preview: PlanPreview) {
        self.plan.under_way = false;
        if self
            .dataset
            .current()
            .is_some_and(|dataset| dataset.generation == generation)
        {
            let outdated = self.plan.waiting.is_some();
            self.plan.shown = Some(Arc::new(PlanPreview { outdated, ..preview }));
        }
        self.next_plan();
    }

    pub(super) fn find_epsilon(&mut self, question: Box<EpsilonQuestion>) {
        self.plan.next_question = Some(question);
        self.next_question();
    }

    fn next_question(&mut self) {
        if self.plan.is_looking {
            return;
        }
        let Some(dataset) = self.dataset.current() else {
            return;
        };
        if let Some(question) = self.plan.next_question.take() {
            self.plan.is_looking = true;
            let task = Task::FindEpsilon {
                dataset: Arc::clone(dataset),
                question,
            };
            // The loader ends only with the coordinator.
            let _ = self.tasks.send(task);
        }
    }

    pub(super) fn epsilon_found(&mut self, generation: u64, answer: EpsilonAnswer) {
        self.plan.is_looking = false;
        if self
            .dataset
            .current()
            .is_some_and(|dataset| dataset.generation == generation)
        {
            self.plan.epsilon = Some(Arc::new(answer));
        }
        self.next_question();
    }
}
