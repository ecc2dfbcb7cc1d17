//! Tree reductions in shared memory whose last rounds, or all but one, become warp shuffles.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::canonical::{Canonical, block_size, canonical};
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{loops, statement_start};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::ScalarType;
use super::super::syntax::{bare, contains, index, named, part, statements};

pub(in super::super) const RULE: Rule = Rule {
    id: "warp-reduction",
    title: "finish a tree in shared memory by shuffles",
    reason: "a round by shuffles needs neither shared memory nor a barrier",
    needs: "a loop that halves a stride from half a block, `if (threadIdx.x < stride) a[threadIdx.x] += a[threadIdx.x + stride];` and a barrier, after which `a[0]` alone is read",
    technique: "warp-shuffles",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in loops(&function) {
            let Some(tree) = tree(&function, node) else { continue };
            match check(&function, &tree) {
                Ok(()) => {
                    found.offer(last_rounds(&function, &tree));
                    if tree.choice.is_none() {
                        found.offer(all_rounds(&function, &tree));
                    }
                }
                Err(missing) => found.refuse(function.line(node), missing),
            }
        }
    }
    found
        .finish("tree in shared memory: a loop that halves a stride and adds what is that far away")
}

/// A tree of the form that is known.
pub(super) struct Tree<'s> {
    pub(super) node: Node<'s>,
    condition: Node<'s>,
    start: Node<'s>,
    stride: &'s str,
    pub(super) array: &'s str,
    pub(super) type_name: &'s str,
    /// `fmaxf` and similar functions; none for a sum.
    pub(super) choice: Option<&'s str>,
}

pub(super) fn tree<'s>(function: &Function<'s>, node: Node<'s>) -> Option<Tree<'s>> {
    let subject = function.subject;
    let declarator = part(part(node, "initializer")?, "declarator")?;
    let stride = subject.of_node(part(declarator, "declarator")?);
    let start = part(declarator, "value")?;
    let squeezed = |node: Node<'_>| subject.of_node(node).split_whitespace().collect::<String>();
    let condition = part(node, "condition")?;
    let goes_on = [format!("{stride}>0"), format!("{stride}>=1"), format!("{stride}!=0")];
    let halves = [format!("{stride}/=2"), format!("{stride}>>=1"), format!("{stride}={stride}/2")];
    if !goes_on.contains(&squeezed(condition)) || !halves.contains(&squeezed(part(node, "update")?))
    {
        return None;
    }
    let body = statements(part(node, "body")?);
    let [guarded, barrier] = body.as_slice() else { return None };
    if guarded.kind() != "if_statement"
        || squeezed(*barrier) != "__syncthreads();"
        || part(*guarded, "alternative").is_some()
    {
        return None;
    }
    let guard = bare(part(*guarded, "condition")?);
    let thread = Canonical::name("threadIdx.x");
    let is_below = part(guard, "operator").map(|node| subject.of_node(node)) == Some("<");
    let is_thread =
        part(guard, "left").map(|node| canonical(function, node)) == Some(thread.clone());
    let is_stride =
        part(guard, "right").map(|node| canonical(function, node)) == Some(Canonical::name(stride));
    let work = statements(part(*guarded, "consequence")?);
    let [only] = work.as_slice() else { return None };
    let assignment =
        named(*only).first().copied().filter(|node| node.kind() == "assignment_expression")?;
    let left = part(assignment, "left")?;
    let array = subject.of_node(part(left, "argument")?);
    let own = |node: Node<'s>| element(function, node) == Some((array, thread.clone()));
    let far = thread.clone().plus(Canonical::name(stride));
    let other = |node: Node<'s>| element(function, node) == Some((array, far.clone()));
    if !is_below || !is_thread || !is_stride || !own(left) {
        return None;
    }
    let right = part(assignment, "right")?;
    let choice = match subject.of_node(part(assignment, "operator")?) {
        "+=" if other(right) => None,
        "=" if right.kind() == "binary_expression" => {
            let is_sum = part(right, "operator").map(|node| subject.of_node(node)) == Some("+");
            let sides = part(right, "left").zip(part(right, "right"));
            sides.filter(|(left, right)| is_sum && own(*left) && other(*right)).map(|_| None)?
        }
        "=" if right.kind() == "call_expression" => {
            let callee = subject.of_node(part(right, "function")?);
            let arguments = named(part(right, "arguments")?);
            let [first, second] = arguments.as_slice() else { return None };
            let chooses = matches!(callee, "fmaxf" | "fminf" | "max" | "min");
            (chooses && own(*first) && other(*second)).then_some(Some(callee))?
        }
        _ => return None,
    };
    let local = function.local(array, node).filter(|local| local.is_array)?;
    Some(Tree { node, condition, start, stride, array, type_name: local.type_name, choice })
}

/// The array and the index of `a[i]`.
pub(super) fn element<'s>(function: &Function<'s>, node: Node<'s>) -> Option<(&'s str, Canonical)> {
    let base = part(node, "argument").filter(|_| node.kind() == "subscript_expression")?;
    Some((function.subject.of_node(base), canonical(function, index(node)?)))
}

pub(super) fn check<'s>(function: &Function<'s>, tree: &Tree<'s>) -> Result<(), Missing> {
    let subject = function.subject;
    let form = |node: Node<'_>, expected| Missing::Form { found: subject.line_of(node), expected };
    ScalarType::named(tree.type_name)
        .ok_or_else(|| form(tree.start, "an array of a type that shuffles take"))?;
    statement_start(tree.node).ok_or_else(|| form(tree.node, "a loop in a block"))?;
    if function.sites.iter().any(|site| site.step.block.len() != 1) {
        return Err(form(tree.start, "a block of one dimension"));
    }
    let halved =
        part(tree.start, "left").zip(part(tree.start, "right")).zip(part(tree.start, "operator"));
    let is_half = halved.is_some_and(|((left, right), operator)| {
        let by = canonical(function, right).as_integer();
        let operator = subject.of_node(operator);
        Some(canonical(function, left)) == block_size(function)
            && ((operator == "/" && by == Some(2)) || (operator == ">>" && by == Some(1)))
    });
    if !is_half {
        return Err(form(tree.start, "a stride that begins with half of the block"));
    }
    for size in sizes(function) {
        let is_fit = size.is_some_and(|size| size >= 32 && size & (size - 1) == 0);
        if !is_fit {
            let found =
                size.map_or_else(|| "a block".to_owned(), |size| format!("a block of {size}"));
            return Err(Missing::Form { found, expected: "blocks of 32, 64, 128, … threads" });
        }
    }
    for node in function.uses(tree.array, function.body) {
        let outer = node.parent().unwrap_or(node);
        let is_inside = contains(tree.node, node);
        let is_first =
            element(function, outer).is_some_and(|(_, place)| place.as_integer() == Some(0));
        let is_set = outer.parent().is_some_and(|statement| {
            statement.kind() == "assignment_expression"
                && part(statement, "left").map(|left| left.id()) == Some(outer.id())
                && part(statement, "operator").map(|node| subject.of_node(node)) == Some("=")
        });
        if !is_inside && !is_first && !is_set {
            return Err(Missing::OtherUse {
                name: tree.array.to_owned(),
                used: subject.line_of(outer),
            });
        }
    }
    Ok(())
}

/// Every size that the block may have.
pub(super) fn sizes(function: &Function<'_>) -> Vec<Option<i128>> {
    let parameters = &function.subject.launch.parameters;
    let mut all = Vec::new();
    for site in &function.sites {
        let Some(size) = site.step.block.first() else { continue };
        let names = size.names();
        let parameter = parameters.iter().find(|parameter| names.contains(parameter.name.as_str()));
        match parameter {
            None => all.push(size.as_integer()),
            Some(parameter) => all.extend(parameter.values.iter().map(|value| {
                let value = i128::from(*value);
                let of = |name: &str| (name == parameter.name).then_some((value, value));
                size.bounds(&of).map(|(low, _)| low)
            })),
        }
    }
    all
}

/// Five rounds of shuffles: what `value` becomes in lane 0.
fn rounds(function: &Function<'_>, tree: &Tree<'_>, value: &str, indentation: &str) -> String {
    let distance = function.subject.fresh("distance");
    let other = format!("__shfl_down_sync(0xffffffffu, {value}, {distance})");
    let step = match tree.choice {
        None => format!("{value} += {other};"),
        Some(choice) => format!("{value} = {choice}({value}, {other});"),
    };
    format!(
        "#pragma unroll\n{indentation}for (int {distance} = 16; {distance} > 0; {distance} /= 2) {{\n\
         {indentation}    {step}\n{indentation}}}\n"
    )
}

fn last_rounds(function: &Function<'_>, tree: &Tree<'_>) -> Rewrite {
    let subject = function.subject;
    let Tree { node, array, type_name, stride, .. } = tree;
    let value = subject.fresh("warp_value");
    let outer = subject.indentation(node.start_byte());
    let inner = format!("{outer}    ");
    let text = format!(
        "\n{outer}if (threadIdx.x < 32) {{\n{inner}{type_name} {value} = {array}[threadIdx.x];\n{}\
         {inner}if (threadIdx.x == 0) {{\n{inner}    {array}[0] = {value};\n{inner}}}\n{outer}}}\n\
         {outer}__syncthreads();",
        rounds(function, tree, &value, &inner)
    );
    let line = function.line(*node);
    let edits = vec![
        Edit::replace(tree.condition.byte_range(), format!("{stride} >= 32")),
        Edit::insert(node.end_byte(), text),
    ];
    Rewrite::new(
        format!("the last five rounds of the tree in line {line} are shuffles"),
        line,
        edits,
    )
}

fn all_rounds(function: &Function<'_>, tree: &Tree<'_>) -> Rewrite {
    let subject = function.subject;
    let Tree { node, array, type_name, .. } = tree;
    let value = subject.fresh("warp_value");
    let outer = subject.indentation(node.start_byte());
    let inner = format!("{outer}    ");
    let text = format!(
        "{type_name} {value} = {array}[threadIdx.x];\n{first}{outer}__syncthreads();\n\
         {outer}if (threadIdx.x % 32 == 0) {{\n{inner}{array}[threadIdx.x / 32] = {value};\n{outer}}}\n\
         {outer}__syncthreads();\n{outer}if (threadIdx.x < 32) {{\n\
         {inner}{value} = threadIdx.x < blockDim.x / 32 ? {array}[threadIdx.x] : static_cast<{type_name}>(0);\n\
         {second}{inner}if (threadIdx.x == 0) {{\n{inner}    {array}[0] = {value};\n{inner}}}\n{outer}}}\n\
         {outer}__syncthreads();",
        first = rounds(function, tree, &value, outer),
        second = rounds(function, tree, &value, &inner),
    );
    let line = function.line(*node);
    let start = statement_start(*node).unwrap_or(node.start_byte());
    let edits = vec![Edit::replace(start..node.end_byte(), text)];
    Rewrite::new(format!("the tree in line {line} is two rounds of shuffles"), line, edits)
}
