//! Finds the launches of a kernel in the host code of a source: `k<float, 128><<<grid, block, shared>>>(…)`.

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use super::error::SourceLocation;
use super::source::Source;
use super::syntax::{children, named, one_line, walk};

/// The readable parts of a launch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostLaunch {
    /// The template arguments, as written.
    pub template_arguments: Vec<String>,
    /// The grid as written: `blocks`, `dim3(n, 4)`.
    pub grid: Option<String>,
    /// The block as written: `256`, `threads`, `dim3(16, 16)`.
    pub block: Option<String>,
    /// Dynamic shared memory, as written.
    pub shared: Option<String>,
}

/// A launch with its place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLaunch {
    pub place: SourceLocation,
    pub launch: HostLaunch,
}

/// The launches of the kernel called `kernel`, without its namespaces, in the order of the source.
#[must_use]
pub fn find_all(source: &Source<'_>, kernel: &str) -> Vec<PlacedLaunch> {
    let mut found = Vec::new();
    walk(source.root(), |node, _| {
        if node.kind() == "call_expression"
            && !source.is_inactive(node.start_byte())
            && let Some(launch) = launch(source, node, kernel)
        {
            found.push(PlacedLaunch { place: source.place(node.start_byte()), launch });
        }
        true
    });
    found
}

/// The launch with the most parts whose values the source decides; of equal ones, the first.
#[must_use]
pub fn most_specific<'all>(
    source: &Source<'_>,
    launches: &'all [PlacedLaunch],
) -> Option<&'all PlacedLaunch> {
    let known = |each: &PlacedLaunch| {
        let HostLaunch { template_arguments, block, shared, .. } = &each.launch;
        let is_constant = |text: &&String| {
            source.integer(text).is_some() || matches!(text.as_str(), "true" | "false")
        };
        let is_type = |text: &&String| Dtype::from_c_name(&source.resolve_type(text)).is_some();
        let arguments =
            template_arguments.iter().filter(|text| is_constant(text) || is_type(text)).count();
        let block = block.as_ref().and_then(|text| extents(source, text));
        let shared = shared.as_ref().and_then(|text| source.integer(text));
        arguments + usize::from(block.is_some()) + usize::from(shared.is_some())
    };
    // The last of equal elements is the maximum, so the order is reversed.
    launches.iter().rev().max_by_key(|each| known(each))
}

fn launch(source: &Source<'_>, call: Node<'_>, kernel: &str) -> Option<HostLaunch> {
    let is_launch = |child: &Node<'_>| child.kind() == "kernel_call_syntax";
    let configuration = children(call).into_iter().find(is_launch)?;
    let mut function = call.child_by_field_name("function")?;
    while function.kind() == "qualified_identifier" {
        function = function.child_by_field_name("name")?;
    }
    let name = function.child_by_field_name("name").unwrap_or(function);
    if source.node_text(name) != kernel {
        return None;
    }
    let arguments = |list: Node<'_>| -> Vec<String> {
        named(list).into_iter().map(|child| one_line(source.node_text(child))).collect()
    };
    let mut values = arguments(configuration).into_iter();
    Some(HostLaunch {
        template_arguments: function
            .child_by_field_name("arguments")
            .map(arguments)
            .unwrap_or_default(),
        grid: values.next(),
        block: values.next(),
        shared: values.next(),
    })
}

/// Parses one to three extents: a number, a name, `dim3(16, 16)`, `{32, 8}`.
#[must_use]
pub fn extents(source: &Source<'_>, text: &str) -> Option<Vec<u64>> {
    let mut text = text.trim();
    for _ in 0..8 {
        match source.constant(text) {
            Some(next) => text = next.trim(),
            None => break,
        }
    }
    let list = text.strip_prefix("dim3").map_or(text, str::trim_start);
    let inside = list
        .strip_prefix('(')
        .and_then(|list| list.strip_suffix(')'))
        .or_else(|| list.strip_prefix('{').and_then(|list| list.strip_suffix('}')));
    let values: Option<Vec<u64>> = match inside {
        Some(inside) if !inside.is_empty() => {
            inside.split(',').map(|part| source.integer(part)).collect()
        }
        _ => None,
    };
    let values = match values {
        Some(values) => values,
        None => vec![source.integer(text)?],
    };
    (values.len() <= 3 && values.iter().all(|value| *value >= 1)).then_some(values)
}
