//! One queue of commands in, one stream of events and one latest snapshot out; the workers behind them.

pub mod command;
pub mod event;
pub mod settings;
pub mod snapshot;

pub use command::{
    ColumnEdit, Command, Condition, DataSource, ExportRequest, Method, PrivacyTarget, RunId, RunRequest, SchemaEdit,
};
pub use event::{Area, EngineEvent, Exported, Problem};
pub use settings::{Language, Settings, Theme};
pub use snapshot::{
    Dataset, Exporting, LedgerView, LoadStage, Loading, PlanPreview, RunState, RunView, SampleRows, Series, Snapshot,
};
