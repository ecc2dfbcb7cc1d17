//! Recognition of matrix products: a sum over a loop of products of two inputs, with one result for each thread of a
//! two-dimensional launch.

use lightbench_cuda_source::Node;

use super::super::super::bounds::bounds;
use super::super::super::canonical::{canonical, cast_operand};
use super::super::super::condition::terms;
use super::super::super::function::{Function, Local};
use super::super::super::kernel_source::Site;
use super::super::super::known_functions::is_known;
use super::super::super::loops::{CountedLoop, Step, counted_loop, jump, statement_start};
use super::super::super::refusal::Missing;
use super::super::super::scalar_type::ScalarType;
use super::super::super::syntax::{all, contains, in_lambda, is_return, part, statements};
use super::super::super::thread_index::{coordinate, divided, is_launch_size};
use super::operand::{Operand, depends, operands};

/// Counters go beyond their end by a tile at most.
const MAX_TILE: i128 = 1 << 16;

/// A kernel that multiplies.
pub(super) struct Product<'s> {
    pub(super) site: Site<'s>,
    pub(super) counted: CountedLoop<'s>,
    /// Start of the loop, including a pragma before it.
    pub(super) start: usize,
    pub(super) sum: Local<'s>,
    /// The operand that changes along y, then the one that changes along x.
    pub(super) operands: [Operand<'s>; 2],
    /// Along y, then along x.
    pub(super) axes: [Axis<'s>; 2],
    /// Guards that leave the kernel, and the one around the work.
    pub(super) leaving: Vec<Node<'s>>,
    pub(super) around: Option<Node<'s>>,
    /// Declarations that depend on where the thread is, in order.
    pub(super) dependent: Vec<Node<'s>>,
    /// The last statement that follows the loop, or the loop.
    pub(super) last: Node<'s>,
}

/// One dimension of the result.
#[derive(Clone, Copy)]
pub(super) struct Axis<'s> {
    /// The variable with the thread's place.
    pub(super) place: Local<'s>,
    pub(super) end: Node<'s>,
    /// Sizes that the grid divides among blocks.
    pub(super) size: &'s str,
    pub(super) dimension: usize,
}

pub(in super::super) fn form(
    function: &Function<'_>,
    node: Node<'_>,
    expected: &'static str,
) -> Missing {
    Missing::Form { found: function.subject.line_of(node).chars().take(60).collect(), expected }
}

/// Everything that tiles need to know; `factors` has seen that it is a sum of products.
pub(super) fn read<'s>(
    function: &Function<'s>,
    node: Node<'s>,
    sum: Local<'s>,
    loads: [Node<'s>; 2],
) -> Result<Product<'s>, Missing> {
    let counted = counted_loop(function, node)
        .ok_or_else(|| form(function, node, "a loop that counts upwards"))?;
    check_counter(function, &counted)?;
    let start = statement_start(node).ok_or_else(|| form(function, node, "a loop in a block"))?;
    let places = [place(function, 1)?, place(function, 0)?];
    check_threads(function, &|node| places.iter().any(|place| contains(place.declaration, node)))?;
    let (around, list) = surroundings(function, node)?;
    let at = list.iter().position(|each| each.id() == node.id()).unwrap_or_default();
    let (before, rest) = (list.get(..at).unwrap_or_default(), list.get(at + 1..));
    let last = rest.and_then(|rest| rest.last().copied()).unwrap_or(node);
    let outer = match around {
        Some(guard) => statements(function.body)
            .into_iter()
            .take_while(|each| each.id() != guard.id())
            .collect(),
        None => Vec::new(),
    };
    let before: Vec<Node<'s>> = outer.into_iter().chain(before.iter().copied()).collect();
    let leaving: Vec<Node<'s>> =
        before.iter().copied().filter(|node| node.kind() == "if_statement").collect();
    let [along_y, along_x] = ends(function, &leaving, around, &places)?;
    let site = *function.sites.first().ok_or_else(|| form(function, node, "a launch"))?;
    let axes = [
        axis(function, site, places[0], along_y, 1)?,
        axis(function, site, places[1], along_x, 0)?,
    ];
    let dependent = declarations(function, &before, &axes, sum)?;
    check_rest(function, node, last)?;
    let operands = operands(function, &counted, loads, &places)?;
    Ok(Product { site, counted, start, sum, operands, axes, leaving, around, dependent, last })
}

fn check_counter(function: &Function<'_>, counted: &CountedLoop<'_>) -> Result<(), Missing> {
    let subject = function.subject;
    let from_zero = canonical(function, counted.start).as_integer() == Some(0);
    if !from_zero || !matches!(counted.step, Step::One) {
        return Err(form(function, counted.node, "a loop from 0 by 1"));
    }
    if let Some(jump) = jump(counted.body) {
        let what = subject.line_of(jump);
        return Err(Missing::Contains { what, why: "the loop may end early" });
    }
    let number = ScalarType::named(counted.type_name).filter(|number| number.is_integer());
    let number =
        number.ok_or_else(|| form(function, counted.declaration, "a counter of a whole type"))?;
    let what = subject.line_of(counted.end);
    if !number.is_wide_integer() {
        let (_, most) =
            bounds(function, counted.end).ok_or(Missing::Unbounded { what: what.clone() })?;
        let limit = i128::from(i32::MAX) - MAX_TILE;
        if most > limit {
            return Err(Missing::TooLarge { what, most, limit });
        }
    }
    Ok(())
}

fn place<'s>(function: &Function<'s>, dimension: usize) -> Result<Local<'s>, Missing> {
    let expected = [
        "a variable with `blockIdx.x * block + threadIdx.x`",
        "a variable with `blockIdx.y * block + threadIdx.y`, in a launch of two dimensions",
    ];
    let found = function.name.to_owned();
    let expected = expected.get(dimension).copied().unwrap_or_default();
    let local = coordinate(function, dimension).ok_or(Missing::Form { found, expected })?;
    let alone = all(local.declaration, &["init_declarator"]).len() == 1;
    let whole = ScalarType::named(local.type_name).is_some_and(ScalarType::is_integer);
    if alone && whole {
        Ok(local)
    } else {
        Err(form(function, local.declaration, "a declaration of one whole variable"))
    }
}

/// The code reads thread indices and block sizes in the expressions of places only, whose meaning changes.
pub(in super::super) fn check_threads(
    function: &Function<'_>,
    is_place: &dyn Fn(Node<'_>) -> bool,
) -> Result<(), Missing> {
    let subject = function.subject;
    for field in all(function.body, &["field_expression"]) {
        let text = subject.of_node(field);
        let asks = ["threadIdx", "blockIdx", "gridDim", "blockDim"]
            .iter()
            .any(|name| text.starts_with(name));
        if asks && text != "blockIdx.z" && !is_place(field) {
            let used = field.parent().map_or_else(String::new, |node| subject.line_of(node));
            return Err(Missing::OtherUse { name: text.to_owned(), used });
        }
    }
    let [site] = function.sites.as_slice() else {
        let found = format!("{} launches", function.sites.len());
        return Err(Missing::Form { found, expected: "one launch" });
    };
    let step = site.step;
    if step.block.len() != 2 || step.grid.len() < 2 {
        let found = format!("{} dimensions", step.block.len());
        return Err(Missing::Form { found, expected: "a block of two dimensions" });
    }
    if step.cooperative || step.cluster.is_some() {
        let what = step.kernel.text().to_owned();
        return Err(Missing::Contains { what, why: "the launch is cooperative, or in clusters" });
    }
    let block: Vec<&str> = step.block.iter().flat_map(|size| size.names()).collect();
    let named_in = |text: &str| {
        let words = text.split(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric());
        words.filter_map(|word| word.strip_prefix("PARAM_")).any(|word| block.contains(&word))
    };
    let templates = function.templates.iter().enumerate().filter(|(index, _)| {
        function.template_arguments(*index).iter().any(|argument| named_in(argument))
    });
    let templates: Vec<&str> = templates.map(|(_, name)| *name).collect();
    for name in all(function.body, &["identifier"]) {
        let text = subject.of_node(name);
        if (templates.contains(&text) || named_in(text)) && !is_place(name) {
            let used = name.parent().map_or_else(String::new, |node| subject.line_of(node));
            return Err(Missing::OtherUse { name: text.to_owned(), used });
        }
    }
    match function.meeting(function.body) {
        Some(call) => Err(Missing::Contains {
            what: call.to_owned(),
            why: "it synchronises threads or reads thread indices",
        }),
        None => Ok(()),
    }
}

/// The guard around the loop, if there is one, and the statements that the loop is among.
fn surroundings<'s>(
    function: &Function<'s>,
    node: Node<'s>,
) -> Result<(Option<Node<'s>>, Vec<Node<'s>>), Missing> {
    let top = statements(function.body);
    let outer = node.parent().unwrap_or(node);
    if outer.id() == function.body.id() {
        return Ok((None, top));
    }
    let guard = top.last().copied().filter(|last| {
        last.kind() == "if_statement"
            && part(*last, "alternative").is_none()
            && part(*last, "consequence").is_some_and(|inside| inside.id() == outer.id())
    });
    let guard = guard.ok_or_else(|| {
        form(function, node, "a loop of the kernel itself, or of the guard around all its work")
    })?;
    Ok((Some(guard), statements(outer)))
}

/// Upper bounds of the places along y and x. Guards with another condition are refused.
fn ends<'s>(
    function: &Function<'s>,
    leaving: &[Node<'s>],
    around: Option<Node<'s>>,
    places: &[Local<'s>; 2],
) -> Result<[Node<'s>; 2], Missing> {
    let subject = function.subject;
    let expected = "guards that hold both places below the ends of the result, and nothing else";
    let mut found = [None, None];
    let guards = leaving.iter().map(|node| (*node, "||", ">="));
    for (guard, joined, wanted) in guards.chain(around.map(|node| (node, "&&", "<"))) {
        let returns = joined == "&&" || part(guard, "consequence").is_some_and(is_return);
        let condition = part(guard, "condition").ok_or_else(|| form(function, guard, expected))?;
        if !returns || part(guard, "alternative").is_some() {
            return Err(form(function, guard, expected));
        }
        for term in terms(function, condition, joined) {
            let operator = part(term, "operator").map(|node| subject.of_node(node));
            let name = part(term, "left").map(|left| subject.of_node(left));
            let at = places.iter().position(|place| Some(place.name) == name);
            let end = part(term, "right").filter(|_| operator == Some(wanted));
            match at.and_then(|at| found.get_mut(at)).zip(end) {
                Some((slot, end)) if slot.is_none() => *slot = Some(end),
                _ => return Err(form(function, term, expected)),
            }
        }
    }
    match found {
        [Some(along_y), Some(along_x)] => Ok([along_y, along_x]),
        _ => Err(Missing::Form { found: function.name.to_owned(), expected }),
    }
}

fn axis<'s>(
    function: &Function<'s>,
    site: Site<'s>,
    place: Local<'s>,
    end: Node<'s>,
    dimension: usize,
) -> Result<Axis<'s>, Missing> {
    let grid = site.step.grid.get(dimension).map_or("", |grid| grid.text()).to_owned();
    let size = divided(&site, dimension).filter(|size| is_launch_size(function, &site, end, size));
    // A row or a column of the result is loaded for all of a block, also by threads without a result.
    let is_some = bounds(function, end).is_some_and(|(least, _)| least >= 1);
    match size.filter(|_| is_some) {
        Some(size) => Ok(Axis { place, end, size, dimension }),
        None => Err(Missing::Form {
            found: grid,
            expected: "a grid of `ceil_div(end, block)`, with the end that the guard has",
        }),
    }
}

/// Constants before the loop, which are recomputed; those that depend on a place are kept.
fn declarations<'s>(
    function: &Function<'s>,
    before: &[Node<'s>],
    axes: &[Axis<'s>; 2],
    sum: Local<'s>,
) -> Result<Vec<Node<'s>>, Missing> {
    let subject = function.subject;
    let expected = "nothing but guards and constants before the loop";
    let mut dependent = Vec::new();
    let is_place =
        |node: &Node<'_>| axes.iter().any(|axis| axis.place.declaration.id() == node.id());
    let depends_on_any =
        |node: Node<'_>| axes.iter().any(|axis| depends(function, node, axis.place.name, 0));
    for node in before.iter().filter(|node| node.kind() != "if_statement" && !is_place(node)) {
        let is_sum = node.id() == sum.declaration.id();
        let locals: Vec<Local<'s>> = function.declared_by(*node).copied().collect();
        let is_plain = !locals.is_empty()
            && locals.iter().all(|local| {
                let fixed = is_sum || !function.is_changed(local.name, function.body);
                fixed
                    && !local.is_array
                    && local.value.is_some_and(|value| is_free(function, value))
            });
        if !is_plain || subject.of_node(*node).contains("static ") {
            return Err(form(function, *node, expected));
        }
        match (is_sum, depends_on_any(*node)) {
            (true, true) => {
                return Err(form(function, *node, "a sum that begins the same everywhere"));
            }
            (true, false) if locals.len() > 1 => {
                return Err(form(function, *node, "a sum of its own"));
            }
            (false, true) => dependent.push(*node),
            (true | false, false) => {}
        }
    }
    let begins = before.iter().any(|node| node.id() == sum.declaration.id());
    let early = before.iter().find(|node| !function.uses(sum.name, **node).is_empty());
    if !begins || early.is_some() {
        return Err(form(function, sum.declaration, "a sum that is declared before the loop"));
    }
    Ok(dependent)
}

/// Whether an expression loads nothing, changes nothing and calls nothing of the file.
pub(in super::super) fn is_free(function: &Function<'_>, node: Node<'_>) -> bool {
    let effects = [
        "subscript_expression",
        "pointer_expression",
        "assignment_expression",
        "update_expression",
        "lambda_expression",
    ];
    let calls = function_calls_known(function, node);
    all(node, &effects).is_empty() && calls
}

fn function_calls_known(function: &Function<'_>, node: Node<'_>) -> bool {
    all(node, &["call_expression"]).into_iter().all(|call| {
        let callee = part(call, "function").map_or("", |callee| function.subject.of_node(callee));
        cast_operand(function, call).is_some()
            || (is_known(callee) && !callee.starts_with("atomic") && !callee.starts_with("__"))
    })
}

fn check_rest(function: &Function<'_>, node: Node<'_>, last: Node<'_>) -> Result<(), Missing> {
    let subject = function.subject;
    let leaves = all(function.body, &["return_statement"]).into_iter().find(|each| {
        each.start_byte() > node.start_byte()
            && each.end_byte() <= last.end_byte()
            && !in_lambda(*each)
    });
    match leaves {
        Some(node) => Err(Missing::Contains {
            what: subject.line_of(node),
            why: "each thread computes several results and must not return after the first",
        }),
        None => Ok(()),
    }
}
