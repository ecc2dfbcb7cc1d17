//! The legend above a figure, in as many lines as its width requires.

use super::Figure;
use super::content::{Emphasis, Hue, Origin, Sign, Stroke};
use super::scene::{Anchor, Dash, Ink, Measure, Point, Rect, Scene, Shape, TextSize};

const BETWEEN: f64 = 14.0;
/// The height of a line.
pub(super) const LINE: f64 = 18.0;

/// Draws the heading of the vertical axis and the legend, and returns their height.
pub(super) fn header(
    scene: &mut Scene,
    figure: &Figure,
    heading: Option<&str>,
    measure: &impl Measure,
) -> f64 {
    let small = TextSize::Small;
    let mut y = LINE / 2.0;
    let mut x = 0.0;
    if let Some(heading) = heading {
        scene.text(Point { x, y }, Anchor::Start, (small, Ink::Weak), heading);
        x = measure.width(heading, small) + BETWEEN;
    }
    let key = figure.key();
    if key.is_empty() {
        return if heading.is_some() { LINE } else { 0.0 };
    }
    let wide = |sign: Sign, name: &str| room(sign) + measure.width(name, small) + BETWEEN;
    let all: f64 = key.iter().map(|(sign, name)| wide(*sign, name)).sum::<f64>() - BETWEEN;
    if x + all <= scene.width {
        x = scene.width - all;
    } else if heading.is_some() {
        (x, y) = (0.0, y + LINE);
    }
    for (sign, name) in &key {
        if x > 0.0 && x + wide(*sign, name) - BETWEEN > scene.width {
            (x, y) = (0.0, y + LINE);
        }
        let is_hidden = figure.is_hidden(*sign);
        if !is_hidden {
            draw(scene, *sign, Point { x: x + room(*sign) / 2.0 - 3.0, y });
        }
        let ink = if is_hidden { Ink::Axis } else { Ink::Weak };
        scene.text(Point { x: x + room(*sign), y }, Anchor::Start, (small, ink), name);
        let right = x + wide(*sign, name) - BETWEEN;
        let (top, bottom) = (y - LINE / 2.0, y + LINE / 2.0);
        scene.key.push((*sign, Rect { left: x, right, top, bottom }));
        x += wide(*sign, name);
    }
    y + LINE / 2.0
}

/// The width of a sign with the gap after it.
const fn room(sign: Sign) -> f64 {
    match sign {
        Sign::Hue(_) | Sign::Origin(_) | Sign::Second => 16.0,
        Sign::Stroke(_) => 23.0,
    }
}

fn draw(scene: &mut Scene, sign: Sign, at: Point) {
    let emphasis = Emphasis::Normal;
    match sign {
        Sign::Hue(hue) => scene.shapes.push(Shape::Symbol {
            at,
            origin: Origin::Measured,
            ink: Ink::Hue(hue),
            radius: 3.5,
            emphasis,
        }),
        Sign::Origin(origin) => scene.shapes.push(Shape::Symbol {
            at,
            origin,
            ink: Ink::Hue(Hue::Origin(origin)),
            radius: 4.0,
            emphasis,
        }),
        Sign::Stroke(stroke) => {
            let (width, dash) = pen(stroke);
            let points = vec![Point { x: at.x - 8.0, ..at }, Point { x: at.x + 8.0, ..at }];
            scene.shapes.push(Shape::Line { points, ink: Ink::Hue(Hue::Ink), width, dash });
        }
        Sign::Second => {
            let points = vec![Point { y: at.y - 6.0, ..at }, Point { y: at.y + 6.0, ..at }];
            scene.line(points, Ink::Strong, 2.0);
        }
    }
}

/// The width and the dashes of a line.
pub(super) const fn pen(stroke: Stroke) -> (f64, Dash) {
    match stroke {
        Stroke::Solid => (1.5, Dash::Solid),
        Stroke::Dashed => (1.5, Dash::Dashed),
        Stroke::Hair => (1.0, Dash::Dotted),
    }
}
