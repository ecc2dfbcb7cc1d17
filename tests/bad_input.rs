//! Bad input: each item gives one clear message with its place, the right exit status, and leaves nothing behind.
//!
//! A case is data; `check_all` runs it in a project of its own and looks at everything it could have left.

use std::fs;
use std::process::Command;

use crate::compiler;
use crate::program::{Bench, Said};

mod files;
mod includes;
mod kernels;
mod machine;
mod manifests;
mod smuggling;
mod stopping;

/// Stands in every file that no message may quote.
const MARKER: &str = "this text is nobody's business";

const SCALE: &[&str] = &["check", "scale"];
const NAIVE: &[&str] = &["check", "scale", "--kernel", "naive"];
const TUNED: &[&str] = &["check", "scale", "--kernel", "tuned"];

/// One way to be wrong.
struct Case {
    name: &'static str,
    change: fn(&Bench),
    arguments: &'static [&'static str],
    status: i32,
    says: &'static [&'static str],
}

/// What a case needs beyond the program itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Compiler,
}

/// Runs every case, and reports all that went wrong at once.
fn check_all(needs: Needs, cases: &[Case]) {
    if needs == Needs::Compiler && compiler::required().is_none() {
        return;
    }
    let problems: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let bench = Bench::new();
            hide_markers(&bench);
            (case.change)(&bench);
            let problems = problems(&bench, bench.command(case.arguments), case.status, case.says);
            problems.map(|problems| format!("{}: {problems}", case.name))
        })
        .collect();
    assert!(problems.is_empty(), "{} case(s)\n\n{}", problems.len(), problems.join("\n\n"));
}

/// Runs one command and asserts what it says and that it leaves nothing behind.
fn check_one(bench: &Bench, command: Command, status: i32, says: &[&str]) {
    if let Some(problems) = problems(bench, command, status, says) {
        panic!("{problems}");
    }
}

fn problems(bench: &Bench, mut command: Command, status: i32, says: &[&str]) -> Option<String> {
    let before = bench.listing();
    let said = Said::from(command.output().unwrap());
    let everything = said.everything();
    let mut problems = Vec::new();
    if said.status != status {
        problems.push(format!("status {}, expected {status}", said.status));
    }
    let missing = says.iter().filter(|part| !everything.contains(**part));
    problems.extend(missing.map(|part| format!("does not say {part:?}")));
    let hidden = ["\u{1b}", MARKER, "panicked", "\u{202e}", "__nv_name_map"];
    let shown = hidden.iter().filter(|part| everything.contains(**part));
    problems.extend(shown.map(|part| format!("shows {part:?}")));
    let after = bench.listing();
    let left = after.iter().filter(|entry| !before.contains(entry)).map(|(path, _)| path);
    problems.extend(left.map(|path| format!("leaves {} behind", path.display())));
    let gone = before.iter().filter(|entry| !after.contains(entry)).map(|(path, _)| path);
    problems.extend(gone.map(|path| format!("changes {}", path.display())));
    problems.extend(bench.processes().iter().map(|process| format!("leaves {process} running")));
    (!problems.is_empty()).then(|| format!("{}\n{everything}", problems.join("; ")))
}

/// Puts the marker into everything that kernels must not read.
fn hide_markers(bench: &Bench) {
    for file in ["project.ron", "reference.cu"] {
        let text = fs::read_to_string(bench.project().join(file)).unwrap();
        bench.write(file, format!("{text}\n// {MARKER}\n"));
    }
    bench.write("secret.txt", MARKER);
    fs::write(bench.path().join("outside.cuh"), format!("#error {MARKER}\n")).unwrap();
}

#[test]
fn a_case_that_says_too_much_or_leaves_something_is_found() {
    let bench = Bench::new();
    let mut talkative = Command::new("sh");
    let script = format!("echo \"{MARKER}\"; touch {}/left", bench.project().display());
    talkative.args(["-c", &script]);
    let found = problems(&bench, talkative, 2, &["a message"]).unwrap();
    for part in ["status 0, expected 2", "does not say", "shows", "leaves"] {
        assert!(found.contains(part), "{part} in {found}");
    }
}
