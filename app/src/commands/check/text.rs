//! The facts as a table, and one kernel as a page.

use std::fmt::Write as _;

use lightbench_core::compile::facts::{Facts, LaunchFacts};
use lightbench_core::compile::occupancy::{Occupancy, Resident, next_block};
use lightbench_core::compile::{Artifact, Compiler, Origin, Resources};
use lightbench_core::device::SmLimits;
use lightbench_core::display_text::visible;
use lightbench_core::project::{Part, Project, Workload};
use lightbench_core::report::document::build_failure::BuildFailureKind;

use super::Checker;
use super::project::{Checked, Row, can_launch};
use crate::diagnostics;
use crate::report::{self, Sources};
use crate::style::{DIM, ERROR, STRONG};
use crate::table::Table;

/// Column titles; `lightbench explain` describes each.
const HEADINGS: [&str; 11] = [
    "kernel",
    "parameters",
    ">grid",
    ">block",
    ">registers",
    ">spills",
    ">shared",
    ">stack",
    ">blocks/SM",
    ">occupancy",
    "limited by",
];

/// Columns that a narrow terminal omits first.
const SPARE: [&str; 5] = ["stack", "grid", "blocks/SM", "block", "spills"];

/// The report on a project.
pub(super) fn project_text(
    checker: &Checker<'_>,
    compiler: &Compiler,
    checked: &Checked<'_>,
    detailed: bool,
) -> String {
    let definition = &checked.project.definition;
    let mut text =
        format!("{STRONG}{}{STRONG:#} · {}\n", definition.name, visible(&definition.title));
    text.push_str(&format!("{DIM}{}", checker.line(compiler)));
    writeln!(text, " · {}{DIM:#}\n", workload(checked.project, checked.workload)).ok();
    text.push_str(&table(checked));
    if detailed {
        for row in &checked.rows {
            if let Ok(facts) = &row.result {
                text.push_str(&page(checker, facts));
            }
        }
    }
    text + &summary(checked)
}

fn workload(project: &Project, workload: &Workload) -> String {
    let axes = project.definition.axes.iter().zip(&workload.axes);
    let axes: Vec<_> = axes.map(|(axis, value)| format!("{} {value}", axis.name)).collect();
    format!("{}: {}", workload.name, axes.join(", "))
}

fn table(checked: &Checked<'_>) -> String {
    let mut table = Table::new(&HEADINGS).spare(&SPARE);
    for row in &checked.rows {
        match &row.result {
            Ok(facts) => {
                for (index, launch) in facts.launches.iter().enumerate() {
                    table.row(cells(row, facts, launch, index));
                }
            }
            Err(error) => {
                let failed = format!("failed: {}", BuildFailureKind::from(error).words());
                table.row([row.kernel.name.clone(), failed]);
            }
        }
    }
    for broken in checked.broken {
        let name = match broken.part {
            Part::Kernel | Part::Wrong => broken.name(),
            Part::Include => broken.file.display().to_string(),
        };
        table.row([visible(&name).into_owned(), "failed: cannot be read".to_owned()]);
    }
    table.to_string()
}

fn cells(row: &Row<'_>, facts: &Facts, launch: &LaunchFacts, index: usize) -> Vec<String> {
    let several = facts.launches.len() > 1;
    let name = match (index, several) {
        (0, false) => row.kernel.name.clone(),
        (_, _) => format!("{} {}", row.kernel.name, launch.planned.name_expression),
    };
    let parameters = facts.candidate.selection.parameters.iter();
    let parameters: Vec<_> = parameters.map(|(name, value)| format!("{name} {value}")).collect();
    let mut cells = vec![
        name,
        parameters.join(", "),
        dimensions(launch.planned.grid),
        dimensions(launch.planned.block),
    ];
    cells.extend(resources(launch.kernel.resources.as_ref(), launch.planned.shared_bytes));
    cells.extend(occupancy(launch));
    cells
}

pub(in crate::commands) fn dimensions(sizes: [u32; 3]) -> String {
    let used = sizes.iter().rposition(|&size| size != 1).map_or(1, |last| last + 1);
    sizes[..used].iter().map(u32::to_string).collect::<Vec<_>>().join("×")
}

pub(super) fn resources(resources: Option<&Resources>, dynamic_shared: u64) -> [String; 4] {
    let Some(resources) = resources else {
        return ["unknown"; 4].map(str::to_owned);
    };
    let spills = resources.spill_stores.0 + resources.spill_loads.0;
    [
        resources.registers.to_string(),
        if spills == 0 { "none".to_owned() } else { format!("{spills} B") },
        format!("{} B", resources.static_shared.0 + dynamic_shared),
        resources.stack.map_or_else(|| "open".to_owned(), |stack| format!("{} B", stack.0)),
    ]
}

fn occupancy(launch: &LaunchFacts) -> [String; 3] {
    if !launch.problems.is_empty() {
        let reasons: Vec<_> = launch.problems.iter().map(ToString::to_string).collect();
        return ["0".to_owned(), "–".to_owned(), format!("cannot launch: {}", reasons.join("; "))];
    }
    match &launch.occupancy {
        None => ["unknown".to_owned(), "unknown".to_owned(), String::new()],
        Some(Occupancy::Resident(resident)) => resident_cells(resident),
        Some(Occupancy::CannotLaunch(obstacles)) => {
            let reasons: Vec<_> = obstacles.iter().map(ToString::to_string).collect();
            ["0".to_owned(), "–".to_owned(), format!("cannot launch: {}", reasons.join("; "))]
        }
    }
}

/// Blocks, occupancy in percent, and the limiting resource.
pub(super) fn resident_cells(resident: &Resident) -> [String; 3] {
    let limiters: Vec<_> = resident.limiters().map(|limiter| limiter.to_string()).collect();
    let percent = format!("{:.0} %", resident.fraction().0 * 100.0);
    [resident.blocks.to_string(), percent, limiters.join(", ")]
}

/// One kernel as a page: parameters, memory, and advice for one more resident block.
fn page(checker: &Checker<'_>, facts: &Facts) -> String {
    let mut text = String::new();
    for launch in &facts.launches {
        writeln!(text, "\n{STRONG}{}{STRONG:#}", visible(&launch.planned.name_expression)).ok();
        writeln!(text, "  symbol      {}", visible(&launch.kernel.symbol)).ok();
        writeln!(text, "  candidate   {}", facts.candidate.hash).ok();
        if let Some(resources) = &launch.kernel.resources {
            text.push_str(&memory(resources, launch.planned.shared_bytes));
        }
        if let Some(threads) = launch.kernel.max_threads {
            writeln!(text, "  bounds      at most {} threads per block", dimensions(threads)).ok();
        }
        if let Some(advice) = advice(checker, launch) {
            writeln!(text, "  occupancy   {advice}").ok();
        }
    }
    text
}

fn memory(resources: &Resources, dynamic_shared: u64) -> String {
    let Resources {
        spill_stores,
        spill_loads,
        static_shared,
        constant,
        module_constant,
        barriers,
        code,
        ..
    } = resources;
    let mut text = String::new();
    writeln!(text, "  shared      {} B declared, {dynamic_shared} B dynamic", static_shared.0).ok();
    writeln!(
        text,
        "  spills      {} B stored, {} B loaded per thread",
        spill_stores.0, spill_loads.0
    )
    .ok();
    writeln!(
        text,
        "  constant    {} B of its own, {} B of __constant__ data",
        constant.0, module_constant.0
    )
    .ok();
    writeln!(text, "  barriers    {barriers}").ok();
    writeln!(text, "  code        {} B", code.0).ok();
    text
}

fn advice(checker: &Checker<'_>, launch: &LaunchFacts) -> Option<String> {
    if !launch.problems.is_empty() {
        return None;
    }
    let limits: SmLimits = checker.sheet.capability.sm_limits().ok()?;
    next_block(&limits, &launch.demand?).map(|next| next.to_string())
}

/// Warnings and unrecognised compiler messages.
pub(in crate::commands) fn warnings(artifact: &Artifact, sources: &Sources<'_>) -> String {
    let shown: Vec<_> = artifact
        .diagnostics
        .iter()
        .map(|each| diagnostics::compiler_message(each, sources))
        .collect();
    shown.join("\n") + &report::other_messages(&artifact.other)
}

fn summary(checked: &Checked<'_>) -> String {
    let compiled: Vec<&Facts> =
        checked.rows.iter().filter_map(|row| row.result.as_ref().ok()).collect();
    let from_cache = compiled.iter().filter(|facts| facts.origin == Origin::Cache).count();
    let stuck = compiled.iter().filter(|facts| !facts.launches.iter().all(can_launch)).count();
    let (all, good) = (checked.rows.len() + checked.broken.len(), compiled.len());
    let assembled =
        |facts: &&&Facts| facts.launches.iter().all(|launch| launch.kernel.resources.is_some());
    let read_only = good - compiled.iter().filter(assembled).count();
    let verdict = match (all - good, stuck) {
        (0, 0) if read_only > 0 => format!("{read_only} of {all} read, not assembled"),
        (0, 0) if all == 1 => "compiles".to_owned(),
        (0, 0) => format!("all {all} compile"),
        (0, stuck) => format!("{ERROR}{stuck} of {all} cannot launch on this device{ERROR:#}"),
        (failed, 0) => format!("{ERROR}{failed} of {all} failed{ERROR:#}"),
        (failed, stuck) => {
            format!(
                "{ERROR}{failed} of {all} failed, {stuck} cannot launch on this device{ERROR:#}"
            )
        }
    };
    let source = match (good, from_cache) {
        (good, cached) if good > 0 && good == cached => ", from the cache".to_owned(),
        (_, 0) => String::new(),
        (good, cached) => format!(", {cached} of {good} from the cache"),
    };
    format!("\n{verdict} · {:.2} s{source}\n", checked.elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use lightbench_core::explain::card;

    use super::*;

    #[test]
    fn every_column_is_explained() {
        let below = ["constant", "bounds", "barriers", "code", "shared", "spills", "occupancy"];
        for name in HEADINGS.into_iter().chain(below) {
            let name = name.trim_start_matches('>');
            assert!(card(name).is_ok(), "{name}");
        }
    }
}
