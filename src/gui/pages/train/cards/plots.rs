//! What the plots of a run draw: losses, distances, the budget, histograms.

use eframe::egui::Ui;

use super::{Shown, head, smooth, waits};
use crate::gui::context::Cx;
use crate::gui::format;
use crate::gui::i18n::Texts;
use crate::gui::pages::train::histograms;
use crate::gui::plot::{Chart, Curve, Dash};

fn three(value: f64) -> String {
    format::significant(value, 3)
}

/// Curves of a run over its steps, free to show and without a limit.
fn chart<'a>(
    t: &'a Texts,
    shown: &Shown<'_>,
    (id, name): (&'static str, &'a str),
    curves: Vec<Curve<'a>>,
) -> Chart<'a> {
    Chart {
        id: (id, shown.run.id.0),
        name: t.get(name),
        x_unit: t.get("axis-step"),
        x_end: shown.x_end(),
        include: &[],
        limit: None,
        curves,
        write: three,
        steward: false,
    }
}

pub fn loss(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, _: f32) {
    let run = shown.run;
    let t = cx.texts;
    let (critic, generator) = (run.critic_loss.for_steward(), &run.generator_loss);
    // Without a critic all of it follows from what was released.
    let has_critic = !critic.raw.is_empty();
    let caption = if has_critic {
        t.get("card-loss-caption")
    } else {
        ""
    };
    head(ui, cx, "card-loss", has_critic, caption);
    let first = if has_critic { critic } else { generator };
    if waits(ui, cx, first, "card-waits-step") {
        return;
    }
    let p = cx.palette;
    let mut curves = vec![Curve {
        name: t.get("curve-generator"),
        color: p.second,
        text: p.second_text,
        raw: &generator.raw,
        line: smooth(generator),
        dash: Dash::SolidDiamond,
    }];
    if has_critic {
        let critic = Curve {
            name: t.get("curve-critic"),
            color: p.accent,
            text: p.accent,
            raw: &critic.raw,
            line: smooth(critic),
            dash: Dash::Solid,
        };
        curves.insert(0, critic);
    }
    let (critics, generators) = (
        shown.names(t.get("curve-critic")),
        shown.names(t.get("curve-generator")),
    );
    if has_critic {
        curves.extend(shown.curves(|run| smooth(run.critic_loss.for_steward()), &critics));
    }
    curves.extend(shown.curves(|run| smooth(&run.generator_loss), &generators));
    Chart {
        steward: has_critic,
        ..chart(t, shown, ("loss", "card-loss"), curves)
    }
    .show(ui, cx);
}

pub fn frechet(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, _: f32) {
    let run = shown.run;
    let t = cx.texts;
    let samples = format::count(run.frechet_samples as u64);
    let caption = t.with("card-frechet-caption", [("samples", samples.into())]);
    let caption = if run.frechet_samples == 0 {
        String::new()
    } else {
        caption
    };
    head(ui, cx, "card-frechet", true, &caption);
    let series = run.frechet.for_steward();
    if waits(ui, cx, series, "card-waits-frechet") {
        return;
    }
    distances(ui, cx, shown, ("frechet", "card-frechet"), None);
}

/// A run's Fréchet distance over its steps, with a level to hold it against if there is one.
fn distances(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    shown: &Shown<'_>,
    (id, name): (&'static str, &str),
    level: Option<(f64, &str)>,
) {
    let (t, p) = (cx.texts, cx.palette);
    let run = shown.run;
    let series = run.frechet.for_steward();
    let names = shown.names("");
    // Distances over other features are of something else.
    let over = shown.curves(
        |other| {
            if other.has_features_of(run) {
                other.frechet.for_steward().raw.as_slice()
            } else {
                &[]
            }
        },
        &names,
    );
    let mut curves = vec![Curve {
        name: t.get("curve-distance"),
        color: p.second,
        text: p.second_text,
        raw: &[],
        line: &series.raw,
        dash: Dash::Solid,
    }];
    curves.extend(over);
    Chart {
        include: &[0.0],
        limit: level.map(|(value, name)| (value, name, p.muted)),
        steward: true,
        ..chart(t, shown, (id, name), curves)
    }
    .show(ui, cx);
}

/// The Fréchet distance of images, with what they are judged by and what real images get.
pub fn fid(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, _: f32) {
    let run = shown.run;
    let t = cx.texts;
    let judged = run.judged.as_deref();
    let caption = judged.map_or_else(String::new, |judged| {
        let count = |at: usize| format::count(judged.compared[at] as u64);
        t.with(
            "card-fid-caption",
            [
                ("extractor", judged.extractor.as_str().into()),
                ("generated", count(0).into()),
                ("real", count(1).into()),
            ],
        )
    });
    head(ui, cx, "card-fid", true, &caption);
    let series = run.frechet.for_steward();
    if waits(ui, cx, series, "card-waits-fid") {
        return;
    }
    let floor = judged.and_then(|judged| *judged.fid_of_real.for_steward());
    let of_real = floor.map(|floor| t.with("limit-real", [("fid", format::significant(floor, 3).into())]));
    distances(ui, cx, shown, ("fid", "card-fid"), floor.zip(of_real.as_deref()));
}

pub fn privacy(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, _: f32) {
    let run = shown.run;
    let t = cx.texts;
    let Some(target) = run.target else {
        head(ui, cx, "card-privacy", false, "");
        ui.label(cx.palette.caption(t.get("run-no-claim")));
        return;
    };
    // A run of many looks is held against Rényi orders, one of a single look against its loss distribution.
    let looks_once = run.plan.as_ref().is_some_and(|plan| plan.looks_once());
    let accountant = if looks_once { "PLD" } else { "RDP" };
    let caption = t.with(
        "card-privacy-caption",
        [
            ("delta", format::delta(target.delta).into()),
            ("accountant", accountant.into()),
        ],
    );
    head(ui, cx, "card-privacy", false, &caption);
    if waits(ui, cx, &run.epsilon, "card-waits-step") {
        return;
    }
    let p = cx.palette;
    let names = shown.names("");
    let over = shown.curves(|run| &run.epsilon.raw, &names);
    let limit = t.with(
        "limit-budget",
        [("epsilon", format::significant(target.epsilon, 3).into())],
    );
    let curves = vec![
        Curve {
            name: "ε",
            color: p.accent,
            text: p.accent,
            raw: &[],
            line: &run.epsilon.raw,
            dash: Dash::Solid,
        },
        Curve {
            name: "",
            color: p.accent,
            text: p.accent,
            raw: &[],
            line: &run.epsilon_projected.raw,
            dash: Dash::Dashed,
        },
    ]
    .into_iter()
    .chain(over)
    .collect();
    Chart {
        include: &[0.0],
        limit: Some((target.epsilon, &limit, p.warn)),
        ..chart(t, shown, ("privacy", "card-privacy"), curves)
    }
    .show(ui, cx);
}

pub fn histogram(ui: &mut Ui, cx: &mut Cx<'_>, shown: &Shown<'_>, height: f32) {
    histograms::head(ui, cx);
    histograms::show(ui, cx, (shown.run.histograms.for_steward(), shown.over), height);
}
