use super::*;

fn budget(epsilon: f64, delta: f64) -> (Epsilon, Delta) {
    (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap())
}

#[test]
fn discrete_noise_costs_the_budget_and_hardly_less() {
    let delta = Delta::new(1e-5).unwrap();
    for (epsilon, sensitivity) in [
        (0.1, 1),
        (1.0, 1),
        (8.0, 1),
        (1.0, 1500),
        (0.01, 2047),
        (5.0, 1 << 40),
    ] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let found = discrete_gaussian_sigma(epsilon, delta, sensitivity).unwrap();
        let mut list = EventList::new(Neighboring::AddRemoveOne);
        list.push(
            PrivacyEvent::DiscreteGaussian {
                sigma: found.value,
                sensitivity,
            },
            1,
        );
        let cost = AccountantKind::Pld.epsilon(&list, delta).unwrap();
        assert_eq!(cost, found.epsilon);
        assert!(
            cost <= epsilon.get() && cost >= 0.99 * epsilon.get(),
            "{epsilon}: {cost}"
        );
        let continuous = gaussian_sigma(epsilon, delta, sensitivity as f64).unwrap();
        let ratio = found.value / continuous;
        // Where σ is below 1 the discrete one's ε jumps, and where it is wide the accountant adds up to 5e-4.
        assert!((0.8..1.01).contains(&ratio), "{epsilon}, {sensitivity}: {ratio}");
    }
    assert!(discrete_gaussian_sigma(Epsilon::new(1.0).unwrap(), delta, 0).is_err());
}

#[test]
fn textbook_table_of_sigmas() {
    let table = [
        (1.0, 3.7306),
        (2.0, 1.9938),
        (3.0, 1.3906),
        (5.0, 0.8919),
        (8.0, 0.6002),
        (10.0, 0.4999),
        (20.0, 0.2900),
    ];
    for (epsilon, sigma) in table {
        let (epsilon, delta) = budget(epsilon, 1e-5);
        assert!((gaussian_sigma(epsilon, delta, 1.0).unwrap() - sigma).abs() < 5e-5);
    }
    assert!(gaussian_sigma(budget(1.0, 0.0).0, Delta::new(0.0).unwrap(), 1.0).is_err());
    assert!(gaussian_sigma(budget(1e9, 1e-300).0, Delta::new(1e-300).unwrap(), 1.0).unwrap() > 0.0);
}

#[test]
fn laplace_never_passes_the_budget() {
    for epsilon in [0.1, 0.3, 1.0, 7.0, 1e9] {
        let target = Epsilon::new(epsilon).unwrap();
        assert!(3.0 / laplace_scale(target, 3.0).unwrap() <= epsilon);
    }
}

#[test]
fn noise_comes_back_within_a_thousandth() {
    for (epsilon, q, count) in [
        (1.0, 0.01, 1000),
        (8.0, 0.004, 5000),
        (0.1, 0.02, 300),
        (50.0, 1.0, 10),
    ] {
        let target = budget(epsilon, 1e-5);
        let found =
            noise_multiplier(target, q, count, Neighboring::AddRemoveOne, AccountantKind::Rdp).unwrap();
        assert!(
            found.epsilon <= epsilon && found.epsilon > epsilon * 0.999,
            "{found:?}"
        );
    }
}

#[test]
fn steps_and_rates_are_the_most_that_fit() {
    let target = budget(2.0, 1e-5);
    let one = Neighboring::AddRemoveOne;
    let found = steps(target, 0.01, 1.0, 1 << 40, one, AccountantKind::Rdp).unwrap();
    let cost = |count: f64| {
        let mut list = EventList::new(one);
        let steps = count as u64;
        list.push(
            PrivacyEvent::PoissonSampledGaussian {
                sampling_rate: 0.01,
                noise_multiplier: 1.0,
                steps,
            },
            1,
        );
        AccountantKind::Rdp.epsilon(&list, target.1).unwrap()
    };
    assert!(
        cost(found.value) <= 2.0 && cost(found.value + 1.0) > 2.0,
        "{found:?}"
    );
    let rate = sampling_rate(target, 1.0, 1000, one, AccountantKind::Rdp).unwrap();
    assert!(rate.epsilon <= 2.0 && rate.epsilon > 1.99, "{rate:?}");
}

#[test]
fn a_budget_too_small_says_what_works() {
    let target = budget(1e-3, 1e-12);
    let error = steps(
        target,
        0.01,
        1.0,
        100,
        Neighboring::AddRemoveOne,
        AccountantKind::Rdp,
    )
    .unwrap_err();
    let CalibrationError::BudgetTooSmall { smallest_epsilon } = error else {
        panic!("{error}")
    };
    assert!(smallest_epsilon > 1e-3);
    let target = budget(smallest_epsilon, 1e-12);
    assert!(
        steps(
            target,
            0.01,
            1.0,
            100,
            Neighboring::AddRemoveOne,
            AccountantKind::Rdp
        )
        .is_ok()
    );
}

#[test]
fn a_schedule_keeps_its_shape() {
    let target = budget(3.0, 1e-5);
    let schedule = [(2.0, 500), (1.0, 500)];
    let found = scaled_noise(
        target,
        0.01,
        &schedule,
        Neighboring::AddRemoveOne,
        AccountantKind::Rdp,
    )
    .unwrap();
    assert!(found.epsilon <= 3.0 && found.epsilon > 2.997);
    let flat = noise_multiplier(target, 0.01, 1000, Neighboring::AddRemoveOne, AccountantKind::Rdp).unwrap();
    assert!(found.value < flat.value && found.value * 2.0 > flat.value);
}

#[test]
fn the_ends_of_the_numbers_have_an_answer_or_say_what_is_possible() {
    let ends = [1e-320, 1e-300, 1e-20, 1e20, 1e300, 1e308, f64::MAX];
    let deltas = [5e-324, 1e-320, 1e-300, 1e-15, 0.5, 1.0 - f64::EPSILON / 2.0];
    for epsilon in ends {
        for sensitivity in [5e-324, 1e-300, 1.0, 1e300, f64::MAX] {
            let answers = deltas.map(|delta| {
                let (epsilon, delta) = budget(epsilon, delta);
                gaussian_sigma(epsilon, delta, sensitivity)
            });
            let target = Epsilon::new(epsilon).unwrap();
            for answer in answers.into_iter().chain([laplace_scale(target, sensitivity)]) {
                match answer {
                    Ok(noise) => assert!(noise > 0.0 && noise.is_finite(), "{noise}"),
                    Err(CalibrationError::BudgetTooSmall { smallest_epsilon }) => assert!(
                        smallest_epsilon > epsilon && smallest_epsilon.is_finite(),
                        "{epsilon:e} {sensitivity:e}: {smallest_epsilon:e}"
                    ),
                    Err(other) => panic!("{epsilon:e} {sensitivity:e}: {other}"),
                }
            }
        }
        if let Ok(scale) = laplace_scale(Epsilon::new(epsilon).unwrap(), 1.0) {
            assert!(1.0 / scale <= epsilon && 1.0 / scale >= epsilon * (1.0 - 1e-9) || scale < 1e-300);
        }
    }
    // ε that is named works.
    let (none, delta) = budget(1e-320, 1e-320);
    let error = gaussian_sigma(none, delta, 1.0).unwrap_err();
    let CalibrationError::BudgetTooSmall { smallest_epsilon } = error else {
        panic!("{error}")
    };
    assert!(gaussian_sigma(budget(smallest_epsilon, 0.5).0, delta, 1.0).is_ok());
    assert!(
        CalibrationError::BudgetTooSmall { smallest_epsilon }
            .to_string()
            .len()
            < 100
    );
}
