//! Parses the command line and runs one command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::SUCCESS
}
