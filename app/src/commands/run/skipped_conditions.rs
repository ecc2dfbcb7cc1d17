//! Requested times that were not measured, with the reason.

use lightbench_core::evaluate::Run;
use lightbench_core::measure::{ExtraModes, Mode};
use lightbench_core::project::Kernel;

use crate::commands::evaluation_setup::ChosenDevice;

/// Why the times of a condition are missing.
pub(super) fn notices(
    besides: ExtraModes,
    chosen: &ChosenDevice,
    runs: &[(&Kernel, Run)],
) -> Vec<String> {
    let mode = match besides {
        ExtraModes::Nothing => return Vec::new(),
        ExtraModes::Graph => Mode::Graph,
        ExtraModes::Server => Mode::Server,
    };
    let word = mode.word();
    if chosen.gpu.is_none() {
        return vec![format!("no {word} times: a virtual device models cold times only")];
    }
    let passed = runs.iter().filter_map(|(kernel, run)| Some((kernel, run.verdict.as_ref().ok()?)));
    let lacking = passed.flat_map(|(kernel, passed)| {
        let lacks = passed.timings.iter().filter(|timed| {
            !timed.timings.is_empty() && timed.timings.iter().all(|timing| timing.mode != mode)
        });
        lacks.map(|timed| {
            let (kernel, workload) = (&kernel.name, &timed.workload);
            format!(
                "no {word} times of {kernel} on {workload}: cooperative launches cannot be captured in a graph"
            )
        })
    });
    lacking.collect()
}
