//! Pictures of parts of the window, as PNG: the frame after the request is taken, cut and packed off the frame.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use eframe::egui::{self, Align2, ColorImage, Context, FontId, Id, LayerId, Order, Rect};

use crate::gui::context::Cx;

/// A window system that gives no picture within this time gives none.
const PATIENCE: Duration = Duration::from_secs(5);

struct Shot {
    name: String,
    rect: Rect,
    steward: bool,
    since: Instant,
    asked: bool,
}

/// What came of a picture.
pub enum Picture {
    /// Its name and its bytes.
    Taken(String, Vec<u8>),
    /// The window system gave none.
    Unavailable,
}

/// The picture that is being taken, if any.
pub struct Pictures {
    shot: Option<Shot>,
    send: Sender<Option<Vec<u8>>>,
    taken: Receiver<Option<Vec<u8>>>,
}

impl Default for Pictures {
    fn default() -> Self {
        let (send, taken) = channel();
        Self {
            shot: None,
            send,
            taken,
        }
    }
}

impl Pictures {
    /// Begins to take a picture, unless one is being taken.
    pub fn take(&mut self, name: String, rect: Rect, steward: bool) {
        if self.shot.is_none() {
            self.shot = Some(Shot {
                name,
                rect,
                steward,
                since: Instant::now(),
                asked: false,
            });
        }
    }

    /// Draws the steward's mark over what will be in the picture, and asks for it. Called with every frame, last.
    pub fn show(&mut self, ctx: &Context, cx: &Cx<'_>) {
        let Some(shot) = &mut self.shot else { return };
        if shot.steward {
            let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::unique("steward's mark")));
            painter.text(
                shot.rect.center(),
                Align2::CENTER_CENTER,
                cx.texts.get("figure-steward"),
                FontId::proportional(20.0),
                cx.palette.warn_text.gamma_multiply(0.55),
            );
        }
        if !shot.asked {
            shot.asked = true;
            let (send, repaint, rect) = (self.send.clone(), ctx.clone(), shot.rect);
            let scale = ctx.pixels_per_point();
            ctx.request_screenshot(move |image| {
                let packed = std::thread::Builder::new()
                    .name("picture".to_owned())
                    .spawn(move || {
                        // The window may be gone by now.
                        let _ = send.send(png(&image, rect, scale));
                        repaint.request_repaint();
                    });
                drop(packed);
            });
        }
        ctx.request_repaint_after(Duration::from_millis(50));
    }

    /// Takes the picture if it is there.
    pub fn poll(&mut self) -> Option<Picture> {
        let shot = self.shot.as_ref()?;
        let picture = match self.taken.try_recv() {
            Ok(Some(bytes)) => Picture::Taken(shot.name.clone(), bytes),
            Ok(None) => Picture::Unavailable,
            Err(_) if shot.since.elapsed() > PATIENCE => Picture::Unavailable,
            Err(_) => return None,
        };
        self.shot = None;
        Some(picture)
    }
}

/// A part of an image as PNG; `None` if nothing of it lies in the image.
fn png(image: &ColorImage, part: Rect, scale: f32) -> Option<Vec<u8>> {
    let [width, height] = image.size;
    let whole = Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width as f32, height as f32));
    let pixel = |point: egui::Pos2| (point.to_vec2() * scale).round().to_pos2();
    let part = Rect::from_min_max(pixel(part.min), pixel(part.max)).intersect(whole);
    if part.width() < 1.0 || part.height() < 1.0 {
        return None;
    }
    let (left, top) = (part.left() as usize, part.top() as usize);
    let (across, down) = (part.width() as usize, part.height() as usize);
    let cut = image.region_by_pixels([left, top], [across, down]);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(across).ok()?, u32::try_from(down).ok()?);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(cut.as_raw()).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{Color32, pos2};

    #[test]
    fn a_picture_is_cut_to_its_part() {
        let image = ColorImage::filled([40, 30], Color32::RED);
        let part = Rect::from_min_max(pos2(2.0, 3.0), pos2(10.0, 8.0));
        let bytes = png(&image, part, 2.0).unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        let reader = decoder.read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (16, 10));
        let outside = Rect::from_min_max(pos2(100.0, 100.0), pos2(120.0, 120.0));
        assert!(png(&image, outside, 2.0).is_none());
    }
}
