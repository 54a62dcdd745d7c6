//! What a plan promises, and what it refuses.

use super::*;
use crate::data::{Column, Kind, Provenance, RowCount, Unit};
use crate::privacy::{AccountantKind, PrivacyEvent};
use crate::train::testing::schema;

const ROWS: usize = 20_000;

fn private(epsilon: f64) -> Privacy {
    Privacy::Private {
        epsilon,
        delta: 1e-5,
        neighboring: Neighboring::AddRemoveOne,
    }
}

fn plan(settings: &TrainSettings, privacy: Privacy) -> Result<Plan, PlanError> {
    Plan::new(settings, &schema(), ROWS, privacy)
}

#[test]
fn events_meet_the_budget_from_below_under_every_schedule_and_relation() {
    for schedule in [
        ScheduleKind::Constant,
        ScheduleKind::TwoPhase,
        ScheduleKind::Linear,
        ScheduleKind::Exponential,
        ScheduleKind::Points,
    ] {
        for neighboring in [
            Neighboring::AddRemoveOne,
            Neighboring::ZeroOutOne,
            Neighboring::ReplaceOne,
        ] {
            let settings = TrainSettings {
                schedule,
                steps: 200,
                ..TrainSettings::default()
            };
            let plan = plan(
                &settings,
                Privacy::Private {
                    epsilon: 2.0,
                    delta: 1e-6,
                    neighboring,
                },
            )
            .unwrap();
            let epsilon = AccountantKind::Rdp
                .epsilon(&plan.events(), Delta::new(1e-6).unwrap())
                .unwrap();
            assert!(
                epsilon <= 2.0 && epsilon > 2.0 * 0.999,
                "{schedule:?} {neighboring}: {epsilon}"
            );
            assert_eq!(plan.epsilon(), Some(epsilon));
            let steps: u64 = plan
                .events()
                .events
                .iter()
                .map(|counted| match counted.event {
                    PrivacyEvent::PoissonSampledGaussian { steps, .. } => steps * counted.count,
                    _ => 0,
                })
                .sum();
            assert_eq!(steps, 200);
        }
    }
}

#[test]
fn two_phases_divide_epsilon_as_asked_and_the_whole_meets_the_budget() {
    for (early, epsilon) in [(0.2, 10.0), (0.2, 1.0), (0.5, 1.0), (0.8, 3.0), (0.1, 0.5)] {
        let settings = TrainSettings {
            schedule: ScheduleKind::TwoPhase,
            schedule_early: early,
            steps: 400,
            ..TrainSettings::default()
        };
        let plan = plan(&settings, private(epsilon)).unwrap();
        let summary = plan.summary();
        // The halves as lists of their own, by the accountant itself.
        let alone: Vec<f64> = summary
            .noise
            .iter()
            .map(|stretch| {
                let mut list = EventList::new(Neighboring::AddRemoveOne);
                list.push(
                    PrivacyEvent::PoissonSampledGaussian {
                        sampling_rate: summary.sampling_rate,
                        noise_multiplier: stretch.noise_multiplier,
                        steps: stretch.steps,
                    },
                    1,
                );
                AccountantKind::Rdp
                    .epsilon(&list, Delta::new(1e-5).unwrap())
                    .unwrap()
            })
            .collect();
        assert_eq!(summary.halves.map(Vec::from), Some(alone.clone()));
        let share = alone[0] / (alone[0] + alone[1]);
        assert!((share - early).abs() < 2e-3, "{early} of {epsilon}: {share}");
        let whole = summary.epsilon.unwrap();
        assert!(
            whole <= epsilon && whole > epsilon * 0.999,
            "{whole} of {epsilon}"
        );
        assert_eq!(
            summary
                .noise
                .iter()
                .map(|stretch| stretch.steps)
                .collect::<Vec<_>>(),
            [200, 200]
        );
    }
}

#[test]
fn shares_that_cannot_be_told_end_and_a_single_step_has_no_halves() {
    let settings = TrainSettings {
        schedule: ScheduleKind::TwoPhase,
        schedule_early: 0.05,
        steps: 10,
        ..TrainSettings::default()
    };
    let tiny = plan(&settings, private(0.02)).unwrap().summary();
    let ratio = tiny.noise[0].noise_multiplier / tiny.noise[1].noise_multiplier;
    assert!(ratio <= 100.0 + 1e-9 && tiny.epsilon.unwrap() <= 0.02, "{ratio}");
    let single = TrainSettings { steps: 1, ..settings };
    let single = plan(&single, private(1.0)).unwrap().summary();
    assert!(single.halves.is_none() && single.noise.len() == 1);
}

#[test]
fn noise_matches_the_recipe() {
    // Adult's shape: 32,561 rows, B 512, T 3000, 15 % of ρ off the top.
    for (epsilon, expected) in [(1.0, 3.88), (2.0, 2.16), (8.0, 0.896)] {
        let plan = Plan::new(&TrainSettings::default(), &schema(), 32_561, private(epsilon)).unwrap();
        let noise = plan.noise_multiplier(0).unwrap();
        assert!(
            (noise / expected - 1.0).abs() < 0.01,
            "ε {epsilon}: {noise}, the recipe says {expected}"
        );
    }
}

#[test]
fn parts_that_are_switched_off_cost_nothing() {
    let settings = TrainSettings {
        marginals: false,
        fine_decode: false,
        ..TrainSettings::default()
    };
    let plan = plan(&settings, private(1.0)).unwrap();
    assert_eq!(plan.events().events.len(), 1);
    assert_eq!(plan.summary().marginal_deviation, None);
}

#[test]
fn a_plan_without_a_promise_has_no_events() {
    let plan = plan(&TrainSettings::default(), Privacy::None).unwrap();
    assert!(plan.events().events.is_empty() && plan.epsilon().is_none() && !plan.is_private());
    assert!(plan.warnings().contains(&PlanWarning::NotPrivate));
    assert_eq!(plan.noise_multiplier(0), None);
}

#[test]
fn impossible_promises_are_refused() {
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        let error = plan(&TrainSettings::default(), private(epsilon)).unwrap_err();
        assert!(matches!(error, PlanError::Epsilon(_)), "{epsilon}: {error}");
    }
    for delta in [0.0, 1.0, -1e-5, f64::NAN] {
        let privacy = Privacy::Private {
            epsilon: 1.0,
            delta,
            neighboring: Neighboring::AddRemoveOne,
        };
        let error = plan(&TrainSettings::default(), privacy).unwrap_err();
        assert!(matches!(error, PlanError::Delta(_)), "{delta}: {error}");
    }
}

#[test]
fn a_budget_too_small_names_the_smallest_that_works() {
    let settings = TrainSettings {
        batch_size: ROWS as u64,
        steps: 1_000_000,
        ..TrainSettings::default()
    };
    let PlanError::BudgetTooSmall { smallest, .. } = plan(&settings, private(1e-3)).unwrap_err() else {
        panic!("a million full batches do not fit into ε = 0.001");
    };
    assert!(plan(&settings, private(smallest)).is_ok(), "ε = {smallest} works");
    assert!(
        plan(&settings, private(smallest * 0.95)).is_err(),
        "and hardly less does"
    );
    let text = plan(&settings, private(1e-3)).unwrap_err().to_string();
    let named: f64 = text.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(plan(&settings, private(named)).is_ok(), "{text}");
}

#[test]
fn warnings_say_what_is_weak() {
    let privacy = Privacy::Private {
        epsilon: 20.0,
        delta: 1e-3,
        neighboring: Neighboring::AddRemoveOne,
    };
    let settings = TrainSettings {
        batch_size: 50_000,
        ..TrainSettings::default()
    };
    let plan = plan(&settings, privacy).unwrap();
    assert!(plan.warnings().contains(&PlanWarning::LargeDelta {
        delta: 1e-3,
        units: ROWS,
        counted: Counted::Rows,
    }));
    assert!(
        plan.warnings()
            .contains(&PlanWarning::LargeEpsilon { epsilon: 20.0 })
    );
    assert!(
        plan.warnings()
            .contains(&PlanWarning::CountRevealed(Counted::Rows))
    );
    assert!(plan.warnings().contains(&PlanWarning::BatchLowered {
        asked: 50_000,
        used: ROWS,
        counted: Counted::Rows,
    }));
    assert_eq!(plan.expected_batch(), ROWS);
    assert_eq!(plan.sampling_rate().get(), 1.0);
}

#[test]
fn schemas_that_are_not_ready_are_refused() {
    let settings = TrainSettings::default();
    let refuse = |schema: &Schema| Plan::new(&settings, schema, ROWS, private(1.0)).unwrap_err();
    let mut open = schema();
    open.column[1].provenance = Some(Provenance::Suggested);
    assert!(refuse(&open).to_string().contains("`size`"));
    let mut label = schema();
    label.label = Some("size".to_owned());
    assert!(matches!(refuse(&label), PlanError::Label(_)));
    let dropped = Schema::new(vec![Column::new("name", Kind::Identifier)]);
    assert!(matches!(refuse(&dropped), PlanError::NothingToLearn));
    assert!(matches!(
        Plan::new(&settings, &schema(), 0, private(1.0)),
        Err(PlanError::NoRows)
    ));
    let greedy = TrainSettings {
        marginal_share: 0.9,
        fine_share: 0.2,
        ..TrainSettings::default()
    };
    assert!(matches!(plan(&greedy, private(1.0)), Err(PlanError::Shares(_))));
}

#[test]
fn the_planned_curve_rises_to_the_total() {
    let plan = plan(
        &TrainSettings {
            schedule: ScheduleKind::Linear,
            ..TrainSettings::default()
        },
        private(1.0),
    )
    .unwrap();
    let curve = plan.summary().epsilon_curve;
    assert_eq!(curve.last().unwrap()[0], 3000.0);
    assert!((curve.last().unwrap()[1] - plan.epsilon().unwrap()).abs() < 1e-9);
    assert!(curve.windows(2).all(|pair| pair[0][1] < pair[1][1]));
}

#[test]
fn persons_are_drawn_and_counts_are_protected_by_as_many_rows_as_they_may_have() {
    let settings = TrainSettings::default();
    let with = |unit: Option<Unit>, privacy| {
        let mut schema = schema();
        schema.unit = unit;
        Plan::new(&settings, &schema, ROWS, privacy).unwrap()
    };
    let unit = |persons| Unit {
        column: "name".to_owned(),
        max_rows: 3,
        persons,
    };
    let rows = with(None, private(1.0));
    let persons = with(Some(unit(None)), private(1.0));
    // The same events: noise is counted in what one unit can move.
    assert_eq!(rows.events(), persons.events());
    for (one, other) in [
        (
            rows.summary().marginal_deviation,
            persons.summary().marginal_deviation,
        ),
        (rows.summary().fine_deviation, persons.summary().fine_deviation),
    ] {
        assert!((other.unwrap() / one.unwrap() - 3.0).abs() < 1e-12);
    }
    assert!(
        persons
            .warnings()
            .contains(&PlanWarning::CountRevealed(Counted::Persons))
    );
    assert!(
        persons
            .warnings()
            .contains(&PlanWarning::LimitedRows { max_rows: 3 })
    );
    // A number of persons that is known decides on the rate, whatever the true one is.
    let known = with(
        Some(unit(Some(RowCount {
            value: 4000,
            provenance: Provenance::Bought,
        }))),
        private(1.0),
    );
    assert_eq!(known.sampling_rate().get(), 512.0 / 4000.0);
    assert!(
        !known
            .warnings()
            .contains(&PlanWarning::CountRevealed(Counted::Persons))
    );
    // Without a promise nobody's rows are put together.
    let open = with(Some(unit(None)), Privacy::None);
    assert!(open.events().events.is_empty() && open.units() == ROWS);
    assert_eq!(open.warnings(), [PlanWarning::NotPrivate]);
}
