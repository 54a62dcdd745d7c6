//! Certificates of earlier versions stay right, and what no version wrote is refused.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::export::certificate::file::parse;

/// Written by this program when it wrote version 1, as a run on a table left it.
const FIRST: &str = include_str!("version-1.certificate.json");

fn edited(text: &str, edit: impl FnOnce(&mut Value)) -> Result<Certificate, ExportError> {
    let mut value: Value = serde_json::from_str(text).unwrap();
    edit(&mut value);
    parse(Path::new("x.json"), value.to_string().as_bytes())
}

#[test]
fn a_certificate_of_version_1_verifies_with_its_own_sentence() {
    let first = parse(Path::new("x.json"), FIRST.as_bytes()).unwrap();
    assert_eq!((first.version, first.records), (1, None));
    assert_eq!(first.unit, Some(PrivacyUnit::Row));
    assert!(first.odds.as_ref().unwrap().sentence.contains("one person"));
    assert_eq!(verify(&first).reasons, [""; 0]);
    assert_eq!(verify(&first).verdict, "differentially private");
    // Its page is as before, and complete.
    let page = first.to_html(Language::Chinese);
    assert!(page.contains("某人") && page.contains("一行"), "{page}");
}

#[test]
fn a_version_may_not_say_what_another_says() {
    // The sentence of version 2 in a certificate that calls itself 1, and the reverse.
    let mut first = parse(Path::new("x.json"), FIRST.as_bytes()).unwrap();
    let sentence = |certificate: &Certificate| {
        Odds::of(
            &certificate.guarantee.as_ref().unwrap().profile,
            certificate.hidden(),
        )
        .sentence
    };
    let rows = sentence(&first);
    if let Some(odds) = &mut first.odds {
        odds.sentence = rows;
    }
    first.digest = first.compute_digest();
    assert_eq!(verify(&first).reasons, ["its odds do not follow from its ε"]);

    let now = certificate().to_json().unwrap();
    assert!(edited(&now, |_| {}).is_ok());
    for (what, wrong) in [
        (
            "records",
            edited(&now, |value| {
                value.as_object_mut().unwrap().remove("records");
            }),
        ),
        ("records", edited(FIRST, |value| value["records"] = "rows".into())),
        ("version", edited(&now, |value| value["version"] = 0.into())),
        ("version", edited(&now, |value| value["version"] = "2".into())),
    ] {
        let said = format!("{:?}", wrong.unwrap_err());
        assert!(said.contains(what), "{said}");
    }
    let later = edited(&now, |value| value["version"] = (VERSION + 1).into());
    assert!(matches!(later, Err(ExportError::Newer { .. })));
}
