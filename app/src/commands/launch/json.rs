//! A launch as a document.

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::device::DeviceKind;
use lightbench_core::element_text::element;
use lightbench_core::report::document::LaunchReport;
use lightbench_core::report::document::launch::{
    AcceptedRace, LaunchAccess, LaunchApproximations, LaunchBlockOrder, LaunchBuffer,
    LaunchBufferContent, LaunchCounters, LaunchDevice, LaunchDriver, LaunchElement,
    LaunchFaultReport, LaunchRaces, LaunchSchedule, LaunchSchema, LaunchWatch, LaunchedKernel,
    LaunchedLine, LineCounters, counter_values,
};
use lightbench_core::scalar_value::ScalarValue;
use lightbench_core::verify::fault_report::{CodePlace, FaultReport, OtherReport};
use lightbench_core::virtual_gpu::cost::Counters;
use lightbench_core::virtual_gpu::machine::{Accepted, Approximation, BlockOrder};
use lightbench_core::virtual_gpu::{Races, Schedule};

use super::code::CompiledCode;
use super::request::LaunchRequest;
use super::{LaunchResult, PrintedBuffer, counters};
use crate::commands::check::kernel_file;

pub(super) fn report(done: &LaunchResult<'_>) -> LaunchReport {
    let LaunchResult { arguments, request, description, code, kernel, outcome, modelled, printed } =
        done;
    let is_virtual = matches!(description.kind, DeviceKind::Virtual);
    LaunchReport {
        schema: LaunchSchema::V1,
        device: LaunchDevice {
            name: description.name.clone(),
            title: description.title.clone(),
            compute_capability: description.capability.to_string(),
            driver: driver(&description.kind),
        },
        compiler: code.compiler.clone(),
        file: code.file.file.clone(),
        kernel: LaunchedKernel {
            name: kernel_file::readable(kernel),
            symbol: kernel.symbol.clone(),
        },
        as_written: arguments.as_written,
        grid: arguments.grid,
        block: arguments.block,
        dynamic_shared_bytes: arguments.shared,
        cooperative: arguments.cooperative,
        arguments: request.specs.iter().map(|spec| spec.text.clone()).collect(),
        seed: arguments.seed,
        watch: is_virtual.then(|| watch(request)),
        not_checked: outcome.not_checked.iter().map(|&check| check.to_owned()).collect(),
        accepted: outcome.accepted.iter().map(|one| accepted(one, code)).collect(),
        faults: done.faults().iter().map(|one| fault(one, code)).collect(),
        printed: outcome.printed.clone(),
        buffers: printed.iter().map(buffer).collect(),
        counters: outcome.counters.as_ref().map(|counted| counted_lines(counted, code)),
        modelled: modelled.as_ref().map(Into::into),
    }
}

fn driver(kind: &DeviceKind) -> Option<LaunchDriver> {
    match kind {
        DeviceKind::Virtual => None,
        DeviceKind::Cuda { uuid, driver: (major, minor), .. } => {
            Some(LaunchDriver { cuda: format!("{major}.{minor}"), uuid: uuid.clone() })
        }
    }
}

fn watch(request: &LaunchRequest) -> LaunchWatch {
    let watch = &request.watch;
    LaunchWatch {
        approximations: match watch.approximation {
            Approximation::Nearest => LaunchApproximations::Nearest,
            Approximation::Lowest => LaunchApproximations::Low,
            Approximation::Highest => LaunchApproximations::High,
        },
        uninitialized: watch.checks.uninitialized,
        races: match watch.checks.races {
            Races::Ignored => LaunchRaces::Ignored,
            Races::CudaIdiom => LaunchRaces::CudaIdiom,
            Races::Strict => LaunchRaces::Strict,
            Races::Replayed { .. } => LaunchRaces::Replayed,
        },
        schedule: match watch.schedule {
            Schedule::Deterministic => LaunchSchedule::Deterministic,
            Schedule::Parallel { threads } => LaunchSchedule::Parallel(threads.get()),
            Schedule::Independent { threads } => LaunchSchedule::Independent(threads.get()),
            Schedule::Adversarial { seed } => LaunchSchedule::Adversarial(seed),
        },
        counters: watch.counters,
        block_order: match watch.block_order {
            BlockOrder::Ascending => LaunchBlockOrder::Ascending,
            BlockOrder::Descending => LaunchBlockOrder::Descending,
            BlockOrder::Random { seed } => LaunchBlockOrder::Random(seed),
        },
        resident_blocks: watch.most_resident.map(Into::into),
        max_steps: watch.max_steps,
        time_limit_seconds: watch.time_limit.map(|limit| limit.as_secs_f64()),
    }
}

fn fault(fault: &FaultReport, code: &CompiledCode) -> LaunchFaultReport {
    let seen = fault.seen.as_ref();
    LaunchFaultReport {
        kind: fault.kind,
        kernel: with_readable_names(&fault.kernel),
        block: seen.map(|seen| seen.block),
        thread: seen.map(|seen| seen.thread),
        ptx_line: seen.map(|seen| seen.place.ptx.0),
        address: seen.and_then(|seen| seen.address).map(|address| format!("{address:#x}")),
        buffer: fault.buffer.as_deref().map(with_readable_names),
        details: with_readable_names(&fault.details),
        other: fault.other.as_ref().map(|other| access(other, code)),
        source: seen.map_or_else(LaunchedLine::default, |seen| own_line(&seen.place, code)),
    }
}

/// A data race by the memory model that the race rules accept.
fn accepted(accepted: &Accepted, code: &CompiledCode) -> AcceptedRace {
    let ptx_line = accepted.place.line;
    let own = code.source_line(ptx_line).map(|own| (own.line, own.column));
    AcceptedRace { rule: accepted.rule, ptx_line, source: launched_line(own, code) }
}

fn access(other: &OtherReport, code: &CompiledCode) -> LaunchAccess {
    LaunchAccess {
        access: other.access.clone(),
        block: other.block,
        thread: other.thread,
        ptx_line: other.place.ptx.0,
        source: own_line(&other.place, code),
    }
}

/// The line of the launched file; unknown if the place is in another file.
fn own_line(place: &CodePlace, code: &CompiledCode) -> LaunchedLine {
    let own = place.source.as_ref().filter(|(file, ..)| *file == code.origins.file);
    launched_line(own.map(|(_, line, column)| (*line, *column)), code)
}

/// A line and a column of the launched file; column 0 stands for the whole line.
fn launched_line(own: Option<(u32, u32)>, code: &CompiledCode) -> LaunchedLine {
    LaunchedLine {
        file: own.map(|_| code.file.file.clone()),
        line: own.map(|(line, _)| line),
        column: own.map(|(_, column)| column).filter(|column| *column > 0),
    }
}

fn buffer(printed: &PrintedBuffer<'_>) -> LaunchBuffer {
    let PrintedBuffer { index, buffer, name, content } = printed;
    let content = match content {
        Ok(content) => {
            let size = usize::try_from(buffer.c_type.bytes()).unwrap_or(1);
            let elements = content.bytes.chunks_exact(size).enumerate();
            let value = |(position, bytes): (usize, &[u8])| {
                let range = position * size..(position + 1) * size;
                // Uninitialised elements have no value.
                let written = content.is_written(&range);
                element_value(element(buffer.c_type, bytes).filter(|_| written)?, bytes)
            };
            LaunchBufferContent::Known { values: elements.map(value).collect() }
        }
        Err(error) => LaunchBufferContent::Unreadable { error: error.to_string() },
    };
    let dtype = buffer.c_type.name().to_owned();
    LaunchBuffer { index: *index, name: (*name).to_owned(), dtype, content }
}

/// An element; `None` for an integer that has more than 64 bits.
fn element_value(element: ScalarValue, bytes: &[u8]) -> Option<LaunchElement> {
    Some(match element {
        ScalarValue::Boolean(value) => LaunchElement::Boolean(value),
        ScalarValue::Integer(value) => match i64::try_from(value) {
            Ok(value) => LaunchElement::Integer(value),
            Err(_) => LaunchElement::Unsigned(u64::try_from(value).ok()?),
        },
        ScalarValue::Real(value) if value.is_finite() => LaunchElement::Real(value),
        ScalarValue::Real(value) => {
            let name = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
            let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            LaunchElement::NotFinite { value: name, bits: format!("0x{digits}") }
        }
    })
}

fn counted_lines(counted: &Counters, code: &CompiledCode) -> LaunchCounters {
    let lines = counters::by_line(counted, code);
    let lines = lines.iter().map(|(line, counts)| LineCounters {
        line: Some(*line).filter(|line| *line > 0),
        counters: counter_values(counts),
    });
    let ptx_lines = counted
        .ptx_lines
        .iter()
        .map(|(line, counts)| LineCounters { line: Some(*line), counters: counter_values(counts) });
    LaunchCounters {
        by: "virtual_gpu".to_owned(),
        level: "ptx".to_owned(),
        total: counter_values(&counted.total),
        flop: counted.flops.into(),
        compulsory_read_bytes: counted.compulsory_read_bytes,
        compulsory_written_bytes: counted.compulsory_written_bytes,
        lines: lines.collect(),
        ptx_lines: ptx_lines.collect(),
    }
}
