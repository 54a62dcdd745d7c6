//! Runs of every method, cut short and taken up again.

use std::sync::{Arc, Mutex};

use super::*;
use crate::model::DeviceKind;
use crate::num::RandomSource;
use crate::privacy::{EventList, Neighboring};
use crate::train::image::testing::some_images;
use crate::train::image::{ImageMethod, ImagePlan, ImageSettings, ImageTraining};
use crate::train::pairs::{PairPlan, PairSettings, PairTraining, TableRelease};
use crate::train::testing::{encoder, rows, schema};
use crate::train::{
    Control, Observation, Plan, Privacy, StopReason, TrainError, TrainSettings, Trained, Training,
};

const ROWS: usize = 600;
const PRIVATE: Privacy = Privacy::Private {
    epsilon: 5.0,
    delta: 1e-5,
    neighboring: Neighboring::AddRemoveOne,
};

/// What was kept, in memory.
#[derive(Clone, Debug, Default)]
struct Kept {
    checkpoint: Option<Checkpoint>,
    announced: u64,
    /// The most that may be announced next.
    next: u64,
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Kept>>);

impl Memory {
    fn kept(&self) -> Kept {
        self.0.lock().unwrap().clone()
    }
}

impl Keeper for Memory {
    fn announce(&mut self, steps: u64, next: u64) -> Result<(), KeepError> {
        let mut kept = self.0.lock().unwrap();
        assert!(kept.next == 0 || steps <= kept.announced + kept.next);
        (kept.announced, kept.next) = (steps, next);
        Ok(())
    }

    fn keep(&mut self, checkpoint: &Checkpoint) -> bool {
        self.0.lock().unwrap().checkpoint = Some(checkpoint.clone());
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Run {
    Table,
    Pairs,
    RowEmbedding,
    Embedding,
    ImageGan,
    WarmGan,
}

impl Run {
    const ALL: [Self; 6] = [
        Self::Table,
        Self::Pairs,
        Self::RowEmbedding,
        Self::Embedding,
        Self::ImageGan,
        Self::WarmGan,
    ];

    const STEPS: u64 = 40;

    /// All steps, those before a critic's first included.
    fn steps(self) -> u64 {
        if self == Self::WarmGan {
            Self::STEPS + 20
        } else {
            Self::STEPS
        }
    }

    /// Whether each step looks at the data.
    fn looks(self) -> bool {
        matches!(self, Self::Table | Self::ImageGan | Self::WarmGan)
    }

    fn image_plan(self) -> ImagePlan {
        let method = if self == Self::Embedding {
            ImageMethod::MeanEmbedding
        } else {
            ImageMethod::Gan
        };
        let settings = ImageSettings {
            steps: Self::STEPS,
            batch_size: 100,
            critic_hidden: vec![16],
            fake_batch: 16,
            frequencies: 250,
            generator_hidden: 16,
            generator_channels: 4,
            generator_batch: 16,
            warm_steps: if self == Self::WarmGan { 20 } else { 0 },
            ..ImageSettings::recommended(method, Some(5.0))
        };
        let images = some_images(ROWS);
        ImagePlan::new(method, &settings, &images.set().schema(), images.set(), PRIVATE).unwrap()
    }

    fn table_plan() -> Plan {
        let settings = TrainSettings {
            steps: Self::STEPS,
            batch_size: 60,
            fake_batch: 32,
            generator_batch: 32,
            generator_hidden: vec![16],
            critic_hidden: vec![16],
            ..TrainSettings::default()
        };
        Plan::new(&settings, &schema(), ROWS, PRIVATE).unwrap()
    }

    /// Of one release of a table.
    fn pair_plan(self) -> PairPlan {
        let release = if self == Self::Pairs {
            TableRelease::Pairs
        } else {
            TableRelease::MeanEmbedding
        };
        let settings = PairSettings {
            steps: Self::STEPS,
            generator_batch: 64,
            generator_hidden: vec![16],
            ..PairSettings::recommended(release)
        };
        PairPlan::new(release, &settings, &schema(), ROWS, PRIVATE).unwrap()
    }

    fn planned(self) -> EventList {
        match self {
            Self::Table => Self::table_plan().events(),
            Self::Pairs | Self::RowEmbedding => self.pair_plan().events(),
            _ => self.image_plan().events(),
        }
    }

    /// Runs; `seen` is told each step that is reported.
    fn run(
        self,
        (memory, every): (&Memory, Duration),
        taken: Option<TakenUp>,
        control: &Control,
        seen: &mut dyn FnMut(u64),
    ) -> Result<Trained, TrainError> {
        let life = Life {
            keeping: Keeping::by(Box::new(memory.clone()), every),
            taken,
        };
        let random = RandomSource::seeded(1);
        let mut observe = |observation: Observation| {
            if let Observation::Step(step) = observation {
                seen(step.step);
            }
        };
        match self {
            Self::Table => Training::new(
                Self::table_plan(),
                encoder(),
                rows(ROWS),
                DeviceKind::Flex,
                random,
            )?
            .kept(life)
            .run(control, &mut observe),
            Self::Pairs | Self::RowEmbedding => {
                PairTraining::new(self.pair_plan(), encoder(), rows(ROWS), DeviceKind::Flex, random)?
                    .kept(life)
                    .run(control, &mut observe)
            }
            _ => ImageTraining::new(self.image_plan(), some_images(ROWS), DeviceKind::Flex, random)?
                .kept(life)
                .run(control, &mut observe),
        }
    }

    /// Leaves a run after a step, and says what is kept of it.
    fn left_at(self, step: u64) -> Kept {
        let (memory, control) = (Memory::default(), Control::new());
        let left = self.run((&memory, Duration::MAX), None, &control, &mut |seen| {
            if seen == step {
                control.leave();
            }
        });
        match left {
            Err(TrainError::Left { step: at, executed }) => {
                assert_eq!(at, step);
                assert_ne!(executed, EventList::default());
            }
            other => panic!("{self:?}: {other:?}"),
        }
        memory.kept()
    }
}

#[test]
fn a_run_that_was_left_goes_on_and_its_account_is_the_plans() {
    for run in Run::ALL {
        for step in [10, 30] {
            let kept = run.left_at(step);
            let checkpoint = kept.checkpoint.unwrap();
            assert_eq!(checkpoint.step, step);
            if run.looks() {
                assert_eq!(kept.announced.max(step), step, "nothing is lost by leaving");
            }
            let mut steps = Vec::new();
            let charged = step;
            let taken = TakenUp { checkpoint, charged };
            let memory = Memory::default();
            let trained = run
                .run(
                    (&memory, Duration::MAX),
                    Some(taken),
                    &Control::new(),
                    &mut |step| steps.push(step),
                )
                .unwrap();
            assert_eq!(trained.executed, run.planned(), "{run:?}");
            assert_eq!(trained.stopped, StopReason::Planned);
            assert_eq!(trained.steps_done, run.steps());
            assert_eq!(
                (steps.first(), steps.last()),
                (Some(&(step + 1)), Some(&run.steps()))
            );
        }
    }
}

#[test]
fn steps_that_may_have_been_done_are_charged_and_left_out() {
    for run in Run::ALL {
        let checkpoint = run.left_at(30).checkpoint.unwrap();
        let charged = if run.looks() { 37 } else { 30 };
        let taken = TakenUp { checkpoint, charged };
        let (memory, mut steps) = (Memory::default(), Vec::new());
        let trained = run
            .run(
                (&memory, Duration::MAX),
                Some(taken),
                &Control::new(),
                &mut |step| steps.push(step),
            )
            .unwrap();
        assert_eq!(steps, (charged + 1..=run.steps()).collect::<Vec<_>>(), "{run:?}");
        assert_eq!(trained.executed, run.planned());
    }
}

#[test]
fn a_run_with_no_step_left_ends_with_the_generator_of_its_checkpoint() {
    let run = Run::Table;
    let checkpoint = run.left_at(30).checkpoint.unwrap();
    let averaged = checkpoint
        .tensors
        .iter()
        .find(|tensor| tensor.name == "generator.averaged")
        .unwrap()
        .clone();
    let taken = TakenUp {
        checkpoint,
        charged: Run::STEPS,
    };
    let trained = run
        .run(
            (&Memory::default(), Duration::MAX),
            Some(taken),
            &Control::new(),
            &mut |_| panic!("no step is left"),
        )
        .unwrap();
    let parameters = trained.generator.table().unwrap().network().parameters().clone();
    assert_eq!(crate::model::read(parameters), averaged.values);
    assert_eq!(trained.executed, run.planned());
}

#[test]
fn what_is_announced_is_never_less_than_what_is_done() {
    for run in Run::ALL {
        let memory = Memory::default();
        let watched = memory.clone();
        run.run((&memory, Duration::ZERO), None, &Control::new(), &mut |step| {
            let kept = watched.kept();
            let looked = match run {
                Run::WarmGan if step <= 20 => 0,
                _ if run.looks() => step,
                _ => 0,
            };
            assert!(kept.announced >= looked, "{run:?}: {kept:?} at {step}");
            assert!(kept.announced <= run.steps());
            assert!(kept.checkpoint.unwrap().step <= step);
        })
        .unwrap();
        assert!(memory.kept().checkpoint.is_some());
    }
}

#[test]
fn a_critic_that_never_wrote_a_checkpoint_does_not_do_its_first_steps_twice() {
    let run = Run::WarmGan;
    // The last checkpoint is from before the critic, and the journal says that it began.
    let checkpoint = run.left_at(10).checkpoint.unwrap();
    let taken = TakenUp {
        checkpoint,
        charged: 33,
    };
    let mut steps = Vec::new();
    let trained = run
        .run(
            (&Memory::default(), Duration::MAX),
            Some(taken),
            &Control::new(),
            &mut |step| steps.push(step),
        )
        .unwrap();
    let expected: Vec<u64> = (11..=20).chain(34..=60).collect();
    assert_eq!(steps, expected);
    assert_eq!(trained.executed, run.planned());
}

#[test]
fn a_checkpoint_of_another_run_is_refused_before_anything_happens() {
    for run in Run::ALL {
        let checkpoint = run.left_at(30).checkpoint.unwrap();
        for other in Run::ALL {
            if run != other && run.looks() && other.looks() && run != Run::Table && other != Run::Table {
                // The critic's part of a run on images is the same with and without a part before it: those two are told
                // apart by what they reserved.
                continue;
            }
            let mut broken = checkpoint.clone();
            if other == run {
                broken.tensors.remove(0);
            }
            let taken = TakenUp {
                checkpoint: broken,
                charged: 30,
            };
            let refused = other.run(
                (&Memory::default(), Duration::MAX),
                Some(taken),
                &Control::new(),
                &mut |_| panic!("no step is taken"),
            );
            match refused {
                Err(error @ TrainError::OtherCheckpoint(_)) => assert!(error.is_early()),
                other_end => panic!("{run:?} as {other:?}: {other_end:?}"),
            }
        }
    }
}

#[test]
fn a_run_that_can_neither_announce_nor_be_given_up_ends() {
    struct Stuck;
    impl Keeper for Stuck {
        fn announce(&mut self, _: u64, _: u64) -> Result<(), KeepError> {
            Err(KeepError::from(io::Error::other("nothing works")))
        }
        fn keep(&mut self, _: &Checkpoint) -> bool {
            true
        }
    }
    let life = Life {
        keeping: Keeping::by(Box::new(Stuck), Duration::MAX),
        taken: None,
    };
    let ended = Training::new(
        Run::table_plan(),
        encoder(),
        rows(ROWS),
        DeviceKind::Flex,
        RandomSource::seeded(1),
    )
    .unwrap()
    .kept(life)
    .run(&Control::new(), &mut |_| panic!("no step is taken"));
    match ended {
        Err(TrainError::Keep { executed, .. }) => {
            // Marginals and fine histograms were bought, and no step was taken.
            assert_eq!(executed, Run::table_plan().events_until(0));
        }
        other => panic!("{other:?}"),
    }
}
