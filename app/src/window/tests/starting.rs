//! Tests of the start: the restored session, new projects, and projects that cannot be read.

use std::path::{Path, PathBuf};

use lightbench_core::history::record::{FailureKind, Outcome};
use lightbench_core::project::{Project, ProjectError};
use serde_json::json;

use super::*;
use crate::workbench::background_task::FolderContent;
use crate::workbench::broken_project::BrokenTexts;
use crate::workbench::new_project::{CreatedProject, ProjectSource};
use crate::workbench::recent_history::{RecentHistory, RecentRun};
use crate::workbench::tests::reopened;

#[test]
fn the_next_start_shows_what_the_last_one_showed() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    let window = &mut harness.state_mut().window;
    for command in [
        Command::ChooseKernel("vector16".to_owned()),
        Command::GoTo(PathBuf::from("project.ron"), 3, 1),
        Command::SelectRun(RunNumber(2)),
        Command::Pin(RunNumber(4)),
        Command::ChooseWorkload("gpt-oss-prefill".to_owned()),
    ] {
        window.carry_out(command, NOW);
    }
    harness.run();
    let kept = script.handed().into_iter().rev().find_map(|task| {
        if let BackgroundTask::SaveSession(session) = task { Some(session) } else { None }
    });
    let kept = kept.expect("a changed view is stored");
    assert_eq!(kept.open.as_deref(), Some(folder().as_path()));
    let bench = reopened(kept);
    let opened = bench.opened.as_ref().unwrap();
    assert_eq!(opened.kernel, "vector16");
    assert_eq!(opened.workload, "gpt-oss-prefill");
    assert_eq!(bench.documents.front().unwrap().file, Path::new("project.ron"));
    assert!(bench.documents.get(Path::new("kernels/vector16.cu")).is_some());
    assert_eq!(bench.selection.run, Some(RunNumber(2)));
    assert_eq!(bench.selection.pinned.as_ref().map(|pinned| pinned.number), Some(RunNumber(4)));
}

#[test]
fn a_project_is_created_in_the_window() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown(theme, SIZE);
        let empty = PathBuf::from("/projects/empty");
        script.find(TaskResult::NoProject(empty.clone(), FolderContent::Empty));
        harness.run();
        harness.run();
        harness.event(egui::Event::Text("/src/gelu.cu".to_owned()));
        harness.run();
        testing::snapshot(&harness, "new-project");
        script.handed();
        harness.get_by_label("Create").click();
        harness.run();
        let plan = script.handed().into_iter().find_map(|task| {
            if let BackgroundTask::CreateProject(plan) = task { Some(plan) } else { None }
        });
        let plan = plan.expect("Create submits the plan");
        assert_eq!((plan.source, plan.path.as_str()), (ProjectSource::Path, "/src/gelu.cu"));
        assert_eq!(plan.folder, "/projects/empty");
        let refused = "/src/gelu.cu: the file does not exist";
        script.find(TaskResult::ProjectCreated(Err(refused.to_owned())));
        harness.run();
        harness.get_by_label(refused);
        let created = CreatedProject { folder: empty.clone(), report: "wrote it".to_owned() };
        script.find(TaskResult::ProjectCreated(Ok(created)));
        harness.run();
        assert!(harness.query_by_label("Create").is_none());
        let opens =
            |task: &BackgroundTask| matches!(task, BackgroundTask::Open(path) if *path == empty);
        assert!(script.handed().iter().any(opens));
    }
}

#[test]
fn a_project_that_cannot_be_read_is_repaired_in_the_window() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown(theme, SIZE);
        let texts = [(PathBuf::from("project.ron"), "(schema: 1,".to_owned())];
        let root = folder().join("../broken");
        let checked = |texts: &BTreeMap<PathBuf, String>| match Project::load_with(&folder(), texts)
        {
            Err(ProjectError::Problems { problems }) => problems,
            other => panic!("{other:?}"),
        };
        let texts = BTreeMap::from(texts);
        let problems = checked(&texts);
        let message = problems[0].found.clone();
        let broken = BrokenTexts { root: root.clone(), texts, problems };
        script.find(TaskResult::Broken(Box::new(broken)));
        harness.run();
        assert!(harness.state().window.bench.opened.is_none());
        harness.get_all_by_label_contains(&message).next().expect("the problem is listed");
        // The splitter stands elsewhere with the text of another theme.
        if theme == ThemeName::Projector {
            testing::snapshot(&harness, "broken-project");
        }
        let role = egui::accesskit::Role::MultilineTextInput;
        harness.get_by_role_and_label(role, "project.ron").focus();
        harness.run();
        press(&mut harness, Modifiers::COMMAND, Key::End);
        harness.event(egui::Event::Text(")".to_owned()));
        harness.run();
        script.handed();
        harness.state_mut().now += Duration::from_secs(1);
        harness.run();
        let typed = script.handed().into_iter().find_map(|task| {
            if let BackgroundTask::CheckTexts(_, texts) = task { Some(texts) } else { None }
        });
        assert_eq!(typed.expect("checked after a pause")[Path::new("project.ron")], "(schema: 1,)");
        script.find(TaskResult::TextsChecked(root.clone(), Vec::new()));
        harness.run();
        harness.get_by_label("No problem is left: save the texts to open the project");
        script.find(TaskResult::Project(root.clone(), Box::new(Ok(project()))));
        harness.run();
        let opens =
            |task: &BackgroundTask| matches!(task, BackgroundTask::Open(path) if *path == root);
        assert!(script.handed().iter().any(opens), "the repaired project is opened");
    }
}

#[test]
fn the_problems_of_the_last_run_are_marked_while_its_text_is_unchanged() {
    let check = |source: &str, is_marked: bool| {
        let (mut harness, script) = shown(ThemeName::Dark, SIZE);
        let window = &mut harness.state_mut().window;
        window.carry_out(Command::ChooseKernel("naive".to_owned()), NOW);
        window.carry_out(Command::Show(Panel::Problems), NOW);
        let mut run = stored(7, "naive", 0, None);
        let place = json!({"source": {"file": "kernels/naive.cu", "line": 12, "column": 5, "excerpt": null, "foreign": false}});
        let diagnostic = json!({"place": place, "severity": "error", "code": null, "message": "no such name", "notes": []});
        run.record.outcome = Outcome::Failed {
            word: FailureKind::Compile,
            sentence: "naive does not compile".to_owned(),
            evidence: json!({"kind": "compile", "message": "it does not compile", "diagnostics": [diagnostic], "other": ""}),
        };
        window.bench.runs.add(std::slice::from_ref(&run));
        harness.run();
        script.find(read(&run, Some(source.to_owned())));
        harness.run();
        let marked = &harness.state().window.bench.documents.front().unwrap().problems;
        assert_eq!(marked.iter().any(|problem| problem.message == "no such name"), is_marked);
        assert_eq!(harness.query_all_by_label_contains("no such name").count() > 1, is_marked);
    };
    let project = project();
    check(&project.kernel("naive").unwrap().source, true);
    check("// another text", false);
}

#[test]
fn settings_are_found_by_words_and_changed() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown(theme, SIZE);
        press(&mut harness, Modifiers::COMMAND, Key::Comma);
        harness.run();
        if theme == ThemeName::Dark {
            testing::snapshot(&harness, "settings");
        }
        harness.event(egui::Event::Text("python inter".to_owned()));
        harness.run();
        assert!(harness.query_by_label("Theme").is_none());
        harness.get_by_label("Python interpreter").click();
        harness.run();
        harness.event(egui::Event::Text("/env".to_owned()));
        harness.run();
        script.handed();
        harness.key_press(Key::Enter);
        harness.run();
        let stored = script.handed().into_iter().find_map(|task| {
            if let BackgroundTask::SaveSettings(settings) = task { Some(settings) } else { None }
        });
        let python = stored.expect("a changed setting is stored").python;
        assert_eq!(python.interpreter.as_deref(), Some(Path::new("/env")));
        harness.key_press(Key::Escape);
        harness.run();
        assert!(harness.query_by_label("Python interpreter").is_none());
        press(&mut harness, Modifiers::COMMAND, Key::Comma);
        press(&mut harness, Modifiers::COMMAND, Key::Num2);
        assert!(harness.query_by_label("Filter").is_none(), "a layout takes the page's place");
    }
}

#[test]
fn the_palette_finds_settings() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    press(&mut harness, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::P);
    harness.run();
    harness.event(egui::Event::Text("setting after save".to_owned()));
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.query_by_label("Zoom").is_none(), "only what was asked for");
    harness.get_by_label("After a save").click();
    harness.run();
    harness.get_by_label("compile and verify").click();
    harness.run();
    assert_eq!(
        harness.state().window.bench.settings.mode,
        crate::workbench::settings::Mode::Verify
    );
    assert!(script.handed().iter().any(|task| matches!(task, BackgroundTask::SaveSettings(_))));
}

#[test]
fn recent_projects_have_pictures_of_their_runs() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    let window = &mut harness.state_mut().window;
    window.bench.settings.recent = vec![folder()];
    window.carry_out(Command::CloseProject, NOW);
    script.handed();
    harness.run();
    let asked = script.handed().into_iter().find_map(|task| {
        if let BackgroundTask::ReadRecent(folders) = task { Some(folders) } else { None }
    });
    assert_eq!(asked, Some(vec![folder()]));
    let newest = [
        stored(3, "vector16", 0, Some(1.31e-4)),
        stored(2, "shared-tree", 0, None),
        stored(1, "naive", 0, Some(6.2e-4)),
    ];
    let history = RecentHistory::new(70, &newest);
    let [first, second, third] = history.runs[..] else { panic!("{history:?}") };
    assert_eq!(second, RecentRun::Passed);
    assert!(matches!((first, third), (RecentRun::Timed(..), RecentRun::Timed(..))));
    script.find(TaskResult::Recent(folder(), history));
    harness.run();
    harness.get_by_label("70 runs, best 131 µs measured");
    testing::snapshot(&harness, "start");
}
