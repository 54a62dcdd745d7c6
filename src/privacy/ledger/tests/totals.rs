//! Totals: what fits, what does not, and what the sum of all that fits amounts to.

use super::*;
use crate::num::Delta;
use crate::privacy::AccountantKind;

const DELTA: f64 = 1e-5;

fn epsilon_of(events: &EventList) -> f64 {
    AccountantKind::Rdp
        .epsilon(events, Delta::new(DELTA).unwrap())
        .unwrap()
}

/// The list whose ε is just below `epsilon`, by bisection on the noise.
fn calibrated(epsilon: f64, make: impl Fn(f64) -> EventList) -> EventList {
    let (mut low, mut high) = (0.3, 1e4);
    for _ in 0..100 {
        let middle = f64::sqrt(low * high);
        if epsilon_of(&make(middle)) <= epsilon {
            high = middle;
        } else {
            low = middle;
        }
    }
    make(high)
}

fn dp_sgd(noise_multiplier: f64) -> EventList {
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: 6.0 * noise_multiplier,
        },
        2,
    );
    events.push(
        PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: 0.01,
            noise_multiplier,
            steps: 1000,
        },
        1,
    );
    events
}

fn with_total(epsilon: f64) -> (tempfile::TempDir, Ledger, DatasetId) {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    ledger
        .set_total(&dataset, "patients.csv", (epsilon, DELTA), "a study")
        .unwrap();
    (home, ledger, dataset)
}

#[test]
fn a_job_planned_for_the_whole_total_fits_and_nothing_after_it() {
    for epsilon in [0.1, 1.0, 8.0] {
        for events in [
            calibrated(epsilon, |noise| gaussian(noise, 1)),
            calibrated(epsilon, dp_sgd),
        ] {
            let (_home, mut ledger, dataset) = with_total(epsilon);
            ledger.would_fit(&job(dataset, events.clone(), epsilon)).unwrap();
            ledger.reserve(&job(dataset, events, epsilon)).unwrap();
            let shares = ledger.budget(&dataset).unwrap().shares.unwrap();
            assert!(
                shares.reserved > 0.99 && shares.left < 0.01,
                "{epsilon}: {shares:?}"
            );
            let small = job(
                dataset,
                calibrated(0.1 * epsilon, |noise| gaussian(noise, 1)),
                0.1 * epsilon,
            );
            assert!(matches!(
                ledger.would_fit(&small),
                Err(LedgerError::OverTotal { .. })
            ));
            let refused = ledger.reserve(&small).unwrap_err();
            assert!(refused.to_string().contains("nothing was spent"), "{refused}");
            assert_eq!(ledger.entries(None).unwrap().len(), 2);
        }
    }
}

/// What a total says a job would take is what its reservation then holds, before and after the order is fixed.
#[test]
fn a_jobs_share_is_known_before_it_is_reserved() {
    let (_home, mut ledger, dataset) = with_total(4.0);
    for noise in [2.0, 5.0, 3.0] {
        let events = dp_sgd(noise);
        let before = ledger.budget(&dataset).unwrap();
        let held = before.shares.map_or(0.0, |shares| shares.reserved);
        let said = before.total.unwrap().share_of(&events).unwrap();
        ledger.reserve(&job(dataset, events, 1.0)).unwrap();
        let shares = ledger.budget(&dataset).unwrap().shares.unwrap();
        assert!(
            (shares.reserved - held - said).abs() < 1e-9,
            "{said} of {shares:?}"
        );
    }
}

#[test]
fn as_many_jobs_fit_as_would_fit_when_planned_together() {
    let ten = calibrated(1.0, |noise| gaussian(noise, 10));
    let mut one = ten;
    one.events[0].count = 1;
    let (home, mut ledger, dataset) = with_total(1.0 + 1e-9);
    let mut fitted = 0;
    while ledger.reserve(&job(dataset, one.clone(), 0.3)).is_ok() {
        fitted += 1;
        let shares = ledger.budget(&dataset).unwrap().shares.unwrap();
        assert!(
            (shares.reserved - f64::from(fitted) / 10.0).abs() < 1e-6,
            "{shares:?}"
        );
    }
    assert_eq!(fitted, 10);
    let all = ledger.all_events(&dataset).unwrap().unwrap();
    assert!(epsilon_of(&all) <= 1.0 + 1e-9);
    // What basic composition would have said, as information.
    assert!((ledger.budget(&dataset).unwrap().reserved.epsilon - 3.0).abs() < 1e-9);
    drop(ledger);
    let mut again = Ledger::open(home.path()).unwrap();
    assert!(matches!(
        again.reserve(&job(dataset, one, 0.3)),
        Err(LedgerError::OverTotal { .. })
    ));
}

#[test]
fn whatever_is_let_through_stays_within_the_total() {
    for round in 0..6_u32 {
        let epsilon = [0.3, 1.0, 3.0, 8.0, 1.0, 0.5][round as usize];
        let (home, mut ledger, dataset) = with_total(epsilon);
        let mut refused = 0;
        for turn in 0..40_u32 {
            let size = epsilon * f64::from((turn * 7 + round * 3) % 11 + 1) / 25.0;
            let events = match (turn + round) % 4 {
                0 => calibrated(size, dp_sgd),
                1 => {
                    let mut pure = EventList::new(Neighboring::AddRemoveOne);
                    pure.push(PrivacyEvent::Pure { epsilon: size / 3.0 }, 1);
                    pure.push(
                        PrivacyEvent::Laplace {
                            scale: 3.0 / size,
                            sensitivity: 1.0,
                        },
                        1,
                    );
                    pure
                }
                _ => calibrated(size, |noise| gaussian(noise, 3)),
            };
            match ledger.reserve(&job(dataset, events.clone(), size)) {
                Ok(entry) if turn % 3 == 0 => {
                    ledger
                        .settle(entry, &settled(events, size, Outcome::Finished))
                        .unwrap();
                }
                Ok(_) => {}
                Err(LedgerError::OverTotal { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        let all = ledger.all_events(&dataset).unwrap().unwrap();
        assert!(
            epsilon_of(&all) <= epsilon * (1.0 + 1e-9),
            "{} of {epsilon}",
            epsilon_of(&all)
        );
        assert!(refused > 0 && ledger.budget(&dataset).unwrap().shares.unwrap().left < 0.2);
        let before = ledger.budget(&dataset).unwrap();
        drop(ledger);
        assert_eq!(
            Ledger::open(home.path()).unwrap().budget(&dataset).unwrap(),
            before
        );
    }
}

#[test]
fn settling_lower_gives_back_and_a_stop_by_a_person_does_not() {
    let half = calibrated(1.0, |noise| gaussian(noise, 2));
    let mut one = half;
    one.events[0].count = 1;
    let (_home, mut ledger, dataset) = with_total(1.0 + 1e-9);
    let wanted = job(dataset, one.clone(), 0.6);
    let first = ledger.reserve(&wanted).unwrap();
    let second = ledger.reserve(&wanted).unwrap();
    assert!(ledger.reserve(&wanted).is_err());
    let nothing = EventList::new(Neighboring::AddRemoveOne);
    ledger
        .settle(first, &settled(nothing.clone(), 0.0, Outcome::StoppedByPerson))
        .unwrap();
    assert!(ledger.reserve(&wanted).is_err());
    ledger
        .settle(second, &settled(one.clone(), 0.6, Outcome::Discarded))
        .unwrap();
    let third = ledger.reserve(&wanted).unwrap();
    ledger
        .settle(
            third,
            &settled(
                nothing,
                0.0,
                Outcome::Failed {
                    message: "full disk".into(),
                },
            ),
        )
        .unwrap();
    ledger.reserve(&wanted).unwrap();
    assert!(ledger.reserve(&wanted).is_err());
}

#[test]
fn what_was_spent_before_the_total_counts() {
    let third = calibrated(1.0, |noise| gaussian(noise, 3));
    let mut one = third;
    one.events[0].count = 1;
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let wanted = job(dataset, one.clone(), 0.5);
    let first = ledger.reserve(&wanted).unwrap();
    ledger
        .settle(first, &settled(one.clone(), 0.5, Outcome::Finished))
        .unwrap();
    let second = ledger.reserve(&wanted).unwrap();
    ledger
        .set_total(&dataset, "patients.csv", (1.0 + 1e-9, DELTA), "a study")
        .unwrap();
    let shares = ledger.budget(&dataset).unwrap().shares.unwrap();
    assert!((shares.spent - 1.0 / 3.0).abs() < 1e-6 && (shares.reserved - 1.0 / 3.0).abs() < 1e-6);
    ledger.reserve(&wanted).unwrap();
    assert!(ledger.reserve(&wanted).is_err());
    ledger
        .settle(second, &settled(one, 0.5, Outcome::Discarded))
        .unwrap();
    ledger.reserve(&wanted).unwrap();
    // Spending beyond a total that comes too late is shown as all of it.
    let late = ledger.identify([2; 32]).unwrap();
    ledger.reserve(&job(late, gaussian(0.5, 1), 12.0)).unwrap();
    ledger
        .set_total(&late, "late.csv", (0.5, DELTA), "too late")
        .unwrap();
    let shares = ledger.budget(&late).unwrap().shares.unwrap();
    assert_eq!(
        (shares.reserved.to_bits(), shares.left.to_bits()),
        (1.0_f64.to_bits(), 0.0_f64.to_bits())
    );
}

#[test]
fn a_total_is_raised_with_a_reason_and_keeps_its_order() {
    let whole = calibrated(1.0, |noise| gaussian(noise, 1));
    let (_home, mut ledger, dataset) = with_total(1.0);
    assert_eq!(ledger.budget(&dataset).unwrap().total.unwrap().order, None);
    ledger.reserve(&job(dataset, whole.clone(), 1.0)).unwrap();
    let order = ledger.budget(&dataset).unwrap().total.unwrap().order.unwrap();
    assert!(ledger.reserve(&job(dataset, whole.clone(), 1.0)).is_err());
    let mut set =
        |epsilon, delta, reason: &str| ledger.set_total(&dataset, "patients.csv", (epsilon, delta), reason);
    assert!(matches!(set(3.0, DELTA, "  "), Err(LedgerError::ReasonMissing)));
    for (epsilon, delta) in [(0.5, DELTA), (1.0, DELTA), (2.0, 1e-6), (0.9, 1e-4)] {
        assert!(matches!(
            set(epsilon, delta, "why not"),
            Err(LedgerError::TotalNotRaised { .. })
        ));
    }
    assert!(matches!(
        set(f64::NAN, DELTA, "x"),
        Err(LedgerError::NotAPromise { .. })
    ));
    let raised = set(3.0, DELTA, "the ethics board agreed").unwrap();
    let budget = ledger.budget(&dataset).unwrap();
    assert_eq!(budget.total.unwrap().order, Some(order));
    assert!(budget.shares.unwrap().left > 0.3);
    ledger.reserve(&job(dataset, whole, 1.0)).unwrap();
    let entry = ledger
        .entries(None)
        .unwrap()
        .into_iter()
        .find(|entry| entry.id == raised)
        .unwrap();
    assert_eq!(
        (entry.status, entry.description.as_str()),
        (Status::TotalRaised, "the ethics board agreed")
    );
}

#[test]
fn a_total_without_room_is_refused() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    for (epsilon, delta) in [(1.0, 0.0), (0.0, 1e-5), (1e-3, 1e-200)] {
        let refused = ledger.set_total(&dataset, "x", (epsilon, delta), "why");
        assert!(
            matches!(refused, Err(LedgerError::TotalTooSmall { .. })),
            "{epsilon} {delta}: {refused:?}"
        );
    }
    // A slip of the hand could not be taken back.
    for (epsilon, delta) in [(1e300, 1e-5), (1.0, 0.9)] {
        let refused = ledger.set_total(&dataset, "x", (epsilon, delta), "why");
        assert!(
            matches!(refused, Err(LedgerError::TotalTooLarge { .. })),
            "{refused:?}"
        );
    }
    assert!(ledger.entries(None).unwrap().is_empty());
}

#[test]
fn promises_that_do_not_add_up_are_kept_apart() {
    let (_home, mut ledger, dataset) = with_total(5.0);
    ledger.reserve(&job(dataset, gaussian(20.0, 1), 0.2)).unwrap();
    let mut zero_out = gaussian(20.0, 1);
    zero_out.neighboring = Neighboring::ZeroOutOne;
    ledger.reserve(&job(dataset, zero_out, 0.2)).unwrap();
    let mut replace = gaussian(20.0, 1);
    replace.neighboring = Neighboring::ReplaceOne;
    let refused = ledger.reserve(&job(dataset, replace.clone(), 0.2));
    assert!(
        matches!(refused, Err(LedgerError::RelationDiffers { .. })),
        "{refused:?}"
    );
    let mut person = job(dataset, gaussian(20.0, 1), 0.2);
    person.unit = PrivacyUnit::Person {
        column: "id".into(),
        max_rows: 3,
    };
    assert!(matches!(
        ledger.reserve(&person),
        Err(LedgerError::UnitDiffers { .. })
    ));
    // The same can be asked beforehand.
    let budget = ledger.budget(&dataset).unwrap();
    let row = PrivacyUnit::Row;
    assert!(budget.check_promise(Neighboring::ZeroOutOne, &row).is_ok());
    assert!(matches!(
        budget.check_promise(Neighboring::ReplaceOne, &row),
        Err(LedgerError::RelationDiffers { .. })
    ));
    assert!(matches!(
        budget.check_promise(Neighboring::AddRemoveOne, &person.unit),
        Err(LedgerError::UnitDiffers { .. })
    ));
    // Without a total both are recorded, and a total can no longer be set.
    let other = ledger.identify([2; 32]).unwrap();
    ledger.reserve(&job(other, gaussian(20.0, 1), 0.2)).unwrap();
    ledger.reserve(&job(other, replace, 0.2)).unwrap();
    let refused = ledger.set_total(&other, "other.csv", (1.0, DELTA), "why");
    assert!(
        matches!(refused, Err(LedgerError::CannotTotal { .. })),
        "{refused:?}"
    );
}

#[test]
fn events_with_a_delta_of_their_own_need_a_part_of_the_total_set_apart() {
    let approx = |delta| {
        let mut events = EventList::new(Neighboring::AddRemoveOne);
        events.push(PrivacyEvent::Approx { epsilon: 0.05, delta }, 1);
        events
    };
    let (_home, mut ledger, dataset) = with_total(2.0);
    ledger.reserve(&job(dataset, approx(1e-6), 0.05)).unwrap();
    ledger.reserve(&job(dataset, approx(3e-6), 0.05)).unwrap();
    assert!(matches!(
        ledger.reserve(&job(dataset, approx(2e-6), 0.05)),
        Err(LedgerError::OverTotal { .. })
    ));
    ledger
        .reserve(&job(dataset, calibrated(1.0, dp_sgd), 1.0))
        .unwrap();
    let all = ledger.all_events(&dataset).unwrap().unwrap();
    assert!(epsilon_of(&all) <= 2.0);
    // Where nothing was set apart there is no room for them.
    let (_home, mut ledger, dataset) = with_total(2.0);
    ledger.reserve(&job(dataset, gaussian(20.0, 1), 0.2)).unwrap();
    let refused = ledger.reserve(&job(dataset, approx(1e-9), 0.05)).unwrap_err();
    assert!(matches!(refused, LedgerError::NoDeltaApart { .. }), "{refused:?}");
    assert!(!refused.to_string().contains("inf"), "{refused}");
}

#[test]
fn teaching_data_has_no_cap_unless_one_was_set() {
    let home = home();
    let mut ledger = Ledger::open(home.path()).unwrap();
    let dataset = ledger.identify([1; 32]).unwrap();
    let mut wanted = job(dataset, gaussian(0.3, 1), 40.0);
    wanted.public = true;
    for _ in 0..20 {
        ledger.reserve(&wanted).unwrap();
    }
    let budget = ledger.budget(&dataset).unwrap();
    assert!(budget.public && budget.shares.is_none());
    assert!((budget.reserved.epsilon - 800.0).abs() < 1e-9);
    let capped = ledger.identify([2; 32]).unwrap();
    ledger
        .set_total(&capped, "capped.csv", (1.0, DELTA), "a study")
        .unwrap();
    wanted.dataset = capped;
    assert!(matches!(
        ledger.reserve(&wanted),
        Err(LedgerError::OverTotal { .. })
    ));
}

#[test]
fn all_versions_of_a_data_set_share_its_total() {
    let whole = calibrated(1.0, |noise| gaussian(noise, 1));
    let (_home, mut ledger, old) = with_total(1.0);
    let new = ledger.identify([2; 32]).unwrap();
    ledger.continue_budget(&new, &old, "patients-2.csv").unwrap();
    ledger.reserve(&job(new, whole.clone(), 1.0)).unwrap();
    assert!(matches!(
        ledger.reserve(&job(old, whole, 1.0)),
        Err(LedgerError::OverTotal { .. })
    ));
    assert!(matches!(
        ledger.set_total(&new, "patients-2.csv", (0.5, DELTA), "lower"),
        Err(LedgerError::TotalNotRaised { .. })
    ));
}

#[test]
fn two_who_hold_the_ledger_cannot_both_spend_the_last() {
    let half = calibrated(1.0, |noise| gaussian(noise, 2));
    let mut one = half;
    one.events[0].count = 1;
    let (home, mut ledger, dataset) = with_total(1.0 + 1e-9);
    ledger.reserve(&job(dataset, one.clone(), 0.6)).unwrap();
    let gate = std::sync::Barrier::new(4);
    let fitted: usize = std::thread::scope(|scope| {
        let spend = || {
            let mut mine = Ledger::open(home.path()).unwrap();
            gate.wait();
            usize::from(mine.reserve(&job(dataset, one.clone(), 0.6)).is_ok())
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(spend)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(fitted, 1);
    assert!(
        ledger.budget(&dataset).unwrap().shares.unwrap().left < 1e-6,
        "the first sees it too"
    );
    assert!(ledger.verify().unwrap().verified);
}
