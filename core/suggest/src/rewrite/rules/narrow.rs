//! 32-bit counters and indices, where the limits of the axes prove that they suffice.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::bounds::{bounds, fits};
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{Step, counted_loop, loops};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::part;

pub(in super::super) const RULE: Rule = Rule {
    id: "narrow-index",
    title: "count in 32 bits",
    reason: "a 64-bit addition is two instructions, a product several, and each value takes two registers",
    needs: "a `long long` counter or constant, and axes whose limits prove that it and what is made of it fits `int`",
    technique: "less-overhead",
    apply,
};

const LIMITS: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in loops(&function) {
            let counted = counted_loop(&function, node);
            if let Some(counted) = counted
                && ScalarType::named(counted.type_name) == Some(ScalarType::I64)
            {
                found.add(function.line(node), counter(&function, node));
            }
        }
        for local in function.locals().iter().copied() {
            let is_wide = ScalarType::named(local.type_name) == Some(ScalarType::I64);
            let is_plain = local.is_const && !local.is_pointer && !local.is_array;
            if let (true, true, Some(value)) = (is_wide, is_plain, local.value) {
                let line = function.line(local.declaration);
                let name = part(local.declarator, "declarator");
                let narrowed = name.map(|name| constant(&function, local.declaration, name, value));
                if let Some(narrowed) = narrowed {
                    found.add(line, narrowed);
                }
            }
        }
    }
    found.finish("counter or constant of type `long long` in a launched kernel")
}

fn counter(function: &Function<'_>, node: Node<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let form = || Missing::Form { found: subject.line_of(node), expected: "a counted loop" };
    let counted = counted_loop(function, node).ok_or_else(form)?;
    check_value(function, counted.start)?;
    check_value(function, counted.end)?;
    let (_, end) = bounds(function, counted.end).unwrap_or_default();
    let step = match counted.step {
        Step::One => 1,
        Step::By(step) => {
            let what = subject.line_of(step);
            let (low, high) =
                bounds(function, step).ok_or(Missing::Unbounded { what: what.clone() })?;
            if low < 1 { return Err(Missing::Unbounded { what }) } else { high }
        }
    };
    if end + step > LIMITS.1 {
        let what = format!("{} after its last turn", counted.name);
        return Err(Missing::TooLarge { what, most: end + step, limit: LIMITS.1 });
    }
    check_uses(function, counted.name, counted.body)?;
    let kind = part(counted.declaration, "type").ok_or_else(form)?;
    let mut edits = vec![Edit::replace(kind.byte_range(), "int")];
    if scalar_type(function, counted.end).is_none_or(|number| number != ScalarType::I32) {
        edits.push(Edit::insert(counted.end.start_byte(), "static_cast<int>("));
        edits.push(Edit::insert(counted.end.end_byte(), ")"));
    }
    let line = function.line(node);
    let what = format!("`{}` of line {line} counts in 32 bits", counted.name);
    Ok(Rewrite::new(what, line, edits))
}

fn constant<'s>(
    function: &Function<'s>,
    declaration: Node<'s>,
    name: Node<'s>,
    value: Node<'s>,
) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let form = || Missing::Form {
        found: subject.line_of(declaration),
        expected: "one name in the declaration",
    };
    let declared = super::super::syntax::all(declaration, &["init_declarator"]);
    let kind = part(declaration, "type").filter(|_| declared.len() == 1).ok_or_else(form)?;
    check_value(function, value)?;
    check_uses(function, subject.of_node(name), function.body)?;
    let line = function.line(declaration);
    let what = format!("`{}` of line {line} has 32 bits", subject.of_node(name));
    Ok(Rewrite::new(what, line, vec![Edit::replace(kind.byte_range(), "int")]))
}

fn check_value(function: &Function<'_>, node: Node<'_>) -> Result<(), Missing> {
    fits(function, node, LIMITS).map_err(|(what, most)| match most {
        Some(most) => Missing::TooLarge { what, most, limit: LIMITS.1 },
        None => Missing::Unbounded { what },
    })
}

/// Checks that each expression with this name keeps its 64-bit type or fits 32 bits.
fn check_uses<'s>(function: &Function<'s>, name: &str, within: Node<'s>) -> Result<(), Missing> {
    for node in function.uses(name, within) {
        check_use(function, name, node)?;
    }
    Ok(())
}

fn check_use<'s>(function: &Function<'s>, name: &str, node: Node<'s>) -> Result<(), Missing> {
    let subject = function.subject;
    let mut here = node;
    while let Some(outer) = here.parent() {
        let other = || {
            let used = subject.line_of(outer);
            Err(Missing::OtherUse { name: name.to_owned(), used })
        };
        match outer.kind() {
            "parenthesized_expression" => {}
            "binary_expression" => {
                let sides = [part(outer, "left"), part(outer, "right")];
                let beside = sides.into_iter().flatten().find(|side| side.id() != here.id());
                let beside = beside.and_then(|side| scalar_type(function, side));
                let operator = part(outer, "operator").map_or("", |node| subject.of_node(node));
                match (operator, beside) {
                    (
                        "<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||",
                        Some(ScalarType::I32 | ScalarType::I64),
                    ) => return Ok(()),
                    (_, Some(ScalarType::I64 | ScalarType::F32 | ScalarType::F64)) => return Ok(()),
                    ("+" | "-" | "*" | "/" | "%", Some(ScalarType::I32)) => {
                        check_value(function, outer)?;
                    }
                    _ => return other(),
                }
            }
            "subscript_argument_list"
            | "expression_statement"
            | "compound_statement"
            | "condition_clause" => {
                return Ok(());
            }
            "init_declarator" => {
                let is_deduced =
                    outer.parent().is_some_and(|node| subject.of_node(node).contains("auto"));
                return if is_deduced { other() } else { Ok(()) };
            }
            "argument_list" => {
                let call = outer.parent();
                let is_cast = call.is_some_and(|call| {
                    super::super::canonical::cast_operand(function, call).is_some()
                });
                return if is_cast { Ok(()) } else { other() };
            }
            "assignment_expression" => return Ok(()),
            _ => return other(),
        }
        here = outer;
    }
    Ok(())
}
