//! What gives an edited certificate away, and files that are none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::{Value, json};

use super::*;
use crate::num::RandomSource;

/// Edits one value of the JSON file, mends the digest as a careful forger would, and verifies.
fn forged(edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut value = serde_json::to_value(certificate()).unwrap();
    edit(&mut value);
    let mut edited: Certificate = serde_json::from_value(value).unwrap();
    edited.digest = edited.compute_digest();
    verify(&edited).reasons
}

#[test]
fn a_forger_who_mends_the_digest_is_found_by_the_numbers() {
    assert!(forged(|_| {}).is_empty());
    let lower = forged(|value| value["guarantee"]["epsilon"] = 0.1.into());
    assert!(lower[0].contains("states ε = 0.1, less than"), "{lower:?}");
    assert!(!forged(|value| value["guarantee"]["epsilon"] = 9.0.into()).is_empty());
    assert!(!forged(|value| value["guarantee"]["delta"] = 1e-9.into()).is_empty());
    let missing = forged(|value| {
        value["events"]["events"].as_array_mut().unwrap().remove(0);
    });
    assert!(
        missing
            .iter()
            .any(|reason| reason.contains("that follows from its events")),
        "{missing:?}"
    );
    assert!(!forged(|value| value["events"]["events"][1]["noise_multiplier"] = 1.0.into()).is_empty());
    assert!(!forged(|value| value["events"]["events"][1]["steps"] = 301.into()).is_empty());
    assert!(!forged(|value| value["guarantee"]["profile"][3]["delta"] = 1e-9.into()).is_empty());
    assert!(!forged(|value| value["odds"]["advantage"] = 1e-3.into()).is_empty());
    assert!(!forged(|value| value["odds"]["sentence"] = "Nothing is ever found.".into()).is_empty());
    assert!(!forged(|value| value["relation"] = "replace_one".into()).is_empty());
    assert!(!forged(|value| value["guarantee"]["variant"] = "pure".into()).is_empty());
    assert!(!forged(|value| value["not_protected"] = Value::Array(Vec::new())).is_empty());
    assert!(!forged(|value| value["random_source"] = serde_json::json!({"seeded": 3})).is_empty());
    assert!(!forged(|value| value["stop"] = "by_person".into()).is_empty());
    assert!(!forged(|value| value["sampling"] = "shuffled".into()).is_empty());
    let removed = forged(|value| {
        value.as_object_mut().unwrap().remove("unit");
    });
    assert!(
        removed[0].contains("from its content follows \"no DP claim: the unit"),
        "{removed:?}"
    );
}

/// The places of all values that hold no others.
fn leaves(value: &Value, path: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(name, value)| leaves(value, format!("{path}/{name}"), into));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| leaves(item, format!("{path}/{index}"), into));
        }
        _ => into.push(path),
    }
}

#[test]
fn every_edited_value_breaks_the_digest() {
    let whole = serde_json::to_value(certificate()).unwrap();
    let mut paths = Vec::new();
    leaves(&whole, String::new(), &mut paths);
    assert!(paths.len() > 70, "{}", paths.len());
    let mut edited_values = 0;
    for path in paths {
        let mut edited = whole.clone();
        let value = edited.pointer_mut(&path).unwrap();
        *value = match value {
            Value::String(text) => Value::String(format!("{text}x")),
            Value::Bool(is_so) => Value::Bool(!*is_so),
            Value::Number(number) if number.is_u64() => (number.as_u64().unwrap() + 1).into(),
            Value::Number(number) => (number.as_f64().unwrap() * (1.0 + 1e-15) + f64::MIN_POSITIVE).into(),
            other => panic!("{other}"),
        };
        // What is no certificate any more is refused earlier.
        if let Ok(edited) = serde_json::from_value::<Certificate>(edited) {
            assert!(!verify(&edited).verified, "{path}");
            edited_values += 1;
        }
    }
    assert!(edited_values > 40, "{edited_values}");
}

#[test]
fn a_field_that_nobody_knows_is_refused_at_every_depth() {
    fn objects(value: &Value, path: String, into: &mut Vec<String>) {
        if let Value::Object(fields) = value {
            for (name, value) in fields {
                objects(value, format!("{path}/{name}"), into);
            }
            into.push(path);
        } else if let Value::Array(items) = value {
            for (index, item) in items.iter().enumerate() {
                objects(item, format!("{path}/{index}"), into);
            }
        }
    }
    let whole = serde_json::to_value(certificate()).unwrap();
    let mut paths = Vec::new();
    objects(&whole, String::new(), &mut paths);
    assert!(paths.len() > 20, "{}", paths.len());
    let mut taken = Vec::new();
    for path in paths {
        let mut edited = whole.clone();
        edited.pointer_mut(&path).unwrap()["unheard_of"] = 1.into();
        if file::parse(std::path::Path::new("c"), edited.to_string().as_bytes()).is_ok() {
            taken.push(path);
        }
    }
    assert_eq!(taken, [""; 0], "fields that would be passed over in silence");
}

#[test]
fn what_is_no_certificate_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        read_certificate(&path).unwrap_err().to_string()
    };
    assert!(read("").contains("not JSON"));
    assert!(read("\u{1}\u{2}PAR1").contains("not JSON"));
    assert!(read("[1, 2]").contains("does not say its format"));
    assert!(read("{\"format\": \"other\"}").contains("\"other\""));
    assert!(read("{\"format\": \"pointillist-certificate\"}").contains("version"));
    assert!(read("{\"format\": \"pointillist-certificate\", \"version\": 3}").contains("update the program"));
    assert!(read("{\"format\": \"pointillist-certificate\", \"version\": 1}").contains("verdict"));
    let whole = certificate().to_json().unwrap();
    let extra = whole.replacen("\"method\"", "\"metod\": 1,\n  \"method\"", 1);
    assert!(read(&extra).contains("metod"), "{}", read(&extra));
    assert!(read(&whole[..whole.len() / 2]).contains("not JSON"));
}

/// How long one verification may take, on a busy machine: a hostile certificate must not hang the program.
const PATIENCE: Duration = Duration::from_secs(20);

/// Verifies within reason: without a panic, and in a bearable time.
fn verify_hostile(certificate: &Certificate, what: &str) -> Verified {
    let start = Instant::now();
    let verified = catch_unwind(AssertUnwindSafe(|| verify(certificate)))
        .unwrap_or_else(|_| panic!("it panics: {what}"));
    assert!(start.elapsed() < PATIENCE, "{:?}: {what}", start.elapsed());
    verified
}

#[test]
fn no_mangled_bytes_pass_for_another_certificate() {
    const MANGLED: u32 = 6000;
    let whole = certificate();
    let text = whole.to_json().unwrap().into_bytes();
    // The case numbers in a failure's message repeat it.
    let mut random = RandomSource::seeded(20);
    let (mut readable, mut alike) = (0, 0);
    for case in 0..MANGLED {
        let mut bytes = text.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..6) {
                0 => bytes[at] = random.random(),
                1 => bytes[at] = b"0123456789.eE+-,:\"{}[] \ntnN"[random.random_range(0..27)],
                2 => drop(bytes.remove(at)),
                3 => bytes.insert(at, b"0123456789"[random.random_range(0..10)]),
                4 => bytes.truncate(at.max(1)),
                _ => {
                    let to = (at + random.random_range(1..200)).min(bytes.len());
                    let piece = bytes[at..to].to_vec();
                    let into = random.random_range(0..bytes.len());
                    bytes.splice(into..into, piece);
                }
            }
        }
        let Ok(read) = catch_unwind(|| file::parse(std::path::Path::new("c"), &bytes))
            .unwrap_or_else(|_| panic!("case {case} panics while it is read"))
        else {
            continue;
        };
        readable += 1;
        // Blanks and spellings of the same number change nothing; whatever else was changed is found.
        let verified = verify_hostile(&read, &format!("case {case}")).verified;
        assert_eq!(verified, read == whole, "case {case}");
        alike += u32::from(verified);
    }
    println!("{readable} of {MANGLED} could be read, {alike} said the same as before");
    assert!(readable > MANGLED / 20 && alike < readable);
}

#[test]
fn no_value_makes_the_program_panic_or_hang() {
    let mut whole = serde_json::to_value(certificate()).unwrap();
    let events = whole["events"]["events"].as_array_mut().unwrap();
    for event in [
        json!({"type": "laplace", "scale": 2.0, "sensitivity": 1.0}),
        json!({"type": "discrete_gaussian", "sigma": 9.0, "sensitivity": 1}),
        json!({"type": "exponential", "epsilon": 0.1}),
        json!({"type": "parallel", "branches": [[{"type": "pure", "epsilon": 0.1, "count": 2}], []]}),
    ] {
        events.push(event);
    }
    let strange = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(1_000_000_000_000_u64),
        json!(1e308),
        json!(-1e308),
        json!(1e-308),
        json!(5e-324),
        json!(0.999_999_999_999),
        json!("NaN"),
        json!("\u{0}\u{202e}ε"),
        json!([]),
        json!({}),
        json!([[[[[[[[[[]]]]]]]]]]),
    ];
    let mut paths = Vec::new();
    leaves(&whole, String::new(), &mut paths);
    let mut readable = 0;
    for accountant in ["rdp", "pld"] {
        whole["guarantee"]["accountant"] = accountant.into();
        for path in &paths {
            // The profile and the lists take part in comparisons only: a few of each are enough.
            if accountant == "pld" && !path.starts_with("/events") && !path.starts_with("/guarantee/delta") {
                continue;
            }
            for value in &strange {
                let mut edited = whole.clone();
                *edited.pointer_mut(path).unwrap() = value.clone();
                let Ok(mut edited) = serde_json::from_value::<Certificate>(edited) else {
                    continue;
                };
                readable += 1;
                edited.digest = edited.compute_digest();
                let what = format!("{accountant} {path} = {value}");
                let verified = verify_hostile(&edited, &what);
                if path.starts_with("/events/events") || path.starts_with("/guarantee/") {
                    assert!(!verified.verified, "{what}");
                }
                let page = catch_unwind(AssertUnwindSafe(|| edited.to_html(Language::English)));
                assert!(page.is_ok_and(|page| page.ends_with("</html>\n")), "{what}");
            }
        }
    }
    assert!(readable > 300, "{readable}");
}

#[test]
fn files_without_an_end_and_without_a_bottom_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        read_certificate(&path).unwrap_err().to_string()
    };
    assert!(read(&vec![b' '; (16 << 20) + 1]).contains("more than 16 megabytes"));
    assert!(read(&b"[".repeat(100_000)).contains("not JSON"));
    let deep = format!("{}{}", "{\"a\":".repeat(5000), "}".repeat(5000));
    assert!(read(deep.as_bytes()).contains("not JSON"));
    let whole = certificate().to_json().unwrap();
    for number in ["NaN", "Infinity", "-Infinity", "1e999", "0x10"] {
        let edited = whole.replacen("\"delta\": 0.00001", &format!("\"delta\": {number}"), 1);
        assert_ne!(edited, whole);
        assert!(read(edited.as_bytes()).contains("not JSON"), "{number}");
    }
    // A branch in a branch in a branch.
    let mut events = json!({"type": "pure", "epsilon": 0.1});
    for _ in 0..50 {
        events = json!({"type": "parallel", "branches": [[events]]});
    }
    let mut nested = serde_json::to_value(certificate()).unwrap();
    nested["events"]["events"][0] = events;
    let text = nested.to_string();
    match file::parse(&path, text.as_bytes()) {
        Ok(read) => assert!(!verify_hostile(&read, "nested branches").verified),
        Err(error) => assert!(error.to_string().contains("not JSON"), "{error}"),
    }
    let long = folder.path().join("long.json");
    fs::File::create(&long).unwrap().set_len(17 << 20).unwrap();
    let error = read_certificate(&long).unwrap_err().to_string();
    assert!(error.contains("more than 16 megabytes"), "{error}");
    #[cfg(unix)]
    {
        let error = read_certificate(std::path::Path::new("/dev/zero")).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("a pipe or a device"), "{cause}");
    }
    let error = read_certificate(folder.path()).unwrap_err();
    assert!(error.to_string().contains("could not be read"), "{error}");
}

#[test]
fn what_is_always_written_is_not_filled_in() {
    let whole = serde_json::to_value(certificate()).unwrap();
    for (place, name) in [
        ("/data_set", "description"),
        ("/data_set", "public"),
        ("/domain", "dropped"),
    ] {
        let mut value = whole.clone();
        let fields = value.pointer_mut(place).unwrap().as_object_mut().unwrap();
        assert!(fields.remove(name).is_some());
        let text = serde_json::to_vec(&value).unwrap();
        let said = file::parse(std::path::Path::new("c.json"), &text)
            .unwrap_err()
            .to_string();
        assert!(said.contains("lacks the field") && said.contains(name), "{said}");
    }
    let missing = Certificate {
        spending: Some(Spending {
            ledger_entry: 1,
            reserved: Charge::default(),
            spent: Charge::default(),
            total: None,
            left: None,
            data_set_spent: Charge::default(),
            data_set_reserved: Charge::default(),
            discarded_runs: 0,
            ledger_entries: 1,
            ledger_head: "0".repeat(64),
            scope: String::new(),
        }),
        ..certificate()
    };
    let reasons = verify(&missing).reasons;
    assert!(
        reasons
            .iter()
            .any(|reason| reason.contains("its seal is missing")),
        "{reasons:?}"
    );
}
