//! Where the names of curves stand: beside their ends, off every curve and off each other.

use std::sync::Arc;

use eframe::egui::{Color32, Galley, Painter, Pos2, Rangef, Rect, Vec2, pos2, vec2};

/// Space between a name and what it names.
const GAP: f32 = 6.0;
/// Space between two labels of an axis.
const APART: f32 = 6.0;
/// Space around a name.
const AIR: f32 = 1.5;
/// How many steps a name may move away from its curve, up or down.
const STEPS: u8 = 10;

/// A name to be placed.
pub struct Label {
    /// Its letters.
    pub galley: Arc<Galley>,
    /// Places that it may stand at, the best first.
    pub anchors: Vec<Pos2>,
}

/// What it costs to stand a step further away from what is named.
const STEP_COST: usize = 2;
/// What it costs to cover a piece of a curve.
const HIT_COST: usize = 3;
/// Pieces beyond these cost no more: a name that covers some of a restless curve is better than one far away from it.
const MOST_HITS: usize = 4;

/// Places labels into the frame, one after the other, so that none covers another label, as few as can be cover a
/// curve, and each stands near what it names.
pub fn place(frame: Rect, lines: &[Vec<Pos2>], labels: &[Vec2], anchors: &[Vec<Pos2>]) -> Vec<Rect> {
    let mut taken: Vec<Rect> = Vec::new();
    for (size, anchors) in labels.iter().zip(anchors) {
        let mut best: Option<(usize, Rect)> = None;
        for step in 0..STEPS {
            let away = usize::from(step) * STEP_COST;
            if best.is_some_and(|(least, _)| least <= away) {
                break;
            }
            for &anchor in anchors {
                for rect in candidates(frame, anchor, *size, step) {
                    let around = rect.expand(AIR);
                    let hits: usize = lines.iter().map(|line| hits(line, around)).sum();
                    // A name over another is worse than anything else.
                    let cost = taken.iter().filter(|other| other.intersects(around)).count() * 1000
                        + hits.min(MOST_HITS) * HIT_COST
                        + away;
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, rect));
                    }
                }
            }
        }
        taken.push(best.map_or_else(|| Rect::from_min_size(frame.min, *size), |(_, rect)| rect));
    }
    taken
}

/// What is written at `rect` stands in the way of names like lines to and fro.
pub fn strokes(rect: Rect) -> [Vec<Pos2>; 3] {
    [0.1, 0.5, 0.9].map(|share| {
        let y = rect.top() + share * rect.height();
        vec![pos2(rect.left(), y), pos2(rect.right(), y)]
    })
}

/// The left ends of labels of an axis, each given by its middle and its width, in order: moved into the room where they
/// would reach out of it, and left out where they would touch the one before.
pub fn along(room: Rangef, labels: impl Iterator<Item = (f32, f32)>) -> Vec<Option<f32>> {
    let mut free_from = f32::NEG_INFINITY;
    labels
        .map(|(middle, width)| {
            let last = (room.max - width).max(room.min);
            let left = (middle - width / 2.0).clamp(room.min, last);
            let fits = left > free_from && width <= room.span();
            fits.then(|| {
                free_from = left + width + APART;
                left
            })
        })
        .collect()
}

/// Rectangles beside an anchor, so many steps higher or lower than it.
fn candidates(frame: Rect, anchor: Pos2, size: Vec2, step: u8) -> impl Iterator<Item = Rect> {
    let before = anchor.x > frame.left() + frame.width() * 0.6;
    [(true, before), (false, before), (true, !before), (false, !before)]
        .into_iter()
        .map(move |(above, before)| {
            let away = GAP + f32::from(step) * size.y * 0.75;
            let left = if before {
                anchor.x - size.x - GAP
            } else {
                anchor.x + GAP
            };
            let top = if above {
                anchor.y - away - size.y
            } else {
                anchor.y + away
            };
            inside(frame, Rect::from_min_size(pos2(left, top), size))
        })
}

/// The rectangle, moved into the frame.
fn inside(frame: Rect, rect: Rect) -> Rect {
    let room = (frame.size() - rect.size()).max(Vec2::ZERO);
    let min = pos2(
        rect.left().clamp(frame.left(), frame.left() + room.x),
        rect.top().clamp(frame.top(), frame.top() + room.y),
    );
    Rect::from_min_size(min, rect.size())
}

/// How many pieces of a line run through a rectangle.
fn hits(line: &[Pos2], rect: Rect) -> usize {
    line.windows(2)
        .filter(|piece| {
            let (a, b) = (piece[0], piece[1]);
            a.x.max(b.x) >= rect.left() && a.x.min(b.x) <= rect.right() && crosses(a, b, rect)
        })
        .count()
}

/// Whether the piece from `a` to `b` runs through a rectangle (Liang and Barsky's clipping).
fn crosses(a: Pos2, b: Pos2, rect: Rect) -> bool {
    let along = b - a;
    let (mut enter, mut leave) = (0.0_f32, 1.0_f32);
    for (slope, room) in [
        (-along.x, a.x - rect.left()),
        (along.x, rect.right() - a.x),
        (-along.y, a.y - rect.top()),
        (along.y, rect.bottom() - a.y),
    ] {
        if slope.abs() < f32::EPSILON {
            if room < 0.0 {
                return false;
            }
        } else if slope < 0.0 {
            enter = enter.max(room / slope);
        } else {
            leave = leave.min(room / slope);
        }
    }
    enter <= leave
}

/// Draws the labels, each on a strip of the card's colour so that grid and faint lines do not strike it through.
pub fn draw(painter: &Painter, ground: Color32, frame: Rect, lines: &[Vec<Pos2>], labels: Vec<Label>) {
    let sizes: Vec<Vec2> = labels.iter().map(|label| label.galley.size()).collect();
    let anchors: Vec<Vec<Pos2>> = labels.iter().map(|label| label.anchors.clone()).collect();
    let rects = place(frame, lines, &sizes, &anchors);
    for (label, rect) in labels.into_iter().zip(rects) {
        painter.rect_filled(rect.expand2(vec2(2.0, 0.0)), 2.0, ground.gamma_multiply(0.85));
        painter.galley(rect.min, label.galley, Color32::PLACEHOLDER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect::from_min_max(Pos2::ZERO, Pos2::new(400.0, 160.0));

    fn flat(y: f32) -> Vec<Pos2> {
        (0..=20).map(|at| pos2(at as f32 * 20.0, y)).collect()
    }

    fn placed(lines: &[Vec<Pos2>]) -> Vec<Rect> {
        let sizes = vec![vec2(90.0, 13.0); lines.len()];
        let anchors: Vec<_> = lines.iter().map(|line| vec![line[line.len() - 1]]).collect();
        place(FRAME, lines, &sizes, &anchors)
    }

    #[test]
    fn names_of_flat_and_close_curves_stand_off_all_of_them() {
        for heights in [&[80.0][..], &[80.0, 84.0], &[20.0, 24.0, 30.0], &[2.0, 158.0]] {
            let lines: Vec<_> = heights.iter().map(|&y| flat(y)).collect();
            let rects = placed(&lines);
            for (at, rect) in rects.iter().enumerate() {
                assert!(FRAME.contains_rect(*rect), "{heights:?}: {rect:?}");
                assert!(
                    lines.iter().all(|line| hits(line, *rect) == 0),
                    "{heights:?}: {rect:?}"
                );
                assert!(rects[..at].iter().all(|other| !other.intersects(*rect)));
            }
        }
    }

    /// A run beside another that is further on: two curves of each, whose ends lie close together at the bottom.
    #[test]
    fn names_of_a_run_and_of_the_one_drawn_over_it_stand_off_each_other() {
        let falling = |end: f32, from: f32, to: f32| -> Vec<Pos2> {
            let points = (end * 8.0) as usize;
            let share = |at: usize| at as f32 / points as f32;
            let height = |at: usize| from + (to - from) * (2.0 * share(at)).min(1.0);
            (0..=points).map(|at| pos2(end * share(at), height(at))).collect()
        };
        let lines = [
            falling(45.0, 155.0, 155.0),
            falling(45.0, 60.0, 115.0),
            falling(118.0, 155.0, 155.0),
            falling(118.0, 20.0, 148.0),
        ];
        let sizes = [88.0, 78.0, 140.0, 140.0].map(|width| vec2(width, 14.0));
        let anchors: Vec<_> = lines.iter().map(|line| vec![line[line.len() - 1]]).collect();
        let rects = place(FRAME, &lines, &sizes, &anchors);
        for (at, rect) in rects.iter().enumerate() {
            assert!(
                rects[..at].iter().all(|other| !other.intersects(*rect)),
                "{rects:?}"
            );
            assert!(lines.iter().all(|line| hits(line, *rect) == 0), "{rects:?}");
        }
    }

    /// The mark of the clip norm over a histogram of gradient norms: its name once stood over the unit in the corner
    /// where the card is narrow.
    #[test]
    fn a_marks_name_stands_off_the_unit_in_the_corner_however_narrow_the_frame() {
        let (unit, name) = (vec2(40.0, 14.0), vec2(78.0, 14.0));
        for width in 100..400_u16 {
            let frame = Rect::from_min_size(Pos2::ZERO, vec2(f32::from(width), 120.0));
            let corner = Rect::from_min_size(pos2(6.0, 0.0), unit);
            for share in [0.02, 0.1, 0.4, 0.7, 0.98] {
                let x = frame.width() * share;
                let mut lines = vec![vec![pos2(x, 0.0), pos2(x, 120.0)]];
                lines.extend(strokes(corner));
                let anchors = vec![pos2(x, 12.0), pos2(x, 40.0)];
                let rects = place(frame, &lines, &[name], &[anchors]);
                assert!(!rects[0].intersects(corner), "{width} {share}: {rects:?}");
            }
        }
    }

    #[test]
    fn labels_of_an_axis_stay_in_their_room_and_off_each_other() {
        let (count, width) = (9_u8, 34.0);
        for end in 20..400_u16 {
            let room = Rangef::new(0.0, f32::from(end));
            let middles = (0..count).map(|at| room.max * f32::from(at) / f32::from(count - 1));
            let lefts = along(room, middles.map(|middle| (middle, width)));
            assert_eq!(lefts.len(), usize::from(count));
            let placed: Vec<f32> = lefts.into_iter().flatten().collect();
            assert!(placed.is_empty() == (room.max < width));
            assert!(placed.iter().all(|left| *left >= 0.0 && left + width <= room.max));
            assert!(placed.windows(2).all(|pair| pair[0] + width < pair[1]));
        }
    }

    /// A limit near the floor, where a falling curve begins high above it and comes down to it.
    #[test]
    fn a_limits_name_stands_near_the_limit() {
        let limit = vec![pos2(0.0, 150.0), pos2(400.0, 150.0)];
        let curve = [0.0, 4.0, 8.0, 300.0]
            .map(|x| pos2(x, (x * 18.0).min(148.0)))
            .to_vec();
        let anchors = vec![[0.01, 0.4, 0.75].map(|share| pos2(400.0 * share, 150.0)).to_vec()];
        let rect = place(FRAME, &[limit, curve], &[vec2(90.0, 13.0)], &anchors)[0];
        assert!((130.0..=150.0).contains(&rect.bottom()), "{rect:?}");
    }

    #[test]
    fn the_name_of_a_restless_curve_stands_near_its_end() {
        let jump = |at: i32| pos2(at as f32, if at % 2 == 0 { 20.0 } else { 150.0 });
        let line: Vec<Pos2> = (0..=400).map(jump).collect();
        let end = line[line.len() - 1];
        let rect = placed(std::slice::from_ref(&line))[0];
        assert!((rect.center().y - end.y).abs() < 40.0, "{rect:?}");
    }

    #[test]
    fn a_frame_without_room_still_gets_every_name() {
        let lines: Vec<_> = (0..40).map(|at| flat(at as f32 * 4.0)).collect();
        let rects = placed(&lines);
        assert_eq!(rects.len(), 40);
        assert!(rects.iter().all(|rect| FRAME.contains_rect(*rect)));
    }

    #[test]
    fn a_piece_through_a_rectangle_is_seen_and_one_beside_it_is_not() {
        let rect = Rect::from_min_max(pos2(10.0, 10.0), pos2(20.0, 20.0));
        assert!(crosses(pos2(0.0, 15.0), pos2(30.0, 15.0), rect));
        assert!(crosses(pos2(0.0, 0.0), pos2(30.0, 30.0), rect));
        assert!(!crosses(pos2(0.0, 5.0), pos2(30.0, 5.0), rect));
        assert!(!crosses(pos2(0.0, 12.0), pos2(8.0, 30.0), rect));
    }
}
