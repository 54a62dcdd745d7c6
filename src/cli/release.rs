//! `release`: a private statistic, charged to the ledger; or bounds, values or the number of rows or persons, bought for the schema.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value as Json, json};

use crate::cli::drive::Driver;
use crate::cli::form::FormArgs;
use crate::cli::output::{CliError, print_json, print_line, warn};
use crate::cli::values::{Relation, parse_delta, parse_epsilon};
use crate::cli::version::VersionArgs;
use crate::data::Schema;
use crate::data::image::holds_images;
use crate::engine::{Command, EngineEvent, ReleaseOrder, Released, SchemaSource};
use crate::privacy::Neighboring;
use crate::release::{Cell, Interval, Label, Noise, Purchase, Query, ReleaseRequest, Value};

/// Arguments of `release`.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// The table: CSV (also packed by gzip or zstd), Parquet, Arrow, an SQLite database, or a workbook (.xlsx).
    input: PathBuf,
    /// The schema; without it, INPUT.schema.toml beside the data. What is bought is written into it.
    #[arg(long)]
    schema: Option<PathBuf>,
    /// The statistic; `bounds` and `categories` (and `count` without a column, or of the person column) buy what the schema needs.
    #[arg(long, value_enum)]
    query: QueryName,
    /// The column. A count without one buys the row count, one of the person column the number of persons.
    #[arg(long)]
    column: Option<String>,
    /// The statistic of each value of this column, which needs a public domain.
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Which quantile: the share of values below it.
    #[arg(long, value_name = "SHARE")]
    quantile: Option<f64>,
    /// Equal bins of a histogram of numbers.
    #[arg(long, value_name = "N")]
    bins: Option<usize>,
    /// ε in nats, of all that is released together.
    #[arg(long, value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: f64,
    /// δ, for the Gaussian mechanism and for categories.
    #[arg(long, value_parser = parse_delta, allow_negative_numbers = true)]
    delta: Option<f64>,
    /// The mechanism; without it, the query's own.
    #[arg(long, value_enum)]
    mechanism: Option<Mechanism>,
    /// What neighbouring data sets differ by.
    #[arg(long, value_enum, default_value = "add-remove")]
    relation: Relation,
    /// Intervals that hold all at once, not each by itself.
    #[arg(long)]
    simultaneous: bool,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    version: VersionArgs,
    /// A fixed seed, for teaching and tests: marks the result "not private".
    #[arg(long)]
    seed: Option<u64>,
    /// Prints one JSON object and nothing else.
    #[arg(long)]
    json: bool,
}

/// The statistic as the command line spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum QueryName {
    /// Rows; of a column, those with a value.
    Count,
    /// The sum of the values.
    Sum,
    /// Their mean.
    Mean,
    /// Their variance.
    Variance,
    /// Rows with each value, or in each bin.
    Histogram,
    /// A quantile; the median unless --quantile says otherwise.
    Quantile,
    /// The most frequent value.
    Mode,
    /// Bounds for the schema.
    Bounds,
    /// The values of a categorical column for the schema; needs --delta.
    Categories,
}

/// The mechanism as the command line spells it.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mechanism {
    /// Discrete Laplace noise.
    Laplace,
    /// Discrete Gaussian noise; needs --delta.
    Gaussian,
    /// A choice by the exponential mechanism.
    Exponential,
}

impl From<Mechanism> for Noise {
    fn from(mechanism: Mechanism) -> Self {
        match mechanism {
            Mechanism::Laplace => Self::Laplace,
            Mechanism::Gaussian => Self::Gaussian,
            Mechanism::Exponential => Self::Exponential,
        }
    }
}

/// Releases.
///
/// # Errors
/// When the arguments contradict each other, the table or its schema cannot be used, the budget does not allow
/// it, or the release fails.
pub fn run(args: &ReleaseArgs) -> Result<(), CliError> {
    let order = ReleaseOrder {
        request: request(args)?,
        seed: args.seed,
    };
    let source = match &args.schema {
        Some(path) => SchemaSource::File(path.clone()),
        // Images need none: their classes are declared where they are read.
        None if Schema::find_beside(&args.input).is_some() || holds_images(&args.input) => {
            SchemaSource::Beside
        }
        None => {
            return Err(CliError::Failure {
                message: format!(
                    "{}: there is no schema beside it; make one to review with `pointillist profile {} --out {}`, or name one with --schema",
                    args.input.display(),
                    args.input.display(),
                    Schema::path_beside(&args.input).display(),
                ),
                causes: Vec::new(),
            });
        }
    };
    let driver = Driver::start()?;
    driver.open(args.input.clone(), &args.form, source)?;
    args.version.settle(&driver)?;
    driver.warn_without_total();
    driver.engine.send(Command::Release(Box::new(order)));
    let released = driver.wait(|_, event| match event {
        Some(EngineEvent::Released(released)) => Some(Ok(released)),
        Some(EngineEvent::ReleaseFailed(problem)) => Some(Err(problem.into())),
        _ => None,
    })?;
    report(args, &driver, &released).map_err(|error| charged_all_the_same(error, &released))
}

/// An answer that nobody could be shown is paid for.
fn charged_all_the_same(error: CliError, released: &Released) -> CliError {
    match error {
        CliError::Failure { message, causes } => CliError::Failure {
            message: format!(
                "{message}; the answer is lost and stays charged (entry {} of the ledger, ε = {})",
                released.ledger_entry, released.epsilon
            ),
            causes,
        },
        usage @ CliError::Usage(_) => usage,
    }
}

fn request(args: &ReleaseArgs) -> Result<ReleaseRequest, CliError> {
    let only = |flag: &str, query: &str| Err(CliError::Usage(format!("{flag} goes with --query {query}")));
    if args.quantile.is_some() && args.query != QueryName::Quantile {
        return only("--quantile", "quantile");
    }
    if args.bins.is_some() && args.query != QueryName::Histogram {
        return only("--bins", "histogram");
    }
    let request = ReleaseRequest {
        query: match args.query {
            QueryName::Count => Query::Count,
            QueryName::Sum => Query::Sum,
            QueryName::Mean => Query::Mean,
            QueryName::Variance => Query::Variance,
            QueryName::Histogram => Query::Histogram { bins: args.bins },
            QueryName::Quantile => Query::Quantile {
                share: args.quantile.unwrap_or(0.5),
            },
            QueryName::Mode => Query::Mode,
            QueryName::Bounds => Query::Bounds,
            QueryName::Categories => Query::Categories,
        },
        column: args.column.clone(),
        by: args.by.clone(),
        epsilon: args.epsilon,
        delta: args.delta.unwrap_or(0.0),
        mechanism: args.mechanism.map(Noise::from),
        neighboring: Neighboring::from(args.relation),
        simultaneous: args.simultaneous,
    };
    request
        .check()
        .map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(request)
}

fn report(args: &ReleaseArgs, driver: &Driver, released: &Arc<Released>) -> Result<(), CliError> {
    if args.delta.is_some_and(|delta| delta > 0.0) && released.delta == 0.0 {
        warn("this mechanism needs no delta, and none is spent");
    }
    if args.json {
        return print_json(&object(released));
    }
    let snapshot = driver.engine.snapshot();
    let left = snapshot
        .dataset
        .as_ref()
        .and_then(|dataset| dataset.budget.as_ref()?.shares)
        .map(|shares| shares.left);
    print_line(&words(released, left))
}

fn object(released: &Released) -> Json {
    let answer = &released.answer;
    let request = &released.request;
    let mut object = Map::new();
    let mut put = |key: &str, value: Json| drop(object.insert(key.into(), value));
    put("query", json!(request.query.name()));
    put("column", json!(request.column));
    put("by", json!(request.by));
    if answer.is_single {
        let cell = answer.cells.first();
        put("value", json!(cell.map(|cell| &cell.value)));
        put(
            "interval",
            json!(cell.and_then(|cell| interval_json(cell.interval.as_ref()))),
        );
    } else if matches!(request.query, Query::Bounds | Query::Categories) {
        let values: Vec<_> = answer.cells.iter().map(|cell| &cell.value).collect();
        put("values", json!(values));
        put("interval", Json::Null);
    } else {
        let values: Vec<_> = answer
            .cells
            .iter()
            .map(|cell| cell_json(released, cell))
            .collect();
        let intervals: Vec<_> = answer
            .cells
            .iter()
            .map(|cell| interval_json(cell.interval.as_ref()))
            .collect();
        put("values", json!(values));
        put("interval", json!(intervals));
    }
    put("epsilon", json!(released.epsilon));
    put("delta", json!(released.delta));
    put("ledger_entry", json!(released.ledger_entry));
    put("mechanism", json!(released.noise));
    put("neighboring", json!(released.neighboring));
    put("unit", json!(released.unit));
    put("claim", json!(claim(released)));
    put("public", json!(released.is_teaching_data));
    put("not_protected", json!(released.unprotected));
    let notes: Vec<_> = answer.notes.iter().map(ToString::to_string).collect();
    put("notes", json!(notes));
    put(
        "bought",
        json!(answer.purchase.is_some() && released.seed.is_none()),
    );
    put("schema", json!(released.schema_saved));
    Json::Object(object)
}

fn cell_json(released: &Released, cell: &Cell) -> Json {
    let mut object = Map::new();
    if released.request.by.is_some() {
        label_json(&mut object, "group", cell.group.as_ref());
    }
    if matches!(released.request.query, Query::Histogram { .. }) {
        label_json(&mut object, "bin", cell.bin.as_ref());
    }
    object.insert("value".into(), json!(cell.value));
    object.insert("interval".into(), json!(interval_json(cell.interval.as_ref())));
    Json::Object(object)
}

/// A missing value is `null`; a stretch also has its ends.
fn label_json(object: &mut Map<String, Json>, key: &str, label: Option<&Label>) {
    let text = label
        .filter(|label| **label != Label::Missing)
        .map(ToString::to_string);
    object.insert(key.into(), json!(text));
    if let Some(Label::Below(from, to) | Label::UpTo(from, to)) = label {
        object.insert("from".into(), json!(from));
        object.insert("to".into(), json!(to));
    }
}

/// Two ends; of a choice, by how much at most it misses.
fn interval_json(interval: Option<&Interval>) -> Option<Json> {
    Some(match interval? {
        Interval::Between(lower, upper) => json!([lower, upper]),
        Interval::Rank(ranks) => json!({ "ranks": ranks }),
        Interval::Frequency(rows) => json!({ "rows": rows }),
    })
}

fn claim(released: &Released) -> String {
    match released.seed {
        Some(seed) => format!("no DP claim: the noise comes from the fixed seed {seed}"),
        None => "differentially private".to_owned(),
    }
}

fn words(released: &Released, left: Option<f64>) -> String {
    let answer = &released.answer;
    let mut lines = Vec::new();
    match answer.cells.first() {
        None => lines.push(format!("{}: none", released.request)),
        Some(cell) if answer.is_single => lines.push(format!("{}: {}", released.request, value_words(cell))),
        Some(_) => {
            lines.push(format!("{}:", released.request));
            lines.extend(answer.cells.iter().map(|cell| match cell_name(cell) {
                Some(name) => format!("  {name}: {}", value_words(cell)),
                None => format!("  {}", value_words(cell)),
            }));
        }
    }
    let delta = if released.delta > 0.0 {
        format!(" at δ {}", released.delta)
    } else {
        ", pure".to_owned()
    };
    lines.push(format!(
        "ε {}{delta} · {} · {} · {} · entry {} of the ledger",
        released.epsilon,
        released.neighboring.name().replace('_', " "),
        released.unit,
        mechanism_words(released.noise),
        released.ledger_entry,
    ));
    if released.seed.is_some() {
        lines.push(claim(released));
    }
    if released.is_teaching_data {
        lines.push("teaching data: spends are shown, and no cap applies".into());
    }
    if let Some(left) = left {
        lines.push(format!("{:.1} % of the data set's total is left", 100.0 * left));
    }
    lines.extend(answer.notes.iter().map(|note| format!("- {note}")));
    lines.extend(released.unprotected.iter().map(|column| {
        format!("- not protected: the bounds or values of `{column}` were read off the rows and accepted")
    }));
    if let Some(purchase) = &answer.purchase {
        lines.push(purchase_words(purchase, released));
    }
    lines.join("\n")
}

const fn mechanism_words(noise: Noise) -> &'static str {
    match noise {
        Noise::Laplace => "discrete Laplace noise",
        Noise::Gaussian => "discrete Gaussian noise",
        Noise::Exponential => "exponential mechanism",
    }
}

fn purchase_words(purchase: &Purchase, released: &Released) -> String {
    let what = match purchase {
        Purchase::Bounds { column, lower, upper } => format!("bounds {lower} and {upper} of `{column}`"),
        Purchase::Domain { column, values } => format!("{} values of `{column}`", values.len()),
        Purchase::Rows(rows) => format!("row count {rows}"),
        Purchase::Persons(persons) => format!("number of persons {persons}"),
    };
    match &released.schema_saved {
        Some(path) => format!("bought: {what}, written into {}", path.display()),
        None if released.seed.is_some() => format!("not bought: {what}; a fixed seed buys nothing"),
        None => format!("bought: {what}; not written into a schema file"),
    }
}

fn cell_name(cell: &Cell) -> Option<String> {
    match (&cell.group, &cell.bin) {
        (Some(group), Some(bin)) => Some(format!("{group}, {bin}")),
        (Some(label), None) | (None, Some(label)) => Some(label.to_string()),
        (None, None) => None,
    }
}

fn value_words(cell: &Cell) -> String {
    let value = short(&cell.value);
    match &cell.interval {
        None => value,
        Some(Interval::Between(lower, upper)) => {
            format!("{value} (95 %: {} to {})", short(lower), short(upper))
        }
        Some(Interval::Rank(ranks)) => {
            format!(
                "{value} (95 %: its rank is off by at most {:.0} values)",
                ranks.ceil()
            )
        }
        Some(Interval::Frequency(rows)) => format!(
            "{value} (95 %: the most frequent value has at most {:.0} rows more)",
            rows.ceil()
        ),
    }
}

/// Six digits for a reader; JSON has them all.
fn short(value: &Value) -> String {
    match value {
        Value::Number(number) if *number == 0.0 => "0".into(),
        Value::Number(number) => {
            let size = number.abs();
            if (1e-4..1e7).contains(&size) {
                let decimals = (5 - size.log10().floor() as i32).clamp(0, 9) as usize;
                let text = format!("{number:.decimals$}");
                if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.').to_owned()
                } else {
                    text
                }
            } else {
                format!("{number:.5e}")
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_for_readers() {
        for (number, text) in [
            (0.0, "0"),
            (120.894531, "120.895"),
            (-0.5, "-0.5"),
            (1234567.0, "1234567"),
            (1e9, "1.00000e9"),
            (0.00012345678, "0.000123457"),
        ] {
            assert_eq!(short(&Value::Number(number)), text);
        }
        assert_eq!(short(&Value::Whole(12)), "12");
    }
}
