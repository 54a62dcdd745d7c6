//! Collects the points of a live plot and thins them to what a screen can show.

use std::sync::Arc;

use crate::engine::snapshot::{SERIES_POINTS, Series};

/// A stretch of steps, of which the extremes, the last smoothed value and nothing else is kept.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    low: [f64; 2],
    high: [f64; 2],
    smooth: [f64; 2],
}

impl Stretch {
    fn join(self, later: Self) -> Self {
        Self {
            low: if later.low[1] < self.low[1] {
                later.low
            } else {
                self.low
            },
            high: if later.high[1] > self.high[1] {
                later.high
            } else {
                self.high
            },
            smooth: later.smooth,
        }
    }
}

/// Takes one point a step, for as many steps as there are, in bounded memory.
///
/// When the stretches outnumber what a plot can show, neighbours are joined and each covers twice as many
/// points from then on; their extremes stay, so that a spike never vanishes.
#[derive(Clone, Debug)]
pub struct SeriesCollector {
    stretches: Vec<Stretch>,
    points_per_stretch: usize,
    points_in_last: usize,
    /// Weight of the past in the smoothed line, 0 to below 1.
    memory: f64,
    smooth: Option<f64>,
    last: Option<f64>,
}

impl SeriesCollector {
    /// A collector whose smoothed line forgets with the factor `memory` a point (0 follows the raw line).
    pub fn new(memory: f64) -> Self {
        Self {
            stretches: Vec::new(),
            points_per_stretch: 1,
            points_in_last: 0,
            memory,
            smooth: None,
            last: None,
        }
    }

    /// Adds the value of a step. Values that are not finite end up in `last` only: a plot cannot show them.
    pub fn push(&mut self, step: f64, value: f64) {
        self.last = Some(value);
        if !value.is_finite() {
            return;
        }
        let smooth = self
            .smooth
            .map_or(value, |past| self.memory * past + (1.0 - self.memory) * value);
        self.smooth = Some(smooth);
        let point = Stretch {
            low: [step, value],
            high: [step, value],
            smooth: [step, smooth],
        };
        match self.stretches.last_mut() {
            Some(last) if self.points_in_last < self.points_per_stretch => {
                *last = last.join(point);
                self.points_in_last += 1;
            }
            _ => {
                if self.stretches.len() >= SERIES_POINTS / 2 {
                    self.halve();
                }
                self.stretches.push(point);
                self.points_in_last = 1;
            }
        }
    }

    fn halve(&mut self) {
        self.stretches = self
            .stretches
            .chunks(2)
            .map(|pair| {
                if pair.len() == 2 {
                    pair[0].join(pair[1])
                } else {
                    pair[0]
                }
            })
            .collect();
        self.points_per_stretch *= 2;
    }

    /// Writes all that is kept, so that [`Self::read`] can go on from it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut number = |value: u64| out.extend_from_slice(&value.to_le_bytes());
        number(self.points_per_stretch as u64);
        number(self.points_in_last as u64);
        number(self.stretches.len() as u64);
        number(u64::from(self.last.is_some()));
        number(self.last.unwrap_or_default().to_bits());
        for stretch in &self.stretches {
            let points = [stretch.low, stretch.high, stretch.smooth];
            points
                .as_flattened()
                .iter()
                .for_each(|value| number(value.to_bits()));
        }
    }

    /// Reads what [`Self::write`] has written off the front of `bytes`, in place of what is kept; `None` for what it
    /// cannot have written.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let mut number = || {
            let (first, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*first))
        };
        let points_per_stretch = usize::try_from(number()?).ok()?;
        let points_in_last = usize::try_from(number()?).ok()?;
        let count = usize::try_from(number()?).ok()?;
        let last = match number()? {
            0 => number().map(|_| None)?,
            1 => number().map(|bits| Some(f64::from_bits(bits)))?,
            _ => return None,
        };
        if points_per_stretch == 0 || points_in_last > points_per_stretch || count > SERIES_POINTS / 2 {
            return None;
        }
        let mut stretches = Vec::with_capacity(count);
        for _ in 0..count {
            let mut point = || Some([f64::from_bits(number()?), f64::from_bits(number()?)]);
            let stretch = Stretch {
                low: point()?,
                high: point()?,
                smooth: point()?,
            };
            let points = [stretch.low, stretch.high, stretch.smooth];
            if !points.as_flattened().iter().all(|value| value.is_finite()) {
                return None;
            }
            stretches.push(stretch);
        }
        self.smooth = stretches.last().map(|stretch| stretch.smooth[1]);
        self.stretches = stretches;
        self.points_per_stretch = points_per_stretch;
        self.points_in_last = points_in_last;
        self.last = last;
        Some(())
    }

    /// Leaves out what came after a step, with the stretch that reaches over it.
    pub fn end_at(&mut self, step: f64) {
        let kept = self
            .stretches
            .partition_point(|stretch| stretch.smooth[0] <= step);
        if kept == self.stretches.len() {
            return;
        }
        self.stretches.truncate(kept);
        self.points_in_last = self.points_per_stretch;
        self.smooth = self.stretches.last().map(|stretch| stretch.smooth[1]);
        self.last = self.smooth;
    }

    /// The line as it is now.
    pub fn series(&self) -> Series {
        let mut raw = Vec::with_capacity(2 * self.stretches.len());
        for stretch in &self.stretches {
            if stretch.low == stretch.high {
                raw.push(stretch.low);
            } else if stretch.low[0] < stretch.high[0] {
                raw.extend([stretch.low, stretch.high]);
            } else {
                raw.extend([stretch.high, stretch.low]);
            }
        }
        Series {
            raw: Arc::new(raw),
            smooth: Arc::new(self.stretches.iter().map(|stretch| stretch.smooth).collect()),
            last: self.last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_kept_as_they_are() {
        let mut collector = SeriesCollector::new(0.0);
        for step in 0..10 {
            collector.push(f64::from(step), f64::from(step * step));
        }
        let series = collector.series();
        assert_eq!(series.raw.len(), 10);
        assert_eq!(series.raw, series.smooth);
        assert_eq!(series.last, Some(81.0));
    }

    #[test]
    fn many_points_are_thinned_and_the_spike_stays() {
        let mut collector = SeriesCollector::new(0.9);
        for step in 0..200_000 {
            collector.push(
                f64::from(step),
                if step == 77_777 { 1e6 } else { f64::from(step % 7) },
            );
        }
        let series = collector.series();
        assert!(series.raw.len() <= SERIES_POINTS, "{} points", series.raw.len());
        assert!(series.raw.contains(&[77_777.0, 1e6]));
        assert!(series.raw.is_sorted_by(|a, b| a[0] <= b[0]));
        assert!(series.raw.last().unwrap()[0] > 199_000.0);
    }

    #[test]
    fn a_loss_that_is_not_a_number_is_told_but_not_drawn() {
        let mut collector = SeriesCollector::new(0.5);
        collector.push(0.0, 1.0);
        collector.push(1.0, f64::NAN);
        let series = collector.series();
        assert_eq!(series.raw.len(), 1);
        assert!(series.last.unwrap().is_nan());
    }
}
