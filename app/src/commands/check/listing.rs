//! Listings: SASS and PTX beside their source lines, and the text added before the kernel.

use std::fmt::Write as _;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::job::Source;
use lightbench_core::compile::sass::{SassFunction, SassInstruction};
use lightbench_core::compile::{Artifact, CompileError, CompileJob, Compiler};
use lightbench_core::display_text::visible;
use lightbench_core::project::Candidate;
use lightbench_core::report::document::listing::{ReportedListings, ReportedPtxLine, ReportedText};

use super::Checker;
use crate::report::Sources;
use crate::style::{DIM, STRONG};

/// The requested listings.
#[derive(Debug, Default)]
pub(super) struct Listings {
    sass: Option<Vec<SassFunction>>,
    ptx: Option<Vec<Line>>,
    prelude: Option<Vec<(String, String)>>,
}

/// A line and its source line.
#[derive(Debug)]
struct Line {
    text: String,
    source: Option<(String, u32)>,
}

/// Creates the requested listings of an artifact.
pub(super) fn new(
    checker: &Checker<'_>,
    compiler: &mut Compiler,
    candidate: &Candidate,
    artifact: &Artifact,
) -> Result<Listings, CompileError> {
    let asked = &checker.arguments.listings;
    let mut listings = Listings::default();
    if asked.sass {
        listings.sass = Some(sass(compiler, artifact, &checker.session.cancellation)?);
    }
    if asked.ptx {
        listings.ptx = Some(ptx(artifact));
    }
    if asked.show_prelude {
        let capability = checker.sheet.capability.compute_capability;
        listings.prelude =
            Some(prelude(candidate, &CompileJob::new(candidate, capability, checker.build())));
    }
    Ok(listings)
}

/// The prelude, parameters and stand-ins before the kernel's text.
fn prelude(candidate: &Candidate, job: &CompileJob) -> Vec<(String, String)> {
    match &job.source {
        Source::Ptx { .. } | Source::Triton(_) => Vec::new(),
        Source::Cuda(cuda) => {
            let own = |name: &str| candidate.includes.iter().any(|file| file.name == name);
            cuda.headers.iter().filter(|(name, _)| !own(name)).cloned().collect()
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
            line.file = artifact.names.display_name(&line.file).into();
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
            .map(|source| (artifact.names.display_name(&source.file).to_owned(), source.line));
        Line { text: text.to_owned(), source }
    });
    lines.collect()
}

impl Listings {
    /// The listings as text.
    pub(super) fn to_text(&self, name: &str, sources: &Sources<'_>) -> String {
        let mut text = String::new();
        for (header, content) in self.prelude.iter().flatten() {
            writeln!(text, "\n{STRONG}{name}: added as {}{STRONG:#}\n{content}", visible(header))
                .ok();
        }
        for function in self.sass.iter().flatten() {
            writeln!(text, "\n{STRONG}{name}: SASS of {}{STRONG:#}", visible(&function.name)).ok();
            text.push_str(&sass_text(function, sources));
        }
        if let Some(lines) = &self.ptx {
            writeln!(text, "\n{STRONG}{name}: PTX{STRONG:#}").ok();
            text.push_str(&ptx_text(lines));
        }
        text
    }

    /// The listings as a part of a document.
    pub(super) fn report(&self) -> ReportedListings {
        let text = |(name, text): &(String, String)| ReportedText {
            name: name.clone(),
            text: text.clone(),
        };
        let line = |line: &Line| {
            let (file, number) = line.source.clone().unzip();
            ReportedPtxLine { text: line.text.clone(), file, line: number }
        };
        ReportedListings {
            prelude: self.prelude.as_ref().map(|all| all.iter().map(text).collect()),
            sass: self.sass.as_ref().map(|all| all.iter().map(Into::into).collect()),
            ptx: self.ptx.as_ref().map(|all| all.iter().map(line).collect()),
        }
    }
}

/// Instructions grouped by source line, with the text of lines from the project.
fn sass_text(function: &SassFunction, sources: &Sources<'_>) -> String {
    let mut text = String::new();
    let mut source = None;
    for instruction in &function.instructions {
        let here = instruction.source.first();
        if here != source {
            if let Some(place) = here {
                let line = sources.line(&place.file, place.line).unwrap_or("").trim();
                writeln!(
                    text,
                    "{DIM}{}:{}  {}{DIM:#}",
                    visible(&place.file),
                    place.line,
                    visible(line)
                )
                .ok();
            }
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
