//! Tests of figures by label, key and pointer, and of their pictures.

use egui::{Key, Modifiers, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use lightbench_core::figure::{
    Axis, Emphasis, Figure, Hue, Item, Mark, MarkId, Origin, Reading, Unit,
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
