//! What a profile warns of.

use std::fmt;

use serde::Serialize;

use super::IdentifierReason;
use crate::message;
use crate::num::Message;

/// Something that a person should look at before training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileWarning {
    /// The column, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub what: WarningKind,
    /// The same in words.
    pub message: Message,
}

impl fmt::Display for ProfileWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(formatter)
    }
}

/// What a [`ProfileWarning`] is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum WarningKind {
    /// The column likely tells persons apart; it is proposed for dropping.
    LikelyIdentifier {
        /// What speaks for it.
        reason: IdentifierReason,
    },
    /// The column is free text; it is dropped.
    FreeText,
    /// The column has too many values to be a category; it is dropped.
    ManyValues {
        /// How many.
        distinct: u64,
    },
    /// No cell has a value.
    AllMissing,
    /// Every cell has the same value.
    Constant,
    /// More than half of the cells are missing.
    MostlyMissing {
        /// Missing cells in per cent.
        percent: u8,
    },
    /// Infinite numbers, which no bounds hold.
    Infinite {
        /// How many cells.
        count: u64,
    },
    /// Dates and times of typed files that no calendar or clock has.
    BeyondCalendar {
        /// How many cells.
        count: u64,
    },
    /// A schema cannot hold bounds around the values.
    NoBounds,
    /// Dates that read as day first and as month first.
    AmbiguousDate {
        /// A value.
        example: String,
        /// How it is read.
        first: String,
        /// How it could be meant as well.
        second: String,
    },
    /// Numbers whose mark may be a decimal one or stand between thousands.
    AmbiguousNumber {
        /// A value.
        example: String,
        /// How it is read.
        first: String,
        /// How it could be meant as well.
        second: String,
    },
    /// The first line of the file may be a row.
    HeaderLooksLikeData,
    /// The file has more tables than the one that was opened.
    SeveralParts {
        /// The one that was opened.
        chosen: String,
        /// The others.
        others: String,
    },
    /// Too few rows for private learning.
    FewRows {
        /// How many.
        rows: u64,
    },
}

impl WarningKind {
    /// Whether cells will be taken for something else than they say, whatever schema is used.
    pub const fn is_loss(&self) -> bool {
        matches!(self, Self::Infinite { .. } | Self::BeyondCalendar { .. })
    }

    /// Whether it tells why a column is dropped: nothing that is still so once the column has another kind.
    pub const fn is_of_dropping(&self) -> bool {
        matches!(
            self,
            Self::LikelyIdentifier { .. } | Self::FreeText | Self::ManyValues { .. } | Self::AllMissing
        )
    }

    /// The warning in words.
    pub fn message(&self) -> Message {
        match self {
            Self::LikelyIdentifier { reason } => message!(
                "profile-identifier",
                "likely an identifier ({reason}): proposed for dropping; give it another kind to keep it",
                reason = reason
            ),
            Self::FreeText => message!(
                "profile-free-text",
                "free text: dropped, since it cannot be synthesised here"
            ),
            Self::ManyValues { distinct } => message!(
                "profile-many-values",
                "{count} different values: too many for a category, so it is taken as text and dropped",
                count = distinct
            ),
            Self::AllMissing => message!("profile-all-missing", "no cell has a value: dropped"),
            Self::Constant => message!("profile-constant", "every cell has the same value"),
            Self::MostlyMissing { percent } => {
                message!(
                    "profile-mostly-missing",
                    "{percent} % of the cells are missing",
                    percent = percent
                )
            }
            Self::Infinite { count } => message!(
                "profile-infinite",
                "infinite cells: {count}; each is taken as the nearer bound, so if they stand for missing ones, make them \
                 missing in the file",
                count = count
            ),
            Self::BeyondCalendar { count } => message!(
                "profile-beyond-calendar",
                "cells beyond the calendar (the years 0000 to 9999, the hours of a day): {count}; each is taken as the \
                 nearer bound",
                count = count
            ),
            Self::NoBounds => message!(
                "profile-no-bounds",
                "no bounds are suggested: the values lie too far apart, or beyond what numbers here can hold; give \
                 plausible ones"
            ),
            Self::AmbiguousDate {
                example,
                first,
                second,
            } => message!(
                "profile-ambiguous-date",
                "day first or month first: {example} is read as {first} and could be {second}; check the column's format",
                example = example,
                first = first,
                second = second
            ),
            Self::AmbiguousNumber {
                example,
                first,
                second,
            } => message!(
                "profile-ambiguous-number",
                "decimals or thousands: {example} is read as {first} and could be {second}; check the column's format",
                example = example,
                first = first,
                second = second
            ),
            Self::HeaderLooksLikeData => message!(
                "profile-header",
                "the first line looks like a row of data; a file needs a header line with column names"
            ),
            Self::SeveralParts { chosen, others } => message!(
                "profile-several-parts",
                "the file has more than one table: {chosen} was opened, there are also {others}",
                chosen = chosen,
                others = others
            ),
            Self::FewRows { rows } => message!(
                "profile-few-rows",
                "{rows} rows are few: at any strict ε the synthetic data will be far from the real",
                rows = rows
            ),
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl ProfileWarning {
    pub(super) fn new(column: Option<&str>, what: WarningKind) -> Self {
        let message = match column {
            Some(column) => {
                message!(
                    "in-column",
                    "column `{column}`: {message}",
                    column = column,
                    message = what.message()
                )
            }
            None => what.message(),
        };
        Self {
            column: column.map(str::to_owned),
            what,
            message,
        }
    }
}
