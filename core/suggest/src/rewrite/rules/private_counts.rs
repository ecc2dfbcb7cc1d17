//! Privatised counters: each block counts in shared memory and adds its counts to global memory.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::bounds::length;
use super::super::condition::negated;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Parameter};
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::ScalarType;
use super::super::syntax::{all, bare, contains, in_lambda, is_return, named, part, statements};
use super::coarsen::{Stride, strided};

pub(in super::super) const RULE: Rule = Rule {
    id: "private-counts",
    title: "count in shared memory first",
    reason: "atomics of a block are near and only its own threads compete; one for each counter and block is left for all",
    needs: "statements `atomicAdd(&counts[…], …);` on whole numbers that nothing else in the kernel touches, at most 48 KiB of them, and an end of the kernel that all threads can reach",
    technique: "private-counts",
    apply,
};

/// Static shared memory of a block.
const STATIC_BYTES: i128 = 48 * 1024;

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for (index, parameter) in function.parameters.iter().enumerate() {
            let targets = targets(&function, parameter);
            let Some(first) = targets.first() else { continue };
            if let Err(missing) = private(&function, index, &targets, &mut found) {
                found.refuse(function.line(first.name), missing);
            }
        }
    }
    found.finish("`atomicAdd` on an array that a launched kernel is given")
}

/// One `atomicAdd` on a parameter.
struct Target<'s> {
    call: Node<'s>,
    /// The parameter's name in it.
    name: Node<'s>,
    /// The address is the first counter's.
    is_bare: bool,
}

fn targets<'s>(function: &Function<'s>, parameter: &Parameter<'s>) -> Vec<Target<'s>> {
    let calls = function.calls(function.body).into_iter();
    let calls = calls.filter(|(name, _)| *name == "atomicAdd").map(|(_, call)| call);
    calls
        .filter_map(|call| {
            let address = bare(named(part(call, "arguments")?).first().copied()?);
            let (name, is_bare) = counted(function, address)?;
            let same = function.subject.of_node(name) == parameter.name
                && function.local(parameter.name, name).is_none();
            (same && parameter.is_pointer).then_some(Target { call, name, is_bare })
        })
        .collect()
}

/// The array in `&counts[i]`, `counts + i` and `counts`.
fn counted<'s>(function: &Function<'s>, address: Node<'s>) -> Option<(Node<'s>, bool)> {
    let sign = |node: Node<'_>| part(node, "operator").map(|node| function.subject.of_node(node));
    let name = match address.kind() {
        "pointer_expression" if sign(address) == Some("&") => {
            let element = bare(part(address, "argument")?);
            part(element, "argument").filter(|_| element.kind() == "subscript_expression")?
        }
        "binary_expression" if sign(address) == Some("+") => part(address, "left")?,
        _ => address,
    };
    (name.kind() == "identifier").then_some((name, name.id() == address.id()))
}

/// How many copies a block has.
enum Copies {
    One,
    /// One copy for a number of threads, a parameter with these values.
    Several {
        name: String,
        values: Vec<i64>,
    },
}

fn private<'s>(
    function: &Function<'s>,
    index: usize,
    targets: &[Target<'s>],
    found: &mut Findings,
) -> Result<(), Missing> {
    let parameter = function
        .parameters
        .get(index)
        .ok_or(Missing::Unbounded { what: function.name.to_owned() })?;
    check_uses(function, parameter, targets)?;
    let count = count(function, index, parameter)?;
    found.offer(counted_apart(function, parameter, targets, count, &Copies::One)?);
    let room = STATIC_BYTES / (odd(count) * bytes(parameter));
    let values: Vec<i64> =
        [8, 4, 16, 2].into_iter().filter(|copies| i128::from(*copies) <= room).collect();
    if !values.is_empty() {
        let name = function.subject.fresh("COPIES");
        let copies = Copies::Several { name, values };
        found.offer(counted_apart(function, parameter, targets, count, &copies)?);
    }
    Ok(())
}

fn counted_apart<'s>(
    function: &Function<'s>,
    parameter: &Parameter<'s>,
    targets: &[Target<'s>],
    count: i128,
    copies: &Copies,
) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let array = subject.fresh(&format!("block_{}", parameter.name));
    // With one element for each thread there is hardly anything to collect: a loop makes the block's share larger.
    let (mut edits, rest) = match strided(function) {
        Ok(Stride { edits, .. }) => (edits, grid(function)?),
        Err(_) => (reachable_end(function)?, Vec::new()),
    };
    let (own, whose) = match copies {
        Copies::One => (array.clone(), "a copy".to_owned()),
        Copies::Several { name, values } => {
            edits.push(subject.new_parameter(name, values)?);
            (subject.fresh(&format!("own_{}", parameter.name)), format!("`{name}` copies"))
        }
    };
    edits.extend(targets.iter().map(|target| {
        let text = if target.is_bare { format!("&{own}[0]") } else { own.clone() };
        Edit::replace(target.name.byte_range(), text)
    }));
    edits.extend(around(function, parameter, (&array, &own), count, copies)?);
    edits.extend(rest);
    let line = targets.first().map_or(1, |target| function.line(target.name));
    let what = format!("a block counts in {whose} of `{}` (line {line})", parameter.name);
    Ok(Rewrite::new(what, line, edits))
}

/// With an odd distance between copies, the same counter lies in different banks.
fn odd(count: i128) -> i128 {
    count | 1
}

fn bytes(parameter: &Parameter<'_>) -> i128 {
    let is_wide = ScalarType::named(parameter.type_name).is_some_and(ScalarType::is_wide_integer);
    if is_wide { 8 } else { 4 }
}

/// Atomic additions whose old values are unused, on a type for which their order does not matter.
fn check_uses<'s>(
    function: &Function<'s>,
    parameter: &Parameter<'s>,
    targets: &[Target<'s>],
) -> Result<(), Missing> {
    let subject = function.subject;
    let number = ScalarType::named(parameter.type_name);
    if !matches!(number, Some(ScalarType::I32 | ScalarType::U32 | ScalarType::U64)) {
        return Err(Missing::Form {
            found: format!("{} {}", parameter.type_name, parameter.name),
            expected: "counters of a whole type, for which the order of additions does not matter",
        });
    }
    for node in function.uses(parameter.name, function.body) {
        if !targets.iter().any(|target| target.name.id() == node.id()) {
            let outer = node.parent().map_or(node, |outer| outer.parent().unwrap_or(outer));
            let used = subject.line_of(outer).chars().take(60).collect();
            return Err(Missing::OtherUse { name: parameter.name.to_owned(), used });
        }
    }
    for Target { call, .. } in targets {
        let outer = call.parent().unwrap_or(*call);
        if outer.kind() != "expression_statement" {
            let used = subject.line_of(outer).chars().take(60).collect();
            return Err(Missing::OtherUse { name: "atomicAdd".to_owned(), used });
        }
    }
    if let Some(other) = parameter.twin(function) {
        return Err(Missing::SameMemory {
            name: parameter.name.to_owned(),
            other: other.to_owned(),
        });
    }
    let shared = all(function.body, &["declaration"])
        .into_iter()
        .find(|node| subject.of_node(*node).contains("__shared__"));
    match shared {
        Some(node) => Err(Missing::Contains {
            what: subject.line_of(node).chars().take(60).collect(),
            why: "shared memory is taken, and barriers separate its uses",
        }),
        None => Ok(()),
    }
}

/// The most counters that there are.
fn count(
    function: &Function<'_>,
    index: usize,
    parameter: &Parameter<'_>,
) -> Result<i128, Missing> {
    let what = parameter.name.to_owned();
    let (_, most) = length(function, index).ok_or(Missing::Unbounded { what: what.clone() })?;
    let limit = STATIC_BYTES / bytes(parameter);
    if most > limit {
        return Err(Missing::TooLarge { what: format!("length of {what}"), most, limit });
    }
    Ok(most.max(1))
}

/// Grids of `BLOCKS_PER_SM` blocks per multiprocessor, or fewer where a block would have less than `ITEMS` elements per thread.
pub(super) fn grid(function: &Function<'_>) -> Result<Vec<Edit>, Missing> {
    let subject = function.subject;
    let (items, blocks) = (subject.fresh("ITEMS"), subject.fresh("BLOCKS_PER_SM"));
    let mut edits = Vec::new();
    for site in &function.sites {
        if let Some(grid) = site.step.grid.first() {
            let fewer = format!("min(ceil_div({}, {items}), {blocks} * device.sms)", grid.text());
            edits.push(subject.new_size(site.size("grid", 0), &fewer));
        }
    }
    edits.push(subject.new_parameter(&items, &[16, 4, 64, 1])?);
    edits.push(subject.new_parameter(&blocks, &[8, 4, 2, 16])?);
    Ok(edits)
}

/// Guards that leave the kernel become conditions around what follows them.
fn reachable_end(function: &Function<'_>) -> Result<Vec<Edit>, Missing> {
    let subject = function.subject;
    let body = statements(function.body);
    let mut edits = Vec::new();
    for node in all(function.body, &["return_statement"]) {
        if in_lambda(node) {
            continue;
        }
        let leaves = || Missing::Contains {
            what: subject.line_of(node),
            why: "threads that return do not reach the barrier at the end",
        };
        let at = body.iter().position(|statement| contains(*statement, node)).ok_or_else(leaves)?;
        let guard = body.get(at).copied().ok_or_else(leaves)?;
        let condition = part(guard, "condition").filter(|_| is_guard(guard)).ok_or_else(leaves)?;
        let rest = body.get(at + 1..).unwrap_or_default();
        let Some((first, last)) = rest.first().zip(rest.last()) else {
            edits.push(Edit::replace(subject.whole_line(guard), ""));
            continue;
        };
        if let Some(call) = rest.iter().find_map(|node| function.meeting(*node)) {
            return Err(Missing::Contains {
                what: call.to_owned(),
                why: "a barrier follows a guard at which some threads return",
            });
        }
        let head = format!("if ({}) {{", negated(function, condition));
        edits.push(Edit::replace(guard.byte_range(), head));
        edits.extend(subject.moved_right(first.start_byte()..last.end_byte()));
        let indentation = subject.indentation(guard.start_byte());
        edits.push(Edit::insert(last.end_byte(), format!("\n{indentation}}}")));
    }
    Ok(edits)
}

/// `if (…) return;` without an `else`.
fn is_guard(node: Node<'_>) -> bool {
    node.kind() == "if_statement"
        && part(node, "alternative").is_none()
        && part(node, "consequence").is_some_and(is_return)
}

/// The copies, empty, before everything; what they hold, added to all, behind it.
fn around(
    function: &Function<'_>,
    parameter: &Parameter<'_>,
    (array, own): (&str, &str),
    count: i128,
    copies: &Copies,
) -> Result<Vec<Edit>, Missing> {
    let subject = function.subject;
    let body = statements(function.body);
    let last = body.last().ok_or_else(|| Missing::Form {
        found: function.name.to_owned(),
        expected: "a kernel with statements",
    })?;
    let (kind, name) = (parameter.type_name, parameter.name);
    let (thread, threads) = threads(function);
    let place = subject.fresh("place");
    let indentation = format!("{}    ", subject.indentation(function.body.end_byte()));
    let inner = format!("{indentation}    ");
    let turns = |size: &str| {
        format!("for (int {place} = {thread}; {place} < {size}; {place} += {threads}) {{\n")
    };
    let added = |value: &str| {
        format!(
            "{inner}if ({value} != 0) {{\n\
             {inner}    atomicAdd(&{name}[{place}], {value});\n{inner}}}\n{indentation}}}"
        )
    };
    let (size, chosen, sum) = match copies {
        Copies::One => (count.to_string(), String::new(), added(&format!("{array}[{place}]"))),
        Copies::Several { name: copies, .. } => {
            let (stride, copy, sum) = (odd(count), subject.fresh("copy"), subject.fresh("sum"));
            let lane = if thread.contains(' ') { format!("({thread})") } else { thread.to_owned() };
            let chosen = format!(
                "\n{indentation}{kind}* {own} = {array} + {lane} % PARAM_{copies} * {stride};"
            );
            let sums = format!(
                "{inner}{kind} {sum} = 0;\n\
                 {inner}for (int {copy} = 0; {copy} < PARAM_{copies}; ++{copy}) {{\n\
                 {inner}    {sum} += {array}[{copy} * {stride} + {place}];\n{inner}}}\n{}",
                added(&sum)
            );
            (format!("PARAM_{copies} * {stride}"), chosen, sums)
        }
    };
    let before = format!(
        "\n{indentation}__shared__ {kind} {array}[{size}];{chosen}\n{indentation}{}\
         {inner}{array}[{place}] = 0;\n{indentation}}}\n{indentation}__syncthreads();",
        turns(&size)
    );
    let after =
        format!("\n{indentation}__syncthreads();\n{indentation}{}{sum}", turns(&count.to_string()));
    Ok(vec![
        Edit::insert(function.body.start_byte() + 1, before),
        Edit::insert(last.end_byte(), after),
    ])
}

/// The number of a thread in its block, and how many there are.
fn threads(function: &Function<'_>) -> (&'static str, &'static str) {
    let sizes = function.sites.iter().map(|site| site.step.block.len());
    match sizes.max().unwrap_or(1) {
        0 | 1 => ("threadIdx.x", "blockDim.x"),
        2 => ("threadIdx.y * blockDim.x + threadIdx.x", "blockDim.x * blockDim.y"),
        _ => (
            "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x",
            "blockDim.x * blockDim.y * blockDim.z",
        ),
    }
}
