//! One line of a stream of candidates: what was written, and what it means.

use std::path::{Path, PathBuf};

use lightbench_core::project::Language;
use lightbench_core::project::names::is_file_name;
use lightbench_core::report::document::eval::CandidateId;
use serde::Deserialize;

/// The longest identifier, in bytes: every verdict repeats it.
const MAX_ID: usize = 256;

/// Bytes of an identifier that become part of a kernel's name.
const MAX_NAME: usize = 40;

/// A candidate of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CandidateLine {
    pub(super) id: CandidateId,
    /// The project's folder.
    pub(super) project: PathBuf,
    /// The text of the kernel.
    pub(super) kernel: String,
    /// Its language, if the line states it.
    pub(super) language: Option<Language>,
    /// The only workload, if the line names one.
    pub(super) workload: Option<String>,
}

/// Why a line is no candidate.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("expected {{\"id\": …, \"kernel\": \"…\", …}}: {0}")]
    Json(serde_json::Error),
    #[error("an `id` of {0} bytes; at most {MAX_ID}")]
    LongId(usize),
    #[error(
        "`workloads` has {0} names; leave it out for all workloads, which a full verdict needs, or name one"
    )]
    Workloads(usize),
}

/// The line as it is written. Other fields are permitted and ignored.
#[derive(Deserialize)]
struct Written {
    id: CandidateId,
    project: Option<PathBuf>,
    kernel: String,
    language: Option<WrittenLanguage>,
    workloads: Option<WrittenWorkloads>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenLanguage {
    Cuda,
    Ptx,
    Triton,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenWorkloads {
    One(String),
    Several(Vec<String>),
}

/// The identifier of a line whose other fields are wrong.
#[derive(Deserialize)]
struct Identified {
    id: CandidateId,
}

impl CandidateLine {
    /// Parses a line; `project` is the project of lines that name none. The error comes with the identifier, if the line
    /// has one.
    pub(super) fn parse(
        line: &str,
        project: &Path,
    ) -> Result<Self, (Option<CandidateId>, LineError)> {
        let written: Written = serde_json::from_str(line).map_err(|error| {
            let identified = serde_json::from_str::<Identified>(line).ok();
            let id = identified.map(|line| line.id).filter(|id| id_length(id) <= MAX_ID);
            (id, LineError::Json(error))
        })?;
        let length = id_length(&written.id);
        if length > MAX_ID {
            return Err((None, LineError::LongId(length)));
        }
        let workload = match written.workloads {
            None => None,
            Some(WrittenWorkloads::One(name)) => Some(name),
            Some(WrittenWorkloads::Several(names)) => match <[String; 1]>::try_from(names) {
                Ok([name]) => Some(name),
                Err(names) => return Err((Some(written.id), LineError::Workloads(names.len()))),
            },
        };
        let language = written.language.map(|language| match language {
            WrittenLanguage::Cuda => Language::Cuda,
            WrittenLanguage::Ptx => Language::Ptx,
            WrittenLanguage::Triton => Language::Triton,
        });
        let project = written.project.unwrap_or_else(|| project.to_owned());
        Ok(Self { id: written.id, project, kernel: written.kernel, language, workload })
    }

    /// The name of its kernel: the identifier as far as a file may be called so.
    pub(super) fn kernel_name(&self) -> String {
        let text = match &self.id {
            CandidateId::Number(number) => format!("candidate-{number}"),
            CandidateId::Text(text) => text.clone(),
        };
        let permitted = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = text.chars().map(permitted).take(MAX_NAME).collect();
        // The project's reference has this name.
        if is_file_name(&name) && name != "reference" { name } else { format!("candidate-{name}") }
    }
}

fn id_length(id: &CandidateId) -> usize {
    match id {
        CandidateId::Number(_) => 0,
        CandidateId::Text(text) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Result<CandidateLine, (Option<CandidateId>, LineError)> {
        CandidateLine::parse(line, Path::new("default"))
    }

    #[test]
    fn a_line_is_a_candidate_or_says_why_not() {
        let check = |line: &str, expected: Result<&str, &str>| {
            let found = parse(line);
            let found = found.map(|line| {
                let CandidateLine { id, project, kernel, language, workload } = line;
                let (project, workload) = (project.display(), workload.unwrap_or_default());
                format!("{id}|{project}|{kernel}|{language:?}|{workload}")
            });
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err((id, error)), Err(expected)) => {
                    let id = id.map(|id| id.to_string()).unwrap_or_default();
                    let found = format!("{id}|{error}");
                    assert!(found.contains(expected), "{found}, expected {expected}");
                }
                (found, expected) => panic!("{line}: {found:?}, expected {expected:?}"),
            }
        };
        check(r#"{"id": 7, "kernel": "k"}"#, Ok("7|default|k|None|"));
        check(r#"{"id": "a", "project": "p", "kernel": "k", "reward": 1}"#, Ok("a|p|k|None|"));
        check(r#"{"id": "a", "kernel": "k", "language": "ptx"}"#, Ok("a|default|k|Some(Ptx)|"));
        check(r#"{"id": "a", "kernel": "k", "workloads": "odd"}"#, Ok("a|default|k|None|odd"));
        check(r#"{"id": "a", "kernel": "k", "workloads": ["odd"]}"#, Ok("a|default|k|None|odd"));
        check(r#"{"id": "a", "kernel": "k", "workloads": ["x", "y"]}"#, Err("a|`workloads` has 2"));
        check(r#"{"id": "a", "kernel": "k", "workloads": []}"#, Err("a|`workloads` has 0"));
        check(r#"{"id": "a", "kernel": "k", "language": "rust"}"#, Err("a|expected {\"id\""));
        check(r#"{"id": "a", "kernel": 3}"#, Err("a|expected"));
        check(r#"{"id": "a", "id": "b", "kernel": "k"}"#, Err("duplicate field"));
        check(r#"{"id": [], "kernel": "k"}"#, Err("|expected"));
        check(r#"{"kernel": "k"}"#, Err("missing field `id`"));
        check("", Err("|expected"));
        check("[1, 2", Err("|expected"));
        let long = format!(r#"{{"id": "{}", "kernel": "k"}}"#, "x".repeat(MAX_ID + 1));
        check(&long, Err("|an `id` of 257 bytes"));
    }

    #[test]
    fn a_kernel_is_called_after_its_identifier() {
        let check = |id: &str, expected: &str| {
            let line = parse(&format!(r#"{{"id": {id}, "kernel": "k"}}"#)).unwrap();
            assert_eq!(line.kernel_name(), expected);
        };
        check("12", "candidate-12");
        check("-3", "candidate--3");
        check("\"softmax_2-b\"", "softmax_2-b");
        check("\"step 3/sample 4\"", "step-3-sample-4");
        check("\"../../etc\"", "candidate-------etc");
        check("\"reference\"", "candidate-reference");
        check("\"\"", "candidate-");
    }

    proptest! {
        #[test]
        fn no_line_panics_and_every_name_is_a_file_name(line in ".{0,200}", id in ".{0,80}") {
            drop(parse(&line));
            let id = serde_json::to_string(&id).unwrap();
            let line = format!(r#"{{"id": {id}, "kernel": "k", "project": {id}}}"#);
            match parse(&line) {
                Ok(line) => prop_assert!(is_file_name(&line.kernel_name())),
                Err((_, error)) => prop_assert!(matches!(error, LineError::LongId(_))),
            }
        }
    }
}
