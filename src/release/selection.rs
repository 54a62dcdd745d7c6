//! Statistics that are a choice among public candidates: quantiles and the mode, by the exponential mechanism.
//!
//! **Quantile** (Smith 2011, "Privacy-preserving statistical estimation with optimal convergence rates", §3). The
//! candidates are the points of a public grid between the bounds. With L values below a candidate, R values not above it,
//! n values in all and a share q, its score is −max(0, L − qn, qn − R): 0 for a quantile, else minus the number of ranks
//! that it is off. Shares are counted in millionths, so scores are whole numbers.
//!
//! How far a score moves: one value that appears adds to L − qn either −q or 1 − q, and likewise to qn − R, so the score
//! changes by at most max(q, 1 − q) each. Over all groups together (a value lies in one):
//! - add/remove, zero out: m·max(q, 1 − q) for m rows;
//! - replace, one group: at most m·1, since what goes adds q or −(1 − q) and what comes −q or 1 − q;
//! - replace, several groups: 2m·max(q, 1 − q), which is the larger.
//!
//! **Mode.** The candidates are the values of the domain, a score is a count. One more row raises one count: under
//! add/remove scores are monotonic. A row that is replaced lowers one count and raises another.
//!
//! **Groups.** Each group has a choice of its own with the same rate λ. Its loss is at most λ times the spread of its
//! changes of score (largest minus smallest), and the spreads of all groups add up to no more than twice the
//! sensitivity above (once, for monotonic scores). So all choices together are ε-DP and of ε-bounded range: one event.
//!
//! **Cut-off.** Scores below a public floor are raised to it, which moves no score further than before. The floor lies where
//! a candidate's odds are e^(−200) of the best one's; it makes most candidates equal, and the choice fast.

mod outlook;

use rand::Rng as _;

use crate::data::{CodeReader, Kind, Schema, Table};
use crate::num::RandomSource;
use crate::privacy::mechanism::Selection;
use crate::privacy::{EventList, Neighboring, PrivacyEvent};

use super::CONFIDENCE;
use super::additive::{clamped, labels_of};
use super::answer::{Answer, Cell, Interval, Label, Value};
use super::error::ReleaseError;
use super::line::Line;
use super::note::Note;
use super::plan::{Setting, check_decided};
use super::request::{Query, millionths};
use super::tally::{Bins, Groups, each_row, group_of_rows};

pub(super) use outlook::Choices;

/// Shares are counted in these.
const MILLION: f64 = 1e6;
/// Points of the grid of candidates, at most.
const MOST_POINTS: f64 = 16_777_216.0;
/// The score at which a candidate counts as out of the question, in units of 1/λ below the best possible.
const FLOOR: f64 = 200.0;
/// Whole numbers with more values than this have no mode worth telling.
const MOST_VALUES: f64 = 65_000.0;

/// A choice in each group.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    what: What,
    groups: Option<Groups>,
    selection: Selection,
    epsilon: f64,
    relation: Neighboring,
    simultaneous: bool,
    notes: Vec<Note>,
}

#[derive(Clone, Debug)]
enum What {
    Quantile {
        line: Line,
        /// Millionths.
        share: f64,
        /// Positions between neighbouring candidates.
        spacing: f64,
        /// The number of candidates.
        points: u32,
        is_number: bool,
    },
    Mode {
        bins: Bins,
        labels: Vec<Value>,
    },
}

impl Choice {
    pub fn new(setting: &Setting<'_>) -> Result<Self, ReleaseError> {
        let column = setting.column()?;
        let groups = match &setting.request.by {
            Some(by) => Some(Groups::new(setting.schema, by)?),
            None => None,
        };
        let mut notes = vec![Note::MissingLeftOut {
            column: column.name.clone(),
        }];
        let what = match setting.request.query {
            Query::Quantile { share } => plan_quantile(setting, share, &mut notes)?,
            _ => plan_mode(setting)?,
        };
        if let What::Quantile { line, .. } = &what {
            notes.push(clamped(column, line));
        }
        if let (Some(by), Some(groups)) = (&setting.request.by, &groups) {
            if !groups.values().1 {
                notes.push(Note::GroupLeftOut { column: by.clone() });
            }
            notes.push(if setting.request.simultaneous {
                Note::Simultaneous
            } else {
                Note::Pointwise
            });
        }
        let rows = setting.neighbours.max_rows as f64;
        let is_one_way = setting.neighbours.is_one_way();
        let selection = match &what {
            What::Quantile { share, .. } => {
                let each = share.max(MILLION - share);
                let all = match (is_one_way, &groups) {
                    (true, _) => each,
                    (false, None) => MILLION,
                    (false, Some(_)) => 2.0 * each,
                };
                Selection::new(setting.epsilon, rows * all)?
            }
            What::Mode { .. } if is_one_way => Selection::new(setting.epsilon, rows)?.monotonic(),
            What::Mode { .. } => Selection::new(setting.epsilon, rows)?,
        };
        Ok(Self {
            what,
            groups,
            selection,
            epsilon: setting.epsilon.get(),
            relation: setting.neighbours.relation,
            simultaneous: setting.request.simultaneous,
            notes,
        })
    }

    pub fn events(&self) -> EventList {
        let mut events = EventList::new(self.relation);
        events.push(
            PrivacyEvent::Exponential {
                epsilon: self.epsilon,
            },
            1,
        );
        events
    }

    /// How many values are released.
    pub fn cells(&self) -> usize {
        self.groups.as_ref().map_or(1, Groups::len)
    }

    /// The scores of every candidate in every group, as the mechanism would see them without grouping candidates.
    /// For tests on short lines.
    #[cfg(test)]
    pub fn scores(&self, schema: &Schema, table: &Table) -> Result<Vec<Vec<f64>>, ReleaseError> {
        let rows = group_of_rows(schema, table, self.groups.as_ref())?;
        let groups = (rows.as_deref(), self.cells());
        match &self.what {
            What::Quantile { share, points, .. } => Ok(self
                .values(table, groups)?
                .into_iter()
                .map(|values| {
                    let stretches = stretches(&values, *share, *points, self.floor());
                    let mut scores = vec![self.floor(); *points as usize];
                    for stretch in stretches.iter().filter(|stretch| !stretch.is_elsewhere()) {
                        for point in stretch.first..=stretch.last {
                            scores[point as usize] = stretch.score;
                        }
                    }
                    scores
                })
                .collect()),
            What::Mode { bins, .. } => {
                let counts = bins.count(table, groups, false)?;
                let scores: Vec<f64> = counts.into_iter().map(|count| count as f64).collect();
                Ok(scores.chunks(bins.len()).map(<[f64]>::to_vec).collect())
            }
        }
    }

    /// The largest sum of spreads of score changes over all groups that ε pays for.
    #[cfg(test)]
    pub fn spread_paid_for(&self) -> f64 {
        self.epsilon / self.selection.rate()
    }

    fn floor(&self) -> f64 {
        -(FLOOR / self.selection.rate()).ceil()
    }

    pub fn run(
        &self,
        schema: &Schema,
        table: &Table,
        random: &mut RandomSource,
    ) -> Result<Answer, ReleaseError> {
        let rows = group_of_rows(schema, table, self.groups.as_ref())?;
        let groups = (rows.as_deref(), self.cells());
        let (values, interval) = match &self.what {
            What::Quantile {
                line,
                share,
                spacing,
                points,
                is_number,
            } => {
                let mut found = Vec::with_capacity(groups.1);
                for values in self.values(table, groups)? {
                    let point = self.choose_point(&values, *share, *points, random)?;
                    let position = (line.range().0 + f64::from(point) * spacing).min(line.range().1);
                    found.push(if *is_number {
                        Value::from(line.bound(position))
                    } else {
                        Value::from(line.bound(position.round()))
                    });
                }
                (found, Interval::Rank(self.margin(f64::from(*points)) / MILLION))
            }
            What::Mode { bins, labels } => {
                let counts = bins.count(table, groups, false)?;
                let mut found = Vec::with_capacity(groups.1);
                for counts in counts.chunks(bins.len()) {
                    let scores: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
                    found.push(labels[self.selection.exponential(&scores, random)?].clone());
                }
                (found, Interval::Frequency(self.margin(bins.len() as f64)))
            }
        };
        Ok(Answer {
            is_single: self.groups.is_none(),
            cells: self.cells_of(values, &interval),
            purchase: None,
            notes: self.notes.clone(),
        })
    }

    /// How far the chosen score lies below the best one, at most, with confidence: the odds of all worse ones
    /// together are at most k·e^(−λt) to 1 (McSherry & Talwar 2007, Lemma 7).
    fn margin(&self, candidates: f64) -> f64 {
        let together = if self.simultaneous {
            self.cells() as f64
        } else {
            1.0
        };
        (candidates * together / (1.0 - CONFIDENCE)).ln() / self.selection.rate()
    }

    fn cells_of(&self, values: Vec<Value>, interval: &Interval) -> Vec<Cell> {
        let labels: Vec<Option<Label>> = self.groups.as_ref().map_or_else(
            || vec![None],
            |groups| {
                let (values, with_missing) = groups.values();
                labels_of(values, with_missing).map(Some).collect()
            },
        );
        labels
            .into_iter()
            .zip(values)
            .map(|(group, value)| Cell {
                group,
                bin: None,
                value,
                interval: Some(interval.clone()),
            })
            .collect()
    }

    /// The grid points of each group's values, sorted.
    fn values(&self, table: &Table, groups: (Option<&[u32]>, usize)) -> Result<Vec<Vec<u32>>, ReleaseError> {
        let What::Quantile { line, spacing, .. } = &self.what else {
            return Ok(Vec::new());
        };
        let (lower, upper) = line.range();
        let mut found = vec![Vec::new(); groups.1];
        if groups.1 == 1 {
            found[0].reserve(table.rows());
        }
        each_row(
            groups.0,
            |sink| line.read(table, sink),
            |group, position: f64| {
                if !position.is_nan() {
                    found[group].push(((position.clamp(lower, upper) - lower) / spacing + 0.5) as u32);
                }
            },
        )?;
        for values in &mut found {
            values.sort_unstable();
        }
        Ok(found)
    }

    fn choose_point(
        &self,
        values: &[u32],
        share: f64,
        points: u32,
        random: &mut RandomSource,
    ) -> Result<u32, ReleaseError> {
        let stretches = stretches(values, share, points, self.floor());
        let scores: Vec<f64> = stretches.iter().map(|stretch| stretch.score).collect();
        let sizes: Vec<u64> = stretches.iter().map(|stretch| stretch.points).collect();
        let chosen = &stretches[self.selection.exponential_grouped(&scores, &sizes, random)?];
        let place = uniform_below(chosen.points, random);
        if !chosen.is_elsewhere() {
            return Ok(chosen.first + place as u32);
        }
        // Out of the question but for one draw in e^200: the place counts the points that no other stretch holds.
        let mut rest = place;
        let mut next = 0;
        for stretch in stretches.iter().filter(|stretch| !stretch.is_elsewhere()) {
            let gap = u64::from(stretch.first - next);
            if rest < gap {
                return Ok(next + rest as u32);
            }
            rest -= gap;
            next = stretch.last + 1;
        }
        Ok((u64::from(next) + rest).min(u64::from(points - 1)) as u32)
    }
}

/// A uniform whole number below `bound`, without the slight bias of a remainder.
fn uniform_below(bound: u64, random: &mut RandomSource) -> u64 {
    // The largest multiple of `bound` that 64 bits hold, less one.
    let last = u64::MAX - (u64::MAX % bound + 1) % bound;
    loop {
        let draw = random.next_u64();
        if draw <= last {
            return draw % bound;
        }
    }
}

/// Candidates of one score.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    first: u32,
    last: u32,
    points: u64,
    score: f64,
}

impl Stretch {
    /// Whether this stands for all candidates at the floor, wherever they are.
    fn is_elsewhere(&self) -> bool {
        self.first > self.last
    }
}

/// All candidates, those of one score together, in order; those at the floor together at the end.
fn stretches(sorted: &[u32], share: f64, points: u32, floor: f64) -> Vec<Stretch> {
    let target = share * sorted.len() as f64;
    let score = |below: usize, up_to: usize| {
        let off = (MILLION * below as f64 - target).max(target - MILLION * up_to as f64);
        -off.max(0.0)
    };
    // Ranks further from the target than the floor need not be looked at.
    let reach = -floor / MILLION;
    let middle = target / MILLION;
    let start = (middle - reach - 1.0).max(0.0) as usize;
    let mut found = Vec::new();
    let mut inside = 0_u64;
    let mut push = |first: u32, last: u32, score: f64| {
        if first <= last && score > floor {
            let points = u64::from(last - first) + 1;
            inside += points;
            found.push(Stretch {
                first,
                last,
                points,
                score,
            });
        }
    };
    // The first value that is looked at, and what lies below it.
    let mut at = sorted
        .get(start)
        .map_or(0, |&value| sorted.partition_point(|&other| other < value));
    let mut next_point = match at.checked_sub(1) {
        Some(before) => sorted[before] + 1,
        None => 0,
    };
    while at < sorted.len() && at as f64 <= middle + reach + 1.0 {
        let value = sorted[at];
        if value > next_point {
            push(next_point, value - 1, score(at, at));
        }
        let same = at + sorted[at..].partition_point(|&other| other == value);
        push(value, value, score(at, same));
        at = same;
        next_point = value + 1;
    }
    let end = sorted.get(at).copied().unwrap_or(points);
    if end > next_point {
        push(next_point, end - 1, score(at, at));
    }
    let elsewhere = u64::from(points) - inside;
    if elsewhere > 0 {
        found.push(Stretch {
            first: 1,
            last: 0,
            points: elsewhere,
            score: floor,
        });
    }
    found
}

fn plan_quantile(setting: &Setting<'_>, share: f64, notes: &mut Vec<Note>) -> Result<What, ReleaseError> {
    let column = setting.column()?;
    if !column.kind.is_numeric() {
        return Err(ReleaseError::WrongKind {
            query: "quantile",
            column: column.name.clone(),
            kind: column.kind.as_str(),
            remedy: "ask for its histogram or its mode",
        });
    }
    let share = millionths(share).ok_or(ReleaseError::Share { share })?;
    check_decided(column)?;
    let line = Line::new(setting.schema, &column.name)?;
    let (lower, upper) = line.range();
    let range = upper - lower;
    let spacing = if line.is_whole() && range < MOST_POINTS {
        1.0
    } else if line.is_whole() {
        (range / MOST_POINTS).ceil()
    } else if range > 0.0 {
        (range / MOST_POINTS).max(f64::MIN_POSITIVE)
    } else {
        1.0
    };
    if !line.is_whole() || spacing > 1.0 {
        notes.push(Note::OnGrid {
            spacing: line.difference(spacing),
        });
    }
    Ok(What::Quantile {
        points: (range / spacing + 0.5) as u32 + 1,
        is_number: !column.kind.is_temporal(),
        line,
        share,
        spacing,
    })
}

fn plan_mode(setting: &Setting<'_>) -> Result<What, ReleaseError> {
    let column = setting.column()?;
    let wrong = |remedy| ReleaseError::WrongKind {
        query: "mode",
        column: column.name.clone(),
        kind: column.kind.as_str(),
        remedy,
    };
    check_decided(column)?;
    match column.kind {
        Kind::Categorical | Kind::Boolean => {
            let reader = CodeReader::new(setting.schema, &column.name)?;
            Ok(What::Mode {
                labels: reader.values().iter().cloned().map(Value::Text).collect(),
                bins: Bins::Values(reader),
            })
        }
        Kind::Integer | Kind::Date => {
            let line = Line::new(setting.schema, &column.name)?;
            let (lower, upper) = line.range();
            let places = upper - lower + 1.0;
            if places > MOST_VALUES {
                return Err(wrong("its range is too wide; ask for a histogram with --bins"));
            }
            Ok(What::Mode {
                labels: (0..places as usize)
                    .map(|place| Value::from(line.bound(lower + place as f64)))
                    .collect(),
                bins: Bins::equal(line, places as usize),
            })
        }
        _ => Err(wrong("ask for a histogram with --bins, or a quantile")),
    }
}
