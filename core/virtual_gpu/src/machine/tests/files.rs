//! Every file of `tests/ptx/pass` gives its results without a fault; every file of `tests/ptx/fault` reports its
//! faults.

use super::harness::{Done, folder, launch, launch_by, other_schedules};
use crate::machine::{Races, Schedule};

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

const MODES: [Races; 2] = [Races::CudaIdiom, Races::Strict];

/// The problems of the results of a launch.
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
    let mut wrong = Vec::new();
    for ((name, text), races) in files.iter().flat_map(|file| MODES.map(|mode| (file, mode))) {
        // `// races: idiom`: the memory model does not permit the access, the idiom mode does.
        if races == Races::Strict && text.contains("// races: idiom") {
            continue;
        }
        // A fixed order is observed through a race.
        let races = if text.contains("// fixed order") { Races::Ignored } else { races };
        wrong.extend(differences(&format!("{name}: {races:?}"), &launch(text, races)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_passing_file_gives_its_results_by_every_schedule() {
    let mut wrong = Vec::new();
    for schedule in other_schedules() {
        let races = match schedule {
            Schedule::Parallel { .. } | Schedule::Independent { .. } => Races::Ignored,
            Schedule::Deterministic | Schedule::Adversarial { .. } => Races::CudaIdiom,
        };
        // Which lanes are together is what `activemask` asks: any answer is right. Some files say that they rely on the
        // order of warps.
        let files = texts("pass").into_iter();
        let files = files
            .filter(|(_, text)| !text.contains("activemask") && !text.contains("// fixed order"));
        for (name, text) in files {
            let done = launch_by(&text, schedule, races);
            wrong.extend(differences(&format!("{name} by {schedule:?}"), &done));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The faults that a file expects on its lines: `// fault: kind`, or `// fault strict: kind` where the CUDA idiom has none.
fn expected_faults(text: &str, races: Races) -> Vec<(u32, String)> {
    let fault = |line: &str| {
        let (_, rest) = line.split_once("// fault")?;
        let kind = match rest.strip_prefix(" strict") {
            Some(rest) if races == Races::Strict => rest,
            Some(_) => return None,
            None => rest,
        };
        Some(kind.strip_prefix(": ")?.trim().to_owned())
    };
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index as u32 + 1, fault(line)?))).collect()
}

#[test]
fn every_faulty_file_gives_its_faults_on_their_lines_and_no_other() {
    let files = texts("fault");
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for ((name, text), races) in files.iter().flat_map(|file| MODES.map(|mode| (file, mode))) {
        let done = launch(text, races);
        let mut expected = expected_faults(text, races);
        let mut found: Vec<(u32, String)> = done
            .report
            .faults
            .iter()
            .map(|fault| (fault.place.line, fault.kind.word().to_owned()))
            .collect();
        expected.sort();
        found.sort();
        if found != expected {
            let faults = &done.report.faults;
            wrong.push(format!("{name}: {races:?}: {expected:?} expected, {faults:#?} found"));
        }
        // `// accepts: rule,rule`: the rules of the idiom mode that accept accesses of the file.
        let accepts = text.lines().find_map(|line| line.strip_prefix("// accepts: "));
        let accepts = accepts.filter(|_| races == Races::CudaIdiom).unwrap_or_default();
        let mut rules: Vec<u8> = done.report.accepted.iter().map(|found| found.rule).collect();
        rules.dedup();
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        if rules.join(",") != accepts {
            wrong.push(format!("{name}: {races:?}: rules {rules:?} accepted, not {accepts}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_race_names_both_sides() {
    let files = texts("fault");
    let (_, text) = files.iter().find(|(name, _)| name == "race_02_barrier.ptx").unwrap();
    let report = launch(text, Races::Strict).report;
    // Warp 0 wrote and read; then warp 1 writes what warp 0 read.
    let fault = &report.faults[0];
    let other = fault.other.as_ref().unwrap();
    assert_eq!((fault.thread, other.thread, other.access), ([32, 0, 0], [31, 0, 0], "read"));
    assert_eq!(fault.buffer.as_deref(), Some("s"));
    assert!(other.place.line > fault.place.line);
    assert!(fault.details.contains("no barrier"), "{}", fault.details);
}

#[test]
fn a_race_says_what_is_missing() {
    let files = texts("fault");
    let check = |name: &str, words: &str| {
        let (_, text) = files.iter().find(|(known, _)| known == name).unwrap();
        let report = launch(text, Races::Strict).report;
        assert!(report.faults[0].details.contains(words), "{name}: {}", report.faults[0].details);
    };
    check("race_10_shuffle.ptx", "no __syncwarp orders");
    check("race_06_one_instruction.ptx", "the stores of its lanes are unordered");
    check("race_12_lanes_with_other_orders.ptx", "neither a __syncwarp nor an acquired release");
    check("race_21_no_acquire.ptx", "which nothing orders");
}
