//! A launch for scripts.

use lightbench_core::arguments::element;
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::device::DeviceKind;
use lightbench_core::scalar_value::ScalarValue;
use lightbench_core::verify::fault_report::{CodePlace, FaultReport, OtherReport};
use lightbench_core::virtual_gpu::cost::{Counters, Counts, metrics};
use lightbench_core::virtual_gpu::machine::{Accepted, Approximation, BlockOrder};
use lightbench_core::virtual_gpu::{Races, Schedule};
use serde_json::{Value, json};

use super::code::Code;
use super::{Done, Printed, counters, modelled};
use crate::commands::check::kernel_file;
use crate::commands::fault;

/// Raised when a field changes its meaning.
const SCHEMA: &str = "lightbench.launch/1";

pub(super) fn of(done: &Done<'_>) -> Value {
    let Done { arguments, request, description, code, kernel, outcome, modelled, printed } = done;
    let faults: Vec<Value> = done.faults().iter().map(|fault| of_fault(fault, code)).collect();
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
        "accepted": outcome.accepted.iter().map(|one| of_accepted(one, code)).collect::<Vec<_>>(),
        "faults": faults,
        "printed": outcome.printed,
        "buffers": printed.iter().map(of_buffer).collect::<Vec<_>>(),
        "counters": outcome.counters.as_ref().map(|counted| of_counters(counted, code)),
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

fn watch(request: &super::request::Request) -> Value {
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

fn of_fault(fault: &FaultReport, code: &Code) -> Value {
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
        "other": fault.other.as_ref().map(|other| of_other(other, code)),
    });
    add_source(&mut value, seen.map(|seen| &seen.place), code);
    value
}

/// What the memory model alone would call a race.
fn of_accepted(accepted: &Accepted, code: &Code) -> Value {
    let mut value = json!({ "rule": accepted.rule, "ptx_line": accepted.place.line });
    add_place(&mut value, accepted.place.line, code);
    value
}

fn of_other(other: &OtherReport, code: &Code) -> Value {
    let mut value = json!({
        "access": other.access,
        "block": other.block,
        "thread": other.thread,
        "ptx_line": other.place.ptx.0,
    });
    add_source(&mut value, Some(&other.place), code);
    value
}

/// File, line and column of the launched file; null where it is not known or elsewhere.
fn add_source(value: &mut Value, place: Option<&CodePlace>, code: &Code) {
    let source = place.and_then(|place| place.source.as_ref());
    let own = source.filter(|(file, ..)| *file == code.origins.file);
    value["file"] = json!(own.map(|_| &code.file.file));
    value["line"] = json!(own.map(|(_, line, _)| line));
    value["column"] = json!(own.map(|(_, _, column)| *column).filter(|column| *column > 0));
}

/// File, line and column of the launched file; null where the PTX does not say.
fn add_place(value: &mut Value, ptx_line: u32, code: &Code) {
    let own = code.own_line(ptx_line);
    value["file"] = json!(own.map(|_| &code.file.file));
    value["line"] = json!(own.map(|own| own.line));
    value["column"] = json!(own.map(|own| own.column).filter(|column| *column > 0));
}

fn of_buffer(printed: &Printed<'_>) -> Value {
    let Printed { index, buffer, name, content } = printed;
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
        // What nothing wrote has no value.
        let written = content.is_written(&range);
        let element = element(buffer.c_type, bytes).filter(|_| written);
        element.map_or(Value::Null, |element| of_element(element, bytes))
    });
    value["values"] = values.collect();
    value
}

/// A number as it is; what JSON lacks with its bits.
fn of_element(element: ScalarValue, bytes: &[u8]) -> Value {
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

fn of_counters(counted: &Counters, code: &Code) -> Value {
    let lines: Vec<Value> = counters::by_line(counted, code)
        .iter()
        .map(|(line, counts)| {
            let mut value = of_counts(counts);
            value["line"] = json!(Some(*line).filter(|line| *line > 0));
            value
        })
        .collect();
    let ptx_lines: Vec<Value> = counted
        .ptx_lines
        .iter()
        .map(|(line, counts)| {
            let mut value = of_counts(counts);
            value["line"] = json!(line);
            value
        })
        .collect();
    json!({
        "by": "virtual_gpu",
        "level": "ptx",
        "total": of_counts(&counted.total),
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

/// Every counter and ratio under its name; ratios of nothing are left out.
fn of_counts(counts: &Counts) -> Value {
    let counted = metrics().filter_map(|metric| {
        let value = (metric.value)(counts)?;
        // Counts are whole; what is behind a point would suggest otherwise.
        let whole = value.fract() == 0.0 && metric.unit != "1" && value < 9e15;
        let value = if whole { json!(value as u64) } else { json!(value) };
        Some((metric.name.to_owned(), value))
    });
    Value::Object(counted.collect())
}
