//! What a person chose on the page: one plain value, so that it can be kept, compared and undone.

use crate::data::Kind;
use crate::engine::snapshot::Dataset;
use crate::privacy::Neighboring;
use crate::release::outlook::{Mechanism, Outlook, Question};
use crate::release::{Noise, Query, ReleaseRequest};

/// Which picture the page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picture {
    /// Error over ε.
    #[default]
    Utility,
    /// The noise's density with the answer.
    Noise,
    /// A histogram beside its noisy self.
    Histogram,
    /// Error over the number of rows.
    Rows,
    /// The total of several questions.
    Several,
    /// Training runs over their ε.
    Runs,
    /// What was released.
    Released,
}

impl Picture {
    /// All of them, as the tabs list them.
    pub const ALL: [Self; 7] = [
        Self::Utility,
        Self::Noise,
        Self::Histogram,
        Self::Rows,
        Self::Several,
        Self::Runs,
        Self::Released,
    ];

    /// The key of the tab's text.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Utility => "picture-utility",
            Self::Noise => "picture-noise",
            Self::Histogram => "picture-histogram",
            Self::Rows => "picture-rows",
            Self::Several => "picture-several",
            Self::Runs => "picture-runs",
            Self::Released => "picture-released",
        }
    }
}

/// What the utility picture measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// E|error|.
    Expected,
    /// √E[error²].
    RootMeanSquare,
    /// P(|error| ≤ a).
    Within,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Expected, Self::RootMeanSquare, Self::Within];

    /// The key of its name.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Expected => "measure-expected",
            Self::RootMeanSquare => "measure-rms",
            Self::Within => "measure-within",
        }
    }
}

/// Everything that a person can choose on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct ExploreSettings {
    /// The statistic.
    pub query: Query,
    /// Its column; a count may do without.
    pub column: Option<String>,
    /// The column that groups.
    pub by: Option<String>,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// ε.
    pub epsilon: f64,
    /// δ, where the mechanism needs one.
    pub delta: f64,
    /// The relation of the promise.
    pub neighboring: Neighboring,
    /// Whether the intervals of several values hold all at once.
    pub simultaneous: bool,
    /// Which of several values the pictures are about.
    pub cell: usize,
    /// The picture.
    pub picture: Picture,
    /// What the utility picture measures.
    pub measure: Measure,
    /// a of "within ±a", as a person typed it.
    pub tolerance: f64,
    /// How many questions alike.
    pub questions: f64,
    /// Whether each of them is about a disjoint part of the rows.
    pub parallel: bool,
}

impl Default for ExploreSettings {
    fn default() -> Self {
        Self {
            query: Query::Mean,
            column: None,
            by: None,
            mechanism: Mechanism::DiscreteLaplace,
            epsilon: 0.1,
            delta: 1e-6,
            neighboring: Neighboring::AddRemoveOne,
            simultaneous: false,
            cell: 0,
            picture: Picture::Utility,
            measure: Measure::Expected,
            tolerance: 1.0,
            questions: 20.0,
            parallel: false,
        }
    }
}

impl ExploreSettings {
    /// The question, without its price.
    pub fn question(&self) -> Question {
        Question {
            query: self.query,
            column: self.column.clone(),
            by: self.by.clone(),
            neighboring: self.neighboring,
        }
    }

    /// A first question that the table can answer: the mean of its first column of numbers, or its rows' count.
    pub fn begin(&mut self, dataset: &Dataset) {
        let numeric = dataset
            .schema
            .used_columns()
            .map(|(_, column)| column)
            .find(|column| {
                matches!(column.kind, Kind::Integer | Kind::Continuous) && column.open_reason().is_none()
            });
        *self = Self {
            query: if numeric.is_some() {
                Query::Mean
            } else {
                Query::Count
            },
            column: numeric.map(|column| column.name.clone()),
            by: None,
            cell: 0,
            ..self.clone()
        };
    }

    /// Whether it is persons who are counted: their rows may lie in several groups, so there are none.
    pub fn counts_persons(&self, dataset: &Dataset) -> bool {
        let unit = dataset.schema.unit.as_ref();
        self.query == Query::Count && unit.is_some_and(|unit| Some(&unit.column) == self.column.as_ref())
    }

    /// Columns that the open table does not have are forgotten, and what the question does not need.
    pub fn keep_to(&mut self, dataset: &Dataset) {
        let known = |name: &Option<String>| {
            name.as_ref()
                .and_then(|name| dataset.schema.find(name))
                .is_some_and(crate::data::Column::is_used)
        };
        let counts_persons = self.counts_persons(dataset);
        if !known(&self.column) && !counts_persons {
            self.column = None;
        }
        if !known(&self.by) || !self.query.can_group() || counts_persons || self.by == self.column {
            self.by = None;
        }
        if self.column.is_none() && !self.query.column_is_optional() {
            self.column = dataset
                .schema
                .used_columns()
                .next()
                .map(|(_, column)| column.name.clone());
        }
        // What is typed may be anything; NaN never gets here.
        self.questions = self.questions.round().clamp(1.0, 1000.0);
    }

    /// The mechanisms that are offered, and the chosen one among them.
    pub fn fit(&mut self, outlook: Option<&Outlook>) -> Vec<Mechanism> {
        let mut offered: Vec<Mechanism> =
            outlook.map_or_else(Vec::new, |outlook| outlook.mechanisms().collect());
        if offered.is_empty() {
            let known = self.query.mechanisms();
            let fits =
                |mechanism: &Mechanism| mechanism.released().is_some_and(|noise| known.contains(&noise));
            offered = Mechanism::ALL.into_iter().filter(fits).collect();
        }
        if !offered.contains(&self.mechanism) {
            self.mechanism = offered.first().copied().unwrap_or(Mechanism::DiscreteLaplace);
        }
        offered
    }

    /// Whether the price has a δ in it.
    pub fn needs_delta(&self) -> bool {
        self.query == Query::Categories || self.mechanism.needs_delta()
    }

    /// What would be released. Mechanisms that only compare stand for the question's default.
    pub fn request(&self) -> ReleaseRequest {
        let mechanism = self
            .mechanism
            .released()
            .filter(|noise| *noise != Noise::Exponential);
        ReleaseRequest {
            by: self.by.clone(),
            delta: if self.needs_delta() { self.delta } else { 0.0 },
            mechanism: mechanism.filter(|noise| self.query.mechanisms().contains(noise)),
            neighboring: self.neighboring,
            simultaneous: self.simultaneous,
            ..ReleaseRequest::new(self.query, self.column.as_deref(), self.epsilon)
        }
    }
}
