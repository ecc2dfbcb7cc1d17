//! The window's numbers: how long it takes to appear, our share of a frame, a key press, a long history, memory.
//!
//! `cargo bench --bench window` runs all of it; with `-- frames` behind it, a part. The goals stand in `docs/performance.md` and
//! are printed beside the results, not enforced, because a busy machine is no defect. What needs a compiler or a display
//! is skipped with a line where there is none.
#![expect(clippy::unwrap_used, reason = "a bench that fails to run has nothing to report")]
#![expect(clippy::print_stdout, reason = "what a bench has to say")]

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

fn main() -> ExitCode {
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
