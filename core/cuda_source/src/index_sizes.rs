//! Arrays that a kernel indexes by one of its sizes alone: `bias[i % cols]`, or `scale[row]` with `row < rows`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::Node;

use super::source::Source;
use super::syntax::{bare, named, part, walk};

/// What the body shows about names.
#[derive(Default)]
struct Names<'t> {
    /// The indices of each array.
    indices: BTreeMap<&'t str, Vec<Node<'t>>>,
    /// How often each name occurs.
    uses: BTreeMap<&'t str, usize>,
    /// The first values of variables.
    values: BTreeMap<&'t str, Vec<Node<'t>>>,
    /// The sizes that a variable is compared with.
    bounds: BTreeMap<&'t str, BTreeSet<&'t str>>,
}

/// The size that indexes each array alone, by the name of the array; `sizes` are the integer parameters.
#[must_use]
pub fn read(
    source: &Source<'_>,
    body: Range<usize>,
    sizes: &BTreeSet<&str>,
) -> BTreeMap<String, String> {
    let Some(body) = source.root().descendant_for_byte_range(body.start, body.end) else {
        return BTreeMap::new();
    };
    let mut names = Names::default();
    walk(body, |node, _| {
        names.note(source, node, sizes);
        true
    });
    let known = names.indices.iter().filter_map(|(array, indices)| {
        // Another use, such as a pointer into the array, may have any index.
        let is_only_indexed = names.uses.get(array) == Some(&indices.len());
        let mut found = indices.iter().map(|index| names.size_of(source, *index, sizes));
        let first = found.next()??;
        (is_only_indexed && found.all(|other| other == Some(first)))
            .then(|| ((*array).to_owned(), first.to_owned()))
    });
    known.collect()
}

impl<'t> Names<'t> {
    fn note(&mut self, source: &'t Source<'_>, node: Node<'t>, sizes: &BTreeSet<&str>) {
        let text = |node: Node<'t>| source.node_text(node);
        match node.kind() {
            "identifier" => *self.uses.entry(text(node)).or_default() += 1,
            "subscript_expression" => {
                let array = part(node, "argument").map(bare);
                let indices = part(node, "indices").map(named).unwrap_or_default();
                if let (Some(array), [index]) = (array, indices.as_slice())
                    && array.kind() == "identifier"
                {
                    self.indices.entry(text(array)).or_default().push(bare(*index));
                }
            }
            "init_declarator" => {
                if let (Some(name), Some(value)) = (part(node, "declarator"), part(node, "value")) {
                    self.values.entry(text(name)).or_default().push(bare(value));
                }
            }
            "binary_expression" => {
                let sides = (part(node, "left").map(bare), part(node, "right").map(bare));
                let operator = part(node, "operator").map(text).unwrap_or_default();
                let (Some(left), Some(right)) = sides else { return };
                let (variable, size) = match operator {
                    "<" | ">=" => (text(left), text(right)),
                    ">" | "<=" => (text(right), text(left)),
                    _ => return,
                };
                if sizes.contains(size) {
                    self.bounds.entry(variable).or_default().insert(size);
                }
            }
            _ => {}
        }
    }

    /// The size that an index is below, if it is below one only.
    fn size_of(
        &self,
        source: &'t Source<'_>,
        index: Node<'t>,
        sizes: &BTreeSet<&str>,
    ) -> Option<&'t str> {
        let remainder = |node: Node<'t>| {
            let is_remainder = node.kind() == "binary_expression"
                && part(node, "operator").is_some_and(|sign| source.node_text(sign) == "%");
            let divisor = part(node, "right").map(bare).filter(|_| is_remainder)?;
            Some(source.node_text(divisor)).filter(|divisor| sizes.contains(divisor))
        };
        if index.kind() != "identifier" {
            return remainder(index);
        }
        let name = source.node_text(index);
        let mut bounds = self.bounds.get(name).into_iter().flatten();
        match (bounds.next(), bounds.next()) {
            (Some(only), None) => Some(only),
            (Some(_), Some(_)) => None,
            (None, _) => match self.values.get(name).map(Vec::as_slice) {
                Some([value]) => remainder(*value),
                Some(_) | None => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::signature_of;

    #[test]
    fn an_array_is_indexed_by_one_size_or_by_several() {
        let check = |statements: &str, array: &str, expected: Option<&str>| {
            let text = format!(
                "__global__ void k(const float* x, const float* b, float* y, int rows, int cols) {{ {statements} }}"
            );
            let source = Source::parse(&text).unwrap();
            let body = signature_of(&source, None).unwrap().body;
            let sizes = BTreeSet::from(["rows", "cols"]);
            let found = read(&source, body, &sizes);
            assert_eq!(found.get(array).map(String::as_str), expected, "{statements}");
        };
        let guard = "int i = threadIdx.x; if (i >= rows * cols) return;";
        check(&format!("{guard} y[i] = x[i] + b[i % cols];"), "b", Some("cols"));
        check(&format!("{guard} y[i] = x[i] + b[i % cols];"), "x", None);
        check(&format!("{guard} int c = (i % cols); y[i] = b[c] + b[(c)];"), "b", Some("cols"));
        let row = "int row = blockIdx.x; if (row >= rows) return;";
        let columns = "for (int c = threadIdx.x; c < cols; c += 32)";
        check(&format!("{row} {columns} y[row * cols + c] = b[row];"), "b", Some("rows"));
        check(&format!("{row} {columns} y[row * cols + c] = b[c];"), "b", Some("cols"));
        check(&format!("{row} {columns} y[row * cols + c] = b[c] + b[row];"), "b", None);
        check(&format!("{row} const float* p = b + row; y[row] = p[0] + b[row];"), "b", None);
        check("int i = threadIdx.x; if (i < rows && i < cols) y[i] = b[i];", "b", None);
        check("y[0] = b[rows % 3];", "b", None);
    }
}
