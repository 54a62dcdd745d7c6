//! Figures of a generator while it trains, on a thread of their own.
//!
//! The run hands over a way to make images (a copy of its generator, which is a handle to tensors) and goes on; images
//! are made, read and compared beside it, and what comes while the thread is busy replaces what waits. All of it is
//! taken over few images, so the distance that as many real images have stands beside it.

use super::{Extractor, ExtractorChoice, Figure, RealSide, distances, halves, some};
use crate::data::image::ImageSet;
use crate::model::DeviceKind;
use crate::num::{Beside, Progress, RandomSource, StewardOnly};

/// Generated images in a comparison.
pub const LIVE_SYNTHETIC: usize = 1000;
/// Real images in a comparison.
const LIVE_REAL: usize = 5000;
/// Features wider than this are compared over fewer real images: the cost grows with the cube of the smaller number.
const WIDE: usize = 1000;

/// Makes images, given as bytes: so many as [`LIVE_SYNTHETIC`] says.
pub type MakeImages = Box<dyn FnOnce() -> Vec<u8> + Send>;

/// What was found of a generator at a step.
#[derive(Clone, Debug)]
pub struct LiveFigures {
    /// The step.
    pub step: u64,
    /// What the features are those of.
    pub extractor: String,
    /// Generated and real images behind the figures.
    pub compared: [usize; 2],
    /// The Fréchet distance between two parts of the real images, each of as many as were generated or half of all: what
    /// the best generator would get over so few.
    pub fid_of_real: StewardOnly<Option<f64>>,
    /// The figures under their names, `fid` first.
    pub figures: StewardOnly<Vec<(&'static str, Figure)>>,
}

impl LiveFigures {
    /// One of the figures.
    pub fn figure(&self, name: &str) -> StewardOnly<Option<Figure>> {
        let mut figures = self.figures.for_steward().iter();
        let found = figures.find(|(known, _)| *known == name);
        StewardOnly::new(found.map(|(_, figure)| *figure))
    }
}

/// The thread that compares.
pub struct LiveImages(Beside<MakeImages, Option<LiveFigures>>);

impl LiveImages {
    /// Starts the thread; the real images' features are read on it, once.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(real: ImageSet, mut random: RandomSource) -> std::io::Result<Self> {
        Beside::start("live figures", move || {
            let reference = Reference::of(&real, &mut random);
            drop(real);
            move |step, make: MakeImages| reference.as_ref()?.judge(step, &make(), &mut random)
        })
        .map(Self)
    }

    /// Whether images offered now would be looked at soon. Nothing is lost by offering more, but the work of it.
    pub fn wants_images(&self) -> bool {
        self.0.wants_more()
    }

    /// Hands over a way to make images; replaces one that has not been taken up.
    pub fn offer(&mut self, step: u64, make: MakeImages) {
        self.0.offer(step, make);
    }

    /// What has been found since the last question.
    pub fn latest(&mut self) -> Option<LiveFigures> {
        self.0.latest().and_then(|(_, figures)| figures)
    }

    /// Waits a moment for the figures of what was offered last, if there is anything.
    pub fn finish(self) -> Option<LiveFigures> {
        self.0.finish().and_then(|(_, figures)| figures)
    }
}

/// What generated images are held against.
struct Reference {
    extractor: Extractor,
    real: RealSide,
    floor: Option<f64>,
}

impl Reference {
    /// Nothing where the extractor cannot be used: a run goes on without figures.
    fn of(real: &ImageSet, random: &mut RandomSource) -> Option<Self> {
        // A graphics card is the run's own.
        let extractor = Extractor::open(&ExtractorChoice::Fitting, real.form(), DeviceKind::Flex).ok()?;
        let mut real = extractor
            .read(&some(real, LIVE_REAL, random), &Progress::new())
            .ok()?;
        let floor = halves(&real, LIVE_SYNTHETIC);
        if real.width > WIDE {
            real = real.first(LIVE_SYNTHETIC);
        }
        Some(Self {
            extractor,
            real: RealSide::of(real),
            floor,
        })
    }

    fn judge(&self, step: u64, images: &[u8], random: &mut RandomSource) -> Option<LiveFigures> {
        let made = self.extractor.read(images, &Progress::new()).ok()?;
        if made.count() < 2 {
            return None;
        }
        Some(LiveFigures {
            step,
            extractor: self.extractor.name().to_owned(),
            compared: [made.count(), self.real.features.count()],
            fid_of_real: StewardOnly::new(self.floor),
            figures: StewardOnly::new(distances(&self.real, &made, random)),
        })
    }
}
