//! Work that is kept as it changes, and taken up again.

use std::sync::Arc;

use crate::data::Schema;
use crate::engine::Session;
use crate::engine::command::{Command, RunRequest};
use crate::engine::settings::{Folded, Sizes};
use crate::engine::snapshot::Snapshot;
use crate::gui::command::{Action, Page};
use crate::gui::workbench::Workbench;

/// What the kept session was made from: compared instead of the session itself, which takes long to write.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    table: u64,
    schema: Arc<Schema>,
    plan: RunRequest,
    page: Page,
    folded: Folded,
    sizes: Sizes,
}

impl Workbench {
    /// What was worked on when the program was closed: the welcome page offers it.
    pub fn offer(&mut self, session: Option<Session>) {
        self.welcome.last = session;
    }

    /// The present work, if a table is open.
    pub(super) fn session(&self, snapshot: &Snapshot) -> Option<Session> {
        let dataset = snapshot.dataset.as_ref()?;
        let page = Action::Go(self.page).described().key;
        let layout = (self.settings.folded, self.settings.sizes);
        Session::of(dataset, &self.train.request, page, layout)
    }

    /// Keeps the present work whenever it has changed and nothing is held down.
    pub(super) fn keep_session(&mut self, snapshot: &Snapshot, held: bool) {
        let Some(dataset) = &snapshot.dataset else { return };
        if held || self.resuming.is_some() {
            return;
        }
        let same = self.kept.as_ref().is_some_and(|kept| {
            kept.table == dataset.generation
                && Arc::ptr_eq(&kept.schema, &dataset.schema)
                && kept.plan == self.train.request
                && kept.page == self.page
                && kept.folded == self.settings.folded
                && kept.sizes == self.settings.sizes
        });
        if same {
            return;
        }
        self.kept = Some(Kept {
            table: dataset.generation,
            schema: Arc::clone(&dataset.schema),
            plan: self.train.request.clone(),
            page: self.page,
            folded: self.settings.folded,
            sizes: self.settings.sizes,
        });
        if let Some(session) = self.session(snapshot) {
            self.welcome.last = Some(session.clone());
            self.commands.push(Command::KeepSession(Box::new(session)));
        }
    }

    /// Opens a session's table; the rest follows when it is read.
    pub(super) fn resume(&mut self, session: Session) {
        match session.source() {
            Ok(source) => {
                self.commands.push(Command::Open(source));
                self.resuming = Some(Box::new(session));
            }
            // A session is checked when it is read.
            Err(_) => self.resuming = None,
        }
    }

    /// Opens a table that was reviewed before, at its beginning and with the window as it is.
    pub(super) fn review_again(&mut self, session: Session) {
        self.resume(Session {
            page: String::new(),
            folded: self.settings.folded,
            sizes: self.settings.sizes,
            ..session
        });
    }

    /// The table is read: schema, plan, page and layout come back.
    pub(super) fn resumed(&mut self) {
        let Some(session) = self.resuming.take() else {
            return;
        };
        if let Ok(schema) = session.schema() {
            self.commands.push(Command::RestoreSchema(Arc::new(schema)));
        }
        self.train.resume(session.plan.request());
        self.settings.folded = session.folded;
        self.settings.sizes = session.sizes;
        let page = Page::ALL
            .into_iter()
            .find(|page| Action::Go(*page).described().key == session.page);
        self.page = page.unwrap_or(Page::Data);
    }
}
