//! `__restrict__` on pointers to disjoint buffers, and `const` on those that are only read.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Parameter};
use super::super::kernel_source::KernelSource;
use super::super::pointers::{Access, elements};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::part;

pub(in super::super) const RULE: Rule = Rule {
    id: "restrict",
    title: "promise that pointers share no memory",
    reason: "the compiler may keep what it loaded across stores, and load inputs through the read-only path",
    needs: "pointers whose buffers no launch passes twice and that may not alias, used only by indexing",
    technique: "keep-in-registers",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let mut edits = Vec::new();
        let mut names = Vec::new();
        for parameter in function.parameters.iter().filter(|parameter| parameter.is_pointer) {
            match promise(&function, parameter) {
                Ok(more) => {
                    edits.extend(more);
                    names.push(format!("`{}`", parameter.name));
                }
                Err(missing) => found.refuse(function.line(parameter.node), missing),
            }
        }
        if !names.is_empty() {
            let what = format!(
                "{} of `{}` {} the only way to what {} to",
                names.join(", "),
                function.name,
                if names.len() == 1 { "is" } else { "are each" },
                if names.len() == 1 { "it points" } else { "they point" },
            );
            found.offer(Rewrite::new(what, function.line(function.node), edits));
        }
    }
    found.finish("pointer among the parameters of a launched kernel")
}

fn promise(function: &Function<'_>, parameter: &Parameter<'_>) -> Result<Vec<Edit>, Missing> {
    let text = function.subject.of_node(parameter.node);
    if text.to_ascii_lowercase().contains("restrict") {
        return Err(Missing::Already { what: parameter.name.to_owned(), has: "`__restrict__`" });
    }
    if let Some(other) = parameter.twin(function) {
        let name = parameter.name.to_owned();
        return Err(Missing::SameMemory { name, other: other.to_owned() });
    }
    let uses = function.uses(parameter.name, function.body);
    if let Some(other) = uses.iter().find(|node| !is_indexing(function, **node)) {
        let used = other.parent().map_or_else(String::new, |node| function.subject.line_of(node));
        return Err(Missing::OtherUse { name: parameter.name.to_owned(), used });
    }
    let declarator = parameter.declarator;
    let inner = part(declarator, "declarator").filter(|node| node.kind() == "identifier");
    if inner.is_none() {
        return Err(Missing::Form {
            found: function.subject.line_of(parameter.node),
            expected: "a plain pointer",
        });
    }
    let star = declarator.start_byte() + 1;
    let spaced = text.ends_with(&format!("* {}", parameter.name));
    let mut edits =
        vec![Edit::insert(star, if spaced { " __restrict__" } else { "__restrict__ " })];
    if !parameter.is_const
        && parameter.is_input(function)
        && is_only_loaded(function, parameter, uses.len())
    {
        edits.push(Edit::insert(parameter.node.start_byte(), "const "));
    }
    Ok(edits)
}

/// `p[i]`, `p + i`, `*p`.
fn is_indexing(function: &Function<'_>, name: Node<'_>) -> bool {
    let Some(outer) = name.parent() else { return false };
    match outer.kind() {
        "subscript_expression" => part(outer, "argument").map(|node| node.id()) == Some(name.id()),
        "binary_expression" => {
            part(outer, "operator").map(|node| function.subject.of_node(node)) == Some("+")
        }
        "pointer_expression" => function.subject.of_node(outer).starts_with('*'),
        _ => false,
    }
}

fn is_only_loaded(function: &Function<'_>, parameter: &Parameter<'_>, uses: usize) -> bool {
    let own = elements(function, function.body);
    let own: Vec<_> = own
        .iter()
        .filter(|element| function.subject.of_node(element.base) == parameter.name)
        .collect();
    own.len() == uses && own.iter().all(|element| element.access == Access::Load)
}
