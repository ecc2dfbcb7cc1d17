//! Logs of TritonParse: the PTX of a kernel as Triton compiled it, with the sizes of its recorded launches.
//!
//! ```text
//!  log ──► compilations with launches ──► formulas for sizes and grid ──► Wrapper ──► project, kernel file (PTX)
//! ```
//!
//! A log states numbers and no formulas. A formula that gives the recorded number in every launch is taken, so that the
//! project has the recorded sizes as workloads and the sizes between them as permitted ones.

mod record;
mod recorded;
mod sizes;

use std::collections::BTreeMap;

pub(crate) use self::record::is_event;
use self::record::{Compilation, compilations};
use self::recorded::Recorded;
use crate::Imported;
use crate::draft::{Draft, KernelFile};
use crate::error::ImportError;
use crate::format::Format;
use crate::input::InputFile;
use crate::report::Report;
use crate::triton::KernelText;
use crate::wrapper::interface::Interface;
use crate::wrapper::launch_block::{CUDA_COMMENT, LaunchBlock, launch_text};
use crate::wrapper::{Sums, define, reference};

/// What a usable log has.
const EXPECTED: &str =
    "a log with compilations and launches, as `tritonparse` writes it with `enable_trace_launch`";

/// Computes the project of one kernel. `wanted` is its name, or the beginning of the hash of a compilation.
pub(crate) fn import(
    file: &InputFile,
    reference: Option<&InputFile>,
    wanted: Option<&str>,
) -> Result<Imported, ImportError> {
    let all = compilations(file)?;
    let mut report = Report::new(Format::TritonParse);
    let chosen = choose(file, &all, wanted, &mut report)?;
    let refused = |found: String, expected: &str| {
        let place = format!("line {}, the kernel `{}`", chosen.line, chosen.name);
        ImportError::new(&file.path, place, found, expected)
    };
    if let Some(obstacle) = &chosen.obstacle {
        return Err(refused(obstacle.clone(), "a launch of blocks with pointers and numbers"));
    }
    let text = KernelText::read(&dedented(&chosen.python), &chosen.name)
        .map_err(|found| refused(found, "the kernel's Python text in `python_source`"))?;
    let entry = lightbench_ptx::read(&chosen.ptx)
        .entries
        .into_iter()
        .find(|entry| entry.name == chosen.name);
    let entry = entry.ok_or_else(|| refused("PTX without its entry".to_owned(), "the entry"))?;
    let recorded = Recorded::new(chosen, &text.quotients, &mut report).map_err(|found| {
        refused(found, "tensors without gaps, whose dimensions may be in any order, and numbers")
    })?;
    let wrapper = recorded.wrapper(&text, &entry).map_err(|found| {
        refused(
            found,
            "the parameters of the entry: arguments that are no constants, then scratch memory",
        )
    })?;
    let mut interface = Interface::new(&wrapper, &BTreeMap::new(), &mut report);
    let workloads = recorded.workloads(&mut interface);
    let reference = reference::text(reference, &interface, &mut report)?;
    let mut draft = Draft::new(&chosen.name, &chosen.name, reference);
    draft.manifest.summary =
        format!("The Triton kernel {} as a log of TritonParse records it.", chosen.name);
    let sums = if text.may_sum { Sums::Possible } else { Sums::None };
    define(&mut draft, &interface, sums, &mut report)?;
    draft.manifest.workloads = workloads;
    let required = interface.required();
    let block = LaunchBlock {
        path: &file.path,
        line_offset: 0,
        delimiters: CUDA_COMMENT,
        parameters: None,
        required: &required,
        flags: None,
    };
    let name = format!("{}.ptx", crate::names::file_name(&chosen.name));
    let block = block.text(&interface, &launch_text)?;
    draft.kernels.push(KernelFile { name: name.clone(), text: format!("{block}{}", chosen.ptx) });
    recorded.tell(&name, &interface, &mut report);
    Ok(Imported { draft, report })
}

/// The compilation to import: of the wanted kernel, the one with the most launches.
fn choose<'a>(
    file: &InputFile,
    all: &'a [Compilation],
    wanted: Option<&str>,
    report: &mut Report,
) -> Result<&'a Compilation, ImportError> {
    let fits = |one: &&Compilation| {
        wanted.is_none_or(|wanted| one.name == wanted || one.hash.starts_with(wanted))
    };
    let mut names: Vec<&str> = Vec::new();
    for one in all.iter().filter(fits) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    let listed = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let [name] = names.as_slice() else {
        let (found, expected) = match (wanted, names.as_slice()) {
            (Some(wanted), []) => {
                let mut known: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
                known.dedup();
                (format!("no kernel `{wanted}`"), format!("one of {}", listed(&known)))
            }
            (None, []) => ("no compilation of a kernel".to_owned(), EXPECTED.to_owned()),
            (_, several) => (
                format!("{} kernels: {}", several.len(), listed(several)),
                "one; name it with `--kernel`".to_owned(),
            ),
        };
        return Err(ImportError::new(&file.path, "", found, expected));
    };
    let own = || all.iter().filter(fits);
    // The first of those with the most launches.
    let chosen = own().rev().max_by_key(|one| one.launches.len());
    let Some(chosen) = chosen.filter(|one| !one.launches.is_empty()) else {
        let found = format!("no launch of `{name}` with its arguments");
        return Err(ImportError::new(&file.path, "", found, EXPECTED));
    };
    for other in own().filter(|other| other.hash != chosen.hash) {
        let short: String = other.hash.chars().take(8).collect();
        report.leave_out(
            format!("the compilation {short} of `{name}`, with {} launches", other.launches.len()),
            format!("another configuration; import it with `--kernel {short}`"),
        );
    }
    Ok(chosen)
}

/// The text without the indentation that all its lines have: kernels are often defined inside functions.
fn dedented(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let indents = lines().map(|line| line.len() - line.trim_start_matches([' ', '\t']).len());
    let indent = indents.min().unwrap_or(0);
    text.lines().map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect()
}
