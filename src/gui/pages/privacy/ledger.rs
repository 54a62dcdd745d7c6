//! The ledger as a table: sorted, filtered, each entry with its details, and taken away without hashes.

use std::sync::Arc;

use eframe::egui::{self, Align, Layout, RichText, TextEdit, Ui, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

use crate::engine::MeaningAnswer;
use crate::engine::settings::Language;
use crate::engine::snapshot::LedgerView;
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::pages::privacy::{csv, details};
use crate::gui::theme::{SMALL, STEP};
use crate::gui::widgets;
use crate::privacy::PrivacyEvent;
use crate::privacy::ledger::{Charge, Entry, EntryId, Status};
use crate::release::Query;

/// The height of an entry.
const ROW: f32 = 28.0;
/// The height of the names above them.
const HEADER: f32 = 24.0;
/// The width of an entry's details beside the table.
const DETAILS: f32 = 360.0;
/// Below this width they stand in place of the table.
const BESIDE: f32 = 860.0;

/// What the table is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Number,
    Time,
    Data,
    Job,
    Charge,
    Share,
    State,
}

/// The columns, with the keys of their names and their widths.
const COLUMNS: [(Sort, &str, f32); 7] = [
    (Sort::Number, "ledger-number", 56.0),
    (Sort::Time, "ledger-time", 132.0),
    (Sort::Data, "ledger-data", 150.0),
    (Sort::Job, "ledger-what", 230.0),
    (Sort::Charge, "ledger-charge", 160.0),
    (Sort::Share, "ledger-share", 76.0),
    (Sort::State, "ledger-state", 0.0),
];

/// What the table remembers between frames.
pub struct LedgerTable {
    sort: Sort,
    rising: bool,
    filter: String,
    only_this: bool,
    open: Option<EntryId>,
    order: Option<(Key, Vec<usize>)>,
}

/// What the order of the rows depends on.
type Key = (Arc<LedgerView>, Sort, bool, String, Option<u64>, Language, usize);

impl Default for LedgerTable {
    fn default() -> Self {
        Self {
            sort: Sort::Number,
            rising: false,
            filter: String::new(),
            only_this: false,
            open: None,
            order: None,
        }
    }
}

impl LedgerTable {
    /// Draws count, filter and export, in the row of the card's tabs.
    pub fn head(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, answer: Option<&MeaningAnswer>) {
        let t = cx.texts;
        let ledger = Arc::clone(&cx.snapshot.ledger);
        let count = t.with("ledger-count", [("count", ledger.entries.len().into())]);
        let state = match &ledger.check {
            Some(check) if check.findings.is_empty() => t.get("chain-whole"),
            Some(_) => t.get("chain-broken"),
            None => "",
        };
        let caption = [count.as_str(), state]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · ");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let export = ui
                .add_enabled(
                    !ledger.entries.is_empty(),
                    egui::Button::new(t.get("ledger-export")),
                )
                .on_hover_text(t.get("ledger-export-tip"));
            if export.clicked() {
                let rows = self.rows(cx).to_vec();
                let entries = rows.iter().map(|&at| &ledger.entries[at]);
                let content = csv::write(entries, answer.map(|answer| &*answer.shares));
                cx.intents
                    .push(Intent::SaveFigure("ledger.csv".to_owned(), content.into_bytes()));
            }
            ui.add(
                TextEdit::singleline(&mut self.filter)
                    .hint_text(t.get("ledger-filter"))
                    .desired_width(150.0),
            )
            .accessible_name(t.get("ledger-filter"));
            if cx.snapshot.dataset.is_some() {
                ui.checkbox(&mut self.only_this, t.get("ledger-only-this"));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                widgets::truncated(ui, cx.palette.caption(caption));
            });
        });
    }

    /// Whether an entry's details are in view.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Draws the table, and the open entry's details beside it.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, answer: Option<&MeaningAnswer>) {
        let t = cx.texts;
        let ledger = Arc::clone(&cx.snapshot.ledger);
        if ledger.entries.is_empty() {
            ui.add(egui::Label::new(t.get("ledger-empty")).wrap());
            return;
        }
        let rows = self.rows(cx).to_vec();
        let open = self
            .open
            .and_then(|id| ledger.entries.iter().find(|entry| entry.id == id));
        let Some(open) = open else {
            self.table(ui, cx, &ledger, (&rows, answer));
            return;
        };
        let beside = ui.available_width() >= BESIDE;
        let height = ui.available_height();
        let mut close = false;
        ui.horizontal_top(|ui| {
            if beside {
                let width = ui.available_width() - DETAILS - 2.0 * STEP;
                // Its rows stand under each other, whatever stands beside them.
                ui.allocate_ui_with_layout(vec2(width, height), Layout::top_down(Align::Min), |ui| {
                    ui.set_width(width);
                    self.table(ui, cx, &ledger, (&rows, answer));
                });
            }
            let size = vec2(ui.available_width(), height);
            ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
                ui.set_width(size.x);
                let share = answer.and_then(|answer| answer.shares.get(&open.id).copied());
                close = details::show(ui, cx, open, share);
            });
        });
        if close {
            self.open = None;
        }
    }

    /// The rows as sorted and filtered; worked out anew only when something of that changed.
    fn rows(&mut self, cx: &Cx<'_>) -> &[usize] {
        let ledger = &cx.snapshot.ledger;
        let this = cx
            .snapshot
            .dataset
            .as_ref()
            .filter(|_| self.only_this)
            .map(|dataset| {
                dataset
                    .budget
                    .as_ref()
                    .and_then(|budget| budget.dataset)
                    .unwrap_or(0)
            });
        let answered = cx
            .snapshot
            .meaning
            .as_ref()
            .map_or(0, |meaning| Arc::as_ptr(&meaning.shares).addr());
        let key: Key = (
            Arc::clone(ledger),
            self.sort,
            self.rising,
            self.filter.trim().to_lowercase(),
            this,
            cx.texts.language(),
            answered,
        );
        let same = |known: &Key| {
            Arc::ptr_eq(&known.0, &key.0)
                && (known.1, known.2, &known.3, known.4, known.5, known.6)
                    == (key.1, key.2, &key.3, key.4, key.5, key.6)
        };
        let known = self.order.take().filter(|(known, _)| same(known));
        let fresh = || {
            let rows = order(cx, &key);
            (key.clone(), rows)
        };
        &self.order.insert(known.unwrap_or_else(fresh)).1
    }

    fn table(
        &mut self,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
        ledger: &LedgerView,
        (rows, answer): (&[usize], Option<&MeaningAnswer>),
    ) {
        let t = cx.texts;
        let height = (ui.available_height() - HEADER - STEP).max(ROW);
        if rows.is_empty() {
            ui.label(cx.palette.caption(t.get("ledger-none-fits")));
            return;
        }
        egui::ScrollArea::horizontal()
            .id_salt("ledger")
            .auto_shrink(false)
            .show(ui, |ui| {
                widgets::quiet_table(ui);
                let mut table = TableBuilder::new(ui)
                    .id_salt("ledger")
                    .auto_shrink(false)
                    .resizable(true)
                    .sense(egui::Sense::click())
                    .min_scrolled_height(height)
                    .max_scroll_height(height)
                    .cell_layout(Layout::left_to_right(Align::Center));
                for (_, _, width) in COLUMNS {
                    table = table.column(if width > 0.0 {
                        Column::initial(width).at_least(40.0).clip(true)
                    } else {
                        Column::remainder().at_least(140.0).clip(true)
                    });
                }
                table
                    .header(HEADER, |mut header| {
                        for (sort, key, _) in COLUMNS {
                            header.col(|ui| self.column_head(ui, cx, sort, key));
                        }
                    })
                    .body(|body| {
                        body.rows(ROW, rows.len(), |mut row| {
                            let entry = &ledger.entries[rows[row.index()]];
                            row.set_selected(false);
                            let share = answer.and_then(|answer| answer.shares.get(&entry.id).copied());
                            if entry_row(&mut row, cx, entry, share) {
                                self.open = Some(entry.id);
                            }
                        });
                    });
            });
    }

    /// A column's name, which sorts by it.
    fn column_head(&mut self, ui: &mut Ui, cx: &Cx<'_>, sort: Sort, key: &str) {
        let name = cx.texts.get(key);
        let chosen = self.sort == sort;
        let arrow = match (chosen, self.rising) {
            (false, _) => "",
            (true, true) => " ↑",
            (true, false) => " ↓",
        };
        let text = RichText::new(format!("{name}{arrow}"))
            .size(SMALL)
            .color(if chosen { cx.palette.text } else { cx.palette.muted });
        ui.spacing_mut().button_padding = vec2(0.0, 2.0);
        ui.spacing_mut().interact_size.y = 20.0;
        let button = ui.add(egui::Button::new(text).frame(false).truncate());
        let spoken = cx.texts.with("ledger-sort", [("column", name.into())]);
        if button.accessible_name(&spoken).on_hover_text(&spoken).clicked() {
            self.rising = if chosen {
                !self.rising
            } else {
                sort != Sort::Number && sort != Sort::Time
            };
            self.sort = sort;
        }
    }
}

/// The entries' places in the order of the table.
fn order(cx: &Cx<'_>, (ledger, sort, rising, filter, this, ..): &Key) -> Vec<usize> {
    let shares = cx
        .snapshot
        .meaning
        .as_ref()
        .map(|meaning| Arc::clone(&meaning.shares));
    let share = |entry: &Entry| {
        let shares = shares.as_ref()?;
        shares.get(&entry.id).copied()
    };
    let fits = |entry: &Entry| {
        this.is_none_or(|this| entry.dataset == this)
            && (filter.is_empty()
                || [
                    entry.id.to_string(),
                    format::local_time(entry.time_ms),
                    entry.dataset_name.to_lowercase(),
                    what(cx, entry).to_lowercase(),
                    entry.description.to_lowercase(),
                    cx.texts.get(status_key(entry)).to_lowercase(),
                ]
                .iter()
                .any(|text| text.contains(filter.as_str())))
    };
    let mut rows: Vec<usize> = (0..ledger.entries.len())
        .filter(|&at| fits(&ledger.entries[at]))
        .collect();
    let entry = |at: &usize| &ledger.entries[*at];
    match sort {
        Sort::Number => rows.sort_by_key(|at| entry(at).id),
        Sort::Time => rows.sort_by_key(|at| entry(at).time_ms),
        Sort::Data => rows.sort_by_key(|at| entry(at).dataset_name.clone()),
        Sort::Job => rows.sort_by_cached_key(|at| what(cx, entry(at))),
        Sort::Charge => rows.sort_by(|a, b| entry(a).epsilon.total_cmp(&entry(b).epsilon)),
        Sort::Share => rows.sort_by(|a, b| {
            let of = |at| share(entry(at)).unwrap_or(-1.0);
            of(a).total_cmp(&of(b))
        }),
        Sort::State => rows.sort_by_key(|at| status_key(entry(at))),
    }
    if !rising {
        rows.reverse();
    }
    rows
}

/// Draws an entry; true when its details were asked for.
fn entry_row(row: &mut TableRow<'_, '_>, cx: &Cx<'_>, entry: &Entry, share: Option<f64>) -> bool {
    let t = cx.texts;
    let mut asked = false;
    row.col(|ui| {
        widgets::row_line(ui, cx.palette);
        ui.spacing_mut().interact_size.y = 22.0;
        let number = entry.id.to_string();
        let name = t.with("ledger-details-of", [("number", number.as_str().into())]);
        let button = widgets::quiet_button(ui, cx.palette, &number);
        asked = button.accessible_name(&name).on_hover_text(&name).clicked();
    });
    let mut cell = |text: RichText, tip: Option<&str>| {
        row.col(|ui| {
            widgets::row_line(ui, cx.palette);
            let response = widgets::truncated(ui, text);
            if let Some(tip) = tip.filter(|tip| !tip.is_empty()) {
                response.on_hover_text(tip);
            }
        });
    };
    cell(RichText::new(format::local_time(entry.time_ms)), None);
    cell(RichText::new(&entry.dataset_name), None);
    cell(RichText::new(what(cx, entry)), Some(&entry.description));
    cell(RichText::new(charge(cx, entry)), None);
    let part = share.map(format::percent).unwrap_or_default();
    cell(RichText::new(part), None);
    let text = RichText::new(t.get(status_key(entry))).size(SMALL + 1.0);
    cell(text.color(status_color(cx, &entry.status)), entry.note.as_deref());
    asked || row.response().clicked()
}

/// ε and δ that were charged.
pub fn charge(cx: &Cx<'_>, entry: &Entry) -> String {
    cx.texts.with(
        "budget-charge",
        [
            ("epsilon", format::epsilon(entry.epsilon).into()),
            ("delta", format::delta(entry.delta).into()),
        ],
    )
}

/// The key of a state's name.
pub fn status_key(entry: &Entry) -> &'static str {
    let is_whole = |reserved: Charge| entry.epsilon > 0.0 && reserved.epsilon <= entry.epsilon;
    match &entry.status {
        Status::Reserved => "status-reserved",
        Status::Finished => "status-finished",
        Status::StoppedByPerson => "status-stopped",
        Status::Failed { .. } if entry.reserved.is_some_and(is_whole) => "status-failed-in-full",
        Status::Failed { .. } => "status-failed",
        Status::Discarded => "status-discarded",
        Status::TotalSet => "status-total-set",
        Status::TotalRaised => "status-total-raised",
        Status::NewVersion => "status-new-version",
    }
}

fn status_color(cx: &Cx<'_>, status: &Status) -> egui::Color32 {
    match status {
        Status::Reserved => cx.palette.accent,
        Status::Finished => cx.palette.ok,
        Status::StoppedByPerson => cx.palette.warn_text,
        Status::Failed { .. } => cx.palette.second_text,
        _ => cx.palette.muted,
    }
}

/// What a job was, in the window's language as far as its kind and events say it; in the words it was entered with
/// otherwise.
pub fn what(cx: &Cx<'_>, entry: &Entry) -> String {
    let t = cx.texts;
    let key = format!("job-{}", entry.kind);
    let kind = if t.has(&key) {
        t.get(&key)
    } else {
        entry.kind.as_str()
    };
    if Query::ALL.iter().any(|query| query.name() == entry.kind) {
        return statistic(cx, kind, &entry.description);
    }
    let steps: u64 = entry.events.as_ref().map_or(0, |list| {
        list.events
            .iter()
            .map(|counted| match counted.event {
                PrivacyEvent::PoissonSampledGaussian { steps, .. } => steps * counted.count,
                _ => 0,
            })
            .sum()
    });
    // What looks at the data once has its steps in the words it was entered with only.
    let entered = entry.description.split_once(" steps").map(|(count, _)| count);
    let steps = Some(steps).filter(|steps| *steps > 0);
    let steps = steps.or_else(|| entered?.parse().ok());
    let more = match steps {
        Some(steps) => t.with("run-steps", [("steps", format::count(steps).into())]),
        None => entry.description.clone(),
    };
    [kind, &more]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// A statistic with the columns that its description names between backticks.
fn statistic(cx: &Cx<'_>, kind: &str, description: &str) -> String {
    let columns: Vec<&str> = description.split('`').skip(1).step_by(2).collect();
    match columns.as_slice() {
        [] => kind.to_owned(),
        [column] => cx.texts.with(
            "released-of",
            [("query", kind.into()), ("column", (*column).into())],
        ),
        [column, by, ..] => cx.texts.with(
            "released-by",
            [
                ("query", kind.into()),
                ("column", (*column).into()),
                ("by", (*by).into()),
            ],
        ),
    }
}
