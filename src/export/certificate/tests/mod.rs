//! What a certificate claims, what it refuses to claim, and what gives an edited one away.

use std::fs;

mod forgery;
mod published;
mod units;
mod versions;

use super::*;
use crate::data::{Column, Kind, Provenance, RowCount, Schema};
use crate::export::ExportError;
use crate::privacy::PrivacyEvent;
use crate::privacy::meaning::Language;

fn schema() -> Schema {
    Schema {
        read: None,
        version: 1,
        missing: vec![String::new()],
        public: false,
        label: None,
        rows: Some(RowCount {
            value: 1000,
            provenance: Provenance::Declared,
        }),
        unit: None,
        rule: Vec::new(),
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
        records: Records::Rows,
        events: Some(events()),
        delta: 1e-5,
        accountant: AccountantKind::Rdp,
        unit: Some(PrivacyUnit::Row),
        domain: Some(Domain::of(&schema())),
        sampling: Some(Sampling::Poisson),
        noise: vec![NoiseKind::FloatingPointGaussian],
        random_source: Some(RandomOrigin::OperatingSystem),
        stop: Some(Stop::Planned),
        resumed: Some(Resumed {
            times: 2,
            lost_steps: 17,
        }),
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
    let page = certificate.to_html(Language::English);
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

#[test]
fn another_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("out.csv");
    let rows = "age,smokes,income\n30,true,2\n31,false,3\n";
    fs::write(&data, rows).unwrap();
    let mut known = facts();
    known.synthetic_file.rows = 2;
    known.synthetic_file.bytes = rows.len() as u64;
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
    let right = Certificate::issue(known.clone()).unwrap();
    assert!(verify_file(&right, &data).unwrap().verified);
    // The digest fits, and what the file shows does not.
    let mut longer = right.clone();
    longer.synthetic_file.rows = 99_999;
    let mut bare = right.clone();
    bare.domain.as_mut().unwrap().columns.clear();
    for (mut forged, says) in [
        (longer, "has 2 rows, and the certificate says 99999"),
        (bare, "has the columns `age`, `smokes`, `income`"),
    ] {
        forged.digest = forged.compute_digest();
        let verified = verify_file(&forged, &data).unwrap();
        assert!(
            verified.reasons.iter().any(|reason| reason.contains(says)),
            "{says}: {:?}",
            verified.reasons
        );
    }
    fs::write(&data, "age,smokes,income\n30,true,3\n31,false,3\n").unwrap();
    assert!(!verify_file(&right, &data).unwrap().verified);
    assert!(matches!(
        verify_file(&right, &folder.path().join("none")),
        Err(ExportError::Read { .. })
    ));
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
    let page = certificate.to_html(Language::English);
    assert!(page.contains("a &lt;b&gt;ward&lt;/b&gt;") && !page.contains("<b>"));
    assert!(!page.contains("<script") && !page.contains("http"));
    assert!(page.contains("and 494 more"), "long lists are cut for the page");
    assert!(page.len() < 20_000, "{} bytes", page.len());
    let seeded = CertificateFacts {
        random_source: Some(RandomOrigin::Seeded(1)),
        ..facts()
    };
    let page = Certificate::issue(seeded).unwrap().to_html(Language::English);
    assert!(page.contains("No DP claim") && page.contains("random bits came from a fixed seed"));
}

#[test]
fn the_page_says_everything_in_both_languages_and_opens_in_the_one_asked_for() {
    let certificate = Certificate::issue(facts()).unwrap();
    let (english, chinese) = (
        certificate.to_html(Language::English),
        certificate.to_html(Language::Chinese),
    );
    for page in [&english, &chinese] {
        assert!(page.contains("<main class=\"en\" lang=\"en\">"));
        assert!(page.contains("<main class=\"zh\" lang=\"zh-CN\">"));
        let parts: Vec<&str> = page.split("<main").collect();
        let count = |part: &str, what: &str| part.matches(what).count();
        for what in ["<h2>", "<tr>", "<li>"] {
            assert_eq!(count(parts[1], what), count(parts[2], what), "{what}");
        }
    }
    assert!(english.contains("<html lang=\"en\">") && english.contains("id=\"en\" checked"));
    assert!(chinese.contains("<html lang=\"zh-CN\">") && chinese.contains("id=\"zh\" checked"));
}
