//! What the pictures draw: curves from closed forms, each kept until something that it depends on changes.

use std::rc::Rc;
use std::sync::Arc;

use super::settings::{ExploreSettings, Measure};
use crate::data::Schema;
use crate::engine::snapshot::{Dataset, Snapshot};
use crate::engine::{Explored, Problem, Seen, Several, SeveralRequest, histogram_of, outlook_for};
use crate::num::{Delta, Epsilon};
use crate::release::outlook::{
    CellTruth, DRAWS, Law, Mechanism, Outlook, Question, SHOWN_EPSILONS, Truth, draw_epsilon,
};

/// Points of a curve over ε: twenty-four a decade.
const POINTS: usize = 97;
/// Curves kept at once.
const MOST_CURVES: usize = 64;
/// Neighbouring draws whose share within ±a makes one dot.
const TOGETHER: usize = 20;
/// The confidence of stated errors.
pub const CONFIDENCE: f64 = 0.95;

/// Points of a picture, shared between frames.
pub type Points = Rc<Vec<[f64; 2]>>;

/// The closed forms behind the pictures.
#[derive(Default)]
pub struct Model {
    known: Option<(Question, Arc<Schema>)>,
    outlook: Option<Result<Arc<Outlook>, Problem>>,
    beside: Option<Outlook>,
    curves: Vec<(Key, Points)>,
    renyi: Option<(Several, Points)>,
    share: Option<(SeveralRequest, Option<f64>)>,
}

/// What a curve depends on.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    mechanism: Mechanism,
    /// 0 for mechanisms without one.
    delta: u64,
    measure: Measure,
    /// 0 for measures without one.
    tolerance: u64,
    cell: usize,
    /// Where the rows' answer lies in memory; it is kept alive by the snapshot while it is shown.
    rows: usize,
    dots: bool,
}

/// All that a picture of one frame is drawn from.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// What was chosen.
    pub settings: &'a ExploreSettings,
    /// The table.
    pub dataset: &'a Dataset,
    /// The closed forms.
    pub outlook: &'a Arc<Outlook>,
    /// The closed forms of the histogram beside the question.
    pub beside: Option<&'a Outlook>,
    /// What the rows say, once they were read.
    pub seen: Option<&'a Seen>,
    rows: usize,
}

impl<'a> View<'a> {
    /// Everything that was found in the rows. For the steward's pictures.
    pub fn truth(&self) -> Option<&'a Truth> {
        self.seen.map(|seen| seen.truth.for_steward())
    }

    /// The value that the pictures are about.
    pub fn cell(&self) -> Option<&'a CellTruth> {
        let cells = &self.truth()?.cells;
        cells.get(self.settings.cell).or_else(|| cells.first())
    }

    /// How the error is distributed at some ε; `None` where the mechanism refuses or the rows are not read yet.
    pub fn law(&self, mechanism: Mechanism, epsilon: f64) -> Option<Law<'a>> {
        let budget = self.budget(epsilon)?;
        self.outlook
            .law(mechanism, budget, self.cell(), self.truth())
            .ok()
    }

    /// ε and δ as units.
    pub fn budget(&self, epsilon: f64) -> Option<(Epsilon, Delta)> {
        Some((Epsilon::new(epsilon).ok()?, Delta::new(self.settings.delta).ok()?))
    }

    /// The error that is not passed at 95 %.
    pub fn error(&self, mechanism: Mechanism, epsilon: f64) -> Option<f64> {
        let error = self.law(mechanism, epsilon)?.error_quantile(CONFIDENCE).ok()?;
        error.is_finite().then_some(error)
    }

    fn measured(&self, law: &Law<'_>) -> f64 {
        match self.settings.measure {
            Measure::Expected => law.expected_error(),
            Measure::RootMeanSquare => law.root_mean_square_error(),
            Measure::Within => law.probability_within(self.settings.tolerance),
        }
    }

    /// What the utility picture shows of a mechanism at one ε.
    pub fn measure(&self, mechanism: Mechanism, epsilon: f64) -> Option<f64> {
        let value = self.measured(&self.law(mechanism, epsilon)?);
        value.is_finite().then_some(value)
    }

    /// A noisy answer at some ε from the uniform numbers of a draw.
    pub fn answers(&self, mechanism: Mechanism, epsilon: f64, draws: std::ops::Range<usize>) -> Vec<f64> {
        let (Some(seen), Some(cell), Some(budget)) = (self.seen, self.cell(), self.budget(epsilon)) else {
            return Vec::new();
        };
        let parts = self
            .outlook
            .noise(mechanism, budget.0, budget.1)
            .unwrap_or_default();
        let law = if parts.is_empty() || mechanism == Mechanism::RandomizedResponse {
            self.law(mechanism, epsilon)
        } else {
            None
        };
        draws
            .filter_map(|draw| {
                self.outlook
                    .answer(&parts, law.as_ref(), cell, seen.draws.of(draw))
            })
            .filter(|answer| answer.is_finite())
            .collect()
    }

    /// Several questions alike, and what they are made of.
    pub fn several(&self) -> Option<SeveralRequest> {
        let budget = self.budget(self.settings.epsilon)?;
        let events = self
            .outlook
            .events(self.settings.mechanism, budget.0, budget.1)
            .ok()?;
        Some(SeveralRequest {
            several: Several {
                events,
                delta: self.settings.delta,
                most: self.settings.questions as u64,
                parallel: self.settings.parallel,
            },
            outlook: Arc::clone(self.outlook),
            mechanism: self.settings.mechanism,
            total: self.settings.epsilon,
        })
    }
}

/// The ε of a curve's points.
pub fn epsilons() -> impl Iterator<Item = f64> {
    let (low, high) = SHOWN_EPSILONS;
    (0..POINTS).map(move |at| low * (high / low).powf(at as f64 / (POINTS - 1) as f64))
}

impl Model {
    /// Decides anew whenever the question or the schema has changed.
    pub fn follow(&mut self, dataset: &Dataset, question: &Question) {
        let known = self
            .known
            .as_ref()
            .is_some_and(|(asked, schema)| asked == question && Arc::ptr_eq(schema, &dataset.schema));
        if known {
            return;
        }
        self.known = Some((question.clone(), Arc::clone(&dataset.schema)));
        self.outlook = Some(outlook_for(&dataset.schema, question).map(Arc::new));
        self.beside = histogram_of(question).and_then(|beside| outlook_for(&dataset.schema, &beside).ok());
        self.curves.clear();
    }

    /// Whether the closed forms are those of this question.
    pub fn is_of(&self, question: &Question) -> bool {
        self.known.as_ref().is_some_and(|(known, _)| known == question)
    }

    /// The closed forms, or why there are none.
    pub fn outlook(&self) -> Option<&Result<Arc<Outlook>, Problem>> {
        self.outlook.as_ref()
    }

    /// What a frame draws from; `None` where the question has no closed form.
    pub fn view<'a>(
        &'a self,
        settings: &'a ExploreSettings,
        dataset: &'a Dataset,
        explored: Option<&'a Arc<Explored>>,
    ) -> Option<View<'a>> {
        let outlook = self.outlook.as_ref()?.as_ref().ok()?;
        outlook.mechanisms().next()?;
        let seen = explored.and_then(|explored| explored.outcome.as_ref().ok());
        Some(View {
            settings,
            dataset,
            outlook,
            beside: self.beside.as_ref(),
            seen,
            rows: seen.map_or(0, |seen| std::ptr::from_ref(seen) as usize),
        })
    }

    fn key(view: &View<'_>, mechanism: Mechanism, dots: bool) -> Key {
        let settings = view.settings;
        let has = |needed: bool, value: f64| if needed { value.to_bits() } else { 0 };
        Key {
            mechanism,
            delta: has(mechanism.needs_delta(), settings.delta),
            measure: settings.measure,
            tolerance: has(settings.measure == Measure::Within, settings.tolerance),
            cell: settings.cell,
            rows: view.rows,
            dots,
        }
    }

    fn kept(curves: &mut Vec<(Key, Points)>, key: Key, make: impl FnOnce() -> Vec<[f64; 2]>) -> Points {
        if let Some((_, points)) = curves.iter().find(|(known, _)| *known == key) {
            return Rc::clone(points);
        }
        let points = Rc::new(make());
        if curves.len() >= MOST_CURVES {
            curves.remove(0);
        }
        curves.push((key, Rc::clone(&points)));
        points
    }

    /// The measure over ε at the present δ.
    pub fn curve(curves: &mut CurveStore, view: &View<'_>, mechanism: Mechanism) -> Points {
        let key = Self::key(view, mechanism, false);
        Self::kept(&mut curves.0, key, || {
            epsilons()
                .filter_map(|epsilon| Some([epsilon, view.measure(mechanism, epsilon)?]))
                .collect()
        })
    }

    /// Real draws: an error at an ε of its own each; of "within ±a", the share of those beside each other.
    pub fn dots(curves: &mut CurveStore, view: &View<'_>) -> Points {
        let mechanism = view.settings.mechanism;
        let key = Self::key(view, mechanism, true);
        Self::kept(&mut curves.0, key, || {
            let errors = errors(view, mechanism);
            if view.settings.measure != Measure::Within {
                return errors;
            }
            let inside = |chunk: &[[f64; 2]]| {
                let hits = chunk
                    .iter()
                    .filter(|dot| dot[1] <= view.settings.tolerance)
                    .count();
                let middle = chunk.iter().map(|dot| dot[0].ln()).sum::<f64>() / chunk.len() as f64;
                [middle.exp(), hits as f64 / chunk.len() as f64]
            };
            errors.chunks(TOGETHER).map(inside).collect()
        })
    }

    /// The Rényi totals of several questions, at their counts.
    pub fn renyi(&mut self, several: &Several, most: usize) -> Points {
        if let Some((known, points)) = &self.renyi
            && known == several
        {
            return Rc::clone(points);
        }
        let total = |count| Some([count as f64, several.by_renyi(count)?]);
        let points = Rc::new(several.counts(most).into_iter().filter_map(total).collect());
        self.renyi = Some((several.clone(), Rc::clone(&points)));
        points
    }

    /// The share of each of several questions by Rényi divergences; kept with what it was found for.
    pub fn share(&mut self, request: &SeveralRequest) -> Option<f64> {
        if let Some((known, found)) = &self.share
            && known.is(request)
        {
            return *found;
        }
        let found = request.share_by_renyi();
        self.share = Some((request.clone(), found));
        found
    }

    /// Takes the store of curves out, so that a view can be drawn from while curves are added.
    pub fn take_curves(&mut self) -> CurveStore {
        CurveStore(std::mem::take(&mut self.curves))
    }

    /// Puts it back.
    pub fn put_curves(&mut self, curves: CurveStore) {
        self.curves = curves.0;
    }
}

/// Curves that were worked out before.
#[derive(Default)]
pub struct CurveStore(Vec<(Key, Points)>);

/// The absolute errors of [`DRAWS`] draws over ε.
fn errors(view: &View<'_>, mechanism: Mechanism) -> Vec<[f64; 2]> {
    let Some(cell) = view.cell() else {
        return Vec::new();
    };
    if mechanism == Mechanism::RandomizedResponse {
        let drawn = view
            .truth()
            .and_then(|truth| truth.responses.get(view.settings.cell));
        let errors = drawn.into_iter().flatten().enumerate();
        return errors
            .map(|(draw, error)| [draw_epsilon(draw), error.abs()])
            .collect();
    }
    (0..DRAWS)
        .filter_map(|draw| {
            let epsilon = draw_epsilon(draw);
            let answer = view
                .answers(mechanism, epsilon, draw..draw + 1)
                .first()
                .copied()?;
            Some([epsilon, (answer - cell.number).abs()])
        })
        .collect()
}

/// The rows' answer to this very question, if it is there.
pub fn explored<'a>(
    snapshot: &'a Snapshot,
    dataset: &Dataset,
    question: &Question,
) -> Option<&'a Arc<Explored>> {
    snapshot
        .explored
        .as_ref()
        .filter(|explored| explored.question == *question && Arc::ptr_eq(&explored.schema, &dataset.schema))
}

/// The least ε whose error is at most the wanted one: the error falls as ε grows. On the side of less error.
pub fn epsilon_for(wanted: f64, error: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let fits = |epsilon: f64| error(epsilon).is_some_and(|error| error <= wanted);
    let (mut low, mut high) = SHOWN_EPSILONS;
    if !fits(high) {
        return None;
    }
    if fits(low) {
        return Some(low);
    }
    while high / low > 1.002 {
        let middle = f64::sqrt(low * high);
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_can_be_stood_gives_its_epsilon() {
        // The error of Laplace noise is about 3/ε.
        let width = |epsilon: f64| Some(3.0 / epsilon);
        let epsilon = epsilon_for(5.0, width).unwrap();
        assert!((0.6..0.602).contains(&epsilon), "{epsilon}");
        assert!(epsilon_for(0.1, width).is_none());
        assert!(epsilon_for(1e9, width).is_some_and(|epsilon| epsilon < 0.0011));
    }

    #[test]
    fn a_curve_spans_what_is_shown() {
        let all: Vec<f64> = epsilons().collect();
        assert!((all[0] - SHOWN_EPSILONS.0).abs() < 1e-12);
        assert!((all[POINTS - 1] - SHOWN_EPSILONS.1).abs() < 1e-9);
    }
}
