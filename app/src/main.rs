//! Parses the command line and runs one command.

use std::process::ExitCode;

use clap::Parser as _;
use lightbench::args::{Arguments, Command};
use lightbench::commands;
use lightbench::session::Session;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Command::Worker = arguments.command {
        return commands::worker::run();
    }
    let session = Session::of_process(&arguments.places);
    let outcome = match &arguments.command {
        Command::Check(_) | Command::Worker => return ExitCode::FAILURE,
        Command::New(new) => commands::new::run(new),
        Command::Devices(devices) => commands::devices::run(devices),
        Command::Doctor(doctor) => commands::doctor::run(&session, doctor),
    };
    match outcome.show() {
        Ok(()) => outcome.status.into(),
        Err(_) => ExitCode::FAILURE,
    }
}
