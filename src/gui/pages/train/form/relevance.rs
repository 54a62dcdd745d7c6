//! Which settings matter.

use crate::engine::command::Method;
use crate::train::describe::SettingDescription;
use crate::train::image::{CriticKind, ImageSettings};
use crate::train::pairs::PairSettings;
use crate::train::{ScheduleKind, TrainSettings};

/// Whether a setting matters for the method and the other settings.
pub fn applies(description: &SettingDescription, method: Method, settings: &TrainSettings) -> bool {
    match description.key {
        // These have a section of their own.
        "schedule" | "schedule-early" | "schedule-ratio" | "schedule-points" => false,
        "marginal-share" | "marginal-weight" if !settings.marginals => false,
        "fine-share" if !settings.fine_decode => false,
        "clip-norm" | "marginal-share" | "fine-share" => method.is_private(),
        _ => true,
    }
}

/// The same for a table of which one release is made.
pub fn applies_to_release(key: &str, method: Method, settings: &PairSettings) -> bool {
    let is_used = method.release().is_some_and(|release| release.uses(key));
    is_used && (key != "fine-share" || settings.fine_decode)
}

/// The same for images.
pub fn applies_to_images(key: &str, method: Method, settings: &ImageSettings) -> bool {
    let is_used = method.on_images().is_some_and(|method| method.uses(key));
    match key {
        "schedule-early" => is_used && settings.schedule == ScheduleKind::TwoPhase,
        "schedule-points" => is_used && settings.schedule == ScheduleKind::Points,
        "schedule-ratio" => {
            is_used
                && matches!(
                    settings.schedule,
                    ScheduleKind::Linear | ScheduleKind::Exponential
                )
        }
        "clip-norm" | "schedule" => is_used && method.is_private(),
        "warm-share" => is_used && method.is_private() && settings.warm_steps > 0,
        "frequencies" => method == Method::DpMerf || settings.warm_steps > 0,
        "critic-hidden" => is_used && settings.critic == CriticKind::Dense,
        "critic-channels" => is_used && settings.critic == CriticKind::Convolution,
        "ladder-grace" => is_used && settings.ladder,
        _ => is_used,
    }
}
