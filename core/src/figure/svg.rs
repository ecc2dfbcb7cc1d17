//! Writes a scene as SVG: one file without external resources, text as text, light and dark colours, suitable for print.

use std::fmt::Write as _;

use super::content::{Direction, Emphasis, Hue, Origin};
use super::scene::{Anchor, Dash, Ink, Measure, Point, Rect, Shape, TextSize};
use super::{Figure, Item, lay_out};

/// The context of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// A separate file.
    Alone,
    /// Inline in an HTML page, without a name space.
    Inline,
}

/// Colours by purpose, all tested for contrast with the background.
const STYLE: &str = "
.fg{--paper:#fff;--grid:#e9ebee;--axis:#9aa3ad;--strong:#11161b;--text:#2b333c;--weak:#586471;--good:#1a7a3e;--bad:#c02b23;--accent:#0b61c4;--measured:#0b61c4;--modelled:#7340bf;--predicted:#a85800;--recorded:#66717d;--s0:#0b61c4;--s1:#b35900;--s2:#1a7a3e;--s3:#ad2f75;--s4:#7340bf;--s5:#7d6900;--s6:#0b7a7d;--s7:#c02b23;font-family:'IBM Plex Sans','Helvetica Neue',Arial,sans-serif;font-variant-numeric:tabular-nums}
@media (prefers-color-scheme:dark){.fg{--paper:#13171c;--grid:#232a32;--axis:#4f5b68;--strong:#f2f5f8;--text:#c9d1d9;--weak:#929daa;--good:#4fc27f;--bad:#ff7b72;--accent:#59a8ff;--measured:#59a8ff;--modelled:#b692f6;--predicted:#f0a35e;--recorded:#9aa5b1;--s0:#59a8ff;--s1:#f0a35e;--s2:#4fc27f;--s3:#e57fb4;--s4:#b692f6;--s5:#d9c351;--s6:#4cc2c4;--s7:#ff7b72}}
@media print{.fg{--paper:#fff;--grid:#ddd;--axis:#777;--strong:#000;--text:#000;--weak:#333;--good:#0d5a2c;--bad:#8f1d10;--accent:#0b61c4;--measured:#0b61c4;--modelled:#7340bf;--predicted:#a85800;--recorded:#555;--s0:#0b61c4;--s1:#b35900;--s2:#1a7a3e;--s3:#ad2f75;--s4:#7340bf;--s5:#7d6900;--s6:#0b7a7d;--s7:#c02b23}}
.fg .body{font-size:13px}.fg .small{font-size:11.5px}.fg .bold{font-size:13px;font-weight:600}
";

/// The number of distinct series colours; further series reuse them and have labels.
const SERIES: usize = 8;

/// Text widths of a typical sans-serif font, for pictures with an unknown font.
#[derive(Clone, Copy, Debug, Default)]
pub struct Typical;

impl Measure for Typical {
    fn width(&self, text: &str, size: TextSize) -> f64 {
        let em = |character: char| match character {
            'i' | 'j' | 'l' | '.' | ',' | '\'' | '|' | ':' => 0.28,
            'f' | 't' | 'r' | ' ' | '(' | ')' | '/' | '-' => 0.36,
            'm' | 'w' | 'M' | 'W' | '%' | '…' => 0.88,
            'A'..='Z' => 0.66,
            _ => 0.58,
        };
        let ems: f64 = text.chars().map(em).sum();
        match size {
            TextSize::Small => ems * 11.5,
            TextSize::Body => ems * 13.0,
            TextSize::Strong => ems * 13.6,
        }
    }

    fn height(&self, size: TextSize) -> f64 {
        match size {
            TextSize::Small => 15.0,
            TextSize::Body | TextSize::Strong => 17.0,
        }
    }
}

/// The whole figure as SVG of this size; figures with rows become as high as needed.
#[must_use]
pub fn svg(figure: &Figure, size: (f64, f64), page: Page) -> String {
    let scene = lay_out(figure, figure.fit(), size, &Typical);
    let mut out = String::new();
    let pad = match page {
        Page::Alone => 16.0,
        Page::Inline => 0.0,
    };
    let (width, height) = (scene.width + 2.0 * pad, scene.height + 2.0 * pad);
    let title = escaped(figure.title());
    out.push_str("<svg ");
    match page {
        Page::Alone => {
            write(
                &mut out,
                format_args!(
                    "xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" "
                ),
            );
        }
        Page::Inline => {}
    }
    write(
        &mut out,
        format_args!(
            "class=\"fg\" viewBox=\"{} {} {} {}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n",
            -pad,
            -pad,
            number(width),
            number(height)
        ),
    );
    match page {
        Page::Alone => {
            write(
                &mut out,
                format_args!(
                    "<rect x=\"{0}\" y=\"{0}\" width=\"{width}\" height=\"{height}\" fill=\"var(--paper)\"/>\n",
                    -pad
                ),
            );
        }
        Page::Inline => {}
    }
    for shape in &scene.shapes {
        draw(&mut out, shape);
    }
    for spot in &scene.spots {
        let Rect { left, top, .. } = spot.place;
        let words =
            figure.items().get(spot.item).map(|item| said(figure, item)).unwrap_or_default();
        write(
            &mut out,
            format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"transparent\"><title>{}</title></rect>\n",
                number(left),
                number(top),
                number(spot.place.width()),
                number(spot.place.height()),
                escaped(&words)
            ),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The card of a value, as lines.
fn said(figure: &Figure, item: &Item) -> String {
    let card = figure.card(item);
    let lines = card.rows.iter().map(|(name, value)| format!("{name} {value}"));
    std::iter::once(card.title.clone()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Writing into a text does not fail.
fn write(out: &mut String, words: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(words);
    debug_assert!(written.is_ok());
}

fn draw(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Line { points, ink, width, dash } => {
            write(
                out,
                format_args!(
                    "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{}/>\n",
                    path(points),
                    color(*ink),
                    gaps(*dash)
                ),
            );
        }
        Shape::Area { corners, ink, opacity } => {
            write(
                out,
                format_args!(
                    "<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"{opacity}\"/>\n",
                    path(corners),
                    color(*ink)
                ),
            );
        }
        Shape::Box { place, ink, opacity, edge } => {
            let ink = color(*ink);
            let edge = edge.map_or_else(String::new, |dash| {
                format!(" stroke=\"{ink}\" stroke-width=\"1.25\"{}", gaps(dash))
            });
            write(
                out,
                format_args!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{ink}\" fill-opacity=\"{opacity}\"{edge}/>\n",
                    number(place.left),
                    number(place.top),
                    number(place.width()),
                    number(place.height())
                ),
            );
        }
        Shape::Symbol { at, origin, ink, radius, emphasis } => {
            symbol(out, (*at, *radius), *origin, (*ink, *emphasis));
        }
        Shape::Pointer { at, direction, ink } => pointer(out, *at, *direction, *ink),
        Shape::Text { at, anchor, size, ink, text, angle } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let class = match size {
                TextSize::Small => "small",
                TextSize::Body => "body",
                TextSize::Strong => "bold",
            };
            let (x, y) = (number(at.x), number(at.y));
            let turned = if *angle == 0.0 {
                String::new()
            } else {
                format!(" transform=\"rotate({} {x} {y})\"", number(angle.to_degrees()))
            };
            write(
                out,
                format_args!(
                    "<text x=\"{x}\" y=\"{y}\" dy=\".35em\" text-anchor=\"{anchor}\" class=\"{class}\" fill=\"{}\"{turned}>{}</text>\n",
                    color(*ink),
                    escaped(text)
                ),
            );
        }
    }
}

fn symbol(out: &mut String, (at, radius): (Point, f64), origin: Origin, look: (Ink, Emphasis)) {
    let (ink, emphasis) = look;
    let (x, y, ink) = (number(at.x), number(at.y), color(ink));
    if emphasis == Emphasis::Chosen {
        write(
            out,
            format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" fill=\"none\" stroke=\"var(--accent)\" stroke-width=\"1.25\"/>\n",
                number(radius + 3.0)
            ),
        );
    }
    let edge = format!(
        "fill=\"var(--paper)\" stroke=\"{ink}\" stroke-width=\"{}\"",
        if radius < 2.5 { 1.0 } else { 1.75 }
    );
    match origin {
        Origin::Measured => write(
            out,
            format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{ink}\"/>\n"),
        ),
        Origin::Modelled => write(
            out,
            format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" {edge}/>\n", number(radius - 0.5)),
        ),
        Origin::Predicted => {
            let reach = radius * 1.2;
            let corners = [(0.0, -reach), (reach, 0.0), (0.0, reach), (-reach, 0.0)];
            let corners = corners.map(|(dx, dy)| Point { x: at.x + dx, y: at.y + dy });
            write(
                out,
                format_args!(
                    "<path d=\"{}Z\" {edge} stroke-dasharray=\"2.2 2.4\"/>\n",
                    path(&corners)
                ),
            );
        }
        Origin::Recorded => {
            let place = Rect::around(at, 1.7 * radius, 1.7 * radius);
            write(
                out,
                format_args!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {edge}/>\n",
                    number(place.left),
                    number(place.top),
                    number(place.width()),
                    number(place.height())
                ),
            );
        }
    }
}

fn pointer(out: &mut String, at: Point, direction: Direction, ink: Ink) {
    let point = |dx: f64, dy: f64| Point { x: at.x + dx, y: at.y + dy };
    let ink = color(ink);
    match direction {
        Direction::Up => write(
            out,
            format_args!(
                "<path d=\"{}Z\" fill=\"{ink}\"/>\n",
                path(&[point(-4.0, 3.0), point(4.0, 3.0), point(0.0, -4.0)])
            ),
        ),
        Direction::Down => write(
            out,
            format_args!(
                "<path d=\"{}Z\" fill=\"{ink}\"/>\n",
                path(&[point(-4.0, -3.0), point(4.0, -3.0), point(0.0, 4.0)])
            ),
        ),
        Direction::Same => {
            for dy in [-1.75, 1.75] {
                write(
                    out,
                    format_args!(
                        "<path d=\"{}\" stroke=\"{ink}\" stroke-width=\"1.25\"/>\n",
                        path(&[point(-4.0, dy), point(4.0, dy)])
                    ),
                );
            }
        }
    }
}

fn path(points: &[Point]) -> String {
    let mut text = String::new();
    for (index, point) in points.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        write(&mut text, format_args!("{letter}{} {}", number(point.x), number(point.y)));
    }
    text
}

const fn gaps(dash: Dash) -> &'static str {
    match dash {
        Dash::Solid => "",
        Dash::Dashed => " stroke-dasharray=\"6 4\"",
        Dash::Dotted => " stroke-dasharray=\"1.5 3\"",
    }
}

fn color(ink: Ink) -> String {
    let name = match ink {
        Ink::Hue(Hue::Origin(origin)) => origin.word(),
        Ink::Hue(Hue::Series(index)) => return format!("var(--s{})", index % SERIES),
        Ink::Hue(Hue::Ink) | Ink::Text => "text",
        Ink::Hue(Hue::Quiet) | Ink::Weak => "weak",
        Ink::Ground => "paper",
        Ink::Grid => "grid",
        Ink::Axis => "axis",
        Ink::Strong => "strong",
        Ink::Good => "good",
        Ink::Bad => "bad",
        Ink::Accent => "accent",
    };
    format!("var(--{name})")
}

/// Coordinates are rounded to 0.01.
fn number(coordinate: f64) -> f64 {
    (coordinate * 100.0).round() / 100.0
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in lightbench_primitives::display_text::visible_lines(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}
