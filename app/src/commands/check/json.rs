//! The facts as JSON, schema `lightbench.check/1`.

use lightbench_core::compile::facts::{Facts, LaunchFacts};
use lightbench_core::compile::occupancy::Occupancy;
use lightbench_core::compile::signature::function_name;
use lightbench_core::compile::{Artifact, Compiler, KernelFacts, Origin};
use serde_json::{Value, json};

use super::Checker;
use super::failure;
use super::listing::Listings;
use super::project::{Checked, Row};
use crate::report;

/// Fields that every document of this command has.
pub(super) fn head(checker: &Checker<'_>, compiler: &Compiler) -> Value {
    let nvrtc = &compiler.toolchain().nvrtc;
    json!({
        "schema": "lightbench.check/1",
        "device": { "sheet": checker.sheet.name, "title": checker.sheet.title,
                    "architecture": checker.sheet.architecture() },
        "compiler": { "name": compiler.name(), "library": nvrtc.library },
        "build": if checker.arguments.as_written { "as_written" } else { "optimised" },
    })
}

/// The report on a project.
pub(super) fn project_json(
    checker: &Checker<'_>,
    compiler: &Compiler,
    checked: &Checked<'_>,
    listed: &[(&Row<'_>, Listings)],
) -> Value {
    let definition = &checked.project.definition;
    let axes = definition.axes.iter().zip(&checked.workload.axes);
    let axes: serde_json::Map<_, _> =
        axes.map(|(axis, value)| (axis.name.clone(), json!(value))).collect();
    let mut document = head(checker, compiler);
    document["project"] = json!({ "name": definition.name, "title": definition.title });
    document["workload"] = json!({ "name": checked.workload.name, "axes": axes });
    document["kernels"] = checked.rows.iter().map(|row| row_json(row, listed)).collect();
    document["broken"] = report::broken_json(checked.broken);
    document["seconds"] = json!(checked.elapsed.as_secs_f64());
    document
}

fn row_json(row: &Row<'_>, listed: &[(&Row<'_>, Listings)]) -> Value {
    let kernel = row.kernel;
    let mut value = json!({
        "name": kernel.name,
        "file": kernel.file,
        "title": kernel.launch.title,
    });
    match &row.result {
        Err(error) => value["failure"] = failure::to_json(error),
        Ok(facts) => {
            value["candidate"] = json!(format!("{:#}", facts.candidate.hash));
            value["parameters"] = parameters_json(facts);
            value["origin"] = origin_json(facts.origin);
            value["launches"] = facts.launches.iter().map(launch_json).collect();
            value["warnings"] = json!(facts.artifact.diagnostics);
            value["other"] = json!(facts.artifact.other);
        }
    }
    if let Some((_, listings)) = listed.iter().find(|(listed, _)| std::ptr::eq(*listed, row)) {
        listings.add_to(&mut value);
    }
    value
}

fn parameters_json(facts: &Facts) -> Value {
    let parameters = facts.candidate.selection.parameters.iter();
    parameters.map(|(name, value)| (name.clone(), json!(value))).collect()
}

pub(super) fn origin_json(origin: Origin) -> Value {
    match origin {
        Origin::Cache => json!({ "kind": "cache" }),
        Origin::Assembler => json!({ "kind": "assembler" }),
        Origin::Compiler { elapsed } => {
            json!({ "kind": "compiler", "compile_ms": elapsed.as_secs_f64() * 1e3 })
        }
    }
}

fn launch_json(launch: &LaunchFacts) -> Value {
    let planned = &launch.planned;
    let mut value = kernel_json(&launch.kernel);
    value["grid"] = json!(planned.grid);
    value["block"] = json!(planned.block);
    value["dynamic_shared_bytes"] = json!(planned.shared_bytes);
    value["cluster"] = json!(planned.cluster);
    value["cooperative"] = json!(planned.cooperative);
    value["occupancy"] = launch.occupancy.as_ref().map_or(Value::Null, occupancy_json);
    value["cannot_launch"] = launch.problems.iter().map(ToString::to_string).collect();
    value
}

/// A compiled kernel; unknown numbers are null.
pub(super) fn kernel_json(kernel: &KernelFacts) -> Value {
    let mut value = json!({
        "kernel": kernel.expression,
        "name": function_name(&kernel.symbol).unwrap_or_else(|| kernel.symbol.clone()),
        "symbol": kernel.symbol,
        "parameters": kernel.parameters,
        "max_threads": kernel.max_threads,
        "required_threads": kernel.required_threads,
        "resources": Value::Null,
    });
    if let Some(resources) = &kernel.resources {
        value["resources"] = json!({
            "registers": resources.registers,
            "spill_store_bytes": resources.spill_stores,
            "spill_load_bytes": resources.spill_loads,
            "stack_bytes": resources.stack,
            "static_shared_bytes": resources.static_shared,
            "constant_bytes": resources.constant,
            "module_constant_bytes": resources.module_constant,
            "barriers": resources.barriers,
            "code_bytes": resources.code,
        });
    }
    value
}

pub(super) fn occupancy_json(occupancy: &Occupancy) -> Value {
    match occupancy {
        Occupancy::Resident(resident) => json!({
            "blocks_per_sm": resident.blocks,
            "warps_per_sm": resident.warps,
            "max_warps_per_sm": resident.max_warps,
            "fraction": resident.fraction().0,
            "limited_by": resident.limiters().map(|limiter| limiter.to_string()).collect::<Vec<_>>(),
        }),
        Occupancy::CannotLaunch(obstacles) => json!({
            "blocks_per_sm": 0,
            "cannot_launch": obstacles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }),
    }
}

/// An artifact without launch information.
pub(super) fn artifact_json(artifact: &Artifact) -> Value {
    json!({ "warnings": artifact.diagnostics, "other": artifact.other })
}
