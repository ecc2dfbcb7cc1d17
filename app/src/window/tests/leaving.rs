//! Tests of closing projects with unsaved texts, and of layouts of lessons.

use lightbench_core::project::Project;

use super::*;
use crate::workbench::command::Recovery;

fn open(harness: &mut Harness<'static, State>, script: &Script, folder: &std::path::Path) {
    let project = Project::load(folder).unwrap();
    script.find(TaskResult::Project(folder.to_owned(), Box::new(Ok(project))));
    script.find(TaskResult::History(folder.to_owned(), Vec::new(), HistoryPart::Last));
    harness.run();
}

fn other() -> std::path::PathBuf {
    folder().parent().unwrap().join("softmax")
}

/// Types into the text in front.
fn typed(harness: &mut Harness<'static, State>) -> (std::path::PathBuf, String) {
    let file = harness.state().window.bench.documents.front().unwrap().file.clone();
    let role = egui::accesskit::Role::MultilineTextInput;
    harness.get_by_role_and_label(role, &file.display().to_string()).focus();
    harness.run();
    harness.event(egui::Event::Text("// mine".to_owned()));
    harness.run();
    (file, harness.state().window.bench.documents.front().unwrap().text.clone())
}

fn questions(harness: &Harness<'static, State>) -> usize {
    harness.query_all_by_label_contains("has unsaved text from the last session").count()
}

#[test]
fn what_is_not_saved_is_kept_at_once_and_comes_back_without_a_question() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    let (file, text) = typed(&mut harness);
    script.handed();
    open(&mut harness, &script, &other());
    let kept = script.handed().into_iter().find_map(|task| {
        if let BackgroundTask::SaveJournal(of, file, text) = task {
            Some((of, file, text))
        } else {
            None
        }
    });
    assert_eq!(kept, Some((folder(), file.clone(), text.clone())), "nobody waits two seconds");
    let said = |harness: &Harness<'static, State>| {
        let notices = harness.state().window.bench.notices.newest();
        notices
            .filter(|notice| notice.text.contains("is restored"))
            .map(|each| each.count)
            .sum::<u32>()
    };
    assert_eq!(said(&harness), 1);
    testing::snapshot(&harness, "flow-left");
    open(&mut harness, &script, &folder());
    for _ in 0..2 {
        script.find(TaskResult::Journal(folder(), file.clone(), text.clone()));
        harness.run();
    }
    let front = harness.state().window.bench.documents.front().unwrap();
    assert!(front.file == file && front.text == text && front.is_changed());
    assert_eq!((questions(&harness), said(&harness)), (0, 1));
}

#[test]
fn what_a_crash_left_is_offered_once() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    let file = harness.state().window.bench.documents.front().unwrap().file.clone();
    for _ in 0..2 {
        script.find(TaskResult::Journal(folder(), file.clone(), "// lost".to_owned()));
        harness.run();
    }
    assert_eq!(questions(&harness), 1);
    harness.state_mut().window.carry_out(Command::Recover(file, Recovery::Restore), NOW);
    script.handed();
    press(&mut harness, Modifiers::COMMAND, Key::S);
    assert!(script.handed().iter().any(|task| matches!(task, BackgroundTask::Save { .. })));
    assert_eq!(questions(&harness), 0);
}

#[test]
fn another_project_takes_nothing_back_that_was_typed_before() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    typed(&mut harness);
    open(&mut harness, &script, &other());
    let before = harness.state().window.bench.documents.front().unwrap().clone();
    let role = egui::accesskit::Role::MultilineTextInput;
    harness.get_by_role_and_label(role, &before.file.display().to_string()).focus();
    harness.run();
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().window.bench.documents.front().unwrap().text, before.text);
}

#[test]
fn after_a_lesson_panels_are_arranged_as_before_it() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    let window = |harness: &Harness<'static, State>| harness.state().window.layouts.current();
    harness.state_mut().window.carry_out(Command::Layout(LayoutName::Compare), NOW);
    let lesson = folder().parent().unwrap().join("lessons/coalescing");
    open(&mut harness, &script, &lesson);
    script.find(TaskResult::Lesson(lesson, Box::new(super::teaching::read("coalescing"))));
    harness.run();
    assert_eq!(window(&harness), LayoutName::Teach);
    open(&mut harness, &script, &folder());
    assert_eq!(window(&harness), LayoutName::Compare);
    // The user may select that layout for a project, too.
    harness.state_mut().window.carry_out(Command::Layout(LayoutName::Teach), NOW);
    open(&mut harness, &script, &other());
    assert_eq!(window(&harness), LayoutName::Teach);
}
