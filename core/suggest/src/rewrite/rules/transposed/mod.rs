//! A tile in shared memory between loads along one dimension and stores along the other.

mod read;

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;

use super::super::Rule;
use super::super::bounds::check_grid;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::{is_compound, one_line, statements};
use super::tiles::{depends, old_parameters, renamed};
use read::{Place, Transposed, read};

pub(in super::super) const STORES: Rule = Rule {
    id: "tiled-stores",
    title: "transpose a tile in shared memory, so that stores are coalesced too",
    reason: "a warp that loads neighbours of a row and stores neighbours of a column moves a sector for each element; a tile has rows for both",
    needs: "a launch of two dimensions with a guard or a grid loop for each, and one store that grows by 1 along y, of loads that grow by 1 along x",
    technique: "coalesce-stores",
    apply: stores,
};

pub(in super::super) const LOADS: Rule = Rule {
    id: "tiled-loads",
    title: "transpose a tile in shared memory, so that loads are coalesced too",
    reason: "a warp that loads neighbours of a column and stores neighbours of a row moves a sector for each element; a tile has rows for both",
    needs: "the conditions of `tiled-stores`, with loads that grow by 1 along y and a store that grows by 1 along x",
    technique: "coalesce-loads",
    apply: loads,
};

/// Elements along each side of a tile: threads of a warp.
const SIDE: i64 = 32;

/// Rows of threads, the default first; each divides the side.
const ROWS: [i64; 4] = [8, 16, 4, 32];

fn stores(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    turned(subject, true)
}

fn loads(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    turned(subject, false)
}

fn turned(subject: &KernelSource<'_>, stores: bool) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        let rewrite = read(&function).and_then(|read| {
            if read.loads_rows == stores {
                rewritten(&function, &read)
            } else {
                Err(Missing::Form {
                    found: subject.line_of(read.to),
                    expected: if stores {
                        "a store that grows by 1 along y"
                    } else {
                        "a store that grows by 1 along x"
                    },
                })
            }
        });
        found.add(function.line(function.node), rewrite);
    }
    found.finish("launched kernel")
}

fn rewritten(function: &Function<'_>, read: &Transposed<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let Transposed { site, row, col, .. } = read;
    let rows = subject.fresh("TILE_ROWS");
    let grid = format!("ceil_div({}, {SIDE}) * ceil_div({}, {SIDE})", col.size, row.size);
    check_grid(function, &grid)?;
    let body = function.body.byte_range();
    let old = old_parameters(function, *site, &[body]);
    let mut edits = if old.is_empty() {
        vec![subject.new_parameter(&rows, &ROWS)?]
    } else {
        renamed(function, *site, &old, (&rows, &ROWS))
    };
    // A third dimension stays as it is.
    let sizes = match site.step.grid.get(2) {
        Some(third) => format!("[\"{grid}\", 1, \"{}\"]", third.text()),
        None => format!("[\"{grid}\"]"),
    };
    edits.push(Edit::replace(site.at.field("grid").span.clone(), sizes));
    edits.push(Edit::replace(site.at.field("block").span.clone(), format!("[{SIDE}, \"{rows}\"]")));
    if let Some(threads) = function.bounded_threads() {
        edits.push(Edit::replace(threads.byte_range(), format!("{SIDE} * PARAM_{rows}")));
    }
    let list = statements(function.body);
    let whole = list.first().zip(list.last());
    let (first, last) = whole.unwrap_or((&function.body, &function.body));
    let text = code(function, read, &rows, subject.indentation(first.start_byte()));
    edits.push(Edit::replace(first.start_byte()..last.end_byte(), text));
    let line = function.line(read.to);
    let what = format!("the elements of line {line} go through a tile of {SIDE} by {SIDE}");
    Ok(Rewrite::new(what, line, edits))
}

fn code(function: &Function<'_>, read: &Transposed<'_>, rows: &str, outer: &str) -> String {
    let subject = function.subject;
    let Transposed { row, col, type_name, .. } = read;
    let name = |wanted: &str| subject.fresh(wanted);
    let (tile, step, tiles) = (name("tile"), name("step"), name("tiles_of_row"));
    let first_row = name(&format!("first_{}", row.name));
    let first_col = name(&format!("first_{}", col.name));
    let first = |place: &Place<'_>, name: &str, operator: &str| {
        let kind = place.type_name;
        format!(
            "const {kind} {name} = static_cast<{kind}>(blockIdx.x {operator} {tiles}) * {SIDE};"
        )
    };
    let end = subject.of_node(col.end);
    let end = if is_compound(col.end) { format!("({end})") } else { end.to_owned() };
    let mut lines: Vec<String> =
        read.fixed.iter().map(|node| subject.of_node(*node).to_owned()).collect();
    lines.extend([
        format!("__shared__ {type_name} {tile}[{SIDE}][{}];", SIDE + padding(type_name)),
        format!(
            "const unsigned int {tiles} = static_cast<unsigned int>(({end} + {}) / {SIDE});",
            SIDE - 1
        ),
        first(row, &first_row, "/"),
        first(col, &first_col, "%"),
    ]);
    let along = |is_row: bool, body: &dyn Fn(&str) -> String, used: &[Node<'_>]| {
        let apart = format!("threadIdx.y + {step}");
        let (in_row, in_col) =
            if is_row { (apart.as_str(), "threadIdx.x") } else { ("threadIdx.x", apart.as_str()) };
        let mut text = format!(
            "#pragma unroll\n{outer}for (int {step} = 0; {step} < {SIDE}; {step} += PARAM_{rows}) {{\n"
        );
        for (place, first, inside) in [(row, &first_row, in_row), (col, &first_col, in_col)] {
            text += &format!(
                "{outer}    const {} {} = {first} + {inside};\n",
                place.type_name, place.name
            );
        }
        text += &format!(
            "{outer}    if ({} < {} && {} < {}) {{\n",
            row.name,
            subject.of_node(row.end),
            col.name,
            subject.of_node(col.end)
        );
        for node in needed(function, &read.dependent, used) {
            text += &format!("{outer}        {}\n", subject.of_node(node));
        }
        let element = format!("{tile}[{in_row}][{in_col}]");
        text + &format!("{outer}        {}\n{outer}    }}\n{outer}}}", body(&element))
    };
    let value = subject.of_node(read.value);
    let to = subject.of_node(read.to);
    let load = along(read.loads_rows, &|tile| format!("{tile} = {value};"), &[read.value]);
    let store = along(!read.loads_rows, &|tile| format!("{to} = {tile};"), &[read.to]);
    let start = lines.join(&format!("\n{outer}"));
    format!("{start}\n{load}\n{outer}__syncthreads();\n{store}")
}

/// The constants that expressions need, and those that these need, in order.
fn needed<'s>(function: &Function<'_>, constants: &[Node<'s>], used: &[Node<'s>]) -> Vec<Node<'s>> {
    let is_used = |node: &Node<'s>| {
        function
            .declared_by(*node)
            .any(|local| used.iter().any(|each| depends(function, *each, local.name, 0)))
    };
    constants.iter().copied().filter(is_used).collect()
}

/// Unused elements at the end of a row of a tile: an odd number of words apart, the elements of a column are in
/// different banks.
fn padding(type_name: &str) -> i64 {
    match Dtype::from_c_name(&one_line(type_name)).map(Dtype::bits) {
        Some(8) => 4,
        Some(16) => 2,
        _ => 1,
    }
}
