//! What a run leaves beside its checkpoint's tensors, so that it can be taken up.

use serde::{Deserialize, Serialize};

use crate::engine::command::RunRequest;
use crate::engine::event::{Area, Problem};
use crate::engine::session::SessionData;
use crate::export::Recipe;
use crate::export::certificate::Resumed;
use crate::num::RandomOrigin;
use crate::privacy::ledger::EntryId;
use crate::privacy::{CountedEvent, EventList, PrivacyEvent};
use crate::train::StopReason;

/// What the engine keeps of a run beside its state: choices and public knowledge, the events, and the data set's
/// keyed seal. No rows, and nothing read off rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct KeptRun {
    /// The reservation; none without a promise.
    pub entry: Option<EntryId>,
    /// The ledger's seal under the digest of the data: means nothing outside this installation.
    pub seal: String,
    /// Where the data is, and its schema.
    pub data: SessionData,
    /// The run, as a recipe file holds it.
    pub recipe: String,
    /// Everything that the plan charges.
    pub planned: EventList,
    /// All steps.
    pub steps: u64,
    /// Whether an earlier run on this data set was watched.
    pub tuned: bool,
    /// Whether private figures of this one may have been seen.
    pub looked: bool,
    /// How often it was taken up before.
    pub resumed: Resumed,
    /// What it came to, if it has ended: the checkpoint holds its generator then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// What a run came to, beside its generator and what its plan says already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct Ended {
    /// Every look at private rows, as it happened.
    pub executed: EventList,
    /// ε of what was executed.
    pub epsilon: Option<f64>,
    /// Steps done.
    pub steps_done: u64,
    /// Why it ended.
    pub stopped: StopReason,
    /// Where its noise came from.
    pub random: RandomOrigin,
    /// Whether a person may have chosen its end by private figures.
    pub chose_checkpoint: bool,
}

impl KeptRun {
    /// The run that was asked for.
    ///
    /// # Errors
    /// When the recipe cannot be read.
    pub fn request(&self) -> Result<RunRequest, Problem> {
        let recipe: Recipe =
            toml::from_str(&self.recipe).map_err(|error| Problem::new(Area::Train, &error))?;
        let request = RunRequest::from_recipe(&recipe)?;
        Ok(RunRequest {
            watched: self.looked,
            ..request
        })
    }

    /// What of the plan is charged when the run has come to a step, counted with those that are free: they come first.
    pub fn events_until(&self, step: u64) -> EventList {
        let looks = |counted: &CountedEvent| match counted.event {
            PrivacyEvent::PoissonSampledGaussian { steps, .. } => steps.saturating_mul(counted.count),
            _ => 0,
        };
        let all: u64 = self.planned.events.iter().map(looks).sum();
        let mut left = step.saturating_sub(self.steps.saturating_sub(all));
        let mut charged = EventList::new(self.planned.neighboring);
        for counted in &self.planned.events {
            match &counted.event {
                PrivacyEvent::PoissonSampledGaussian {
                    sampling_rate,
                    noise_multiplier,
                    ..
                } => {
                    let steps = looks(counted).min(left);
                    left -= steps;
                    if steps > 0 {
                        let event = PrivacyEvent::PoissonSampledGaussian {
                            sampling_rate: *sampling_rate,
                            noise_multiplier: *noise_multiplier,
                            steps,
                        };
                        charged.push(event, 1);
                    }
                }
                other => charged.push(other.clone(), counted.count),
            }
        }
        charged
    }
}
