//! Small images: a wall of many, of which only what comes into view is uploaded, and a few of each class side by side.

use std::collections::HashMap;

use eframe::egui::{
    self, Align2, Color32, ColorImage, FontId, Painter, Rect, Response, Sense, Stroke, StrokeKind,
    TextureHandle, TextureOptions, Ui, WidgetInfo, accesskit::Role, pos2, vec2,
};

use crate::data::image::ImageForm;
use crate::gui::context::Cx;
use crate::gui::theme::{SMALL, STEP};

/// What lies between two images.
const GAP: f32 = 2.0;
/// The least height and width of an image of the wall.
const LEAST: f32 = 40.0;
/// How much an image of a class is enlarged, at most.
const LARGEST: f32 = 3.0;
/// What the names of the classes take of the height.
const NAMES: f32 = 18.0;

/// The rows of a wall that are on the graphics card.
#[derive(Default)]
pub struct PictureWall {
    generation: u64,
    columns: usize,
    rows: HashMap<usize, TextureHandle>,
}

impl PictureWall {
    /// Draws `count` images in rows as wide as the space, and `height` high. `image` gives an image's bytes and `name`
    /// what it is called; the name of a row says all of its images.
    pub fn show<'a>(
        &mut self,
        ui: &mut Ui,
        (generation, count): (u64, usize),
        form: ImageForm,
        height: f32,
        image: impl Fn(usize) -> &'a [u8],
        name: impl Fn(usize) -> String,
    ) {
        let cell = cell_side(form) + GAP;
        let columns = ((ui.available_width() - STEP) / cell).floor().max(1.0) as usize;
        if (self.generation, self.columns) != (generation, columns) {
            *self = Self {
                generation,
                columns,
                rows: HashMap::new(),
            };
        }
        let rows = count.div_ceil(columns);
        ui.spacing_mut().item_spacing.y = 0.0;
        egui::ScrollArea::vertical()
            .id_salt(("wall", generation))
            .max_height(height)
            .auto_shrink(false)
            .show_rows(ui, cell, rows, |ui, range| {
                self.rows.retain(|row, _| range.contains(row));
                for row in range {
                    let images = row * columns..((row + 1) * columns).min(count);
                    let width = cell * images.len() as f32;
                    let (rect, response) = ui.allocate_exact_size(vec2(width, cell), Sense::hover());
                    let texture = self.rows.entry(row).or_insert_with(|| {
                        let strip = atlas(form, images.len(), images.clone().map(&image));
                        load(ui, "wall", strip)
                    });
                    for place in 0..images.len() {
                        let at = rect.min + vec2(cell * place as f32, 0.0);
                        let target = Rect::from_min_size(at, vec2(cell - GAP, cell - GAP));
                        paint(ui.painter(), texture, (place, 0), (images.len(), 1), target);
                    }
                    let names: Vec<String> = images.clone().map(&name).collect();
                    response.widget_info(|| {
                        let line = format!("{}: {}", images.start + 1, names.join(", "));
                        WidgetInfo::labeled(Role::Row, true, line)
                    });
                    if let Some(pointer) = response.hover_pos() {
                        let place = ((pointer.x - rect.left()) / cell).max(0.0) as usize;
                        let place = place.min(images.len().saturating_sub(1));
                        let number = images.start + place + 1;
                        response.on_hover_text(format!("{number}: {}", names[place]));
                    }
                }
            });
    }
}

/// How large an image of the wall is drawn: whole pixels of it, at least [`LEAST`] points.
fn cell_side(form: ImageForm) -> f32 {
    let side = form.side.max(1) as f32;
    side * (LEAST / side).ceil().max(1.0)
}

/// The images of a grid on the graphics card.
#[derive(Default)]
pub struct ClassGrid {
    shown: Option<(u64, u64)>,
    texture: Option<TextureHandle>,
}

/// Images, as many of each class, class by class.
pub struct ClassImages<'a> {
    /// Of whom and as of when; another one is uploaded anew.
    pub key: (u64, u64),
    /// What they have in common.
    pub form: ImageForm,
    /// Images of each class.
    pub each: usize,
    /// `[classes, each, pixels]`.
    pub bytes: &'a [u8],
    /// The classes' names; empty for images without labels.
    pub names: &'a [String],
    /// What a click on an image does; empty where it does nothing.
    pub hint: &'a str,
    /// The place of an image that is marked.
    pub marked: Option<usize>,
}

impl ClassGrid {
    /// Draws the images in a block for each class, as large as they fit. `name` is spoken. The image under a click, as
    /// its place among all.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        name: &str,
        images: &ClassImages<'_>,
        height: f32,
    ) -> Option<usize> {
        let pixels = images.form.pixels().max(1);
        let count = images.bytes.len() / pixels;
        let each = images.each.max(1);
        let classes = count / each;
        if classes == 0 {
            return None;
        }
        if self.shown != Some(images.key) {
            self.shown = Some(images.key);
            let all = atlas(images.form, each, images.bytes.chunks_exact(pixels));
            self.texture = Some(load(ui, "classes", all));
        }
        let texture = self.texture.as_ref()?;
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Figure, true, name));
        let layout = Layout::of(rect, images.form.side, classes, each, !images.names.is_empty());
        for class in 0..classes {
            let block = layout.block(class);
            if let Some(name) = images.names.get(class) {
                let font = FontId::proportional(SMALL);
                let painter = ui.painter().with_clip_rect(block);
                let at = pos2(block.left(), block.top() + NAMES / 2.0);
                painter.text(at, Align2::LEFT_CENTER, name, font, cx.palette.muted);
            }
            for place in 0..each {
                paint(
                    ui.painter(),
                    texture,
                    (place, class),
                    (each, classes),
                    layout.image(class, place),
                );
            }
        }
        if let Some(at) = images.marked.filter(|at| *at < count) {
            let target = layout.image(at / each, at % each).expand(GAP / 2.0);
            let stroke = Stroke::new(GAP, cx.palette.accent);
            ui.painter().rect_stroke(target, 0.0, stroke, StrokeKind::Middle);
        }
        let at = response
            .hover_pos()
            .and_then(|pointer| (0..count).find(|at| layout.image(at / each, at % each).contains(pointer)));
        clicked(response, images, at)
    }
}

fn clicked(response: Response, images: &ClassImages<'_>, at: Option<usize>) -> Option<usize> {
    let at = at?;
    let pressed = response.clicked();
    let name = images.names.get(at / images.each.max(1)).map(String::as_str);
    let lines: Vec<&str> = name
        .into_iter()
        .chain([images.hint])
        .filter(|line| !line.is_empty())
        .collect();
    if !lines.is_empty() {
        response.on_hover_text_at_pointer(lines.join("\n"));
    }
    pressed.then_some(at)
}

/// What is told of an image in a strip.
pub struct ImageCaption {
    /// The line under it.
    pub short: String,
    /// What it is called.
    pub said: String,
}

/// A few images in a row, with a short line under each.
#[derive(Default)]
pub struct ImageStrip {
    shown: Option<(u64, u64, usize)>,
    texture: Option<TextureHandle>,
}

impl ImageStrip {
    /// Draws the images, all of the same form, each with its caption and what is said of it. Another key is uploaded anew.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        key: (u64, u64, usize),
        form: ImageForm,
        images: &[&[u8]],
        captions: &[ImageCaption],
    ) {
        if images.is_empty() {
            return;
        }
        if self.shown != Some(key) {
            self.shown = Some(key);
            let strip = atlas(form, images.len(), images.iter().copied());
            self.texture = Some(load(ui, "strip", strip));
        }
        let Some(texture) = &self.texture else { return };
        let cell = (ui.available_width() - STEP * (images.len() - 1) as f32) / images.len() as f32;
        let side = cell.min(cell_side(form)).max(1.0);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = STEP;
            for (place, ImageCaption { short, said }) in (0..images.len()).zip(captions) {
                let (rect, response) = ui.allocate_exact_size(vec2(cell, side + NAMES), Sense::hover());
                response.widget_info(|| WidgetInfo::labeled(Role::Image, true, said));
                let target = Rect::from_min_size(rect.min, vec2(side, side));
                paint(ui.painter(), texture, (place, 0), (images.len(), 1), target);
                let painter = ui.painter().with_clip_rect(rect);
                let at = pos2(rect.left(), rect.bottom() - NAMES / 2.0);
                let font = FontId::proportional(SMALL);
                painter.text(at, Align2::LEFT_CENTER, short, font, cx.palette.muted);
                response.on_hover_text(said);
            }
        });
    }
}

/// Where the images of a grid stand.
struct Layout {
    rect: Rect,
    /// Blocks in a row.
    across: usize,
    block: egui::Vec2,
    /// Images in a row of a block.
    columns: usize,
    image: f32,
    head: f32,
}

impl Layout {
    /// The arrangement in which images are largest.
    fn of(rect: Rect, side: usize, classes: usize, each: usize, named: bool) -> Self {
        let head = if named { NAMES } else { 0.0 };
        let mut best: Option<Self> = None;
        for across in 1..=classes {
            let down = classes.div_ceil(across);
            let block = vec2(
                (rect.width() - STEP * (across - 1) as f32) / across as f32,
                (rect.height() - STEP * (down - 1) as f32) / down as f32,
            );
            for columns in 1..=each {
                let rows = each.div_ceil(columns) as f32;
                let wide = block.x / columns as f32;
                let high = (block.y - head) / rows;
                let image = (wide.min(high) - GAP).min(side as f32 * LARGEST);
                if image > 0.0 && best.as_ref().is_none_or(|best| image > best.image) {
                    best = Some(Self {
                        rect,
                        across,
                        block,
                        columns,
                        image,
                        head,
                    });
                }
            }
        }
        best.unwrap_or(Self {
            rect,
            across: classes,
            block: vec2(1.0, 1.0),
            columns: each,
            image: 1.0,
            head,
        })
    }

    fn block(&self, class: usize) -> Rect {
        let (row, column) = (class / self.across, class % self.across);
        let step = self.block + vec2(STEP, STEP);
        let min = self.rect.min + vec2(step.x * column as f32, step.y * row as f32);
        Rect::from_min_size(min, self.block)
    }

    fn image(&self, class: usize, place: usize) -> Rect {
        let (row, column) = (place / self.columns, place % self.columns);
        let step = self.image + GAP;
        let min = self.block(class).min + vec2(step * column as f32, self.head + step * row as f32);
        Rect::from_min_size(min, vec2(self.image, self.image))
    }
}

/// Images side by side in one picture, `columns` in a row.
fn atlas<'a>(form: ImageForm, columns: usize, images: impl ExactSizeIterator<Item = &'a [u8]>) -> ColorImage {
    let (side, columns) = (form.side, columns.max(1));
    let rows = images.len().div_ceil(columns).max(1);
    let width = columns * side;
    let mut pixels = vec![Color32::TRANSPARENT; width * rows * side];
    for (place, image) in images.enumerate() {
        let (row, column) = (place / columns, place % columns);
        for (y, line) in image.chunks_exact(side * form.colours).enumerate() {
            let start = (row * side + y) * width + column * side;
            for (pixel, bytes) in pixels[start..start + side]
                .iter_mut()
                .zip(line.chunks_exact(form.colours))
            {
                *pixel = match *bytes {
                    [red, green, blue] => Color32::from_rgb(red, green, blue),
                    [grey, ..] => Color32::from_gray(grey),
                    [] => Color32::BLACK,
                };
            }
        }
    }
    ColorImage::new([width, rows * side], pixels)
}

fn load(ui: &Ui, name: &str, image: ColorImage) -> TextureHandle {
    ui.ctx().load_texture(name, image, TextureOptions::NEAREST)
}

/// Paints one image of an atlas.
fn paint(
    painter: &Painter,
    texture: &TextureHandle,
    (column, row): (usize, usize),
    (columns, rows): (usize, usize),
    target: Rect,
) {
    let share = |at: usize, of: usize| at as f32 / of as f32;
    let source = Rect::from_min_max(
        pos2(share(column, columns), share(row, rows)),
        pos2(share(column + 1, columns), share(row + 1, rows)),
    );
    painter.image(texture.id(), target, source, Color32::WHITE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_stand_side_by_side_with_their_own_colours() {
        let grey = ImageForm { side: 2, colours: 1 };
        let images: [&[u8]; 3] = [&[1, 2, 3, 4], &[5, 6, 7, 8], &[9, 9, 9, 9]];
        let picture = atlas(grey, 2, images.into_iter());
        assert_eq!(picture.size, [4, 4]);
        let value = |x: usize, y: usize| picture.pixels[y * 4 + x].r();
        assert_eq!(
            [value(0, 0), value(1, 1), value(2, 0), value(3, 1), value(0, 2)],
            [1, 4, 5, 8, 9]
        );
        assert_eq!(picture.pixels[2 * 4 + 2], Color32::TRANSPARENT);
        let colour = ImageForm { side: 1, colours: 3 };
        let picture = atlas(colour, 1, [&[1_u8, 2, 3][..]].into_iter());
        assert_eq!(picture.pixels, [Color32::from_rgb(1, 2, 3)]);
    }

    #[test]
    fn blocks_lie_in_the_space_and_do_not_overlap() {
        for (size, classes, each) in [
            ((900.0, 200.0), 10, 10),
            ((300.0, 500.0), 10, 10),
            ((640.0, 300.0), 1, 10),
        ] {
            let rect = Rect::from_min_size(pos2(5.0, 7.0), vec2(size.0, size.1));
            let layout = Layout::of(rect, 28, classes, each, classes > 1);
            let all: Vec<Rect> = (0..classes * each)
                .map(|at| layout.image(at / each, at % each))
                .collect();
            for (at, one) in all.iter().enumerate() {
                assert!(rect.expand(0.1).contains_rect(*one), "{one:?} in {rect:?}");
                assert!(
                    all[..at]
                        .iter()
                        .all(|other| !other.shrink(0.1).intersects(one.shrink(0.1)))
                );
            }
            assert!(layout.image >= 14.0, "{size:?}: {}", layout.image);
        }
    }
}
