//! A text file cut into blocks of whole records, which several threads turn into columns.
//!
//! Where a record ends is not known before all quotes in front of it were followed. The file is cut at line ends with
//! an even number of quotes before them, which is right for all but odd files, and every block is checked: the first
//! begins where a record begins, and a block that ends where a record ends proves the same for the next one. If one does
//! not, the file is read again by a single thread that cuts nothing.

mod cut;
mod worker;

use std::path::Path;
use std::sync::Mutex;
use std::thread::ScopedJoinHandle;

use arrow::array::ArrayRef;

use super::columns::Joint;
use super::scan::{Marks, count_lines};
use super::source::Source;
use crate::data::DataError;
use crate::num::progress::Progress;
use cut::{BLOCK, Cutter};
use worker::{What, Worker, join};

/// The longest record.
pub(super) const LONGEST: usize = 1 << 28;

/// What every block is read by.
pub(super) struct Layout<'a> {
    pub path: &'a Path,
    pub marks: Marks,
    pub names: &'a [String],
    pub missing: &'a [String],
    pub threads: usize,
    /// Bytes after which the rows that were read are handed on.
    pub round: usize,
}

/// Takes some ten thousand rows, an array for each column.
pub(super) type Sink<'a> = dyn FnMut(Vec<ArrayRef>) -> Result<(), DataError> + 'a;

/// Why a file could not be read.
pub(super) enum Failure {
    /// It was cut in the wrong place: read it uncut.
    Uncut,
    /// A text is not UTF-8; some bytes around it.
    NotUtf8 {
        error: DataError,
        sample: Vec<u8>,
    },
    Told(DataError),
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Told(error)
    }
}

/// Reads all records after the header, round by round; how many there are. `head` is what was read of the source already,
/// and `at` where it goes on.
pub(super) fn read(
    source: &mut Source<'_>,
    (head, at): (&[u8], usize),
    layout: &Layout<'_>,
    progress: &Progress,
    sink: &mut Sink<'_>,
) -> Result<u64, Failure> {
    let mut lines = count_lines(&head[..at]);
    let mut rows = 0;
    let mut cutter = Cutter::new(source, head[at..].to_vec(), layout, progress);
    let mut workers: Vec<_> = (0..layout.threads).map(|_| Worker::new(layout)).collect();
    let mut joints: Vec<_> = layout.names.iter().map(|_| Joint::new()).collect();
    while !cutter.is_at_end() {
        workers = read_round(&mut cutter, workers, layout, (rows, lines))?;
        for count in workers.iter_mut().flat_map(|worker| worker.counts.drain(..)) {
            rows += count.rows;
            lines += count.lines;
        }
        hand_on(&mut workers, &mut joints, sink)?;
    }
    Ok(rows)
}

/// Puts a round's columns together and hands them on.
fn hand_on(workers: &mut [Worker<'_>], joints: &mut [Joint], sink: &mut Sink<'_>) -> Result<(), DataError> {
    let mut columns: Vec<_> = join(workers, joints).into_iter().map(Vec::into_iter).collect();
    loop {
        let next: Vec<_> = columns.iter_mut().filter_map(Iterator::next).collect();
        if next.is_empty() {
            return Ok(());
        }
        sink(next)?;
    }
}

/// What the threads made of a round of blocks. So many rows and lines came before it.
///
/// Each thread reads its next block itself, while the others wait for their turn: what it reads is then near where it is
/// needed.
fn read_round<'a>(
    cutter: &mut Cutter<'_, '_>,
    workers: Vec<Worker<'a>>,
    layout: &'a Layout<'a>,
    before: (u64, u64),
) -> Result<Vec<Worker<'a>>, Failure> {
    cutter.begin_round();
    let cutter = Mutex::new(cutter);
    let joined: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = workers
            .into_iter()
            .map(|worker| scope.spawn(|| worker.work(&cutter)))
            .collect();
        workers.into_iter().map(ScopedJoinHandle::join).collect()
    });
    let mut done = Vec::with_capacity(joined.len());
    for worker in joined {
        match worker {
            Ok(worker) => done.push(worker),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    let first_fault = done
        .iter_mut()
        .filter_map(|worker| worker.fault.take())
        .min_by_key(|(number, _)| *number);
    // A place that was read wrong comes before what could not be read behind it.
    if let Some((number, fault)) = first_fault {
        let before_it = done
            .iter()
            .flat_map(|worker| &worker.counts)
            .filter(|count| count.number <= number);
        let (rows, lines) = before_it.fold(before, |(rows, lines), count| {
            (rows + count.rows, lines + count.lines)
        });
        return Err(told(layout, fault.what, rows, lines));
    }
    match done.iter_mut().find_map(|worker| worker.failure.take()) {
        Some(failure) => Err(failure),
        None => Ok(done),
    }
}

/// Reads all records after the header without cutting, in this thread; how many there are.
pub(super) fn read_uncut(
    source: &mut Source<'_>,
    (head, at): (&[u8], usize),
    layout: &Layout<'_>,
    progress: &Progress,
    sink: &mut Sink<'_>,
) -> Result<u64, Failure> {
    let mut lines = count_lines(&head[..at]);
    let mut text = head[at..].to_vec();
    let mut workers = [Worker::new(layout)];
    let mut joints: Vec<_> = layout.names.iter().map(|_| Joint::new()).collect();
    let mut wanted = BLOCK;
    let mut rows = 0;
    let mut since = 0;
    for number in 0.. {
        progress.check().map_err(DataError::from)?;
        while text.len() < wanted && !source.is_at_end() {
            source.read(&mut text)?;
        }
        let is_last = source.is_at_end();
        let taken = match workers[0].take(number, &text, is_last) {
            Ok(taken) => taken,
            Err(fault) => {
                let lines = lines + count_lines(&text[..fault.at]);
                return Err(told(layout, fault.what, rows + fault.row, lines));
            }
        };
        rows += workers[0].counts.drain(..).map(|count| count.rows).sum::<u64>();
        since += taken;
        if is_last || since >= layout.round {
            hand_on(&mut workers, &mut joints, sink)?;
            since = 0;
        }
        if is_last {
            break;
        }
        lines += count_lines(&text[..taken]);
        text.drain(..taken);
        if text.len() > LONGEST {
            return Err(Failure::Told(too_long(layout.path, lines + 1)));
        }
        // A record that does not fit is not looked at again before there is twice as much of it.
        wanted = (2 * text.len()).max(BLOCK);
    }
    Ok(rows)
}

pub(super) fn too_long(path: &Path, line: u64) -> DataError {
    DataError::RecordTooLong {
        path: path.to_owned(),
        line,
        most: LONGEST >> 20,
    }
}

/// The failure at the record after so many rows and lines.
fn told(layout: &Layout<'_>, what: What, rows: u64, lines: u64) -> Failure {
    let path = layout.path.to_owned();
    let (row, line) = (rows + 1, lines + 1);
    match what {
        What::Uncut => Failure::Uncut,
        What::Ragged { found } => Failure::Told(DataError::RaggedRow {
            path,
            row,
            line,
            found,
            expected: layout.names.len(),
            delimiter: char::from(layout.marks.delimiter),
        }),
        What::Unclosed => Failure::Told(DataError::UnclosedQuote { path, row, line }),
        What::NotUtf8 { column, sample } => Failure::NotUtf8 {
            error: DataError::NotUtf8 {
                path,
                place: crate::message!(
                    "place-cell",
                    "row {row} (line {line}), column `{column}`",
                    row = row,
                    line = line,
                    column = layout.names[column]
                ),
            },
            sample,
        },
    }
}
