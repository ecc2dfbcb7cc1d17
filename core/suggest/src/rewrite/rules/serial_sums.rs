//! Sums of several elements in each thread before a tree in shared memory.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::canonical::Canonical;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Local};
use super::super::kernel_source::KernelSource;
use super::super::loops::{is_invariant, loops};
use super::super::pointers::{Access, elements};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::is_zero;
use super::super::syntax::{all, bare, contains, enclosing, named, part};
use super::super::thread_index::only_index;
use super::coarsen::{check_grids, check_range, taken_out};
use super::private_counts::grid;
use super::tiles::form;
use super::warp_reduction::{Tree, check, element, tree};

pub(in super::super) const RULE: Rule = Rule {
    id: "serial-sums",
    title: "add several elements in each thread before the tree",
    reason: "a thread adds its elements without a barrier, and fewer blocks have a tree and an atomic operation",
    needs: "`a[threadIdx.x] = i < n ? … : 0;` of the only index `blockIdx.x * block + threadIdx.x`, a tree of sums, and `atomicAdd(…, a[0])`",
    technique: "more-work-per-thread",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in loops(&function) {
            if let Some(tree) = tree(&function, node) {
                found.add(function.line(node), summed(&function, &tree));
            }
        }
    }
    found
        .finish("tree in shared memory: a loop that halves a stride and adds what is that far away")
}

/// The statement that gives the tree one element of each thread.
struct Leaf<'s> {
    statement: Node<'s>,
    condition: Node<'s>,
    value: Node<'s>,
    end: Node<'s>,
}

fn summed(function: &Function<'_>, tree: &Tree<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    if let Some(choice) = tree.choice {
        let found = choice.to_owned();
        return Err(Missing::Form { found, expected: "a tree of sums" });
    }
    check(function, tree)?;
    check_grids(function)?;
    let index = only_index(function, &["blockIdx", "gridDim"])?;
    let leaf = leaf(function, tree, &index)?;
    check_range(function, &index, leaf.end)?;
    check_results(function, tree)?;
    let (mut edits, start) = taken_out(function, &index);
    let sum = subject.fresh("thread_sum");
    let (name, kind, type_name) = (index.name, index.type_name, tree.type_name);
    let indentation = subject.indentation(leaf.statement.start_byte());
    let text = format!(
        "{type_name} {sum} = 0;\n\
         {indentation}for ({start}; {condition}; {name} += static_cast<{kind}>(gridDim.x) * blockDim.x) {{\n\
         {indentation}    {sum} += {value};\n{indentation}}}\n\
         {indentation}{array}[threadIdx.x] = {sum};",
        condition = subject.of_node(leaf.condition),
        value = subject.of_node(leaf.value),
        array = tree.array,
    );
    edits.push(Edit::replace(leaf.statement.byte_range(), text));
    edits.extend(grid(function)?);
    let line = function.line(leaf.statement);
    Ok(Rewrite::new(format!("a thread adds several elements in line {line}"), line, edits))
}

/// The statement, if it alone uses the index and alone sets elements of the array outside the tree.
fn leaf<'s>(
    function: &Function<'s>,
    tree: &Tree<'s>,
    index: &Local<'s>,
) -> Result<Leaf<'s>, Missing> {
    let subject = function.subject;
    let expected = "`a[threadIdx.x] = i < n ? … : 0;` before the tree";
    let used = function.uses(index.name, function.body);
    let first = used.first().copied().unwrap_or(tree.node);
    let statement = enclosing(first, &["expression_statement"]);
    let refused = || form(function, statement.unwrap_or(first), expected);
    let statement = statement.ok_or_else(refused)?;
    let assignment = named(statement).first().copied().ok_or_else(refused)?;
    let target = part(assignment, "left").and_then(|left| element(function, left));
    let operator = part(assignment, "operator").map(|node| subject.of_node(node));
    let chosen = part(assignment, "right").map(bare).ok_or_else(refused)?;
    let fields =
        [part(chosen, "condition"), part(chosen, "consequence"), part(chosen, "alternative")];
    let ([Some(condition), Some(value), Some(neutral)], "conditional_expression") =
        (fields, chosen.kind())
    else {
        return Err(refused());
    };
    let condition = bare(condition);
    let sides = part(condition, "left").zip(part(condition, "right")).ok_or_else(refused)?;
    let is_below = part(condition, "operator").map(|node| subject.of_node(node)) == Some("<");
    let is_zero = is_zero(subject.of_node(neutral));
    let in_body = statement.parent().map(|node| node.id()) == Some(function.body.id());
    let fits = target == Some((tree.array, Canonical::name("threadIdx.x")))
        && operator == Some("=")
        && is_below
        && is_zero
        && in_body
        && subject.of_node(sides.0) == index.name
        && is_invariant(function, sides.1, function.body)
        && used.iter().all(|node| contains(statement, *node))
        && statement.start_byte() < tree.node.start_byte();
    if !fits {
        return Err(refused());
    }
    if let Some(call) = function.meeting(value) {
        let why = "it may synchronise threads or read thread indices";
        return Err(Missing::Contains { what: call.to_owned(), why });
    }
    Ok(Leaf { statement, condition, value, end: sides.1 })
}

/// Checks that nothing sets the array but the leaf and the tree, that its sum is only added to one place, and that blocks
/// write nothing else: there will be fewer of them.
fn check_results(function: &Function<'_>, tree: &Tree<'_>) -> Result<(), Missing> {
    let subject = function.subject;
    let other_use = |node: Node<'_>| Missing::OtherUse {
        name: tree.array.to_owned(),
        used: subject.line_of(node),
    };
    let is_write = |(name, _): &(&str, Node<'_>)| name.starts_with("atomic");
    let mut atomics = function.calls(function.body).into_iter().filter(is_write).skip(1);
    let written = elements(function, function.body).into_iter();
    let mut written = written.filter(|element| element.access != Access::Load);
    let also = atomics.next().map(|(_, call)| call);
    if let Some(node) = also.or_else(|| written.next().map(|element| element.node)) {
        return Err(Missing::Contains {
            what: subject.line_of(node),
            why: "what each block writes would be written less often",
        });
    }
    let mut leaves = 0;
    for node in function.uses(tree.array, function.body) {
        if contains(tree.node, node) {
            continue;
        }
        let access = node.parent().unwrap_or(node);
        let around = access.parent().unwrap_or(access);
        let is_set = around.kind() == "assignment_expression";
        let call = around.parent().filter(|_| around.kind() == "argument_list");
        let callee = call.and_then(|call| part(call, "function")).map(|node| subject.of_node(node));
        let arguments = named(around);
        let is_added = callee == Some("atomicAdd")
            && matches!(arguments.as_slice(), [target, sum]
                if sum.id() == access.id() && all(*target, &["field_expression"]).is_empty())
            && around.start_byte() > tree.node.end_byte();
        leaves += usize::from(is_set);
        if !is_set && !is_added || leaves > 1 {
            return Err(other_use(around));
        }
    }
    Ok(())
}
