//! The command lines of Nsight Compute.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::metric::Metric;
use crate::worker::command::WorkerCommand;

/// The largest number of profiled launches of a run: each is repeated for every pass.
pub const MOST_LAUNCHES: u64 = 16;

/// A task of the profiler.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task<'a> {
    /// Measure these metrics.
    Measure(&'a [&'a Metric]),
    /// Write everything that it can measure into this new file.
    Report(&'a Path),
    /// Sample warp stalls, and write a new report file.
    Sample(&'a Path),
}

/// The arguments of the profiler: the task, the log file, and the process that it starts.
///
/// Kernels are selected by their symbols, so that harness kernels, which make inputs and check outputs, are not profiled.
pub(super) fn arguments(
    task: Task<'_>,
    symbols: &BTreeSet<&str>,
    log: &Path,
    command: &WorkerCommand,
) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |option: &str, value: OsString| all.extend([option.into(), value]);
    add("--target-processes", "all".into());
    add("--clock-control", "none".into());
    add("--cache-control", "all".into());
    add("--kernel-name-base", "mangled".into());
    add("--kernel-name", one_of(symbols).into());
    add("--launch-count", MOST_LAUNCHES.to_string().into());
    add("--log-file", log.into());
    match task {
        Task::Measure(metrics) => {
            let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
            add("--page", "raw".into());
            add("--print-units", "base".into());
            add("--metrics", names.join(",").into());
            all.push("--csv".into());
        }
        Task::Report(file) => {
            add("--set", "full".into());
            add("--export", file.into());
        }
        Task::Sample(file) => {
            add("--section", "SourceCounters".into());
            add("--export", file.into());
        }
    }
    all.push(command.program.clone().into());
    all.extend(command.arguments.iter().cloned());
    all
}

/// The arguments for printing the source page of a report. Nothing runs.
pub(super) fn source_page(report: &Path) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec!["--import".into(), report.into()];
    all.extend(["--page", "source", "--csv", "--print-source", "cuda,sass"].map(Into::into));
    all
}

/// A pattern for exactly these names. Of the characters of symbols, only `$` and `.` are special in a pattern.
fn one_of(symbols: &BTreeSet<&str>) -> String {
    let escaped = symbols.iter().map(|symbol| symbol.replace('.', "\\.").replace('$', "\\$"));
    format!("regex:^({})$", escaped.collect::<Vec<_>>().join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nsight::metric::set;

    fn check(task: Task<'_>, symbols: &[&str], expected: &[&str]) {
        let command = WorkerCommand::new("/bin/lightbench", ["launch-once", "/tmp/order"]);
        let symbols = symbols.iter().copied().collect();
        let found = arguments(task, &symbols, Path::new("/tmp/log"), &command);
        let always =
            ["--target-processes", "all", "--clock-control", "none", "--cache-control", "all"];
        let last = ["/bin/lightbench", "launch-once", "/tmp/order"];
        let expected: Vec<&str> =
            always.into_iter().chain(expected.iter().copied()).chain(last).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn metrics_are_asked_for_by_name_and_kernels_by_symbol() {
        let metrics = &set("overview").unwrap().metrics[..2];
        let names = format!("{},{}", metrics[0].name, metrics[1].name);
        check(
            Task::Measure(metrics),
            &["_Z5scalePf", "second$1"],
            &[
                "--kernel-name-base",
                "mangled",
                "--kernel-name",
                "regex:^(_Z5scalePf|second\\$1)$",
                "--launch-count",
                "16",
                "--log-file",
                "/tmp/log",
                "--page",
                "raw",
                "--print-units",
                "base",
                "--metrics",
                &names,
                "--csv",
            ],
        );
    }

    #[test]
    fn a_report_holds_everything_or_where_warps_waited() {
        let file = Path::new("/tmp/a.ncu-rep");
        let tasks = [
            (Task::Report(file), ["--set", "full"]),
            (Task::Sample(file), ["--section", "SourceCounters"]),
        ];
        for (task, [option, what]) in tasks {
            check(
                task,
                &["scale"],
                &[
                    "--kernel-name-base",
                    "mangled",
                    "--kernel-name",
                    "regex:^(scale)$",
                    "--launch-count",
                    "16",
                    "--log-file",
                    "/tmp/log",
                    option,
                    what,
                    "--export",
                    "/tmp/a.ncu-rep",
                ],
            );
        }
    }
}
