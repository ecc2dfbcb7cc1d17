//! Finds the launch of a kernel in the host code of a source: `k<float, 128><<<grid, block, shared>>>(…)`.

use tree_sitter::Node;

use super::source::Source;
use super::syntax::{children, named, one_line, walk};

/// The readable parts of a kernel's first launch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostLaunch {
    /// The template arguments, as written.
    pub template_arguments: Vec<String>,
    /// The block as written: `256`, `threads`, `dim3(16, 16)`.
    pub block: Option<String>,
    /// Dynamic shared memory, as written.
    pub shared: Option<String>,
}

/// The first launch of the kernel called `kernel`, without its namespaces.
#[must_use]
pub fn find(source: &Source<'_>, kernel: &str) -> Option<HostLaunch> {
    let mut found = None;
    walk(source.root(), |node, _| {
        if found.is_none() && node.kind() == "call_expression" {
            found = launch(source, node, kernel);
        }
        found.is_none()
    });
    found
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
    let mut values = arguments(configuration).into_iter().skip(1);
    Some(HostLaunch {
        template_arguments: function
            .child_by_field_name("arguments")
            .map(arguments)
            .unwrap_or_default(),
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
