//! Whether a certificate says what follows from its events, and belongs to a file.

use std::io::{self, BufReader, Read};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::content;
use super::facts::{guarantee_of, not_protected};
use super::file::hexadecimal;
use super::{Certificate, NotAccounted, Odds, Stop};
use crate::export::ExportError;
use crate::export::image::{hash_of_set, is_set};
use crate::num::RandomOrigin;
use crate::num::files::open_regular;
use crate::privacy::ledger::{Entry, Status};

/// Two computations of one figure may differ by this much, relative, and not more.
const TOLERANCE: f64 = 1e-9;

/// A δ of the profile comes out of one transform and is exact to about 1e-12, absolute.
const DELTA_TOLERANCE: f64 = 1e-11;

/// What a verification came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// Whether everything fits.
    pub verified: bool,
    /// ε as recomputed from the events; absent if there is no promise.
    pub epsilon: Option<f64>,
    /// δ at which it holds.
    pub delta: Option<f64>,
    /// The verdict, in words.
    pub verdict: String,
    /// What does not fit.
    pub reasons: Vec<String>,
}

/// Recomputes everything that follows from the events and compares it with what the certificate says.
pub fn verify(certificate: &Certificate) -> Verified {
    let mut reasons = Vec::new();
    let mut epsilon = None;
    let mut delta = None;
    if certificate.digest != certificate.compute_digest() {
        reasons.push("the certificate was edited: its digest does not fit its content".to_owned());
    }
    match (&certificate.guarantee, &certificate.events) {
        (Some(stated), Some(events)) => {
            delta = Some(stated.delta);
            match guarantee_of(events, stated.delta, stated.accountant) {
                Ok(Some(found)) => {
                    epsilon = Some(found.epsilon);
                    compare_guarantee(stated, &found, &mut reasons);
                    let odds = Odds::of(&found.profile, certificate.unit_of_odds());
                    compare_odds(certificate.odds.as_ref(), &odds, &mut reasons);
                }
                Ok(None) => reasons.push(format!("the events give no finite ε at δ = {:e}", stated.delta)),
                Err(error) => reasons.push(format!("ε cannot be recomputed: {error}")),
            }
        }
        (Some(_), None) => reasons.push("it states an ε, and the events are missing".into()),
        (None, Some(_)) if certificate.odds.is_some() => {
            reasons.push("it states odds, and the guarantee is missing".into());
        }
        (None, _) => {}
    }
    let derived = certificate.verdict();
    if certificate.verdict != derived {
        reasons.push(format!(
            "it says \"{}\", and from its content follows \"{derived}\"",
            certificate.verdict
        ));
    }
    compare_lists(certificate, &mut reasons);
    // Whoever issued what the ledger paid for has sealed it.
    if certificate.spending.is_some() && certificate.seal.is_none() {
        reasons.push("its seal is missing, which every certificate of something paid for has".into());
    }
    Verified {
        verified: reasons.is_empty(),
        epsilon,
        delta,
        verdict: derived.to_string(),
        reasons,
    }
}

/// As [`verify`], and whether `data` is the file that the certificate is about.
///
/// # Errors
/// When the file cannot be read.
pub fn verify_file(certificate: &Certificate, data: &Path) -> Result<Verified, ExportError> {
    let hashed = if is_set(data) {
        hash_of_set(data)
    } else {
        hash_file(data)
    };
    let (sha256, bytes) = hashed.map_err(|source| ExportError::Read {
        path: data.into(),
        source,
    })?;
    let mut verified = verify(certificate);
    let stated = &certificate.synthetic_file;
    if stated.sha256.eq_ignore_ascii_case(&sha256) {
        if stated.bytes != bytes {
            verified.reasons.push(format!(
                "the file has {bytes} bytes, and the certificate says {}",
                stated.bytes
            ));
        }
        verified.reasons.extend(content::compare(certificate, data));
    } else {
        verified.reasons.push(format!(
            "{} is not the file of this certificate, or was changed: its SHA-256 is {sha256}, the certificate's {}",
            data.display(),
            stated.sha256
        ));
    }
    verified.verified = verified.reasons.is_empty();
    Ok(verified)
}

/// What the issuer's ledger says of the job otherwise than its certificate does, in words.
pub fn compare_with_entry(certificate: &Certificate, entry: &Entry) -> Vec<String> {
    let seed = match certificate.random_source {
        Some(RandomOrigin::Seeded(seed)) => Some(seed),
        Some(RandomOrigin::OperatingSystem) | None => None,
    };
    let mut checks = vec![
        (certificate.method == entry.kind, "the method"),
        (
            certificate.data_set.name == entry.dataset_name,
            "the data set's name",
        ),
        (
            certificate.data_set.public == entry.public,
            "whether the data is public",
        ),
        (
            certificate.relation == entry.relation,
            "the neighbouring relation",
        ),
        (certificate.unit == entry.unit, "the unit of privacy"),
        (seed == entry.seed, "the random source"),
    ];
    if let Some(spending) = &certificate.spending {
        checks.push((Some(spending.reserved) == entry.reserved, "what was reserved"));
        // Until a job is settled its whole plan is charged, whatever was executed.
        if entry.status != Status::Reserved {
            let spent = (spending.spent.epsilon, spending.spent.delta);
            checks.push((spent == (entry.epsilon, entry.delta), "what was spent"));
            checks.push((certificate.events == entry.events, "the events"));
            let by_person = entry.status == Status::StoppedByPerson;
            checks.push((
                (certificate.stop == Some(Stop::ByPerson)) == by_person,
                "why it stopped",
            ));
        }
    }
    let differ = checks.into_iter().filter(|(fits, _)| !fits);
    differ
        .map(|(_, what)| format!("{what} is not what the ledger recorded"))
        .collect()
}

/// SHA-256 and size of a file.
fn hash_file(path: &Path) -> io::Result<(String, u64)> {
    let mut reader = BufReader::with_capacity(1 << 20, open_regular(path)?);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok((hexadecimal(&hasher.finalize()), bytes)),
            read => {
                hasher.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

fn alike(one: f64, other: f64) -> bool {
    (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()) || one.to_bits() == other.to_bits()
}

fn alike_if_any(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => alike(one, other),
        (None, None) => true,
        _ => false,
    }
}

fn compare_guarantee(stated: &super::Guarantee, found: &super::Guarantee, reasons: &mut Vec<String>) {
    if !alike(stated.epsilon, found.epsilon) {
        let direction = if stated.epsilon < found.epsilon {
            "less"
        } else {
            "more"
        };
        reasons.push(format!(
            "it states ε = {}, {direction} than the {} that follows from its events",
            stated.epsilon, found.epsilon
        ));
    }
    if stated.variant != found.variant {
        reasons.push("its variant is not the one of its δ".into());
    }
    if !alike_if_any(stated.rho, found.rho) {
        reasons.push("its ρ does not follow from its events".into());
    }
    if !alike_if_any(stated.mu, found.mu) {
        reasons.push("its μ does not follow from its events".into());
    }
    let fits = stated.profile.len() == found.profile.len()
        && stated.profile.iter().zip(&found.profile).all(|(stated, found)| {
            alike(stated.epsilon, found.epsilon)
                && (alike(stated.delta, found.delta) || (stated.delta - found.delta).abs() <= DELTA_TOLERANCE)
        });
    if !fits {
        reasons.push("its profile does not follow from its events".into());
    }
}

fn compare_odds(stated: Option<&Odds>, found: &Odds, reasons: &mut Vec<String>) {
    let Some(stated) = stated else {
        reasons.push("its odds are missing".into());
        return;
    };
    let fits = alike(stated.advantage, found.advantage)
        && alike(stated.tpr_at_fpr_1_percent, found.tpr_at_fpr_1_percent)
        && alike(stated.tpr_at_fpr_0_1_percent, found.tpr_at_fpr_0_1_percent)
        && stated.sentence == found.sentence;
    if !fits {
        reasons.push("its odds do not follow from its ε".into());
    }
}

fn compare_lists(certificate: &Certificate, reasons: &mut Vec<String>) {
    let found = not_protected(
        certificate.domain.as_ref(),
        certificate.unit.as_ref(),
        certificate.relation,
        &certificate.noise,
    );
    if certificate.not_protected != found {
        reasons.push("its list of what is not protected does not fit its domain and noise".into());
    }
    let stopped = certificate.stop == Some(Stop::ByPerson);
    if stopped
        != certificate
            .not_accounted
            .contains(&NotAccounted::MomentOfStopping)
    {
        reasons.push("its list of what is not accounted does not fit how it was stopped".into());
    }
}
