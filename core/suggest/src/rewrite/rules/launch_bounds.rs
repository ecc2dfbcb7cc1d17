//! `__launch_bounds__`: the size of a block, and the number of resident blocks of a multiprocessor.

use lightbench_project::expression::Expression;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::named;

pub(in super::super) const RULE: Rule = Rule {
    id: "launch-bounds",
    title: "tell the compiler the size of the block",
    reason: "without it registers are given out as for 1,024 threads a block",
    needs: "a kernel without `__launch_bounds__` whose block is made of numbers and parameters",
    technique: "fewer-registers",
    apply,
};

pub(in super::super) const RESIDENCE: Rule = Rule {
    id: "resident-blocks",
    title: "ask for room for several blocks on a multiprocessor",
    reason: "the compiler then bounds the registers of a thread, and more warps hide more waiting",
    needs: "`__launch_bounds__` with one argument, and a block made of numbers and parameters",
    technique: "fewer-registers",
    apply: residence,
};

/// Threads that a multiprocessor of compute capability 8.0, 9.0 or 10.0 holds; CUDA C++ Programming Guide, table of
/// technical specifications.
const RESIDENT_THREADS: u32 = 2048;

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let line = function.line(function.node);
        if function.launch_bounds().is_some() {
            let what = function.name.to_owned();
            found.refuse(line, Missing::Already { what, has: "`__launch_bounds__`" });
            continue;
        }
        let Some(place) = function.place_of_launch_bounds() else { continue };
        let told = threads(&function).map(|(code, _)| {
            let edit = Edit::insert(place, format!("__launch_bounds__({code}) "));
            let what = format!("`{}` is compiled for blocks of {code} threads", function.name);
            Rewrite::new(what, line, vec![edit])
        });
        found.add(line, told);
    }
    found.finish("launched kernel")
}

fn residence(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        found.add(function.line(function.node), resident(&function));
    }
    found.finish("launched kernel")
}

fn resident(function: &Function<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let expected = "`__launch_bounds__` with one argument";
    let Some(bounds) = function.launch_bounds() else {
        return Err(Missing::Form { found: function.name.to_owned(), expected });
    };
    let only = match named(bounds).as_slice() {
        [only] => *only,
        _ => {
            let what = function.name.to_owned();
            return Err(Missing::Already { what, has: "a number of resident blocks" });
        }
    };
    let (_, formula) = threads(function)?;
    let name = subject.fresh("MIN_BLOCKS");
    let edits = vec![
        Edit::insert(only.end_byte(), format!(", PARAM_{name}")),
        subject.new_parameter(&name, &[2, 1, 4, 8])?,
        subject.new_condition(&format!("{formula} * {name} <= {RESIDENT_THREADS} or {name} == 1")),
    ];
    let line = function.line(function.node);
    let what = format!("`{}` leaves room for `{name}` blocks on a multiprocessor", function.name);
    Ok(Rewrite::new(what, line, edits))
}

/// The threads of a block, in code and as an expression of the launch block; the same for all launches.
fn threads(function: &Function<'_>) -> Result<(String, String), Missing> {
    let mut all = function.sites.iter().map(|site| {
        let sizes: Option<Vec<(String, String)>> =
            site.step.block.iter().map(|size| factor(function, size)).collect();
        sizes.map(|sizes| {
            let join = |pick: fn(&(String, String)) -> &str| {
                sizes.iter().map(pick).filter(|text| *text != "1").collect::<Vec<_>>().join(" * ")
            };
            (join(|(code, _)| code), join(|(_, formula)| formula))
        })
    });
    let first = all.next().flatten();
    let written: Vec<&str> = function
        .sites
        .iter()
        .flat_map(|site| site.step.block.iter().map(Expression::text))
        .collect();
    let form = || Missing::Form {
        found: written.join(", "),
        expected: "one block for all launches, made of numbers and parameters",
    };
    let (code, formula) = first.clone().ok_or_else(form)?;
    if all.any(|other| other != first) || code.is_empty() {
        return Err(form());
    }
    Ok((code, formula))
}

/// A size in code and in the launch block; none where it is about more than numbers and parameters.
fn factor(function: &Function<'_>, size: &Expression) -> Option<(String, String)> {
    let text = size.text();
    let parameters = &function.subject.launch.parameters;
    let is_parameter = |name: &str| parameters.iter().any(|each| each.name == name);
    let is_simple =
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || " _*+-()".contains(letter));
    if !is_simple
        || text.contains("**")
        || !size.names().into_iter().all(is_parameter)
        || text.contains("min(")
        || text.contains("max(")
    {
        return None;
    }
    let mut code = String::new();
    let is_word = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| is_word(letter) != is_word(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if is_parameter(word) {
            code.push_str("PARAM_");
        }
        code.push_str(word);
        rest = after;
    }
    let wrap = |text: String| if text.contains(['+', '-']) { format!("({text})") } else { text };
    Some((wrap(code), wrap(text.to_owned())))
}
