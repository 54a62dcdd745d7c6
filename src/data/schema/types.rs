//! The plain types of a schema, as they stand in its TOML file.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bound::Bound;
use super::edit::Typed;
use super::rule::Rule;
use crate::data::read::FileForm;

/// The version of the schema file that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// What is publicly known about a table: one entry per column, in the table's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The file format's version, [`SCHEMA_VERSION`].
    pub version: u32,
    /// Spellings that are read as missing. The first one is written for a missing cell.
    #[serde(default = "default_missing")]
    pub missing: Vec<String>,
    /// Teaching data: spends are recorded, without a cap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
    /// The declared class column, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The number of rows, when it is known to the public. Absent: private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowCount>,
    /// Whom one unit of privacy protects. Absent: one row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// How the file is read, where that is not as usual. Absent: found in the file each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<FileForm>,
    /// What holds in every row, by public knowledge: enforced in what is generated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<Rule>,
    /// The columns, in the table's order.
    #[serde(default)]
    pub column: Vec<Column>,
}

fn default_missing() -> Vec<String> {
    vec![String::new()]
}

/// How many rows the table has, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowCount {
    /// The number of rows.
    pub value: u64,
    /// Where the number comes from.
    pub provenance: Provenance,
}

/// A person (or another unit) who owns several rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// The column that tells units apart.
    pub column: String,
    /// The most rows that one unit may contribute.
    pub max_rows: u32,
    /// The number of units, when it is known to the public. Absent: private.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persons: Option<RowCount>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Real numbers between public bounds.
    Continuous,
    /// Whole numbers between public bounds.
    Integer,
    /// One value of a public list.
    Categorical,
    /// One of two values.
    Boolean,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day with a time.
    Datetime,
    /// Free text; dropped.
    Text,
    /// Tells persons apart; dropped.
    Identifier,
}

impl Kind {
    /// All kinds, in the order in which a form offers them.
    pub const ALL: [Self; 9] = [
        Self::Continuous,
        Self::Integer,
        Self::Categorical,
        Self::Boolean,
        Self::Date,
        Self::Time,
        Self::Datetime,
        Self::Text,
        Self::Identifier,
    ];

    /// Whether the column takes part; identifiers and text are dropped.
    pub const fn is_used(self) -> bool {
        !matches!(self, Self::Text | Self::Identifier)
    }

    /// Whether the column is a number, a date or a time: something with bounds.
    pub const fn is_numeric(self) -> bool {
        matches!(
            self,
            Self::Continuous | Self::Integer | Self::Date | Self::Time | Self::Datetime
        )
    }

    /// Whether the bounds are dates or times (quoted in the file), not numbers.
    pub const fn is_temporal(self) -> bool {
        matches!(self, Self::Date | Self::Time | Self::Datetime)
    }

    /// The word in the schema file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continuous => "continuous",
            Self::Integer => "integer",
            Self::Categorical => "categorical",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Time => "time",
            Self::Datetime => "datetime",
            Self::Text => "text",
            Self::Identifier => "identifier",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where the knowledge about a column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Public knowledge, typed by a person or taken from a public file.
    Declared,
    /// Bought with privacy budget.
    Bought,
    /// Read off private rows; training refuses it.
    Suggested,
    /// A suggestion that a person let stand: allowed, and listed as not protected.
    Accepted,
}

impl Provenance {
    /// The word in the schema file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Bought => "bought",
            Self::Suggested => "suggested",
            Self::Accepted => "accepted",
        }
    }

    /// Whether what it vouches for is covered by the privacy guarantee.
    pub const fn is_protected(self) -> bool {
        matches!(self, Self::Declared | Self::Bought)
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the range of a numeric column is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By orders of magnitude: log(1 + x) from a lower bound of 0, log x from a positive one.
    Log,
}

impl Scale {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn is_linear(&self) -> bool {
        *self == Self::Linear
    }
}

/// One column of a [`Schema`].
///
/// Made by [`Column::new`]; the fields may be read and set, the rules of provenance are kept by the methods
/// ([`Column::accept_suggestion`], [`Column::declare_bounds`], [`Column::type_lower`], …).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name, as in the table's header.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The lower end of the public range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<Bound>,
    /// The upper end of the public range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<Bound>,
    /// How the range is divided.
    #[serde(default, skip_serializing_if = "Scale::is_linear")]
    pub scale: Scale,
    /// Digits after the point, for continuous columns: values are multiples of 10^−decimals. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u8>,
    /// How a date or time is spelled in text, in the terms of strftime (`%d.%m.%Y`; absent: ISO 8601), or a number, as
    /// 1234.5 would look (`1.234,5 €`; absent: as programs do).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Declared edges of the bins of a number, rising, from the lower to the upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<Vec<f64>>,
    /// The values of a categorical column; of a boolean one the spellings of false and true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Vec<String>>,
    /// Whether cells may be missing.
    #[serde(default)]
    pub missing: bool,
    /// Where all of this comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Which parts a person has typed since the suggestion; not stored.
    #[serde(skip)]
    pub(super) typed: Typed,
}

impl PartialEq for Column {
    /// Equal when they would be saved alike.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.lower == other.lower
            && self.upper == other.upper
            && self.scale == other.scale
            && self.decimals == other.decimals
            && self.format == other.format
            && self.bins == other.bins
            && self.domain == other.domain
            && self.missing == other.missing
            && self.provenance == other.provenance
    }
}

impl Column {
    /// A column of which only name and kind are known.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            lower: None,
            upper: None,
            scale: Scale::Linear,
            decimals: None,
            format: None,
            bins: None,
            domain: None,
            missing: false,
            provenance: None,
            typed: Typed::default(),
        }
    }

    /// Whether the column takes part; identifiers and text are dropped.
    pub const fn is_used(&self) -> bool {
        self.kind.is_used()
    }

    /// Why training may not use the column yet, if so.
    pub fn open_reason(&self) -> Option<OpenReason> {
        if !self.is_used() {
            return None;
        }
        if self.kind == Kind::Categorical && self.domain.as_ref().is_none_or(Vec::is_empty) {
            return Some(OpenReason::NoDomain);
        }
        let has_edges = self.bins.as_ref().is_some_and(|edges| edges.len() >= 2);
        if self.kind.is_numeric() && !has_edges && (self.lower.is_none() || self.upper.is_none()) {
            return Some(OpenReason::NoBounds);
        }
        match self.provenance {
            Some(Provenance::Suggested) => Some(OpenReason::Suggested),
            // The two values of a boolean are known without looking.
            None if self.kind == Kind::Boolean => None,
            None => Some(OpenReason::NoProvenance),
            Some(_) => None,
        }
    }

    /// The spellings of false and true.
    pub fn boolean_spellings(&self) -> (&str, &str) {
        match self.domain.as_deref() {
            Some([no, yes]) => (no, yes),
            _ => ("false", "true"),
        }
    }
}

/// A used column that a person has to decide on before training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenColumn {
    /// The column.
    pub name: String,
    /// What is open.
    pub why: OpenReason,
}

/// Why a column is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenReason {
    /// Its bounds or values were read off private rows and nobody has looked at them.
    Suggested,
    /// It has no public bounds.
    NoBounds,
    /// It has no list of public values.
    NoDomain,
    /// It does not say where its bounds or values come from.
    NoProvenance,
    /// Not a column: how the file is read was found in the file and nobody has looked at it.
    FoundForm,
}

impl fmt::Display for OpenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Suggested => {
                "its bounds or values were read off the rows: declare public ones, or accept them"
            }
            Self::NoBounds => "it has no public bounds: give lower and upper",
            Self::NoDomain => "it has no list of public values: give a domain",
            Self::NoProvenance => "it does not say where its bounds or values come from: give a provenance",
            Self::FoundForm => {
                "how the file is read was found in the file: declare it, or accept it (`[read]` in the schema)"
            }
        })
    }
}

impl Schema {
    /// A schema of the given columns and nothing else said.
    pub fn new(column: Vec<Column>) -> Self {
        Self {
            version: SCHEMA_VERSION,
            missing: default_missing(),
            public: false,
            label: None,
            rows: None,
            unit: None,
            read: None,
            rule: Vec::new(),
            column,
        }
    }

    /// The columns that take part, each with its index in [`Schema::column`]: all but identifiers, text, and the column
    /// that tells units of privacy apart, whatever its kind.
    pub fn used_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.column
            .iter()
            .enumerate()
            .filter(|(_, column)| self.uses(column))
    }

    /// The columns that are dropped: all that take no part.
    pub fn dropped_columns(&self) -> impl Iterator<Item = &Column> {
        self.column.iter().filter(|column| !self.uses(column))
    }

    /// Whether a column takes part.
    pub fn uses(&self, column: &Column) -> bool {
        let tells_units_apart = self.unit.as_ref().is_some_and(|unit| unit.column == column.name);
        column.is_used() && !tells_units_apart
    }

    /// How many units of privacy there are known to be: rows, or persons where they are the unit. Absent: private.
    pub fn known_units(&self) -> Option<RowCount> {
        match &self.unit {
            Some(unit) => unit.persons,
            None => self.rows,
        }
    }

    /// The most rows of one unit of privacy.
    pub fn max_rows(&self) -> u32 {
        self.unit.as_ref().map_or(1, |unit| unit.max_rows)
    }

    /// Used columns that nobody has decided on, and the way in which the file is read (under the name of its key,
    /// `read`). Training refuses to start while there are any.
    pub fn open_columns(&self) -> Vec<OpenColumn> {
        let form = self
            .read_provenance()
            .filter(|from| *from == Provenance::Suggested);
        let form = form.map(|_| OpenColumn {
            name: "read".to_owned(),
            why: OpenReason::FoundForm,
        });
        let columns = self.used_columns().filter_map(|(_, column)| {
            Some(OpenColumn {
                name: column.name.clone(),
                why: column.open_reason()?,
            })
        });
        form.into_iter().chain(columns).collect()
    }

    /// Where it is known from how the file is read, if that is not as usual. What nobody vouches for is suggested.
    pub fn read_provenance(&self) -> Option<Provenance> {
        let form = self.read.as_ref().filter(|form| !form.is_empty())?;
        Some(form.provenance.unwrap_or(Provenance::Suggested))
    }

    /// Lets every open suggestion stand, each listed as not protected.
    pub fn accept_suggestions(&mut self) {
        self.accept_form();
        for column in &mut self.column {
            column.accept_suggestion();
        }
    }

    /// Lets the way in which the file is read stand as it was found.
    pub fn accept_form(&mut self) {
        if self.read_provenance() == Some(Provenance::Suggested)
            && let Some(form) = &mut self.read
        {
            form.provenance = Some(Provenance::Accepted);
        }
    }

    /// Used columns whose bounds or values come from private rows with a person's consent: not protected.
    pub fn unprotected_columns(&self) -> impl Iterator<Item = &Column> {
        self.column.iter().filter(|column| {
            self.uses(column)
                && column
                    .provenance
                    .is_some_and(|provenance| !provenance.is_protected())
        })
    }

    /// The column of that name.
    pub fn find(&self, name: &str) -> Option<&Column> {
        self.column.iter().find(|column| column.name == name)
    }

    /// The column of that name, to edit.
    pub fn find_mut(&mut self, name: &str) -> Option<&mut Column> {
        self.column.iter_mut().find(|column| column.name == name)
    }

    /// Where the column of that name stands.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.column.iter().position(|column| column.name == name)
    }

    /// The spelling that is written for a missing cell.
    pub fn missing_spelling(&self) -> &str {
        self.missing.first().map_or("", String::as_str)
    }

    /// Whether that text is read as missing.
    pub fn is_missing(&self, text: &str) -> bool {
        text.is_empty() || self.missing.iter().any(|spelling| spelling == text)
    }
}
