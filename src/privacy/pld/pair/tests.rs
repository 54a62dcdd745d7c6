use super::*;

fn check(pair: Pair, step: f64, multiple: i64) {
    let grid = Grid {
        step,
        multiple,
        tilt: 3.0,
        tail: 1e-14,
    };
    let discrete = discretise(pair, grid);
    let sides = std::iter::once((&discrete.losses, discrete.infinite))
        .chain(discrete.reversed.as_ref().map(|reversed| (reversed, 0.0)));
    for (points, infinite) in sides {
        assert!(points.iter().all(|point| point.mass >= 0.0), "{pair:?}");
        assert!(
            points.windows(2).all(|two| two[0].index < two[1].index),
            "{pair:?}"
        );
        let p: f64 = points.iter().map(|point| point.mass).sum();
        assert!(
            (p + infinite - 1.0).abs() < 1e-11,
            "{pair:?}: P holds {p} + {infinite}"
        );
        // E_P[e^(−L)] is Q's mass where P has any: 1 but for the tails.
        let q: f64 = points
            .iter()
            .map(|point| point.mass * (-grid.loss(point.index)).exp())
            .sum();
        assert!((q - 1.0).abs() < 1e-9, "{pair:?}: Q holds {q}");
    }
    let size = discrete.losses.len() as f64;
    assert!(
        size <= 1.1 * extent(pair, grid) + 200.0,
        "{pair:?}: {size} > {}",
        extent(pair, grid)
    );
}

#[test]
fn both_masses_stay_whole() {
    for (step, multiple) in [(1e-3, 1), (0.07, 1), (1e-3, 7)] {
        for (q, z) in [(0.01, 1.0), (0.5, 0.3), (0.001, 10.0), (0.9, 2.0)] {
            check(Pair::Mixture { q, z }, step, multiple);
            check(Pair::TwoMixtures { q, z }, step, multiple);
            check(Pair::Envelope { q, sigma: z }, step, multiple);
        }
        check(Pair::Envelope { q: 1.0, sigma: 0.7 }, step, multiple);
        check(Pair::Laplace { epsilon: 0.5 }, step, multiple);
        check(Pair::Exponential { epsilon: 1.3 }, step, multiple);
        check(
            Pair::TwoLosses {
                epsilon: 2.0,
                telling: 0.3,
            },
            step,
            multiple,
        );
        check(
            Pair::DiscreteLaplace {
                scale: 2.0,
                sensitivity: 1,
            },
            step,
            multiple,
        );
        check(
            Pair::DiscreteLaplace {
                scale: 30.0,
                sensitivity: 100,
            },
            step,
            multiple,
        );
        check(
            Pair::DiscreteGaussian {
                sigma: 2.0,
                sensitivity: 3,
            },
            step,
            multiple,
        );
        for (sigma, sensitivity) in [(1500.0, 700), (1e9, 1 << 31), (70_000.5, 2047), (3e4, 30_001)] {
            check(Pair::DiscreteGaussian { sigma, sensitivity }, step, multiple);
        }
        check(Pair::Zcdp { rho: 0.1 }, step, multiple);
    }
}
