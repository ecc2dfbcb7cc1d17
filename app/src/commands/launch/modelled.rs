//! The modelled time of a launch from its counters: bound, expected band and limiter.

use std::fmt::Write as _;

use lightbench_core::compile::Build;
use lightbench_core::compile::KernelFacts;
use lightbench_core::compile::modelled_time::{
    CompiledLaunch, ModelledTime, NotModelled, modelled_time,
};
use lightbench_core::device::{LocalDevice, Outcome};

use super::request::LaunchRequest;
use crate::args::Launch;
use crate::style::{DIM, STRONG};

/// The modelled time for a virtual device with counters.
pub(super) fn model_time(
    arguments: &Launch,
    request: &LaunchRequest,
    kernel: &KernelFacts,
    outcome: &Outcome,
) -> Option<Result<ModelledTime, NotModelled>> {
    let LocalDevice::Virtual(sheet) = &request.device else { return None };
    if !arguments.counters {
        return None;
    }
    let launched = CompiledLaunch {
        kernel,
        build: if arguments.as_written { Build::AsWritten } else { Build::Optimised },
        grid: arguments.grid,
        block: arguments.block,
        dynamic_shared: u64::from(arguments.shared),
        carveout: None,
    };
    Some(modelled_time(outcome, &launched, sheet))
}

pub(super) fn text(modelled: &Result<ModelledTime, NotModelled>, arguments: &Launch) -> String {
    let mut text = format!("{STRONG}modelled time{STRONG:#}{DIM}, not measured{DIM:#}\n");
    let ModelledTime { bound, resident } = match modelled {
        Ok(modelled) => modelled,
        Err(reason) => {
            writeln!(text, "  {:<16}{reason}", "none").ok();
            return text;
        }
    };
    let mut row = |name: &str, value: String| {
        writeln!(text, "  {name:<16}{value}").ok();
    };
    let (low, high) = bound.band;
    row("at least", format!("{}, limited by {}", bound.time, bound.limit));
    let (low, high) = (bound.time * low, bound.time * high);
    row("expected", format!("{low} to {high}, limited by {}", bound.decided_by()));
    row(
        "occupancy",
        format!(
            "{} blocks, {} of {} warps per multiprocessor; {:.2} waves",
            resident.blocks, resident.warps, resident.max_warps, bound.waves
        ),
    );
    if arguments.assumptions {
        for (limit, time) in &bound.parts {
            row("  by itself", format!("{time} {limit}"));
        }
        for assumption in &bound.assumptions {
            row("  assumed", assumption.to_string());
        }
    } else {
        let count = bound.assumptions.len();
        row("assumptions", format!("{count}, shown with `--assumptions`"));
    }
    text
}
