//! `ledger` and `verify` as scripts use them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use pointillist::data::Provenance;
use pointillist::export::certificate::{
    CertificateFacts, DataSet, Domain, DomainColumn, NoiseKind, Sampling, Spending, Stop, SyntheticFile,
};
use pointillist::export::{Certificate, write_certificate};
use pointillist::num::RandomOrigin;
use pointillist::privacy::ledger::{Ledger, Outcome, PrivacyUnit, Reservation, Settlement};
use pointillist::privacy::{AccountantKind, EventList, Neighboring, PrivacyEvent};
use serde_json::Value;

fn run(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pointillist"))
        .args(arguments)
        .env("POINTILLIST_HOME", home)
        .output()
        .unwrap()
}

/// The one JSON object on standard output.
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {} {}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn events() -> EventList {
    let mut events = EventList::new(Neighboring::AddRemoveOne);
    events.push(
        PrivacyEvent::Gaussian {
            noise_multiplier: 10.0,
        },
        2,
    );
    events
}

/// Charges a job on the table as the program would.
fn spend(home: &Path, table: &Path) -> (Spending, f64) {
    let mut ledger = Ledger::open(home).unwrap();
    let digest = *blake3::hash(&fs::read(table).unwrap()).as_bytes();
    let dataset = ledger.identify(digest).unwrap();
    let epsilon = AccountantKind::Rdp
        .epsilon(&events(), pointillist::num::Delta::new(1e-5).unwrap())
        .unwrap();
    let entry = ledger
        .reserve(&Reservation {
            dataset,
            dataset_name: "rows.csv".into(),
            kind: "dpgan".into(),
            events: events(),
            epsilon,
            delta: 1e-5,
            unit: PrivacyUnit::Row,
            public: false,
            seed: None,
            description: "a run".into(),
        })
        .unwrap();
    ledger
        .settle(
            entry,
            &Settlement {
                events: events(),
                epsilon,
                delta: 1e-5,
                outcome: Outcome::Finished,
                note: None,
            },
        )
        .unwrap();
    let entries = ledger.entries(None).unwrap();
    let entry = entries.iter().find(|known| known.id == entry).unwrap();
    let budget = ledger.budget(&dataset).unwrap();
    (Spending::of(entry, &budget, ledger.head().unwrap()), epsilon)
}

#[test]
fn what_was_spent_is_listed_capped_copied_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let table = folder.path().join("rows.csv");
    fs::write(&table, "a,b\n1,x\n2,y\n").unwrap();
    let table_name = table.to_str().unwrap();

    let output = run(&home, &["ledger", "list", "--json"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(json(&output), serde_json::json!({ "entries": [] }));

    let total = [
        "ledger",
        "set-total",
        table_name,
        "--epsilon",
        "2",
        "--delta",
        "1e-5",
        "--json",
    ];
    assert_eq!(run(&home, &total).status.code(), Some(2), "a reason is needed");
    let steering = [&total[..], &["--reason", "a study\n\u{1b}[2J"]].concat();
    assert_eq!(
        run(&home, &steering).status.code(),
        Some(2),
        "it would be shown in lists"
    );
    let with_reason = [&total[..], &["--reason", "a study"]].concat();
    let entry = json(&run(&home, &with_reason));
    assert_eq!(
        (&entry["status"], &entry["epsilon"]),
        (&"total_set".into(), &2.0.into())
    );
    assert_eq!(
        run(&home, &with_reason).status.code(),
        Some(1),
        "it is set already"
    );

    let (_, epsilon) = spend(&home, &table);
    let listed = json(&run(&home, &["ledger", "list", "--json"]));
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(
        entries[1]["epsilon"].as_f64().unwrap().to_bits(),
        epsilon.to_bits()
    );
    assert_eq!(entries[1]["status"], "finished");
    for wanted in ["1", "rows.csv", table_name] {
        let one = json(&run(&home, &["ledger", "list", "--dataset", wanted, "--json"]));
        assert_eq!(one["entries"].as_array().unwrap().len(), 2, "{wanted}");
    }
    let unknown = run(&home, &["ledger", "list", "--dataset", "nobody's"]);
    assert!(said(&unknown).contains("nobody's") && unknown.status.code() == Some(1));

    let shown = json(&run(&home, &["ledger", "show", "--json"]));
    let shares = &shown["data_sets"][0]["budget"]["shares"];
    assert!(shares["spent"].as_f64().unwrap() > 0.01 && shares["left"].as_f64().unwrap() < 0.99);
    assert!(
        shown["data_sets"][0]["epsilon_if_planned_ahead"]
            .as_f64()
            .unwrap()
            <= epsilon
    );
    assert_eq!(shown["entries"][1]["events"]["events"][0]["type"], "gaussian");

    let verified = json(&run(&home, &["ledger", "verify", "--json"]));
    assert_eq!(
        (&verified["verified"], &verified["entries"]),
        (&true.into(), &3.into())
    );
    let copied = json(&run(&home, &["ledger", "backup", "--json"]));
    let copy = copied["backup"].as_str().unwrap();
    assert!(run(Path::new(copy), &["ledger", "verify"]).status.success());

    // A changed file with the name of a known one is asked about.
    fs::write(&table, "a,b\n1,x\n2,y\n3,z\n").unwrap();
    let asked = run(&home, &with_reason);
    assert!(
        said(&asked).contains("new version") && asked.status.code() == Some(1),
        "{}",
        said(&asked)
    );
    let lower = run(&home, &[&with_reason[..], &["--version-of", "1"]].concat());
    assert!(said(&lower).contains("raised, not lowered"), "{}", said(&lower));

    rusqlite::Connection::open(home.join("ledger.sqlite"))
        .unwrap()
        .execute(
            "UPDATE entries SET body = replace(body, '2.0', '9.0') WHERE sequence = 1",
            [],
        )
        .unwrap();
    let broken = run(&home, &["ledger", "verify", "--json"]);
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(json(&broken)["verified"], false);
    assert!(said(&broken).contains("entry 1 was changed"), "{}", said(&broken));
    let refused = run(&home, &["ledger", "list", "--json"]);
    assert!(refused.stdout.is_empty() && refused.status.code() == Some(1));
}

#[test]
fn a_certificate_is_held_against_its_events_its_file_and_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let table = folder.path().join("rows.csv");
    fs::write(&table, "a,b\n1,x\n2,y\n").unwrap();
    let (spending, epsilon) = spend(&home, &table);
    let out = folder.path().join("out.csv");
    fs::write(&out, "a,b\n1,y\n").unwrap();
    let facts = CertificateFacts {
        data_set: DataSet {
            name: "rows.csv".into(),
            ..DataSet::default()
        },
        method: "dpgan".into(),
        synthetic_file: SyntheticFile {
            name: "out.csv".into(),
            // printf 'a,b\n1,y\n' | sha256sum
            sha256: "f6841a497e965c27e9e547ff52fd56cc68872d6946842bde2f9a53453e8c1e74".into(),
            bytes: 8,
            rows: 1,
        },
        events: Some(events()),
        delta: 1e-5,
        accountant: AccountantKind::Rdp,
        unit: Some(PrivacyUnit::Row),
        domain: Some(Domain {
            columns: [("a", "integer"), ("b", "categorical")]
                .map(|(name, kind)| DomainColumn {
                    name: name.into(),
                    kind: kind.into(),
                    provenance: Some(Provenance::Declared),
                })
                .into(),
            ..Domain::default()
        }),
        sampling: Some(Sampling::AllRows),
        noise: vec![NoiseKind::DiscreteGaussian],
        random_source: Some(RandomOrigin::OperatingSystem),
        stop: Some(Stop::Planned),
        spending: Some(spending),
        ..CertificateFacts::default()
    };
    let certificate = folder.path().join("out.csv.certificate.json");
    let mut issued = Certificate::issue(facts).unwrap();
    issued.seal = Some(Ledger::open(&home).unwrap().seal(&issued.digest));
    write_certificate(&certificate, &issued, false).unwrap();
    let (path, data) = (certificate.to_str().unwrap(), out.to_str().unwrap());

    let fits = run(&home, &["verify", path, "--data", data, "--json"]);
    assert!(fits.status.success(), "{}", said(&fits));
    let fits = json(&fits);
    assert_eq!(fits["verified"], true);
    assert_eq!(fits["epsilon"].as_f64().unwrap().to_bits(), epsilon.to_bits());
    assert_eq!(fits["reasons"], serde_json::json!([]));
    assert!(
        run(&home, &["ledger", "verify", "--certificate", path])
            .status
            .success()
    );

    let other = run(
        &home,
        &["verify", path, "--data", table.to_str().unwrap(), "--json"],
    );
    assert_eq!(other.status.code(), Some(1));
    assert!(
        json(&other)["reasons"][0]
            .as_str()
            .unwrap()
            .contains("is not the file")
    );

    let text = fs::read_to_string(&certificate).unwrap();
    let lower = folder.path().join("lower.json");
    fs::write(&lower, text.replacen(&format!("{epsilon}"), "0.125", 1)).unwrap();
    let edited = run(&home, &["verify", lower.to_str().unwrap(), "--json"]);
    assert_eq!(edited.status.code(), Some(1));
    assert_eq!(json(&edited)["verified"], false);

    let none = run(&home, &["verify", data]);
    assert!(
        said(&none).contains("not a privacy certificate") && none.status.code() == Some(1),
        "{}",
        said(&none)
    );
    let missing = run(&home, &["verify", "nowhere.json"]);
    assert!(said(&missing).contains("nowhere.json"));

    // Another installation never had this end.
    let elsewhere = folder.path().join("elsewhere");
    let unknown = run(&elsewhere, &["ledger", "verify", "--certificate", path, "--json"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(json(&unknown)["findings"][0]["finding"], "certificate_unknown");
}
