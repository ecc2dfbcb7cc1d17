//! Ticks, positions and labels of figures, for arbitrary data.

use proptest::prelude::*;

use super::ticks::{Tick, ticks};
use super::*;
use crate::device::{DeviceSheet, Pipe};
use crate::measure::Summary;
use crate::project::manifest::{Accuracy, OperationKind};
use crate::speed_of_light::ceilings::{Basis, Ceiling, Ceilings, Origin as Source};
use crate::speed_of_light::minimal_work::{ByteCount, MinimalWork, Operands};
use crate::speed_of_light::roofline::{Level, Traffic};
use crate::units::{Bytes, BytesPerSecond, Flops, Fraction, Seconds};

fn labelled(axis: &Axis, low: f64, high: f64, most: usize) -> Vec<String> {
    let places = |value| axis.scale.place(value).unwrap();
    let limits = Limits::between(places(low), places(high));
    let few = |all: &[Tick]| all.iter().filter(|tick| tick.label.is_some()).count() <= most;
    ticks(axis, limits, few).into_iter().filter_map(|tick| tick.label).collect()
}

#[test]
fn labels_are_round_numbers_with_one_prefix() {
    let check = |axis: &Axis, (low, high, most): (f64, f64, usize), expected: &[&str]| {
        assert_eq!(labelled(axis, low, high, most), expected, "{low} to {high}");
    };
    let time = Axis::linear("", Unit::Seconds);
    check(&time, (0.0, 2.6e-4, 4), &["0 µs", "100 µs", "200 µs"]);
    check(&time, (1.27e-4, 1.285e-4, 4), &["127.0 µs", "127.5 µs", "128.0 µs", "128.5 µs"]);
    check(&Axis::linear("", Unit::Fraction), (0.0, 1.0, 3), &["0 %", "50 %", "100 %"]);
    check(&Axis::linear("", Unit::Count), (1.0, 3.4, 9), &["1", "2", "3"]);
    let time = Axis::logarithmic("", Unit::Seconds);
    check(&time, (9e-7, 2e-2, 9), &["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
    check(&time, (9e-6, 1.1e-4, 9), &["10 µs", "20 µs", "50 µs", "100 µs"]);
    check(&time, (1.2e-4, 1.7e-4, 3), &["120 µs", "140 µs", "160 µs"]);
    let rate = Axis::logarithmic("", Unit::FlopsPerSecond);
    check(&rate, (5e10, 2e15, 9), &["100 G", "1 T", "10 T", "100 T", "1 P"]);
    let intensity = Axis::logarithmic("", Unit::Intensity);
    check(&intensity, (0.05, 2000.0, 9), &["0.1", "1", "10", "100", "1000"]);
}

#[test]
fn what_has_no_place_is_refused() {
    let check = |x: f64, y: Reading| {
        let axis = |title| Axis::logarithmic(title, Unit::Seconds);
        let mut figure = Figure::new("", axis("x"), axis("y"));
        assert!(figure.add(mark(1, x, y)).is_err(), "{x} {y:?}");
        assert!(figure.items().is_empty());
    };
    check(f64::NAN, 1.0.into());
    check(1.0, f64::INFINITY.into());
    check(0.0, 1.0.into());
    check(1.0, (-1.0).into());
    check(1.0, Reading::within(1.0, (f64::NAN, 2.0)));
    check(1.0, Reading::within(1.0, (2.0, 3.0)));
    let mut rows = Figure::of_rows("", Axis::from_zero("", Unit::Fraction), vec![Row::default()]);
    assert!(rows.add(mark(1, 0.5, 1.0.into())).is_err(), "a row that is not there");
    assert!(rows.add(mark(1, 0.5, 0.0.into())).is_ok());
}

fn mark(id: i64, x: f64, y: Reading) -> Item {
    Item::Mark(Mark {
        id: MarkId::only(id),
        name: format!("<run {id}>"),
        x: x.into(),
        y,
        origin: Origin::ALL[id.unsigned_abs() as usize % 4],
        hue: Hue::Series(id.unsigned_abs() as usize),
        emphasis: Emphasis::Normal,
        label: Some(format!("run {id}")),
        details: Vec::new(),
    })
}

/// Every coordinate of a scene.
fn coordinates(scene: &Scene) -> Vec<Point> {
    let corners = |place: &Rect| {
        vec![Point { x: place.left, y: place.top }, Point { x: place.right, y: place.bottom }]
    };
    let of_shapes = scene.shapes.iter().flat_map(|shape| match shape {
        Shape::Line { points, .. } | Shape::Area { corners: points, .. } => points.clone(),
        Shape::Box { place, .. } => corners(place),
        Shape::Symbol { at, .. } | Shape::Pointer { at, .. } | Shape::Text { at, .. } => vec![*at],
    });
    of_shapes.chain(scene.spots.iter().flat_map(|spot| corners(&spot.place))).collect()
}

fn check_scene(figure: &Figure, view: View, size: (f64, f64)) {
    let scene = lay_out(figure, view, size, &Typical);
    for point in coordinates(&scene) {
        let inside = |c: f64, far: f64| (-60.0..=far + 60.0).contains(&c);
        let (width, height) = (scene.width, scene.height.max(size.1));
        assert!(inside(point.x, width) && inside(point.y, height), "{point:?} in {size:?}");
    }
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![-1e3..1e3, Just(0.0), Just(1e-300), Just(1e299), Just(-1e299), -1e-9..1e-9]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-9..1e3, Just(f64::MIN_POSITIVE), Just(1e299), Just(1.0)]
}

proptest! {
    #[test]
    fn ticks_lie_inside_in_order(low in finite(), high in finite(), most in 1_usize..12) {
        for scale in [Axis::linear("", Unit::Seconds), Axis::logarithmic("", Unit::Count)] {
            let limits = match scale.scale {
                Scale::Linear => Limits::between(low, high),
                Scale::Logarithmic => Limits::between(low.clamp(-300.0, 300.0), high.clamp(-300.0, 300.0)),
            };
            let few = |all: &[Tick]| all.iter().filter(|tick| tick.label.is_some()).count() <= most;
            let all = ticks(&scale, limits, few);
            for pair in all.windows(2) {
                prop_assert!(pair[0].place < pair[1].place, "{all:?}");
            }
            for tick in &all {
                prop_assert!(limits.contains(tick.place), "{tick:?} in {limits:?}");
            }
        }
    }

    #[test]
    fn finite_data_have_finite_places(
        values in prop::collection::vec((finite(), positive()), 0..12),
        size in (80.0..900.0, 60.0..600.0),
        (zoom, shift) in (1e-6..1e6, -5.0..5.0),
    ) {
        let (x, y) = (Axis::linear("x", Unit::Count), Axis::logarithmic("y", Unit::Seconds));
        let mut figure = Figure::new("any", x, y);
        for (index, (x, y)) in values.iter().enumerate() {
            figure.add(mark(index as i64, *x, (*y).into())).unwrap();
            let until = *x;
            let course = Course::Level { y: *y, from: Some(until) };
            let (stroke, hue) = (Stroke::Dashed, Hue::Ink);
            let label = Some("a roof".to_owned());
            figure.add(Item::Line(Line { course, stroke, hue, label, meaning: None })).unwrap();
        }
        let course = Course::Path(values.clone());
        let (stroke, hue) = (Stroke::Solid, Hue::Quiet);
        figure.add(Item::Line(Line { course, stroke, hue, label: None, meaning: None })).unwrap();
        let fit = figure.fit();
        check_scene(&figure, fit, size);
        let moved = |limits: Limits| limits.zoomed(zoom, 0.3 + shift);
        check_scene(&figure, View { x: moved(fit.x), y: moved(fit.y) }, size);
        prop_assert!(figure.csv().unwrap().lines().count() >= 1);
    }
}

#[test]
fn a_picture_grows_with_the_labels_of_a_far_zoom() {
    let (x, y) = (Axis::linear("x", Unit::Count), Axis::logarithmic("y", Unit::Seconds));
    let mut figure = Figure::new("any", x, y);
    figure.add(mark(0, 0.0, 1e299.into())).unwrap();
    let fit = figure.fit();
    let far = |limits: Limits| limits.zoomed(1e-6, 0.3);
    check_scene(&figure, View { x: far(fit.x), y: far(fit.y) }, (80.0, 380.0));
}

fn ceilings() -> Ceilings {
    let mut ceilings = Ceilings::new(DeviceSheet::named("h200").unwrap(), None, Basis::Sheet);
    let origin = Source::Measured { date: "2026-11-21".to_owned(), method: "read".to_owned() };
    ceilings.dram = Some(Ceiling { value: BytesPerSecond(4.5e12), origin: origin.clone() });
    ceilings.l2 = Some(Ceiling { value: BytesPerSecond(9.8e12), origin });
    ceilings
}

fn work(flops: f64) -> MinimalWork {
    MinimalWork {
        read: Bytes(268_451_840),
        written: Bytes(268_435_456),
        bytes: ByteCount::Tensors,
        working_set: Bytes(536_887_296),
        operations: vec![(OperationKind::Arithmetic, Flops(flops))],
        accuracy: Accuracy::F32,
        operands: Operands::Floats { widest: 8, narrowest: 8 },
        broadcast: 0.0,
    }
}

fn run(number: i64, time: f64) -> RunPoint {
    RunPoint {
        run: number,
        name: format!("run {number}"),
        label: Some(format!("#{number}")),
        time: Seconds(time),
        interval: Some((Seconds(time * 0.99), Seconds(time * 1.01))),
        traffic: vec![
            (Level::Dram, Bytes(536_887_296), Traffic::Compulsory),
            (Level::L2, Bytes(805_322_752), Traffic::Counted),
        ],
        origin: Origin::Measured,
        emphasis: Emphasis::Normal,
    }
}

const PIPES: [Pipe; 2] = [Pipe::Fp32, Pipe::TensorBf16];

#[test]
fn a_roofline_has_its_roofs_and_runs() {
    let ceilings = ceilings();
    let shown = Roofs { ceilings: &ceilings, pipes: &PIPES, levels: &[Level::Dram, Level::L2] };
    let runs = [run(1, 1.65e-4), run(2, 1.28e-4)];
    let figure = roofline(shown, &work(5.4e8), &runs, Trail::Shown).unwrap();
    assert_eq!(figure.chosen_order().len(), 2);
    let chosen = RunPoint { emphasis: Emphasis::Chosen, ..run(3, 1.2e-4) };
    let both = roofline(shown, &work(5.4e8), &[chosen], Trail::Shown).unwrap();
    assert_eq!(both.chosen_order().len(), 2, "only what is chosen has a mark at L2, too");
    let text = svg(&figure, (640.0, 400.0), Page::Alone);
    for part in ["DRAM 4.50 TB/s", "L2 9.80 TB/s", "FP32 66.9 TFLOP/s", "BF16 tensor 990 TFLOP/s"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(text.contains("measured ceiling") && text.contains("stroke-dasharray"));
    let table = figure.csv().unwrap();
    assert!(table.contains("FP32 ceiling") && table.contains("run 2"), "{table}");
    let nothing = roofline(shown, &work(0.0), &runs, Trail::Shown);
    assert!(matches!(nothing, Err(NoRoofline::NoPoint(_))), "{nothing:?}");
}

#[test]
fn words_lie_nowhere_upon_each_other() {
    let ceilings = ceilings();
    let pipes = Pipe::ALL;
    let shown = Roofs { ceilings: &ceilings, pipes: &pipes, levels: &[Level::Dram, Level::L2] };
    let runs: Vec<RunPoint> = (1..9).map(|n| run(n, 1.3e-4 * (1.0 + n as f64 * 0.02))).collect();
    let figure = roofline(shown, &work(5.4e8), &runs, Trail::Shown).unwrap();
    for size in [(300.0, 240.0), (640.0, 400.0), (1200.0, 700.0)] {
        let scene = lay_out(&figure, figure.fit(), size, &Typical);
        let placed = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { at, anchor, size, text, angle, .. } if *angle == 0.0 => {
                let (width, height) = (Typical.width(text, *size), Typical.height(*size) - 2.0);
                let left = match anchor {
                    Anchor::Start => at.x,
                    Anchor::Middle => at.x - width / 2.0,
                    Anchor::End => at.x - width,
                };
                let middle = Point { x: left + width / 2.0, y: at.y };
                Some((text, Rect::around(middle, width, height)))
            }
            Shape::Text { .. }
            | Shape::Line { .. }
            | Shape::Area { .. }
            | Shape::Box { .. }
            | Shape::Symbol { .. }
            | Shape::Pointer { .. } => None,
        });
        let placed: Vec<_> = placed.collect();
        for (index, (one, place)) in placed.iter().enumerate() {
            for (other, there) in &placed[index + 1..] {
                assert!(!place.meets(*there), "`{one}` upon `{other}` at {size:?}");
            }
        }
    }
}

#[test]
fn every_origin_has_a_form_of_its_own() {
    let mut figure =
        Figure::new("origins", Axis::linear("", Unit::Count), Axis::linear("", Unit::Count));
    for id in 0..4 {
        figure.add(mark(id, id as f64, 1.0.into())).unwrap();
    }
    let key: Vec<String> = figure.key().into_iter().map(|(_, name)| name).collect();
    assert_eq!(key, ["measured", "modelled", "predicted", "recorded"]);
    let text = svg(&figure, (400.0, 200.0), Page::Inline);
    for part in ["<circle", "stroke-dasharray=\"2.2 2.4\"", "&lt;run 1&gt;"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("http"), "nothing is fetched, and nothing seems to be");
}

#[test]
fn rows_say_their_numbers_beside_or_above_lengths() {
    let unit = |id, name: &str, share: f64, pinned| BusyUnit {
        id,
        name: name.to_owned(),
        share: Fraction(share),
        amount: "3.41 of 4.80 TB/s".to_owned(),
        pinned: Some(Fraction(pinned)),
        origin: Origin::Measured,
        emphasis: Emphasis::Normal,
    };
    let units = [unit(1, "DRAM", 0.71, 0.668), unit(2, "FP32", 0.11, 0.11)];
    let figure = speed_of_light(&units, Some("best")).unwrap();
    for width in [300.0, 800.0] {
        let scene = lay_out(&figure, figure.fit(), (width, 100.0), &Typical);
        let said: Vec<&str> = scene
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text { text, .. } => Some(text.as_str()),
                Shape::Line { .. }
                | Shape::Area { .. }
                | Shape::Box { .. }
                | Shape::Symbol { .. }
                | Shape::Pointer { .. } => None,
            })
            .collect();
        for part in ["DRAM", "71.0 %", "4.2", "0.0"] {
            assert!(said.contains(&part), "{part} in {said:?}");
        }
    }
}

#[test]
fn one_hiccup_leaves_room_for_all_other_samples() {
    let mut samples: Vec<f64> = (0..60).map(|n| 1.28e-4 + f64::from(n % 7) * 2e-7).collect();
    samples.push(9e-4);
    let rounds: Vec<Vec<Seconds>> =
        samples.chunks(5).map(|chunk| chunk.iter().copied().map(Seconds).collect()).collect();
    let run = SampledRun {
        run: 1,
        name: "registers".to_owned(),
        summary: Summary::from_rounds(&rounds).unwrap(),
        samples: rounds.concat(),
        origin: Origin::Measured,
    };
    let figure = distribution(&[run]).unwrap();
    assert!(figure.fit().x.high() < 2e-4, "{:?}", figure.fit());
    let Vertical::Rows(rows) = figure.y() else { panic!("rows") };
    assert!(rows[0].note.contains("61 samples, 1 outlier not drawn"), "{rows:?}");
}

#[test]
fn times_are_told_against_bounds_and_sizes() {
    let size = |id, size, time: f64| ScalingPoint {
        id,
        name: format!("{size} rows"),
        size,
        time: Seconds(time),
        interval: None,
        origin: Origin::Measured,
        bound: Some(Seconds(time * 0.7)),
    };
    let sizes = [size(2, 16384, 1.28e-4), size(1, 64, 2.38e-6)];
    for what in [ScalingQuantity::Time, ScalingQuantity::BoundFraction] {
        let figure = scaling("rows", &sizes, what).unwrap();
        assert_eq!(figure.chosen_order(), [MarkId::only(1), MarkId::only(2)]);
    }
    let share = scaling("rows", &sizes, ScalingQuantity::BoundFraction).unwrap().csv().unwrap();
    assert!(share.contains("Speed of light"), "{share}");
    let movers = [BandwidthRun {
        run: 7,
        name: "vector16".to_owned(),
        rate: BytesPerSecond(4.1e12),
        origin: Origin::Measured,
        emphasis: Emphasis::Chosen,
    }];
    let table = bandwidth(&ceilings(), &movers).unwrap().csv().unwrap();
    assert!(table.contains("DRAM ceiling,4.5e12") && table.contains("vector16,4.1e12"), "{table}");
}
