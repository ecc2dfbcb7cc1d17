//! Snapshots of the accessibility tree: what a screen reader reads of the window, as indented text.
//!
//! A snapshot has a line for each element: its role, its name, its value and its state. It shows a missing, renamed or
//! disabled element, and a number that has changed, in a difference that can be read; it is the same on
//! every machine. `LIGHTBENCH_FREEZE=write cargo test -p lightbench --lib` writes the files in `tests/data/window` again;
//! `git diff tests/data/window` then shows every change.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{AccessKitNode, NodeT as _};
use similar::TextDiff;

/// Set to [`WRITE`], this environment variable makes the tests write the stored snapshots.
const SWITCH: &str = "LIGHTBENCH_FREEZE";
const WRITE: &str = "write";

/// Lines of a difference that are shown.
const SHOWN_LINES: usize = 40;

/// Compares the accessibility tree with the stored snapshot of this name.
pub(crate) fn snapshot<State>(harness: &Harness<'_, State>, name: &str) {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let file = repository.join("tests/data/window").join(format!("{}.txt", file_name(name)));
    let tree = tree(harness, &repository);
    if is_writing() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        return fs::write(&file, tree).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    if let Some(difference) = difference(&stored, &tree) {
        panic!(
            "{name}: the accessibility tree differs from {}; after an intended change, run the tests with {SWITCH}={WRITE} and review the difference\n{difference}",
            file.display()
        );
    }
}

/// Whether the stored snapshots are to be written.
fn is_writing() -> bool {
    match std::env::var(SWITCH) {
        Ok(value) => {
            assert_eq!(value, WRITE, "{SWITCH} has one legal value");
            true
        }
        Err(_) => false,
    }
}

/// Lower case, and a hyphen for each run of other characters.
fn file_name(name: &str) -> String {
    let words = name.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

fn difference(stored: &str, present: &str) -> Option<String> {
    if stored == present {
        return None;
    }
    let difference = TextDiff::from_lines(stored, present).unified_diff().to_string();
    let lines: Vec<&str> = difference.lines().collect();
    let mut shown = lines.iter().take(SHOWN_LINES).copied().collect::<Vec<_>>().join("\n");
    if lines.len() > SHOWN_LINES {
        let _written = write!(shown, "\n… {} more lines", lines.len() - SHOWN_LINES);
    }
    Some(shown)
}

/// The elements of the accessibility tree, without their order.
pub(crate) fn elements<State>(harness: &Harness<'_, State>) -> BTreeSet<String> {
    let mut text = String::new();
    add(&mut text, harness.root().accesskit_node(), 0);
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// The tree as text. Paths in the repository are written relative to it.
fn tree<State>(harness: &Harness<'_, State>, repository: &Path) -> String {
    let mut text = String::new();
    add(&mut text, harness.root().accesskit_node(), 0);
    let repository = repository.display().to_string();
    text.replace(&repository, "<repository>")
}

/// Adds a line for an element and for all below it. Containers that say nothing and hold at most one element are left out,
/// and so are the pieces of a text, which its value repeats.
fn add(text: &mut String, node: AccessKitNode<'_>, depth: usize) {
    if node.role() == Role::TextRun {
        return;
    }
    let line = line(node);
    let is_silent =
        matches!(node.role(), Role::GenericContainer | Role::Unknown) && !line.contains(' ');
    let children = node.children().filter(|child| child.role() != Role::TextRun);
    let is_left_out = is_silent && children.count() <= 1;
    if !is_left_out {
        let _written = writeln!(text, "{:width$}{line}", "", width = 2 * depth);
    }
    let depth = depth + usize::from(!is_left_out);
    node.children().for_each(|child| add(text, child, depth));
}

/// The role, the name, the value and the state of an element.
fn line(node: AccessKitNode<'_>) -> String {
    let mut line = format!("{:?}", node.role());
    let name = node.label();
    if let Some(name) = &name {
        line += &format!(" {}", quoted(name));
    }
    if let Some(value) = node.value().filter(|value| name.as_ref() != Some(value)) {
        line += &format!(" = {}", quoted(&value));
    }
    if let Some(number) = node.numeric_value() {
        line += &format!(" = {number:.3}");
    }
    let toggled = node.toggled().map(|toggled| match toggled {
        Toggled::True => "on",
        Toggled::False => "off",
        Toggled::Mixed => "mixed",
    });
    let expanded = node.data().is_expanded();
    let states = [
        toggled,
        node.is_selected().filter(|is_selected| *is_selected).map(|_| "selected"),
        expanded.map(|is_expanded| if is_expanded { "expanded" } else { "collapsed" }),
        node.is_disabled().then_some("disabled"),
        node.is_focused().then_some("focused"),
        node.is_hidden().then_some("hidden"),
    ];
    for state in states.into_iter().flatten() {
        line += &format!(" [{state}]");
    }
    line
}

/// A text in quotes; of several lines, the first and their number.
fn quoted(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    match lines.count() {
        0 => format!("{first:?}"),
        more => format!("{first:?} and {more} more lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::harness;
    use crate::theme::ThemeName;

    fn shown(theme: ThemeName, time: &'static str, is_on: bool) -> String {
        let harness = harness(theme, [320.0, 200.0], is_on, move |ui, is_on: &mut bool| {
            ui.heading("Times");
            ui.label(time);
            ui.checkbox(is_on, "Cold");
            ui.add_enabled(*is_on, egui::Button::new("Run"));
            ui.label(format!("{}/project\nsecond\nthird", repository().display()));
        });
        tree(&harness, &repository())
    }

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
    }

    #[test]
    fn a_tree_has_names_values_states_and_no_places() {
        let tree = shown(ThemeName::Dark, "131 µs", true);
        for line in [
            "Label = \"Times\"",
            "Label = \"131 µs\"",
            "CheckBox \"Cold\" [on]",
            "Button \"Run\"",
            "Label = \"<repository>/project\" and 2 more lines",
        ] {
            assert!(tree.lines().any(|found| found.trim() == line), "{line}\n{tree}");
        }
        assert_eq!(tree, shown(ThemeName::Light, "131 µs", true), "themes have the same tree");
    }

    #[test]
    fn another_word_or_state_is_a_difference() {
        let stored = shown(ThemeName::Dark, "131 µs", true);
        let check = |present: &str, differs: Option<&str>| {
            let found = difference(&stored, present);
            assert_eq!(found.is_some(), differs.is_some(), "{found:?}");
            let shown = differs.is_none_or(|line| found.unwrap_or_default().contains(line));
            assert!(shown, "{present}");
        };
        check(&shown(ThemeName::Dark, "131 µs", true), None);
        check(&shown(ThemeName::Dark, "620 ms", true), Some("Label = \"620 ms\""));
        check(&shown(ThemeName::Dark, "131 µs", false), Some("Button \"Run\" [disabled]"));
        check("", Some("Button \"Run\""));
    }

    #[test]
    fn names_are_file_names() {
        assert_eq!(file_name("shown-Speed of light"), "shown-speed-of-light");
        assert_eq!(file_name("scaling-time-0.5"), "scaling-time-0.5");
    }
}
