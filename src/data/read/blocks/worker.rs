//! One thread's share of a file: records found, and their cells put into columns.

use std::sync::{Mutex, PoisonError};

use arrow::array::ArrayRef;

use super::super::columns::{Cell, Joint, NotUtf8, Spellings, TextColumn};
use super::super::scan::{Records, Scanner, Stop, count_lines};
use super::cut::{Cutter, Label};
use super::{Failure, Layout};

/// Fields that are found before their columns are filled.
const BATCH: usize = 1 << 11;

/// What is wrong with a block.
pub(super) struct Fault {
    /// The row within the block, from 0.
    pub row: u64,
    /// Where in the block.
    pub at: usize,
    pub what: What,
}

pub(super) enum What {
    Uncut,
    Ragged { found: usize },
    Unclosed,
    NotUtf8 { column: usize, sample: Vec<u8> },
}

/// What a thread says of a block.
pub(super) struct Count {
    pub number: u32,
    pub rows: u64,
    pub lines: u64,
}

/// One thread's columns.
pub(super) struct Worker<'a> {
    layout: &'a Layout<'a>,
    missing: Spellings<'a>,
    pub columns: Vec<TextColumn>,
    records: Records,
    /// Of the blocks of this round.
    pub counts: Vec<Count>,
    pub fault: Option<(u32, Fault)>,
    /// Why a block could not be cut.
    pub failure: Option<Failure>,
    /// Room for a block.
    text: Vec<u8>,
}

impl<'a> Worker<'a> {
    pub fn new(layout: &'a Layout<'a>) -> Self {
        Self {
            layout,
            missing: Spellings::new(layout.missing),
            columns: layout.names.iter().map(|_| TextColumn::new()).collect(),
            records: Records::default(),
            counts: Vec::new(),
            fault: None,
            failure: None,
            text: Vec::new(),
        }
    }

    /// Takes the records of a block; how many bytes of it they are.
    pub fn take(&mut self, number: u32, text: &[u8], is_last: bool) -> Result<usize, Fault> {
        let width = self.layout.names.len();
        let mut scanner = Scanner::new(self.layout.marks, text, is_last);
        let mut rows = 0;
        loop {
            self.records.clear();
            let stop = scanner.scan(Some(width), BATCH.max(width), &mut self.records);
            let at = scanner.at();
            self.fill(number, text).map_err(|(row, column)| Fault {
                row: rows + row as u64,
                at: self.records.start(row),
                what: What::NotUtf8 {
                    column,
                    sample: around(text, self.records.start(row)),
                },
            })?;
            rows += self.records.len() as u64;
            match stop {
                Stop::Done if at < text.len() => {}
                Stop::Ragged { found } => {
                    let what = What::Ragged { found };
                    return Err(Fault { row: rows, at, what });
                }
                Stop::Incomplete { in_quotes } if is_last && in_quotes => {
                    let what = What::Unclosed;
                    return Err(Fault { row: rows, at, what });
                }
                Stop::Done | Stop::Incomplete { .. } => break,
            }
        }
        let at = scanner.at();
        self.counts.push(Count {
            number,
            rows,
            lines: count_lines(&text[..at]),
        });
        Ok(at)
    }

    /// Moves the records that were found into the columns; else the first row with a text that is not UTF-8, and its
    /// column.
    fn fill(&mut self, number: u32, text: &[u8]) -> Result<(), (usize, usize)> {
        let width = self.columns.len();
        if self.records.len() == 0 {
            return Ok(());
        }
        let mut bad = None;
        let records = &self.records;
        for (index, column) in self.columns.iter_mut().enumerate() {
            let cell = |row| {
                let (bytes, start, length) = records.field(text, row * width + index);
                Cell::at(bytes, start, length)
            };
            if column.push(number, records.len(), cell, self.missing).is_err() {
                bad = Some(NotUtf8);
            }
        }
        match bad {
            None => Ok(()),
            Some(NotUtf8) => Err(self.first_bad(text, width).unwrap_or_default()),
        }
    }

    fn first_bad(&self, text: &[u8], width: usize) -> Option<(usize, usize)> {
        let is_bad = |place: &usize| {
            let (bytes, start, length) = self.records.field(text, *place);
            std::str::from_utf8(Cell::at(bytes, start, length).text()).is_err()
        };
        let place = (0..self.records.len() * width).find(is_bad)?;
        Some((place / width, place % width))
    }

    /// Takes blocks until there are no more of this round, or one has a fault.
    pub fn work(mut self, cutter: &Mutex<&mut Cutter<'_, '_>>) -> Self {
        // What another thread left when it panicked is never looked at.
        let cutter = || cutter.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut self.text);
        loop {
            let cut = cutter().cut(&mut text);
            let Label { number, is_last } = match cut {
                Ok(Some(label)) => label,
                Ok(None) => break,
                Err(failure) => {
                    self.failure = Some(failure);
                    break;
                }
            };
            if let Some(fault) = self.fault_of(number, &text, is_last) {
                // Lines are counted now: the text goes.
                let lines = count_lines(&text[..fault.at]);
                let rows = fault.row;
                self.counts.push(Count { number, rows, lines });
                self.fault = Some((number, fault));
                break;
            }
        }
        if self.failure.is_some() || self.fault.is_some() {
            cutter().end_round();
        }
        self.text = text;
        self
    }

    /// Takes the records of a block, which must be all of it.
    fn fault_of(&mut self, number: u32, text: &[u8], is_last: bool) -> Option<Fault> {
        match self.take(number, text, is_last) {
            Ok(taken) if taken == text.len() => None,
            Ok(at) => Some(Fault {
                row: 0,
                at,
                what: What::Uncut,
            }),
            Err(Fault {
                row,
                at,
                what: What::Unclosed,
            }) => Some(Fault {
                row,
                at,
                what: What::Uncut,
            }),
            Err(fault) => Some(fault),
        }
    }
}

/// Some bytes around a place.
fn around(text: &[u8], at: usize) -> Vec<u8> {
    let half = 1 << 15;
    text[at.saturating_sub(half)..text.len().min(at + half)].to_vec()
}

/// The arrays of a round by column, made of what all threads have of them, by as many threads.
pub(super) fn join(workers: &mut [Worker<'_>], joints: &mut [Joint]) -> Vec<Vec<ArrayRef>> {
    let share = joints.len().div_ceil(workers.len().max(1)).max(1);
    let mut parts: Vec<_> = workers
        .iter_mut()
        .map(|worker| worker.columns.iter_mut())
        .collect();
    let mut columns: Vec<(&mut Joint, Vec<&mut TextColumn>)> = joints
        .iter_mut()
        .map(|joint| (joint, parts.iter_mut().filter_map(Iterator::next).collect()))
        .collect();
    let join_all = |columns: &mut [(&mut Joint, Vec<&mut TextColumn>)]| -> Vec<Vec<ArrayRef>> {
        columns
            .iter_mut()
            .map(|(joint, parts)| joint.join(std::mem::take(parts)))
            .collect()
    };
    std::thread::scope(|scope| {
        let mut shares = columns.chunks_mut(share);
        let own = shares.next();
        let others: Vec<_> = shares.map(|share| scope.spawn(|| join_all(share))).collect();
        let mut arrays = own.map(join_all).unwrap_or_default();
        for other in others {
            match other.join() {
                Ok(more) => arrays.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        arrays
    })
}
