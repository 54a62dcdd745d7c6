//! What keys and assistive technology ask of something that can be dragged.

use eframe::egui::{EventFilter, Key, Response, Ui, accesskit};

/// Steps asked for by the keys that lower and raise, while focused, and by assistive technology; and the value that the
/// latter sets.
pub fn asked(ui: &Ui, response: &Response, (lower, raise): (Key, Key)) -> (f64, Option<f64>) {
    let id = response.id;
    let mut steps = 0.0;
    if response.has_focus() {
        let vertical = matches!(raise, Key::ArrowUp);
        let arrows = EventFilter {
            vertical_arrows: vertical,
            horizontal_arrows: !vertical,
            ..EventFilter::default()
        };
        // The arrows move the value, not the focus.
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, arrows));
        let pressed = |key| ui.input(|input| input.num_presses(key)) as f64;
        steps += pressed(raise) - pressed(lower);
    }
    let set = ui.input(|input| {
        let asked = |action| input.num_accesskit_action_requests(id, action) as f64;
        steps += asked(accesskit::Action::Increment) - asked(accesskit::Action::Decrement);
        input
            .accesskit_action_requests(id, accesskit::Action::SetValue)
            .filter_map(|request| match request.data {
                Some(accesskit::ActionData::NumericValue(number)) => Some(number),
                _ => None,
            })
            .last()
    });
    (steps, set)
}
