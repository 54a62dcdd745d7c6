//! The plan's inverse: the ε at which its noise is what a person can stand.
//!
//! A plan's noise falls as ε grows, everything else left as it is, so ε is found by bisection on a log scale. The
//! answer is on the side of more noise, so that nobody is promised less noise than there will be at a smaller ε
//! than it takes.

use crate::engine::command::{Bearable, EpsilonQuestion, PrivacyTarget, RunRequest};
use crate::engine::event::{Area, Problem};
use crate::message;
use crate::train::{LARGEST_EPSILON, PlanSummary};

/// The smallest ε that is looked at.
const LEAST: f64 = 0.01;
/// The bisection ends within this factor.
const CLOSE: f64 = 1.002;

/// The noise of a plan that the question is about; `None` where the plan has none of it.
fn noise(summary: &PlanSummary, bearable: Bearable) -> Option<(f64, f64)> {
    match bearable {
        Bearable::NoiseMultiplier(wanted) => {
            let first = summary.noise.first()?;
            Some((first.noise_multiplier, wanted))
        }
        Bearable::MarginalError(wanted) => Some((summary.marginal_deviation?, wanted)),
    }
}

/// The least ε found at which the noise of the plan of a request is at most what can be stood.
///
/// # Errors
/// When no ε in range will do, or the plan is refused for another reason.
pub(super) fn epsilon_for(
    question: &EpsilonQuestion,
    plan: impl Fn(&RunRequest) -> Result<PlanSummary, Problem>,
) -> Result<f64, Problem> {
    let target = question.request.target.unwrap_or_default();
    let summary_at = |epsilon: f64| {
        let mut request = question.request.clone();
        request.target = Some(PrivacyTarget { epsilon, ..target });
        plan(&request)
    };
    // A budget too small for any plan is as good as too much noise.
    let fits = |epsilon: f64| {
        summary_at(epsilon)
            .ok()
            .and_then(|summary| noise(&summary, question.bearable))
            .is_some_and(|(noise, wanted)| noise <= wanted)
    };
    let most = summary_at(LARGEST_EPSILON)?;
    let Some((least_noise, wanted)) = noise(&most, question.bearable) else {
        return Err(Problem::plain(
            Area::Train,
            message!("inverse-no-noise", "this plan has no noise of that kind"),
        ));
    };
    if !wanted.is_finite() || least_noise > wanted {
        return Err(Problem::plain(
            Area::Train,
            message!(
                "inverse-too-little",
                "even ε = {most} leaves a noise of {least}; ask for at least that",
                most = LARGEST_EPSILON,
                least = format!("{least_noise:.3}")
            ),
        ));
    }
    if fits(LEAST) {
        return Ok(LEAST);
    }
    let (mut low, mut high) = (LEAST, LARGEST_EPSILON);
    while high / low > CLOSE {
        let middle = (low * high).sqrt();
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples;
    use crate::engine::planned::plan_for;

    #[test]
    fn the_inverse_gives_back_the_epsilon_that_the_noise_came_from() {
        let sample = samples::all()
            .iter()
            .find(|sample| sample.id == "german_credit")
            .unwrap();
        let (table, schema) = (
            sample.table(&crate::num::Progress::default()).unwrap(),
            sample.schema().unwrap(),
        );
        let request = RunRequest::default();
        let plan = |request: &RunRequest| plan_for(request, &schema, table.rows()).map(|plan| plan.summary());
        let summary = plan(&request).unwrap();
        let noise = summary.noise[0].noise_multiplier;
        // The recommended settings depend on ε, so those in force are asked about.
        let request = RunRequest {
            settings: Some(summary.settings.clone()),
            ..request
        };
        for bearable in [
            Bearable::NoiseMultiplier(noise),
            Bearable::MarginalError(summary.marginal_deviation.unwrap()),
        ] {
            let question = EpsilonQuestion {
                request: request.clone(),
                bearable,
            };
            let epsilon = epsilon_for(&question, plan).unwrap();
            assert!((epsilon - 1.0).abs() < 0.01, "{bearable:?}: {epsilon}");
        }
        let impossible = EpsilonQuestion {
            request,
            bearable: Bearable::NoiseMultiplier(0.0),
        };
        assert!(epsilon_for(&impossible, plan).is_err());
    }
}
