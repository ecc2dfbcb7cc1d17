//! Tests of the editor by keyboard and label, and of its pictures.

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::testing;
use crate::theme::ThemeName;
use crate::widgets::code::completion::Word;
use crate::widgets::code::marks::{Heat, Severity};

struct Desk {
    editor: CodeEditor,
    text: String,
    marks: Marks,
    refused: bool,
    pointed: Option<usize>,
}

const KERNEL: &str = include_str!("../../../../../sample-projects/softmax/kernels/online.cu");

fn desk(theme: ThemeName, text: &str) -> Harness<'static, Desk> {
    let mut editor = CodeEditor::new("Kernel", Language::Cuda);
    editor.take_focus();
    let (marks, text) = (Marks::default(), text.to_owned());
    let desk = Desk { editor, text, marks, refused: false, pointed: None };
    testing::harness(theme, [760.0, 520.0], desk, |ui, desk| {
        let edited = desk.editor.show(ui, &mut desk.text, &desk.marks);
        desk.refused |= edited.refused;
        desk.pointed = edited.pointed;
    })
}

fn type_text(harness: &mut Harness<'_, Desk>, text: &str) {
    for character in text.chars() {
        if character == '\n' {
            harness.key_press(Key::Enter);
        } else {
            harness.event(egui::Event::Text(character.to_string()));
        }
        harness.run();
    }
}

fn press(harness: &mut Harness<'_, Desk>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run();
}

fn go_to(harness: &mut Harness<'_, Desk>, line: usize, column: usize) {
    let desk = harness.state_mut();
    desk.editor.go_to(&desk.text, Place { line, column });
    harness.run();
}

#[test]
fn typing_keeps_the_indentation_and_is_undone_by_words() {
    let mut harness = desk(ThemeName::Dark, "");
    type_text(&mut harness, "if (x) {\nreturn;");
    assert_eq!(harness.state().text, "if (x) {\n    return;");
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().text, "if (x) {\n    ");
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().text, "if (x) {");
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    press(&mut harness, Modifiers::COMMAND, Key::Y);
    assert_eq!(harness.state().text, "if (x) {\n    return;");
    while harness.state().editor.can_undo() {
        press(&mut harness, Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(harness.state().text, "");
}

#[test]
fn a_block_is_typed_without_a_thought_for_its_indentation() {
    let mut harness = desk(ThemeName::Dark, "");
    type_text(&mut harness, "{\nif (x) {\ny = 1;\n}\n}");
    assert_eq!(harness.state().text, "{\n    if (x) {\n        y = 1;\n    }\n}");
}

#[test]
fn keys_of_one_frame_keep_their_order() {
    let mut harness = desk(ThemeName::Dark, "");
    for text in ["a", "b"] {
        harness.event(egui::Event::Text(text.to_owned()));
        harness.key_press(Key::Enter);
    }
    harness.event(egui::Event::Text("c".to_owned()));
    harness.run();
    assert_eq!(harness.state().text, "a\nb\nc");
}

#[test]
fn blocks_are_indented_and_commented() {
    let mut harness = desk(ThemeName::Dark, "one\ntwo\n");
    press(&mut harness, Modifiers::COMMAND, Key::A);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(harness.state().text, "    one\n    two\n");
    press(&mut harness, Modifiers::SHIFT, Key::Tab);
    assert_eq!(harness.state().text, "one\ntwo\n");
    press(&mut harness, Modifiers::COMMAND, Key::Slash);
    assert_eq!(harness.state().text, "// one\n// two\n");
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().text, "one\ntwo\n");
}

#[test]
fn text_is_found_and_replaced() {
    let mut harness = desk(ThemeName::Dark, "sum = Sum + sum;\n");
    go_to(&mut harness, 1, 1);
    press(&mut harness, Modifiers::COMMAND, Key::H);
    harness.get_by_label("Find").type_text("sum");
    harness.run();
    harness.get_by_label("1 of 3");
    harness.get_by_label("Match case").click();
    harness.run();
    harness.get_by_label("1 of 2");
    harness.get_by_label("Next match").click();
    harness.run();
    harness.get_by_label("2 of 2");
    assert_eq!(harness.state().editor.cursor("sum = Sum + sum;\n"), Place { line: 1, column: 16 });
    harness.get_by_label("Replace with").focus();
    harness.run();
    harness.get_by_label("Replace with").type_text("total");
    harness.run();
    harness.get_by_label("Replace all").click();
    harness.run();
    assert_eq!(harness.state().text, "total = Sum + total;\n");
    harness.get_by_label("Find").focus();
    harness.run();
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Find").is_none(), "Escape closes");
    assert!(harness.get_by_label("Kernel").is_focused());
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().text, "sum = Sum + sum;\n");
}

#[test]
fn enter_in_the_find_field_goes_on() {
    let mut harness = desk(ThemeName::Dark, "a b a b a");
    go_to(&mut harness, 1, 1);
    press(&mut harness, Modifiers::COMMAND, Key::F);
    harness.get_by_label("Find").type_text("a");
    harness.run();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_label("2 of 3");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_label("1 of 3");
    press(&mut harness, Modifiers::SHIFT, Key::Enter);
    harness.get_by_label("3 of 3");
}

#[test]
fn a_line_is_gone_to() {
    let text = "line\n".repeat(500);
    let mut harness = desk(ThemeName::Dark, &text);
    press(&mut harness, Modifiers::COMMAND, Key::G);
    harness.get_by_label("Go to line").type_text("321");
    harness.run();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run();
    assert_eq!(harness.state().editor.cursor(&text).line, 321);
    assert!(harness.get_by_label("Kernel").is_focused());
    type_text(&mut harness, "x");
    assert_eq!(harness.state().text.lines().nth(320), Some("xline"));
}

#[test]
fn names_are_completed_and_enter_is_still_a_new_line() {
    let mut harness = desk(ThemeName::Dark, "");
    harness.state_mut().marks.words = vec![Word {
        name: "rows_per_block".to_owned(),
        signature: "axis".to_owned(),
        about: "How many rows there are".to_owned(),
    }];
    type_text(&mut harness, "ro");
    harness.get_by_label("rows_per_block");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().text, "ro\n");
    assert!(harness.query_by_label("rows_per_block").is_none());
    type_text(&mut harness, "ro");
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(harness.state().text, "ro\nrows_per_block");
    type_text(&mut harness, " __shfl_x");
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().text, "ro\nrows_per_block __shfl_xor_sync");
    type_text(&mut harness, " at");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.get_by_label("Kernel").is_focused());
    assert!(harness.query_by_label("atomicAdd").is_none());
    press(&mut harness, Modifiers::CTRL, Key::Space);
    harness.get_by_label("atomicAdd");
    type_text(&mut harness, " // at");
    assert!(harness.query_by_label("atomicAdd").is_none(), "not in comments");
}

#[test]
fn each_tab_keeps_its_cursor_and_its_history() {
    let tab = |name: &str, text: &str| (CodeEditor::new(name, Language::Cuda), text.to_owned());
    let tabs = (vec![tab("First", "one\ntwo"), tab("Second", "three")], 0_usize);
    let mut harness = testing::harness(ThemeName::Dark, [400.0, 200.0], tabs, |ui, tabs| {
        let (editor, text) = &mut tabs.0[tabs.1];
        editor.show(ui, text, &Marks::default());
    });
    let (editor, text) = &mut harness.state_mut().0[0];
    editor.go_to(text, Place { line: 2, column: 2 });
    harness.run();
    harness.event(egui::Event::Text("x".to_owned()));
    harness.run();
    harness.state_mut().1 = 1;
    harness.run();
    harness.get_by_label("Second").focus();
    harness.run();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run();
    assert_eq!(harness.state().0[1].1, "three", "nothing to take back here");
    harness.state_mut().1 = 0;
    harness.state_mut().0[0].0.take_focus();
    harness.run();
    let (editor, text) = &harness.state().0[0];
    assert_eq!(editor.cursor(text), Place { line: 2, column: 3 });
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run();
    assert_eq!(harness.state().0[0].1, "one\ntwo");
}

#[test]
fn locked_lines_refuse_what_is_typed() {
    let mut harness = desk(ThemeName::Dark, "keep\nmine\n");
    let desk = harness.state_mut();
    desk.editor.lock(&desk.text, std::slice::from_ref(&(1..2)));
    go_to(&mut harness, 1, 2);
    type_text(&mut harness, "x");
    assert!(harness.state().refused);
    go_to(&mut harness, 2, 1);
    press(&mut harness, Modifiers::NONE, Key::Backspace);
    assert_eq!(harness.state().text, "keep\nmine\n");
    type_text(&mut harness, "x");
    assert_eq!(harness.state().text, "keep\nxmine\n");
}

#[test]
fn problems_move_with_their_lines() {
    let mut harness = desk(ThemeName::Dark, "one\ntwo\nthree\n");
    let made_at = harness.state().editor.revision();
    harness.state_mut().marks = Marks {
        generation: 1,
        made_at,
        problems: vec![problem(3, None, Severity::Error, "no such name")],
        ..Marks::default()
    };
    harness.run();
    go_to(&mut harness, 1, 1);
    type_text(&mut harness, "\n");
    assert_eq!(harness.state().editor.problems()[0].line, 3);
}

#[test]
fn the_line_under_the_pointer_is_that_of_the_compiled_text() {
    let mut harness = desk(ThemeName::Dark, "one\ntwo\nthree\n");
    let made_at = harness.state().editor.revision();
    let linked = vec![2];
    harness.state_mut().marks = Marks { generation: 1, made_at, linked, ..Marks::default() };
    harness.run();
    let gutter = harness.get_by_label("Lines of Kernel").rect();
    let height = crate::widgets::code::paint::line_height(13.5);
    let at = |line: f32| gutter.right_top() + egui::vec2(20.0, (line + 0.5) * height);
    let pointed = |harness: &mut Harness<'_, Desk>, line: f32| {
        harness.hover_at(at(line));
        harness.run();
        harness.state().pointed
    };
    assert_eq!(pointed(&mut harness, 1.0), Some(2));
    assert_eq!(pointed(&mut harness, 0.0), None, "it has no code");
    go_to(&mut harness, 1, 1);
    type_text(&mut harness, "\n");
    assert_eq!(pointed(&mut harness, 2.0), Some(2), "the line has moved");
}

#[test]
fn what_is_wrong_is_said_where_the_pointer_rests() {
    let mut harness = desk(ThemeName::Dark, KERNEL);
    harness.state_mut().marks = marks();
    go_to(&mut harness, 29, 1);
    let gutter = harness.get_by_label("Lines of Kernel").rect();
    // Line 29 is centred; the problem is one line below.
    let below = egui::vec2(0.0, crate::widgets::code::paint::line_height(13.5));
    harness.hover_at(gutter.center() + below);
    harness.run_steps(8);
    harness.get_by_label("identifier \"__shfl_xor\" is undefined");
    harness.get_by_label("55 % of stalls");
    testing::snapshot(&harness, "editor-hover");
    type_text(&mut harness, "\n");
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    type_text(&mut harness, "x");
    harness.run_steps(8);
    testing::snapshot(&harness, "editor-stale");
}

#[test]
fn an_idle_editor_asks_for_nothing() {
    let mut harness = desk(ThemeName::Dark, KERNEL);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    // Only the cursor blinks.
    assert!(harness.try_run().is_ok());
}

fn problem(
    line: usize,
    columns: Option<std::ops::Range<usize>>,
    severity: Severity,
    message: &str,
) -> Problem {
    Problem { line, columns, severity, message: message.to_owned() }
}

fn marks() -> Marks {
    let heat = [(27, 0.12), (29, 0.3), (30, 0.55), (31, 0.95), (33, 0.75), (43, 0.4), (44, 0.2)];
    Marks {
        generation: 1,
        problems: vec![
            problem(30, Some(32..44), Severity::Error, "identifier \"__shfl_xor\" is undefined"),
            problem(22, None, Severity::Warning, "never used"),
        ],
        heat: heat
            .map(|(line, value)| Heat {
                line,
                value,
                text: format!("{:.0} % of stalls", value * 100.0),
            })
            .to_vec(),
        linked: (20..46).filter(|line| line % 4 != 1).collect(),
        marked: Some(32),
        ..Marks::default()
    }
}

#[test]
fn it_looks_like_this() {
    for theme in ThemeName::ALL {
        let mut harness = desk(theme, KERNEL);
        harness.state_mut().marks = marks();
        let desk = harness.state_mut();
        desk.editor.lock(&desk.text, std::slice::from_ref(&(36..39)));
        go_to(&mut harness, 29, 69);
        testing::snapshot(&harness, "editor");
        if theme == ThemeName::Dark {
            // Heat, underlines and locked lines have no names.
            testing::as_stored(&mut harness, "stored-editor");
        }
        go_to(&mut harness, 28, 12);
        press(&mut harness, Modifiers::COMMAND, Key::H);
        harness.get_by_label("Find").type_text("value");
        harness.run();
        testing::snapshot(&harness, "editor-find");
        press(&mut harness, Modifiers::NONE, Key::Escape);
        go_to(&mut harness, 34, 1);
        type_text(&mut harness, "    __shfl");
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        testing::snapshot(&harness, "editor-offer");
    }
}
