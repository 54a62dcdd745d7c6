//! A text file cut into blocks of whole records, which several threads turn into columns.
//!
//! Where a record ends is not known before all quotes in front of it were followed. The file is cut at line ends with
//! an even number of quotes before them, which is right for all but odd files, and every block is checked: the first
//! begins where a record begins, and a block that ends where a record ends proves the same for the next one. If one does
//! not, the file is read again by a single thread that cuts nothing.

mod cut;

use std::path::Path;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::columns::{Cell, NotUtf8, TextColumn};
use super::scan::{Marks, Records, Stop, count_lines};
use super::source::Source;
use crate::data::DataError;
use crate::data::value::trimmed;
use crate::num::progress::Progress;
use cut::{BLOCK, Cutter};

/// The longest record.
pub(super) const LONGEST: usize = 1 << 28;
/// Fields that are found before their columns are filled.
const BATCH: usize = 1 << 14;

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

/// Takes the columns of a round, in parts of as many threads.
pub(super) type Sink<'a> = dyn FnMut(Vec<Vec<TextColumn>>) -> Result<(), DataError> + 'a;

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

struct Block {
    number: u32,
    text: Vec<u8>,
    is_last: bool,
}

/// What is wrong with a block.
struct Fault {
    /// The row within the block, from 0.
    row: u64,
    /// Where in the block.
    at: usize,
    what: What,
}

enum What {
    Uncut,
    Ragged { found: usize },
    Unclosed,
    NotUtf8 { column: usize, sample: Vec<u8> },
}

/// What a thread says of a block.
struct Count {
    number: u32,
    rows: u64,
    lines: u64,
}

/// One thread's columns.
struct Worker<'a> {
    layout: &'a Layout<'a>,
    columns: Vec<TextColumn>,
    records: Records,
    counts: Vec<Count>,
    /// Bit n: a spelling of missing has n bytes.
    missing_lengths: u64,
    fault: Option<(u32, Fault)>,
}

impl<'a> Worker<'a> {
    fn new(layout: &'a Layout<'a>) -> Self {
        let short = layout
            .missing
            .iter()
            .map(String::len)
            .filter(|length| *length < 64);
        Self {
            layout,
            columns: layout.names.iter().map(|_| TextColumn::new()).collect(),
            records: Records::default(),
            counts: Vec::new(),
            missing_lengths: short.fold(0, |bits, length| bits | 1 << length),
            fault: None,
        }
    }

    /// Takes the records of a block; how many bytes of it they are.
    fn take(&mut self, number: u32, text: &[u8], is_last: bool) -> Result<usize, Fault> {
        let width = self.layout.names.len();
        let mut rows = 0;
        let mut at = 0;
        loop {
            self.records.clear();
            let stop = self.layout.marks.scan(
                text,
                &mut at,
                Some(width),
                BATCH.max(width),
                is_last,
                &mut self.records,
            );
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
        for (index, column) in self.columns.iter_mut().enumerate() {
            let cells = self.records.column(text, index, width).map(|(bytes, length)| {
                let cell = match trimmed(&bytes[..length]) {
                    same if same.len() == length => Cell::at(bytes, length),
                    shorter => Cell::of(shorter),
                };
                let text = cell.text();
                let is_missing = text.is_empty()
                    || (text.len() > 63 || self.missing_lengths >> text.len() & 1 == 1)
                        && self
                            .layout
                            .missing
                            .iter()
                            .any(|spelling| spelling.as_bytes() == text);
                (!is_missing).then_some(cell)
            });
            if column.push(number, cells).is_err() {
                bad = Some(NotUtf8);
            }
        }
        match bad {
            None => Ok(()),
            Some(NotUtf8) => Err(self.first_bad(text, width).unwrap_or_default()),
        }
    }

    fn first_bad(&self, text: &[u8], width: usize) -> Option<(usize, usize)> {
        let of_column = |column| {
            let mut fields = self.records.column(text, column, width);
            let row = fields.position(|(bytes, length)| std::str::from_utf8(&bytes[..length]).is_err())?;
            Some((row, column))
        };
        (0..width).filter_map(of_column).min()
    }

    fn work(mut self, blocks: &Receiver<Block>, empty: &Sender<Vec<u8>>) -> Self {
        for Block {
            number,
            text,
            is_last,
        } in blocks
        {
            let fault = match self.take(number, &text, is_last) {
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
            };
            if let Some(fault) = fault {
                // Lines are counted now: the text goes.
                let lines = count_lines(&text[..fault.at]);
                let rows = fault.row;
                self.counts.push(Count { number, rows, lines });
                self.fault = Some((number, fault));
                return self;
            }
            // Whoever cuts blocks may have gone.
            let _ = empty.try_send(text);
        }
        self
    }
}

/// Some bytes around a place.
fn around(text: &[u8], at: usize) -> Vec<u8> {
    let half = 1 << 15;
    text[at.saturating_sub(half)..text.len().min(at + half)].to_vec()
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
    let mut cutter = Cutter::new(head[at..].to_vec());
    while !cutter.is_at_end {
        let workers = read_round(source, &mut cutter, layout, progress, (rows, lines))?;
        let counts = workers.iter().flat_map(|worker| &worker.counts);
        for count in counts {
            rows += count.rows;
            lines += count.lines;
        }
        sink(workers.into_iter().map(|worker| worker.columns).collect())?;
    }
    Ok(rows)
}

/// What the threads made of a round of blocks. So many rows and lines came before it.
fn read_round<'a>(
    source: &mut Source<'_>,
    cutter: &mut Cutter,
    layout: &'a Layout<'a>,
    progress: &Progress,
    before: (u64, u64),
) -> Result<Vec<Worker<'a>>, Failure> {
    let threads = layout.threads;
    let (blocks, taken) = bounded::<Block>(threads + 1);
    let (returned, empty) = bounded::<Vec<u8>>(2 * threads + 2);
    let (cut, workers) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (taken, returned) = (taken.clone(), returned.clone());
                scope.spawn(move || Worker::new(layout).work(&taken, &returned))
            })
            .collect();
        // If all of them stop, so do we.
        drop((taken, returned));
        let cut = cutter.cut_round(source, layout, &blocks, &empty, progress);
        drop(blocks);
        let workers: Vec<_> = workers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        (cut, workers)
    });
    let mut done = Vec::with_capacity(threads);
    for worker in workers {
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
    cut?;
    Ok(done)
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
    let mut worker = Worker::new(layout);
    let mut wanted = BLOCK;
    let mut rows = 0;
    let mut since = 0;
    for number in 0.. {
        progress.check().map_err(DataError::from)?;
        while text.len() < wanted && !source.is_at_end() {
            source.read(&mut text)?;
        }
        let is_last = source.is_at_end();
        let taken = match worker.take(number, &text, is_last) {
            Ok(taken) => taken,
            Err(fault) => {
                let lines = lines + count_lines(&text[..fault.at]);
                return Err(told(layout, fault.what, rows + fault.row, lines));
            }
        };
        rows += worker.counts.drain(..).map(|count| count.rows).sum::<u64>();
        since += taken;
        if is_last || since >= layout.round {
            let full = std::mem::replace(&mut worker, Worker::new(layout));
            sink(vec![full.columns])?;
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
