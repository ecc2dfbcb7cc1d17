//! Tests of opening a project by its path.

use super::*;
use crate::workbench::path_browser::{Entry, FolderListing, Kind, RefusedPath};

fn folders(names: &[(&str, Kind)]) -> Vec<Entry> {
    names.iter().map(|(name, kind)| Entry { name: (*name).to_owned(), kind: *kind }).collect()
}

/// The listed folders and the paths to open.
fn asked(script: &Script) -> (Vec<String>, Vec<String>) {
    let (mut listed, mut opened) = (Vec::new(), Vec::new());
    for task in script.handed() {
        if let BackgroundTask::ListFolders(folder) = task {
            listed.push(folder);
        } else if let BackgroundTask::OpenPath(path) = task {
            opened.push(path);
        }
    }
    (listed, opened)
}

#[test]
fn a_path_is_typed_completed_and_opened_with_keys_alone() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown(theme, SIZE);
        asked(&script);
        press(&mut harness, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::O);
        let (listed, _) = asked(&script);
        let [beside] = listed.as_slice() else { panic!("{listed:?}") };
        assert!(beside.ends_with("sample-projects/"), "{beside}");
        let names = [("conv", Kind::Folder), ("rmsnorm", Kind::Project), ("rope", Kind::Project)];
        let found = Ok(folders(&names));
        script.find(TaskResult::Folders(FolderListing { folder: beside.clone(), found }));
        harness.run();
        harness.event(egui::Event::Text("r".to_owned()));
        harness.run();
        testing::snapshot(&harness, "path");
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        press(&mut harness, Modifiers::NONE, Key::Tab);
        let (listed, _) = asked(&script);
        assert_eq!(listed, [format!("{beside}rope/")]);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert_eq!(asked(&script).1, [format!("{beside}rope/")]);
        script.find(TaskResult::Folder(folder()));
        harness.run();
        let hint = "Path of a project folder or of a kernel";
        assert!(harness.query_by_label(hint).is_none(), "it is gone once something opens");
    }
}

#[test]
fn a_bad_path_is_answered_with_a_sentence() {
    let (mut harness, script) = shown(ThemeName::Light, SIZE);
    script.find(TaskResult::NoDialog);
    harness.run();
    let (listed, _) = asked(&script);
    let why = "There is no folder /none/".to_owned();
    script.find(TaskResult::Folders(FolderListing {
        folder: listed[0].clone(),
        found: Err(why.clone()),
    }));
    harness.run();
    harness.get_by_label(&why);
    let typed = listed[0].clone();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    let why = format!("{typed} is not a project: it has no project.ron");
    script.find(TaskResult::PathRefused(RefusedPath { typed, why: why.clone() }));
    harness.run();
    harness.get_by_label(&why);
    testing::snapshot(&harness, "path-refused");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label(&why).is_none());
}
