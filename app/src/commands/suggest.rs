//! `lightbench suggest`: lists applicable rewrite rules with reasons, applies one of them, or asks one model.

mod model_question;

use lightbench_core::display_text::{visible, visible_lines};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::report::document::suggest::{
    RewriteEdit, RewritePlace, SuggestReport, SuggestResult, SuggestSchema, TriedRule,
    TriedRuleResult,
};
use lightbench_core::speed_of_light::playbook::{Gain, Technique, Tier};
use lightbench_core::suggest::rewrite::{
    Edit, KernelSource, NotApplicable, Rewrite, Rule, rewritten, rule, rules,
};
use lightbench_core::whole_file;
use similar::TextDiff;

use super::check::target;
use super::kernel_name::may_be_called;
use crate::args;
use crate::outcome::{Outcome, report_document};
use crate::report;
use crate::session::Session;
use crate::style::{DIM, GOOD, STRONG};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Lists the rules, or writes a changed kernel.
pub fn run(session: &Session, arguments: &args::Suggest) -> Outcome {
    suggested(session, arguments).unwrap_or_else(|outcome| outcome)
}

/// The result of a rule for a kernel.
struct RuleResult<'a> {
    rule: &'static Rule,
    kernel: &'a Kernel,
    found: Result<Vec<Rewrite>, NotApplicable>,
}

fn suggested(session: &Session, arguments: &args::Suggest) -> Result<Outcome, Outcome> {
    let lacks = "no axes with declared limits, which rules need";
    let (project, kernel) = target::project(&arguments.project, lacks, arguments.json)?;
    let name = arguments.kernel.as_ref().or(kernel.as_ref());
    if arguments.print_prompt || arguments.model.is_some() {
        return model_question::run(session, arguments, project, name.map(String::as_str));
    }
    rules_tried(arguments, &project, name)
}

/// Tries the rules on kernels of a loaded project, and reports.
pub(super) fn rules_tried(
    arguments: &args::Suggest,
    project: &Project,
    name: Option<&String>,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let kernels: Vec<&Kernel> = match name {
        Some(name) => vec![project.kernel(name).map_err(|error| refuse(&error))?],
        None => project.kernels.iter().collect(),
    };
    let chosen: Vec<&'static Rule> = match &arguments.rule {
        Some(id) => vec![rule(id).ok_or_else(|| refuse(&unknown(id)))?],
        None => rules().iter().collect(),
    };
    let tried: Vec<RuleResult<'_>> = kernels
        .into_iter()
        .flat_map(|kernel| {
            let subject = KernelSource::from_kernel(project, kernel);
            chosen.iter().map(move |rule| RuleResult {
                rule,
                kernel,
                found: subject
                    .as_ref()
                    .map_err(Clone::clone)
                    .and_then(|subject| rule.rewrites(subject)),
            })
        })
        .collect();
    if let Some(name) = &arguments.write {
        return write(project, &tried, name, arguments);
    }
    let output = if as_json {
        report_document(&report_of(&tried, arguments.diff))
    } else {
        text(&tried, arguments.diff)
    };
    let notices = if name.is_none() { report::left_out(project) } else { Vec::new() };
    Ok(Outcome { errors: report::notices(&notices), ..Outcome::passed(output) })
}

fn unknown(id: &str) -> String {
    let known: Vec<&str> = rules().iter().map(|rule| rule.id).collect();
    format!("unknown rule `{}`; expected one of {}", visible(id), known.join(", "))
}

fn text(tried: &[RuleResult<'_>], diff: bool) -> String {
    let mut text = String::new();
    let mut kernel: Option<&Kernel> = None;
    for each in tried {
        if kernel.map(|kernel| &kernel.name) != Some(&each.kernel.name) {
            kernel = Some(each.kernel);
            text += &format!(
                "{STRONG}{}{STRONG:#} {DIM}· {}{DIM:#}\n",
                visible(&each.kernel.name),
                visible(&each.kernel.launch.title)
            );
        }
        text += &rule_text(each, diff);
    }
    text + "\n`lightbench suggest PROJECT --kernel NAME --rule ID --write NEW` writes a rewrite as kernels/NEW.cu\n"
}

fn rule_text(tried: &RuleResult<'_>, diff: bool) -> String {
    let Rule { id, title, reason, .. } = tried.rule;
    let rewrites = match &tried.found {
        Err(why) => return format!("  {DIM}– {id}: {}{DIM:#}\n", visible_lines(&why.to_string())),
        Ok(rewrites) => rewrites,
    };
    let mut text = format!(
        "  {GOOD}✓{GOOD:#} {STRONG}{id}{STRONG:#}: {title}{}\n      {reason}\n",
        expected(tried.rule)
    );
    for (index, rewrite) in rewrites.iter().enumerate() {
        text += &format!("      {}  {}\n", index + 1, visible_lines(&rewrite.what));
        if diff {
            for line in unified(tried.kernel, rewrite).lines() {
                text += &format!("         {}\n", visible(line));
            }
        }
    }
    text
}

/// Tier and expected gain from the playbook.
fn expected(rule: &Rule) -> String {
    let of = |technique: &Technique| {
        format!(" {DIM}· {} · {}{DIM:#}", tier(technique.tier), gain(&technique.gain))
    };
    rule.playbook().map_or_else(String::new, of)
}

fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Launch => "launch",
        Tier::Memory => "memory",
        Tier::Compute => "compute",
        Tier::Overlap => "overlap",
        Tier::Architecture => "architecture",
        Tier::Algorithm => "algorithm",
    }
}

fn gain(gain: &Gain) -> String {
    match gain {
        Gain::Reported { from, to, .. } => {
            format!("{from} to {to} times as fast, as reported elsewhere")
        }
        Gain::UpTo { .. } => "as much waste as a run's counters show".to_owned(),
    }
}

fn unified(kernel: &Kernel, rewrite: &Rewrite) -> String {
    changes(kernel, &rewrite.apply(&kernel.source))
}

/// The changes to a kernel file.
fn changes(kernel: &Kernel, after: &str) -> String {
    let name = kernel.file.display().to_string();
    let diff = TextDiff::from_lines(kernel.source.as_str(), after);
    diff.unified_diff().context_radius(CONTEXT).header(&name, &name).to_string()
}

fn report_of(tried: &[RuleResult<'_>], diff: bool) -> SuggestReport {
    let rules = tried.iter().map(|each| tried_rule(each, diff)).collect();
    SuggestReport { schema: SuggestSchema::V1, result: SuggestResult::Rules { rules } }
}

fn tried_rule(tried: &RuleResult<'_>, diff: bool) -> TriedRule {
    let technique = tried.rule.playbook();
    TriedRule {
        kernel: tried.kernel.name.clone(),
        rule: tried.rule.id.to_owned(),
        title: tried.rule.title.to_owned(),
        reason: tried.rule.reason.to_owned(),
        needs: tried.rule.needs.to_owned(),
        technique: tried.rule.technique.to_owned(),
        tier: technique.map(|technique| tier(technique.tier).to_owned()),
        gain: technique.map(|technique| gain(&technique.gain)),
        applies: tried.found.is_ok(),
        result: match &tried.found {
            Err(why) => TriedRuleResult::Missing { missing: why.to_string() },
            Ok(rewrites) => TriedRuleResult::Places {
                places: rewrites.iter().map(|each| place(tried.kernel, each, diff)).collect(),
            },
        },
    }
}

fn place(kernel: &Kernel, rewrite: &Rewrite, diff: bool) -> RewritePlace {
    let edit = |edit: &Edit| RewriteEdit {
        start: edit.range.start,
        end: edit.range.end,
        replacement: edit.replacement.clone(),
    };
    RewritePlace {
        what: rewrite.what.clone(),
        line: rewrite.line,
        edits: rewrite.edits.iter().map(edit).collect(),
        diff: diff.then(|| unified(kernel, rewrite)),
    }
}

fn write(
    project: &Project,
    tried: &[RuleResult<'_>],
    name: &str,
    arguments: &args::Suggest,
) -> Result<Outcome, Outcome> {
    let refuse = |error: String| report::request(&error, arguments.json);
    let only = match tried {
        [only] => only,
        _ => return Err(refuse("several kernels; choose one with --kernel NAME".to_owned())),
    };
    let rewrites = only
        .found
        .as_ref()
        .map_err(|why| refuse(format!("`{}` does not apply: {why}", only.rule.id)))?;
    let rewrite =
        arguments.place.checked_sub(1).and_then(|index| rewrites.get(index)).ok_or_else(|| {
            refuse(format!(
                "--place {}: `{}` has {} application sites here, counted from 1",
                arguments.place,
                only.rule.id,
                rewrites.len()
            ))
        })?;
    may_be_called(project, name).map_err(&refuse)?;
    let kernel = rewritten(project, only.kernel, rewrite, name).map_err(|problems| {
        let first = problems.first().map_or_else(String::new, ToString::to_string);
        refuse(format!("the rewritten kernel is invalid in this project: {first}"))
    })?;
    let path = project.root.join(&kernel.file);
    whole_file::create(&path, kernel.source.as_bytes())
        .map_err(|error| report::unwritten(&path, &error, arguments.json))?;
    let shown = visible(&path.display().to_string()).into_owned();
    let output = if arguments.json {
        let result = SuggestResult::Written { written: shown, what: rewrite.what.clone() };
        report_document(&SuggestReport { schema: SuggestSchema::V1, result })
    } else {
        format!(
            "wrote {shown}: {}\n\nnext: lightbench run {} --kernel {}\n",
            visible_lines(&rewrite.what),
            visible(&project.root.display().to_string()),
            visible(name)
        )
    };
    Ok(Outcome::passed(output))
}
