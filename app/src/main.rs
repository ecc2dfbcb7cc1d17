//! Parses the command line and runs one command.

use std::process::ExitCode;

use lightbench::commands;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|command| command == "worker") {
        return commands::worker::run();
    }
    ExitCode::SUCCESS
}
