//! `lightbench doctor`: what this machine has, what is missing, and the one command that fixes it.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use lightbench_core::toolchain::doctor::{Finding, Fix, Report, State, examine};
use lightbench_core::toolchain::{
    DEFAULT_FETCH_LIMIT, FetchError, FetchEvent, FetchRequest, PinnedSet, Surroundings, fetch,
};

/// What `doctor` was asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Packages to install before looking; empty to change nothing.
    pub fetch: Vec<PinnedSet>,
    /// How to write the report.
    pub form: Form,
}

/// How the report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For a person.
    Text,
    /// One JSON document, schema `lightbench.doctor/1`.
    Json,
}

/// The environment cannot do what was asked.
const ENVIRONMENT: u8 = 3;
const INTERRUPTED: u8 = 130;

/// Fetches if asked to, examines the machine, and writes the report to `output`.
///
/// Progress and errors of a fetch go to `progress`; the report follows in any case. Exit status 0
/// if kernels can be compiled and the fetch succeeded, 3 if not, 130 if interrupted.
///
/// # Errors
/// `output` or `progress` cannot be written.
pub fn run(
    surroundings: &Surroundings,
    options: &Options,
    cancelled: &dyn Fn() -> bool,
    output: &mut dyn Write,
    progress: &mut dyn Write,
) -> io::Result<ExitCode> {
    let mut failed = false;
    for set in &options.fetch {
        match fetch_one(surroundings, *set, cancelled, progress)? {
            Ok(()) => {}
            Err(FetchError::Cancelled) => {
                writeln!(progress, "{}", FetchError::Cancelled)?;
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(error) => {
                let red = AnsiColor::Red.on_default().bold();
                writeln!(progress, "{red}error{red:#}: {error}\n")?;
                failed = true;
            }
        }
    }
    let report = examine(surroundings);
    match options.form {
        Form::Text => write_text(&report, output)?,
        Form::Json => {
            serde_json::to_writer_pretty(&mut *output, &report)?;
            writeln!(output)?;
        }
    }
    let is_ready = report.can_compile && !failed;
    Ok(if is_ready { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) })
}

/// Runs one fetch; the outer result is about writing, the inner one about fetching.
fn fetch_one(
    surroundings: &Surroundings,
    set: PinnedSet,
    cancelled: &dyn Fn() -> bool,
    progress: &mut dyn Write,
) -> io::Result<Result<(), FetchError>> {
    let request = FetchRequest { set, limit: DEFAULT_FETCH_LIMIT };
    let mut written = Ok(());
    // Nobody reads the progress any more: that is as good as Ctrl-C.
    let deaf = std::cell::Cell::new(false);
    let stop = || deaf.get() || cancelled();
    let fetched = fetch(surroundings, request, &stop, &mut |event| {
        if written.is_ok() {
            written = write_event(&event, progress);
            deaf.set(written.is_err());
        }
    });
    written?;
    Ok(fetched.map(drop))
}

/// Writes one line of progress; other commands that fetch say it in the same words.
///
/// # Errors
/// `progress` cannot be written.
pub fn write_event(event: &FetchEvent, progress: &mut dyn Write) -> io::Result<()> {
    match event {
        FetchEvent::WaitingForAnother => {
            writeln!(progress, "another process is fetching the compiler; waiting for it")
        }
        FetchEvent::LeftoverRemoved { folder } => {
            writeln!(progress, "removed what an interrupted fetch had left: {}", folder.display())
        }
        FetchEvent::Starting { packages, folder } => {
            writeln!(progress, "fetching {} with pip", packages.join(" "))?;
            writeln!(progress, "    into {}", folder.display())
        }
        FetchEvent::Line { text } => writeln!(progress, "    {text}"),
        FetchEvent::Installed { folder, bytes } => {
            writeln!(progress, "installed {} MiB in {}\n", bytes >> 20, folder.display())
        }
        FetchEvent::AlreadyThere { folder } => {
            writeln!(progress, "already there: {}\n", folder.display())
        }
    }
}

/// Width of the column with the state, and of the one with the topic.
const STATE_WIDTH: usize = 7;
const TOPIC_WIDTH: usize = 17;

fn write_text(report: &Report, output: &mut dyn Write) -> io::Result<()> {
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
        0 => writeln!(output, "{verdict}; nothing needs doing"),
        1 => writeln!(output, "{verdict}; one thing to look at, marked above"),
        several => writeln!(output, "{verdict}; {several} things to look at, marked above"),
    }
}

fn write_finding(finding: &Finding, output: &mut dyn Write) -> io::Result<()> {
    let (word, style) = match finding.state {
        State::Ok => ("ok", AnsiColor::Green.on_default()),
        State::Missing => ("missing", AnsiColor::Red.on_default().bold()),
        State::Problem => ("problem", AnsiColor::Yellow.on_default().bold()),
        State::Info => ("–", Style::new().dimmed()),
    };
    let title = finding.topic.title();
    let summary = clean(&finding.summary);
    writeln!(output, "{style}{word:<STATE_WIDTH$}{style:#}  {title:<TOPIC_WIDTH$}  {summary}")?;
    let indent = " ".repeat(STATE_WIDTH + TOPIC_WIDTH + 4);
    let dim = Style::new().dimmed();
    for line in finding.at.iter().chain(&finding.notes) {
        writeln!(output, "{indent}{dim}{}{dim:#}", clean(line))?;
    }
    let strong = Style::new().bold();
    match &finding.fix {
        Some(Fix::Command(command)) => {
            writeln!(output, "{indent}fix: {strong}{}{strong:#}", clean(command))
        }
        Some(Fix::Advice(advice)) => writeln!(output, "{indent}fix: {}", clean(advice)),
        None => Ok(()),
    }
}

/// Names of folders and devices go to a terminal: control characters are shown, not obeyed.
fn clean(text: &str) -> String {
    let show = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    text.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: Form, expected: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            cache: Some(root.path().join("cache\u{1b}[31m")),
            system: root.path().to_path_buf(),
            ..Surroundings::default()
        };
        let options = Options { fetch: Vec::new(), form };
        let (mut output, mut progress) = (Vec::new(), Vec::new());
        let exit = run(&surroundings, &options, &|| false, &mut output, &mut progress).unwrap();
        assert_eq!(exit, ExitCode::from(ENVIRONMENT), "nothing can be compiled");
        assert!(progress.is_empty());
        let text = anstream::adapter::strip_str(std::str::from_utf8(&output).unwrap()).to_string();
        for part in expected {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn both_forms_tell_a_bare_machine_what_to_do() {
        check(Form::Text, &["missing  Compiler           ", "fix: ", "cannot be compiled"]);
        check(Form::Json, &["\"schema\": \"lightbench.doctor/1\"", "\"can_compile\": false"]);
    }
}
