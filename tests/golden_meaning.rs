//! Trade-off curves and membership bounds against the golden files.

use std::path::Path;

use pointillist::privacy::meaning::Meaning;

fn rows(file: &str) -> Vec<impl Fn(&str) -> Option<f64>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(file);
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|record| {
            let (record, header) = (record.unwrap(), header.clone());
            move |column: &str| {
                let index = header
                    .iter()
                    .position(|name| name == column)
                    .unwrap_or_else(|| panic!("no {column}"));
                record[index].parse().ok()
            }
        })
        .collect()
}

fn meaning(row: &impl Fn(&str) -> Option<f64>) -> Meaning {
    match (row("epsilon"), row("mu")) {
        (Some(epsilon), None) => Meaning::Pair {
            epsilon,
            delta: row("delta").unwrap(),
        },
        (None, Some(mu)) => Meaning::Gaussian { mu },
        other => panic!("{other:?}"),
    }
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 + 1e-10 * expected.abs(),
        "{found} is not {expected}"
    );
}

#[test]
fn trade_off_curves() {
    let rows = rows("tradeoff.csv");
    assert_eq!(rows.len(), 101);
    for row in rows {
        close(
            meaning(&row).type_two_error(row("alpha").unwrap()),
            row("beta").unwrap(),
        );
    }
}

#[test]
fn membership_bounds() {
    let rows = rows("membership_bounds.csv");
    assert_eq!(rows.len(), 31);
    for row in rows {
        let (meaning, prior) = (meaning(&row), row("prior").unwrap());
        close(meaning.advantage(), row("max_advantage").unwrap());
        close(meaning.accuracy(prior), row("bayes_accuracy_bound").unwrap());
        for (column, rate) in [("0.001", 0.001), ("0.01", 0.01)] {
            close(
                meaning.true_positive_rate(rate),
                row(&format!("tpr_at_fpr_{column}")).unwrap(),
            );
            close(
                meaning.precision(rate, prior),
                row(&format!("ppv_at_fpr_{column}")).unwrap(),
            );
        }
        if let Meaning::Pair { epsilon, delta } = meaning {
            // The pure columns leave δ out.
            let pure = Meaning::Pair { epsilon, delta: 0.0 };
            close(
                pure.posterior(prior).unwrap(),
                row("posterior_bound_pure").unwrap(),
            );
            close(
                pure.least_posterior(prior).unwrap(),
                row("posterior_lower_bound_pure").unwrap(),
            );
            let (bound, passed) = Meaning::Pair { epsilon, delta }.relaxed_posterior(prior).unwrap();
            close(bound, row("posterior_bound_relaxed").unwrap());
            close(passed, row("prob_relaxed_exceeded").unwrap());
            assert_eq!(meaning_has_posterior(epsilon, delta, prior), delta == 0.0);
        } else {
            assert!(meaning.posterior(prior).is_none());
        }
    }
}

fn meaning_has_posterior(epsilon: f64, delta: f64, prior: f64) -> bool {
    Meaning::Pair { epsilon, delta }.posterior(prior).is_some()
}
