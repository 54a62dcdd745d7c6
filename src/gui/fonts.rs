//! The fonts that ship with the window: Inter for Latin, Greek and Cyrillic (its tabular figures stand in the
//! place of the proportional ones), Noto Sans SC for Chinese. Both under the SIL Open Font License.

use std::sync::Arc;

use eframe::egui::{
    Context, FontData, FontDefinitions, FontFamily, FontTweak, epaint::text::VariationCoords,
};

const INTER: &[u8] = include_bytes!("../../assets/fonts/Inter-Tabular.ttf");
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
    let weight = |value: f32| FontTweak {
        coords: VariationCoords::new([("wght", value)]),
        ..FontTweak::default()
    };
    let mut add = |name: &str, bytes: &'static [u8], tweak: FontTweak| {
        let data = FontData::from_static(bytes).tweak(tweak);
        fonts.font_data.insert(name.to_owned(), Arc::new(data));
    };
    add("inter", INTER, weight(400.0));
    add("inter-semibold", INTER, weight(600.0));
    add("noto", NOTO_REGULAR, FontTweak::default());
    add("noto-semibold", NOTO_SEMIBOLD, FontTweak::default());
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
