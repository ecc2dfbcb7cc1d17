//! Code of a tiled product: loads, products and stores.

use super::super::super::edit::Edit;
use super::super::super::function::Function;
use super::super::super::syntax::{all, moved, part, statements};
use super::launch::Sizes;
use super::operand::{Operand, depends, zero};
use super::product::{Axis, Product};

/// Code before the loop, in which no thread returns and places are computed from tiles.
pub(super) fn before(function: &Function<'_>, product: &Product<'_>, sizes: &Sizes) -> Vec<Edit> {
    if sizes.rows.is_some() {
        return cleared(function, product);
    }
    let mut edits = unguarded(function, product);
    edits.extend(product.axes.iter().map(|axis| {
        let own = format!("threadIdx.{}", letter(axis));
        Edit::replace(axis.place.declaration.byte_range(), place(axis, sizes, &own))
    }));
    edits
}

/// Removes from the code before the loop what each of several results of a thread has anew: guards, places, what depends
/// on them, and the sum.
pub(super) fn cleared(function: &Function<'_>, product: &Product<'_>) -> Vec<Edit> {
    let mut edits = unguarded(function, product);
    let places = product.axes.iter().map(|axis| axis.place.declaration);
    let all = places.chain(product.dependent.iter().copied()).chain([product.sum.declaration]);
    edits.extend(all.map(|node| Edit::replace(function.subject.whole_line(node), "")));
    edits
}

fn unguarded(function: &Function<'_>, product: &Product<'_>) -> Vec<Edit> {
    let subject = function.subject;
    let mut edits: Vec<Edit> =
        product.leaving.iter().map(|guard| Edit::replace(subject.whole_line(*guard), "")).collect();
    if let Some(guard) = product.around {
        let inside = part(guard, "consequence");
        let inside = inside.map_or(guard.start_byte(), |inside| inside.start_byte());
        edits.push(Edit::replace(guard.start_byte()..inside, ""));
    }
    edits
}

pub(super) fn letter(axis: &Axis<'_>) -> &'static str {
    if axis.dimension == 0 { "x" } else { "y" }
}

/// The declaration of a place in the tile of the result.
fn place(axis: &Axis<'_>, sizes: &Sizes, inside: &str) -> String {
    let (kind, name) = (axis.place.type_name, axis.place.name);
    let extent = extent(axis, sizes);
    let extent = if extent.contains(' ') { format!("({extent})") } else { extent };
    format!(
        "const {kind} {name} = static_cast<{kind}>(blockIdx.{}) * {extent} + {inside};",
        letter(axis)
    )
}

/// How far the tile of the result goes along a dimension.
fn extent(axis: &Axis<'_>, sizes: &Sizes) -> String {
    match sizes.results(axis.dimension) {
        Some(results) => format!("PARAM_{results} * PARAM_{}", sizes.tile),
        None => format!("PARAM_{}", sizes.tile),
    }
}

/// Names that the new code has.
struct Names {
    thread: String,
    turn: String,
    first: String,
    place: String,
    tiles: [String; 2],
    line: String,
    step: String,
    sums: String,
    row: String,
    col: String,
}

impl Names {
    fn of(function: &Function<'_>, product: &Product<'_>) -> Self {
        let subject = function.subject;
        let fresh = |wanted: &str| subject.fresh(wanted);
        Self {
            thread: fresh("thread_of_block"),
            turn: fresh("turn"),
            first: fresh("tile_first"),
            place: fresh("tile_element"),
            tiles: [fresh("left_tile"), fresh("right_tile")],
            line: fresh("tile_line"),
            step: fresh("tile_step"),
            sums: fresh(&format!("{}_tile", product.sum.name)),
            row: fresh("own_row"),
            col: fresh("own_col"),
        }
    }
}

/// Code that replaces the loop and all statements after it.
pub(super) fn tiles(function: &Function<'_>, product: &Product<'_>, sizes: &Sizes) -> String {
    let subject = function.subject;
    let names = Names::of(function, product);
    let outer = subject.indentation(product.counted.node.start_byte()).to_owned();
    let inner = format!("{outer}    ");
    let Sizes { tile, depth, .. } = sizes;
    let [left, right] = &product.axes;
    let [left_operand, right_operand] = &product.operands;
    let [left_tile, right_tile] = &names.tiles;
    let mut text = format!(
        "__shared__ {} {left_tile}[{}][PARAM_{depth} + 1];\n{outer}__shared__ {} {right_tile}[PARAM_{depth}][{}];\n",
        left_operand.element,
        extent(left, sizes),
        right_operand.element,
        extent(right, sizes),
    );
    if sizes.rows.is_some() {
        let thread = &names.thread;
        text += &format!("{outer}const int {thread} = threadIdx.y * PARAM_{tile} + threadIdx.x;\n");
        text += &zeroed(function, product, sizes, &names, &outer);
    }
    let (kind, end) = (product.counted.type_name, subject.of_node(product.counted.end));
    let first = &names.first;
    text += &format!(
        "{outer}for ({kind} {first} = 0; {first} < {end}; {first} += PARAM_{depth}) {{\n{}{}\
         {inner}__syncthreads();\n{}{inner}__syncthreads();\n{outer}}}",
        filled(function, product, sizes, &names, 0, &inner),
        filled(function, product, sizes, &names, 1, &inner),
        multiplied(function, product, sizes, &names, &inner),
    );
    text + &finished(function, product, sizes, &names, &outer)
}

/// Loops over the results of a thread, around a body that is indented already.
fn over_results(sizes: &Sizes, names: &Names, outer: &str, body: &str) -> String {
    let (Some(rows), Some(cols)) = (&sizes.rows, &sizes.cols) else { return body.to_owned() };
    let (row, col) = (&names.row, &names.col);
    format!(
        "#pragma unroll\n{outer}for (int {row} = 0; {row} < PARAM_{rows}; ++{row}) {{\n\
         #pragma unroll\n{outer}    for (int {col} = 0; {col} < PARAM_{cols}; ++{col}) {{\n\
         {body}{outer}    }}\n{outer}}}\n"
    )
}

fn zeroed(
    function: &Function<'_>,
    product: &Product<'_>,
    sizes: &Sizes,
    names: &Names,
    outer: &str,
) -> String {
    let (Some(rows), Some(cols)) = (&sizes.rows, &sizes.cols) else { return String::new() };
    let Names { sums, row, col, .. } = names;
    let value = product.sum.value.map_or("0", |value| function.subject.of_node(value));
    let body = format!("{outer}        {sums}[{row}][{col}] = {value};\n");
    format!(
        "{outer}{} {sums}[PARAM_{rows}][PARAM_{cols}];\n{}",
        product.sum.type_name,
        over_results(sizes, names, outer, &body)
    )
}

/// One tile of one operand, by all threads of the block: neighbours in memory by neighbouring threads.
fn filled(
    function: &Function<'_>,
    product: &Product<'_>,
    sizes: &Sizes,
    names: &Names,
    which: usize,
    outer: &str,
) -> String {
    let subject = function.subject;
    let (Some(axis), Some(operand), Some(tile)) =
        (product.axes.get(which), product.operands.get(which), names.tiles.get(which))
    else {
        return String::new();
    };
    let Names { first, line, step, .. } = names;
    let inner = format!("{outer}    ");
    let (turns, of_line, of_step, is_there) = turns(axis, operand, sizes, names, outer);
    let counter = &product.counted;
    let own = declarations(function, product, axis, operand, &inner);
    let at = if which == 0 { format!("[{line}][{step}]") } else { format!("[{step}][{line}]") };
    let zero = zero(operand.element).map_or_else(|| "0".to_owned(), |(zero, _)| zero);
    let inside = format!(
        "{} < {} && {} < {}",
        axis.place.name,
        subject.of_node(axis.end),
        counter.name,
        subject.of_node(counter.end)
    );
    format!(
        "{turns}{inner}const int {line} = {of_line};\n{inner}const int {step} = {of_step};\n\
         {inner}{}\n{own}{inner}const {kind} {name} = {first} + {step};\n\
         {inner}{is_there}{tile}{at} = {inside} ? {} : {zero};\n{outer}}}\n",
        place(axis, sizes, line),
        subject.of_node(operand.load),
        kind = counter.type_name,
        name = counter.name,
    )
}

/// The head of a loop over the elements of a tile, which element a turn is about, and when there is one.
fn turns(
    axis: &Axis<'_>,
    operand: &Operand<'_>,
    sizes: &Sizes,
    names: &Names,
    outer: &str,
) -> (String, String, String, String) {
    let Names { thread, turn, place: element, .. } = names;
    if sizes.rows.is_none() {
        let (x, y) = ("threadIdx.x".to_owned(), "threadIdx.y".to_owned());
        let (line, step) = if operand.is_along { (y, x) } else { (x, y) };
        return (format!("{outer}{{\n"), line, step, String::new());
    }
    let (extent, depth) = (extent(axis, sizes), format!("PARAM_{}", sizes.depth));
    let threads = format!("(PARAM_{0} * PARAM_{0})", sizes.tile);
    let all = format!("{extent} * {depth}");
    let head = format!(
        "#pragma unroll\n{outer}for (int {turn} = 0; {turn} < ({all} + {threads} - 1) / {threads}; ++{turn}) {{\n\
         {outer}    const int {element} = {turn} * {threads} + {thread};\n"
    );
    let is_there = format!("if ({all} % {threads} == 0 || {element} < {all}) ");
    let (by_depth, by_extent) = if operand.is_along {
        (format!("{element} / {depth}"), format!("{element} % {depth}"))
    } else {
        (format!("{element} % ({extent})"), format!("{element} / ({extent})"))
    };
    (head, by_depth, by_extent, is_there)
}

/// The constants that a load needs for its place.
fn declarations(
    function: &Function<'_>,
    product: &Product<'_>,
    axis: &Axis<'_>,
    operand: &Operand<'_>,
    indentation: &str,
) -> String {
    let subject = function.subject;
    let mut text = String::new();
    for node in &product.dependent {
        let needed = function.declared_by(*node).any(|local| {
            depends(function, operand.load, local.name, 0)
                && local.value.is_some_and(|value| depends(function, value, axis.place.name, 0))
        });
        if needed {
            text += &format!("{indentation}{}\n", subject.of_node(*node));
        }
    }
    text
}

fn multiplied(
    function: &Function<'_>,
    product: &Product<'_>,
    sizes: &Sizes,
    names: &Names,
    outer: &str,
) -> String {
    let subject = function.subject;
    let Names { step, sums, row, col, tiles, .. } = names;
    let [left_tile, right_tile] = tiles;
    let tile = &sizes.tile;
    let several = sizes.rows.is_some();
    let (line, column) = if several {
        (
            format!("{row} * PARAM_{tile} + threadIdx.y"),
            format!("{col} * PARAM_{tile} + threadIdx.x"),
        )
    } else {
        ("threadIdx.y".to_owned(), "threadIdx.x".to_owned())
    };
    let [left, right] = &product.operands;
    let mut edits = vec![
        Edit::replace(left.load.byte_range(), format!("{left_tile}[{line}][{step}]")),
        Edit::replace(right.load.byte_range(), format!("{right_tile}[{step}][{column}]")),
    ];
    let body = product.counted.body;
    if several {
        let uses = all(body, &["identifier"]).into_iter();
        let uses = uses.filter(|node| subject.of_node(*node) == product.sum.name);
        edits.extend(
            uses.map(|node| Edit::replace(node.byte_range(), format!("{sums}[{row}][{col}]"))),
        );
    }
    let indentation = if several { format!("{outer}            ") } else { format!("{outer}    ") };
    let mut inside = String::new();
    for statement in statements(body) {
        let own = edits.iter().filter(|edit| {
            statement.start_byte() <= edit.range.start && edit.range.end <= statement.end_byte()
        });
        inside += &format!("{indentation}{}\n", subject.with(statement, own.cloned().collect()));
    }
    let inside = over_results(sizes, names, &format!("{outer}    "), &inside);
    format!(
        "#pragma unroll\n{outer}for (int {step} = 0; {step} < PARAM_{depth}; ++{step}) {{\n{inside}{outer}}}\n",
        depth = sizes.depth
    )
}

/// Code after the loop, for each result of a thread.
fn finished(
    function: &Function<'_>,
    product: &Product<'_>,
    sizes: &Sizes,
    names: &Names,
    outer: &str,
) -> String {
    let rest = rest(function, product);
    if rest.trim().is_empty() {
        return String::new();
    }
    if sizes.rows.is_none() {
        let condition = condition(function, product);
        return format!("\n{outer}if ({condition}) {{{}\n{outer}}}", moved(rest, "    "));
    }
    let Names { sums, row, col, .. } = names;
    let [along_y, along_x] = &product.axes;
    let inside = |turn: &str, own: &str| format!("{turn} * PARAM_{} + {own}", sizes.tile);
    let places = [
        place(along_y, sizes, &inside(row, "threadIdx.y")),
        place(along_x, sizes, &inside(col, "threadIdx.x")),
    ];
    let inner = format!("{outer}        ");
    let body = result(function, product, &places, &format!("{sums}[{row}][{col}]"), &inner);
    let text = over_results(sizes, names, outer, &body);
    format!("\n{}", text.trim_end_matches('\n'))
}

/// The statements after the loop.
fn rest<'s>(function: &Function<'s>, product: &Product<'s>) -> &'s str {
    let after = product.counted.node.end_byte()..product.last.end_byte();
    function.subject.source.get(after).unwrap_or_default()
}

/// Whether a place of the tile is one of the result.
fn condition(function: &Function<'_>, product: &Product<'_>) -> String {
    let bound =
        |axis: &Axis<'_>| format!("{} < {}", axis.place.name, function.subject.of_node(axis.end));
    let [along_y, along_x] = &product.axes;
    format!("{} && {}", bound(along_y), bound(along_x))
}

/// The statements after the loop for one of several results of a thread, with its places and its sum.
pub(super) fn result(
    function: &Function<'_>,
    product: &Product<'_>,
    [row, column]: &[String; 2],
    sum: &str,
    inner: &str,
) -> String {
    let subject = function.subject;
    let from = product.counted.node.end_byte();
    let condition = condition(function, product);
    let mut body = format!("{inner}{row}\n{inner}{column}\n{inner}if ({condition}) {{\n");
    for node in &product.dependent {
        let used = function.declared_by(*node).any(|local| {
            let uses = function.uses(local.name, function.body);
            uses.iter().any(|node| node.start_byte() >= from)
                || is_needed(function, product, local.name)
        });
        if used {
            body += &format!("{inner}    {}\n", subject.of_node(*node));
        }
    }
    let outer = subject.indentation(product.counted.node.start_byte());
    let by = format!("{}    ", inner.strip_prefix(outer).unwrap_or_default());
    body += &format!(
        "{inner}    {} {} = {sum};{}\n{inner}}}\n",
        product.sum.type_name,
        product.sum.name,
        moved(rest(function, product), &by)
    );
    body
}

/// Whether another constant that depends on a place is made of this one.
fn is_needed(function: &Function<'_>, product: &Product<'_>, name: &str) -> bool {
    product.dependent.iter().any(|node| {
        function.declared_by(*node).any(|local| {
            local.name != name
                && local.value.is_some_and(|value| depends(function, value, name, 0))
                && function
                    .uses(local.name, function.body)
                    .iter()
                    .any(|node| node.start_byte() >= product.counted.node.end_byte())
        })
    })
}
