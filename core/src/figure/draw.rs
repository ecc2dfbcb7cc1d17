//! Places the content of a figure: areas below lines, lines below bars, bars below marks, text last.

use super::content::{
    Arrow, Band, Bar, Cloud, Course, Depth, Emphasis, Hue, Line, Mark, Origin, Reading, Span,
    Stroke,
};
use super::key::pen;
use super::labels::Labels;
use super::places::Places;
use super::scene::{Dash, Ink, Measure, Point, Rect, Scene, Shape, Spot};
use super::{Figure, Item, Scale, Vertical};

/// Draws all items of a figure.
pub(super) fn draw(scene: &mut Scene, figure: &Figure, places: &Places, measure: &impl Measure) {
    let mut items: Vec<(usize, &Item)> = figure.items().iter().enumerate().collect();
    items.sort_by_key(|(_, item)| depth(item));
    let mut labels = Labels::new(places.frame);
    for (index, item) in &items {
        match item {
            Item::Band(band) => draw_band(scene, figure, places, band),
            Item::Line(line) => draw_line(scene, figure, places, line, &mut labels),
            Item::Cloud(cloud) => draw_cloud(scene, figure, places, cloud),
            Item::Span(span) => draw_span(scene, figure, places, (*index, span)),
            Item::Bar(bar) => draw_bar(scene, figure, places, (*index, bar)),
            Item::Arrow(arrow) => draw_arrow(scene, figure, places, arrow),
            Item::Mark(mark) => draw_mark(scene, figure, places, (*index, mark)),
        }
    }
    for spot in &scene.spots {
        labels.keep_free(spot.place);
    }
    // Items with the most emphasis are labelled first.
    for (_, item) in items.iter().rev() {
        if let Item::Mark(mark) = item {
            let place = figure.places((mark.x.value, mark.y.value)).map(|at| places.point(at));
            let (Some(at), Some(label)) = (place, &mark.label) else { continue };
            if places.sees(at) {
                let form = (at, reach(mark.emphasis), mark.emphasis);
                labels.beside(scene, measure, form, label);
            }
        }
    }
    for (_, item) in &items {
        if let Item::Line(line) = item {
            label_line(scene, figure, places, line, (&mut labels, measure));
        }
    }
}

/// The order of layers.
const fn depth(item: &Item) -> u8 {
    match item {
        Item::Band(_) => 0,
        Item::Line(_) => 1,
        Item::Cloud(_) => 2,
        Item::Bar(_) | Item::Span(_) => 3,
        Item::Arrow(_) => 4,
        Item::Mark(mark) => 5 + mark.emphasis as u8,
    }
}

const fn radius(emphasis: Emphasis) -> f64 {
    match emphasis {
        Emphasis::Faint => 3.0,
        Emphasis::Normal => 4.25,
        Emphasis::Chosen => 5.0,
    }
}

/// The radius of a mark: a selected mark has a ring.
const fn reach(emphasis: Emphasis) -> f64 {
    match emphasis {
        Emphasis::Faint | Emphasis::Normal => radius(emphasis),
        Emphasis::Chosen => radius(emphasis) + 4.0,
    }
}

fn draw_band(scene: &mut Scene, figure: &Figure, places: &Places, band: &Band) {
    let frame = places.frame;
    let xs = band.x.map_or(Some((frame.left, frame.right)), |(low, high)| {
        let scale = figure.x().scale;
        Some((places.x(scale.place(low)?), places.x(scale.place(high)?)))
    });
    let ys = band.y.map_or(Some((frame.bottom, frame.top)), |(low, high)| {
        let place = |value: f64| match figure.y() {
            Vertical::Axis(axis) => axis.scale.place(value),
            Vertical::Rows(_) => Some(-value),
        };
        Some((places.y(place(low)?), places.y(place(high)?)))
    });
    let area = xs.zip(ys).and_then(|(xs, ys)| places.cut_area(xs, ys));
    if let Some(place) = area {
        let opacity = match band.depth {
            Depth::Shallow => 0.12,
            Depth::Deep => 0.28,
        };
        scene.shapes.push(Shape::Box { place, ink: Ink::Hue(band.hue), opacity, edge: None });
    }
}

/// The places that a line goes through, cut off at the frame.
fn pieces(figure: &Figure, places: &Places, course: &Course) -> Vec<(Point, Point)> {
    let view = places.view;
    let from_values = |values: &[(f64, f64)]| -> Vec<Point> {
        let placed = values.iter().filter_map(|value| figure.places(*value));
        placed.map(|place| places.point(place)).collect()
    };
    let points = match course {
        Course::Path(values) => from_values(values),
        Course::Level { y, from } => {
            let x = figure.x().scale;
            let left = from.and_then(|from| x.place(from)).unwrap_or(view.x.low());
            let Some((_, y)) = figure.places((x.value(view.x.high()), *y)) else {
                return Vec::new();
            };
            let right = Point { x: places.frame.right, y: places.y(y) };
            let left = Point { x: places.x(left), y: right.y };
            if left.x > right.x { Vec::new() } else { vec![left, right] }
        }
        Course::Upright { x, row } => {
            let Some(x) = figure.x().scale.place(*x).map(|place| places.x(place)) else {
                return Vec::new();
            };
            let ends: Vec<(f64, f64)> = match row {
                None => places.heights(),
                Some(row) => {
                    let middle = -(*row as f64);
                    vec![(places.y(middle + 0.42), places.y(middle - 0.42))]
                }
            };
            let cut = |(top, bottom): &(f64, f64)| {
                places.cut(Point { x, y: *top }, Point { x, y: *bottom })
            };
            return ends.iter().filter_map(cut).collect();
        }
        Course::Proportional { rate, until } => {
            from_values(&proportional(figure, places, *rate, *until))
        }
    };
    points.windows(2).filter_map(|pair| places.cut(pair[0], pair[1])).collect()
}

/// Two ends where both axes are logarithmic, and more points where it would be no line.
fn proportional(figure: &Figure, places: &Places, rate: f64, until: f64) -> Vec<(f64, f64)> {
    let scale = figure.x().scale;
    let Some(end) = scale.place(until) else { return Vec::new() };
    let begin = places.view.x.low().min(end);
    let is_straight = scale == Scale::Logarithmic
        && matches!(figure.y(), Vertical::Axis(axis) if axis.scale == Scale::Logarithmic);
    let steps = if is_straight { 1 } else { 64 };
    (0..=steps)
        .map(|step| scale.value(begin + (end - begin) * f64::from(step) / f64::from(steps)))
        .map(|x| (x, rate * x))
        .collect()
}

fn draw_line(
    scene: &mut Scene,
    figure: &Figure,
    places: &Places,
    line: &Line,
    labels: &mut Labels,
) {
    let (width, dash) = pen(line.stroke);
    let mut course: Vec<Point> = Vec::new();
    let mut courses = Vec::new();
    for (from, to) in pieces(figure, places, &line.course) {
        match line.stroke {
            Stroke::Solid | Stroke::Dashed => labels.keep_line_free(from, to),
            Stroke::Hair => {}
        }
        if course.last() != Some(&from) {
            courses.push(std::mem::replace(&mut course, vec![from]));
        }
        course.push(to);
    }
    courses.push(course);
    for points in courses.into_iter().filter(|points| points.len() > 1) {
        scene.shapes.push(Shape::Line { points, ink: Ink::Hue(line.hue), width, dash });
    }
}

fn label_line(
    scene: &mut Scene,
    figure: &Figure,
    places: &Places,
    line: &Line,
    (labels, measure): (&mut Labels, &impl Measure),
) {
    let Some(label) = &line.label else { return };
    let ink = match line.hue {
        Hue::Ink => Ink::Text,
        Hue::Quiet => Ink::Weak,
        Hue::Origin(_) | Hue::Series(_) => Ink::Hue(line.hue),
    };
    let pieces = pieces(figure, places, &line.course);
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return };
    match &line.course {
        Course::Level { .. } => labels.along_level(scene, measure, *first, (label, ink)),
        Course::Proportional { .. } => {
            labels.along_slope(scene, measure, (first.0, last.1), (label, ink));
        }
        Course::Path(_) | Course::Upright { .. } => {
            let top = if last.1.y < first.0.y { last.1 } else { first.0 };
            let at = match &line.course {
                Course::Upright { .. } => {
                    Point { y: top.y + measure.height(super::TextSize::Small) / 2.0 + 2.0, ..top }
                }
                Course::Path(_) | Course::Level { .. } | Course::Proportional { .. } => last.1,
            };
            labels.beside(scene, measure, (at, 0.0, Emphasis::Normal), label);
        }
    }
}

fn draw_cloud(scene: &mut Scene, figure: &Figure, places: &Places, cloud: &Cloud) {
    let placed = cloud.points.iter().filter_map(|point| figure.places(*point));
    for at in placed.map(|place| places.point(place)).filter(|at| places.sees(*at)) {
        scene.shapes.push(Shape::Symbol {
            at,
            origin: cloud.origin,
            ink: Ink::Hue(cloud.hue),
            radius: 1.5,
            emphasis: Emphasis::Faint,
        });
    }
}

fn draw_bar(scene: &mut Scene, figure: &Figure, places: &Places, (item, bar): (usize, &Bar)) {
    let x = |value: f64| figure.x().scale.place(value).map(|place| places.x(place));
    let Some((top, bottom)) = places.row(bar.row) else { return };
    let half = ((bottom - top) * 0.3).min(6.0);
    let middle = f64::midpoint(top, bottom);
    let zero = figure.x().scale.place(0.0).map_or(places.frame.left, |zero| places.x(zero));
    let length = |to: f64| places.cut_area((zero, to), (middle - half, middle + half));
    if let Some(place) = bar.whole.and_then(x).and_then(length) {
        scene.shapes.push(Shape::Box { place, ink: Ink::Grid, opacity: 1.0, edge: None });
    }
    let (opacity, edge) = match bar.origin {
        Origin::Measured => (1.0, None),
        Origin::Modelled => (0.3, Some(Dash::Solid)),
        Origin::Predicted => (0.1, Some(Dash::Dashed)),
        Origin::Recorded => (0.0, Some(Dash::Solid)),
    };
    let hue = Hue::Origin(bar.origin);
    if let Some(place) = x(bar.value).and_then(length) {
        scene.shapes.push(Shape::Box { place, ink: Ink::Hue(hue), opacity, edge });
    }
    if let Some(at) = bar.second.and_then(x).filter(|at| *at <= places.frame.right + 1.0) {
        let ends = [middle - half - 3.0, middle + half + 3.0];
        scene.line(ends.map(|y| Point { x: at, y }).to_vec(), Ink::Strong, 2.0);
    }
    let place = Rect { left: places.frame.left, right: places.frame.right, top, bottom };
    scene.spots.push(Spot { id: bar.id, item, place });
}

/// Origins have no form here, as they would not be distinguishable in narrow spans.
fn draw_span(scene: &mut Scene, figure: &Figure, places: &Places, (item, span): (usize, &Span)) {
    let x = |value: f64| figure.x().scale.place(value).map(|place| places.x(place));
    let (Some(start), Some(end)) = (x(span.x.0), x(span.x.1)) else { return };
    // A span is at least as wide as a line.
    let end = end.max(start + 1.0);
    let Some((top, bottom)) = places.row(span.row) else { return };
    let gap = (bottom - top) * 0.14;
    let Some(place) = places.cut_area((start, end), (top + gap, bottom - gap)) else { return };
    scene.shapes.push(Shape::Box { place, ink: Ink::Hue(span.hue), opacity: 1.0, edge: None });
    scene.spots.push(Spot { id: span.id, item, place });
}

/// A way with a head; it ends before the mark that it leads to.
fn draw_arrow(scene: &mut Scene, figure: &Figure, places: &Places, arrow: &Arrow) {
    let at = |value| figure.places(value).map(|place| places.point(place));
    let ends = at(arrow.from).zip(at(arrow.to));
    let Some((from, to)) = ends.and_then(|(from, to)| places.cut(from, to)) else { return };
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    if length < 24.0 {
        return;
    }
    let along = (dx / length, dy / length);
    let point = |distance: f64, aside: f64| Point {
        x: from.x + along.0 * distance - along.1 * aside,
        y: from.y + along.1 * distance + along.0 * aside,
    };
    let ink = Ink::Hue(arrow.hue);
    let tip = length - 9.0;
    scene.line(vec![point(7.0, 0.0), point(tip - 5.0, 0.0)], ink, 1.25);
    let corners = vec![point(tip, 0.0), point(tip - 7.0, 3.0), point(tip - 7.0, -3.0)];
    scene.shapes.push(Shape::Area { corners, ink, opacity: 1.0 });
}

fn draw_mark(scene: &mut Scene, figure: &Figure, places: &Places, (item, mark): (usize, &Mark)) {
    let Some(place) = figure.places((mark.x.value, mark.y.value)) else { return };
    let at = places.point(place);
    if !places.sees(at) {
        return;
    }
    let ink = Ink::Hue(mark.hue);
    let whiskers = |scene: &mut Scene, reading: Reading, to: &dyn Fn(f64) -> Option<Point>| {
        let Some((low, high)) = reading.interval else { return };
        let ends = to(low).zip(to(high)).and_then(|(low, high)| places.cut(low, high));
        let Some((from, to)) = ends else { return };
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        if dx.hypot(dy) < 2.0 {
            return;
        }
        // A cap lies across its line.
        let across = if dx.abs() > dy.abs() { (0.0, 3.0) } else { (3.0, 0.0) };
        scene.line(vec![from, to], ink, 1.25);
        for end in [from, to] {
            let cap = |sign: f64| Point { x: end.x + sign * across.0, y: end.y + sign * across.1 };
            scene.line(vec![cap(-1.0), cap(1.0)], ink, 1.25);
        }
    };
    whiskers(scene, mark.x, &|x| Some(places.point(figure.places((x, mark.y.value))?)));
    whiskers(scene, mark.y, &|y| Some(places.point(figure.places((mark.x.value, y))?)));
    let radius = radius(mark.emphasis);
    let (origin, emphasis) = (mark.origin, mark.emphasis);
    scene.shapes.push(Shape::Symbol { at, origin, ink, radius, emphasis });
    let side = 2.0 * reach(mark.emphasis) + 2.0;
    scene.spots.push(Spot { id: mark.id, item, place: Rect::around(at, side, side) });
}
