use super::*;

const ALL: &str = r#"{"neighboring": "replace_one", "events": [
    {"type": "laplace", "scale": 2.0, "sensitivity": 1.0},
    {"type": "gaussian", "noise_multiplier": 5.0, "count": 3},
    {"type": "discrete_laplace", "scale": 2.0, "sensitivity": 1},
    {"type": "discrete_gaussian", "sigma": 2.0, "sensitivity": 1},
    {"type": "poisson_sampled_gaussian", "sampling_rate": 0.01, "noise_multiplier": 1.0, "steps": 1000},
    {"type": "fixed_size_sampled_gaussian", "population": 60000, "batch": 256, "noise_multiplier": 1.0, "steps": 1000},
    {"type": "row_draw_gaussian", "shards": 1000, "sigma": 1.07, "rows": 32, "steps": 20000},
    {"type": "round_robin_gaussian", "uses": 20, "sigma": 1.07, "rows": 32},
    {"type": "randomized_response", "truth_probability": 0.75, "categories": 2},
    {"type": "exponential", "epsilon": 0.1},
    {"type": "pure", "epsilon": 0.1},
    {"type": "approx", "epsilon": 0.1, "delta": 1e-7},
    {"type": "zcdp", "rho": 0.1},
    {"type": "parallel", "branches": [[], [{"type": "pure", "epsilon": 0.5, "count": 2}]]}]}"#;

#[test]
fn every_event_of_the_file_format_goes_round() {
    let list = EventList::from_json(ALL).unwrap();
    assert_eq!(list.events.len(), 14);
    assert_eq!(list.events[1].count, 3);
    let written = serde_json::to_string(&list).unwrap();
    assert!(
        written.contains(r#"{"type":"gaussian","noise_multiplier":5.0,"count":3}"#),
        "{written}"
    );
    assert!(
        written.contains(r#"{"type":"exponential","epsilon":0.1}"#),
        "{written}"
    );
    assert_eq!(EventList::from_json(&written).unwrap(), list);
}

#[test]
fn wrong_events_name_themselves_and_their_place() {
    let wrong = [
        (
            r#"{"type": "gausian", "noise_multiplier": 1}"#,
            "unknown event type `gausian`",
        ),
        (
            r#"{"type": "gaussian"}"#,
            "event `gaussian` needs `noise_multiplier`",
        ),
        (
            r#"{"type": "gaussian", "noise_multiplier": 1, "coutn": 5}"#,
            "no parameter `coutn`",
        ),
        (
            r#"{"type": "gaussian", "noise_multiplier": -1}"#,
            "noise_multiplier of `gaussian`",
        ),
        (
            r#"{"type": "gaussian", "noise_multiplier": 1, "count": -5}"#,
            "whole number",
        ),
        (
            r#"{"type": "gaussian", "noise_multiplier": 1, "count": 1.5}"#,
            "whole number",
        ),
        (
            r#"{"type": "gaussian", "noise_multiplier": "1"}"#,
            "must be a number",
        ),
        (r#"{"type": "pure", "epsilon": 1, "epsilon": 2}"#, "stands twice"),
        (
            r#"{"type": "parallel", "branches": [[{"type": "pure"}]]}"#,
            "needs `epsilon`",
        ),
        (r#"{"noise_multiplier": 1}"#, "needs its `type`"),
    ];
    for (event, message) in wrong {
        let text = format!("{{\"neighboring\": \"add_remove_one\",\n \"events\": [{event}]}}");
        let error = EventList::from_json(&text).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(error.line(), 2, "{error}");
    }
    assert!(EventList::from_json(r#"{"neighboring": "swap", "events": []}"#).is_err());
    assert!(EventList::from_json(r#"{"neighboring": "replace_one", "events": [], "event": []}"#).is_err());
}
