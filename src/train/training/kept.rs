//! What is kept of a run on a table, and how it goes on from there.

use serde::{Deserialize, Serialize};

use super::{State, TrainError};
use crate::data::FineWeights;
use crate::model::{Adam, NamedTensor, WeightsError, find_tensor, vector};
use crate::train::control::Control;
use crate::train::keep::{Checkpoint, KeepError, Keeping, TakenUp};
use crate::train::ladder::Ladder;
use crate::train::plan::Plan;
use crate::train::privatize::Account;
use crate::train::targets::{MarginalLoss, Marginals};
use crate::train::training::StopReason;

/// What is not a tensor.
#[derive(Serialize, Deserialize)]
struct Kept {
    critic_steps: i32,
    generator_steps: i32,
    /// How long the critic's turn is, and how many steps of it are done.
    ladder: Ladder,
    since: u64,
    fine: Option<FineWeights>,
}

/// What was bought before the first step, as a checkpoint holds it.
pub(super) fn bought(
    plan: &Plan,
    taken: &TakenUp,
) -> Result<(Option<Marginals>, Option<FineWeights>), TrainError> {
    let (settings, layout) = (plan.settings(), plan.layout());
    let kept: Kept = taken.checkpoint.state().map_err(TrainError::OtherCheckpoint)?;
    let marginals = (settings.marginals && layout.feature_count() > 0)
        .then(|| Marginals::restored(&taken.checkpoint.tensors, layout))
        .transpose()
        .map_err(TrainError::other_checkpoint)?;
    let cells: Vec<usize> = layout.fine().iter().map(|column| column.cells).collect();
    let is_wanted = settings.fine_decode && !cells.is_empty();
    let found = kept.fine.as_ref().map(FineWeights::cells);
    if found != is_wanted.then_some(cells) {
        let words = "its weights of fine cells are of another schema";
        return Err(TrainError::OtherCheckpoint(words.to_owned()));
    }
    Ok((marginals, kept.fine))
}

impl TrainError {
    /// Tensors that do not fit.
    pub(in crate::train) fn other_checkpoint(error: WeightsError) -> Self {
        Self::OtherCheckpoint(error.to_string())
    }

    /// The run must not take another step.
    pub(in crate::train) fn keep(source: KeepError, account: &Account) -> Self {
        Self::Keep {
            source,
            executed: account.executed(),
        }
    }
}

/// How a run ends that was asked to.
pub(in crate::train) fn stopped(
    (control, keeping): (&Control, &mut Keeping),
    account: &Account,
    step: u64,
    state: impl FnOnce() -> Checkpoint,
) -> Result<StopReason, TrainError> {
    let left = control.is_left()
        && keeping
            .leave(step, state)
            .map_err(|error| TrainError::keep(error, account))?;
    if left {
        return Err(TrainError::Left {
            step,
            executed: account.executed(),
        });
    }
    Ok(StopReason::ByPerson)
}

impl State {
    /// Everything that the run needs to go on: released, or worked out of what was.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        let mut tensors = vec![
            NamedTensor::flat("critic", self.critic.parameters()),
            NamedTensor::flat("generator", self.generator.parameters()),
            NamedTensor::flat("generator.averaged", &self.averaged),
        ];
        tensors.extend(self.critic_adam.tensors("critic.adam"));
        tensors.extend(self.generator_adam.tensors("generator.adam"));
        tensors.extend(self.marginals.as_ref().map(MarginalLoss::tensor));
        let kept = Kept {
            critic_steps: self.critic_adam.steps(),
            generator_steps: self.generator_adam.steps(),
            ladder: self.ladder.clone(),
            since: self.since,
            fine: self.fine.clone(),
        };
        Checkpoint::new(self.step, &kept, tensors)
    }

    /// Goes on from a checkpoint: the networks as they were, the position behind all steps that may have been done.
    pub(super) fn restore(&mut self, taken: &TakenUp) -> Result<(), TrainError> {
        let kept: Kept = taken.checkpoint.state().map_err(TrainError::OtherCheckpoint)?;
        let tensors = &taken.checkpoint.tensors;
        let device = self.device.clone();
        let flat = |name: &str, length: usize| {
            find_tensor(tensors, name, [1, length]).map(|values| vector(values.to_vec(), &device))
        };
        let adam = |adam: &mut Adam, name: &str, steps: i32| adam.restore(name, tensors, steps, &device);
        let restored = (|| {
            let critic = flat("critic", self.critic.parameter_count())?;
            self.critic
                .set_parameters(critic, self.plan.settings().weight_clamp);
            let length = self.generator.parameters().dims()[0];
            self.generator.set_parameters(flat("generator", length)?);
            self.averaged = flat("generator.averaged", length)?;
            adam(&mut self.critic_adam, "critic.adam", kept.critic_steps)?;
            adam(&mut self.generator_adam, "generator.adam", kept.generator_steps)
        })();
        restored.map_err(TrainError::other_checkpoint)?;
        (self.ladder, self.since) = (kept.ladder, kept.since);
        self.step = taken.charged.max(taken.checkpoint.step).min(self.plan.steps());
        Ok(())
    }
}
