//! Solutions of a definition: which of their texts become kernels, and why others do not.

use std::path::Path;

use crate::error::ImportError;
use crate::input::InputFile;
use crate::json::Json;
use crate::names::relative_path;
use crate::report::Report;

/// Reports what a solution has. Its kernels have no launch block: the host code that launches them is a program.
pub(super) fn report_solution(
    file: &InputFile,
    value: &Json,
    definition: &str,
    report: &mut Report,
) -> Result<(), ImportError> {
    let name = text(&file.path, value, "name")?;
    let of = text(&file.path, value, "definition")?;
    if of != definition {
        let expected = format!("a solution of `{definition}`");
        return Err(ImportError::new(&file.path, "definition", format!("`{of}`"), expected));
    }
    let spec = value.get("spec");
    let language =
        spec.and_then(|spec| spec.get("language")).and_then(Json::text).map(str::to_owned);
    let languages =
        spec.and_then(|spec| spec.get("languages")).and_then(Json::list).unwrap_or_default();
    let language = language.or_else(|| languages.first().and_then(Json::text).map(str::to_owned));
    let language = language.unwrap_or_else(|| "no language".to_owned());
    let mut seen = std::collections::BTreeSet::new();
    for (index, source) in
        value.get("sources").and_then(Json::list).unwrap_or_default().iter().enumerate()
    {
        let place = format!("sources[{index}].path");
        let written = source.get("path").and_then(Json::text).unwrap_or_default();
        let path = relative_path(written).map_err(|found| {
            ImportError::new(
                &file.path,
                place.clone(),
                found,
                "a relative path below the solution's folder",
            )
        })?;
        if !seen.insert(path.to_lowercase()) {
            let found = format!("a second file `{path}`");
            return Err(ImportError::new(
                &file.path,
                place,
                found,
                "paths that differ, and not only in case",
            ));
        }
    }
    let (how, what) = match language.as_str() {
        "triton" => (
            "its launch is host code in Python",
            "copy the functions with @triton.jit to kernels/NAME.py with a launch block (docs/bring-your-own.md, \"A Triton kernel\")",
        ),
        "cuda" | "cuda_cpp" | "cpp" | "c++" => (
            "its launch is host code in C++",
            "copy the kernel to kernels/NAME.cu with a launch block, or make one by `lightbench new --from`",
        ),
        _ => ("it is no CUDA, PTX or Triton kernel", "rewrite it as one"),
    };
    report.leave_out(format!("solution `{name}` ({language})"), format!("{how}; {what}"));
    Ok(())
}

fn text(file: &Path, value: &Json, key: &str) -> Result<String, ImportError> {
    match value.get(key) {
        Some(Json::Text(text)) if !text.is_empty() => Ok(text.clone()),
        other => {
            let found = other.map_or_else(|| "nothing".to_owned(), Json::described);
            Err(ImportError::new(file, key, found, "a text"))
        }
    }
}
