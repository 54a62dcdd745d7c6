//! How a run ends.

use crate::model::DeviceError;
use crate::privacy::EventList;
use crate::train::keep::KeepError;
use crate::train::privatize::Refusal;
use crate::train::synthesizer::SampleError;

/// Why a run came to its end, with a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All planned steps are done.
    Planned,
    /// A person stopped it: the moment was chosen with private plots in view, which no charge covers.
    ByPerson,
    /// The next step would have passed the budget.
    BudgetReached,
}

impl StopReason {
    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::ByPerson => "by-person",
            Self::BudgetReached => "budget-reached",
        }
    }
}

/// Why a run came to its end without a generator, or did not start.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The rows are not those that were planned for.
    #[error(
        "the plan is for {planned} encoded rows of width {width}, these are {found} of width {found_width}"
    )]
    OtherRows {
        /// Planned.
        planned: usize,
        /// Planned width.
        width: usize,
        /// Given.
        found: usize,
        /// Given width.
        found_width: usize,
    },
    /// The account refused what a plan should have room for.
    #[error("the budget does not allow the plan's own releases")]
    Refused {
        /// The refusal.
        #[source]
        source: Refusal,
        /// What had been executed.
        executed: EventList,
    },
    /// Weights or losses stopped being numbers.
    #[error(
        "the networks' numbers stopped being finite by step {step}: lower the learning rates and start anew (what was spent stays spent)"
    )]
    NotFinite {
        /// Critic steps done.
        step: u64,
        /// What had been executed.
        executed: EventList,
    },
    /// Rows could not be drawn from the generator.
    #[error("rows could not be drawn from the generator")]
    Sample {
        /// The cause.
        #[source]
        source: SampleError,
        /// What had been executed.
        executed: EventList,
    },
    /// A checkpoint is not one of this plan.
    #[error("the checkpoint does not belong to this plan: {0}")]
    OtherCheckpoint(String),
    /// The run may not go on, since it could be taken up later with more steps than are charged.
    #[error("the run could not be kept")]
    Keep {
        /// The cause.
        #[source]
        source: KeepError,
        /// What had been executed.
        executed: EventList,
    },
    /// The program is being closed: the run is left as it is, to be taken up later.
    #[error("the run was left at step {step}, to be taken up later")]
    Left {
        /// Steps done.
        step: u64,
        /// What had been executed.
        executed: EventList,
    },
    /// The system has no thread to give.
    #[error("the thread that compares rows could not be started")]
    Thread(#[source] std::io::Error),
}

impl TrainError {
    /// Whether it failed before its first look at the rows, and before it counted what an earlier life of it did.
    pub const fn is_early(&self) -> bool {
        matches!(
            self,
            Self::Device(_) | Self::OtherRows { .. } | Self::OtherCheckpoint(_) | Self::Thread(_)
        )
    }

    /// What the run had executed before it failed: it stays charged. Empty if it failed before the first look.
    pub fn executed(&self) -> EventList {
        match self {
            Self::Refused { executed, .. }
            | Self::NotFinite { executed, .. }
            | Self::Sample { executed, .. }
            | Self::Keep { executed, .. }
            | Self::Left { executed, .. } => executed.clone(),
            Self::Device(_) | Self::OtherRows { .. } | Self::OtherCheckpoint(_) | Self::Thread(_) => {
                EventList::default()
            }
        }
    }
}
