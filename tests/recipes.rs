//! The recipes that ship are runs that this program can start.

use std::path::Path;

use pointillist::engine::RunRequest;
use pointillist::export::Recipe;
use pointillist::train::describe;

#[test]
fn every_recipe_is_a_run_with_settings_in_range() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/recipes");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let recipe = Recipe::load(&path).unwrap();
        let request = RunRequest::from_recipe(&recipe).unwrap();
        let settings = request.settings.expect("a recipe has settings");
        describe::check(settings.images().expect("of images")).unwrap();
        assert!(
            request.method.on_images().is_some() && request.target.is_some(),
            "{path:?}"
        );
        // A fixed seed would make the run not private.
        assert!(
            request.seed.is_none()
                && recipe
                    .schema::<pointillist::data::Schema>(&path)
                    .unwrap()
                    .is_some()
        );
        seen += 1;
    }
    assert!(seen > 0);
}
