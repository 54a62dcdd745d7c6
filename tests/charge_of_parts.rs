//! What a run is charged that did not come to the end of its plan.

use pointillist::engine::command::Method;
use pointillist::num::Delta;
use pointillist::privacy::{AccountantKind, EventList, Neighboring, PrivacyEvent, epsilon_of_part};

fn gaussian(noise: f64) -> PrivacyEvent {
    PrivacyEvent::Gaussian {
        noise_multiplier: noise,
    }
}

fn steps(steps: u64) -> PrivacyEvent {
    PrivacyEvent::PoissonSampledGaussian {
        sampling_rate: 0.01,
        noise_multiplier: 2.0,
        steps,
    }
}

fn list(events: &[PrivacyEvent]) -> EventList {
    let mut list = EventList::new(Neighboring::AddRemoveOne);
    for event in events {
        list.push(event.clone(), 1);
    }
    list
}

#[test]
fn a_part_of_a_plan_is_never_charged_more_than_the_plan() {
    let delta = Delta::new(1e-5).unwrap();
    let planned = list(&[gaussian(5.0), gaussian(6.0)]);
    let by = Method::Gem.accountant(false);
    let reserved = by.epsilon(&planned, delta).unwrap();
    // The looser accountant, which the plan was not made with, gives more for the same events.
    assert!(AccountantKind::Rdp.epsilon(&planned, delta).unwrap() > reserved * 1.01);
    assert_eq!(
        epsilon_of_part(by, (&planned, &planned), reserved, delta).unwrap(),
        reserved
    );
    let half = epsilon_of_part(by, (&list(&[gaussian(5.0)]), &planned), reserved, delta).unwrap();
    assert!(half > 0.0 && half < reserved);
    // A looser accountant than that of the plan may be asked: the reservation is the upper end.
    let loose = epsilon_of_part(
        AccountantKind::Rdp,
        (&list(&[gaussian(6.0), gaussian(5.0)]), &planned),
        reserved,
        delta,
    );
    assert_eq!(loose.unwrap(), reserved);
}

#[test]
fn what_was_not_planned_is_charged_in_full() {
    let delta = Delta::new(1e-5).unwrap();
    let planned = list(&[steps(10)]);
    let more = list(&[steps(6), steps(5)]);
    let whole = list(&[steps(6), steps(4)]);
    // However steps are grouped, they are the plan's own.
    let same = epsilon_of_part(AccountantKind::Rdp, (&whole, &planned), 1e-3, delta).unwrap();
    assert_eq!(same, 1e-3);
    let by = Method::Dpgan.accountant(false);
    let charged = epsilon_of_part(by, (&more, &planned), 1e-3, delta).unwrap();
    assert_eq!(charged, by.epsilon(&more, delta).unwrap());
    assert!(charged > 1e-3);
}
