//! Products of 16-bit matrices by the tensor cores of warpgroups (`wgmma`), with copies by the Tensor Memory Accelerator.

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;
use lightbench_project::launch::{Argument, Buffer};

use super::super::super::Rule;
use super::super::super::canonical::{Canonical, canonical};
use super::super::super::edit::{Edit, Rewrite};
use super::super::super::function::Function;
use super::super::super::kernel_source::KernelSource;
use super::super::super::pointers::{elements, offset};
use super::super::super::refusal::{Missing, NotApplicable};
use super::super::super::scalar_type::{ScalarType, is_zero};
use super::super::super::syntax::part;
use super::super::super::thread_index::launch_size;
use super::launch::{old_parameters, renamed};
use super::operand::Operand;
use super::product::{Axis, Product, form};
use super::{products, text};

pub(in super::super) const RULE: Rule = Rule {
    id: "warpgroup-tiles",
    title: "multiply tiles by the tensor cores of warpgroups",
    reason: "an instruction multiplies 64 rows by up to 256 columns, 16 deep, from shared memory, and the copy engine fills it without passing registers",
    needs: "what `shared-tiles` needs; two matrices of f16 or bf16 whose rows are contiguous along the loop and multiples of 16 bytes; a sum of f32 from 0; compute capability 9.0",
    technique: "warp-group-tiles",
    apply,
};

/// Code that all kernels of this rule have before them: for bf16.
const CODE: &str = include_str!("warpgroups.cuh");

/// Bytes of shared memory besides the tiles and two barrier objects for each stage: up to the next pattern of the swizzle.
const MORE_BYTES: u32 = 1024;

/// Functions that make f32 of an element.
const CONVERSIONS: [&str; 3] = ["__bfloat162float", "__half2float", "float"];

const ROWS: &str = "rows that follow each other in memory without gaps, `p[row * end + counter]`";

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    products(subject, rewritten)
}

/// What a kernel that a rule makes is given by its launch.
struct Names {
    groups: String,
    columns: String,
    stages: String,
    number: String,
    maps: [String; 2],
}

fn rewritten(function: &Function<'_>, product: &Product<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    let is_single = ScalarType::named(product.sum.type_name) == Some(ScalarType::F32);
    let begins = product.sum.value.filter(|value| is_single && is_zero(subject.of_node(*value)));
    if begins.is_none() {
        return Err(form(function, product.sum.declaration, "a sum of f32 that begins with 0"));
    }
    let what = function.name.to_owned();
    if subject.source.contains("warpgroup_tiles") {
        return Err(Missing::Already { what, has: "a product by warpgroups in its file" });
    }
    if product.site.at.has_field("shared") {
        return Err(Missing::Contains { what, why: "it has dynamic shared memory of its own" });
    }
    let element = element(function, product)?;
    let [along_y, along_x] = &product.axes;
    let [left, right] = &product.operands;
    let matrices =
        [matrix(function, product, along_y, left)?, matrix(function, product, along_x, right)?];
    let fresh = |name: &str| subject.fresh(name);
    let names = Names {
        groups: fresh("GROUPS"),
        columns: fresh("COLUMNS"),
        stages: fresh("STAGES"),
        number: fresh("own"),
        maps: matrices.each_ref().map(|matrix| fresh(&format!("{}_map", matrix.tensor))),
    };
    let mut edits = launched(function, product, &names, &matrices)?;
    edits.push(Edit::insert(function.outer.start_byte(), code(&names, element)));
    if let (Some(first), Some(last)) = (function.parameters.first(), function.parameters.last()) {
        let column = " ".repeat(first.node.start_position().column);
        let [left, right] = &names.maps;
        let map = "const __grid_constant__ CUtensorMap";
        let more = format!(",\n{column}{map} {left}, {map} {right}");
        edits.push(Edit::insert(last.node.end_byte(), more));
    }
    edits.extend(text::cleared(function, product));
    let end = product.last.end_byte();
    edits.push(Edit::replace(product.start..end, multiplied(function, product, &names)));
    let line = function.line(product.counted.node);
    let what = format!(
        "`{}` warpgroups multiply tiles of 64 by `{}` elements for the loop of line {line}",
        names.groups, names.columns
    );
    Ok(Rewrite::new(what, line, edits))
}

/// The type of the elements of both operands.
fn element<'s>(function: &Function<'s>, product: &Product<'s>) -> Result<&'s str, Missing> {
    let [left, right] = product.operands;
    let same = Dtype::from_c_name(left.element) == Dtype::from_c_name(right.element);
    let is_short = matches!(Dtype::from_c_name(left.element), Some(Dtype::F16 | Dtype::Bf16));
    if !same || !is_short {
        return Err(form(function, right.load, "two operands of f16, or two of bf16"));
    }
    for operand in [left, right] {
        if !is_widened(function, operand.load) {
            return Err(form(function, operand.load, "a product of two values of f32"));
        }
    }
    Ok(left.element)
}

/// Whether a loaded element becomes f32, and nothing else, before it is multiplied.
fn is_widened(function: &Function<'_>, load: Node<'_>) -> bool {
    let subject = function.subject;
    let type_of = |node, field| part(node, field).map_or("", |node| subject.of_node(node));
    let mut is_single = false;
    let mut node = load;
    while let Some(outer) = node.parent() {
        match outer.kind() {
            "parenthesized_expression" | "argument_list" => {}
            "cast_expression" => match type_of(outer, "type") {
                "float" => is_single = true,
                _ => return false,
            },
            "call_expression" => {
                let callee = type_of(outer, "function");
                match CONVERSIONS.contains(&callee) || callee == "static_cast<float>" {
                    true => is_single = true,
                    // The product itself: `fmaf(a, b, sum)`.
                    false => return is_single,
                }
            }
            "init_declarator" => {
                let declared = outer.parent().map_or("", |outer| type_of(outer, "type"));
                return is_single || declared == "float";
            }
            _ => return is_single,
        }
        node = outer;
    }
    false
}

/// An operand as the copy engine sees it.
struct Matrix<'s> {
    tensor: &'s str,
    rows: &'s str,
    length: String,
}

fn matrix<'s>(
    function: &Function<'s>,
    product: &Product<'s>,
    axis: &Axis<'s>,
    operand: &Operand<'s>,
) -> Result<Matrix<'s>, Missing> {
    let subject = function.subject;
    let all_elements = elements(function, product.counted.body);
    let load = all_elements.iter().find(|element| element.node.id() == operand.load.id());
    let not_rows = || form(function, operand.load, ROWS);
    let load = load.ok_or_else(not_rows)?;
    let place =
        canonical(function, load.index).plus(offset(function, load.base).ok_or_else(not_rows)?);
    let length = canonical(function, product.counted.end);
    let counter = Canonical::name(product.counted.name);
    let rows = |row: Canonical| row.times(&length).plus(counter.clone());
    let written = axis.place.value.map(|value| rows(canonical(function, value)));
    if place != rows(Canonical::name(axis.place.name)) && Some(&place) != written.as_ref() {
        return Err(not_rows());
    }
    let length = launch_size(function, &product.site, product.counted.end);
    let length = length.filter(|length| is_multiple_of_8(subject, length)).ok_or_else(|| {
        form(
            function,
            product.counted.end,
            "an axis that is a multiple of 8: rows of 16-byte pieces",
        )
    })?;
    let [Argument::Buffer(Buffer::Tensor(index))] = load.pointer.parameter.arguments.as_slice()
    else {
        return Err(not_rows());
    };
    let tensor = subject.definition.tensors.get(*index);
    let tensor = tensor.filter(|tensor| {
        tensor.align >= 16 && Some(tensor.dtype) == Dtype::from_c_name(operand.element)
    });
    let tensor = tensor.ok_or_else(not_rows)?;
    Ok(Matrix { tensor: &tensor.name, rows: axis.size, length })
}

fn is_multiple_of_8(subject: &KernelSource<'_>, length: &str) -> bool {
    let axis = subject.definition.axes.iter().find(|axis| axis.name == length);
    let step = axis.map(|axis| axis.multiple_of).or_else(|| length.parse().ok());
    step.is_some_and(|step| step > 0 && step.is_multiple_of(8))
}

/// Edits of the launch block, the template and the launch bounds.
fn launched(
    function: &Function<'_>,
    product: &Product<'_>,
    names: &Names,
    [left, right]: &[Matrix<'_>; 2],
) -> Result<Vec<Edit>, Missing> {
    const COLUMNS: &[i64] = &[128, 256, 64];
    let (subject, site) = (function.subject, product.site);
    let Names { groups, columns, stages, maps, .. } = names;
    let places: Vec<_> =
        product.axes.iter().map(|axis| axis.place.declaration.byte_range()).collect();
    let old = old_parameters(function, site, &places);
    let mut new: Vec<(&str, &[i64])> = vec![(groups, &[2, 1]), (stages, &[4, 3, 6])];
    let mut edits = renamed(function, site, &old, (columns, COLUMNS));
    if old.is_empty() {
        new.insert(1, (columns, COLUMNS));
    }
    edits.insert(0, subject.new_parameters(&new)?);
    let bytes = format!("{stages} * ((64 * {groups} + {columns}) * 128 + 16) + {MORE_BYTES}");
    edits.push(subject.new_condition(&format!("{bytes} <= device.max_shared_per_block")));
    edits.extend(subject.specific_architecture());
    let map = |name: &str, matrix: &Matrix<'_>, lines: &str| {
        let Matrix { tensor, rows, length } = matrix;
        format!(
            "(name: \"{name}\", tensor: \"{tensor}\", shape: [\"{rows}\", \"{length}\"], box: [\"{lines}\", 64], swizzle: b128)"
        )
    };
    edits.push(subject.new_tensor_maps(&[
        map(&maps[0], left, &format!("64 * {groups}")),
        map(&maps[1], right, columns),
    ]));
    let [left, right] = maps;
    edits.push(site.more_arguments(subject.definition, &[left, right]));
    for axis in &product.axes {
        let by = if axis.dimension == 0 { columns.clone() } else { format!("64 * {groups}") };
        let grid = format!("ceil_div({}, {by})", axis.size);
        edits.push(subject.new_size(site.size("grid", axis.dimension), &grid));
    }
    let block = site.at.field("block").span.clone();
    let launch = format!("[\"128 * {groups} + 32\"], shared: \"{bytes}\"");
    edits.push(Edit::replace(block, launch));
    let threads = format!("128 * PARAM_{groups} + 32");
    edits.extend(match function.bounded_threads() {
        Some(bounded) => Some(Edit::replace(bounded.byte_range(), threads)),
        None => {
            let place = function.place_of_launch_bounds();
            place.map(|at| Edit::insert(at, format!("__launch_bounds__({threads}) ")))
        }
    });
    Ok(edits)
}

/// The code before the kernel, for the parameters and the elements of this one.
fn code(names: &Names, element: &str) -> String {
    let mut code = CODE.to_owned();
    let Names { groups, columns, stages, .. } = names;
    for (known, name) in [("GROUPS", groups), ("COLUMNS", columns), ("STAGES", stages)] {
        code = code.replace(&format!("PARAM_{known}"), &format!("PARAM_{name}"));
    }
    if Dtype::from_c_name(element) == Some(Dtype::F16) {
        code = code.replace(".bf16.bf16", ".f16.f16");
    }
    format!("#include <cuda.h>\n\n{}", code.replace("__nv_bfloat16", element))
}

/// What replaces the loop and all statements after it.
fn multiplied(function: &Function<'_>, product: &Product<'_>, names: &Names) -> String {
    let subject = function.subject;
    let indentation = subject.indentation(product.counted.node.start_byte());
    let Names { groups, columns, number, maps: [left, right], .. } = names;
    let end = subject.of_node(product.counted.end);
    let inner = format!("{indentation}    ");
    let place = |axis: &Axis<'_>, extent: String, function: &str| {
        let (kind, name) = (axis.place.type_name, axis.place.name);
        let letter = text::letter(axis);
        format!(
            "const {kind} {name} = static_cast<{kind}>(blockIdx.{letter}) * {extent} + warpgroup_tiles::{function}({number});"
        )
    };
    let [along_y, along_x] = &product.axes;
    let places = [
        place(along_y, format!("(64 * PARAM_{groups})"), "row"),
        place(along_x, format!("PARAM_{columns}"), "column"),
    ];
    let sum = format!("warpgroup_tiles::sum({number})");
    let result = text::result(function, product, &places, &sum, &inner);
    format!(
        "if (!warpgroup_tiles::multiply({left}, {right}, {end})) {{\n\
         {inner}return;\n{indentation}}}\n#pragma unroll 8\n\
         {indentation}for (int {number} = 0; {number} < PARAM_{columns} / 2; ++{number}) {{\n\
         {result}{indentation}}}"
    )
}
