//! A launch as text: faults first, then buffers, then counters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use lightbench_core::device::DeviceKind;
use lightbench_core::display_text::{visible, visible_lines};

use super::{LaunchResult, buffer_text, counters, faults, modelled};
use crate::commands::check::kernel_file;
use crate::commands::check::text::dimensions;
use crate::commands::fault;
use crate::style::{DIM, ERROR, GOOD, NOTE, STRONG};

/// Maximum number of shown faults.
const MOST_FAULTS: usize = 20;

pub(super) fn report_text(done: &LaunchResult<'_>) -> String {
    let mut text = head(done);
    let settled = done.faults();
    let groups = faults::grouped(&settled, done.code);
    let quoted = faults::quoted(done.code);
    for (fault, others) in groups.iter().take(MOST_FAULTS) {
        text.push_str(&fault::text(fault, &quoted));
        if *others > 0 {
            let instructions = if *others == 1 { "instruction" } else { "instructions" };
            writeln!(text, "  and the same at {others} more {instructions} of this line").ok();
        }
        text.push('\n');
    }
    let shown = groups.iter().take(MOST_FAULTS).map(|(_, others)| 1 + others).sum();
    let more = done.outcome.faults.len().saturating_sub(shown);
    if more > 0 {
        writeln!(text, "… and {more} more, in `--json`\n").ok();
    }
    if !done.outcome.printed.is_empty() {
        writeln!(text, "{DIM}the kernel printed{DIM:#}").ok();
        writeln!(text, "{}\n", visible_lines(done.outcome.printed.trim_end())).ok();
    }
    for printed in &done.printed {
        text.push_str(&buffer_text::buffer_text(printed));
        text.push('\n');
    }
    if let Some(counted) = &done.outcome.counters {
        text.push_str(&counters::counters_text(counted, done.code));
        text.push('\n');
    }
    if let Some(modelled) = &done.modelled {
        text.push_str(&modelled::text(modelled, done.arguments));
        text.push('\n');
    }
    text + &verdict(done)
}

fn head(done: &LaunchResult<'_>) -> String {
    let device = done.description;
    let mut text = format!(
        "{STRONG}{}{STRONG:#} · grid {} × block {}",
        visible(&kernel_file::readable(done.kernel)),
        dimensions(done.arguments.grid),
        dimensions(done.arguments.block)
    );
    if done.arguments.shared > 0 {
        write!(text, " · {} B of dynamic shared memory", done.arguments.shared).ok();
    }
    write!(text, "\n{DIM}{} ({})", visible(&device.title), device.capability.architecture()).ok();
    if let Some(compiler) = &done.code.compiler {
        write!(text, " · {compiler}").ok();
        if done.arguments.as_written {
            text.push_str(" · as written (-G)");
        }
    }
    text.push_str(&limits(done));
    writeln!(text, "{DIM:#}\n").ok();
    text
}

/// The limits of a launch on a virtual device; a GPU has none.
fn limits(done: &LaunchResult<'_>) -> String {
    match done.description.kind {
        DeviceKind::Cuda { .. } => String::new(),
        DeviceKind::Virtual => {
            let watch = &done.request.watch;
            let time = watch.time_limit.map(|limit| format!(", {} s", limit.as_secs_f64()));
            format!(" · limits: {} steps{}", watch.max_steps, time.unwrap_or_default())
        }
    }
}

fn verdict(done: &LaunchResult<'_>) -> String {
    let skipped = &done.outcome.not_checked;
    let unseen = if skipped.is_empty() {
        String::new()
    } else {
        format!("{NOTE}note{NOTE:#}: not checked: {}\n", skipped.join(", "))
    };
    let accepted = accepted(done);
    let verdict = match done.outcome.faults.len() {
        0 => format!("{GOOD}no fault{GOOD:#}\n"),
        1 => format!("{ERROR}1 fault{ERROR:#}\n"),
        count => format!("{ERROR}{count} faults{ERROR:#}\n"),
    };
    unseen + &accepted + &verdict
}

/// A data race by the memory model that the race rules accept.
fn accepted(done: &LaunchResult<'_>) -> String {
    let mut lines: BTreeMap<u8, BTreeSet<u32>> = BTreeMap::new();
    for accepted in &done.outcome.accepted {
        let own = done.code.source_line(accepted.place.line);
        lines.entry(accepted.rule).or_default().extend(own.map(|own| own.line));
    }
    let mut text = String::new();
    for (rule, lines) in lines {
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        let place =
            if lines.is_empty() { String::new() } else { format!(" at line {}", lines.join(", ")) };
        writeln!(
            text,
            "{NOTE}note{NOTE:#}: accepted because CUDA code relies on it (docs/races.md, rule {rule}){place}"
        )
        .ok();
    }
    text
}
