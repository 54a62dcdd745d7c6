//! What planning, accounting and training say.

use super::{Message, message, names, said};
use crate::data::OpenColumn;
use crate::num::{Argument, Fills};
use crate::privacy::{AccountingError, CalibrationError};
use crate::train::describe::SettingTextError;
use crate::train::{
    LARGEST_EPSILON, PlanError, Refusal, SampleError, SettingError, SettingRange, TrainError, rounded_up,
    setting as describe_setting,
};

pub(super) fn plan(error: &PlanError) -> Message {
    match error {
        PlanError::Setting(inner) => setting(inner),
        PlanError::Epsilon(value) => said!(error, "plan-epsilon", value = value, most = LARGEST_EPSILON),
        PlanError::Delta(value) => said!(error, "plan-delta", value = value),
        PlanError::BudgetTooSmall { epsilon, smallest } => said!(
            error,
            "plan-budget-too-small",
            epsilon = epsilon,
            smallest = rounded_up(*smallest)
        ),
        PlanError::Shares(share) => said!(error, "plan-shares", share = format!("{share:.2}")),
        PlanError::OpenColumns(columns) => {
            said!(
                error,
                "plan-open-columns",
                columns = columns.iter().map(open).collect::<Vec<_>>()
            )
        }
        PlanError::RowsSuggested => said!(error, "plan-rows-suggested"),
        PlanError::NothingToLearn => said!(error, "plan-nothing-to-learn"),
        PlanError::ManyCells { cells, most } => {
            said!(error, "plan-many-cells", cells = cells, most = most)
        }
        PlanError::LargeEmbedding { width, frequencies } => {
            said!(
                error,
                "plan-large-embedding",
                width = width,
                frequencies = frequencies
            )
        }
        PlanError::NoRows => said!(error, "plan-no-rows"),
        PlanError::Method {
            method,
            data,
            instead,
        } => said!(
            error,
            "plan-method",
            method = method,
            data = data,
            instead = instead
        ),
        PlanError::Label(label) => said!(error, "plan-label", label = label),
        PlanError::Unit(column) => said!(error, "plan-unit", column = column),
        PlanError::Encoding(inner) => message(inner),
        PlanError::Calibration(_) => said!(error, "plan-calibration"),
        PlanError::Range(_) => said!(error, "plan-range"),
    }
}

fn open(column: &OpenColumn) -> Message {
    crate::message!(
        "open-column",
        "`{column}` ({why})",
        column = column.name,
        why = column.why
    )
}

pub(super) fn setting(error: &SettingError) -> Message {
    let range = describe_setting(error.key).map(|known| known.range);
    let expected = match range {
        Some(SettingRange::Integer { min, max }) => {
            crate::message!(
                "range-integer",
                "a whole number from {min} to {max}",
                min = min,
                max = max
            )
        }
        Some(SettingRange::Real { min, max, .. }) => {
            crate::message!("range-real", "a number from {min} to {max}", min = min, max = max)
        }
        Some(SettingRange::Choice(all)) => {
            crate::message!(
                "range-choice",
                "one of {names}",
                names = names(all.iter().copied())
            )
        }
        Some(SettingRange::Widths { layers, width }) => crate::message!(
            "range-widths",
            "at most {layers} layer widths, each from 1 to {width}",
            layers = layers,
            width = width
        ),
        Some(SettingRange::Numbers { min, max, most }) => crate::message!(
            "range-numbers",
            "2 to {most} numbers, each from {min} to {max}",
            most = most,
            min = min,
            max = max
        ),
        Some(SettingRange::Switch) | None => Message::plain(&*error.expected),
    };
    Message::new(
        "setting-out-of-range",
        error.to_string(),
        vec![
            ("setting", Argument::Key(format!("setting-{}", error.key))),
            ("value", error.value.argument()),
            ("expected", expected.argument()),
        ],
    )
}

pub(super) fn setting_text(error: &SettingTextError) -> Message {
    match error {
        SettingTextError::Unknown(name) => said!(error, "setting-unknown", name = name),
        SettingTextError::Value(inner) => setting(inner),
    }
}

pub(super) fn calibration(error: &CalibrationError) -> Message {
    match error {
        CalibrationError::BudgetTooSmall { smallest_epsilon } => {
            said!(error, "calibration-too-small", smallest = smallest_epsilon)
        }
        CalibrationError::DeltaZero => said!(error, "calibration-delta-zero"),
        CalibrationError::Setting(name, range, value) => {
            said!(error, "unit-range", unit = name, range = range, value = value)
        }
        CalibrationError::Accounting(inner) => accounting(inner),
        CalibrationError::Unit(inner) => message(inner),
    }
}

pub(super) fn accounting(error: &AccountingError) -> Message {
    match error {
        AccountingError::Parameter {
            event,
            parameter,
            range,
            value,
        } => said!(
            error,
            "accounting-parameter",
            event = event,
            parameter = parameter,
            range = range,
            value = value
        ),
        AccountingError::Unprovable {
            event,
            accountant,
            neighboring,
            reason,
        } => said!(
            error,
            "accounting-unprovable",
            event = event,
            accountant = accountant,
            relation = neighboring,
            reason = reason
        ),
        AccountingError::Relation { list, accountant } => {
            said!(error, "accounting-relation", list = list, accountant = accountant)
        }
        AccountingError::Epsilon(value) => said!(error, "accounting-epsilon", value = value),
    }
}

pub(super) fn refusal(error: &Refusal) -> Message {
    match error {
        Refusal::OverBudget { would_be, budget } => {
            said!(error, "refused-over-budget", epsilon = would_be, budget = budget)
        }
        Refusal::Accounting(_) => said!(error, "refused-accounting"),
        Refusal::Rows(inner) => said!(
            inner,
            "store-unreadable",
            folder = inner.folder,
            reason = inner.reason
        ),
    }
}

pub(super) fn sample(error: &SampleError) -> Message {
    match error {
        SampleError::Column(column) => said!(error, "sample-column", column = column),
        SampleError::Value { column, value, known } => said!(
            error,
            "sample-value",
            column = column,
            value = value,
            known = known
        ),
        SampleError::Rules { found, drawn, wanted } => said!(
            error,
            "sample-rules",
            found = found,
            drawn = drawn,
            wanted = wanted
        ),
        SampleError::TooRare {
            column,
            value,
            found,
            drawn,
            wanted,
        } => said!(
            error,
            "sample-too-rare",
            column = column,
            value = value,
            found = found,
            drawn = drawn,
            wanted = wanted
        ),
        SampleError::Decode(inner) => message(inner),
        SampleError::Arrow(_) => said!(error, "sample-arrow"),
    }
}

pub(super) fn training(error: &TrainError) -> Message {
    match error {
        TrainError::Device(inner) => message(inner),
        TrainError::OtherRows {
            planned,
            width,
            found,
            found_width,
        } => said!(
            error,
            "train-other-rows",
            planned = planned,
            width = width,
            found = found,
            other = found_width
        ),
        TrainError::Refused { .. } => said!(error, "train-refused"),
        TrainError::NotFinite { step, .. } => said!(error, "train-not-finite", step = step),
        TrainError::Sample { .. } => said!(error, "train-sample"),
        TrainError::OtherCheckpoint(reason) => said!(error, "train-other-checkpoint", reason = reason),
        TrainError::Keep { .. } => said!(error, "train-keep"),
        TrainError::Left { step, .. } => said!(error, "train-left", step = step),
        TrainError::Thread(_) => said!(error, "train-thread"),
    }
}
