//! Order of parameter values in a kernel file: the first value of each list is the default.

use std::collections::BTreeMap;

use lightbench_project::Kernel;
use lightbench_project::kernel::launch_block;

/// The text with these values first in their lists; the rest of the launch block is unchanged. None if the file has no launch
/// block or the order is the same.
#[must_use]
pub fn with_preferred_values(
    kernel: &Kernel,
    parameters: &BTreeMap<String, i64>,
) -> Option<String> {
    let block = launch_block(&kernel.file, &kernel.source)?;
    let mut edits = Vec::new();
    for (index, parameter) in kernel.launch.parameters.iter().enumerate() {
        let Some(wanted) = parameters.get(&parameter.name) else { continue };
        if parameter.values.first() == Some(wanted) || !parameter.values.contains(wanted) {
            continue;
        }
        let others = parameter.values.iter().filter(|value| *value != wanted);
        let values: Vec<String> =
            std::iter::once(wanted).chain(others).map(i64::to_string).collect();
        let list = block.field("params").value(index);
        edits.push((list.span.clone(), format!("[{}]", values.join(", "))));
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = kernel.source.clone();
    for (span, values) in edits.into_iter().rev() {
        text.get(span.clone())?;
        text.replace_range(span, &values);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use lightbench_project::Project;

    use super::*;

    fn check(parameters: &[(&str, i64)], expected: Option<&str>) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample-projects/softmax");
        let project = Project::load(folder.as_ref()).unwrap();
        let kernel = project.kernel("naive").unwrap();
        let parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let found = with_preferred_values(kernel, &parameters);
        let line =
            found.as_ref().and_then(|text| text.lines().find(|line| line.contains("params:")));
        assert_eq!(line.map(str::trim), expected);
        if let Some(text) = found {
            let again = project.draft("again", text).unwrap();
            assert_eq!(Some(&again.launch.parameters[0].values[0]), parameters.values().next());
        }
    }

    #[test]
    fn the_values_that_are_preferred_come_first() {
        check(&[("BLOCK", 128)], Some(r#"params: { "BLOCK": [128, 64, 32, 256] },"#));
        check(&[("BLOCK", 64)], None);
        check(&[("BLOCK", 77)], None);
        check(&[("OTHER", 64)], None);
    }
}
