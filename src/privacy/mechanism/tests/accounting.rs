//! What the accountants make of the mechanisms' events.

use super::super::*;
use super::epsilon;
use crate::num::Delta;
use crate::privacy::{AccountantKind, EventList, Neighboring, PrivacyEvent};

#[test]
fn events_say_what_was_drawn_and_cost_what_was_asked() {
    let cost = |event: PrivacyEvent, delta: f64| {
        let mut list = EventList::new(Neighboring::ReplaceOne);
        list.push(event, 1);
        AccountantKind::Pld
            .epsilon(&list, Delta::new(delta).unwrap())
            .unwrap()
    };
    for (at, sensitivity) in [(0.1, 1), (1.0, 1500), (3.0, 7), (0.7, 1 << 45)] {
        let noise = DiscreteLaplace::for_epsilon(epsilon(at), sensitivity).unwrap();
        assert!((noise.scale() * at / sensitivity as f64 - 1.0).abs() < 1e-15);
        let reached = cost(noise.event(sensitivity), 0.0);
        assert!(reached <= at && reached > at - 1e-12, "{at}: {reached}");
        // A half of the sensitivity costs a half.
        assert!(
            (cost(noise.event(sensitivity / 2), 0.0) - at * (sensitivity / 2) as f64 / sensitivity as f64)
                .abs()
                < 1e-12
        );
        let noise =
            DiscreteGaussian::for_budget(epsilon(at), Delta::new(1e-6).unwrap(), sensitivity).unwrap();
        let reached = cost(noise.event(sensitivity), 1e-6);
        assert!(reached <= at && reached > 0.99 * at, "{at}: {reached}");
    }
    let selection = Selection::new(epsilon(0.5), 1.0).unwrap();
    assert_eq!(cost(selection.pure_event(), 0.0), 0.5);
    assert_eq!(cost(selection.exponential_event(), 0.0), 0.5);
    // Bounded range pays under composition only where the mechanism has it.
    assert!(cost(selection.exponential_event(), 1e-2) < cost(selection.pure_event(), 1e-2));
    let response = RandomizedResponse::for_epsilon(epsilon(1.0), 4).unwrap();
    assert!((cost(response.event(), 0.0) - 1.0).abs() < 1e-12);
}

#[test]
fn a_wide_discrete_gaussian_is_accounted_as_its_sum_says() {
    for (sigma, sensitivity) in [(1200.0, 700), (1100.5, 1101), (2000.0, 1024), (1001.0, 5000)] {
        let noise = DiscreteGaussian::new(sigma).unwrap();
        let mut list = EventList::new(Neighboring::AddRemoveOne);
        list.push(noise.event(sensitivity), 1);
        for at in [0.0_f64, 0.3, 1.0, 2.5] {
            let reach = (15.0 * sigma) as i64 + sensitivity as i64;
            let exact: f64 = (-reach..=reach)
                .map(|k| {
                    (noise.probability(k) - at.exp() * noise.probability(k - sensitivity as i64)).max(0.0)
                })
                .sum();
            let found = AccountantKind::Pld.delta(&list, at).unwrap();
            assert!(
                found >= exact * (1.0 - 1e-9) && found <= exact * (1.0 + 5e-3) + 1e-12,
                "σ {sigma}, ε {at}: {found}, exact {exact}"
            );
        }
    }
}
