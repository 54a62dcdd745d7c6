//! The window: panels, plots, widgets, theme and translations.
