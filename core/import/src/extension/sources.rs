//! The CUDA text of an extension: the file itself, or what a Python file passes to `load_inline`.

use std::collections::BTreeMap;

use lightbench_cuda_source::Source;
use lightbench_cuda_source::torch_wrapper::{KnownInput, wrappers};
use lightbench_python_source::{
    Call, Constants, Expression, ExpressionKind, Module, StatementKind, Value,
};

use crate::error::ImportError;
use crate::input::InputFile;
use crate::python;

/// The CUDA text with what its caller states.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExtensionSource {
    /// The text.
    pub(crate) cuda: String,
    /// Lines of the imported file before the first line of the text.
    pub(crate) line_offset: usize,
    /// The functions that Python can call.
    pub(crate) functions: Vec<String>,
    /// Options for the CUDA compiler.
    pub(crate) flags: Vec<String>,
    /// Numbers that the Python file passes to a function, by the position of the parameter.
    pub(crate) passed: BTreeMap<String, BTreeMap<usize, KnownInput>>,
}

/// What a file of this format has.
pub(super) const EXPECTED: &str = "a `.cu` file with a function of tensors that launches a kernel, or a Python file that passes such a text to `load_inline` as a string";

/// Whether a file holds an extension.
pub(crate) fn is_extension(file: &InputFile) -> bool {
    match file.name.rsplit_once('.') {
        Some((_, "cu")) => {
            let found = Source::parse(&file.text).map(|source| wrappers(&source));
            found.is_ok_and(|found| !found.launching.is_empty())
        }
        Some((_, "py")) => file.text.contains("load_inline"),
        Some(_) | None => false,
    }
}

/// The texts of a file, in order.
pub(crate) fn read(file: &InputFile) -> Result<Vec<ExtensionSource>, ImportError> {
    if file.name.ends_with(".cu") {
        return Ok(vec![ExtensionSource {
            cuda: file.text.clone(),
            line_offset: 0,
            functions: exported(&file.text),
            flags: Vec::new(),
            passed: BTreeMap::new(),
        }]);
    }
    let module = python::read(&file.path, "", &file.text)?;
    let constants = Constants::new(&module);
    let calls = module.calls_of("load_inline");
    let found: Vec<ExtensionSource> =
        calls.filter_map(|(_, call)| inline(&module, &constants, call)).collect();
    if found.is_empty() {
        let text = "no call of `load_inline` whose `cuda_sources` is a string of the file";
        return Err(ImportError::new(&file.path, "", text, EXPECTED));
    }
    Ok(found)
}

/// The functions that `PYBIND11_MODULE` or `TORCH_LIBRARY` export: `m.def("name", &function)`.
fn exported(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("m.def(").chain(text.match_indices("m.impl(")) {
        let rest = text.get(at..).unwrap_or_default();
        let call = rest.split(';').next().unwrap_or_default();
        if let Some((_, function)) = call.split_once('&') {
            let name = function.trim_start();
            let end = name.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric());
            found.push(name.get(..end.unwrap_or(name.len())).unwrap_or_default().to_owned());
        }
    }
    found
}

fn inline(module: &Module, constants: &Constants, call: &Call) -> Option<ExtensionSource> {
    let cuda = call.argument(2, "cuda_sources")?;
    let text = texts(constants.evaluate(cuda)?).join("\n");
    if text.trim().is_empty() {
        return None;
    }
    let functions = call.keyword("functions").or_else(|| call.argument(3, "functions"));
    let functions = functions.and_then(|names| constants.evaluate(names)).map(texts);
    let functions = functions.unwrap_or_default();
    let flags = call.keyword("extra_cuda_cflags").and_then(|flags| constants.evaluate(flags));
    let passed = functions.iter().map(|name| (name.clone(), passed(module, constants, name)));
    Some(ExtensionSource {
        cuda: text,
        line_offset: first_line(module, cuda, 8).saturating_sub(1),
        passed: passed.collect(),
        flags: flags.map(texts).unwrap_or_default(),
        functions,
    })
}

/// A string, or the strings of a list.
fn texts(value: Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text],
        Value::Tuple(values) | Value::List(values) => values.into_iter().flat_map(texts).collect(),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::None => Vec::new(),
    }
}

/// The line of the first character of a string, through the names that hold it; 1 if it is composed.
fn first_line(module: &Module, expression: &Expression, depth: usize) -> usize {
    if let ExpressionKind::Text { first_line, .. } = &expression.kind {
        return *first_line;
    }
    let Some(depth) = depth.checked_sub(1) else { return 1 };
    if let ExpressionKind::List(parts) | ExpressionKind::Tuple(parts) = &expression.kind
        && let [only] = parts.as_slice()
    {
        return first_line(module, only, depth);
    }
    let ExpressionKind::Name(name) = &expression.kind else { return 1 };
    let value = module.statements.iter().rev().find_map(|statement| {
        let StatementKind::Assign { targets, value: Some(value) } = &statement.kind else {
            return None;
        };
        let mut names = targets.iter().filter_map(Expression::dotted_name);
        names.any(|own| own == *name).then_some(value)
    });
    value.map_or(1, |value| first_line(module, value, depth))
}

/// The numbers that every call of a function passes.
fn passed(module: &Module, constants: &Constants, function: &str) -> BTreeMap<usize, KnownInput> {
    let mut found: Option<BTreeMap<usize, KnownInput>> = None;
    for (_, call) in module.calls_of(function) {
        let mut own = BTreeMap::new();
        for (position, argument) in call.positional().enumerate() {
            let known = match constants.evaluate(argument) {
                Some(Value::Integer(value)) => KnownInput::Integer(value),
                Some(Value::Float(value)) => KnownInput::Real(value),
                Some(Value::Boolean(value)) => KnownInput::Boolean(value),
                Some(Value::None) => KnownInput::Absent,
                Some(Value::Text(_) | Value::Tuple(_) | Value::List(_)) | None => continue,
            };
            own.insert(position, known);
        }
        found = Some(match found {
            None => own,
            Some(before) => before
                .into_iter()
                .filter(|(position, value)| own.get(position) == Some(value))
                .collect(),
        });
    }
    found.unwrap_or_default()
}

/// An option of the compiler.
pub(super) enum Flag {
    /// The flag of a launch block with the same meaning.
    Same(&'static str),
    /// Optimisation and messages, which are the default here.
    WithoutEffect,
    Unknown,
}

impl Flag {
    pub(super) fn read(written: &str) -> Self {
        match written.trim() {
            "--use_fast_math" | "-use_fast_math" => Self::Same("fast_math"),
            "--fmad=false" | "-fmad=false" => Self::Same("fmad(false)"),
            "-std=c++14" | "--std=c++14" => Self::Same("std(cpp14)"),
            "-std=c++17" | "--std=c++17" => Self::Same("std(cpp17)"),
            "-std=c++20" | "--std=c++20" => Self::Same("std(cpp20)"),
            ""
            | "-O1"
            | "-O2"
            | "-O3"
            | "-lineinfo"
            | "--expt-relaxed-constexpr"
            | "--expt-extended-lambda"
            | "-Xptxas"
            | "-v"
            | "--ptxas-options=-v"
            | "-Xcompiler"
            | "--extended-lambda"
            | "-allow-unsupported-compiler" => Self::WithoutEffect,
            other
                if other.contains("arch")
                    || other.contains("compute_")
                    || other.contains("_CUDA_NO_") =>
            {
                Self::WithoutEffect
            }
            _ => Self::Unknown,
        }
    }
}
