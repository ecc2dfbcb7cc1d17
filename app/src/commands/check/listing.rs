//! SASS and PTX beside the source lines they came from, and what was added to the kernel's text.

use std::fmt::Write as _;

use anstyle::Style;
use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::job::Source;
use lightbench_core::compile::sass::{SassFunction, SassInstruction};
use lightbench_core::compile::{Artifact, Build, CompileError, CompileJob, Compiler};
use lightbench_core::display_text::visible;
use lightbench_core::project::Candidate;
use serde_json::{Value, json};

use super::Checker;

const STRONG: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// A kernel's name, what was added to its text, and its listings.
pub(super) type Listed = (String, Vec<(String, String)>, Listings);

/// The listings that were asked for.
#[derive(Default)]
pub(super) struct Listings {
    sass: Vec<SassFunction>,
    ptx: Vec<Line>,
}

/// A line and the source line that it came from.
struct Line {
    text: String,
    source: Option<(String, u32)>,
}

/// The listings of an artifact, as far as they were asked for.
pub(super) fn of(
    checker: &Checker<'_>,
    compiler: &mut Compiler,
    artifact: &Artifact,
) -> Result<Listings, CompileError> {
    let mut listings = Listings::default();
    if checker.arguments.listings.sass {
        listings.sass = sass(compiler, artifact, &checker.session.cancellation)?;
    }
    if checker.arguments.listings.ptx {
        listings.ptx = ptx(artifact);
    }
    Ok(listings)
}

/// The prelude, parameters and stand-ins that were put before the kernel's text.
pub(super) fn of_candidate(candidate: &Candidate) -> Vec<(String, String)> {
    // What is added depends on neither the device nor the build.
    let capability = lightbench_core::device::ComputeCapability(9, 0);
    match CompileJob::of(candidate, capability, Build::Optimised).source {
        Source::Ptx { .. } => Vec::new(),
        Source::Cuda(cuda) => {
            let own = |name: &str| candidate.includes.iter().any(|file| file.name == name);
            cuda.headers.into_iter().filter(|(name, _)| !own(name)).collect()
        }
    }
}

fn sass(
    compiler: &mut Compiler,
    artifact: &Artifact,
    cancellation: &Cancellation,
) -> Result<Vec<SassFunction>, CompileError> {
    let mut functions = compiler.disassemble(artifact, cancellation)?;
    for instruction in functions.iter_mut().flat_map(|function| &mut function.instructions) {
        let known = |line: &lightbench_core::compile::sass::SourceLine| {
            let mut line = line.clone();
            line.file = artifact.names.known(&line.file).into();
            line
        };
        instruction.source = instruction.source.iter().map(known).collect();
    }
    Ok(functions)
}

fn ptx(artifact: &Artifact) -> Vec<Line> {
    let line_map = &artifact.module.line_map;
    let lines = artifact.ptx.lines().zip(1..).map(|(text, number)| {
        let source = line_map
            .at(number)
            .first()
            .map(|source| (artifact.names.known(&source.file).to_owned(), source.line));
        Line { text: text.to_owned(), source }
    });
    lines.collect()
}

/// Everything that was asked for, kernel by kernel.
pub(super) fn to_text(checker: &Checker<'_>, listed: &[Listed]) -> String {
    let mut text = String::new();
    for (name, prelude, listings) in listed {
        if checker.arguments.listings.show_prelude {
            for (header, content) in prelude {
                writeln!(text, "\n{STRONG}{name}: added as {header}{STRONG:#}\n{content}").ok();
            }
        }
        for function in &listings.sass {
            writeln!(text, "\n{STRONG}{name}: SASS of {}{STRONG:#}", visible(&function.name)).ok();
            text.push_str(&sass_text(function));
        }
        if !listings.ptx.is_empty() {
            writeln!(text, "\n{STRONG}{name}: PTX{STRONG:#}").ok();
            text.push_str(&ptx_text(&listings.ptx));
        }
    }
    text
}

/// Instructions under the source line that they came from.
fn sass_text(function: &SassFunction) -> String {
    let mut text = String::new();
    let mut source = None;
    for instruction in &function.instructions {
        let here = instruction.source.first();
        if here != source {
            let place = here
                .map_or_else(String::new, |line| format!("{}:{}", visible(&line.file), line.line));
            writeln!(text, "{DIM}{place}{DIM:#}").ok();
            source = here;
        }
        text.push_str(&instruction_text(instruction));
    }
    text
}

fn instruction_text(instruction: &SassInstruction) -> String {
    let SassInstruction { address, predicate, opcode, operands, .. } = instruction;
    let predicate = predicate.as_deref().unwrap_or("");
    let operands = operands.join(", ");
    let line = format!("  {address:04x}  {predicate:>4} {opcode} {operands}");
    visible(line.trim_end()).into_owned() + "\n"
}

fn ptx_text(lines: &[Line]) -> String {
    let place = |line: &Line| match &line.source {
        Some((file, number)) => format!("{}:{number}", visible(file)),
        None => String::new(),
    };
    let width = lines.iter().map(|line| place(line).len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let code = line.text.replace('\t', "    ");
        writeln!(text, "{DIM}{:<width$}{DIM:#}  {}", place(line), visible(code.trim_end())).ok();
    }
    text
}

/// Adds to a kernel's document what was asked for.
pub(super) fn into_json(
    checker: &Checker<'_>,
    document: &mut Value,
    prelude: &[(String, String)],
    listings: &Listings,
) {
    let asked = &checker.arguments.listings;
    if asked.show_prelude {
        document["prelude"] =
            prelude.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect();
    }
    if asked.sass {
        document["sass"] = listings.sass.iter().map(sass_json).collect();
    }
    if asked.ptx {
        let lines = listings.ptx.iter().map(|line| {
            let (file, number) = line.source.clone().unzip();
            json!({ "text": line.text, "file": file, "line": number })
        });
        document["ptx"] = lines.collect();
    }
}

fn sass_json(function: &SassFunction) -> Value {
    let instructions = function.instructions.iter().map(|instruction| {
        let SassInstruction { address, predicate, opcode, operands, targets, source } = instruction;
        let source: Vec<_> =
            source.iter().map(|line| json!({ "file": &*line.file, "line": line.line })).collect();
        json!({
            "address": address, "predicate": predicate, "opcode": opcode,
            "operands": operands, "targets": targets, "source": source,
        })
    });
    json!({ "function": function.name, "instructions": instructions.collect::<Vec<_>>() })
}
