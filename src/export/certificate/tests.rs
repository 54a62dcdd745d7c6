//! What a certificate claims, what it refuses to claim, and what gives an edited one away.

use std::fs;

use serde_json::Value;

use super::*;
use crate::data::{Column, Kind, Provenance, RowCount, Schema};
use crate::export::ExportError;
use crate::privacy::PrivacyEvent;

fn schema() -> Schema {
    Schema {
        version: 1,
        missing: vec![String::new()],
        public: false,
        label: None,
        rows: Some(RowCount {
            value: 1000,
            provenance: Provenance::Declared,
        }),
        unit: None,
        column: vec![
            Column::new("age", Kind::Integer)
                .with_bounds(0, 120)
                .with_provenance(Provenance::Declared),
            Column::new("smokes", Kind::Boolean),
            Column::new("income", Kind::Continuous)
                .with_bounds(0, 9e4)
                .with_provenance(Provenance::Accepted),
            Column::new("ssn", Kind::Identifier),
        ],
    }
}

fn events() -> EventList {
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: 12.0,
        },
        1,
    );
    events.push(
        PrivacyEvent::PoissonSampledGaussian {
            sampling_rate: 0.02,
            noise_multiplier: 2.0,
            steps: 300,
        },
        1,
    );
    events
}

fn facts() -> CertificateFacts {
    CertificateFacts {
        data_set: DataSet {
            name: "patients".into(),
            description: "a <b>ward</b>".into(),
            public: false,
        },
        method: "dpgan".into(),
        synthetic_file: SyntheticFile {
            name: "out.csv".into(),
            sha256: "0".repeat(64),
            bytes: 8,
            rows: 1,
        },
        events: Some(events()),
        delta: 1e-5,
        accountant: AccountantKind::Rdp,
        unit: Some(PrivacyUnit::Row),
        domain: Some(Domain::of(&schema())),
        sampling: Some(Sampling::Poisson),
        noise: vec![NoiseKind::FloatingPointGaussian],
        random_source: Some(RandomOrigin::OperatingSystem),
        stop: Some(Stop::Planned),
        spending: None,
        choices: Choices {
            looked: true,
            ..Choices::default()
        },
        software: vec![Software {
            name: "burn".into(),
            version: "0.22.1".into(),
        }],
        checks: vec![Check {
            name: "rows outside the domain".into(),
            value: 0.0,
            interval: Some([0.0, 0.1]),
            cost: CheckCost::Free,
        }],
    }
}

fn certificate() -> Certificate {
    Certificate::issue(facts()).unwrap()
}

#[test]
fn a_complete_certificate_claims_and_verifies() {
    let certificate = certificate();
    assert_eq!(certificate.verdict(), Verdict::DifferentiallyPrivate);
    let guarantee = certificate.guarantee.as_ref().unwrap();
    assert!(
        guarantee.epsilon > 0.3 && guarantee.epsilon < 3.0,
        "{}",
        guarantee.epsilon
    );
    assert!(
        guarantee
            .profile
            .is_sorted_by(|one, other| one.epsilon < other.epsilon)
    );
    assert!(
        guarantee
            .profile
            .is_sorted_by(|one, other| one.delta >= other.delta)
    );
    assert_eq!(
        certificate.not_protected,
        [
            NotProtected::AcceptedDomain {
                column: "income".into()
            },
            NotProtected::FloatingPointNoise
        ]
    );
    assert_eq!(certificate.not_accounted, [NotAccounted::Looking]);
    assert_eq!(certificate.domain.as_ref().unwrap().dropped, ["ssn"]);
    let verified = verify(&certificate);
    assert_eq!(verified.reasons, [""; 0]);
    assert_eq!(verified.epsilon.unwrap().to_bits(), guarantee.epsilon.to_bits());
}

#[test]
fn the_file_comes_back_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv.certificate.json");
    let certificate = certificate();
    write_certificate(&path, &certificate, false).unwrap();
    let read = read_certificate(&path).unwrap();
    assert_eq!(read, certificate);
    assert_eq!(read.to_json().unwrap(), certificate.to_json().unwrap());
    assert!(verify(&read).verified);
    assert!(matches!(
        write_certificate(&path, &certificate, false),
        Err(ExportError::Exists { .. })
    ));
}

#[test]
fn whatever_is_missing_or_wrong_takes_the_claim_away() {
    let refused = |facts: CertificateFacts| {
        let certificate = Certificate::issue(facts).unwrap();
        assert!(
            verify(&certificate).verified,
            "{:?}",
            verify(&certificate).reasons
        );
        assert!(certificate.verdict().to_string().starts_with("no DP claim: "));
        certificate.verdict().reasons().to_vec()
    };
    assert_eq!(
        refused(CertificateFacts {
            unit: None,
            ..facts()
        }),
        [NoClaim::NoUnit]
    );
    assert_eq!(
        refused(CertificateFacts {
            domain: None,
            ..facts()
        }),
        [NoClaim::NoDomain]
    );
    assert_eq!(
        refused(CertificateFacts {
            sampling: None,
            ..facts()
        }),
        [NoClaim::NoSampling]
    );
    assert_eq!(
        refused(CertificateFacts {
            random_source: None,
            ..facts()
        }),
        [NoClaim::NoRandomSource]
    );
    let seeded = CertificateFacts {
        random_source: Some(RandomOrigin::Seeded(7)),
        ..facts()
    };
    assert_eq!(refused(seeded), [NoClaim::Seeded]);
    let non_private = CertificateFacts {
        events: None,
        ..facts()
    };
    assert_eq!(
        refused(non_private),
        [NoClaim::MethodWithoutPrivacy, NoClaim::NoRelation]
    );
    for run in [Sampling::Shuffled, Sampling::FixedSize, Sampling::AllRows] {
        let other = CertificateFacts {
            sampling: Some(run),
            ..facts()
        };
        assert_eq!(
            refused(other),
            [NoClaim::OtherSampling {
                event: "poisson_sampled_gaussian".into()
            }]
        );
    }
    let mut open = schema();
    open.column[0].provenance = Some(Provenance::Suggested);
    open.column[2].provenance = None;
    assert_eq!(
        refused(CertificateFacts {
            domain: Some(Domain::of(&open)),
            ..facts()
        }),
        [
            NoClaim::Suggested { column: "age".into() },
            NoClaim::NoProvenance {
                column: "income".into()
            }
        ]
    );
    let mut infinite = events();
    infinite.push(
        PrivacyEvent::Approx {
            epsilon: 0.1,
            delta: 1e-3,
        },
        1,
    );
    assert_eq!(
        refused(CertificateFacts {
            events: Some(infinite),
            ..facts()
        }),
        [NoClaim::NoFiniteEpsilon]
    );
}

#[test]
fn what_nobody_vouches_for_is_listed() {
    let mut private_count = schema();
    private_count.rows = None;
    let by_person = CertificateFacts {
        stop: Some(Stop::ByPerson),
        choices: Choices {
            tuned: true,
            looked: true,
            chose_checkpoint: true,
        },
        domain: Some(Domain::of(&private_count)),
        ..facts()
    };
    let certificate = Certificate::issue(by_person).unwrap();
    assert!(certificate.not_protected.contains(&NotProtected::RowCount));
    assert_eq!(
        certificate.not_accounted,
        [
            NotAccounted::Tuning,
            NotAccounted::Looking,
            NotAccounted::CheckpointChoice,
            NotAccounted::MomentOfStopping
        ]
    );
    let page = certificate.to_html();
    assert!(page.contains("the moment of stopping was chosen with private plots in view: not accounted"));
    let mut replace = events();
    replace.neighboring = Neighboring::ReplaceOne;
    let public_count = CertificateFacts {
        events: Some(replace),
        domain: Some(Domain::of(&private_count)),
        ..facts()
    };
    assert!(
        !Certificate::issue(public_count)
            .unwrap()
            .not_protected
            .contains(&NotProtected::RowCount)
    );
}

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

#[test]
fn every_edited_value_breaks_the_digest() {
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
fn another_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("out.csv");
    fs::write(&data, "a,b\n1,2\n").unwrap();
    let mut known = facts();
    // printf 'a,b\n1,2\n' | sha256sum
    known.synthetic_file.sha256 = "8bc6f6b7dbf0c1d7a4ba8c7b1f2fba29c64b53ca9a8ef0ddb9cb9b1e5a0b1a9e".into();
    let other = Certificate::issue(known.clone()).unwrap();
    let verified = verify_file(&other, &data).unwrap();
    assert!(!verified.verified);
    assert!(
        verified.reasons[0].contains("is not the file of this certificate"),
        "{:?}",
        verified.reasons
    );
    let stated = verified.reasons[0].split("its SHA-256 is ").nth(1).unwrap();
    known.synthetic_file.sha256 = stated[..64].into();
    let right = Certificate::issue(known).unwrap();
    assert!(verify_file(&right, &data).unwrap().verified);
    fs::write(&data, "a,b\n1,3\n").unwrap();
    assert!(!verify_file(&right, &data).unwrap().verified);
    assert!(matches!(
        verify_file(&right, &folder.path().join("none")),
        Err(ExportError::Read { .. })
    ));
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
    assert!(read("{\"format\": \"pointillist-certificate\", \"version\": 2}").contains("update the program"));
    assert!(read("{\"format\": \"pointillist-certificate\", \"version\": 1}").contains("verdict"));
    let whole = certificate().to_json().unwrap();
    let extra = whole.replacen("\"method\"", "\"metod\": 1,\n  \"method\"", 1);
    assert!(read(&extra).contains("metod"), "{}", read(&extra));
    assert!(read(&whole[..whole.len() / 2]).contains("not JSON"));
}

#[test]
fn gaussian_events_have_rho_and_mu() {
    let mut gaussians = EventList::new(Neighboring::ReplaceOne);
    gaussians.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: 5.0,
        },
        4,
    );
    let facts = CertificateFacts {
        events: Some(gaussians),
        sampling: Some(Sampling::AllRows),
        ..facts()
    };
    let guarantee = Certificate::issue(facts).unwrap().guarantee.unwrap();
    assert!((guarantee.mu.unwrap() - 0.4).abs() < 1e-15);
    assert!((guarantee.rho.unwrap() - 0.08).abs() < 1e-15);
    assert!(certificate().guarantee.unwrap().mu.is_none());
}

#[test]
fn each_accountant_states_its_own_epsilon_and_verifies() {
    let by = |accountant| {
        let certificate = Certificate::issue(CertificateFacts {
            accountant,
            ..facts()
        })
        .unwrap();
        assert_eq!(verify(&certificate).reasons, [""; 0]);
        certificate.guarantee.unwrap().epsilon
    };
    let (pld, rdp) = (by(AccountantKind::Pld), by(AccountantKind::Rdp));
    assert!(pld < rdp && pld > 0.5 * rdp, "{pld} {rdp}");
}

#[test]
fn the_page_is_one_page_without_markup_of_others() {
    let mut many = facts();
    let list = many.events.as_mut().unwrap();
    for step in 0..500 {
        list.push(
            PrivacyEvent::Gaussian {
                noise_multiplier: 1e3 + f64::from(step),
            },
            1,
        );
    }
    let certificate = Certificate::issue(many).unwrap();
    let page = certificate.to_html();
    assert!(page.contains("a &lt;b&gt;ward&lt;/b&gt;") && !page.contains("<b>"));
    assert!(!page.contains("<script") && !page.contains("http"));
    assert!(page.contains("and 494 more"), "long lists are cut for the page");
    assert!(page.len() < 12_000, "{} bytes", page.len());
    let seeded = CertificateFacts {
        random_source: Some(RandomOrigin::Seeded(1)),
        ..facts()
    };
    let page = Certificate::issue(seeded).unwrap().to_html();
    assert!(page.contains("No DP claim") && page.contains("random bits came from a fixed seed"));
}

/// Checks a value against the part of JSON Schema that the published file uses.
fn check_schema(value: &Value, schema: &Value, root: &Value, path: &str) -> Result<(), String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return check_schema(
            value,
            root.pointer(reference.trim_start_matches('#')).unwrap(),
            root,
            path,
        );
    }
    if let Some(options) = schema.get("oneOf").and_then(Value::as_array) {
        let fits = options
            .iter()
            .filter(|option| check_schema(value, option, root, path).is_ok())
            .count();
        return if fits == 1 {
            Ok(())
        } else {
            Err(format!("{path}: fits {fits} forms"))
        };
    }
    if schema.get("const").is_some_and(|wanted| wanted != value)
        || schema
            .get("enum")
            .is_some_and(|list| !list.as_array().unwrap().contains(value))
    {
        return Err(format!("{path}: {value} is not among those allowed"));
    }
    let fits = match schema.get("type").and_then(Value::as_str) {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some(other) => return Err(format!("{path}: the type {other} is unknown")),
    };
    if !fits {
        return Err(format!("{path}: {value} has another type"));
    }
    if let Some(fields) = value.as_object() {
        for name in schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if !fields.contains_key(name.as_str().unwrap()) {
                return Err(format!("{path}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            let inner = schema
                .pointer(&format!("/properties/{name}"))
                .or(schema.get("additionalProperties"));
            match inner {
                Some(Value::Bool(false)) => return Err(format!("{path}: {name} is unknown")),
                Some(inner) => check_schema(field, inner, root, &format!("{path}/{name}"))?,
                None => {}
            }
        }
    }
    for (item, index) in value.as_array().into_iter().flatten().zip(0..) {
        if let Some(inner) = schema.get("items") {
            check_schema(item, inner, root, &format!("{path}/{index}"))?;
        }
    }
    Ok(())
}

#[test]
fn the_published_schema_fits_what_is_written() {
    let published: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
    let charge = Charge {
        epsilon: 1.0,
        delta: 1e-5,
    };
    let spending = Spending {
        ledger_entry: 1,
        reserved: charge,
        spent: charge,
        total: Some(charge),
        left: Some(0.5),
        data_set_spent: charge,
        data_set_reserved: Charge::default(),
        discarded_runs: 2,
        ledger_entries: 4,
        ledger_head: "0".repeat(64),
        scope: "spends known to this installation".into(),
    };
    let person = PrivacyUnit::Person {
        column: "id".into(),
        max_rows: 3,
    };
    let variants = [
        facts(),
        CertificateFacts {
            spending: Some(spending),
            unit: Some(person),
            stop: Some(Stop::ByPerson),
            ..facts()
        },
        CertificateFacts {
            events: None,
            unit: None,
            domain: None,
            sampling: None,
            ..facts()
        },
        CertificateFacts {
            random_source: Some(RandomOrigin::Seeded(9)),
            ..facts()
        },
    ];
    for facts in variants {
        let certificate = serde_json::to_value(Certificate::issue(facts).unwrap()).unwrap();
        check_schema(&certificate, &published, &published, "").unwrap();
    }
    let mut unknown = serde_json::to_value(certificate()).unwrap();
    unknown["extra"] = 1.into();
    assert!(check_schema(&unknown, &published, &published, "").is_err());
}
