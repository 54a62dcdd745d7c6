//! The fonts that ship with the window: Inter for Latin, Greek and Cyrillic (its tabular figures stand in the
//! place of the proportional ones), Noto Sans SC for Chinese. Both under the SIL Open Font License.
//!
//! Each weight is a file of its own: of a variable font, every text that is laid out would first work out its
//! weight anew, which is most of what a quickly scrolled table costs.

use std::sync::Arc;

use eframe::egui::{Context, FontData, FontDefinitions, FontFamily};

const INTER_REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Tabular-Regular.ttf");
const INTER_SEMIBOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-Tabular-SemiBold.ttf");
const NOTO_REGULAR: &[u8] = include_bytes!("../../assets/fonts/NotoSansSC-Regular.otf");
const NOTO_SEMIBOLD: &[u8] = include_bytes!("../../assets/fonts/NotoSansSC-SemiBold.ttf");

/// The name of the semibold family.
const SEMIBOLD: &str = "semibold";

/// The family of titles and of what must stand out.
pub fn semibold() -> FontFamily {
    FontFamily::Name(SEMIBOLD.into())
}

/// All fonts and the families made of them.
pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    for (name, bytes) in [
        ("inter", INTER_REGULAR),
        ("inter-semibold", INTER_SEMIBOLD),
        ("noto", NOTO_REGULAR),
        ("noto-semibold", NOTO_SEMIBOLD),
    ] {
        fonts
            .font_data
            .insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let family = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    fonts
        .families
        .insert(FontFamily::Proportional, family(&["inter", "noto"]));
    fonts
        .families
        .insert(FontFamily::Monospace, family(&["inter", "noto"]));
    fonts
        .families
        .insert(semibold(), family(&["inter-semibold", "noto-semibold", "noto"]));
    fonts
}

/// Installs the fonts.
pub fn install(ctx: &Context) {
    ctx.set_fonts(definitions());
}
