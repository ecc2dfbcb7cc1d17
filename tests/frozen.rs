//! The program's behaviour, frozen: a restructuring must not change what a command prints or what stored files mean.
//!
//! Each case in [`cases`] is one command line. Its exit status, standard output and standard error are compared with
//! `tests/data/frozen/expected/<name>.txt`, after the rules in [`scrub`] have replaced what differs from run to run or
//! from machine to machine. Files that an earlier build of the program wrote (a history, a search journal, settings,
//! panel layouts, a compile-cache entry) are in `tests/data/frozen/stored/`: the present build must open them and
//! print the same. The JSON outputs and the stored files together pin the names that serde writes.
//!
//! **Rewriting the expected output.** `LIGHTBENCH_FREEZE=write cargo test --workspace --test it -- frozen` replaces the
//! expected files; `git diff tests/data/frozen/expected` then shows every change. This is legitimate for a change of
//! behaviour that its own commit describes: other words in a message, a new field, a new option, a corrected result,
//! or another version of the pinned CUDA compiler (then [`cases::COMPILER`] changes too). It is not legitimate in a
//! commit that moves or renames code: there, a difference is a defect. A JSON field or enum name that disappears is a
//! break of the format, not of the test.
//!
//! **The stored files are never rewritten**: they stand for files on users' disks. A format that can no longer read
//! them needs a conversion. One exception: `compiled-naive.entry` may be replaced (by the file that
//! `check scale --kernel naive` leaves below `kernels/` in an empty cache) when a commit states that earlier entries
//! are compiled again.
//!
//! Cases that need the CUDA compiler are skipped where the compiler is missing or of another version than the one
//! that the expected files were written with; with `LIGHTBENCH_REQUIRE_COMPILER` set, both fail.

use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};

mod cases;
mod scrub;
mod stored;

use cases::{Group, Requirement};
use scrub::Scrub;

/// Set to [`WRITE`], this environment variable makes the tests replace the expected files.
const SWITCH: &str = "LIGHTBENCH_FREEZE";
const WRITE: &str = "write";

/// Lines of a difference that are shown for one case.
const SHOWN_LINES: usize = 60;

/// The folder of the expected files.
fn expected_folder() -> PathBuf {
    repository().join("tests/data/frozen/expected")
}

/// The folder of the files that an earlier build wrote.
fn stored_folder() -> PathBuf {
    repository().join("tests/data/frozen/stored")
}

/// Whether the expected files are to be replaced.
fn is_writing() -> bool {
    match std::env::var(SWITCH) {
        Ok(value) => {
            assert_eq!(value, WRITE, "{SWITCH} has one legal value");
            true
        }
        Err(_) => false,
    }
}

/// Runs the cases of a group in order, in one bench, and fails with the differences of all of them.
fn check(group: &Group) {
    if group.requirement == Requirement::Compiler && !has_the_compiler() {
        return;
    }
    let bench = bench();
    let scrub = Scrub::new(&bench, group.values);
    let mut differences = Vec::new();
    for case in group.cases {
        let arguments: Vec<&str> = case.line.split_whitespace().collect();
        let said = bench.run(&arguments);
        let shown = shown(case.line, &said, &scrub);
        differences.extend(difference(&expected_folder().join(case.file()), &shown));
    }
    assert!(
        differences.is_empty(),
        "{} of {} commands differ from what is frozen (see tests/frozen.rs):\n{}",
        differences.len(),
        group.cases.len(),
        differences.join("\n")
    );
}

/// Whether the compiler is there, in the version that the expected files were written with.
fn has_the_compiler() -> bool {
    let Some(found) = compiler::required() else { return false };
    let version = found.toolchain.nvrtc.version.to_string();
    if version != cases::COMPILER {
        assert!(
            std::env::var_os("LIGHTBENCH_REQUIRE_COMPILER").is_none(),
            "NVRTC {version}; the expected files were written with {}",
            cases::COMPILER
        );
        println!("skipped: NVRTC {version}; the expected files need {}", cases::COMPILER);
        return false;
    }
    true
}

/// A bench with a cache of its own, the sample projects in `samples`, and a project `kept` with all stored files.
fn bench() -> Bench {
    let bench = Bench::with_own_cache();
    copy_folder(&repository().join("sample-projects"), &bench.path().join("samples"));
    copy_folder(&repository().join("tests/import"), &bench.path().join("tasks"));
    let kept = bench.path().join("kept");
    copy_folder(&bench.project(), &kept);
    copy_folder(&stored_folder().join("project"), &kept.join(".lightbench"));
    copy_folder(&stored_folder().join("state"), &bench.path().join(".local/state/lightbench"));
    for (from, name) in [
        ("stored/traces.jsonl", "traces.jsonl"),
        ("copy.ptx", "copy.ptx"),
        ("candidates.jsonl", "candidates.jsonl"),
    ] {
        let from = repository().join("tests/data/frozen").join(from);
        fs::copy(from, bench.path().join(name)).unwrap();
    }
    bench
}

/// A command and everything that it printed, as an expected file has it.
fn shown(line: &str, said: &Said, scrub: &Scrub) -> String {
    let (output, errors) = (scrub.apply(&said.output), scrub.apply(&said.errors));
    format!(
        "$ lightbench {line}\nexit status {}\n\n--- standard output\n{output}\n--- standard error\n{errors}",
        said.status
    )
}

/// The difference between an expected file and what was found; none when they agree or the file was rewritten.
fn difference(path: &Path, found: &str) -> Option<String> {
    if is_writing() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, found).unwrap();
        return None;
    }
    let name = path.file_name().unwrap().to_string_lossy();
    let Ok(expected) = fs::read_to_string(path) else {
        return Some(format!("{name}: there is no such file; found:\n{found}"));
    };
    (expected != found).then(|| {
        let diff = TextDiff::from_lines(expected.as_str(), found);
        let text = diff.unified_diff().header("expected", "found").to_string();
        let lines: Vec<&str> = text.lines().collect();
        let more = lines.len().saturating_sub(SHOWN_LINES);
        let shown = &lines[..lines.len() - more];
        format!("{name}:\n{}\n({more} more lines)\n", shown.join("\n"))
    })
}

#[test]
fn a_difference_is_found_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.txt");
    if is_writing() {
        return;
    }
    fs::write(&path, "same\nold\n").unwrap();
    assert_eq!(difference(&path, "same\nold\n"), None);
    let shown = difference(&path, "same\nnew\n").unwrap();
    assert!(shown.contains("-old\n+new"), "{shown}");
    assert!(difference(&folder.path().join("missing.txt"), "").is_some());
}

#[test]
fn every_expected_file_belongs_to_a_case_and_every_command_has_one() {
    let mut files: Vec<String> = cases::all().map(|case| case.file()).collect();
    files.push(stored::SETTINGS.to_owned());
    files.push(stored::FILES_OF_NEW.to_owned());
    files.sort();
    let count = files.len();
    files.dedup();
    assert_eq!(files.len(), count, "two cases have the same name");
    let mut found: Vec<String> = fs::read_dir(expected_folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    if !is_writing() {
        assert_eq!(found, files);
    }
    let help = Bench::new().run(&["--help"]).output;
    let listed = help.split("Commands:").nth(1).unwrap().split("Arguments:").next().unwrap();
    // A command stands two spaces from the left, the rest of its description further right.
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    for name in names.map(|(name, _)| name).filter(|name| !name.is_empty()) {
        let is_run = cases::all().any(|case| case.line.split(' ').next() == Some(name));
        let is_left_out = cases::LEFT_OUT.iter().any(|(command, _)| *command == name);
        assert!(is_run != is_left_out, "`{name}` has no case, or a case and an exemption");
    }
}
