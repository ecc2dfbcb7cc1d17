//! Parses the command line and runs one command.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use lightbench::args::{Arguments, Command, Tour};
use lightbench::commands::{self, user_settings};
use lightbench::outcome::{Outcome, Status};
use lightbench::session::{Display, Session, display};
use lightbench::window::StartOptions;
use lightbench::{report, table};
use lightbench_core::remote::connection::Traffic;
use lightbench_core::remote::hosts::Hosts;
use lightbench_core::units::Bytes;

fn main() -> ExitCode {
    let arguments = Arguments::read(env::args_os()).unwrap_or_else(|error| error.exit());
    if let Some(columns) = terminal_columns() {
        table::fit_terminal(columns);
    }
    let mut session = Session::for_process(&arguments.places);
    match &arguments.command {
        // The parent of these processes has read the settings.
        Some(Command::Worker | Command::LaunchOnce(_) | Command::HoldClocks(_)) => {}
        Some(_) | None => user_settings::apply(&mut session),
    }
    let hosts = session.hosts.clone();
    let outcome = match &arguments.command {
        None => return window(session, arguments.open),
        Some(Command::Worker) => return commands::worker::run(),
        Some(Command::LaunchOnce(order)) => return commands::launch_once::run(order),
        Some(Command::HoldClocks(which)) => return commands::hold_clocks::run(which),
        Some(Command::Check(check)) => commands::check::run(&session, check),
        Some(Command::Run(run)) => commands::run::run(&session, run),
        Some(Command::Compare(compare)) => commands::compare::run(&session, compare),
        Some(Command::Sweep(sweep)) => commands::search::sweep(&session, sweep),
        Some(Command::Search(search)) => commands::search::search(&session, search),
        Some(Command::Audit(audit)) => commands::audit::run(&session, audit),
        Some(Command::Eval(eval)) => commands::eval::run(&session, eval),
        Some(Command::Rejudge(rejudge)) => commands::eval::rejudge(&session, rejudge),
        Some(Command::Suggest(suggest)) => commands::suggest::run(&session, suggest),
        Some(Command::Launch(launch)) => commands::launch::run(&session, launch),
        Some(Command::Profile(profile)) => commands::profile::run(&session, profile),
        Some(Command::Access(access)) => commands::access::run(&session, access),
        Some(Command::Timeline(timeline)) => commands::timeline::run(&session, timeline),
        Some(Command::Lesson(lesson)) => commands::lesson::run(&session, lesson),
        Some(Command::History(history)) => commands::history::run(&session, history),
        Some(Command::Mcp(mcp)) => commands::mcp::run(&session, mcp),
        Some(Command::Accept(accept)) => commands::accept::run(&session, accept),
        Some(Command::Export(export)) => commands::export::run(&session, export),
        Some(Command::Launcher(launcher)) => commands::launcher::run(&session, launcher),
        Some(Command::Import(import)) => commands::import::run(&session, import),
        Some(Command::Report(report)) => commands::history::page::run(&session, report),
        Some(Command::Picture(picture)) => commands::picture::run(session, picture),
        Some(Command::New(new)) => commands::new::run(new),
        Some(Command::Devices(devices)) => commands::devices::run(&session, devices),
        Some(Command::Calibrate(calibrate)) => commands::calibrate::run(&session, calibrate),
        Some(Command::Explain(explain)) => commands::explain::run(explain),
        Some(Command::Tour(tour)) => commands::tour::run(&session, tour),
        Some(Command::Doctor(doctor)) => commands::doctor::run(&session, doctor),
        Some(Command::Completions(completions)) => commands::shell::completions(completions),
        Some(Command::Manual(manual)) => commands::shell::manual(manual),
        Some(Command::Models(models)) => commands::models::run(&session, models),
    };
    let mut outcome = in_terminal(arguments.command.as_ref(), outcome);
    outcome.errors += &report::notices(&traffic(&hosts));
    show(&outcome)
}

/// What each host of a device exchanged with this machine.
fn traffic(hosts: &Hosts) -> Vec<String> {
    let each = hosts.traffic().into_iter();
    let lines = each.map(|(host, Traffic { sent, received, round_trips })| {
        let (sent, received) = (Bytes(sent), Bytes(received));
        format!("connection to {host}: {round_trips} round trips, {sent} sent, {received} received")
    });
    lines.collect()
}

/// The outcome with prose at the width of the terminal; other commands print tables, code or documents.
fn in_terminal(command: Option<&Command>, outcome: Outcome) -> Outcome {
    let is_prose = matches!(
        command,
        Some(
            Command::Run(_)
                | Command::Compare(_)
                | Command::Sweep(_)
                | Command::Search(_)
                | Command::Audit(_)
                | Command::Accept(_)
                | Command::Profile(_)
        )
    );
    let is_document = outcome.output.starts_with(['{', '[']);
    let errors = table::fitted(outcome.errors);
    let output =
        if is_prose && !is_document { table::fitted(outcome.output) } else { outcome.output };
    Outcome { output, errors, ..outcome }
}

/// The width of the terminal on standard output, if it is one.
fn terminal_columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    (columns > 0).then_some(usize::from(columns))
}

/// Opens the window; without a display, reports that and runs the tour instead.
fn window(session: Session, open: Option<PathBuf>) -> ExitCode {
    if display() == Display::None {
        let tour = Tour { project: open, device: None, output: None };
        let mut outcome = commands::tour::run(&session, &tour);
        let note = "No display was found for the window, so the tour runs instead; `lightbench --help` lists all commands\n\n";
        outcome.output.insert_str(0, note);
        return show(&outcome);
    }
    match lightbench::window::run(StartOptions { session, open }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = format!(
                "the window cannot be opened: {error}; `lightbench tour` works without one"
            );
            show(&Outcome::failed(Status::Environment, message))
        }
    }
}

fn show(outcome: &Outcome) -> ExitCode {
    match outcome.show() {
        Ok(()) => outcome.status.into(),
        Err(error) => {
            // Standard error may be another file, with room.
            anstream::eprint!("{}", report::error(&format!("cannot write the output: {error}")));
            Status::Environment.into()
        }
    }
}
