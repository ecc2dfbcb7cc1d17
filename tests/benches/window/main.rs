//! The window's numbers: how long it takes to appear, our share of a frame, a key press, a long history, memory.
//!
//! `cargo bench --bench window` runs all of it; with `-- frames` behind it, a part. The goals stand in `docs/performance.md` and
//! are printed beside the results, not enforced, because a busy machine is no defect. What needs a compiler or a display
//! is skipped with a line where there is none. It asks Linux what processes use, so that it is for Linux alone.
#![expect(clippy::print_stdout, reason = "what a bench has to say")]
#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "a bench that fails to run has nothing to report")
)]

#[cfg(target_os = "linux")]
mod measured;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    measured::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: this is measured on Linux alone");
}
