//! A row that the threads of a warp or a block read in several loops, kept in their registers between the loops.

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::canonical::{Among, Canonical, block_size, canonical};
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{CountedLoop, is_innermost, is_invariant, loops};
use super::super::pointers::{Access, elements, is_unconditional};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::{all, bare, contains, moved, part};
use super::axis_constants::axis;
use super::tiles::form;
use super::vector::{Head, Iteration, Streams, Walk, aligned, check_body, head, streams};

pub(in super::super) const RULE: Rule = Rule {
    id: "row-in-registers",
    title: "keep a row in registers between loops",
    reason: "a row is loaded once instead of once in each loop, in vectors where rows are aligned, and all its loads are in flight together",
    needs: "two loops of one block or warp, from the thread to the same axis, with `p[i]` of the same input",
    technique: "keep-in-registers",
    apply,
};

/// Bytes of a row in the registers of a thread: 32 of its 255 registers.
const KEPT_BYTES: i64 = 128;

/// Threads of the largest block; CUDA C++ Programming Guide, table of technical specifications.
const MAX_THREADS: i64 = 1024;

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let rewrite = kept(&function).map(|Registers { what, line, edits }| {
            Rewrite::new(format!("{what} from line {line} on"), line, edits)
        });
        found.add(function.line(function.node), rewrite);
    }
    found.finish("launched kernel")
}

/// The rewrite in which a block that shares rows keeps them, too; none if it keeps none.
pub(super) fn also_kept(function: &Function<'_>, shared: &Rewrite) -> Option<Rewrite> {
    let subject = function.subject;
    let text = shared.apply(subject.source);
    let draft = subject.project.draft("drafted", text.clone()).ok()?;
    let read = KernelSource::from_kernel(subject.project, &draft).ok()?;
    let functions = read.functions();
    let same = functions.iter().find(|other| other.name == function.name)?;
    let Registers { what, edits, .. } = kept(same).ok()?;
    let rewritten = Rewrite::new("", 0, edits).apply(&text);
    let what = format!("{}, and {what}", shared.what);
    Some(Rewrite::between(what, shared.line, subject.source, &rewritten))
}

/// A change that keeps rows.
struct Registers {
    /// Without the line.
    what: String,
    line: usize,
    edits: Vec<Edit>,
}

/// A loop in which threads share a row.
struct Pass<'s> {
    counted: CountedLoop<'s>,
    /// Start of the loop, including a pragma before it.
    start: usize,
    walk: Walk,
    /// The first element; the threads begin at it.
    first: i128,
    axis: String,
}

impl Pass<'_> {
    /// Indentation of code in place of the loop, and of what follows code before it: a pragma has none.
    fn indented<'f>(&self, function: &'f Function<'_>) -> (&'f str, &'f str) {
        let outer = function.subject.indentation(self.counted.node.start_byte());
        if self.start == self.counted.node.start_byte() { ("", outer) } else { (outer, "") }
    }

    /// Whether the same threads have the same elements of a row in another loop of the same block of statements.
    fn goes_with(&self, other: &Self) -> bool {
        let parent = |pass: &Self| pass.counted.node.parent().map(|node| node.id());
        parent(self) == parent(other) && self.walk == other.walk && self.axis == other.axis
    }
}

/// An input that several loops read.
struct Kept<'s> {
    pointer: &'s str,
    type_name: &'s str,
    register: String,
}

/// Names of the new code.
struct Names {
    chunk: String,
    elements: String,
    chunks: String,
    kept: String,
    is_kept: String,
    item: String,
    index: String,
    threads: String,
    thread: &'static str,
}

fn kept(function: &Function<'_>) -> Result<Registers, Missing> {
    let subject = function.subject;
    let missing = || Missing::Form {
        found: function.name.to_owned(),
        expected: "two loops in which a warp or a block reads the same input up to the same axis",
    };
    let nodes = loops(function).into_iter().filter(|node| is_innermost(*node));
    let read: Vec<_> = nodes.map(|node| pass(function, node)).collect();
    let passes: Vec<&Pass<'_>> = read.iter().filter_map(|pass| pass.as_ref().ok()).collect();
    let group = passes.iter().map(|first| {
        passes.iter().copied().filter(|pass| pass.goes_with(first)).collect::<Vec<_>>()
    });
    let passes = group.max_by_key(Vec::len).unwrap_or_default();
    let [first, _, ..] = passes.as_slice() else {
        let refusal = read.into_iter().find_map(Result::err);
        return Err(refusal.unwrap_or_else(missing));
    };
    let (thread, threads) = match first.walk {
        Walk::Shared(Among::Warp) => ("threadIdx.x % 32", Some("32".to_owned())),
        Walk::Shared(Among::Row) => {
            ("threadIdx.x", block_size(function).as_ref().and_then(Canonical::written))
        }
        Walk::Alone => return Err(missing()),
    };
    let threads = threads.ok_or_else(missing)?;
    let (width, inputs) = repeated(function, &passes)?;
    if inputs.is_empty() {
        return Err(missing());
    }
    let names = Names {
        chunk: subject.fresh("Chunk"),
        elements: subject.fresh("elements_of_chunk"),
        chunks: subject.fresh("chunks_of_row"),
        kept: subject.fresh("kept_chunks"),
        is_kept: subject.fresh("is_kept"),
        item: subject.fresh("item"),
        index: subject.fresh("chunk"),
        thread,
        threads,
    };
    let elements = width as i64;
    let most = KEPT_BYTES / 16 * elements;
    let mut edits = launch(function, first, (elements, most));
    edits.push(Edit::insert(function.outer.start_byte(), structure(first, &names, most, elements)));
    edits.push(Edit::insert(first.start, loads(function, first, &inputs, &names)));
    for pass in &passes {
        edits.push(rewritten(function, pass, &inputs, &names, width)?);
    }
    let rows: Vec<String> = inputs.iter().map(|input| format!("`{}`", input.pointer)).collect();
    let line = function.line(first.counted.node);
    let verb = if rows.len() == 1 { "stays" } else { "stay" };
    let what = format!("{} {verb} in registers", rows.join(", "));
    Ok(Registers { what, line, edits })
}

fn pass<'s>(function: &Function<'s>, node: Node<'s>) -> Result<Pass<'s>, Missing> {
    let form = |found: Node<'_>, expected| form(function, found, expected);
    let Head { counted, start, walk, first } = head(function, node)?;
    if walk == Walk::Alone || first < 0 {
        return Err(form(counted.start, "a loop that a warp or a block shares"));
    }
    check_body(function, &counted)?;
    let axis = is_invariant(function, counted.end, node)
        .then(|| axis_of(function, counted.end))
        .flatten()
        .ok_or_else(|| form(counted.end, "an end that is an axis"))?;
    check_memory(function, &counted)?;
    Ok(Pass { counted, start, walk, first, axis })
}

/// Other threads than before write the elements of a row: what a loop writes must not be accessed elsewhere.
fn check_memory(function: &Function<'_>, counted: &CountedLoop<'_>) -> Result<(), Missing> {
    let subject = function.subject;
    let inside = |node: Node<'_>| contains(counted.node, node);
    let everywhere = elements(function, function.body);
    for node in all(counted.body, &["assignment_expression", "update_expression"]) {
        let target = part(node, "left").or_else(|| part(node, "argument")).map(bare);
        let Some(target) = target.filter(|target| target.kind() != "identifier") else { continue };
        let element = everywhere.iter().find(|element| element.node.id() == target.id());
        let other = element.map(|element| {
            let own = element.pointer.parameter.name;
            let twin = element.pointer.parameter.twin(function).is_some();
            let mut same = everywhere.iter().filter(|each| each.pointer.parameter.name == own);
            same.find(|each| twin || !inside(each.node)).map(|each| each.node)
        });
        if other != Some(None) {
            let used = subject.line_of(other.flatten().unwrap_or(node));
            return Err(Missing::OtherUse { name: subject.line_of(target), used });
        }
    }
    match everywhere.iter().find(|each| inside(each.node) && each.access == Access::Other) {
        Some(element) => Err(Missing::Form {
            found: subject.line_of(element.node.parent().unwrap_or(element.node)),
            expected: "elements that are loaded, or set by a statement",
        }),
        None => Ok(()),
    }
}

/// The axis that an expression is in every launch.
fn axis_of(function: &Function<'_>, node: Node<'_>) -> Option<String> {
    let written = canonical(function, node).written()?;
    if let Some(axis) = written.strip_prefix("axis::").or_else(|| written.strip_prefix("AXIS_")) {
        return Some(axis.to_owned());
    }
    let parameter = function.parameter(&written)?;
    let axis = axis(parameter).filter(|_| !function.is_changed(&written, function.body))?;
    let is_axis = function.subject.definition.axes.iter().any(|known| known.name == axis);
    is_axis.then(|| axis.to_owned())
}

/// The inputs that at least two loops read by their counters, all with the same number of elements of a vector.
fn repeated<'s>(
    function: &Function<'s>,
    passes: &[&Pass<'s>],
) -> Result<(usize, Vec<Kept<'s>>), Missing> {
    let read: Result<Vec<Streams<'s>>, Missing> =
        passes.iter().map(|pass| streams(function, &pass.counted, pass.walk, 0)).collect();
    let read = read?;
    let count = |pointer: &str| {
        let has = |streams: &&Streams<'_>| streams.loads.iter().any(|(name, _)| *name == pointer);
        read.iter().filter(has).count()
    };
    let mut found: Vec<Kept<'s>> = Vec::new();
    let mut width = 0;
    for streams in &read {
        for (pointer, type_name) in &streams.loads {
            let is_new = found.iter().all(|kept| kept.pointer != *pointer);
            if is_new
                && is_whole(function, passes, pointer)
                && count(pointer) > 1
                && (width == 0 || width == streams.width)
            {
                width = streams.width;
                let register = function.subject.fresh(&format!("{pointer}_kept"));
                found.push(Kept { pointer, type_name, register });
            }
        }
    }
    Ok((width, found))
}

/// Whether all elements of a row may be loaded before the first loop: a loop loads each of them in any case, and the
/// pointer is known there.
fn is_whole<'s>(function: &Function<'s>, passes: &[&Pass<'s>], pointer: &str) -> bool {
    let loads_all = |pass: &&Pass<'s>| {
        let counted = &pass.counted;
        pass.first == 0
            && elements(function, counted.body).iter().any(|each| {
                let subject = function.subject;
                subject.of_node(each.base) == pointer
                    && subject.of_node(each.index) == counted.name
                    && is_unconditional(function, each.node, counted.node)
            })
    };
    let is_known = passes.first().is_some_and(|first| {
        function.parameter(pointer).is_some()
            || function.local(pointer, first.counted.node).is_some()
    });
    is_known && passes.iter().any(loads_all)
}

/// The axis becomes a constant. A block that is one parameter gets all sizes, and conditions under which a row fits.
fn launch(function: &Function<'_>, pass: &Pass<'_>, (width, most): (i64, i64)) -> Vec<Edit> {
    let subject = function.subject;
    let axis = &pass.axis;
    let mut edits = Vec::new();
    let block = function.sites.first().map(|site| site.step.block.as_slice());
    let name = match block {
        Some([only]) => only.as_name(),
        // Several rows share a block only if a row has a warp.
        Some([first, rows]) => first.as_name().filter(|block| {
            let condition = format!("{} == 1 or {block} == 32", rows.text());
            subject.launch.require.iter().any(|known| known.text() == condition)
        }),
        Some(_) | None => None,
    };
    let parameters = &subject.launch.parameters;
    let index = parameters.iter().position(|each| Some(each.name.as_str()) == name);
    if let (Some(index), Walk::Shared(Among::Row)) = (index, pass.walk)
        && let Some(parameter) = parameters.get(index)
        && let Some(least) = parameter.values.iter().copied().min()
        && parameter.values.iter().all(|value| (32..=MAX_THREADS).contains(value))
    {
        let powers = (5..=10).map(|exponent| 1_i64 << exponent);
        let new: Vec<i64> =
            powers.filter(|value| *value >= least && !parameter.values.contains(value)).collect();
        let block = &parameter.name;
        edits.extend(subject.new_values(index, &new).filter(|_| !new.is_empty()));
        edits.push(subject.new_conditions(&[
            format!("{axis} <= {most} * {block} or {block} == {MAX_THREADS}"),
            format!("{width} * {block} <= {axis} or {block} == {least}"),
        ]));
    }
    if subject.launch.constants.iter().all(|known| known != axis) {
        edits.push(subject.new_constant(axis));
    }
    edits
}

/// Chunks of a row: vectors where rows are aligned, else single elements.
fn structure(pass: &Pass<'_>, names: &Names, most: i64, width: i64) -> String {
    let Names { chunk, elements, chunks, kept, threads, .. } = names;
    let axis = &pass.axis;
    let mut sizes = String::new();
    let mut size = width;
    while size > 1 {
        sizes += &format!("axis::{axis} % {size} == 0 ? {size} : ");
        size /= 2;
    }
    format!(
        "constexpr int {elements} = {sizes}1;\n\
         constexpr long long {chunks} = axis::{axis} / {elements};\n\
         // Longer rows do not fit into registers.\n\
         constexpr int {kept} = axis::{axis} <= {most} * {threads} ? ({chunks} + {threads} - 1) / {threads} : 0;\n\n\
         template <typename T>\n\
         struct __align__({elements} * sizeof(T)) {chunk} {{\n    T at[{elements}];\n}};\n\n"
    )
}

/// Declarations of the registers, and the loads, before the first loop.
fn loads(function: &Function<'_>, pass: &Pass<'_>, inputs: &[Kept<'_>], names: &Names) -> String {
    let subject = function.subject;
    let Names { chunk, elements, kept, is_kept, index, .. } = names;
    let outer = subject.indentation(pass.counted.node.start_byte());
    let bytes = inputs
        .first()
        .map_or_else(String::new, |first| format!("sizeof({chunk}<{}>)", first.type_name));
    let aligned = aligned(inputs.iter().map(|input| input.pointer), &bytes);
    let mut text = format!("const bool {is_kept} = {kept} > 0 && {aligned};\n{outer}");
    let mut copies = String::new();
    for Kept { pointer, type_name, register } in inputs {
        text += &format!("{chunk}<{type_name}> {register}[{kept} > 0 ? {kept} : 1];\n{outer}");
        copies += &format!(
            "{outer}            {register}[{}] = *reinterpret_cast<const {chunk}<{type_name}>*>({pointer} + {index} * {elements});\n",
            names.item
        );
    }
    let head = names.head(outer);
    let (before, after) = pass.indented(function);
    format!(
        "{before}{text}if ({is_kept}) {{\n{head}{copies}{outer}        }}\n{outer}    }}\n{outer}}}\n{after}"
    )
}

impl Names {
    /// The loop over the chunks of a thread, up to the statements for one of them.
    fn head(&self, outer: &str) -> String {
        let Self { kept, item, index, threads, thread, chunks, .. } = self;
        format!(
            "#pragma unroll\n{outer}    for (int {item} = 0; {item} < {kept}; ++{item}) {{\n\
             {outer}        const int {index} = {thread} + {item} * {threads};\n\
             {outer}        if ({index} < {chunks}) {{\n"
        )
    }
}

/// A loop over the chunks of a thread, and the loop as it was for rows that are not kept.
fn rewritten<'s>(
    function: &Function<'s>,
    pass: &Pass<'s>,
    inputs: &[Kept<'s>],
    names: &Names,
    width: usize,
) -> Result<Edit, Missing> {
    let subject = function.subject;
    let Pass { counted, start, .. } = pass;
    let mut streams = streams(function, counted, pass.walk, width)?;
    if pass.first > 0 {
        // Elements before the first one must not be written.
        streams.stores.clear();
    }
    for Kept { pointer, type_name, .. } in inputs {
        if streams.loads.iter().all(|(known, _)| known != pointer) {
            streams.loads.push((pointer, type_name));
        }
    }
    let kept: Vec<(&str, String)> = inputs
        .iter()
        .map(|input| (input.pointer, format!("{}[{}]", input.register, names.item)))
        .collect();
    let is_kept = |pointer: &str| inputs.iter().any(|input| input.pointer == pointer);
    let others = streams.loads.iter().chain(&streams.stores).copied();
    let others: Vec<(&str, &str)> = others.filter(|(pointer, _)| !is_kept(pointer)).collect();
    let mut condition = names.is_kept.clone();
    if let Some((_, type_name)) = others.first() {
        let bytes = format!("sizeof({}<{type_name}>)", names.chunk);
        let aligned = aligned(others.iter().map(|(pointer, _)| *pointer), &bytes);
        condition += &format!(" && {aligned}");
    }
    let outer = subject.indentation(counted.node.start_byte());
    let inner = format!("{outer}            ");
    let iteration = Iteration {
        vector: &names.chunk,
        width: &names.elements,
        kept: &kept,
        from: (pass.first > 0).then_some(pass.first),
    };
    let text = iteration.text(function, counted, &streams, &inner);
    let head = names.head(outer);
    let index = format!(
        "{inner}const {} {} = {} * {};\n",
        counted.type_name, counted.name, names.index, names.elements
    );
    let (before, _) = pass.indented(function);
    let original = subject.source.get(*start..counted.node.end_byte()).unwrap_or_default();
    let original = moved(original, "    ");
    let original = if original.starts_with('#') {
        format!("\n{original}")
    } else {
        format!("\n{outer}    {original}")
    };
    Ok(Edit::replace(
        *start..counted.node.end_byte(),
        format!(
            "{before}if ({condition}) {{\n{head}{index}{text}{outer}        }}\n{outer}    }}\n{outer}}} else {{{original}\n{outer}}}"
        ),
    ))
}
