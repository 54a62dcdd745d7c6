//! The schema file as published against what is written.

use serde_json::Value;

use super::*;

#[path = "../../../../tests/support/json_schema.rs"]
mod json_schema;

use json_schema::check_schema;

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
    let first: Value = serde_json::from_str(include_str!("version-1.certificate.json")).unwrap();
    let schema = include_str!("../../../../assets/schemas/certificate-1.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    check_schema(&first, &schema, &schema, "").unwrap();
    assert!(check_schema(&first, &published, &published, "").is_err());
    let mut unknown = serde_json::to_value(certificate()).unwrap();
    unknown["extra"] = 1.into();
    assert!(check_schema(&unknown, &published, &published, "").is_err());
}
