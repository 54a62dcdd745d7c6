//! What a plan costs of which only a part was carried out.

use crate::num::Delta;
use crate::privacy::{AccountantKind, AccountingError, CountedEvent, EventList, PrivacyEvent};

/// ε of what was carried out of a plan: by the accountant that the plan was made with, and never more than was
/// reserved for all of it, since a part tells nothing that the whole does not.
///
/// # Errors
/// When the accountant has no answer.
pub fn epsilon_of_part(
    by: AccountantKind,
    (part, planned): (&EventList, &EventList),
    reserved: f64,
    delta: Delta,
) -> Result<f64, AccountingError> {
    if part == planned {
        return Ok(reserved);
    }
    let epsilon = by.epsilon(part, delta)?;
    Ok(if is_part(part, planned) {
        epsilon.min(reserved)
    } else {
        epsilon
    })
}

/// Whether every event of a list was planned, and none more often.
fn is_part(part: &EventList, planned: &EventList) -> bool {
    let often = |list: &EventList, event: &PrivacyEvent| -> u64 {
        let same = list.events.iter().filter(|counted| one(counted).0 == *event);
        same.map(|counted| one(counted).1).sum()
    };
    part.neighboring == planned.neighboring
        && part.events.iter().all(|counted| {
            let (event, _) = one(counted);
            often(part, &event) <= often(planned, &event)
        })
}

/// One step, and how many there are: so that steps count alike however they are grouped.
fn one(counted: &CountedEvent) -> (PrivacyEvent, u64) {
    match &counted.event {
        PrivacyEvent::PoissonSampledGaussian {
            sampling_rate,
            noise_multiplier,
            steps,
        } => {
            let event = PrivacyEvent::PoissonSampledGaussian {
                sampling_rate: *sampling_rate,
                noise_multiplier: *noise_multiplier,
                steps: 1,
            };
            (event, counted.count.saturating_mul(*steps))
        }
        other => (other.clone(), counted.count),
    }
}
