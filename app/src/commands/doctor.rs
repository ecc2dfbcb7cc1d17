//! `lightbench doctor`: what the machine offers, what is missing, and the command that fixes it.

use std::fmt::{self, Write as _};

use lightbench_core::display_text::visible;
use lightbench_core::toolchain::doctor::{Finding, Fix, Report, State, examine};
use lightbench_core::toolchain::{DriverBranch, FetchError, PinnedSet};

use super::python_setup;
use crate::args::{Doctor, Fetch};
use crate::outcome::{Outcome, Status};
use crate::session::Session;
use crate::style::{DIM, ERROR, GOOD, NOTE, STRONG};

/// Fetches packages if requested, examines the machine, and reports; a failed fetch does not stop the report.
pub fn run(session: &Session, arguments: &Doctor) -> Outcome {
    let fetched = match arguments.fetch {
        None => Ok(()),
        Some(what) => session.fetch(pinned_set(what, session.host.driver)),
    };
    if let Err(FetchError::Cancelled) = fetched {
        return Outcome::failed(Status::Interrupted, FetchError::Cancelled);
    }
    let mut report = examine(&session.host);
    report.findings.push(python_setup::finding(session));
    let outcome = match fetched {
        Ok(()) if report.can_compile => Outcome::passed(String::new()),
        Ok(()) => Outcome { status: Status::Environment, ..Outcome::passed(String::new()) },
        Err(error) => Outcome::failed(Status::Environment, error),
    };
    Outcome { output: report_text(&report, arguments.json), ..outcome }
}

fn pinned_set(what: Fetch, driver: Option<DriverBranch>) -> PinnedSet {
    match what {
        Fetch::Compiler => PinnedSet::compiler_for(driver),
        Fetch::Compiler13 => PinnedSet::Compiler13,
        Fetch::Compiler12 => PinnedSet::Compiler12,
        Fetch::Assembler => PinnedSet::assembler_for(driver),
    }
}

fn report_text(report: &Report, json: bool) -> String {
    if json {
        return crate::outcome::document(report);
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    write_text(report, &mut text).ok();
    text
}

/// Widths of the columns for state and topic.
const STATE_WIDTH: usize = 7;
const TOPIC_WIDTH: usize = 17;

fn write_text(report: &Report, output: &mut String) -> fmt::Result {
    for finding in &report.findings {
        write_finding(finding, output)?;
    }
    let count = |state: State| report.findings.iter().filter(|it| it.state == state).count();
    let verdict = if report.can_compile {
        "Kernels can be compiled on this machine"
    } else {
        "Kernels cannot be compiled on this machine yet"
    };
    writeln!(output)?;
    match count(State::Missing) + count(State::Problem) {
        0 => writeln!(output, "{verdict}; no action is needed"),
        1 => writeln!(output, "{verdict}; 1 item needs attention, marked above"),
        several => writeln!(output, "{verdict}; {several} items need attention, marked above"),
    }
}

fn write_finding(finding: &Finding, output: &mut String) -> fmt::Result {
    let (word, style) = match finding.state {
        State::Ok => ("ok", GOOD),
        State::Missing => ("missing", ERROR),
        State::Problem => ("problem", NOTE),
        State::Info => ("–", DIM),
    };
    let title = finding.topic.title();
    let summary = visible(&finding.summary);
    writeln!(output, "{style}{word:<STATE_WIDTH$}{style:#}  {title:<TOPIC_WIDTH$}  {summary}")?;
    let indent = " ".repeat(STATE_WIDTH + TOPIC_WIDTH + 4);
    for line in finding.at.iter().chain(&finding.notes) {
        writeln!(output, "{indent}{DIM}{}{DIM:#}", visible(line))?;
    }
    match &finding.fix {
        Some(Fix::Command(command)) => {
            writeln!(output, "{indent}fix: {STRONG}{}{STRONG:#}", visible(command))
        }
        Some(Fix::Advice(advice)) => writeln!(output, "{indent}fix: {}", visible(advice)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lightbench_core::toolchain::HostEnvironment;

    use super::*;

    fn check(json: bool, expected: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let surroundings = HostEnvironment {
            cache: Some(root.path().join("cache\u{1b}[31m")),
            system: root.path().to_path_buf(),
            ..HostEnvironment::default()
        };
        let outcome = run(&Session::new(surroundings), &Doctor { fetch: None, json });
        assert_eq!(outcome.status, Status::Environment, "nothing can be compiled");
        assert_eq!(outcome.errors, "");
        let text = anstream::adapter::strip_str(&outcome.output).to_string();
        for part in expected {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn both_forms_tell_a_bare_machine_what_to_do() {
        check(false, &["missing  Compiler           ", "fix: ", "cannot be compiled"]);
        check(true, &["\"schema\": \"lightbench.doctor/1\"", "\"can_compile\": false"]);
    }
}
