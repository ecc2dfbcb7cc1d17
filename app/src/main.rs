//! Parses the command line and runs one command.

use std::process::ExitCode;

use clap::Parser as _;
use lightbench::args::{Arguments, Command};
use lightbench::commands;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Command::Devices(devices) => commands::devices::run(devices),
        _ => return ExitCode::FAILURE,
    };
    match outcome.show() {
        Ok(()) => outcome.status.into(),
        Err(_) => ExitCode::FAILURE,
    }
}
