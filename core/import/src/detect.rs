//! Which format a file or folder has, by its content.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::error::ImportError;
use crate::extension::is_extension;
use crate::flashinfer::Task;
use crate::input::{Input, InputFile, InputKind, MAX_LINE};
use crate::json::Json;
use crate::kernel_bench::KernelBench;
use crate::triton::is_triton;
use crate::triton_parse::is_event;

/// An input whose format is known.
#[derive(Debug)]
pub enum Detected {
    /// A definition of FlashInfer-Bench or SOL-ExecBench, which have nearly one format.
    FlashInfer(Box<Task>),
    /// A task of KernelBench.
    KernelBench(Box<KernelBench>),
    /// A C++ extension of PyTorch, as `.cu` file or in a Python file.
    Extension(Box<InputFile>),
    /// A Python file with Triton kernels.
    Triton(Box<InputFile>),
    /// A log of TritonParse.
    TritonParse(Box<InputFile>),
    /// Traces of runs.
    Traces {
        /// The file.
        file: PathBuf,
    },
}

/// What an importable input looks like, for messages.
const EXPECTED: &str = "a definition of FlashInfer-Bench or SOL-ExecBench (JSON with `axes`, `inputs`, `outputs` and `reference`), a folder with one, a task of KernelBench (Python with `class Model` and `get_inputs`), a PyTorch extension (a `.cu` file with a host wrapper, or a `.py` file with `load_inline`), a Python file with `@triton.jit` kernels and the function that launches them, or a log of TritonParse (`.ndjson`, `.ndjson.gz`)";

/// Finds the format.
///
/// # Errors
///
/// The content has none of the known formats, or several definitions.
pub fn detect(input: &Input) -> Result<Detected, ImportError> {
    if let (InputKind::File, [file]) = (input.kind, input.files.as_slice())
        && let Some(detected) = detect_code(file)?
    {
        return Ok(detected);
    }
    let mut definitions: Vec<(&InputFile, Json)> = Vec::new();
    let mut solutions: Vec<(InputFile, Json)> = Vec::new();
    for file in input.files.iter().filter(|file| file.name.ends_with(".json")) {
        let value = Json::read(&file.path, &file.text)?;
        if is_definition(&value) {
            definitions.push((file, value));
        } else if is_solution(&value) {
            solutions.push((file.clone(), value));
        }
    }
    match definitions.as_slice() {
        [(file, value)] => Task::new(input, file, value, solutions)
            .map(|task| Detected::FlashInfer(Box::new(task))),
        [] if !solutions.is_empty() => Err(ImportError::new(
            &input.path,
            "",
            "a solution without its definition",
            "the folder that holds both, definition.json and solution.json",
        )),
        [] => Err(ImportError::new(&input.path, "", describe(input), EXPECTED)),
        several => {
            let names: Vec<&str> = several.iter().map(|(file, _)| file.name.as_str()).collect();
            let found = format!("{} definitions: {}", names.len(), names.join(", "));
            Err(ImportError::new(&input.path, "", found, "one; name the file"))
        }
    }
}

/// Formats of one file that is not JSON.
fn detect_code(file: &InputFile) -> Result<Option<Detected>, ImportError> {
    if file.name.contains(".ndjson") && has_events(&file.text) {
        return Ok(Some(Detected::TritonParse(Box::new(file.clone()))));
    }
    if file.name.ends_with('l') && is_trace(first_line(&file.text)) {
        return Ok(Some(Detected::Traces { file: file.path.clone() }));
    }
    if is_extension(file) {
        return Ok(Some(Detected::Extension(Box::new(file.clone()))));
    }
    if !file.name.ends_with(".py") {
        return Ok(None);
    }
    if let Some(task) = KernelBench::new(file)? {
        return Ok(Some(Detected::KernelBench(Box::new(task))));
    }
    Ok(is_triton(file).then(|| Detected::Triton(Box::new(file.clone()))))
}

/// Whether a file holds traces of runs, by its first line. A file that cannot be read holds none.
#[must_use]
pub fn holds_traces(path: &Path) -> bool {
    if path.is_dir() {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let mut line = String::new();
    let mut limited = BufReader::new(file).take(MAX_LINE as u64);
    loop {
        line.clear();
        match limited.read_line(&mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) if line.trim().is_empty() => {}
            Ok(_) => return is_trace(&line),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

fn has_events(text: &str) -> bool {
    Json::read(Path::new(""), first_line(text)).is_ok_and(|event| is_event(&event))
}

fn is_trace(line: &str) -> bool {
    let Ok(value) = Json::read(Path::new(""), line) else { return false };
    value.get("definition").is_some_and(|name| name.text().is_some())
        && ["workload", "solution", "evaluation"].iter().any(|key| value.get(key).is_some())
        && value.get("sources").is_none()
}

fn is_definition(value: &Json) -> bool {
    ["axes", "inputs", "outputs"].iter().all(|key| value.get(key).is_some())
}

fn is_solution(value: &Json) -> bool {
    ["definition", "spec", "sources"].iter().all(|key| value.get(key).is_some())
}

/// What an input of an unknown format has.
fn describe(input: &Input) -> String {
    match (input.kind, input.files.as_slice()) {
        (InputKind::File, [file]) => match Json::read(&file.path, &file.text) {
            Ok(value) if !value.entries().is_empty() => {
                let keys = value.entries().iter().take(8);
                let keys: Vec<String> = keys.map(|(key, _)| format!("`{key}`")).collect();
                format!("JSON with the keys {}", keys.join(", "))
            }
            Ok(value) => value.described(),
            Err(_) => "text that is not JSON".to_owned(),
        },
        (InputKind::File | InputKind::Folder, files) => {
            format!("a folder with {} files of code or data, and no definition", files.len())
        }
    }
}
