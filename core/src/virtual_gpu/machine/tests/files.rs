//! Every file of `tests/ptx/pass` gives its results without a fault, every file of `tests/ptx/fault` its faults.

use super::harness::{Done, folder, launch, launch_by, other_schedules};

pub(super) fn texts(name: &str) -> Vec<(String, String)> {
    let mut all: Vec<_> = std::fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// What is wrong with the results of a launch.
fn differences(name: &str, done: &Done) -> Vec<String> {
    let faults = done.report.faults.iter().map(|fault| format!("{name}: {fault}"));
    let mut wrong: Vec<String> = faults.collect();
    for (buffer, expected) in &done.expected {
        if buffer == "printed" {
            continue;
        }
        let (_, id) = done.buffers.iter().find(|(known, _)| known == buffer).unwrap();
        let found = done.machine.read(*id);
        if found != *expected {
            wrong.push(format!("{name}: `{buffer}` is {found:02x?}, not {expected:02x?}"));
        }
    }
    wrong
}

#[test]
fn every_passing_file_gives_its_results_and_no_fault() {
    let files = texts("pass");
    assert!(!files.is_empty());
    let wrong: Vec<_> =
        files.iter().flat_map(|(name, text)| differences(name, &launch(text))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_passing_file_gives_its_results_by_every_schedule() {
    let mut wrong = Vec::new();
    for schedule in other_schedules() {
        // Which lanes are together is what `activemask` asks: any answer is right.
        let files = texts("pass").into_iter().filter(|(_, text)| !text.contains("activemask"));
        for (name, text) in files {
            let done = launch_by(&text, schedule);
            wrong.extend(differences(&format!("{name} by {schedule:?}"), &done));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_faulty_file_gives_its_faults_on_their_lines_and_no_other() {
    let files = texts("fault");
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for (name, text) in files {
        let done = launch(&text);
        let mut expected: Vec<(u32, String)> = text
            .lines()
            .enumerate()
            .filter_map(|(index, line)| {
                let (_, kind) = line.split_once("// fault: ")?;
                Some((index as u32 + 1, kind.trim().to_owned()))
            })
            .collect();
        let mut found: Vec<(u32, String)> = done
            .report
            .faults
            .iter()
            .map(|fault| (fault.place.line, fault.kind.word().to_owned()))
            .collect();
        expected.sort();
        found.sort();
        if found != expected {
            wrong.push(format!("{name}: {expected:?} expected, {:#?} found", done.report.faults));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
