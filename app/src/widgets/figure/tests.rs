//! Tests of figures by label, key and pointer, and of their pictures.

use egui::{Key, Modifiers, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use lightbench_core::figure::{
    Axis, Course, Emphasis, Figure, Hue, Item, Line, Mark, MarkId, Origin, Reading, Typical, Unit,
};

use super::*;
use crate::testing;
use crate::theme::ThemeName;

/// A figure with one mark per origin.
fn origins() -> Figure {
    let x = Axis::logarithmic("Rows", Unit::Count);
    let mut figure = Figure::new("Origins", x, Axis::logarithmic("Time", Unit::Seconds));
    for (index, origin) in Origin::ALL.into_iter().enumerate() {
        let value = 1.2e-5 * 2.5_f64.powi(index as i32);
        let mark = Mark {
            id: MarkId::only(index as i64),
            name: format!("run {index}"),
            x: (64.0 * 4.0_f64.powi(index as i32)).into(),
            y: Reading::within(value, (value * 0.85, value * 1.2)),
            origin,
            hue: Hue::Origin(origin),
            emphasis: if index == 2 { Emphasis::Chosen } else { Emphasis::Normal },
            label: Some(origin.word().to_owned()),
            details: vec![("Registers".to_owned(), "40".to_owned())],
        };
        figure.add(Item::Mark(mark)).unwrap();
    }
    figure
}

struct State {
    view: FigureView,
    chosen: Vec<MarkId>,
    exports: Vec<Export>,
    hovered: Option<MarkId>,
}

fn shown(theme: ThemeName) -> Harness<'static, State> {
    let state = State {
        view: FigureView::default(),
        chosen: Vec::new(),
        exports: Vec::new(),
        hovered: None,
    };
    testing::harness(theme, [480.0, 330.0], state, |ui, state: &mut State| {
        let shown = show(ui, &origins(), &mut state.view, 280.0, |_| {});
        state.chosen.extend(shown.chosen);
        state.exports.extend(shown.export);
        state.hovered = shown.hovered;
    })
}

#[test]
fn marks_are_chosen_with_keys_alone() {
    let mut harness = shown(ThemeName::Dark);
    harness.get_by_label("Origins").focus();
    harness.run();
    for key in [Key::ArrowRight, Key::ArrowRight, Key::Enter] {
        harness.key_press(key);
        harness.run();
    }
    assert_eq!(harness.state().chosen, [MarkId::only(1)]);
    harness.get_by_label("Registers");
    testing::snapshot(&harness, "figure-card");
}

/// Adds the texts that the window paints.
fn painted(shape: &egui::Shape, texts: &mut Vec<String>) {
    if let egui::Shape::Vec(shapes) = shape {
        shapes.iter().for_each(|shape| painted(shape, texts));
    } else if let egui::Shape::Text(text) = shape {
        texts.push(text.galley.text().to_owned());
    }
}

#[test]
fn the_window_paints_every_text_of_the_scene() {
    let mut figure = origins();
    let label = Some("a ceiling".to_owned());
    let course = Course::Level { y: 5e-5, from: None };
    let (stroke, hue) = (lightbench_core::figure::Stroke::Solid, Hue::Ink);
    figure.add(Item::Line(Line { course, stroke, hue, label, meaning: None })).unwrap();
    let scenes = Vec::new();
    let harness = testing::harness(
        ThemeName::Light,
        [480.0, 330.0],
        (FigureView::default(), scenes),
        move |ui, (view, scenes): &mut (FigureView, Vec<Scene>)| {
            let (width, fonts) = (f64::from(ui.available_width()), paint::Fonts::new(ui));
            scenes.push(lay_out(&figure, figure.fit(), (width, 280.0), &fonts));
            picture(ui, &figure, view, 280.0);
        },
    );
    let scene = harness.state().1.last().unwrap();
    let mut expected = Vec::new();
    for shape in &scene.shapes {
        if let lightbench_core::figure::Shape::Text { text, .. } = shape {
            expected.push(text.clone());
        }
    }
    expected.sort();
    for text in ["a ceiling", "10 µs", "1 k", "Time", "Rows", "recorded"] {
        assert!(expected.iter().any(|known| known == text), "{text} in {expected:?}");
    }
    let mut texts = Vec::new();
    harness.output().shapes.iter().for_each(|clipped| painted(&clipped.shape, &mut texts));
    texts.sort();
    assert_eq!(texts, expected);
}

#[test]
fn a_table_says_the_same() {
    let mut harness = shown(ThemeName::Light);
    assert!(harness.query_by_label("recorded").is_none());
    harness.get_by_label("Table").click();
    harness.run();
    for words in ["run 3", "recorded", "12.0 µs", "Time, from"] {
        harness.get_by_label(words);
    }
    testing::snapshot(&harness, "figure-table");
}

#[test]
fn a_figure_is_exported_by_whoever_shows_it() {
    let mut harness = shown(ThemeName::Light);
    for name in ["Copy as CSV", "Save SVG…", "Save PNG…"] {
        harness.get_by_label("Export").click();
        harness.run();
        harness.get_by_label(name).click();
        harness.run();
    }
    let exports = &harness.state().exports;
    let [Export::Copy(csv), Export::SaveSvg(svg), Export::SavePng(figure)] = exports.as_slice()
    else {
        panic!("{exports:?}")
    };
    assert!(csv.starts_with("Name,Rows,Time,") && svg.starts_with("<svg"), "{csv}\n{svg}");
    let image = png(figure, ThemeName::Light, (480.0, 300.0), 2.0);
    assert_eq!(image.dimensions(), (960, 600));
    let first = image.get_pixel(0, 0);
    assert!(image.pixels().any(|pixel| pixel != first), "something is drawn");
}

#[test]
fn dragging_moves_and_a_double_click_shows_everything() {
    let mut harness = shown(ThemeName::Dark);
    let place: Rect = harness.get_by_label("Origins").rect();
    let middle = place.center();
    harness.drag_at(middle);
    harness.run();
    harness.hover_at(middle + egui::vec2(60.0, -30.0));
    harness.run();
    harness.drop_at(middle + egui::vec2(60.0, -30.0));
    harness.run();
    let seen = harness.state().view.seen.unwrap();
    let fit = origins().fit();
    assert!(seen.x.low() < fit.x.low() && seen.y.low() < fit.y.low(), "{seen:?} {fit:?}");
    harness.get_by_label("Origins").focus();
    harness.run();
    harness.key_press_modifiers(Modifiers::NONE, Key::Num0);
    harness.run();
    assert_eq!(harness.state().view.seen, None);
    harness.key_press(Key::Plus);
    harness.run();
    assert!(harness.state().view.seen.unwrap().x.span() < fit.x.span());
}

#[test]
fn the_wheel_zooms_and_shift_draws_a_box() {
    let mut harness = shown(ThemeName::Dark);
    let middle = harness.get_by_label("Origins").rect().center();
    let fit = origins().fit();
    harness.hover_at(middle);
    harness.run();
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 120.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    harness.run();
    let wheel = harness.state().view.seen.unwrap();
    assert!(wheel.x.span() < fit.x.span() && wheel.y.span() < fit.y.span(), "{wheel:?}");
    harness.get_by_label("Origins").focus();
    harness.run();
    harness.key_press(Key::Num0);
    harness.run();
    assert_eq!(harness.state().view.seen, None);
    harness.event(egui::Event::ModifiersChanged(Modifiers::SHIFT));
    let corner = middle - egui::vec2(60.0, 48.0);
    harness.drag_at(corner);
    harness.run();
    // A movement of some points starts a drag.
    harness.hover_at(corner + egui::vec2(10.0, 8.0));
    harness.run();
    harness.hover_at(middle);
    harness.run();
    harness.drop_at(middle);
    harness.run();
    let boxed = harness.state().view.seen.unwrap();
    assert!(boxed.x.span() < 0.3 * fit.x.span() && boxed.x.low() > fit.x.low(), "{boxed:?}");
    assert!(boxed.y.span() < 0.3 * fit.y.span() && boxed.y.high() < fit.y.high(), "{boxed:?}");
}

#[test]
fn marks_are_hidden_by_menu_and_by_legend() {
    let mut harness = shown(ThemeName::Dark);
    let hidden = |harness: &Harness<'_, State>| harness.state().view.hidden.clone();
    let place = harness.get_by_label("Origins").rect();
    let figure = origins();
    let scene = lay_out(
        &figure,
        figure.fit(),
        (f64::from(place.width()), f64::from(place.height())),
        &Typical,
    );
    let spot = scene.spots.iter().find(|spot| spot.id == MarkId::only(1)).unwrap();
    let at = plot::at(spot.place, place.min).center();
    harness.hover_at(at);
    harness.run();
    for pressed in [true, false] {
        let (pos, button) = (at, egui::PointerButton::Secondary);
        let modifiers = Modifiers::NONE;
        harness.event(egui::Event::PointerButton { pos, button, pressed, modifiers });
    }
    harness.run();
    testing::snapshot(&harness, "figure-menu");
    harness.get_by_label("Hide run 1").click();
    harness.run();
    let without = figure.without(&hidden(&harness));
    assert_eq!(without.chosen_order().len(), 3);
    harness.get_by_label("Show hidden").click();
    harness.run();
    assert!(hidden(&harness).is_empty());
    // The entry "recorded" is the last of the legend, at the right end of its line.
    let entry = place.right_top() + egui::vec2(-20.0, 9.0);
    harness.hover_at(entry);
    harness.drag_at(entry);
    harness.drop_at(entry);
    harness.run();
    let without = figure.without(&hidden(&harness));
    assert_eq!(without.chosen_order(), [0, 1, 2].map(MarkId::only));
    assert_eq!(without.key(), figure.key(), "the legend keeps its entries");
    testing::snapshot(&harness, "figure-hidden");
}

/// A figure with one mark, which only its shape tells apart from those of other origins: it has no label, and its colour
/// is always the same.
fn alone(origin: Origin) -> Figure {
    let x = Axis::logarithmic("Rows", Unit::Count);
    let mut figure = Figure::new("Origin", x, Axis::logarithmic("Time", Unit::Seconds));
    let mark = Mark {
        id: MarkId::only(1),
        name: "run 1".to_owned(),
        x: 64.0.into(),
        y: Reading::within(1.2e-5, (1.0e-5, 1.5e-5)),
        origin,
        hue: Hue::Origin(Origin::Measured),
        emphasis: Emphasis::Normal,
        label: None,
        details: Vec::new(),
    };
    figure.add(Item::Mark(mark)).unwrap();
    figure
}

#[test]
fn origins_look_different_in_every_theme() {
    for theme in ThemeName::ALL {
        let drawn = |origin: Origin| {
            let view = FigureView::default();
            let mut harness =
                testing::harness(theme, [480.0, 330.0], view, move |ui, view: &mut FigureView| {
                    show(ui, &alone(origin), view, 280.0, |_| {});
                });
            harness.render().unwrap()
        };
        let origins = Origin::ALL.map(|origin| (origin, drawn(origin)));
        for (index, (origin, picture)) in origins.iter().enumerate() {
            for (other, other_picture) in &origins[..index] {
                assert!(
                    testing::differ(picture, other_picture),
                    "{origin:?} looks like {other:?} in the theme {theme}"
                );
            }
        }
    }
    testing::snapshot(&shown(ThemeName::Dark), "figure-origins");
}
