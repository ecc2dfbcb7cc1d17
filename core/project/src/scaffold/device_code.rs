//! Extracts the device code of a source: the text of a kernel file, without the surrounding host code.

use std::ops::Range;
use std::path::Path;

use lightbench_cuda_source::syntax::one_line;
use lightbench_cuda_source::{
    HeaderText, Omission, OmittedItem, Source, brief, is_host_header, items, items_of, omissions,
};

use crate::prelude;

/// Headers that the device compiler has or that are substituted, besides [`FOLDERS`].
const HEADERS: [&str; 16] = [
    "cooperative_groups.h",
    "cuComplex.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp4.h",
    "cuda_fp6.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_tf32.h",
    "math_constants.h",
    "mma.h",
    "nv/target",
    "vector_types.h",
];

/// Folders of headers that the device compiler carries.
const FOLDERS: [&str; 3] = ["cooperative_groups/", "cub/", "cuda/"];

/// Extensions of local headers that a project can hold.
const LOCAL: [&str; 4] = ["cuh", "h", "hpp", "inl"];

/// The device code of a source and of its local headers.
pub(super) struct DeviceCode {
    /// The text of the kernel file.
    pub(super) kernel: String,
    /// The local headers, in the order given.
    pub(super) headers: Vec<String>,
    pub(super) left_out: Vec<OmittedItem>,
}

/// The texts of `source` and of its headers, which `headers` names, without host code.
pub(super) fn extract(source: &Source<'_>, headers: &[HeaderText<'_>]) -> DeviceCode {
    let is_local = |name: &str| headers.iter().any(|header| header.name == name);
    let all = omissions(source, &|name| is_device_header(name) || is_local(name));
    let mut code = DeviceCode { kernel: String::new(), headers: Vec::new(), left_out: Vec::new() };
    if let Some(omissions) = all.first() {
        code.kernel = without(source.text(), omissions);
        code.left_out.extend(items_of(source, None, omissions));
    }
    let of_headers = source.headers().iter().zip(headers).zip(all.iter().skip(1));
    for ((file, header), omissions) in of_headers {
        code.headers.push(without(file.text(), omissions));
        code.left_out.extend(items_of(file, Some(header.name), omissions));
    }
    code
}

/// The device code of a source without local headers: the text of a kernel file.
#[must_use]
pub fn device_text(source: &Source<'_>) -> String {
    extract(source, &[]).kernel
}

/// Whether a project can hold a local header of this name.
pub(super) fn can_be_kept(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| LOCAL.iter().any(|known| extension == *known))
        && !is_host_header(name)
        && !name.contains("..")
}

/// The `__constant__` arrays that the source leaves for its host code to fill.
pub(super) fn unfilled_constants(source: &Source<'_>) -> Vec<String> {
    let files = std::iter::once(source).chain(source.headers());
    files.flat_map(unfilled_constants_of).collect()
}

fn unfilled_constants_of(source: &Source<'_>) -> Vec<String> {
    let declarations = items(source).into_iter().map(|item| item.node).filter(|node| {
        let text = source.node_text(*node);
        node.kind() == "declaration" && text.contains("__constant__") && !text.contains('=')
    });
    declarations
        .filter_map(|node| {
            let mut name = node.child_by_field_name("declarator")?;
            while let Some(inner) = name.child_by_field_name("declarator") {
                name = inner;
            }
            Some(brief(source.node_text(name), 64))
        })
        .collect()
}

fn is_device_header(path: &str) -> bool {
    let plain = !path.contains("..") && !path.contains('\\');
    plain
        && (HEADERS.contains(&path)
            || prelude::stands_in(path)
            || FOLDERS.iter().any(|folder| path.starts_with(folder)))
}

/// The text without the omissions, which are in order, and without the blank lines that they leave.
fn without(text: &str, omissions: &[Omission]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for omission in omissions {
        let range = omission.comments..omission.code.end;
        if range.start < at {
            continue;
        }
        kept.push_str(text.get(at..range.start).unwrap_or_default());
        at = range.end;
        let rest = text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start_matches([' ', '\t', ';']);
        if kept.is_empty() || kept.ends_with('\n') {
            at += rest.len() - trimmed.len();
            at += usize::from(trimmed.starts_with('\n') && !range_ends_line(text, &range));
        }
        if kept.is_empty() || kept.ends_with("\n\n") {
            let rest = text.get(at..).unwrap_or_default();
            at += rest.len() - rest.trim_start_matches('\n').len();
        }
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    let kept = kept.trim_matches('\n');
    if one_line(kept).is_empty() { String::new() } else { format!("{kept}\n") }
}

fn range_ends_line(text: &str, range: &Range<usize>) -> bool {
    text.get(..range.end).is_some_and(|before| before.ends_with('\n'))
}
