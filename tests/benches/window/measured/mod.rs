//! What is measured, part by part.

mod edit_abreast;
mod frames;
mod project;
mod screen;
mod start;
mod times;

use std::process::ExitCode;

/// A part, and what it is called.
const PARTS: [(&str, fn()); 6] = [
    ("frames", frames::edit),
    ("search", frames::while_searching),
    ("keys", frames::keys),
    ("history", frames::long_history),
    ("start", start::first_frame),
    ("memory", start::memory),
];

/// Measures the parts that were asked for, or all of them.
pub(crate) fn run() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // What evaluates starts its workers from the program that runs, which is this one.
    if arguments.first().is_some_and(|first| first == "worker") {
        return lightbench::commands::worker::run();
    }
    let wanted: Vec<&String> = arguments.iter().filter(|each| !each.starts_with("--")).collect();
    for (name, part) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| *wanted == name) {
            println!("{name}");
            part();
        }
    }
    ExitCode::SUCCESS
}
