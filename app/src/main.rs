//! Parses the command line and runs one command.

use std::process::ExitCode;

use clap::Parser as _;
use lightbench::args::{Arguments, Command};
use lightbench::commands;
use lightbench::session::Session;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let session = Session::of_process(&arguments.places);
    let outcome = match &arguments.command {
        Command::Worker => return commands::worker::run(),
        Command::Check(check) => commands::check::run(&session, check),
        Command::New(new) => commands::new::run(new),
        Command::Devices(devices) => commands::devices::run(devices),
        Command::Doctor(doctor) => commands::doctor::run(&session, doctor),
    };
    match outcome.show() {
        Ok(()) => outcome.status.into(),
        Err(_) => ExitCode::FAILURE,
    }
}
