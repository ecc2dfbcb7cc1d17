//! Extracts the device code of a source: the text of a kernel file, without the surrounding host code.

use std::ops::Range;

use lightbench_cuda_source::syntax::{children, one_line, walk};
use lightbench_cuda_source::{Node, Source, SourceLocation, brief, items};
use lightbench_primitives::dtype::Dtype;

use crate::prelude;

/// Something of the source that the kernel file does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedItem {
    /// Where it stood.
    pub place: SourceLocation,
    /// Its beginning, in one line.
    pub what: String,
    pub why: Reason,
}

/// The reason to omit an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Functions, variables and types of the host.
    HostCode,
    /// A header that the device compiler lacks; it may belong into `include/`.
    Header,
}

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

/// Words that make a function or a variable one of the device.
const DEVICE_WORDS: [&str; 6] =
    ["__global__", "__device__", "__constant__", "__shared__", "__managed__", "constexpr"];

/// The text of `source` without host code, and the omitted items.
pub(super) fn extract(source: &Source<'_>) -> (String, Vec<OmittedItem>) {
    let mut left_out = Vec::new();
    let mut removed: Vec<Range<usize>> = Vec::new();
    let mut comments: Option<Range<usize>> = None;
    for item in items(source) {
        let node = item.node;
        let range = source.decorated_start(node)..node.end_byte();
        let previous = comments.take().filter(|comment| touches(source, comment, &range));
        if node.kind() == "comment" {
            comments = Some(previous.map_or(range.start, |comment| comment.start)..range.end);
            continue;
        }
        let Some(why) = reason(source, node) else { continue };
        let text = source.text().get(range.clone()).unwrap_or_default();
        if !text.trim_matches([';', ' ', '\n']).is_empty() {
            let what = brief(head(text), 60);
            left_out.push(OmittedItem { place: source.place(range.start), what, why });
        }
        let start = match why {
            Reason::HostCode => previous.map_or(range.start, |comment| comment.start),
            Reason::Header => range.start,
        };
        removed.push(start..range.end);
    }
    (without(source.text(), &removed), left_out)
}

/// The `__constant__` arrays that the source leaves for its host code to fill.
pub(super) fn unfilled_constants(source: &Source<'_>) -> Vec<String> {
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

/// Whether a comment belongs to the following item: at most one line break separates them.
fn touches(source: &Source<'_>, comment: &Range<usize>, next: &Range<usize>) -> bool {
    let between = source.text().get(comment.end..next.start).unwrap_or("?");
    between.trim().is_empty() && between.matches('\n').count() <= 1
}

/// A function without its body, anything else whole.
fn head(text: &str) -> &str {
    text.split('{').next().filter(|head| !head.trim().is_empty()).unwrap_or(text)
}

/// The reason to omit an item, `None` if it is kept.
fn reason(source: &Source<'_>, node: Node<'_>) -> Option<Reason> {
    let keep = match node.kind() {
        "preproc_include" => {
            return (!is_device_header(source, node)).then_some(Reason::Header);
        }
        "function_definition" | "template_instantiation" | "ERROR" | "linkage_specification" => {
            is_device_function(source, node)
        }
        "declaration" => is_device_declaration(source, node),
        "template_declaration" => {
            let inner = children(node)
                .into_iter()
                .rev()
                .find(|child| child.is_named() && child.kind() != "comment");
            return inner.and_then(|inner| reason(source, inner));
        }
        "struct_specifier"
        | "class_specifier"
        | "union_specifier"
        | "enum_specifier"
        | "alias_declaration"
        | "type_definition"
        | "using_declaration"
        | "namespace_alias_definition"
        | "concept_definition" => !speaks_to_host(source, node),
        "expression_statement" => starts_with_device_word(source, source.node_text(node)),
        // Directives, assertions, braces and scope tokens are kept.
        _ => true,
    };
    (!keep).then_some(Reason::HostCode)
}

fn is_device_header(source: &Source<'_>, include: Node<'_>) -> bool {
    let Some(path) = include.child_by_field_name("path") else { return false };
    let path = source.node_text(path).trim_matches(['<', '>', '"']);
    let plain = !path.contains("..") && !path.contains('\\');
    plain
        && (HEADERS.contains(&path)
            || prelude::stands_in(path)
            || FOLDERS.iter().any(|folder| path.starts_with(folder)))
}

/// Whether the specifiers before a function's parameters place it on the device.
fn is_device_function(source: &Source<'_>, function: Node<'_>) -> bool {
    let range = source.decorated_start(function)..function.end_byte();
    let text = source.text().get(range).unwrap_or_default();
    starts_with_device_word(source, text.split('{').next().unwrap_or(text))
}

fn starts_with_device_word(source: &Source<'_>, head: &str) -> bool {
    head.split(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(64)
        .any(|word| is_device_word(source, word))
}

fn is_device_word(source: &Source<'_>, word: &str) -> bool {
    let from_elsewhere = |word: &str| {
        let name = word.chars().all(|letter| !letter.is_ascii_lowercase());
        name && (word.contains("DEVICE") || word.contains("GLOBAL"))
    };
    match source.define(word) {
        Some(text) => DEVICE_WORDS.iter().any(|device| text.contains(device)),
        None => DEVICE_WORDS.contains(&word) || from_elsewhere(word),
    }
}

/// Variables of the device and constants stay; prototypes of host functions and host variables go.
fn is_device_declaration(source: &Source<'_>, declaration: Node<'_>) -> bool {
    let text = source.node_text(declaration);
    if starts_with_device_word(source, text) {
        return true;
    }
    let constant = children(declaration)
        .iter()
        .any(|child| child.kind() == "type_qualifier" && source.node_text(*child) == "const");
    let kind = declaration.child_by_field_name("type").map_or("", |kind| source.node_text(kind));
    let resolved = source.resolve_type(kind);
    let function = declaration
        .child_by_field_name("declarator")
        .is_some_and(|declarator| declarator.kind() == "function_declarator");
    let is_type = declaration.child_by_field_name("declarator").is_none();
    (constant && !function && Dtype::from_c_name(&resolved).is_some())
        || (is_type && !speaks_to_host(source, declaration))
}

/// Whether a type uses names that only host programs have: the standard library, runtime calls, files.
fn speaks_to_host(source: &Source<'_>, node: Node<'_>) -> bool {
    let mut host = false;
    walk(node, |here, _| {
        if matches!(here.kind(), "identifier" | "type_identifier" | "namespace_identifier") {
            host |= is_host_name(source.node_text(here)) && !follows_cuda(source, here);
        }
        !host
    });
    host
}

fn is_host_name(name: &str) -> bool {
    let runtime = ["cuda", "cublas", "curand", "cudnn", "cusparse", "nvtx"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
    });
    let handle = name == "cudaTextureObject_t" || name == "cudaSurfaceObject_t";
    (runtime && !handle) || matches!(name, "std" | "FILE" | "thrust" | "chrono")
}

/// `cuda::std` is the device's own standard library.
fn follows_cuda(source: &Source<'_>, name: Node<'_>) -> bool {
    let before = source.text().get(..name.start_byte()).unwrap_or_default();
    before.trim_end().strip_suffix("::").is_some_and(|rest| rest.trim_end().ends_with("cuda"))
}

/// The text without the ranges, which are in order, and without the blank lines that they leave.
fn without(text: &str, removed: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for range in removed {
        if range.start < at {
            continue;
        }
        kept.push_str(text.get(at..range.start).unwrap_or_default());
        at = range.end;
        let rest = text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start_matches([' ', '\t', ';']);
        if kept.is_empty() || kept.ends_with('\n') {
            at += rest.len() - trimmed.len();
            at += usize::from(trimmed.starts_with('\n') && !range_ends_line(text, range));
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
