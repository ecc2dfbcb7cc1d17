//! Loops whose iterations the threads of a group can share.

use lightbench_cuda_source::Node;

use super::super::super::bounds::{bounds, length};
use super::super::super::function::Function;
use super::super::super::known_functions::is_known;
use super::super::super::loops::{CountedLoop, Step, counted_loop, jump, statement_start};
use super::super::super::pointers::{elements, is_unconditional, pointer};
use super::super::super::refusal::Missing;
use super::super::super::scalar_type::ScalarType;
use super::super::super::syntax::{all, ancestors, bare, contains, part};
pub(super) use super::super::tiles::form;
use super::collected::{Collected, collected};
use super::memory::is_atomic;

/// A group of threads is not larger.
const MAX_THREADS: i128 = 1024;

/// A loop, and what comes of its turns.
pub(super) struct Shared<'s> {
    pub(super) counted: CountedLoop<'s>,
    /// Start of the loop, including a pragma before it.
    pub(super) start: usize,
    /// The type of the counter, if it must be wider: with steps of a group of threads, it might exceed the type it has.
    pub(super) widened: Option<Node<'s>>,
    pub(super) collected: Vec<Collected<'s>>,
}

/// The loop, if its turns may be taken in any order, by several threads.
pub(super) fn shared<'s>(function: &Function<'s>, node: Node<'s>) -> Result<Shared<'s>, Missing> {
    let subject = function.subject;
    let counted = counted_loop(function, node)
        .ok_or_else(|| form(function, node, "a loop that counts upwards"))?;
    if !matches!(counted.step, Step::One) {
        return Err(form(function, counted.update, "a loop that counts by 1"));
    }
    let start = statement_start(node).ok_or_else(|| form(function, node, "a loop in a block"))?;
    for head in [counted.start, counted.end] {
        if !is_fixed(function, head, node) {
            return Err(form(function, head, "something that the loop does not change"));
        }
    }
    if let Some(jump) = jump(counted.body) {
        let what = subject.line_of(jump);
        return Err(Missing::Contains { what, why: "the loop may end early" });
    }
    let widened = widened(function, &counted)?;
    check_calls(function, counted.body)?;
    check_targets(function, &counted)?;
    let collected = collected(function, &counted)?;
    Ok(Shared { counted, start, widened, collected })
}

/// Whether an expression has the same value in each turn; inputs are never written.
fn is_fixed<'s>(function: &Function<'s>, node: Node<'s>, within: Node<'s>) -> bool {
    let known = elements(function, node);
    let effects =
        ["pointer_expression", "assignment_expression", "update_expression", "lambda_expression"];
    let loads = all(node, &["subscript_expression"]).into_iter().all(|load| {
        known
            .iter()
            .any(|each| each.node.id() == load.id() && each.pointer.parameter.is_input(function))
    });
    let names = all(node, &["identifier"]).into_iter().all(|name| {
        let text = function.subject.of_node(name);
        let local = function.local(text, name);
        let inside = local.is_some_and(|local| contains(within, local.declaration));
        !inside && !function.is_changed(text, within)
    });
    loads && names && all(node, &effects).is_empty()
}

/// The type of a counter that passes its end by a group of threads and might then be too large. Only a signed counter is
/// widened: what is computed from an unsigned one may wrap.
fn widened<'s>(
    function: &Function<'s>,
    counted: &CountedLoop<'s>,
) -> Result<Option<Node<'s>>, Missing> {
    let number = ScalarType::named(counted.type_name).filter(|number| number.is_integer());
    let number =
        number.ok_or_else(|| form(function, counted.declaration, "a counter of a whole type"))?;
    if number.is_wide_integer() {
        return Ok(None);
    }
    let limit = i128::from(i32::MAX) - MAX_THREADS;
    let what = function.subject.line_of(counted.end);
    let said = bounds(function, counted.end).map(|(_, most)| most);
    match said.or_else(|| largest_element(function, counted)) {
        Some(most) if most <= limit => Ok(None),
        Some(_) | None if number == ScalarType::I32 => Ok(part(counted.declaration, "type")),
        Some(most) => Err(Missing::TooLarge { what, most, limit }),
        None => Err(Missing::Unbounded { what }),
    }
}

/// The length of an array that each turn loads the element of its number from.
fn largest_element(function: &Function<'_>, counted: &CountedLoop<'_>) -> Option<i128> {
    elements(function, counted.body)
        .into_iter()
        .filter(|each| {
            let always = is_unconditional(function, each.node, counted.node);
            let own = function.subject.of_node(each.base) == each.pointer.parameter.name;
            always && own && function.subject.of_node(each.index) == counted.name
        })
        .filter_map(|each| {
            let name = each.pointer.parameter.name;
            let index = function.parameters.iter().position(|parameter| parameter.name == name)?;
            length(function, index).map(|(_, most)| most)
        })
        .min()
}

/// Nothing is called that may change a variable or memory unseen.
pub(super) fn check_calls(function: &Function<'_>, within: Node<'_>) -> Result<(), Missing> {
    for call in all(within, &["call_expression"]) {
        let callee = part(call, "function").ok_or_else(|| form(function, call, "a function"))?;
        let name = part(callee, "name").unwrap_or(callee);
        let text = function.subject.of_node(name);
        let is_method = callee.kind() == "field_expression";
        let is_safe = is_known(text) || is_pure(function, text);
        if is_method || !is_safe {
            return Err(Missing::Contains {
                what: function.subject.line_of(call).chars().take(60).collect(),
                why: "a function of the file may write to its arguments",
            });
        }
        let is_statement =
            call.parent().is_some_and(|outer| outer.kind() == "expression_statement");
        if text.starts_with("atomic") && !is_statement {
            return Err(Missing::OtherUse {
                name: text.to_owned(),
                used: function.subject.line_of(call.parent().unwrap_or(call)),
            });
        }
    }
    Ok(())
}

/// Whether a function of the file takes and gives values only.
fn is_pure(function: &Function<'_>, name: &str) -> bool {
    let subject = function.subject;
    let mut found = all(subject.root(), &["function_definition"]).into_iter().filter(|node| {
        let declarator =
            part(*node, "declarator").filter(|node| node.kind() == "function_declarator");
        declarator.and_then(|node| part(node, "declarator")).map(|node| subject.of_node(node))
            == Some(name)
    });
    let is_value = |node: Node<'_>| {
        let list = part(node, "declarator").and_then(|node| part(node, "parameters"));
        let by_address = [
            "pointer_declarator",
            "reference_declarator",
            "abstract_pointer_declarator",
            "abstract_reference_declarator",
        ];
        list.is_some_and(|list| all(list, &by_address).is_empty())
            && !subject.of_node(node).contains("asm")
            && !subject.of_node(node).contains("static ")
    };
    let first = found.next();
    let standard = first.is_none()
        && matches!(
            name,
            "expf"
                | "exp"
                | "logf"
                | "log"
                | "sqrtf"
                | "sqrt"
                | "rsqrtf"
                | "rsqrt"
                | "tanhf"
                | "tanh"
                | "fabsf"
                | "fabs"
                | "fmaxf"
                | "fminf"
                | "fmax"
                | "fmin"
                | "fmaf"
                | "fma"
                | "powf"
                | "pow"
                | "sinf"
                | "cosf"
                | "erff"
                | "double"
                | "long"
                | "size_t"
                | "unsigned"
                | "static_cast"
        );
    standard || first.is_some_and(is_value) && found.all(is_value)
}

/// Checks that each assignment writes to a variable, an element of an array, or an element of a parameter.
fn check_targets(function: &Function<'_>, counted: &CountedLoop<'_>) -> Result<(), Missing> {
    let subject = function.subject;
    for node in all(counted.body, &["assignment_expression", "update_expression"]) {
        let target = part(node, "left").or_else(|| part(node, "argument")).map(bare);
        let target = target.ok_or_else(|| form(function, node, "a variable or an element"))?;
        match target.kind() {
            "identifier" => {}
            "subscript_expression" => {
                let base = array(target);
                let local = function.local(subject.of_node(base), base);
                let own = local.is_some_and(|local| {
                    local.is_array && contains(counted.node, local.declaration)
                });
                let element =
                    part(target, "argument").is_some_and(|base| pointer(function, base).is_some());
                if !own && !element {
                    return Err(form(
                        function,
                        target,
                        "an element of a parameter, or of an array of the turn",
                    ));
                }
            }
            _ => return Err(form(function, target, "a variable or an element")),
        }
    }
    let by_address = all(counted.body, &["pointer_expression"]).into_iter().find(|node| {
        let inside = part(*node, "argument").map(bare);
        let element = inside.is_some_and(|inside| inside.kind() == "subscript_expression");
        let is_atomic = element && is_atomic(function, *node);
        !is_atomic && !is_loaded_by_call(function, *node)
    });
    match by_address {
        Some(node) => Err(form(function, node, "no addresses, but for atomic functions and loads")),
        None => Ok(()),
    }
}

/// `__ldg(&p[i])` and its like.
fn is_loaded_by_call(function: &Function<'_>, node: Node<'_>) -> bool {
    ancestors(node).take(2).any(|outer| {
        outer.kind() == "call_expression" && function.subject.of_node(outer).starts_with("__ld")
    })
}

/// The array that an element with any number of indices is of.
pub(super) fn array(element: Node<'_>) -> Node<'_> {
    let mut base = element;
    while base.kind() == "subscript_expression" {
        match part(base, "argument") {
            Some(inner) => base = bare(inner),
            None => return base,
        }
    }
    base
}
