//! Extracts a kernel file from a reply, or describes to the model what is wrong with the reply.

use std::collections::BTreeMap;

use crate::models::reply::{Edit, NamedFile, ParameterValue, Proposal, ReplyProblem, apply, parse};
use crate::project::Kernel;
use crate::suggest::parameter_order::with_preferred_values;

/// A proposed kernel file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Text of the kernel file.
    pub(super) source: String,
    /// The change, as the model describes it.
    pub(super) idea: Option<String>,
}

/// The kernel file that a reply proposes. It is not checked here.
pub(super) fn source(kernel: &Kernel, reply: &str) -> Result<Answer, String> {
    let parsed = parse(reply).map_err(|problem| problem.to_string())?;
    if parsed.is_cut {
        return Err(ReplyProblem::Cut.to_string());
    }
    let source = match parsed.proposal {
        Proposal::File(text) => text,
        Proposal::Files(files) => only(files)?,
        Proposal::Edits(edits) => edited(kernel, &edits)?,
        Proposal::Parameters(values) => chosen(kernel, &values)?,
    };
    if source.trim() == kernel.source.trim() {
        return Err("The kernel is unchanged. Send a kernel with a change.".to_owned());
    }
    Ok(Answer { source, idea: parsed.idea })
}

fn only(mut files: Vec<NamedFile>) -> Result<String, String> {
    match (files.pop(), files.is_empty()) {
        (Some(file), true) => Ok(file.text),
        (_, _) => Err("A kernel is one file here. Send one file with all of it.".to_owned()),
    }
}

fn edited(kernel: &Kernel, edits: &[Edit]) -> Result<String, String> {
    let named = |edit: &Edit| edit.file.as_deref().map(file_name).map(str::to_owned);
    let mut names: Vec<String> = edits.iter().filter_map(named).collect();
    names.dedup();
    if names.len() > 1 {
        return Err("The edits are of several files, and a kernel is one file here.".to_owned());
    }
    apply(edits, &kernel.source).map_err(|problem| problem.to_string())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn chosen(kernel: &Kernel, values: &BTreeMap<String, ParameterValue>) -> Result<String, String> {
    let mut parameters = BTreeMap::new();
    for (name, value) in values {
        let declared = kernel.launch.parameters.iter().find(|parameter| parameter.name == *name);
        let Some(declared) = declared else {
            return Err(format!("The kernel declares no parameter `{name}`."));
        };
        let whole = match value {
            ParameterValue::Integer(value) => Some(*value),
            ParameterValue::Flag(_) | ParameterValue::Number(_) | ParameterValue::Word(_) => None,
        };
        let Some(whole) = whole.filter(|value| declared.values.contains(value)) else {
            let allowed: Vec<String> = declared.values.iter().map(i64::to_string).collect();
            return Err(format!("`{name}` can be {}.", allowed.join(", ")));
        };
        parameters.insert(name.clone(), whole);
    }
    with_preferred_values(kernel, &parameters)
        .ok_or_else(|| "These are the values that the kernel has already.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    fn naive() -> Kernel {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample-projects/vector-add");
        Project::load(folder.as_ref()).unwrap().kernel("naive").unwrap().clone()
    }

    fn check(reply: &str, expected: Result<&str, &str>) {
        match (source(&naive(), reply), expected) {
            (Ok(answer), Ok(part)) => assert!(answer.source.contains(part), "{}", answer.source),
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
            (found, expected) => panic!("{found:?} instead of {expected:?} for\n{reply}"),
        }
    }

    #[test]
    fn a_reply_is_a_file_edits_or_values() {
        check("idea: x\n```cuda\nwhole\n```", Ok("whole"));
        check("```cuda\na\n```\nBetter:\n```cuda\nb\n```", Ok("b\n"));
        check("```cuda fast.cu\nnamed\n```", Ok("named"));
        check("```cuda a.cu\na\n```\n```cuda b.cu\nb\n```", Err("one file"));
        check(
            "<<<<<<< SEARCH\n    if (index < n) {\n=======\n    if (index + 0 < n) {\n>>>>>>> REPLACE",
            Ok("if (index + 0 < n) {"),
        );
        check(
            "<<<<<<< SEARCH\n    if (index < m) {\n=======\n    x\n>>>>>>> REPLACE",
            Err("nearest: line"),
        );
        check("```json\n{\"BLOCK\": 512}\n```", Ok("[512, 256, 128, 1024]"));
        check("```json\n{\"BLOCK\": 96}\n```", Err("`BLOCK` can be 256, 128, 512, 1024."));
        check("```json\n{\"TILE\": 4}\n```", Err("no parameter `TILE`"));
        check("```json\n{\"BLOCK\": 256}\n```", Err("has already"));
    }

    #[test]
    fn what_is_no_proposal_is_told_in_a_sentence() {
        check("", Err("empty"));
        check("Use more threads.", Err("no fenced block"));
        check("```cuda\n__global__", Err("ended inside"));
        check("```cuda\na\n```\nBetter:\n```cuda\nb", Err("ended inside"));
        check(&format!("```cuda\n{}\n```", naive().source), Err("The kernel is unchanged"));
    }
}
