//! A literal block size, in the launch and in the code, replaced by a parameter.

use lightbench_cuda_source::{Node, is_kernel};

use super::super::Rule;
use super::super::canonical::cast_operand;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::{all, ancestors, bare, contains, named, part};

pub(in super::super) const RULE: Rule = Rule {
    id: "block-parameter",
    title: "make the size of the block a parameter",
    reason: "the best size depends on registers, shared memory and the device; a parameter can be tuned",
    needs: "a block size written as a number, and every such number in the code in the part of a block size",
    technique: "larger-blocks",
    apply,
};

/// Sizes to try besides the literal one.
const SIZES: [i64; 5] = [128, 256, 64, 512, 1024];

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let sizes: Vec<Option<i128>> = function
            .sites
            .iter()
            .map(|site| site.step.block.first().and_then(|size| size.as_integer()))
            .collect();
        if let Some(Some(size)) = sizes.first()
            && sizes.iter().all(|other| *other == Some(*size))
        {
            found.add(function.line(function.node), parameter(&function, *size));
        }
    }
    found.finish("launch whose block is written as a number")
}

fn parameter(function: &Function<'_>, size: i128) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let number = size.to_string();
    let line = function.line(function.node);
    if function.dimensions() != 1 || size < 32 {
        let found = format!("a block of {number} in {} dimensions", function.dimensions());
        return Err(Missing::Form {
            found,
            expected: "a block of one dimension, of at least a warp",
        });
    }
    if subject.of_node(function.body).contains("__shared__") {
        let what = "__shared__".to_owned();
        return Err(Missing::Contains { what, why: "how much is needed may depend on the block" });
    }
    if subject.has_own_includes() {
        let what = "#include \"…\"".to_owned();
        return Err(Missing::Contains { what, why: "the included file may contain the size too" });
    }
    let name = subject.fresh("BLOCK");
    let literals = literals(subject, function, size)?;
    let uses_place = subject.of_node(function.body).contains("blockDim.x")
        || literals
            .iter()
            .any(|node| node.parent().is_some_and(|outer| outer.kind() == "binary_expression"));
    let mut edits: Vec<Edit> = literals
        .iter()
        .map(|node| Edit::replace(node.byte_range(), typed(subject.of_node(*node), &name)))
        .collect();
    for site in &function.sites {
        edits.push(subject.new_size(site.size("block", 0), &name));
        edits.extend(grid(subject, site, &number, &name, uses_place)?);
        edits.extend(template(subject, function, site, &number, &name)?);
        let shared = site.step.shared.text();
        if replaced(shared, &number, &name).is_some() {
            return Err(Missing::OtherUse { name: number, used: shared.to_owned() });
        }
    }
    let mut values = vec![i64::try_from(size).unwrap_or(i64::MAX)];
    values.extend(SIZES.into_iter().filter(|other| i128::from(*other) != size));
    edits.push(subject.new_parameter(&name, &values)?);
    let what = format!("the block of `{}` has `{name}` threads instead of {number}", function.name);
    Ok(Rewrite::new(what, line, edits))
}

/// The parameter in the type that the number had.
fn typed(literal: &str, name: &str) -> String {
    let suffix =
        literal.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_ascii_lowercase();
    let kind = match (suffix.contains('u'), suffix.contains('l')) {
        (false, false) => return format!("PARAM_{name}"),
        (true, false) => "unsigned int",
        (false, true) => "long long",
        (true, true) => "unsigned long long",
    };
    format!("static_cast<{kind}>(PARAM_{name})")
}

/// The numbers of the code that are the block's size; any other of the same value may be it, too.
fn literals<'s>(
    subject: &'s KernelSource<'_>,
    function: &Function<'s>,
    size: i128,
) -> Result<Vec<Node<'s>>, Missing> {
    let mut found = Vec::new();
    for node in all(subject.root(), &["number_literal"]) {
        let digits = subject.of_node(node).trim_end_matches(['u', 'U', 'l', 'L']);
        if digits.parse::<i128>().ok() != Some(size) {
            continue;
        }
        let is_size = contains(function.outer, node) && is_block_size(function, node);
        // What functions of the device compute with, kernels call.
        let is_elsewhere = ancestors(node).any(|outer| {
            outer.kind() == "function_definition"
                && outer.id() != function.node.id()
                && is_kernel(outer)
        });
        if is_size {
            found.push(node);
        } else if !is_elsewhere {
            let used = node.parent().map_or_else(String::new, |outer| {
                subject.line_of(outer).chars().take(60).collect()
            });
            return Err(Missing::OtherUse { name: size.to_string(), used });
        }
    }
    Ok(found)
}

/// In `__launch_bounds__`, as a factor of `blockIdx.x`, or as the increment of a loop over threads.
fn is_block_size(function: &Function<'_>, node: Node<'_>) -> bool {
    let subject = function.subject;
    let Some(outer) = node.parent() else { return false };
    match outer.kind() {
        "launch_bounds" => named(outer).first().map(|first| first.id()) == Some(node.id()),
        "binary_expression" => {
            let is_product = part(outer, "operator").map(|node| subject.of_node(node)) == Some("*");
            let sides = [part(outer, "left"), part(outer, "right")];
            let other = sides.into_iter().flatten().find(|side| side.id() != node.id());
            let other = other.map(bare).map(|other| cast_operand(function, other).unwrap_or(other));
            let written = other.map_or("", |other| subject.of_node(other));
            is_product && matches!(written, "blockIdx.x" | "gridDim.x")
        }
        "assignment_expression" => {
            let around = outer.parent().filter(|around| around.kind() == "for_statement");
            let is_update = around.and_then(|around| part(around, "update")).map(|node| node.id())
                == Some(outer.id());
            let start = around.and_then(|around| part(around, "initializer"));
            is_update && start.is_some_and(|start| subject.of_node(start).contains("threadIdx.x"))
        }
        _ => false,
    }
}

fn grid(
    subject: &KernelSource<'_>,
    site: &super::super::kernel_source::Site<'_>,
    number: &str,
    name: &str,
    needed: bool,
) -> Result<Option<Edit>, Missing> {
    let text = site.step.grid.first().map_or("", |grid| grid.text());
    match replaced(text, number, name) {
        Some(changed) => Ok(Some(subject.new_size(site.size("grid", 0), &changed))),
        None if needed => Err(Missing::Form {
            found: text.to_owned(),
            expected: "a grid in which the block's size is written, too",
        }),
        None => Ok(None),
    }
}

/// `f<128>` where the template's parameter is what `__launch_bounds__` names.
fn template(
    subject: &KernelSource<'_>,
    function: &Function<'_>,
    site: &super::super::kernel_source::Site<'_>,
    number: &str,
    name: &str,
) -> Result<Option<Edit>, Missing> {
    let text = site.step.kernel.text();
    let Some((base, list)) = text.split_once('<') else { return Ok(None) };
    let arguments: Vec<&str> = list.trim_end_matches('>').split(',').map(str::trim).collect();
    if !arguments.contains(&number) {
        return Ok(None);
    }
    let bounds = function.launch_bounds();
    let bound = bounds
        .and_then(|bounds| named(bounds).first().copied())
        .map_or("", |node| subject.of_node(node));
    let index = function.templates.iter().position(|template| *template == bound);
    let is_only = arguments.iter().filter(|argument| **argument == number).count() == 1;
    if !is_only || index.and_then(|index| arguments.get(index)) != Some(&number) {
        return Err(Missing::OtherUse { name: number.to_owned(), used: text.to_owned() });
    }
    let changed: Vec<String> = arguments
        .iter()
        .map(
            |argument| {
                if *argument == number { format!("PARAM_{name}") } else { (*argument).to_owned() }
            },
        )
        .collect();
    let changed = format!("{base}<{}>", changed.join(", "));
    Ok(Some(subject.new_size(site.at.field("kernel"), &changed)))
}

/// The expression with a whole number or name replaced by a name; none where it does not stand there.
pub(super) fn replaced(text: &str, number: &str, name: &str) -> Option<String> {
    let is_word = |letter: char| letter == '_' || letter == '.' || letter.is_ascii_alphanumeric();
    let mut changed = String::new();
    let mut found = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| is_word(letter) != is_word(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        found |= word == number;
        changed.push_str(if word == number { name } else { word });
        rest = after;
    }
    found.then_some(changed)
}
