//! The window: panels, plots, widgets, theme and translations.
//!
//! A frame reads one snapshot of the engine and hands commands back; nothing in it waits or computes more than
//! closed forms. Every text comes from `assets/i18n`, every colour and size from [`theme`], every action from
//! the table in [`command`].

mod app;
mod bars;
pub mod command;
mod context;
mod dialogs;
pub mod fonts;
mod format;
mod history;
pub mod i18n;
mod interrupted;
mod jobs;
mod messages;
mod pages;
mod panels;
mod pictures;
mod plot;
mod problems;
mod questions;
pub mod theme;
mod widgets;
mod workbench;

pub use app::{App, run};
pub use messages::Note;
pub use workbench::Workbench;
