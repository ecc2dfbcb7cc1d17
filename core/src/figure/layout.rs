//! Lays a figure out as a scene: frame, axes, rows, then the content.

use super::content::{Direction, Emphasis, Row};
use super::draw::draw;
use super::key::header;
use super::places::Places;
use super::scene::{Anchor, Ink, Measure, Point, Rect, Scene, Shape, TextSize};
use super::ticks::{Tick, ticks};
use super::{Axis, Figure, Item, Limits, Vertical, View};

const SMALL: TextSize = TextSize::Small;
const GAP: f64 = 8.0;
/// The height of a row.
const ROW: f64 = 26.0;
/// Room for a distribution at least.
const TALL_ROW: f64 = 56.0;
/// The least useful width of a bar.
const LEAST_BAR: f64 = 120.0;

/// Places a figure in a rectangle.
#[must_use]
pub fn lay_out(
    figure: &Figure,
    view: View,
    (width, height): (f64, f64),
    measure: &impl Measure,
) -> Scene {
    let frame = Rect { left: 0.0, top: 0.0, right: width, bottom: height };
    let (shapes, spots, key) = (Vec::new(), Vec::new(), Vec::new());
    let mut scene = Scene { width, height, frame, shapes, surrounding: 0, spots, key };
    let places = match figure.y() {
        Vertical::Axis(axis) => with_axis(&mut scene, figure, axis, view, measure),
        Vertical::Rows(rows) => with_rows(&mut scene, figure, rows, view, measure),
    };
    scene.frame = places.frame;
    scene.surrounding = scene.shapes.len();
    draw(&mut scene, figure, &places, measure);
    scene
}

/// The frame of a figure with two axes, with ticks and headings.
fn with_axis(
    scene: &mut Scene,
    figure: &Figure,
    axis: &Axis,
    view: View,
    measure: &impl Measure,
) -> Places {
    let small = measure.height(SMALL);
    let top = header(scene, figure, Some(&axis.heading()), measure) + GAP;
    let foot = 2.0 * small + GAP + 4.0;
    let bottom = (scene.height - foot).max(top + 20.0);
    scene.height = bottom + foot;
    let apart = |ticks: &[Tick]| {
        let mut places = ticks.iter().map(|tick| view.y.share(tick.place) * (bottom - top));
        let first = places.next();
        first.is_none_or(|first| {
            places
                .try_fold(first, |last, place| (place - last >= 2.0 * small).then_some(place))
                .is_some()
        })
    };
    let levels = ticks(axis, view.y, apart);
    let labels = levels.iter().filter_map(|tick| tick.label.as_ref());
    let widest = labels.map(|label| measure.width(label, SMALL)).fold(0.0, f64::max);
    let right = (scene.width - 12.0).max(widest + GAP + 20.0);
    scene.width = right + 12.0;
    let frame = Rect { left: widest + GAP, top, right, bottom };
    let places = Places { frame, view, rows: None };
    for tick in &levels {
        let y = places.y(tick.place);
        let at = |x: f64| Point { x, y };
        match &tick.label {
            Some(label) => {
                scene.line(vec![at(frame.left), at(frame.right)], Ink::Grid, 1.0);
                scene.text(at(frame.left - GAP + 2.0), Anchor::End, (SMALL, Ink::Weak), label);
            }
            None if has_room(frame.height(), view.y) => {
                scene.line(vec![at(frame.left), at(frame.left + 3.0)], Ink::Axis, 1.0);
            }
            None => {}
        }
    }
    along_bottom(scene, figure, &places, measure);
    let corner = Point { x: frame.left, y: frame.bottom };
    scene.line(vec![Point { y: frame.top, ..corner }, corner], Ink::Axis, 1.0);
    places
}

/// Ticks and heading of the horizontal axis.
fn along_bottom(scene: &mut Scene, figure: &Figure, places: &Places, measure: &impl Measure) {
    let (axis, frame) = (figure.x(), places.frame);
    let small = measure.height(SMALL);
    let fits = |ticks: &[Tick]| {
        let ends = ticks.iter().filter_map(|tick| {
            let half = measure.width(tick.label.as_ref()?, SMALL) / 2.0;
            let middle = inside(places.x(tick.place), half, scene.width);
            Some((middle - half - 6.0, middle + half + 6.0))
        });
        let ends: Vec<(f64, f64)> = ends.collect();
        ends.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    };
    let below = frame.bottom + 4.0 + small / 2.0;
    for tick in ticks(axis, places.view.x, fits) {
        let x = places.x(tick.place);
        let at = |y: f64| Point { x, y };
        match &tick.label {
            Some(label) => {
                for (top, bottom) in places.heights() {
                    scene.line(vec![at(top), at(bottom)], Ink::Grid, 1.0);
                }
                let half = measure.width(label, SMALL) / 2.0;
                let place = Point { x: inside(x, half, scene.width), y: below };
                scene.text(place, Anchor::Middle, (SMALL, Ink::Weak), label);
            }
            None if has_room(frame.width(), places.view.x) => {
                scene.line(vec![at(frame.bottom - 3.0), at(frame.bottom)], Ink::Axis, 1.0);
            }
            None => {}
        }
    }
    let corner = Point { x: frame.left, y: frame.bottom };
    scene.line(vec![corner, Point { x: frame.right, ..corner }], Ink::Axis, 1.0);
    let heading = axis.heading();
    if !heading.is_empty() {
        let at = Point { x: frame.right, y: below + small + 2.0 };
        scene.text(at, Anchor::End, (SMALL, Ink::Weak), &heading);
    }
}

/// The centre of a text that stays inside the picture.
fn inside(middle: f64, half: f64, width: f64) -> f64 {
    middle.min(width - half).max(half)
}

/// Whether minor ticks of a logarithmic axis are far enough apart.
fn has_room(length: f64, limits: Limits) -> bool {
    length / limits.span() >= 80.0
}

/// The widths of the columns of a row.
struct Columns {
    name: f64,
    value: f64,
    note: f64,
    change: f64,
}

impl Columns {
    fn from_rows(rows: &[Row], measure: &impl Measure) -> Self {
        let widest = |text: &dyn Fn(&Row) -> f64| rows.iter().map(text).fold(0.0, f64::max);
        let padded = |width: f64| if width > 0.0 { width + 12.0 } else { 0.0 };
        Self {
            name: padded(widest(&|row| measure.width(&row.name, TextSize::Strong))),
            value: padded(widest(&|row| measure.width(&row.value, TextSize::Strong))),
            note: padded(widest(&|row| measure.width(&row.note, SMALL))),
            change: padded(widest(&|row| {
                row.change.as_ref().map_or(0.0, |c| CHANGE + measure.width(&c.text, SMALL))
            })),
        }
    }
}

/// The pointer before a change.
const CHANGE: f64 = 14.0;

/// The frame of a figure with rows: columns side by side if they fit, else names and numbers above the bars.
fn with_rows(
    scene: &mut Scene,
    figure: &Figure,
    rows: &[Row],
    view: View,
    measure: &impl Measure,
) -> Places {
    let small = measure.height(SMALL);
    let header = header(scene, figure, None, measure);
    let top = if header > 0.0 { header + GAP } else { 2.0 };
    let columns = Columns::from_rows(rows, measure);
    let beside = columns.value + columns.note + columns.change;
    let heading = if figure.x().heading().is_empty() { 0.0 } else { small + 2.0 };
    let foot = small + 6.0 + heading;
    // A distribution needs all the width that there is.
    let has_cloud = figure.items().iter().any(|item| matches!(item, Item::Cloud(_)));
    let is_wide = !has_cloud && columns.name + LEAST_BAR + beside <= scene.width;
    let words = if is_wide { 0.0 } else { measure.height(TextSize::Strong) + 3.0 };
    let least = if has_cloud {
        TALL_ROW + words
    } else if is_wide {
        ROW
    } else {
        words + 20.0
    };
    let offered = (scene.height - top - foot) / rows.len().max(1) as f64;
    let each = if has_cloud { offered.clamp(least, 3.0 * TALL_ROW) } else { least };
    let bottom = top + each * rows.len() as f64;
    scene.height = bottom + foot;
    let (left, right) = if is_wide {
        (columns.name, scene.width - beside - if beside > 0.0 { 0.0 } else { 12.0 })
    } else {
        (2.0, (scene.width - 12.0).max(22.0))
    };
    let bands =
        (0..rows.len()).map(|row| (top + each * row as f64 + words, each - words)).collect();
    let frame = Rect { left, top, right, bottom };
    let places = Places { frame, view, rows: Some(bands) };
    along_bottom(scene, figure, &places, measure);
    for (index, row) in rows.iter().enumerate() {
        let begin = top + each * index as f64;
        if is_wide {
            wide_row(scene, row, &columns, (right, begin + each / 2.0));
        } else {
            narrow_row(scene, row, begin + words / 2.0 + 1.0, measure);
        }
    }
    places
}

fn wide_row(scene: &mut Scene, row: &Row, columns: &Columns, (right, y): (f64, f64)) {
    let at = |x: f64| Point { x, y };
    scene.text(at(0.0), Anchor::Start, look(row), &row.name);
    let mut x = right + columns.value;
    scene.text(at(x), Anchor::End, (TextSize::Strong, Ink::Strong), &row.value);
    scene.text(at(x + 12.0), Anchor::Start, (SMALL, Ink::Weak), &row.note);
    x += columns.note + 12.0;
    change(scene, row, at(x));
}

/// The text size of a name.
const fn look(row: &Row) -> (TextSize, Ink) {
    match row.emphasis {
        Emphasis::Chosen => (TextSize::Strong, Ink::Strong),
        Emphasis::Normal => (TextSize::Body, Ink::Text),
        Emphasis::Faint => (TextSize::Body, Ink::Weak),
    }
}

fn change(scene: &mut Scene, row: &Row, at: Point) {
    let Some(change) = &row.change else { return };
    let ink = match change.direction {
        Direction::Up => Ink::Good,
        Direction::Down => Ink::Bad,
        Direction::Same => Ink::Weak,
    };
    scene.shapes.push(Shape::Pointer {
        at: Point { x: at.x + 4.0, ..at },
        direction: change.direction,
        ink,
    });
    scene.text(Point { x: at.x + CHANGE, ..at }, Anchor::Start, (SMALL, ink), &change.text);
}

/// The name at the left, numbers at the right; texts that do not fit are left to cards and tables.
fn narrow_row(scene: &mut Scene, row: &Row, y: f64, measure: &impl Measure) {
    let at = |x: f64| Point { x, y };
    let mut right = scene.width - 2.0;
    if let Some(told) = &row.change {
        right -= CHANGE + measure.width(&told.text, SMALL);
        change(scene, row, at(right));
        right -= 10.0;
    }
    scene.text(at(right), Anchor::End, (TextSize::Strong, Ink::Strong), &row.value);
    right -= measure.width(&row.value, TextSize::Strong) + 10.0;
    let name = fitting(&row.name, right - 10.0, measure);
    scene.text(at(2.0), Anchor::Start, look(row), &name);
    let left = 2.0 + measure.width(&name, TextSize::Body) + 10.0;
    if !row.note.is_empty() && left + measure.width(&row.note, SMALL) <= right {
        scene.text(at(right), Anchor::End, (SMALL, Ink::Weak), &row.note);
    }
}

/// The name, shortened to the available width.
fn fitting(name: &str, room: f64, measure: &impl Measure) -> String {
    let width = |text: &str| measure.width(text, TextSize::Strong);
    if width(name) <= room {
        return name.to_owned();
    }
    let mut kept: String = name.to_owned();
    while !kept.is_empty() && width(&format!("{kept}…")) > room {
        kept.pop();
    }
    format!("{}…", kept.trim_end())
}
