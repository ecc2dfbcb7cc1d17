//! A warp or a block instead of one thread for each row: its threads share the iterations of loops.

pub(super) mod collected;
mod memory;
mod region;
mod turns;

use lightbench_cuda_source::Node;

use super::super::Rule;
use super::super::bounds::check_grid;
use super::super::condition::terms;
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Local};
use super::super::kernel_source::{KernelSource, Site};
use super::super::members;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::{is_compound, is_return, part, statements};
use super::super::thread_index::{divided, is_launch_size, thread_index};
use super::row_registers::also_kept;
use super::warp_reduction::sizes;
use region::{Group, Region};

pub(in super::super) const WARP: Rule = Rule {
    id: "warp-per-row",
    title: "give a warp what one thread did",
    reason: "lanes walk along a row side by side, so that a load of the warp is neighbours instead of 32 rows",
    needs: "a launch of one dimension with one row for each thread behind a guard, and loops by 1 that add up, choose the largest or smallest, or write an element in each turn",
    technique: "coalesce-loads",
    apply: warps,
};

pub(in super::super) const BLOCK: Rule = Rule {
    id: "block-per-row",
    title: "give a block what one thread did",
    reason: "threads walk along a row side by side, and a few long rows are enough to fill the device",
    needs: "what `warp-per-row` needs",
    technique: "coalesce-loads",
    apply: blocks,
};

/// Group of threads that shares a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharers {
    Warp,
    Block,
}

fn warps(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    shared_rows(subject, Sharers::Warp)
}

fn blocks(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    shared_rows(subject, Sharers::Block)
}

fn shared_rows(
    subject: &KernelSource<'_>,
    sharers: Sharers,
) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let rewrite = rewritten(&function, sharers);
        let kept = match (&rewrite, sharers) {
            (Ok(shared), Sharers::Block) => also_kept(&function, shared),
            (Ok(_), Sharers::Warp) | (Err(_), Sharers::Warp | Sharers::Block) => None,
        };
        found.add(function.line(function.node), rewrite);
        if let Some(kept) = kept {
            found.offer(kept);
        }
    }
    found.finish("launched kernel")
}

/// The rewrite of a kernel, with variables in place of structs that collect.
fn rewritten(function: &Function<'_>, sharers: Sharers) -> Result<Rewrite, Missing> {
    check_launches(function)?;
    let subject = function.subject;
    let line = function.line(thread_index(function)?.declaration);
    let who = match sharers {
        Sharers::Warp => "warp",
        Sharers::Block => "block",
    };
    let what = format!("a {who} of `{}` shares what a thread did (line {line})", function.name);
    if let Some(members) = members::replaced(function) {
        let text = members.apply(subject.source);
        let plain = subject.edited(&members, &text);
        let functions = plain.as_ref().map(KernelSource::functions).unwrap_or_default();
        if let Some(plain) = functions.iter().find(|other| other.name == function.name) {
            let rewritten = Rewrite::new("", 0, edits(plain, sharers)?).apply(&text);
            return Ok(Rewrite::between(what, line, subject.source, &rewritten));
        }
    }
    Ok(Rewrite::new(what, line, edits(function, sharers)?))
}

/// The guard of the row, and the statements that it guards.
struct Guard<'s> {
    end: Node<'s>,
    work: Vec<Node<'s>>,
}

fn edits(function: &Function<'_>, sharers: Sharers) -> Result<Vec<Edit>, Missing> {
    let subject = function.subject;
    let row = thread_index(function)?;
    let guard = guard(function, &row)?;
    let group = Group {
        lane: subject.fresh("lane"),
        lanes: match sharers {
            Sharers::Warp => "32",
            Sharers::Block => "blockDim.x",
        },
        join: subject.fresh(match sharers {
            Sharers::Warp => "across_warp",
            Sharers::Block => "across_block",
        }),
    };
    let rows = match sharers {
        Sharers::Warp => None,
        Sharers::Block => rows_of_block(function),
    };
    let mut region = Region { function, group: &group, edits: Vec::new(), shared: Vec::new() };
    guard.work.iter().try_for_each(|node| region.statement(*node))?;
    let Region { mut edits, shared, .. } = region;
    if shared.is_empty() {
        return Err(Missing::Form {
            found: function.name.to_owned(),
            expected: "a loop whose turns can be shared",
        });
    }
    memory::check(function, &shared)?;
    let joins = edits.iter().any(|edit| edit.replacement.contains(&group.join));
    if joins {
        // Lanes may end with different ones of two that compare equal: the first lane's is the one for all.
        let last = if edits.iter().any(|edit| edit.replacement.contains(" ? b : a")) {
            "__shfl_sync(0xffffffffu, value, 0)"
        } else {
            "value"
        };
        let text = helpers(subject, &group, (sharers, rows.is_some()), last);
        edits.push(Edit::insert(function.outer.start_byte(), text));
    }
    edits.extend(place(function, &row, &group, (sharers, rows.as_ref())));
    edits.extend(match &rows {
        Some(rows) => blocks_of_rows(function, &guard, rows)?,
        None => grids(function, &guard, sharers)?,
    });
    Ok(edits)
}

/// A block of one parameter, which may be a warp: blocks of one warp each would leave half of a multiprocessor's warps
/// unused, so that several rows share a block then.
struct RowsOfBlock<'s> {
    site: Site<'s>,
    block: &'s str,
    /// The new parameter.
    rows: String,
}

/// Rows of a block of warps, the default first.
const ROWS: [i64; 4] = [4, 1, 2, 8];

fn rows_of_block<'s>(function: &Function<'s>) -> Option<RowsOfBlock<'s>> {
    let subject = function.subject;
    let [site] = function.sites.as_slice() else { return None };
    let [block] = site.step.block.as_slice() else { return None };
    let block = block.as_name()?;
    let parameter = subject.launch.parameters.iter().find(|each| each.name == block)?;
    let rows = || RowsOfBlock { site: *site, block, rows: subject.fresh("ROWS") };
    parameter.values.contains(&32).then(rows)
}

fn blocks_of_rows(
    function: &Function<'_>,
    guard: &Guard<'_>,
    RowsOfBlock { site, block, rows }: &RowsOfBlock<'_>,
) -> Result<Vec<Edit>, Missing> {
    let subject = function.subject;
    let all = grid(function, site, guard.end, Sharers::Block);
    check_grid(function, &all)?;
    let mut edits = vec![
        subject.new_parameter(rows, &ROWS)?,
        subject.new_condition(&format!("{rows} == 1 or {block} == 32")),
        subject.new_size(site.size("grid", 0), &format!("ceil_div({all}, {rows})")),
        Edit::replace(site.at.field("block").span.clone(), format!("[\"{block}\", \"{rows}\"]")),
    ];
    if let Some(threads) = function.bounded_threads() {
        let text = subject.of_node(threads);
        let text = if is_compound(threads) { format!("({text})") } else { text.to_owned() };
        edits.push(Edit::replace(threads.byte_range(), format!("{text} * PARAM_{rows}")));
    }
    Ok(edits)
}

fn check_launches(function: &Function<'_>) -> Result<(), Missing> {
    for site in &function.sites {
        if function.dimensions() != 1 {
            let found = format!("{} dimensions", function.dimensions());
            return Err(Missing::Form { found, expected: "a launch of one dimension" });
        }
        if site.step.cooperative || site.step.cluster.is_some() {
            let what = site.step.kernel.text().to_owned();
            return Err(Missing::Contains {
                what,
                why: "the launch is cooperative, or in clusters",
            });
        }
    }
    for size in sizes(function) {
        if !size.is_some_and(|size| size >= 32 && size % 32 == 0) {
            let found =
                size.map_or_else(|| "a block".to_owned(), |size| format!("a block of {size}"));
            return Err(Missing::Form { found, expected: "blocks of whole warps" });
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

fn guard<'s>(function: &Function<'s>, row: &Local<'s>) -> Result<Guard<'s>, Missing> {
    let subject = function.subject;
    let expected = "one guard of the row, around all that follows or with a return";
    let body = statements(function.body);
    let missing = || Missing::Form { found: function.name.to_owned(), expected };
    let at = body.iter().position(|node| node.kind() == "if_statement").ok_or_else(missing)?;
    let (before, rest) = body.split_at(at);
    let node = *rest.first().ok_or_else(missing)?;
    let form = |node: Node<'_>| turns::form(function, node, expected);
    let condition = part(node, "condition").ok_or_else(|| form(node))?;
    let consequence = part(node, "consequence").ok_or_else(|| form(node))?;
    let returns = is_return(consequence);
    let (joined, wanted) = if returns { ("||", ">=") } else { ("&&", "<") };
    let found = terms(function, condition, joined);
    let [term] = *found.as_slice() else { return Err(form(condition)) };
    let operator = part(term, "operator").map(|node| subject.of_node(node));
    let is_row = part(term, "left").map(|left| subject.of_node(left)) == Some(row.name);
    let end = part(term, "right").filter(|_| is_row && operator == Some(wanted));
    let end = end.ok_or_else(|| form(term))?;
    if part(node, "alternative").is_some() || (!returns && rest.len() > 1) {
        return Err(form(node));
    }
    let own = before.iter().copied().filter(|each| each.id() != row.declaration.id());
    let after =
        if returns { rest.get(1..).unwrap_or_default().to_vec() } else { statements(consequence) };
    Ok(Guard { end, work: own.chain(after).collect() })
}

/// The row of a group, and the number of a thread in it.
fn place(
    function: &Function<'_>,
    row: &Local<'_>,
    group: &Group,
    (sharers, rows): (Sharers, Option<&RowsOfBlock<'_>>),
) -> Vec<Edit> {
    let subject = function.subject;
    let kind = row.type_name;
    let (value, lane) = match sharers {
        Sharers::Warp => (
            format!("static_cast<{kind}>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32"),
            "threadIdx.x % 32",
        ),
        Sharers::Block => match rows {
            Some(RowsOfBlock { rows, .. }) => {
                let first = format!("static_cast<{kind}>(blockIdx.x) * PARAM_{rows}");
                (format!("{first} + threadIdx.y"), "threadIdx.x")
            }
            None => ("blockIdx.x".to_owned(), "threadIdx.x"),
        },
    };
    let indentation = subject.indentation(row.declaration.start_byte());
    let after = format!("\n{indentation}const int {} = {lane};", group.lane);
    let mut edits = vec![Edit::insert(row.declaration.end_byte(), after)];
    edits.extend(row.value.map(|node| Edit::replace(node.byte_range(), value)));
    edits
}

/// As many groups as there were threads, or as there are rows.
fn grids(
    function: &Function<'_>,
    guard: &Guard<'_>,
    sharers: Sharers,
) -> Result<Vec<Edit>, Missing> {
    let subject = function.subject;
    let mut edits = Vec::new();
    for site in &function.sites {
        let grid = grid(function, site, guard.end, sharers);
        check_grid(function, &grid)?;
        edits.push(subject.new_size(site.size("grid", 0), &grid));
    }
    Ok(edits)
}

fn grid(function: &Function<'_>, site: &Site<'_>, end: Node<'_>, sharers: Sharers) -> String {
    let text = |list: &[lightbench_project::expression::Expression]| {
        list.first().map_or("1", |size| size.text()).to_owned()
    };
    let (grid, block) = (text(&site.step.grid), text(&site.step.block));
    let rows = divided(site, 0).filter(|size| is_launch_size(function, site, end, size));
    match (sharers, rows) {
        (Sharers::Warp, Some(rows)) => format!("ceil_div(32 * ({rows}), {block})"),
        (Sharers::Block, Some(rows)) => rows.to_owned(),
        (Sharers::Warp, None) => format!("32 * ({grid})"),
        (Sharers::Block, None) => format!("({grid}) * ({block})"),
    }
}

/// The functions that join what the threads of a group have; all of them get the same.
fn helpers(
    subject: &KernelSource<'_>,
    group: &Group,
    (sharers, has_rows): (Sharers, bool),
    last: &str,
) -> String {
    let join = &group.join;
    let warp = match sharers {
        Sharers::Warp => join.clone(),
        Sharers::Block => subject.fresh("across_warp"),
    };
    let head = "template <typename T, typename Join>\n__device__ T";
    let mut text = format!(
        "{head} {warp}(T value, Join join) {{\n\
         #pragma unroll\n\
         \x20   for (int distance = 16; distance > 0; distance /= 2) {{\n\
         \x20       value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));\n\
         \x20   }}\n\
         \x20   return {last};\n}}\n\n"
    );
    if sharers == Sharers::Block {
        let alone = if has_rows {
            "    if (blockDim.x == 32) {\n        return value;\n    }\n"
        } else {
            ""
        };
        text += &format!(
            "{head} {join}(T value, Join join) {{\n\
             \x20   __shared__ T parts[32];\n\
             \x20   value = {warp}(value, join);\n\
             {alone}\
             \x20   __syncthreads();\n\
             \x20   if (threadIdx.x % 32 == 0) {{\n\
             \x20       parts[threadIdx.x / 32] = value;\n\
             \x20   }}\n\
             \x20   __syncthreads();\n\
             \x20   value = parts[0];\n\
             \x20   for (int warp = 1; warp < blockDim.x / 32; ++warp) {{\n\
             \x20       value = join(value, parts[warp]);\n\
             \x20   }}\n\
             \x20   return value;\n}}\n\n"
        );
    }
    text
}
