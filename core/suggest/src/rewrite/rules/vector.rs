//! Vector accesses of 16 bytes in a loop over neighbouring elements, with the scalar loop for the remainder.

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;

use super::super::Rule;
use super::super::canonical::{
    Among, Canonical, all_threads, block_size, canonical, global_thread, is_uniform,
};
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{
    CountedLoop, Step, counted_loop, is_innermost, is_invariant, jump, loops, statement_start,
};
use super::super::pointers::{Access, Element, elements, is_unconditional};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::ScalarType;
use super::super::syntax::{
    all, ancestors, enclosing, in_lambda, is_compound, moved, one_line, part, statements,
};
use super::tiles::form;

pub(in super::super) const RULE: Rule = Rule {
    id: "vector-access",
    title: "access sixteen bytes at a time",
    reason: "one instruction moves what took four or eight, so that fewer of them have more bytes under way",
    needs: "an innermost loop from 0 by 1, or from the thread by the warp, block or grid, with `p[i]` of inputs or `q[i] = …;`; alignment is asked for when it runs",
    technique: "vector-loads",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in loops(&function).into_iter().filter(|node| is_innermost(*node)) {
            found.add(function.line(node), vectorised(&function, node));
        }
    }
    found.finish("innermost loop in a launched kernel")
}

/// Distribution of the elements of a loop over threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    /// One thread goes over all of them.
    Alone,
    /// Threads take turns.
    Shared(Among),
}

/// The pointers whose elements become vectors, each with its type.
pub(super) struct Streams<'s> {
    pub(super) loads: Vec<(&'s str, &'s str)>,
    pub(super) stores: Vec<(&'s str, &'s str)>,
    /// Elements of sixteen bytes.
    pub(super) width: usize,
}

/// Code of an iteration over a vector of elements.
pub(super) struct Iteration<'t> {
    /// The template of vectors.
    pub(super) vector: &'t str,
    /// Number of elements of a vector.
    pub(super) width: &'t str,
    /// Pointers whose vector is in a register, which is not loaded.
    pub(super) kept: &'t [(&'t str, String)],
    /// The smallest index of an element, if it is not 0.
    pub(super) from: Option<i128>,
}

/// A loop over elements, and how threads share it.
pub(super) struct Head<'s> {
    pub(super) counted: CountedLoop<'s>,
    /// Start of the loop, including a pragma before it.
    pub(super) start: usize,
    pub(super) walk: Walk,
    /// The first element that is shared.
    pub(super) first: i128,
}

/// The loop, if it is a statement of a block and counts upwards with a signed counter.
pub(super) fn head<'s>(function: &Function<'s>, node: Node<'s>) -> Result<Head<'s>, Missing> {
    let counted = counted_loop(function, node)
        .ok_or_else(|| form(function, node, "a loop that counts upwards"))?;
    let start = statement_start(node).ok_or_else(|| form(function, node, "a loop in a block"))?;
    if !matches!(ScalarType::named(counted.type_name), Some(ScalarType::I32 | ScalarType::I64)) {
        return Err(form(function, counted.declaration, "a signed counter"));
    }
    let (walk, first) = walk(function, &counted)?;
    Ok(Head { counted, start, walk, first })
}

/// Checks that an iteration neither ends the loop nor waits for other threads.
pub(super) fn check_body(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
) -> Result<(), Missing> {
    if let Some(jump) = jump(counted.body) {
        let what = function.subject.line_of(jump);
        return Err(Missing::Contains { what, why: "the loop may end early" });
    }
    match function.meeting(counted.body) {
        Some(call) => Err(Missing::Contains {
            what: call.to_owned(),
            why: "the loop contains a barrier or a warp exchange",
        }),
        None => Ok(()),
    }
}

fn vectorised(function: &Function<'_>, node: Node<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let form = |found: Node<'_>, expected| form(function, found, expected);
    let Head { counted, start, walk, first } = head(function, node)?;
    if first != 0 {
        return Err(form(node, TURNS));
    }
    if !is_invariant(function, counted.end, node) {
        return Err(form(counted.end, "an end that the loop does not change"));
    }
    check_body(function, &counted)?;
    let streams = streams(function, &counted, walk, 0)?;
    if streams.width == 0 {
        let expected = "an input at the counter, `p[i]`, or a result, `q[i] = …;`";
        return Err(form(counted.body, expected));
    }
    let vector = subject.fresh("Vector16");
    let text = render(function, &counted, &streams, walk, &vector);
    let structure = format!(
        "template <typename T>\nstruct __align__(16) {vector} {{\n    T at[16 / sizeof(T)];\n}};\n\n"
    );
    let names: Vec<String> =
        streams.loads.iter().chain(&streams.stores).map(|(name, _)| format!("`{name}`")).collect();
    let line = function.line(node);
    let what = format!(
        "{} {} 16 bytes at a time in the loop of line {line}",
        names.join(", "),
        if names.len() == 1 { "moves" } else { "move" }
    );
    let edits = vec![
        Edit::insert(function.outer.start_byte(), structure),
        Edit::replace(start..node.end_byte(), text),
    ];
    Ok(Rewrite::new(what, line, edits))
}

const TURNS: &str = "a loop from 0 by 1, or from the thread by the warp, block or grid";

/// How threads share a loop, and the first element that they share.
fn walk(function: &Function<'_>, counted: &CountedLoop<'_>) -> Result<(Walk, i128), Missing> {
    let subject = function.subject;
    let (start, first) = canonical(function, counted.start).split();
    let by = match counted.step {
        Step::One if start == Canonical::default() => return Ok((Walk::Alone, first)),
        Step::One => None,
        Step::By(node) => Some(canonical(function, node)),
    };
    let thread = Canonical::name("threadIdx.x");
    let one_dimension = function.dimensions() == 1;
    let over_block = start == thread && by.is_some() && by == block_size(function);
    let over_grid = one_dimension
        && Some(&start) == global_thread(function).as_ref()
        && by.is_some()
        && by == all_threads(function);
    let over_warp = one_dimension
        && start == Canonical::name("threadIdx.x%32")
        && by.and_then(|by| by.as_integer()) == Some(32);
    if !over_block && !over_grid && !over_warp {
        let found = subject.line_of(counted.node).chars().take(60).collect();
        return Err(Missing::Form { found, expected: TURNS });
    }
    let among = if over_warp { Among::Warp } else { Among::Row };
    check_company(function, counted, among)?;
    Ok((Walk::Shared(among), first))
}

/// All threads that take turns in a loop get to it, equally often, and see the same end.
fn check_company(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
    among: Among,
) -> Result<(), Missing> {
    let subject = function.subject;
    if !is_uniform(function, counted.end, among) {
        let found = subject.line_of(counted.end);
        return Err(Missing::Form { found, expected: "an end that is the same for all threads" });
    }
    let conditional = ancestors(counted.node)
        .take_while(|outer| outer.id() != function.body.id())
        .find(|outer| !matches!(outer.kind(), "compound_statement" | "for_statement"));
    let jumps = ["return_statement", "break_statement", "continue_statement"];
    let leaving = all(function.body, &jumps).into_iter().find(|node| {
        let guard = enclosing(*node, &["if_statement"]).and_then(|guard| part(guard, "condition"));
        node.start_byte() < counted.node.start_byte()
            && !in_lambda(*node)
            && !guard.is_some_and(|guard| is_uniform(function, guard, among))
    });
    let uneven = ancestors(counted.node)
        .take_while(|outer| outer.id() != function.body.id())
        .find(|outer| outer.kind() == "for_statement" && !is_even(function, *outer, among));
    match conditional.or(leaving).or(uneven) {
        Some(node) => Err(Missing::Contains {
            what: subject.line_of(node).chars().take(60).collect(),
            why: "some threads may not reach the loop, so that their elements would be missing",
        }),
        None => Ok(()),
    }
}

/// Whether all threads that differ along x only take as many turns of a loop.
fn is_even<'s>(function: &Function<'s>, node: Node<'s>, among: Among) -> bool {
    counted_loop(function, node).is_some_and(|counted| {
        let step = match counted.step {
            Step::One => None,
            Step::By(step) => Some(step),
        };
        [Some(counted.start), Some(counted.end), step]
            .into_iter()
            .flatten()
            .all(|part| is_uniform(function, part, among))
    })
}

/// The pointers of a loop whose elements can be vectors; with a width of zero, of the first that is found.
pub(super) fn streams<'s>(
    function: &Function<'s>,
    counted: &CountedLoop<'s>,
    walk: Walk,
    width: usize,
) -> Result<Streams<'s>, Missing> {
    let subject = function.subject;
    let place = Canonical::name(counted.name);
    let all_elements = elements(function, counted.body);
    // The other elements of a vector may not exist where a condition decides about a load.
    let is_loaded = |element: &Element<'_, 's>| {
        element.pointer.parameter.is_input(function)
            && is_unconditional(function, element.node, counted.node)
    };
    let mut streams = Streams { loads: Vec::new(), stores: Vec::new(), width };
    for element in &all_elements {
        let name = subject.of_node(element.base);
        let kind = element.pointer.element;
        let Some(width) = elements_of_vector(kind) else { continue };
        let is_here =
            element.index.kind() == "identifier" && canonical(function, element.index) == place;
        let fits = streams.width == 0 || streams.width == width;
        let is_known = match walk {
            Walk::Alone => true,
            Walk::Shared(among) => is_uniform_pointer(function, element.base, among),
        };
        if !is_here || !fits || !is_known || element.pointer.parameter.twin(function).is_some() {
            continue;
        }
        let list = match element.access {
            Access::Load if is_loaded(element) => &mut streams.loads,
            Access::Store if is_only_store(&all_elements, element, counted) => &mut streams.stores,
            Access::Load | Access::Store | Access::Other => continue,
        };
        if !list.iter().any(|(known, _)| *known == name) {
            list.push((name, kind));
        }
        streams.width = width;
    }
    Ok(streams)
}

/// Whether nothing else in the loop is about the buffer, and the statement is one of the loop's own.
fn is_only_store(
    all_elements: &[Element<'_, '_>],
    element: &Element<'_, '_>,
    counted: &CountedLoop<'_>,
) -> bool {
    let own = element.pointer.parameter.name;
    let alone =
        all_elements.iter().filter(|other| other.pointer.parameter.name == own).count() == 1;
    let statement = element.node.parent().and_then(|assignment| assignment.parent());
    alone
        && statements(counted.body)
            .iter()
            .any(|each| Some(each.id()) == statement.map(|node| node.id()))
}

/// Whether the pointer is the same for all threads that take turns.
fn is_uniform_pointer(function: &Function<'_>, base: Node<'_>, among: Among) -> bool {
    let text = function.subject.of_node(base);
    match function.local(text, base) {
        None => true,
        Some(local) => local.value.is_some_and(|value| is_uniform(function, value, among)),
    }
}

/// Elements of a type in sixteen bytes.
fn elements_of_vector(kind: &str) -> Option<usize> {
    let dtype = Dtype::from_c_name(&one_line(kind))?;
    let is_loaded = dtype.is_integer() || dtype.bits() > 8;
    is_loaded.then(|| 128 / dtype.bits() as usize)
}

fn render(
    function: &Function<'_>,
    counted: &CountedLoop<'_>,
    streams: &Streams<'_>,
    walk: Walk,
    vector: &str,
) -> String {
    let subject = function.subject;
    let (name, kind, width) = (counted.name, counted.type_name, streams.width);
    let start = subject.of_node(counted.start);
    let end = subject.of_node(counted.end);
    let whole = if is_compound(counted.end) { format!("({end})") } else { end.to_owned() };
    let outer = subject.indentation(counted.node.start_byte());
    let inner = format!("{outer}    ");
    let pointers = streams.loads.iter().chain(&streams.stores).map(|(pointer, _)| *pointer);
    let aligned = aligned(pointers, "16");
    let vectors = subject.fresh("vectors");
    let update = match counted.step {
        Step::One => format!("++{vector_name}", vector_name = subject.fresh("vector")),
        Step::By(by) => format!("{} += {}", subject.fresh("vector"), subject.of_node(by)),
    };
    let index = subject.fresh("vector");
    let iteration = Iteration { vector, width: &streams.width.to_string(), kept: &[], from: None };
    let turn = iteration.text(function, counted, streams, &format!("{inner}    "));
    let rest = moved(subject.of_node(counted.body), "    ");
    let first = match walk {
        Walk::Alone => format!("{vectors} * {width}"),
        Walk::Shared(_) => format!("{vectors} * {width} + {start}"),
    };
    let written = subject.of_node(counted.update);
    format!(
        "{{\n{inner}const {kind} {vectors} = {aligned} ? {whole} / {width} : 0;\n\
         {inner}for ({kind} {index} = {start}; {index} < {vectors}; {update}) {{\n\
         {inner}    const {kind} {name} = {index} * {width};\n{turn}{inner}}}\n\
         {inner}for ({kind} {name} = {first}; {name} < {end}; {written}) {rest}\n{outer}}}"
    )
}

/// Condition that addresses are multiples of a number of bytes.
pub(super) fn aligned<'p>(pointers: impl Iterator<Item = &'p str>, bytes: &str) -> String {
    let address = |pointer| format!("reinterpret_cast<unsigned long long>({pointer})");
    let addresses: Vec<String> = pointers.map(address).collect();
    match addresses.as_slice() {
        [only] => format!("{only} % {bytes} == 0"),
        several => format!("({}) % {bytes} == 0", several.join(" | ")),
    }
}

impl Iteration<'_> {
    /// Loads of vectors, the body once for each of their elements, stores of vectors.
    pub(super) fn text(
        &self,
        function: &Function<'_>,
        counted: &CountedLoop<'_>,
        streams: &Streams<'_>,
        indentation: &str,
    ) -> String {
        let subject = function.subject;
        let Self { vector, width, .. } = self;
        let counter = counted.name;
        let lane = subject.fresh("lane");
        let kept = |pointer: &str| self.kept.iter().find(|(known, _)| *known == pointer);
        let register = |pointer: &str| match kept(pointer) {
            Some((_, register)) => register.clone(),
            None => subject.fresh(&format!("{pointer}_vector")),
        };
        let mut text = String::new();
        for (pointer, kind) in streams.loads.iter().filter(|(pointer, _)| kept(pointer).is_none()) {
            text += &format!(
                "{indentation}const {vector}<{kind}> {} = *reinterpret_cast<const {vector}<{kind}>*>({pointer} + {counter});\n",
                register(pointer)
            );
        }
        for (pointer, kind) in &streams.stores {
            text += &format!("{indentation}{vector}<{kind}> {};\n", register(pointer));
        }
        let mut edits = Vec::new();
        for element in elements(function, counted.body) {
            let name = subject.of_node(element.base);
            let is_here = subject.of_node(element.index) == counter;
            let list = match element.access {
                Access::Load => &streams.loads,
                Access::Store => &streams.stores,
                Access::Other => continue,
            };
            if is_here && list.iter().any(|(known, _)| *known == name) {
                let text = format!("{}.at[{lane}]", register(name));
                edits.push(Edit::replace(element.node.byte_range(), text));
            }
        }
        let replaced: Vec<_> = edits.iter().map(|edit: &Edit| edit.range.clone()).collect();
        for name in all(counted.body, &["identifier"]) {
            let is_counter = subject.of_node(name) == counter;
            if is_counter && !replaced.iter().any(|range| range.contains(&name.start_byte())) {
                edits.push(Edit::replace(name.byte_range(), format!("({counter} + {lane})")));
            }
        }
        let outer = subject.indentation(counted.node.start_byte());
        let by = indentation.strip_prefix(outer).unwrap_or_default();
        let body = moved(&subject.with(counted.body, edits), by);
        let only = self
            .from
            .map_or_else(String::new, |first| format!("if ({counter} + {lane} >= {first}) "));
        text += &format!(
            "#pragma unroll\n{indentation}for (int {lane} = 0; {lane} < {width}; ++{lane}) {only}{body}\n"
        );
        for (pointer, kind) in &streams.stores {
            text += &format!(
                "{indentation}*reinterpret_cast<{vector}<{kind}>*>({pointer} + {counter}) = {};\n",
                register(pointer)
            );
        }
        text
    }
}
