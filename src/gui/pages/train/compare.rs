//! The runs of this session in one table: what each is and came to, which are drawn over the one in view, what they are
//! called.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use eframe::egui::accesskit::Role;
use eframe::egui::{self, Align, Color32, Key as Pressed, Layout, RichText, Sense, TextEdit, Ui, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

use crate::engine::command::{Command, RunId};
use crate::engine::snapshot::{RunState, RunView};
use crate::gui::context::{Cx, Intent};
use crate::gui::format;
use crate::gui::i18n::Texts;
use crate::gui::jobs;
use crate::gui::theme::{CONTROL, SMALL, STEP};
use crate::gui::widgets::{self, Icon};

/// The height of a row: a button, and the line above it.
const ROW: f32 = CONTROL + 2.0;
/// The least width of a run's name.
const NAME: f32 = 180.0;
/// The width of a run's state.
const STATE: f32 = 124.0;
/// The width of what can be done with a run.
const ACTIONS: f32 = 124.0;
/// Rows that are in view at a time.
const MOST_ROWS: f32 = 6.0;
/// Runs that can be drawn over another: more lines than that cannot be told apart.
pub const MOST_OVERLAID: usize = 5;

/// By what the rows are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Name,
    Data,
    Method,
    Epsilon,
    Steps,
    Time,
    Distance,
    State,
}

impl By {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Name, "compare-name"),
        (Self::Data, "compare-data"),
        (Self::Method, "compare-method"),
        (Self::Epsilon, "compare-epsilon"),
        (Self::Steps, "compare-steps"),
        (Self::Time, "compare-time"),
        (Self::Distance, "compare-distance"),
        (Self::State, "compare-state"),
    ];
}

/// What the table remembers between frames.
#[derive(Default)]
pub struct Compare {
    overlaid: BTreeSet<RunId>,
    sort: Option<(By, bool)>,
    renaming: Option<(RunId, String)>,
    folded: bool,
}

/// A run that is drawn over the one in view.
pub struct Overlaid {
    /// The run.
    pub run: Arc<RunView>,
    /// What its lines are called.
    pub name: String,
    /// Its colour.
    pub color: Color32,
    /// Its place among those drawn over: its mark goes by it.
    pub place: usize,
}

impl Compare {
    /// The runs that are drawn over this one, oldest first.
    pub fn overlaid(&self, cx: &Cx<'_>, shown: RunId) -> Vec<Overlaid> {
        let runs = cx.snapshot.runs.iter();
        let chosen =
            runs.filter(|run| run.id != shown && !run.thrown_away && self.overlaid.contains(&run.id));
        chosen
            .take(MOST_OVERLAID)
            .enumerate()
            .map(|(place, run)| Overlaid {
                run: Arc::clone(run),
                name: short_name(cx, run),
                color: cx.palette.overlaid[place % cx.palette.overlaid.len()],
                place,
            })
            .collect()
    }

    /// Draws the table; the run that was chosen in it, if one was.
    pub fn show(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, shown: RunId) -> Option<RunId> {
        let mut chosen = None;
        widgets::card(ui, cx.palette, |ui| {
            let caption = cx.texts.get("compare-caption");
            ui.horizontal(|ui| {
                let (way, key) = if self.folded {
                    (widgets::Way::Down, "compare-unfold")
                } else {
                    (widgets::Way::Up, "compare-fold")
                };
                if widgets::icon_button(ui, Icon::Fold(way), cx.texts.get(key)).clicked() {
                    self.folded = !self.folded;
                }
                let count = cx.snapshot.runs.len();
                ui.label(
                    cx.palette
                        .strong(cx.texts.with("compare-title", [("count", count.into())])),
                );
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    widgets::truncated(ui, cx.palette.caption(caption)).on_hover_text(caption);
                });
            });
            if !self.folded {
                egui::ScrollArea::horizontal()
                    .id_salt("compare")
                    .auto_shrink([false, true])
                    .show(ui, |ui| chosen = self.table(ui, cx, shown));
            }
        });
        ui.add_space(STEP);
        chosen
    }

    fn table(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, shown: RunId) -> Option<RunId> {
        let runs = self.sorted(cx);
        let are_mixed = runs.iter().any(|run| !run.has_data_of(&runs[0]));
        let mut chosen = None;
        widgets::quiet_table(ui);
        let height = (runs.len() as f32).min(MOST_ROWS) * (ROW + ui.spacing().item_spacing.y);
        let mut table = TableBuilder::new(ui)
            .id_salt("compare")
            .striped(false)
            .auto_shrink([false, true])
            .min_scrolled_height(height)
            .max_scroll_height(height)
            .cell_layout(Layout::left_to_right(Align::Center))
            .column(Column::exact(24.0))
            .column(Column::remainder().at_least(NAME).clip(true));
        if are_mixed {
            table = table.column(Column::initial(96.0).clip(true));
        }
        table = table
            .column(Column::initial(72.0).clip(true))
            .column(Column::initial(80.0).clip(true))
            .column(Column::initial(84.0).clip(true))
            .column(Column::initial(52.0).clip(true))
            .column(Column::initial(56.0).clip(true))
            .column(Column::initial(STATE).at_least(80.0).clip(true))
            .column(Column::exact(ACTIONS));
        table
            .header(ROW, |mut header| {
                header.col(|_| {});
                for (by, key) in By::ALL.into_iter().filter(|(by, _)| are_mixed || *by != By::Data) {
                    header.col(|ui| self.head(ui, cx, by, key));
                }
                header.col(|_| {});
            })
            .body(|body| {
                body.rows(ROW, runs.len(), |mut row| {
                    let run = Arc::clone(&runs[row.index()]);
                    if self.row(&mut row, cx, &run, (shown, are_mixed)) {
                        chosen = Some(run.id);
                    }
                });
            });
        chosen
    }

    /// A column's name: pressed, it orders the rows by it; pressed again, the other way round.
    fn head(&mut self, ui: &mut Ui, cx: &Cx<'_>, by: By, key: &str) {
        let rising = self
            .sort
            .filter(|(known, _)| *known == by)
            .map(|(_, rising)| rising);
        let sign = match rising {
            Some(true) => " ↑",
            Some(false) => " ↓",
            None => "",
        };
        let text = cx.palette.caption(format!("{}{sign}", cx.texts.get(key)));
        let button = ui.add(egui::Button::new(text).frame(false));
        if button.on_hover_text(cx.texts.get("compare-sort")).clicked() {
            self.sort = Some((by, !rising.unwrap_or(false)));
        }
    }

    /// Draws a row; whether its run was chosen.
    fn row(
        &mut self,
        row: &mut TableRow<'_, '_>,
        cx: &mut Cx<'_>,
        run: &RunView,
        (shown, are_mixed): (RunId, bool),
    ) -> bool {
        let (t, p) = (cx.texts, cx.palette);
        let name = jobs::run_title(cx, run);
        row.col(|ui| {
            widgets::row_line(ui, p);
            if run.id != shown && !run.thrown_away {
                let mut is_over = self.overlaid.contains(&run.id);
                let label = t.with("compare-overlay", [("name", name.as_str().into())]);
                let full = !is_over && self.overlaid.len() >= MOST_OVERLAID;
                let tick = ui
                    .add_enabled(!full, egui::Checkbox::without_text(&mut is_over))
                    .on_hover_text(&*label);
                tick.widget_info(|| egui::WidgetInfo::selected(Role::CheckBox, !full, is_over, &*label));
                if tick.changed() {
                    if is_over {
                        self.overlaid.insert(run.id);
                    } else {
                        self.overlaid.remove(&run.id);
                    }
                }
            }
        });
        let mut chosen = false;
        row.col(|ui| {
            widgets::row_line(ui, p);
            if self.name_field(ui, cx, run) {
                return;
            }
            if let Some(over) = self.color_of(cx, run.id, shown) {
                let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
                ui.painter().circle_filled(rect.center(), 4.0, over);
            }
            let label = egui::Button::selectable(run.id == shown, &*name).truncate();
            let label = ui.add(label).on_hover_text(&*name);
            chosen |= label.clicked();
            if label.double_clicked() {
                self.renaming = Some((run.id, run.name.clone().unwrap_or_else(|| name.clone())));
            }
        });
        let data = are_mixed.then(|| data_name(&cx.snapshot.runs, run));
        let whole = |text: String| (text.clone(), text);
        let cells = [
            whole(t.get(&format!("method-{}", run.method.name())).to_owned()),
            whole(promise(cx, run)),
            whole(jobs::run_steps(run)),
            (
                format::duration(run.seconds),
                time_said(t, run.seconds, run.taken_up_at),
            ),
            whole(distance(run).map_or_else(|| "—".to_owned(), |value| format::significant(value, 3))),
            (jobs::run_stage(cx, run), jobs::run_state(cx, run)),
        ];
        for (text, tip) in data.map(whole).into_iter().chain(cells) {
            row.col(|ui| {
                widgets::row_line(ui, p);
                let cell = widgets::truncated(ui, &*text);
                if tip != text {
                    ui.ctx()
                        .accesskit_node_builder(cell.id, |node| node.set_description(&*tip));
                }
                cell.on_hover_text(&*tip);
            });
        }
        row.col(|ui| {
            widgets::row_line(ui, p);
            let rename = RichText::new(t.get("compare-rename")).size(SMALL);
            let hint = t.with("compare-rename-tip", [("name", name.as_str().into())]);
            let button = ui
                .add(egui::Button::new(rename).frame(false))
                .on_hover_text(&*hint);
            button.widget_info(|| egui::WidgetInfo::labeled(Role::Button, true, &*hint));
            if button.clicked() {
                self.renaming = Some((run.id, run.name.clone().unwrap_or_else(|| name.clone())));
            }
            if run.state.is_active() {
                let named = |key| t.with(key, [("name", name.as_str().into())]);
                let names = ["compare-pause", "compare-resume", "compare-stop"].map(named);
                jobs::hold(ui, cx, run, names.each_ref().map(String::as_str));
                return;
            }
            let hint = t.with("compare-forget", [("name", name.as_str().into())]);
            if widgets::icon_button(ui, Icon::Close, &hint).clicked() {
                cx.intents.push(Intent::AskForget(run.id));
            }
        });
        chosen
    }

    /// The field in which a run is renamed; whether it stands in place of the name.
    fn name_field(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, run: &RunView) -> bool {
        let Some((_, text)) = self.renaming.as_mut().filter(|(id, _)| *id == run.id) else {
            return false;
        };
        let field = ui.add(
            TextEdit::singleline(text)
                .char_limit(80)
                // Its frame counts as well.
                .desired_width(ui.available_width() - 2.0 * STEP),
        );
        field.widget_info(|| {
            egui::WidgetInfo::labeled(Role::TextInput, true, cx.texts.get("compare-new-name"))
        });
        let entered = field.lost_focus() && !ui.input(|input| input.key_pressed(Pressed::Escape));
        if field.lost_focus() {
            if entered {
                cx.send(Command::Rename(run.id, text.trim().to_owned()));
            }
            self.renaming = None;
        } else if !field.has_focus() {
            field.request_focus();
        }
        true
    }

    fn color_of(&self, cx: &Cx<'_>, run: RunId, shown: RunId) -> Option<Color32> {
        let overlaid = self.overlaid(cx, shown);
        overlaid
            .iter()
            .find(|over| over.run.id == run)
            .map(|over| over.color)
    }

    /// The runs in the order that was asked for; the newest last without one.
    fn sorted(&self, cx: &Cx<'_>) -> Vec<Arc<RunView>> {
        let mut runs = cx.snapshot.runs.clone();
        if let Some((by, rising)) = self.sort {
            runs.sort_by(|one, other| {
                let order = compare(cx, by, one, other);
                if rising { order } else { order.reverse() }
            });
        }
        runs
    }
}

fn compare(cx: &Cx<'_>, by: By, one: &RunView, other: &RunView) -> Ordering {
    // What has no number stands behind what has one.
    let numbers = |value: fn(&RunView) -> Option<f64>| {
        let of = |run| value(run).unwrap_or(f64::INFINITY);
        of(one).total_cmp(&of(other))
    };
    match by {
        By::Name => jobs::run_title(cx, one).cmp(&jobs::run_title(cx, other)),
        By::Data => data_name(&cx.snapshot.runs, one).cmp(&data_name(&cx.snapshot.runs, other)),
        By::Method => one.method.name().cmp(other.method.name()),
        By::Epsilon => numbers(|run| run.target.map(|target| target.epsilon)),
        By::Steps => one.step.cmp(&other.step),
        By::Time => one.seconds.total_cmp(&other.seconds),
        By::Distance => numbers(distance),
        By::State => rank(&one.state).cmp(&rank(&other.state)),
    }
}

/// What the data of a run is called: data sets of one name are numbered in the order in which they were learned from.
fn data_name(runs: &[Arc<RunView>], run: &RunView) -> String {
    let mut namesakes: Vec<&RunView> = Vec::new();
    for other in runs.iter().filter(|other| other.dataset == run.dataset) {
        if !namesakes.iter().any(|known| known.has_data_of(other)) {
            namesakes.push(other);
        }
    }
    match namesakes.iter().position(|known| known.has_data_of(run)) {
        Some(place) if namesakes.len() > 1 => format!("{} ({})", run.dataset, place + 1),
        _ => run.dataset.clone(),
    }
}

/// A run's time in words: that of one which was resumed counts since then.
fn time_said(t: &Texts, seconds: f64, taken_up_at: u64) -> String {
    let time = format::duration(seconds);
    if taken_up_at == 0 {
        return time;
    }
    let step = format::count(taken_up_at);
    t.with(
        "compare-time-since",
        [("time", time.into()), ("step", step.into())],
    )
}

fn rank(state: &RunState) -> u8 {
    match state {
        RunState::Running => 0,
        RunState::Paused => 1,
        RunState::Stopping => 2,
        RunState::Preparing => 3,
        RunState::Queued => 4,
        RunState::Finished(_) => 5,
        RunState::Failed(_) => 6,
    }
}

/// The last Fréchet distance (steward only); of images, what is called FID.
fn distance(run: &RunView) -> Option<f64> {
    run.frechet.for_steward().last
}

fn promise(cx: &Cx<'_>, run: &RunView) -> String {
    match run.target {
        Some(target) => format!(
            "{} · δ {}",
            format::significant(target.epsilon, 3),
            format::delta(target.delta)
        ),
        None => cx.texts.get("no-dp-claim").to_owned(),
    }
}

/// What a run's lines are called where there is little room.
fn short_name(cx: &Cx<'_>, run: &RunView) -> String {
    match &run.name {
        Some(name) => name.clone(),
        None => format!(
            "{} {}",
            run.id.0,
            cx.texts.get(&format!("method-{}", run.method.name()))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Language;

    #[test]
    fn the_time_of_a_resumed_run_says_since_when_it_counts() {
        for (language, since) in [
            (Language::English, "since the run was resumed at step 1,200"),
            (Language::Chinese, "第 1,200 步"),
        ] {
            let texts = Texts::new(language);
            let time = format::duration(75.0);
            assert_eq!(time_said(&texts, 75.0, 0), time);
            let said = time_said(&texts, 75.0, 1200);
            assert!(said.contains(&time) && said.contains(since), "{said}");
            assert!(texts.missing().is_empty());
        }
    }
}
