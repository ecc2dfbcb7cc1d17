//! One loop over a row in place of two: the sum of exponentials is kept relative to a running maximum.

use lightbench_cuda_source::Node;
use lightbench_project::launch::{Argument, Buffer};
use lightbench_project::tensor::Domain;

use super::super::Rule;
use super::super::canonical::{Canonical, canonical};
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Parameter};
use super::super::kernel_source::KernelSource;
use super::super::loops::{CountedLoop, Step, counted_loop, is_innermost, loops, statement_start};
use super::super::pointers::{Access, elements};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::{ScalarType, scalar_type};
use super::super::syntax::{all, bare, contains, moved, named, part, squeezed, statements};
use super::accumulators::{as_counter, check_head};
use super::lanes::collected::{Collected, How, collected};
use super::tiles::form;

pub(in super::super) const RULE: Rule = Rule {
    id: "running-maximum",
    title: "take the maximum and the sum of exponentials in one loop",
    reason: "a row is read once instead of twice; the sum is scaled down where the maximum grows",
    needs: "a loop of `best = fmaxf(best, …)` and one of `sum += expf(… - best)` with the same iterations, and inputs with `domain: finite`",
    technique: "running-maximum",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let innermost: Vec<_> =
            loops(&function).into_iter().filter(|node| is_innermost(*node)).collect();
        let maxima: Vec<_> =
            innermost.iter().filter_map(|node| Maximum::read(&function, *node)).collect();
        for maximum in &maxima {
            let line = function.line(maximum.counted.node);
            let after = innermost.iter().filter(|node| {
                node.start_byte() > maximum.counted.node.end_byte()
                    && node.parent().map(|outer| outer.id())
                        == maximum.counted.node.parent().map(|outer| outer.id())
            });
            let sums: Vec<_> = after
                .filter_map(|node| Exponentials::read(&function, *node, maximum.name))
                .collect();
            match sums.first() {
                Some(sums) => found.add(line, joined(&function, maximum, sums)),
                None => found.refuse(
                    line,
                    form(&function, maximum.counted.node, "then a loop of `sum += expf(… - best)`"),
                ),
            }
        }
    }
    found.finish("innermost loop of `best = fmaxf(best, …)`")
}

/// A loop that takes the maximum of a value.
struct Maximum<'s> {
    counted: CountedLoop<'s>,
    start: usize,
    name: &'s str,
    value: Node<'s>,
}

impl<'s> Maximum<'s> {
    fn read(function: &Function<'s>, node: Node<'s>) -> Option<Self> {
        let subject = function.subject;
        let counted = counted_loop(function, node)?;
        let start = statement_start(node)?;
        let body = statements(counted.body);
        let [only] = body.as_slice() else { return None };
        let assignment = named(*only).first().copied()?;
        let name = subject.of_node(part(assignment, "left")?);
        let call = part(assignment, "right").filter(|right| right.kind() == "call_expression")?;
        let callee = part(call, "function").map(|callee| subject.of_node(callee));
        let arguments = named(part(call, "arguments")?);
        let [first, second] = arguments.as_slice() else { return None };
        let value = match [first, second].map(|node| subject.of_node(*node) == name) {
            [true, false] => *second,
            [false, true] => *first,
            [true, true] | [false, false] => return None,
        };
        let is_plain = part(assignment, "operator").map(|node| subject.of_node(node)) == Some("=");
        let local = function.local(name, node)?;
        let is_float = local.type_name == "float" && !local.is_array && !local.is_pointer;
        let fits = callee == Some("fmaxf")
            && is_plain
            && is_float
            && function.uses(name, node).len() == 2
            && !contains(node, local.declaration);
        fits.then_some(Self { counted, start, name, value })
    }
}

/// A loop that adds exponentials of differences to a maximum.
struct Exponentials<'s> {
    counted: CountedLoop<'s>,
    start: usize,
    /// The call of `expf` or `__expf`, and its name.
    call: Node<'s>,
    callee: &'s str,
    /// What the maximum is subtracted from.
    value: Node<'s>,
    sum: Collected<'s>,
}

impl<'s> Exponentials<'s> {
    fn read(function: &Function<'s>, node: Node<'s>, maximum: &str) -> Option<Self> {
        let subject = function.subject;
        let counted = counted_loop(function, node)?;
        let start = statement_start(node)?;
        let body = statements(counted.body);
        let first = *body.first()?;
        let call = all(first, &["call_expression"]).into_iter().find(|call| {
            let callee = part(*call, "function").map(|callee| subject.of_node(callee));
            matches!(callee, Some("expf" | "__expf"))
        })?;
        let callee = subject.of_node(part(call, "function")?);
        let difference = named(part(call, "arguments")?).first().copied().map(bare)?;
        let minus = part(difference, "operator").map(|node| subject.of_node(node)) == Some("-");
        let less = part(difference, "right").map(|node| subject.of_node(node)) == Some(maximum);
        let value = part(difference, "left").filter(|_| minus && less)?;
        let mut sums = collected(function, &counted).ok()?.into_iter();
        let sum = sums.next().filter(|_| sums.next().is_none())?;
        // The sum is proportional to the exponentials.
        let is_only_term = match sum.how {
            How::Sum => {
                let assignment = named(first).first().copied()?;
                let added = part(assignment, "right").map(|right| bare(right).id());
                let operator = part(assignment, "operator").map(|node| subject.of_node(node));
                body.len() == 1 && operator == Some("+=") && added == Some(call.id())
            }
            How::Compensated { .. } => {
                let term = named(first).into_iter().find_map(|node| part(node, "value"))?;
                let added = part(term, "left").map(|left| bare(left).id());
                body.len() == 4 && added == Some(call.id())
            }
            How::Choice(_) | How::Comparison(_) => false,
        };
        let fits =
            is_only_term && sum.type_name == "float" && function.uses(maximum, node).len() == 1;
        fits.then_some(Self { counted, start, call, callee, value, sum })
    }
}

fn joined(
    function: &Function<'_>,
    maximum: &Maximum<'_>,
    sums: &Exponentials<'_>,
) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    check_iterations(function, maximum, sums)?;
    check_value(function, maximum)?;
    let chunk = subject.fresh("CHUNK");
    let text = Joined { function, maximum, sums, names: Names::new(function) };
    let first = maximum.start..maximum.counted.node.end_byte();
    let second = sums.start..sums.counted.node.end_byte();
    let line = function.line(maximum.counted.node);
    let what = format!(
        "the loop of line {line} also adds the exponentials of line {}",
        function.line(sums.counted.node)
    );
    let edits = vec![
        Edit::replace(first, text.in_place_of_maximum(&format!("PARAM_{chunk}"))),
        Edit::replace(second, text.in_place_of_sum()),
        subject.new_parameter(&chunk, &[8, 4, 16])?,
    ];
    Ok(Rewrite::new(what, line, edits))
}

/// Checks that both loops have the same iterations, and that the maximum is that of the same values.
fn check_iterations(
    function: &Function<'_>,
    maximum: &Maximum<'_>,
    sums: &Exponentials<'_>,
) -> Result<(), Missing> {
    let subject = function.subject;
    let (first, second) = (&maximum.counted, &sums.counted);
    check_head(function, first)?;
    let refused = |node| form(function, node, "two loops with the same iterations");
    let steps = [first.step, second.step].map(|step| match step {
        Step::One => None,
        Step::By(node) => Some(canonical(function, node)),
    });
    let [start, other_start] = [first, second].map(|each| canonical(function, each.start));
    let (elements_before, offset) = other_start.clone().split();
    let [ends, other_end] = [first, second].map(|each| canonical(function, each.end));
    let apart = start.plus(other_start.times(&Canonical::integer(-1))).as_integer();
    let is_same = steps[0] == steps[1]
        && ends == other_end
        && first.type_name == second.type_name
        && with_counter(function, first, maximum.value, second.name)
            == squeezed(subject.of_node(sums.value));
    if !is_same || !matches!(apart, Some(0 | 1)) {
        return Err(refused(second.declaration));
    }
    let fixed = [first.start, first.end, second.start, maximum.value];
    for name in fixed.into_iter().flat_map(|node| all(node, &["identifier"])) {
        let text = subject.of_node(name);
        let is_early = function.local(text, name).is_none_or(|local| {
            local.declaration.start_byte() < first.node.start_byte()
                || contains(first.node, local.declaration)
        });
        let is_counter = text == first.name || text == second.name;
        if !is_counter && (function.is_changed(text, function.body) || !is_early) {
            return Err(refused(name));
        }
    }
    if apart == Some(0) {
        return Ok(());
    }
    // The first value is that of the variable before the loop, and threads combine what they have.
    let local = function.local(maximum.name, first.node);
    let initial = local.and_then(|local| local.value).map(|node| squeezed(subject.of_node(node)));
    let of_first = with_counter(function, first, maximum.value, &offset.to_string());
    let is_alone = elements_before == Canonical::default();
    if initial == Some(of_first) && (is_alone || is_combined(function, maximum)) {
        return Ok(());
    }
    Err(refused(first.declaration))
}

/// A value without white space, for another name or number in place of the counter.
fn with_counter(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
    value: Node<'_>,
    other: &str,
) -> String {
    squeezed(&with(function, counted.name, value, other))
}

fn with(function: &Function<'_>, counter: &str, value: Node<'_>, other: &str) -> String {
    let subject = function.subject;
    let names = all(value, &["identifier"]);
    let names = names.into_iter().filter(|name| subject.of_node(*name) == counter);
    subject.with(value, names.map(|name| Edit::replace(name.byte_range(), other)).collect())
}

/// Whether all threads that share the row take the maximum of theirs before anything else uses it.
fn is_combined(function: &Function<'_>, maximum: &Maximum<'_>) -> bool {
    let subject = function.subject;
    let end = maximum.counted.node.end_byte();
    let after = function.uses(maximum.name, function.body);
    let next =
        after.into_iter().filter(|node| node.start_byte() > end).min_by_key(Node::start_byte);
    let statement = next.and_then(|node| node.parent()).map(|node| squeezed(subject.of_node(node)));
    let name = maximum.name;
    ["warp", "block"].iter().any(|width| {
        let written =
            format!("{name}=across_{width}({name},[](float a,float b){{return fmaxf(a,b);}})");
        statement.as_deref() == Some(squeezed(&written).as_str())
    })
}

/// Checks that the value is computed from finite inputs, without a choice.
fn check_value(function: &Function<'_>, maximum: &Maximum<'_>) -> Result<(), Missing> {
    let subject = function.subject;
    let value = maximum.value;
    let excluded = [
        "conditional_expression",
        "assignment_expression",
        "update_expression",
        "lambda_expression",
    ];
    let read = elements(function, value);
    let subscripts = all(value, &["subscript_expression"]).len();
    // Values are kept as f32.
    let is_wider = matches!(scalar_type(function, value), Some(kind) if kind != ScalarType::F32);
    let is_plain =
        all(value, &excluded).is_empty() && function.meeting(value).is_none() && !is_wider;
    if !is_plain || read.is_empty() || read.len() != subscripts {
        return Err(form(function, value, "a value of inputs, `p[i]`"));
    }
    for element in read {
        let name = element.pointer.parameter.name;
        if element.access != Access::Load || !element.pointer.parameter.is_input(function) {
            return Err(Missing::OtherUse {
                name: name.to_owned(),
                used: subject.line_of(element.node),
            });
        }
        if !is_finite(function, element.pointer.parameter) {
            let found = name.to_owned();
            return Err(Missing::Form { found, expected: "an input with `domain: finite`" });
        }
    }
    Ok(())
}

/// Whether each launch passes a tensor without infinities.
fn is_finite(function: &Function<'_>, parameter: &Parameter<'_>) -> bool {
    let tensors = &function.subject.definition.tensors;
    parameter.arguments.iter().all(|argument| {
        let Argument::Buffer(Buffer::Tensor(index)) = argument else { return false };
        tensors.get(*index).is_some_and(|tensor| match tensor.domain {
            Domain::Finite
            | Domain::UnitInterval
            | Domain::Probability
            | Domain::Between { .. } => true,
            Domain::Any
            | Domain::NonZero
            | Domain::Positive
            | Domain::NonNegative
            | Domain::IndexBelow(_) => false,
        })
    })
}

/// Names of the new code.
struct Names {
    sum: String,
    lost: String,
    own: String,
    values: String,
    larger: String,
    scale: String,
    item: String,
    added: String,
}

impl Names {
    fn new(function: &Function<'_>) -> Self {
        let fresh = |name| function.subject.fresh(name);
        Self {
            sum: fresh("running_sum"),
            lost: fresh("running_lost"),
            own: fresh("own_maximum"),
            values: fresh("values"),
            larger: fresh("larger"),
            scale: fresh("scale"),
            item: fresh("item"),
            added: fresh("added"),
        }
    }
}

struct Joined<'j, 's> {
    function: &'j Function<'s>,
    maximum: &'j Maximum<'s>,
    sums: &'j Exponentials<'s>,
    names: Names,
}

impl Joined<'_, '_> {
    fn in_place_of_maximum(&self, chunk: &str) -> String {
        let Self { function, maximum, sums, names } = self;
        let subject = function.subject;
        let counted = &maximum.counted;
        let (name, kind) = (counted.name, counted.type_name);
        let Names { sum, lost, own, .. } = names;
        let outer = subject.indentation(counted.node.start_byte());
        let inner = format!("{outer}    ");
        let variables = match sums.sum.how {
            How::Compensated { .. } => format!("{sum} = 0.0f, {lost} = 0.0f"),
            How::Sum | How::Choice(_) | How::Comparison(_) => format!("{sum} = 0.0f"),
        };
        let step = self.step();
        let (start, end) = (subject.of_node(sums.counted.start), subject.of_node(counted.end));
        let limit = as_counter(function, counted, counted.end);
        let margin =
            |count: String| step.as_ref().map_or(count.clone(), |by| format!("{count} * {by}"));
        format!(
            "float {variables};\n{outer}{{\n{inner}{kind} {name} = {start};\n\
             {inner}for (; {name} < {limit} - {last}; {name} += {all}) {{\n{several}{inner}}}\n\
             {inner}for (; {name} < {end}; {update}) {{\n{one}{inner}}}\n{outer}}}\n\
             {outer}const float {own} = {maximum_name};",
            last = margin(format!("({chunk} - 1)")),
            all = margin(chunk.to_owned()),
            several = self.turn(chunk, &format!("{inner}    ")),
            one = self.turn("1", &format!("{inner}    ")),
            update = subject.of_node(counted.update),
            maximum_name = maximum.name,
        )
    }

    /// The increment of the counter; none if it is 1.
    fn step(&self) -> Option<String> {
        match self.maximum.counted.step {
            Step::One => None,
            Step::By(node) => Some(as_counter(self.function, &self.maximum.counted, node)),
        }
    }

    /// Loads of values, the larger maximum, and the sum relative to it.
    fn turn(&self, count: &str, indentation: &str) -> String {
        let Self { function, maximum, sums, names } = self;
        let subject = function.subject;
        let Names { sum, lost, values, larger, scale, item, added, .. } = names;
        let best = maximum.name;
        let counter = maximum.counted.name;
        let place = match self.step() {
            None => format!("({counter} + {item})"),
            Some(by) => format!("({counter} + {item} * {by})"),
        };
        let value = with(function, counter, maximum.value, &place);
        let mut edits = vec![Edit::replace(sums.call.byte_range(), added.as_str())];
        let variables = match sums.sum.how {
            How::Compensated { lost: old } => vec![(sums.sum.name, sum), (old, lost)],
            How::Sum | How::Choice(_) | How::Comparison(_) => vec![(sums.sum.name, sum)],
        };
        for node in all(sums.counted.body, &["identifier"]) {
            let known = variables.iter().find(|(old, _)| *old == subject.of_node(node));
            edits.extend(known.map(|(_, new)| Edit::replace(node.byte_range(), *new)));
        }
        edits.sort_by_key(|edit| edit.range.start);
        let body = subject.with(sums.counted.body, edits);
        let from = subject.indentation(sums.counted.node.start_byte());
        let body = moved(&body, indentation.strip_prefix(from).unwrap_or_default());
        let scaled: String =
            variables.iter().map(|(_, new)| format!("{indentation}{new} *= {scale};\n")).collect();
        let callee = sums.callee;
        let each = format!(
            "#pragma unroll\n{indentation}for (int {item} = 0; {item} < {count}; ++{item})"
        );
        format!(
            "{indentation}float {values}[{count}];\n\
             {each} {{\n{indentation}    {values}[{item}] = {value};\n{indentation}}}\n\
             {indentation}float {larger} = {best};\n\
             {each} {{\n{indentation}    {larger} = fmaxf({larger}, {values}[{item}]);\n{indentation}}}\n\
             {indentation}const float {scale} = {callee}({best} - {larger});\n{scaled}\
             {indentation}{best} = {larger};\n\
             {indentation}float {added} = 0.0f;\n\
             {each} {{\n{indentation}    {added} += {callee}({values}[{item}] - {best});\n{indentation}}}\n\
             {indentation}{body}\n"
        )
    }

    fn in_place_of_sum(&self) -> String {
        let Self { maximum, sums, names, .. } = self;
        let Names { sum, own, .. } = names;
        let (best, callee, name) = (maximum.name, sums.callee, sums.sum.name);
        format!("{name} += {own} == {best} ? {sum} : {sum} * {callee}({own} - {best});")
    }
}
