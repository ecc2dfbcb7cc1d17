//! What a model is told of a kernel: the parts of a prompt, each made of what is known, bounded, and fenced where it is not
//! our own text.

use serde::Serialize;

use super::Setting;
use super::definition::in_words;
use super::fence::{fenced, one_line};
use crate::project::Purpose;
use crate::search::entry::{Basis, Decision, Look, Verdict, WorkloadTime};
use crate::search::story::{Story, Variant};
use crate::speed_of_light::playbook::playbook;

/// Bytes of the kernel that is changed: more than any kernel that a model can change as a whole.
const KERNEL: usize = 64 << 10;
/// Bytes of the reference.
const REFERENCE: usize = 12 << 10;
/// Bytes of each shared file, and how many there are at most.
const INCLUDE: usize = 8 << 10;
const MOST_INCLUDES: usize = 8;
/// Bytes of each other variant.
const OTHER: usize = 12 << 10;
/// Bytes of a definition, and of a list of results.
const DEFINITION: usize = 8 << 10;
const RESULTS: usize = 4 << 10;
/// Characters of what was done, and of what came of it.
const DONE: usize = 160;
const OUTCOME: usize = 900;
/// Attempts with this kernel that are told, the newest.
const MOST_ATTEMPTS: usize = 3;
/// Lines of the history.
const MOST_HISTORY: usize = 12;
/// Entries of the knowledge base.
const MOST_KNOWN: usize = 6;

/// Facts of a sheet that code is written for.
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

/// All parts.
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
    pub(super) fn of(setting: &Setting<'_>) -> Self {
        let subject = setting.subject;
        let project = subject.project;
        let includes = project.includes.iter().take(MOST_INCLUDES).map(|include| {
            let named = format!("// {}\n{}", include.file.display(), include.source);
            fenced(&named, "cuda", INCLUDE)
        });
        let kernel = Incumbent {
            source: fenced(&subject.kernel.source, "cuda", KERNEL),
            results: results(subject.story, subject.variant)
                .map(|lines| fenced(&lines, "text", RESULTS)),
            bottleneck: subject.bottleneck.map(|word| one_line(word, DONE)),
        };
        Self {
            device: device(setting),
            definition: fenced(&in_words(project), "text", DEFINITION),
            reference: fenced(&project.reference.source, "cuda", REFERENCE),
            includes: includes.collect(),
            kernel,
            attempts: attempts(setting),
            contrast: contrast(setting),
            history: history(subject.story).map(|table| fenced(&table, "text", RESULTS)),
            knowledge: knowledge(setting),
        }
    }
}

fn device(setting: &Setting<'_>) -> Device {
    let sheet = setting.sheet;
    let all = sheet.facts().into_iter().chain(sheet.capability.facts());
    let wanted = all.filter(|fact| FACTS.contains(&fact.name) && fact.value != "unknown");
    let facts = wanted.map(|fact| format!("{}: {}", fact.name.replace('_', " "), fact.value));
    Device { title: sheet.title.clone(), facts: facts.collect() }
}

/// What is known of a variant on each workload that counts; none where nothing is.
fn results(story: &Story, variant: usize) -> Option<String> {
    let known = story.variants.get(variant)?;
    let times = story.times(variant).iter().filter(|time| story.counts(&time.workload));
    let mut lines: Vec<String> = times.map(time).collect();
    if let Some(Verdict::Passed { lines: said, .. }) = &known.verdict {
        let counting =
            |line: &&String| line.split_once(": ").is_some_and(|(name, _)| story.counts(name));
        lines.extend(said.iter().filter(counting).map(|line| one_line(line, OUTCOME)));
    }
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

/// What was made of the kernel before, and what came of it.
fn attempts(setting: &Setting<'_>) -> Vec<String> {
    let (story, parent) = (setting.subject.story, setting.subject.variant);
    let children = story.variants.iter().filter(|variant| variant.proposal.parent == Some(parent));
    let settled: Vec<&Variant> = children.filter(|variant| variant.decision.is_some()).collect();
    let newest = settled.iter().skip(settled.len().saturating_sub(MOST_ATTEMPTS));
    let text = |variant: &&Variant| {
        let done = one_line(&variant.proposal.what, DONE);
        let text = format!("tried: {done}\noutcome: {}", outcome(variant));
        fenced(&text, "text", RESULTS)
    };
    newest.map(text).collect()
}

/// What came of a variant, with the evidence where it failed.
fn outcome(variant: &Variant) -> String {
    let failed = match (&variant.look, &variant.verdict) {
        (_, Some(Verdict::Failed(failed))) | (Some(Look::Failed(failed)), _) => Some(failed),
        (_, Some(Verdict::Passed { .. } | Verdict::NotJudged(_)) | None) => None,
    };
    let told = match (failed, &variant.decision) {
        (Some(failed), _) if !failed.is_judged() => format!("not judged: {}", failed.sentence),
        (Some(failed), _) => format!("failed ({}): {}", failed.kind, failed.sentence),
        (None, Some(Decision::Accepted { why })) => format!("right, and the best then: {why}"),
        (None, Some(Decision::Kept { why })) => format!("right, and no better: {why}"),
        (None, Some(Decision::Rejected { why })) => format!("rejected: {why}"),
        (None, Some(Decision::Skipped { why })) => format!("never ran: {why}"),
        (None, Some(Decision::NotJudged { why })) => format!("not judged: {why}"),
        (None, None) => "not known yet".to_owned(),
    };
    one_line(&told, OUTCOME)
}

/// Other variants that are right, spread over what was reached, the slowest first.
fn contrast(setting: &Setting<'_>) -> Vec<Other> {
    let (story, own) = (setting.subject.story, setting.subject.variant);
    let mut others: Vec<(usize, f64)> = (0..story.variants.len())
        .filter(|variant| *variant != own && is_right(&story.variants[*variant]))
        .filter_map(|variant| Some((variant, story.cost(variant)?)))
        .collect();
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (count, wanted) = (others.len(), setting.contrast.min(others.len()));
    let chosen = (0..wanted).filter_map(|place| {
        // The first and the last are always among them.
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
            !matches!(look, Some(Look::Failed(_) | Look::NotJudged(_)))
        }
        (
            Some(Decision::Rejected { .. } | Decision::Skipped { .. } | Decision::NotJudged { .. })
            | None,
            _,
        ) => false,
    }
}

/// The newest variants in a table.
fn history(story: &Story) -> Option<String> {
    if story.variants.len() < 2 {
        return None;
    }
    let first = story.variants.len().saturating_sub(MOST_HISTORY);
    let rows = story.variants.iter().enumerate().skip(first).map(|(number, variant)| {
        let parent =
            variant.proposal.parent.map_or_else(|| "-".to_owned(), |parent| parent.to_string());
        let speedup = story.speedup(number);
        let speedup = speedup.map_or_else(|| "-".to_owned(), |factor| format!("{factor:.3}"));
        let became = match &variant.decision {
            Some(Decision::Accepted { .. }) => "best then",
            Some(Decision::Kept { .. }) => "kept",
            Some(Decision::Rejected { .. }) => "rejected",
            Some(Decision::Skipped { .. }) => "predicted to be slow",
            Some(Decision::NotJudged { .. }) => "not judged",
            None => "open",
        };
        let done = one_line(&variant.proposal.what, DONE);
        format!("{number} | {parent} | {speedup} | {became} | {done}")
    });
    let head = "variant | made of | times as fast as the first | became | what was done".to_owned();
    Some(std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n"))
}

/// What was seen of techniques against this bottleneck. Only of those that the playbook names: the file may be edited.
fn knowledge(setting: &Setting<'_>) -> Vec<String> {
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

/// Whether a workload's results may be told.
trait Counting {
    fn counts(&self, workload: &str) -> bool;
}

impl Counting for Story {
    fn counts(&self, workload: &str) -> bool {
        self.header.workloads.iter().any(|known| known == workload)
    }
}

/// Whether all that is told of a story is about workloads that may be told of.
pub(super) fn is_told_of_open_ones(setting: &Setting<'_>) -> bool {
    let held_out = |name: &String| {
        let mut all = setting.subject.project.workloads.iter();
        all.any(|workload| workload.name == *name && workload.purpose == Purpose::HeldOut)
    };
    !setting.subject.story.header.workloads.iter().any(held_out)
}
