//! A launch as JSON.

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::device::DeviceKind;
use lightbench_core::element_text::element;
use lightbench_core::scalar_value::ScalarValue;
use lightbench_core::verify::fault_report::{CodePlace, FaultReport, OtherReport};
use lightbench_core::virtual_gpu::cost::{Counters, Counts, metrics};
use lightbench_core::virtual_gpu::machine::{Accepted, Approximation, BlockOrder};
use lightbench_core::virtual_gpu::{Races, Schedule};
use serde_json::{Value, json};

use super::code::CompiledCode;
use super::{LaunchReport, PrintedBuffer, counters, modelled};
use crate::commands::check::kernel_file;
use crate::commands::fault;

/// Incremented when a field changes its meaning.
const SCHEMA: &str = "lightbench.launch/1";

pub(super) fn report_json(done: &LaunchReport<'_>) -> Value {
    let LaunchReport { arguments, request, description, code, kernel, outcome, modelled, printed } =
        done;
    let faults: Vec<Value> = done.faults().iter().map(|fault| fault_json(fault, code)).collect();
    let is_virtual = matches!(description.kind, DeviceKind::Virtual);
    let arguments_of: Vec<&str> = request.specs.iter().map(|spec| spec.text.as_str()).collect();
    json!({
        "schema": SCHEMA,
        "device": {
            "name": description.name,
            "title": description.title,
            "compute_capability": description.capability.to_string(),
            "driver": driver(&description.kind),
        },
        "compiler": code.compiler,
        "file": code.file.file,
        "kernel": { "name": kernel_file::readable(kernel), "symbol": kernel.symbol },
        "as_written": arguments.as_written,
        "grid": arguments.grid,
        "block": arguments.block,
        "dynamic_shared_bytes": arguments.shared,
        "cooperative": arguments.cooperative,
        "arguments": arguments_of,
        "seed": arguments.seed,
        "watch": if is_virtual { watch(request) } else { Value::Null },
        "not_checked": outcome.not_checked,
        "accepted": outcome.accepted.iter().map(|one| accepted_json(one, code)).collect::<Vec<_>>(),
        "faults": faults,
        "printed": outcome.printed,
        "buffers": printed.iter().map(buffer_json).collect::<Vec<_>>(),
        "counters": outcome.counters.as_ref().map(|counted| counters_json(counted, code)),
        "modelled": modelled.as_ref().map(modelled::json),
    })
}

fn driver(kind: &DeviceKind) -> Value {
    match kind {
        DeviceKind::Virtual => Value::Null,
        DeviceKind::Cuda { uuid, driver: (major, minor), .. } => {
            json!({ "cuda": format!("{major}.{minor}"), "uuid": uuid })
        }
    }
}

fn watch(request: &super::request::LaunchRequest) -> Value {
    let watch = &request.watch;
    let races = match watch.checks.races {
        Races::Ignored => "ignored",
        Races::CudaIdiom => "cuda_idiom",
        Races::Strict => "strict",
        Races::Replayed { .. } => "replayed",
    };
    let schedule = match watch.schedule {
        Schedule::Deterministic => json!("deterministic"),
        Schedule::Parallel { threads } => json!({ "parallel": threads }),
        Schedule::Independent { threads } => json!({ "independent": threads }),
        Schedule::Adversarial { seed } => json!({ "adversarial": seed }),
    };
    let approximations = match watch.approximation {
        Approximation::Nearest => "nearest",
        Approximation::Lowest => "low",
        Approximation::Highest => "high",
    };
    let block_order = match watch.block_order {
        BlockOrder::Ascending => json!("ascending"),
        BlockOrder::Descending => json!("descending"),
        BlockOrder::Random { seed } => json!({ "random": seed }),
    };
    json!({
        "approximations": approximations,
        "uninitialized": watch.checks.uninitialized,
        "races": races,
        "schedule": schedule,
        "counters": watch.counters,
        "block_order": block_order,
        "resident_blocks": watch.most_resident,
        "max_steps": watch.max_steps,
        "time_limit_seconds": watch.time_limit.map(|limit| limit.as_secs_f64()),
    })
}

fn fault_json(fault: &FaultReport, code: &CompiledCode) -> Value {
    let seen = fault.seen.as_ref();
    let mut value = json!({
        "kind": fault::word(fault),
        "kernel": with_readable_names(&fault.kernel),
        "block": seen.map(|seen| seen.block),
        "thread": seen.map(|seen| seen.thread),
        "ptx_line": seen.map(|seen| seen.place.ptx.0),
        "address": seen.and_then(|seen| seen.address).map(|address| format!("{address:#x}")),
        "buffer": fault.buffer.as_deref().map(with_readable_names),
        "details": with_readable_names(&fault.details),
        "other": fault.other.as_ref().map(|other| other_json(other, code)),
    });
    add_source(&mut value, seen.map(|seen| &seen.place), code);
    value
}

/// A data race by the memory model that the race rules accept.
fn accepted_json(accepted: &Accepted, code: &CompiledCode) -> Value {
    let mut value = json!({ "rule": accepted.rule, "ptx_line": accepted.place.line });
    add_place(&mut value, accepted.place.line, code);
    value
}

fn other_json(other: &OtherReport, code: &CompiledCode) -> Value {
    let mut value = json!({
        "access": other.access,
        "block": other.block,
        "thread": other.thread,
        "ptx_line": other.place.ptx.0,
    });
    add_source(&mut value, Some(&other.place), code);
    value
}

/// Adds file, line and column of the launched file; null if unknown or in another file.
fn add_source(value: &mut Value, place: Option<&CodePlace>, code: &CompiledCode) {
    let source = place.and_then(|place| place.source.as_ref());
    let own = source.filter(|(file, ..)| *file == code.origins.file);
    value["file"] = json!(own.map(|_| &code.file.file));
    value["line"] = json!(own.map(|(_, line, _)| line));
    value["column"] = json!(own.map(|(_, _, column)| *column).filter(|column| *column > 0));
}

/// Adds file, line and column of the launched file; null if the PTX has no line information.
fn add_place(value: &mut Value, ptx_line: u32, code: &CompiledCode) {
    let own = code.source_line(ptx_line);
    value["file"] = json!(own.map(|_| &code.file.file));
    value["line"] = json!(own.map(|own| own.line));
    value["column"] = json!(own.map(|own| own.column).filter(|column| *column > 0));
}

fn buffer_json(printed: &PrintedBuffer<'_>) -> Value {
    let PrintedBuffer { index, buffer, name, content } = printed;
    let mut value = json!({ "index": index, "name": name, "dtype": buffer.c_type.name() });
    let content = match content {
        Ok(content) => content,
        Err(error) => {
            value["error"] = json!(error.to_string());
            return value;
        }
    };
    let size = usize::try_from(buffer.c_type.bytes()).unwrap_or(1);
    let values = content.bytes.chunks_exact(size).enumerate().map(|(position, bytes)| {
        let range = position * size..(position + 1) * size;
        // Uninitialised elements have no value.
        let written = content.is_written(&range);
        let element = element(buffer.c_type, bytes).filter(|_| written);
        element.map_or(Value::Null, |element| element_json(element, bytes))
    });
    value["values"] = values.collect();
    value
}

/// A number; values that JSON cannot represent are given as bits.
fn element_json(element: ScalarValue, bytes: &[u8]) -> Value {
    match element {
        ScalarValue::Boolean(value) => json!(value),
        ScalarValue::Integer(value) => i64::try_from(value).map_or_else(
            |_| u64::try_from(value).map_or(Value::Null, |value| json!(value)),
            |value| json!(value),
        ),
        ScalarValue::Real(value) if value.is_finite() => json!(value),
        ScalarValue::Real(value) => {
            let name = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
            let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            json!({ "value": name, "bits": format!("0x{digits}") })
        }
    }
}

fn counters_json(counted: &Counters, code: &CompiledCode) -> Value {
    let lines: Vec<Value> = counters::by_line(counted, code)
        .iter()
        .map(|(line, counts)| {
            let mut value = counts_json(counts);
            value["line"] = json!(Some(*line).filter(|line| *line > 0));
            value
        })
        .collect();
    let ptx_lines: Vec<Value> = counted
        .ptx_lines
        .iter()
        .map(|(line, counts)| {
            let mut value = counts_json(counts);
            value["line"] = json!(line);
            value
        })
        .collect();
    json!({
        "by": "virtual_gpu",
        "level": "ptx",
        "total": counts_json(&counted.total),
        "flop": {
            "half": counted.flops.half,
            "single": counted.flops.single,
            "double": counted.flops.double,
        },
        "compulsory_read_bytes": counted.compulsory_read_bytes,
        "compulsory_written_bytes": counted.compulsory_written_bytes,
        "lines": lines,
        "ptx_lines": ptx_lines,
    })
}

/// Every counter and ratio by name; undefined ratios are omitted.
fn counts_json(counts: &Counts) -> Value {
    let counted = metrics().filter_map(|metric| {
        let value = (metric.value)(counts)?;
        // Counts are integers and are written without a fraction.
        let whole = value.fract() == 0.0 && metric.unit != "1" && value < 9e15;
        let value = if whole { json!(value as u64) } else { json!(value) };
        Some((metric.name.to_owned(), value))
    });
    Value::Object(counted.collect())
}
