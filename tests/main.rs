//! The integration tests: the built program, the repository's own rules, and projects end to end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test is the error report")]

/// What to try next with the kernels of the sample projects.
#[cfg(test)]
mod advice;
/// Mutants of kernels that pass.
#[cfg(test)]
mod attack;
/// What the program says of input that is wrong, and that it leaves nothing behind.
#[cfg(test)]
mod bad_input;
/// Kernels whose blocks wait for each other.
#[cfg(test)]
mod block_order;
/// Compile facts, listings and diagnostics.
#[cfg(test)]
mod check;
/// The compiler to test with.
#[cfg(test)]
mod compiler;
/// Kernels that call CUB's algorithms for a whole device.
#[cfg(test)]
mod cub;
/// CuTe kernels, and libraries of headers.
#[cfg(test)]
mod cutlass;
/// Files that commands read, damaged.
#[cfg(test)]
mod damaged_files;
/// Kernels with known defects, beside their corrected twins.
#[cfg(test)]
mod defects;
/// What the documentation refers to.
#[cfg(test)]
mod docs;
/// Threads and processes that work together, and what becomes of them.
#[cfg(test)]
mod engine;
/// Streams of candidates.
#[cfg(test)]
mod eval;
/// What kernels do that a policy may refuse.
#[cfg(test)]
mod evidence;
/// Commands that are killed, and that lack room, memory or descriptors.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod exhaust;
/// Machine instructions that PTX stands for.
#[cfg(test)]
mod expansion;
/// The output of every command, and files that an earlier build wrote.
#[cfg(test)]
mod frozen;
/// Definitions that cannot see enough.
#[cfg(test)]
mod gaps;
/// What is kept of runs, whatever happens to the process, the disk and the file.
#[cfg(test)]
mod history;
/// Tasks of public suites that become projects.
#[cfg(test)]
mod import;
/// One kernel with given buffers.
#[cfg(test)]
mod launch;
/// Lessons, as their authors check them.
mod lessons;
/// Coding agents, by the client of the protocol's official kit.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod mcp;
/// Files with host and device code.
#[cfg(test)]
mod mixed;
/// Projects that the program begins.
#[cfg(test)]
mod new;
/// Hardware counters, by a profiler that is a script.
#[cfg(test)]
#[cfg(unix)]
mod nsight;
/// Null pointers as arguments of a launch block.
#[cfg(test)]
mod null;
/// Numbers and what they mean.
#[cfg(test)]
mod numbers;
/// The compiler for older drivers.
#[cfg(test)]
mod older_compiler;
/// The program as a user runs it.
#[cfg(test)]
mod program;
/// Python workers.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod python;
/// References in Python, from the file to a verdict.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod python_references;
/// Searches with a model that says what was recorded.
#[cfg(test)]
mod replies;
/// Changes that rules make to kernels.
#[cfg(test)]
mod rewrite;
/// Searches for faster kernels.
#[cfg(test)]
mod search;
/// Tests that need what a machine may lack.
#[cfg(test)]
mod skip;
/// Devices of a Slurm cluster.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod slurm;
/// Long runs.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod soak;
/// Devices of another host.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod ssh;
/// Textures and surfaces.
#[cfg(test)]
mod textures;
/// The repository's own rules.
#[cfg(test)]
mod tidy_rules;
/// Triton kernels, from a Python file to a verdict.
#[cfg(test)]
mod triton;
/// Code of ours for GPUs, run on the virtual GPU.
#[cfg(test)]
mod trusted;
/// Candidates to verdicts.
#[cfg(test)]
mod verdict;
/// Real kernels, compiled here, read by the virtual GPU.
#[cfg(test)]
mod virtual_gpu;
/// A window on a display that nobody sees.
#[cfg(test)]
mod window;
/// Worker processes.
#[cfg(test)]
mod worker;
