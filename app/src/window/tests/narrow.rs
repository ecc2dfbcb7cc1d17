//! Tests of narrow windows: nothing overlaps.

use egui::Rect;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _, by};

use super::{NOW, State, shown};
use crate::testing;
use crate::theme::ThemeName;
use crate::workbench::command::Command;
use crate::workbench::panel::LayoutName;

/// Lower edge of the bars, in points.
const BARS: f32 = 76.0;

/// The elements of the top bars from left to right, with their positions.
fn bars(harness: &Harness<'static, State>) -> Vec<(String, Rect)> {
    let is_shown = |role: Role| matches!(role, Role::Button | Role::ComboBox | Role::Label);
    let found = harness.query_all(by().predicate(move |node| is_shown(node.role())));
    let place = |node: egui_kittest::Node<'_>| {
        let accessible = node.accesskit_node();
        let words = accessible.label().or_else(|| accessible.value()).unwrap_or_default();
        (words, node.rect())
    };
    let mut bars: Vec<_> = found.map(place).filter(|(_, place)| place.bottom() <= BARS).collect();
    bars.sort_by(|(_, one), (_, other)| one.left().total_cmp(&other.left()));
    bars
}

/// Every run of the history and the close button of a text in a narrow window.
#[test]
fn rows_and_tabs_are_left_out_and_never_cut() {
    for theme in [ThemeName::Dark, ThemeName::Light] {
        for (width, height) in [(900.0, 600.0), (1024.0, 700.0), (1280.0, 800.0)] {
            for layout in LayoutName::ALL {
                let (mut harness, _) = shown(theme, [width, height]);
                let window = &mut harness.state_mut().window;
                for kernel in ["registers", "shared-tree", "vector16", "warp-shuffle"] {
                    window.carry_out(Command::ChooseKernel(kernel.to_owned()), NOW);
                }
                window.carry_out(Command::Layout(layout), NOW);
                harness.run();
                testing::snapshot(&harness, &format!("small-{layout}-{width}"));
                if layout != LayoutName::Edit {
                    continue;
                }
                let about = format!("{theme}, {width}");
                let text = harness.get_by_role(Role::MultilineTextInput).rect();
                let is_row = |label: &str| label.contains("passed") && !label.contains("(latest)");
                for run in
                    harness.query_all_by(|node| node.label().is_some_and(|label| is_row(&label)))
                {
                    let right = run.rect().right();
                    assert!(right <= text.left(), "{about}: a run ends at {right}");
                }
                let close = harness.get_by_label("Close text").rect();
                let heat = harness.get_by_label_contains("Beside the lines").rect();
                assert!(!close.intersect(heat).is_positive(), "{about}: {close} below {heat}");
                assert!(close.left() >= text.left() - 60.0, "{about}: {close} is out of sight");
            }
        }
    }
}

#[test]
fn nothing_in_the_bars_lies_over_anything_else() {
    for theme in ThemeName::ALL {
        for width in [720.0, 800.0, 900.0, 1024.0, 1280.0] {
            for name in ["rmsnorm", "a-name-that-somebody-chose-for-a-project-of-theirs"] {
                let (mut harness, _) = shown(theme, [width, 600.0]);
                let opened = harness.state_mut().window.bench.opened.as_mut().unwrap();
                std::sync::Arc::make_mut(&mut opened.project).definition.name = name.to_owned();
                harness.run();
                let bars = bars(&harness);
                assert!(bars.len() > 14, "{bars:?}");
                for (index, (words, place)) in bars.iter().enumerate() {
                    let about = format!("{theme}, {width}: {words} at {place}");
                    assert!(place.left() >= 0.0 && place.right() <= width, "{about}");
                    for (others, other) in &bars[index + 1..] {
                        let beside = place.y_range().intersection(other.y_range()).span() > 4.0;
                        let apart = (place.center().y - other.center().y).abs();
                        assert!(!beside || apart <= 1.0, "{about} is not in line with {others}");
                        let common = place.shrink(0.5).intersect(other.shrink(0.5));
                        assert!(!common.is_positive(), "{about} lies over {others} at {other}");
                    }
                }
                if name == "rmsnorm" && theme == ThemeName::Projector {
                    testing::snapshot(&harness, &format!("narrow-{width}"));
                }
            }
        }
    }
}
