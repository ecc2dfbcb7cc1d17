//! Description of a kernel and its search: the parts of a prompt, each with a bounded length, and fenced if its text comes
//! from outside.

use serde::Serialize;

use super::PromptContext;
use super::definition::definition_text;
use super::fence::{fenced, one_line};
use crate::project::Purpose;
use crate::search::entry::{
    Basis, Decision, FailureRecord, ScreeningResult, Verdict, WorkloadTime,
};
use crate::search::state::{SearchState, Variant};
use crate::speed_of_light::playbook::playbook;

/// Most bytes of the kernel to change: longer than any kernel that a model can rewrite as a whole.
const KERNEL: usize = 64 << 10;
/// Most bytes of the reference.
const REFERENCE: usize = 12 << 10;
/// Most bytes of each included file, and most included files.
const INCLUDE: usize = 8 << 10;
const MOST_INCLUDES: usize = 8;
/// Most bytes of each other variant.
const OTHER: usize = 12 << 10;
/// Most bytes of a definition and of a list of results.
const DEFINITION: usize = 8 << 10;
const RESULTS: usize = 4 << 10;
/// Most characters of the description of a change and of its outcome.
const DONE: usize = 160;
const OUTCOME: usize = 900;
/// Most attempts with this kernel, the latest ones.
const MOST_ATTEMPTS: usize = 3;
/// Most lines of the history.
const MOST_HISTORY: usize = 12;
/// Most entries of the knowledge base.
const MOST_KNOWN: usize = 6;

/// Values of the data sheet that a prompt contains.
const FACTS: &[&str] = &[
    "compute_capability",
    "sms",
    "boost_clock",
    "dram_bandwidth",
    "l2",
    "max_threads_per_block",
    "max_threads_per_sm",
    "max_blocks_per_sm",
    "registers_per_sm",
    "max_registers_per_thread",
    "shared_per_sm",
    "default_shared_per_block",
    "max_shared_per_block",
];

/// Values of the template `situation.md`.
#[derive(Debug, Serialize)]
pub(super) struct Situation {
    device: Device,
    definition: String,
    reference: String,
    includes: Vec<String>,
    kernel: Incumbent,
    attempts: Vec<String>,
    contrast: Vec<Other>,
    history: Option<String>,
    knowledge: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Device {
    title: String,
    facts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Incumbent {
    source: String,
    results: Option<String>,
    bottleneck: Option<String>,
}

#[derive(Debug, Serialize)]
struct Other {
    results: String,
    source: String,
}

impl Situation {
    pub(super) fn from_context(setting: &PromptContext<'_>) -> Self {
        let subject = setting.subject;
        let project = subject.project;
        let includes = project.includes.iter().take(MOST_INCLUDES).map(|include| {
            let named = format!("// {}\n{}", include.file.display(), include.source);
            fenced(&named, "cuda", INCLUDE)
        });
        let language = if project.reference.kernel().is_some() { "cuda" } else { "python" };
        let kernel = Incumbent {
            source: fenced(&subject.kernel.source, "cuda", KERNEL),
            results: results(subject.story, subject.variant)
                .map(|lines| fenced(&lines, "text", RESULTS)),
            bottleneck: subject.bottleneck.map(|word| one_line(word, DONE)),
        };
        Self {
            device: device(setting),
            definition: fenced(&definition_text(project), "text", DEFINITION),
            reference: fenced(project.reference.source(), language, REFERENCE),
            includes: includes.collect(),
            kernel,
            attempts: attempts(setting),
            contrast: contrast(setting),
            history: history(subject.story).map(|table| fenced(&table, "text", RESULTS)),
            knowledge: knowledge(setting),
        }
    }
}

fn device(setting: &PromptContext<'_>) -> Device {
    let sheet = setting.sheet;
    let all = sheet.facts().into_iter().chain(sheet.capability.facts());
    let wanted = all.filter(|fact| FACTS.contains(&fact.name) && fact.value != "unknown");
    let facts = wanted.map(|fact| format!("{}: {}", fact.name.replace('_', " "), fact.value));
    Device { title: sheet.title.clone(), facts: facts.collect() }
}

/// Times and verdict lines of a variant on the workloads of the search; none if there are none.
fn results(story: &SearchState, variant: usize) -> Option<String> {
    let known = story.variants.get(variant)?;
    let times = story.times(variant).iter().filter(|time| story.counts(&time.workload));
    let mut lines: Vec<String> = times.map(time).collect();
    if let Some(Verdict::Passed { lines: said, .. }) = &known.verdict {
        let counting =
            |line: &&String| line.split_once(": ").is_some_and(|(name, _)| story.counts(name));
        lines.extend(said.iter().filter(counting).map(|line| one_line(line, OUTCOME)));
    }
    lines.extend(failure(known).map(|failed| one_line(&failed.sentence, OUTCOME)));
    if let Some(speedup) = story.speedup(variant).filter(|_| variant > 0) {
        lines.push(format!("all together: {speedup:.3} times as fast as the first kernel"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn time(time: &WorkloadTime) -> String {
    let basis = match time.basis {
        Basis::Measured => "measured",
        Basis::Modelled => "modelled, not measured",
    };
    format!("{}: {} ({basis})", time.workload, time.seconds)
}

/// The latest variants made from the kernel, with their outcomes; the newest with its text, if it failed.
fn attempts(setting: &PromptContext<'_>) -> Vec<String> {
    let (story, parent) = (setting.subject.story, setting.subject.variant);
    let children = story.variants.iter().filter(|variant| variant.proposal.parent == Some(parent));
    let settled: Vec<&Variant> = children.filter(|variant| variant.decision.is_some()).collect();
    let newest = settled.iter().skip(settled.len().saturating_sub(MOST_ATTEMPTS));
    let text = |variant: &&Variant| {
        let done = one_line(&variant.proposal.what, DONE);
        let text = format!("tried: {done}\noutcome: {}", outcome(variant));
        fenced(&text, "text", RESULTS)
    };
    let mut told: Vec<String> = newest.map(text).collect();
    if let Some(newest) = settled.last().filter(|variant| failure(variant).is_some()) {
        let source = fenced(&newest.proposal.source, "cuda", OTHER);
        told.push(format!("The text of the newest one, which failed:\n\n{source}"));
    }
    told
}

/// The failure of a variant.
fn failure(variant: &Variant) -> Option<&FailureRecord> {
    match (&variant.look, &variant.verdict) {
        (_, Some(Verdict::Failed(failed))) | (Some(ScreeningResult::Failed(failed)), _) => {
            Some(failed)
        }
        (_, Some(Verdict::Passed { .. } | Verdict::NotJudged(_)) | None) => None,
    }
}

/// Outcome of a variant, with the evidence of a failure.
fn outcome(variant: &Variant) -> String {
    let told = match (failure(variant), &variant.decision) {
        (Some(failed), _) if !failed.is_judged() => format!("not judged: {}", failed.sentence),
        (Some(failed), _) => format!("failed ({}): {}", failed.kind, failed.sentence),
        (None, Some(Decision::Accepted { why })) => format!("right, and the best then: {why}"),
        (None, Some(Decision::Kept { why })) => format!("right, and no better: {why}"),
        (None, Some(Decision::Rejected { why })) => format!("rejected: {why}"),
        (None, Some(Decision::NotJudged { why })) => format!("not judged: {why}"),
        (None, None) => "not known yet".to_owned(),
    };
    one_line(&told, OUTCOME)
}

/// Other variants without failures, spread over the range of times, slowest first.
fn contrast(setting: &PromptContext<'_>) -> Vec<Other> {
    let (story, own) = (setting.subject.story, setting.subject.variant);
    let mut others: Vec<(usize, f64)> = (0..story.variants.len())
        .filter(|variant| *variant != own && is_right(&story.variants[*variant]))
        .filter_map(|variant| Some((variant, story.cost(variant)?)))
        .collect();
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (count, wanted) = (others.len(), setting.contrast.min(others.len()));
    let chosen = (0..wanted).filter_map(|place| {
        // The slowest and the fastest are included.
        let index = if wanted == 1 { count - 1 } else { place * (count - 1) / (wanted - 1) };
        others.get(index)
    });
    let other = |(variant, _): &(usize, f64)| {
        let told = results(story, *variant).unwrap_or_default();
        Other {
            results: fenced(&told, "text", RESULTS),
            source: fenced(&story.variants[*variant].proposal.source, "cuda", OTHER),
        }
    };
    chosen.map(other).collect()
}

fn is_right(variant: &Variant) -> bool {
    match (&variant.decision, &variant.look) {
        (Some(Decision::Accepted { .. } | Decision::Kept { .. }), look) => {
            !matches!(look, Some(ScreeningResult::Failed(_) | ScreeningResult::NotJudged(_)))
        }
        (Some(Decision::Rejected { .. } | Decision::NotJudged { .. }) | None, _) => false,
    }
}

/// Table of the latest variants.
fn history(story: &SearchState) -> Option<String> {
    let first = story.variants.len().saturating_sub(MOST_HISTORY);
    (story.variants.len() > 1).then(|| table(story, first))
}

/// Text, results and outcome of a variant; none if there is no such variant.
pub(super) fn variant(story: &SearchState, number: usize) -> Option<String> {
    let known = story.variants.get(number)?;
    let (done, told) = (one_line(&known.proposal.what, DONE), outcome(known));
    let results = results(story, number).unwrap_or_default();
    let results = fenced(&format!("{done}\n{told}\n\n{results}"), "text", RESULTS);
    let source = fenced(&known.proposal.source, "cuda", OTHER);
    Some(format!("{results}\n\n{source}"))
}

/// Table of the variants from one on.
pub(super) fn table(story: &SearchState, first: usize) -> String {
    let rows = story.variants.iter().enumerate().skip(first).map(|(number, variant)| {
        let parent =
            variant.proposal.parent.map_or_else(|| "-".to_owned(), |parent| parent.to_string());
        let speedup = story.speedup(number);
        let speedup = speedup.map_or_else(|| "-".to_owned(), |factor| format!("{factor:.3}"));
        let became = match &variant.decision {
            Some(Decision::Accepted { .. }) => "best then",
            Some(Decision::Kept { .. }) => "kept",
            Some(Decision::Rejected { .. }) => "rejected",
            Some(Decision::NotJudged { .. }) => "not judged",
            None => "open",
        };
        let done = one_line(&variant.proposal.what, DONE);
        format!("{number} | {parent} | {speedup} | {became} | {done}")
    });
    let head = "variant | made of | times as fast as the first | became | what was done".to_owned();
    std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
}

/// Observed gains of techniques for this bottleneck. Techniques that the playbook lacks are omitted: the file may be edited.
fn knowledge(setting: &PromptContext<'_>) -> Vec<String> {
    let subject = setting.subject;
    let bottleneck = subject.bottleneck.unwrap_or("unknown");
    let seen = subject.knowledge.seen.iter().filter(|seen| seen.bottleneck == bottleneck);
    let entries = seen.filter_map(|seen| {
        let technique = playbook().techniques.iter().find(|known| known.id == seen.technique)?;
        let (uses, failures) = (seen.uses, seen.failures);
        let gain = match uses {
            0 => "never right yet".to_owned(),
            _ => format!("{:.2} times as fast on average", seen.gain),
        };
        let title = &technique.title;
        Some(format!("{title}: {gain}, {uses} right and {failures} wrong attempts"))
    });
    entries.take(MOST_KNOWN).collect()
}

/// Whether a prompt may contain the results of a workload.
trait Counting {
    fn counts(&self, workload: &str) -> bool;
}

impl Counting for SearchState {
    fn counts(&self, workload: &str) -> bool {
        self.header.workloads.iter().any(|known| known == workload)
    }
}

/// Whether no workload of the search is held out.
pub(super) fn has_no_held_out_workload(setting: &PromptContext<'_>) -> bool {
    let held_out = |name: &String| {
        let mut all = setting.subject.project.workloads.iter();
        all.any(|workload| workload.name == *name && workload.purpose == Purpose::HeldOut)
    };
    !setting.subject.story.header.workloads.iter().any(held_out)
}
