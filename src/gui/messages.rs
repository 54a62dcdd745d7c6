//! What the person is told: toasts that pass, and the log where everything stays.

use std::time::{Duration, Instant};

use chrono::{DateTime, Local};
use eframe::egui::{self, Align2, Color32, Id, Order, RichText, Ui, accesskit, vec2};

use crate::engine::event::{Area, EngineEvent, Problem};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets::{self, Icon};
use crate::num::Message as Text;
use crate::train::StopReason;

/// How long a toast stays.
const TOAST: Duration = Duration::from_secs(7);
/// How long a problem's toast stays.
const PROBLEM_TOAST: Duration = Duration::from_secs(20);
/// How many toasts show at once.
const TOASTS: usize = 3;
/// How many messages the log keeps.
const KEPT: usize = 2000;

/// A message of the window itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The system offers no file dialog: the path field is the way.
    NoDialog,
    /// The window system gave no picture.
    NoPicture,
    /// More than one file was dropped; the first was taken.
    OneFileOnly,
    /// Settings could not be read.
    Settings(Text),
}

/// What a message is about.
#[derive(Clone, Debug)]
pub enum News {
    /// Something the engine reported.
    Engine(Box<EngineEvent>),
    /// Something the window itself has to say.
    Note(Note),
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It went well.
    Good,
    /// To be known.
    Notice,
    /// Something failed.
    Problem,
}

struct Message {
    time: DateTime<Local>,
    shown_until: Instant,
    weight: Weight,
    news: News,
    unfolded: bool,
}

/// All messages of the session.
#[derive(Default)]
pub struct Messages {
    messages: Vec<Message>,
    /// Whether the log is open.
    pub log_open: bool,
}

/// A message in the window's language: its title, what it says, and the causes behind it.
pub struct Told {
    /// One line.
    pub title: String,
    /// The rest; may be empty.
    pub body: String,
    /// The chain behind a problem.
    pub causes: Vec<String>,
}

impl Messages {
    /// Takes a message in.
    pub fn add(&mut self, news: News) {
        let weight = weight(&news);
        let stay = if weight == Weight::Problem {
            PROBLEM_TOAST
        } else {
            TOAST
        };
        if self.messages.len() >= KEPT {
            self.messages.remove(0);
        }
        self.messages.push(Message {
            time: Local::now(),
            shown_until: Instant::now() + stay,
            weight,
            news,
            unfolded: false,
        });
    }

    /// Takes the toasts of problems of these parts away: they are mended. The log keeps them.
    pub fn settle(&mut self, areas: &[Area]) {
        for message in &mut self.messages {
            if let News::Engine(event) = &message.news
                && let EngineEvent::Failed(problem) | EngineEvent::ReleaseFailed(problem) = &**event
                && areas.contains(&problem.area)
            {
                message.shown_until = message.shown_until.min(Instant::now());
            }
        }
    }

    /// The latest message's time and title, for the job strip.
    pub fn latest(&self, cx: &Cx<'_>) -> Option<(String, Weight)> {
        let message = self.messages.last()?;
        let told = tell(cx, &message.news);
        Some((
            format!("{} {}", message.time.format("%H:%M"), told.title),
            message.weight,
        ))
    }

    /// Draws the toasts over everything, in the lower right corner above the job strip.
    pub fn toasts(&mut self, ctx: &egui::Context, cx: &Cx<'_>, above: f32) {
        if self.log_open {
            return;
        }
        let now = Instant::now();
        let live: Vec<usize> = (0..self.messages.len())
            .rev()
            .filter(|&at| self.messages[at].shown_until > now)
            .take(TOASTS)
            .collect();
        let Some(next) = live.iter().map(|&at| self.messages[at].shown_until).min() else {
            return;
        };
        // One repaint when the first of them goes; none in between.
        ctx.request_repaint_after(next.saturating_duration_since(now) + Duration::from_millis(10));
        egui::Area::new(Id::unique("toasts"))
            .order(Order::Foreground)
            .anchor(Align2::RIGHT_BOTTOM, vec2(-2.0 * STEP, -above - STEP))
            .show(ctx, |ui| {
                let width = (ctx.content_rect().width() - 4.0 * STEP).min(380.0);
                ui.set_width(width);
                for at in live.into_iter().rev() {
                    let closed = toast(ui, cx, &self.messages[at]);
                    if closed {
                        self.messages[at].shown_until = now;
                    }
                }
            });
    }

    /// Draws the log, latest first.
    pub fn log(&mut self, ui: &mut Ui, cx: &Cx<'_>) {
        ui.horizontal(|ui| {
            ui.label(cx.palette.strong(cx.texts.get("log-title")));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if widgets::icon_button(ui, Icon::Close, cx.texts.get("log-close")).clicked() {
                    self.log_open = false;
                }
            });
        });
        if self.messages.is_empty() {
            ui.label(cx.palette.caption(cx.texts.get("log-empty")));
        }
        egui::ScrollArea::vertical()
            .id_salt("log")
            .auto_shrink(false)
            .show(ui, |ui| {
                for (at, message) in self.messages.iter_mut().enumerate().rev() {
                    ui.push_id(at, |ui| log_line(ui, cx, message));
                }
            });
    }
}

fn color(cx: &Cx<'_>, weight: Weight) -> Color32 {
    match weight {
        Weight::Good => cx.palette.ok,
        Weight::Notice => cx.palette.accent,
        Weight::Problem => cx.palette.second_text,
    }
}

fn toast(ui: &mut Ui, cx: &Cx<'_>, message: &Message) -> bool {
    let told = tell(cx, &message.news);
    let frame = cx
        .palette
        .card()
        .stroke(egui::Stroke::new(1.0, color(cx, message.weight)));
    let response = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 4.0;
        ui.horizontal_top(|ui| {
            widgets::dot(ui, color(cx, message.weight));
            let text_width = ui.available_width() - 36.0;
            ui.vertical(|ui| {
                ui.set_width(text_width);
                ui.add(egui::Label::new(cx.palette.strong(&told.title)).wrap());
                if !told.body.is_empty() {
                    ui.add(egui::Label::new(&told.body).wrap());
                }
            });
            widgets::icon_button(ui, Icon::Close, cx.texts.get("toast-close")).clicked()
        })
        .inner
    });
    // Screen readers say a toast when it appears.
    ui.ctx().accesskit_node_builder(response.response.id, |node| {
        node.set_live(accesskit::Live::Polite);
    });
    response.inner
}

fn log_line(ui: &mut Ui, cx: &Cx<'_>, message: &mut Message) {
    let told = tell(cx, &message.news);
    ui.horizontal_top(|ui| {
        ui.label(cx.palette.caption(message.time.format("%H:%M:%S").to_string()));
        widgets::dot(ui, color(cx, message.weight));
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let line = if told.body.is_empty() {
                RichText::new(&told.title)
            } else {
                RichText::new(format!("{} — {}", told.title, told.body))
            };
            ui.add(
                egui::Label::new(line.color(cx.palette.text))
                    .wrap()
                    .selectable(true),
            );
            if !told.causes.is_empty() {
                let key = if message.unfolded {
                    "causes-hide"
                } else {
                    "causes-show"
                };
                if widgets::quiet_button(ui, cx.palette, cx.texts.get(key)).clicked() {
                    message.unfolded = !message.unfolded;
                }
                if message.unfolded {
                    for cause in &told.causes {
                        ui.add(
                            egui::Label::new(RichText::new(cause).size(SMALL))
                                .wrap()
                                .selectable(true),
                        );
                    }
                }
            }
        });
    });
}

fn weight(news: &News) -> Weight {
    match news {
        News::Engine(event) => match **event {
            EngineEvent::RunFailed { ref problem, .. } if was_discarded(problem) => Weight::Notice,
            EngineEvent::Opened { .. }
            | EngineEvent::SchemaSaved(_)
            | EngineEvent::FigureSaved(_)
            | EngineEvent::Finished { .. }
            | EngineEvent::Exported(_)
            | EngineEvent::Released(_) => Weight::Good,
            EngineEvent::RunFailed { .. } | EngineEvent::ReleaseFailed(_) | EngineEvent::Failed(_) => {
                Weight::Problem
            }
            _ => Weight::Notice,
        },
        News::Note(Note::Settings(_)) => Weight::Problem,
        News::Note(_) => Weight::Notice,
    }
}

fn area_key(area: Area) -> &'static str {
    match area {
        Area::Load => "problem-load",
        Area::Schema => "problem-schema",
        Area::Train => "problem-train",
        Area::Export => "problem-export",
        Area::Release => "problem-release",
        Area::Figure => "problem-figure",
        Area::Ledger => "problem-ledger",
        Area::Settings => "problem-settings",
    }
}

/// The title of what is only to be known: nothing failed.
fn notice_key(area: Area) -> &'static str {
    match area {
        Area::Load => "notice-load",
        other => area_key(other),
    }
}

fn problem(cx: &Cx<'_>, problem: &Problem) -> Told {
    Told {
        title: cx.texts.get(area_key(problem.area)).to_owned(),
        body: cx.texts.say(&problem.message),
        causes: problem.causes.iter().map(|cause| cx.texts.say(cause)).collect(),
    }
}

/// Whether a run has no result because a person threw it away.
pub fn was_discarded(problem: &Problem) -> bool {
    problem.message.key() == Some("say-thrown-away")
}

/// What is open are rows, or images.
fn opened_key(cx: &Cx<'_>, name: &str) -> &'static str {
    let dataset = cx.snapshot.dataset.as_ref();
    match dataset.filter(|dataset| dataset.name == name && dataset.images.is_some()) {
        Some(_) => "event-opened-images",
        None => "event-opened",
    }
}

/// Why a run ended, in the window's language.
pub fn stop_reason<'a>(cx: &Cx<'a>, reason: StopReason) -> &'a str {
    let texts = cx.texts;
    match reason {
        StopReason::Planned => texts.get("stopped-planned"),
        StopReason::ByPerson => texts.get("stopped-by-person"),
        StopReason::BudgetReached => texts.get("stopped-budget"),
    }
}

/// Puts a message into the window's language.
pub fn tell(cx: &Cx<'_>, news: &News) -> Told {
    let t = cx.texts;
    let plain = |title: String, body: String| Told {
        title,
        body,
        causes: Vec::new(),
    };
    let event = match news {
        News::Note(note) => {
            let (title, body) = match note {
                Note::NoDialog => (t.get("note-no-dialog"), String::new()),
                Note::NoPicture => (t.get("note-no-picture"), String::new()),
                Note::OneFileOnly => (t.get("note-one-file"), String::new()),
                Note::Settings(message) => (t.get("problem-settings"), t.say(message)),
            };
            return plain(title.to_owned(), body);
        }
        News::Engine(event) => &**event,
    };
    match event {
        EngineEvent::Opened { name, rows } => plain(
            t.with(
                opened_key(cx, name),
                [
                    ("name", name.as_str().into()),
                    ("rows", format::count(*rows as u64).into()),
                ],
            ),
            String::new(),
        ),
        EngineEvent::SessionOpened(session) => {
            plain(t.get("event-session").to_owned(), session.data.name.clone())
        }
        EngineEvent::ReviewFound(session) => {
            plain(t.get("event-review-found").to_owned(), session.data.name.clone())
        }
        EngineEvent::LoadCancelled => plain(t.get("event-load-cancelled").to_owned(), String::new()),
        EngineEvent::SchemaSaved(path) => {
            plain(t.get("event-schema-saved").to_owned(), path.display().to_string())
        }
        EngineEvent::Started { ledger_entry, .. } => plain(
            t.get("event-started").to_owned(),
            match ledger_entry {
                Some(entry) => t.with("event-started-entry", [("entry", entry.to_string().into())]),
                None => t.get("event-started-no-claim").to_owned(),
            },
        ),
        EngineEvent::Warning { area, message, .. } => {
            plain(t.get(notice_key(*area)).to_owned(), t.say(message))
        }
        EngineEvent::Finished { reason, .. } => plain(
            t.get("event-finished").to_owned(),
            stop_reason(cx, *reason).to_owned(),
        ),
        EngineEvent::Left { .. } => plain(t.get("event-left").to_owned(), String::new()),
        EngineEvent::Abandoned(_) => plain(t.get("event-abandoned").to_owned(), String::new()),
        EngineEvent::RunFailed { problem: failed, .. } if was_discarded(failed) => {
            plain(t.get("event-discarded").to_owned(), t.say(&failed.message))
        }
        EngineEvent::RunFailed { problem: failed, .. }
        | EngineEvent::ReleaseFailed(failed)
        | EngineEvent::Failed(failed) => problem(cx, failed),
        EngineEvent::Released(released) => plain(
            t.with(
                "event-released",
                [("entry", released.ledger_entry.to_string().into())],
            ),
            crate::gui::pages::explore::released::asked(cx, &released.request),
        ),
        EngineEvent::Exported(exported) => plain(
            crate::gui::pages::export::written(cx, exported),
            std::iter::once(exported.table.display().to_string())
                .chain(exported.written.rules.iter().map(|kept| {
                    t.with(
                        "event-rule",
                        [
                            ("rule", kept.rule.as_str().into()),
                            ("rows", format::count(kept.mended).into()),
                        ],
                    )
                }))
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        EngineEvent::FigureSaved(path) => {
            plain(t.get("event-figure-saved").to_owned(), path.display().to_string())
        }
        EngineEvent::ExportCancelled => plain(t.get("event-export-cancelled").to_owned(), String::new()),
        EngineEvent::TargetExists(path) => plain(
            t.get("event-target-exists").to_owned(),
            path.display().to_string(),
        ),
    }
}
