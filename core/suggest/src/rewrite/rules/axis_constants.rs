//! An axis as a compile-time constant: one compiled kernel for each size.

use lightbench_project::argument::ValueSource;
use lightbench_project::launch::Argument;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Parameter};
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::part;

pub(in super::super) const RULE: Rule = Rule {
    id: "axis-constant",
    title: "compile a kernel for each size of an axis",
    reason: "divisions by the axis become multiplications, loops over it unroll, and guards that always hold vanish",
    needs: "a parameter that every launch gives the same axis, and that the kernel does not change",
    technique: "less-overhead",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for parameter in &function.parameters {
            if let Some(axis) = axis(parameter) {
                found.add(function.line(parameter.node), constant(&function, parameter, axis));
            }
        }
    }
    found.finish("parameter that is an axis")
}

/// The axis that every launch passes.
pub(super) fn axis<'s>(parameter: &Parameter<'s>) -> Option<&'s str> {
    let mut names = parameter.arguments.iter().map(|argument| match argument {
        Argument::Value(value) => match &value.source {
            ValueSource::Formula(formula) => formula.as_name(),
            ValueSource::Scalar(_) => None,
        },
        Argument::Buffer(_)
        | Argument::TensorMap(_)
        | Argument::Struct(_)
        | Argument::Texture(_)
        | Argument::Integer(_)
        | Argument::Null
        | Argument::Outside(_) => None,
    });
    let first = names.next()??;
    names.all(|other| other == Some(first)).then_some(first)
}

fn constant(
    function: &Function<'_>,
    parameter: &Parameter<'_>,
    axis: &str,
) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let name = parameter.name;
    if !subject.definition.axes.iter().any(|known| known.name == axis) {
        return Err(Missing::Form { found: axis.to_owned(), expected: "an axis of the project" });
    }
    if subject.launch.constants.iter().any(|known| known == axis) {
        return Err(Missing::Already { what: axis.to_owned(), has: "a value when it is compiled" });
    }
    if function.uses(name, function.body).is_empty() {
        return Err(Missing::Form {
            found: name.to_owned(),
            expected: "a parameter that the kernel uses",
        });
    }
    if function.is_changed(name, function.body) {
        let used = format!("{name} = …");
        return Err(Missing::OtherUse { name: name.to_owned(), used });
    }
    let form =
        || Missing::Form { found: subject.line_of(parameter.node), expected: "a type and a name" };
    let kind = part(parameter.node, "type").ok_or_else(form)?;
    if parameter.declarator.kind() != "identifier" {
        return Err(form());
    }
    let brace = function.body.start_byte() + 1;
    let first = function.body.named_child(0);
    let indentation = first.map_or("    ", |first| subject.indentation(first.start_byte()));
    let type_name = parameter.type_name;
    let edits = vec![
        Edit::replace(kind.end_byte()..parameter.declarator.end_byte(), ""),
        Edit::insert(brace, format!("\n{indentation}constexpr {type_name} {name} = axis::{axis};")),
        subject.new_constant(axis),
    ];
    let what = format!("`{name}` of `{}` is known when it is compiled", function.name);
    Ok(Rewrite::new(what, function.line(parameter.node), edits))
}
