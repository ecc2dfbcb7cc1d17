//! Verdicts and evidence as text.

use std::fmt::Write as _;

use lightbench_core::compile::diagnostics::SourcePlace;
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::display_text::visible;
use lightbench_core::evaluate::Run;
use lightbench_core::project::launch::expectation::WrongKind;
use lightbench_core::project::{BrokenFile, Kernel};
use lightbench_core::tensors::compare::{ErrorMap, OutputError};
use lightbench_core::tensors::inputs::{Along, Class, DomainInput, InputMode, InputSpec};
use lightbench_core::units::counted;
use lightbench_core::verify::evidence;
use lightbench_core::verify::fault_report::FaultReport;
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::{Checks, DomainInputs, Failure, Fault, Refused, Wrong};

use super::{RunResults, quoted, times};
use crate::commands::check::failure;
use crate::commands::fault::{self, Quoted};
use crate::diagnostics;
use crate::report;
use crate::style::{DIM, ERROR, GOOD, NOTE};

/// Maximum number of shown causes of faults; the sentence counts all.
const MOST_FAULTS: usize = 3;

/// The whole report.
pub(super) fn report_text(report: &RunResults<'_>) -> String {
    let mut text = heading(report);
    let mut seeds = Vec::new();
    for (kernel, run) in &report.runs {
        text.push_str(&kernel_text(report, kernel, run));
        seeds.push(run.seed);
    }
    text.push_str(&broken(report));
    text.push_str(&unconfirmed(report));
    if let Some(seed) = seeds.first() {
        text.push_str(&how_to_repeat(*seed));
    }
    text
}

/// A reminder of guesses about the task: a verdict on a wrong task means little.
fn unconfirmed(report: &RunResults<'_>) -> String {
    let guesses = report.project.guesses();
    let Some(first) = guesses.first() else { return String::new() };
    let count = counted(guesses.len() as u64, "guess", "guesses");
    let place = visible(&first.file.display().to_string()).into_owned();
    format!(
        "\n{count} to confirm, the first at {place}:{}; delete the comment of a guess to confirm it\n",
        first.line
    )
}

/// Kernels that were not run, with the problems of their files.
pub(super) fn broken(report: &RunResults<'_>) -> String {
    let one = |broken: &&BrokenFile| {
        let name = visible(&broken.name()).into_owned();
        let problems = indented(&report::broken_text(broken, report.project));
        format!("{ERROR}✗{ERROR:#} {name} cannot be read and was not run\n{problems}")
    };
    report.broken.iter().map(one).collect()
}

/// The device and the compiler.
pub(super) fn heading(report: &RunResults<'_>) -> String {
    let mut text = format!("{} · {}", report.project.definition.title, report.chosen.title);
    if let Some(reason) = &report.chosen.virtual_reason {
        // The rest of the reason proposes what has already been done.
        let reason = reason.split(';').next().unwrap_or_default();
        let _infallible = write!(text, " ({reason})");
    }
    if let Some(ceilings) = report.chosen.ceilings() {
        let _infallible = write!(text, "\n{DIM}{ceilings}{DIM:#}");
    }
    text + "\n\n"
}

pub(super) fn how_to_repeat(seed: u64) -> String {
    format!("\nseed {seed}: `--seed {seed}` reproduces the inputs\n")
}

fn kernel_text(report: &RunResults<'_>, kernel: &Kernel, run: &Run) -> String {
    let sentence = sentence::verdict(&kernel.name, &run.verdict);
    let seconds = run.elapsed.as_secs_f64();
    let sentence = with_readable_names(&sentence);
    match &run.verdict {
        Ok(passed) => {
            let mut lines = times::lines(&passed.timings);
            lines.extend(checks(&passed.checks));
            lines
                .extend(by_reason(passed.not_checked_sizes()).map(|(names, reason)| {
                    format!("not checked at this size: {names} ({reason})")
                }));
            let lines: String = lines.into_iter().map(|line| format!("    {line}\n")).collect();
            format!("{GOOD}✓{GOOD:#} {sentence} ({seconds:.1} s)\n{lines}")
        }
        Err(reason) => not_passed(report, kernel, reason, &format!("{sentence} ({seconds:.1} s)")),
    }
}

/// The sentence of an outcome with its mark, and the evidence of a failure below.
pub(super) fn not_passed(
    report: &RunResults<'_>,
    kernel: &Kernel,
    reason: &NotPassed,
    sentence: &str,
) -> String {
    match reason {
        NotPassed::Failed(failure) => {
            let evidence = evidence_below(report, kernel, failure);
            format!("{ERROR}✗{ERROR:#} {sentence}\n{evidence}")
        }
        NotPassed::NotJudged(_) => format!("{NOTE}?{NOTE:#} {sentence}\n"),
    }
}

/// The evidence of a failure.
fn evidence_below(report: &RunResults<'_>, kernel: &Kernel, failure: &Failure) -> String {
    indented(&evidence_of(report, kernel, failure))
}

/// Checks beyond the plain comparison, and omitted checks.
fn checks(checks: &Checks) -> Vec<String> {
    let mut lines = Vec::new();
    if checks.precision_probed > 0 {
        let workloads = counted(checks.precision_probed as u64, "workload", "workloads");
        lines.push(format!("exact on the precision probe of {workloads}"));
    }
    let DomainInputs { passed, inadmissible } = checks.domain_inputs;
    if passed > 0 {
        let inputs = counted(passed as u64, "input set", "input sets");
        let skipped = match inadmissible {
            0 => String::new(),
            count => format!("; {count} skipped because f32 arithmetic cannot compute them"),
        };
        lines.push(format!("correct on {inputs} from the whole domain{skipped}"));
    }
    if checks.accepted_races > 0 {
        let count = checks.accepted_races;
        lines.push(format!(
            "{count} accesses allowed by CUDA practice but not by the PTX memory model"
        ));
    }
    let permitted = evidence::summarize(&checks.evidence);
    lines.extend(permitted.into_iter().map(|text| format!("{text} (not refused)")));
    let hidden = checks.not_run.iter().filter(|each| each.workload.is_none()).count();
    let not_run = checks.not_run.iter();
    let visible =
        not_run.filter_map(|each| Some((each.workload.as_deref()?, each.reason.as_str())));
    lines.extend(by_reason(visible).map(|(names, reason)| format!("not run: {names} ({reason})")));
    if hidden > 0 {
        lines.push(format!("not run: {hidden} held out (too large for this device)"));
    }
    lines.extend(checks.notes.iter().map(|note| format!("note: {note}")));
    if !checks.not_checked.is_empty() {
        lines.push(format!("not checked: {}", checks.not_checked.join(", ")));
    }
    lines
}

/// Workloads grouped by reason.
fn by_reason<'a>(
    workloads: impl Iterator<Item = (&'a str, &'a str)>,
) -> impl Iterator<Item = (String, &'a str)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in workloads {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons.into_iter().map(|(reason, names)| (names.join(", "), reason))
}

fn evidence_of(report: &RunResults<'_>, kernel: &Kernel, failure: &Failure) -> String {
    let sources = quoted(report, kernel);
    match failure {
        Failure::Compile(error) | Failure::Refused(Refused::Build(error)) => {
            failure::to_text(&kernel.name, error, &sources)
        }
        Failure::Refused(Refused::Evidence(found)) => {
            found.iter().map(|found| static_evidence(found, kernel, report)).collect()
        }
        Failure::Fault(fault) => faults(fault, kernel, report),
        Failure::Wrong(wrong) => wrongness(wrong),
        Failure::Refused(
            Refused::Launch { .. } | Refused::Load(_) | Refused::Memory(_) | Refused::Subnormals(_),
        ) => String::new(),
        Failure::TimedOut { at, .. } => {
            at.iter().map(|at| fault::text(at, &quoted_places(kernel, report))).collect()
        }
    }
}

fn static_evidence(found: &evidence::Found, kernel: &Kernel, report: &RunResults<'_>) -> String {
    let place = found.source.last().map(|place| SourcePlace {
        file: kernel.file.display().to_string(),
        line: place.line,
        column: Some(place.column).filter(|column| *column > 0),
        excerpt: None,
        foreign: false,
    });
    let kind = serde_json::to_value(found.evidence).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default().to_owned();
    let notes = [format!("PTX line {}: {}", found.ptx_line, found.instruction)];
    diagnostics::fault((&kind, &found.what), place.as_ref(), &notes, &quoted(report, kernel))
}

fn faults(faults: &Fault, kernel: &Kernel, report: &RunResults<'_>) -> String {
    let causes = FaultReport::causes(&faults.faults);
    let quoted = quoted_places(kernel, report);
    let mut text = String::new();
    for (first, count) in causes.iter().take(MOST_FAULTS) {
        text.push_str(&fault::text(first, &quoted));
        if *count > 1 {
            let _infallible = writeln!(text, "  and {} more like it", count - 1);
        }
    }
    let more = causes.len().saturating_sub(MOST_FAULTS);
    if more > 0 {
        let _infallible =
            writeln!(text, "and {}", counted(more as u64, "more cause", "more causes"));
    }
    text + &inputs(&faults.workload, faults.recipe)
}

fn quoted_places<'a>(kernel: &'a Kernel, report: &RunResults<'a>) -> Quoted<'a> {
    let (sources, main) = (quoted(report, kernel), kernel.file.display().to_string());
    Quoted { sources, main, ptx: None }
}

fn wrongness(wrong: &Wrong) -> String {
    let Wrong::Seen { workload, recipe, outputs, details, likely_cause, step, .. } = wrong else {
        return "details of held-out workloads are not shown\n".to_owned();
    };
    let mut text = String::new();
    for (name, wrong) in outputs {
        text.push_str(&output(name, wrong));
    }
    if let Some(details) = details {
        let _infallible = writeln!(text, "{details}");
    }
    if let Some(cause) = likely_cause {
        let _infallible = writeln!(text, "likely cause: {cause}");
    }
    let _infallible = writeln!(text, "found by: {step}");
    text + &inputs(workload, *recipe)
}

fn output(name: &str, wrong: &OutputError) -> String {
    let mut text = format!("{}\n", sentence::describe_output(name, wrong));
    if wrong.kind == WrongKind::Unwritten {
        return text + &map(&wrong.map);
    }
    for (which, mismatch) in [("first", &wrong.first), ("worst", &wrong.worst)] {
        let Some(mismatch) = mismatch else { continue };
        let _infallible =
            write!(text, "  {which}  {name}{}", sentence::describe_mismatch(mismatch));
        if let Some(ulps) = mismatch.ulps {
            let _infallible = write!(text, " ({ulps:.0} ulp)");
        }
        if let Some(accepted) = mismatch.accepted {
            let _infallible = write!(text, ", accepted error {accepted:.3e}");
        }
        text.push('\n');
    }
    text + &map(&wrong.map)
}

/// The error map: a dot for a cell without wrong elements, else the fraction of wrong ones in tenths.
fn map(map: &ErrorMap) -> String {
    if map.columns == 0 || map.counts.len() < 2 {
        return String::new();
    }
    let cell = |(count, size): (&u64, &u64)| match (count * 10).checked_div(*size) {
        _ if *count == 0 => '·',
        Some(tenths @ 1..=9) => char::from(b'0' + tenths as u8),
        Some(0) => '0',
        Some(_) | None => '█',
    };
    let cells: Vec<char> = map.counts.iter().zip(&map.sizes).map(cell).collect();
    let rows =
        cells.chunks(map.columns).map(|row| format!("  {}\n", row.iter().collect::<String>()));
    rows.collect()
}

/// The value class of the first input, which names the round.
fn domain_draw(draw: DomainInput) -> String {
    let class = Class::ALL.get(usize::from(draw.round)).map_or("values", |class| class.name());
    let along = match draw.along {
        Along::First => "first",
        Along::Last => "last",
    };
    match draw.alone {
        None => format!("from the whole domain, round of {class}, lines along the {along} axis"),
        Some(tensor) => {
            format!(
                "from the whole domain, round of {class}, input {tensor} alone, lines along the {along} axis"
            )
        }
    }
}

/// How to reproduce the inputs.
fn inputs(workload: &str, recipe: InputSpec) -> String {
    let draw = serde_json::to_value(recipe.draw).unwrap_or_default();
    let draw = match recipe.draw {
        InputMode::Distribution(_) => draw["distribution"].as_str().unwrap_or_default().to_owned(),
        InputMode::Repeating | InputMode::PrecisionProbe => {
            draw.as_str().unwrap_or_default().to_owned()
        }
        InputMode::Domain(draw) => domain_draw(draw),
        InputMode::Perturbed(_) => "as before, except for a few elements".to_owned(),
    };
    let draw = draw.replace('_', " ");
    format!("inputs: workload `{workload}`, {draw}\n")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
