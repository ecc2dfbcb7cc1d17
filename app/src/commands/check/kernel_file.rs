//! A kernel file outside any project: all kernels in it, at several block sizes.

use std::fmt::Write as _;
use std::time::Duration;

use lightbench_core::compile::facts::{FactsError, demand};
use lightbench_core::compile::occupancy::{Obstacle, Occupancy, occupancy};
use lightbench_core::compile::{CompileError, CompileJob, Compiled, Compiler, KernelFacts};
use lightbench_core::cuda_source::OmittedItem;
use lightbench_core::display_text::visible;
use lightbench_core::project::launch::Architecture;
use lightbench_core::project::policy::Limits;
use lightbench_core::project::{Candidate, Selection, StandaloneKernel};
use lightbench_core::report::document::check::{CheckSubject, StandaloneKernelFacts};

use super::listing::{self, Listings};
use super::{Checker, failure, json, text};
use crate::outcome::{Outcome, Status, report_document};
use crate::report::{self, Sources};
use crate::style::{DIM, STRONG};
use crate::table::Table;

/// Common block sizes.
const BLOCKS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Compiles the file and reports on its kernels.
pub(super) fn check(
    checker: &Checker<'_>,
    compiler: &mut Compiler,
    kernel: &StandaloneKernel,
) -> Outcome {
    let as_json = checker.arguments.json;
    if let Some((name, _)) = checker.arguments.parameters.first() {
        let message =
            format!("`--param {name}=…` needs a project, whose launch block uses the parameter");
        return report::request(&message, as_json);
    }
    if checker.arguments.workload.is_some() {
        return report::request(&"`--workload` needs a project: a single file has none", as_json);
    }
    let mut sources = Sources::default();
    sources.add_main(shown_name(kernel), &kernel.file, &kernel.source);
    add_headers(&mut sources, kernel);
    let failed = |compiler: &Compiler, error: &FactsError| {
        let file = kernel.file.clone();
        let subject = CheckSubject::FailedFile { file, failure: error.into() };
        let report = || report_document(&json::report(checker, compiler, subject));
        Outcome {
            output: if as_json { report() } else { String::new() },
            errors: failure::to_text(&kernel.name, error, &sources)
                + &host_code_note(error, kernel),
            status: failure::status(error),
        }
    };
    let (candidate, compiled) = match compile(checker, compiler, kernel) {
        Ok(compiled) => compiled,
        Err(error) => return failed(compiler, &error),
    };
    let kernels = match wanted(checker, &compiled.artifact.kernels) {
        Ok(kernels) => kernels,
        Err(message) => return report::request(&message, as_json),
    };
    let listings = match listing::new(checker, compiler, &candidate, &compiled.artifact) {
        Ok(listings) => listings,
        Err(error) => return failed(compiler, &FactsError::Compile(error)),
    };
    let status = if kernels.is_empty() { Status::KernelFailed } else { Status::Passed };
    let mut errors = text::warnings(&compiled.artifact, &sources);
    if kernels.is_empty() {
        errors.push_str(&report::error(&no_kernel(kernel)));
    }
    let output = if as_json {
        let subject = subject(checker, (kernel, &compiled), &kernels, &listings);
        report_document(&json::report(checker, compiler, subject))
    } else {
        to_text(checker, compiler, kernel, &kernels) + &listings.to_text(&kernel.name, &sources)
    };
    Outcome { output, errors, status }
}

pub(in crate::commands) fn no_kernel(kernel: &StandaloneKernel) -> String {
    format!(
        "{} contains no kernel: a `__global__` function is required, or a template with an explicit instantiation or a launch block that names its arguments",
        shown_name(kernel)
    )
}

/// A note for a rejected file that names left-out host code that the compiler's messages mention.
pub(in crate::commands) fn host_code_note(error: &FactsError, kernel: &StandaloneKernel) -> String {
    let FactsError::Compile(CompileError::Rejected(rejection)) = error else {
        return String::new();
    };
    let undefined = |item: &&OmittedItem| {
        let mut words = rejection.diagnostics.iter().filter_map(|each| quoted_name(&each.message));
        words.any(|name| defines(&item.what, name))
    };
    let mentioned: Vec<String> = kernel
        .device
        .left_out
        .iter()
        .filter(undefined)
        .map(|item| {
            let file = item.header.clone().unwrap_or_else(|| shown_name(kernel));
            format!(
                "{file}:{} is host code and was left out: `{}`; device code can call functions with `__device__` only",
                item.place, item.what
            )
        })
        .collect();
    report::notices(&mentioned)
}

/// The first name in quotes of a compiler message: `identifier "f" is undefined`.
fn quoted_name(message: &str) -> Option<&str> {
    message.split('"').nth(1)
}

/// Whether the beginning of an item has a word.
fn defines(what: &str, name: &str) -> bool {
    what.split(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric())
        .any(|word| word == name)
}

/// Adds the local headers of a file, for quoting.
pub(in crate::commands) fn add_headers<'a>(
    sources: &mut Sources<'a>,
    kernel: &'a StandaloneKernel,
) {
    for header in &kernel.device.headers {
        sources.add(header.name.clone(), &header.path, &header.source);
    }
}

pub(in crate::commands) fn shown_name(kernel: &StandaloneKernel) -> String {
    kernel.file.file_name().map_or_else(String::new, |name| name.display().to_string())
}

fn compile(
    checker: &Checker<'_>,
    compiler: &mut Compiler,
    kernel: &StandaloneKernel,
) -> Result<(Candidate, Compiled), FactsError> {
    let candidate =
        Candidate::standalone(kernel, selection(kernel)).map_err(FactsError::Include)?;
    let capability = checker.sheet.capability.compute_capability;
    let job = CompileJob::new(&candidate, capability, checker.build());
    let limit = Duration::from_secs(Limits::default().compile_secs);
    let compiled = compiler.compile(&job, limit, &checker.session.cancellation)?;
    Ok((candidate, compiled))
}

/// The kernel selection for a file without a project: names, but no sizes.
pub(in crate::commands) fn selection(kernel: &StandaloneKernel) -> Selection {
    let launched = kernel.launch.iter().flat_map(|launch| launch.kernels());
    let plain = launched.filter(|name| !name.is_template());
    Selection {
        parameters: Vec::new(),
        constants: Vec::new(),
        options: Vec::new(),
        architecture: kernel
            .launch
            .as_ref()
            .map_or(Architecture::Portable, |launch| launch.architecture),
        name_expressions: plain.map(|name| name.text().to_owned()).collect(),
        triton: Vec::new(),
    }
}

fn wanted<'a>(
    checker: &Checker<'_>,
    kernels: &'a [KernelFacts],
) -> Result<Vec<&'a KernelFacts>, String> {
    let Some(wanted) = &checker.arguments.kernel else { return Ok(kernels.iter().collect()) };
    let found: Vec<_> = kernels.iter().filter(|kernel| is_named(kernel, wanted)).collect();
    if found.is_empty() {
        let known: Vec<_> = kernels.iter().map(readable).collect();
        return Err(format!("no kernel `{wanted}` in this file; it has {}", known.join(", ")));
    }
    Ok(found)
}

/// Whether a name denotes this kernel.
pub(in crate::commands) fn is_named(kernel: &KernelFacts, wanted: &str) -> bool {
    kernel.symbol == wanted
        || kernel.expression.as_deref() == Some(wanted)
        || readable(kernel) == wanted
}

/// The function's name without its parameter list.
pub(in crate::commands) fn readable(kernel: &KernelFacts) -> String {
    lightbench_core::compile::signature::function_name(&kernel.symbol)
        .unwrap_or_else(|| kernel.symbol.clone())
}

fn to_text(
    checker: &Checker<'_>,
    compiler: &Compiler,
    kernel: &StandaloneKernel,
    kernels: &[&KernelFacts],
) -> String {
    let mut shown = format!("{STRONG}{}{STRONG:#}\n{DIM}", visible(&shown_name(kernel)));
    writeln!(shown, "{}{DIM:#}\n", checker.line(compiler)).ok();
    let mut table = Table::new(&[
        "kernel",
        ">registers",
        ">spills",
        ">shared",
        ">stack",
        ">constant",
        "bounds",
    ]);
    for each in kernels {
        table.row(cells(each));
    }
    shown.push_str(&table.to_string());
    shown + &occupancies(checker, kernels) + &left_out(kernel)
}

/// The largest number of left-out items of one file in the text.
const MOST_LEFT_OUT: usize = 8;

/// The host code that was left out, a line for each file; empty for device code only.
fn left_out(kernel: &StandaloneKernel) -> String {
    let items = &kernel.device.left_out;
    let mut text = String::new();
    let mut files: Vec<Option<&str>> = items.iter().map(|item| item.header.as_deref()).collect();
    files.dedup();
    for file in files {
        let name = file.map_or_else(|| shown_name(kernel), str::to_owned);
        let own: Vec<&OmittedItem> =
            items.iter().filter(|item| item.header.as_deref() == file).collect();
        writeln!(text, "\n{DIM}left out of {}:{DIM:#}", visible(&name)).ok();
        for item in own.iter().take(MOST_LEFT_OUT) {
            let (place, what, why) = (item.place, visible(&item.what), item.why.words());
            writeln!(text, "  {place}  {what} ({why})").ok();
        }
        if own.len() > MOST_LEFT_OUT {
            writeln!(text, "  and {} more items of host code", own.len() - MOST_LEFT_OUT).ok();
        }
    }
    text
}

fn cells(kernel: &KernelFacts) -> Vec<String> {
    let mut cells = vec![visible(&readable(kernel)).into_owned()];
    cells.extend(text::resources(kernel.resources.as_ref(), 0));
    cells.push(
        kernel.resources.map_or_else(|| "unknown".to_owned(), |it| format!("{} B", it.constant.0)),
    );
    cells.push(kernel.max_threads.map_or_else(String::new, |threads| {
        format!("{} threads", threads.iter().product::<u32>())
    }));
    cells
}

/// Occupancy at the common block sizes, because no launch is known.
fn occupancies(checker: &Checker<'_>, kernels: &[&KernelFacts]) -> String {
    let headings: Vec<String> = BLOCKS.iter().map(|block| format!(">{block}")).collect();
    let headings: Vec<&str> = ["occupancy at block size"]
        .into_iter()
        .chain(headings.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(&headings);
    for kernel in kernels {
        let fits = BLOCKS.iter().map(|&block| match at(checker, kernel, block) {
            None => "unknown".to_owned(),
            Some(Occupancy::CannotLaunch(_)) => "–".to_owned(),
            Some(Occupancy::Resident(resident)) => {
                format!("{:.0} %", resident.fraction().0 * 100.0)
            }
        });
        table.row([visible(&readable(kernel)).into_owned()].into_iter().chain(fits));
    }
    format!("\n{table}")
}

fn at(checker: &Checker<'_>, kernel: &KernelFacts, block: u32) -> Option<Occupancy> {
    let bound = kernel.max_threads.map(|threads| threads.iter().product::<u32>());
    if bound.is_some_and(|bound| block > bound) {
        let (required, limit) = (block, bound.unwrap_or(block));
        return Some(Occupancy::CannotLaunch(vec![Obstacle::Threads { required, limit }]));
    }
    let limits = checker.sheet.capability.sm_limits().ok()?;
    Some(occupancy(&limits, &demand(kernel, [block, 1, 1], 0, None)?))
}

fn subject(
    checker: &Checker<'_>,
    (kernel, compiled): (&StandaloneKernel, &Compiled),
    kernels: &[&KernelFacts],
    listings: &Listings,
) -> CheckSubject {
    let facts = |kernel: &&KernelFacts| StandaloneKernelFacts {
        kernel: (*kernel).into(),
        occupancy_by_block: BLOCKS
            .iter()
            .filter_map(|&block| Some((block.to_string(), (&at(checker, kernel, block)?).into())))
            .collect(),
    };
    CheckSubject::File {
        file: kernel.file.clone(),
        origin: compiled.origin.into(),
        messages: (&compiled.artifact).into(),
        kernels: kernels.iter().map(facts).collect(),
        left_out: kernel.device.left_out.iter().map(Into::into).collect(),
        listings: listings.report(),
    }
}
