//! A search as lines on a terminal.

use lightbench_core::display_text::visible;
use lightbench_core::history::record::Origin;
use lightbench_core::search::entry::{Basis, End};
use lightbench_core::search::{
    Decision, Entry, ScreeningResult, SearchSetup, SearchState, UnansweredModel, Verdict,
};
use lightbench_core::suggest::rewrite::rule;
use lightbench_core::units::{Seconds, counted};

use crate::commands::evaluation_setup::ChosenDevice;
use crate::style::{DIM, ERROR, GOOD, NOTE};

/// The heading of a new search.
pub(super) fn heading(order: &SearchSetup, chosen: &ChosenDevice) -> String {
    let title = &order.project.definition.title;
    let strategy = order
        .strategy
        .map_or_else(|| format!("sweep by {}", order.tuner), |kind| format!("search by {kind}"));
    let mut text = format!("{title} · {}", chosen.title);
    if let Some(reason) = &chosen.virtual_reason {
        text += &format!(" ({})", reason.split(';').next().unwrap_or_default());
    }
    text + &format!(
        "\n{strategy} from `{}`, budget {}, seed {}, journal {}\n\n",
        order.kernel.name, order.budget, order.seed, order.id
    )
}

/// The heading of a resumed search.
pub(super) fn heading_again(story: &SearchState, chosen: &ChosenDevice) -> String {
    format!(
        "{} · {}\nresuming search {}: {} and {} so far\n\n",
        story.header.project,
        chosen.title,
        story.header.id,
        counted(story.variants.len() as u64, "variant", "variants"),
        story.spent.evaluation_count()
    )
}

/// The report that a model sent no usable answer.
pub(super) fn silence(silence: &UnansweredModel) -> String {
    let UnansweredModel { model, asked, why } = silence;
    let asked = counted(*asked as u64, "question", "questions");
    let (model, why) = (visible(model), visible(why));
    format!(
        "`model:{model}` gave no usable answer to {asked}: {why}; test it with `lightbench models --check {model}`"
    )
}

/// An entry as a line; `None` if only the window shows it.
pub(super) fn line(entry: &Entry, story: &SearchState) -> Option<String> {
    Some(match entry {
        Entry::Began(_) | Entry::Looked { .. } => return None,
        Entry::Proposed(proposal) => {
            let from = proposal.parent.map(|parent| format!(" from {parent}")).unwrap_or_default();
            format!("{:>4}{from}  {} · {}\n", proposal.variant, proposal.origin, proposal.what)
        }
        Entry::Nothing { parent, action, why, .. } => {
            format!("   – from {parent}  {action}: {why}\n")
        }
        Entry::Tried { parameters, look, .. } => {
            let values: Vec<String> =
                parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("      {}  {}\n", values.join(" "), seen(look))
        }
        Entry::Judged { verdict, .. } => match verdict {
            Verdict::Passed { lines, .. } => {
                lines.iter().map(|line| format!("      {line}\n")).collect()
            }
            Verdict::Failed(_) | Verdict::NotJudged(_) => return None,
        },
        Entry::Decided { variant, decision } => decided(*variant, decision, story),
        Entry::TurnedDown { variant, why } => {
            format!("      {ERROR}✗{ERROR:#} variant {variant} was rejected by the user: {why}\n")
        }
        Entry::Ended { why } => format!("\n{}\n", ended(why)),
    })
}

fn seen(look: &ScreeningResult) -> String {
    let times = |times: &[lightbench_core::search::WorkloadTime]| {
        let each = times.iter().map(|time| match time.basis {
            Basis::Measured => format!("{} about {}", time.workload, time.seconds),
            Basis::Modelled => format!("{} modelled {}", time.workload, time.seconds),
        });
        each.collect::<Vec<_>>().join(", ")
    };
    match look {
        ScreeningResult::Right { times: all } => times(all),
        ScreeningResult::Slow { times: all } => format!("slow: {}", times(all)),
        ScreeningResult::Failed(reason) | ScreeningResult::NotJudged(reason) => {
            reason.sentence.clone()
        }
    }
}

fn decided(variant: usize, decision: &Decision, story: &SearchState) -> String {
    let faster = story.speedup(variant).map(|factor| format!("{factor:.2} ×")).unwrap_or_default();
    match decision {
        Decision::Accepted { why } => {
            format!("      {GOOD}✓ best{GOOD:#} {faster} {why}\n")
        }
        Decision::Kept { why } => format!("      {DIM}·{DIM:#} {faster} {why}\n"),
        Decision::Rejected { why } => format!("      {ERROR}✗{ERROR:#} {why}\n"),
        Decision::NotJudged { why } => format!("      {NOTE}?{NOTE:#} {why}\n"),
    }
}

fn ended(why: &End) -> String {
    match why {
        End::NothingLeft => "no variants are left to try".to_owned(),
        End::Budget(part) => format!("the budget is exhausted: {part}"),
        End::Stopped => "stopped; `--resume` continues it".to_owned(),
        End::Impossible(why) => format!("it cannot continue: {why}"),
    }
}

/// The best variant, its origin and its speedup.
pub(super) fn summary(story: &SearchState) -> String {
    let spent = &story.spent;
    let accepted = story
        .variants
        .iter()
        .filter(|variant| matches!(variant.decision, Some(Decision::Accepted { .. })));
    let rejected = story
        .variants
        .iter()
        .filter(|variant| matches!(variant.decision, Some(Decision::Rejected { .. })));
    let mut text = format!(
        "{} in {:.0} s: {}, {} of them rejected, {} the best for a time\n",
        spent.evaluation_count(),
        spent.seconds,
        counted(story.variants.len() as u64, "variant", "variants"),
        rejected.count(),
        accepted.count()
    );
    if spent.cost.tokens > 0 {
        let (tokens, money) = (spent.cost.tokens, spent.cost.money);
        text += &format!("{tokens} tokens of language models, {money:.4} of money\n");
    }
    let known = story.counted();
    for workload in story.header.workloads.iter().filter(|workload| !known.contains(workload)) {
        text += &format!("`{workload}` does not count: the initial kernel has no time on it\n");
    }
    let Some(best) = story.best else { return text };
    if best == 0 {
        text += "no improvement over the initial kernel was found\n";
        return text;
    }
    let basis = match story.basis(best) {
        Some(Basis::Measured) => "measured",
        Some(Basis::Modelled) | None => "modelled",
    };
    if let (Some(old), Some(new)) = (story.cost(0), story.cost(best)) {
        text += &format!(
            "\nbest: variant {best}, {} instead of {}: {:.2} times as fast ({basis}, geometric mean over {})\n",
            Seconds(new),
            Seconds(old),
            old / new,
            counted(story.counted().len() as u64, "workload", "workloads")
        );
    }
    let mut steps = Vec::new();
    let mut at = Some(best);
    while let Some(number) = at {
        let variant = &story.variants[number];
        steps.push((number, &variant.proposal, variant.decision.as_ref()));
        at = variant.proposal.parent;
    }
    for (number, proposal, decision) in steps.into_iter().rev() {
        let why = decision.map(Decision::why).unwrap_or_default();
        text += &format!("  {number:>3}  {} · {}: {why}\n", proposal.origin, proposal.what);
        if let Origin::Rule { name } = &proposal.origin
            && let Some(rule) = rule(name)
        {
            text += &format!("       {DIM}why:{DIM:#} {}\n", rule.reason);
        }
    }
    text
}
