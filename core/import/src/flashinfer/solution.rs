//! Solutions of a definition: which become kernels of the project, and why others do not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lightbench_cuda_source::torch_wrapper::{
    ArgumentValue, Known, KnownInput, ParameterKind, Refusal, Step, Wrapper, read_wrapper,
};
use lightbench_cuda_source::{Source, normalised};
use lightbench_project::manifest::{Manifest, ScalarDomainWritten};
use lightbench_project::written::NumberWritten;

use super::definition::Definition;
use super::values::Values;
use crate::draft::{Draft, KernelFile, declared};
use crate::error::ImportError;
use crate::extension::ExtensionSource;
use crate::extension::kernel_file;
use crate::input::InputFile;
use crate::json::Json;
use crate::names::{file_name, relative_path};
use crate::report::Report;
use crate::triton::{self, KnownInputs};
use crate::wrapper::interface::{Interface, ScalarSource};

/// A solution as its file states it.
struct Solution {
    file: PathBuf,
    name: String,
    language: String,
    /// The file and the function that the benchmark calls.
    entry: Option<(String, String)>,
    /// Paths and texts, in the order of the file.
    sources: Vec<(String, String)>,
    /// Options for the CUDA compiler.
    options: Vec<String>,
}

/// Makes a kernel of a solution, or reports why that is not possible.
///
/// # Errors
///
/// The file is no solution of this definition, or a path in it is not permitted.
pub(super) fn carry_over(
    file: &InputFile,
    value: &Json,
    values: &Values<'_>,
    draft: &mut Draft,
    report: &mut Report,
) -> Result<(), ImportError> {
    let solution = Solution::read(&file.path, value, values.definition)?;
    let carried = match solution.language.as_str() {
        "triton" => solution.triton(values, draft),
        "cuda" | "cuda_cpp" | "cpp" | "c++" => solution.cuda(values, draft),
        _ => Err("it is no CUDA or Triton kernel; rewrite it as one".to_owned()),
    };
    match carried {
        Ok(kernel) => {
            let Solution { name, language, .. } = &solution;
            let file = &kernel.name;
            report.carried.push(format!("kernels/{file}: solution `{name}` ({language})"));
            draft.kernels.push(kernel);
        }
        Err(reason) => {
            let Solution { name, language, .. } = &solution;
            report.leave_out(format!("solution `{name}` ({language})"), reason);
        }
    }
    Ok(())
}

impl Solution {
    fn read(file: &Path, value: &Json, definition: &Definition) -> Result<Self, ImportError> {
        let field = |key: &str| text(file, value, key, || key.to_owned());
        let (name, of) = (field("name")?, field("definition")?);
        if of != definition.name {
            let expected = format!("a solution of `{}`", definition.name);
            return Err(ImportError::new(file, "definition", format!("`{of}`"), expected));
        }
        let spec = value.get("spec");
        let field = |key: &str| spec.and_then(|spec| spec.get(key));
        let languages = field("languages").and_then(Json::list).unwrap_or_default();
        let language = field("language").or_else(|| languages.first()).and_then(Json::text);
        let entry = field("entry_point").and_then(Json::text).and_then(|entry| {
            let (path, function) = entry.split_once("::")?;
            Some((path.trim_start_matches("./").to_owned(), function.to_owned()))
        });
        let options = field("compile_options").map(flags).unwrap_or_default();
        Ok(Self {
            file: file.to_owned(),
            name,
            language: language.unwrap_or("no language").to_ascii_lowercase(),
            entry,
            sources: sources(file, value)?,
            options,
        })
    }

    fn entry(&self) -> Result<(&str, &str, &str), String> {
        let (path, function) =
            self.entry.as_ref().ok_or("`spec.entry_point` is not of the form `file::function`")?;
        let source = self.sources.iter().find(|(own, _)| own == path);
        let (_, text) = source
            .ok_or_else(|| format!("`spec.entry_point` names `{path}`, which is no source"))?;
        Ok((path, function, text))
    }

    /// The name of its kernel, which no other kernel of the project has.
    fn kernel_name(&self, draft: &Draft) -> String {
        let own = file_name(&self.name);
        let stem = |kernel: &KernelFile| {
            kernel.name.rsplit_once('.').map_or(kernel.name.clone(), |(stem, _)| stem.to_owned())
        };
        let is_taken =
            |name: &str| draft.kernels.iter().any(|kernel| stem(kernel).eq_ignore_ascii_case(name));
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        std::iter::once(own.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(own)
    }

    fn cuda(&self, values: &Values<'_>, draft: &mut Draft) -> Result<KernelFile, String> {
        let (path, function, _) = self.entry()?;
        let joined = Joined::new(&self.sources, path);
        let text = normalised(&joined.text);
        let parsed = Source::parse(&text).map_err(|error| error.to_string())?;
        let located = |refusal: Refusal| {
            let place = joined.place(refusal.place.line);
            format!("{place}: {}: `{}`", refusal.why, refusal.found)
        };
        let mut known = Known::default();
        let first = read_wrapper(&parsed, Some(function), &known).map_err(located)?;
        let bound = bind(&first, values)?;
        for (position, name) in bound.iter().enumerate() {
            if let Some(tensor) = declared(&draft.manifest, name) {
                let (dtype, rank) = (Some(tensor.dtype), Some(tensor.shape.len()));
                known.inputs.insert(position, KnownInput::Tensor { dtype, rank });
            }
        }
        let mut wrapper = read_wrapper(&parsed, Some(function), &known).map_err(located)?;
        wrapper.name = self.kernel_name(draft);
        let mut own = Report::new(crate::Format::FlashInferBench);
        let interface = interface(&mut wrapper, &bound, values, draft, &mut own)?;
        let source = ExtensionSource {
            cuda: text.clone(),
            line_offset: 0,
            functions: Vec::new(),
            flags: self.options.clone(),
            passed: BTreeMap::new(),
        };
        let required = interface.required();
        kernel_file::kernel(&self.file, &source, &interface, &required, &mut own)
            .map_err(|error| error.to_string())
    }

    fn triton(&self, values: &Values<'_>, draft: &mut Draft) -> Result<KernelFile, String> {
        let (path, function, text) = self.entry()?;
        let mut known = KnownInputs::default();
        for (own, given) in &values.names {
            if let Some(tensor) = declared(&draft.manifest, given) {
                known.tensors.insert(own.clone(), (tensor.dtype, tensor.shape.len()));
            } else if let Some(scalar) =
                draft.manifest.scalars.iter().find(|scalar| scalar.name == *given)
            {
                known.numbers.insert(own.clone(), scalar.dtype);
            }
        }
        let mut reading = triton::read_function(text, function, &known)?;
        let bound = bind(&reading.wrapper, values)?;
        let name = self.kernel_name(draft);
        reading.wrapper.name.clone_from(&name);
        let mut own = Report::new(crate::Format::FlashInferBench);
        let mut wrapper = reading.wrapper.clone();
        let interface = interface(&mut wrapper, &bound, values, draft, &mut own)?;
        let file = InputFile {
            path: self.file.with_file_name(format!("{name}.py")),
            name: path.to_owned(),
            text: text.to_owned(),
        };
        triton::kernel_file::kernel(&file, &reading, &interface, &interface.required())
            .map_err(|error| error.to_string())
    }
}

/// The sources as one text, those that the entry includes before it.
struct Joined {
    text: String,
    /// The first line of each source.
    begins: Vec<(usize, String)>,
}

impl Joined {
    fn new(sources: &[(String, String)], entry: &str) -> Self {
        let rank = |path: &str| match path.rsplit_once('.') {
            Some((_, "h" | "hpp" | "cuh")) => 0,
            _ if path == entry => 2,
            _ => 1,
        };
        let code = ["cu", "cuh", "h", "hpp", "cpp", "cc", "cxx"];
        let is_code =
            |path: &str| path.rsplit_once('.').is_some_and(|(_, end)| code.contains(&end));
        let mut ordered: Vec<&(String, String)> =
            sources.iter().filter(|(path, _)| is_code(path)).collect();
        ordered.sort_by_key(|(path, _)| rank(path));
        let names: BTreeSet<&str> =
            sources.iter().map(|(path, _)| path.rsplit('/').next().unwrap_or(path)).collect();
        let (mut text, mut begins) = (String::new(), Vec::new());
        for (path, content) in ordered {
            begins.push((text.matches('\n').count() + 1, path.clone()));
            for line in content.lines() {
                // Sources of the solution are here already.
                let included = line.trim_start().strip_prefix("#include").map(str::trim);
                let own = included.and_then(|name| name.strip_prefix('"')?.strip_suffix('"'));
                let own = own.map(|name| name.rsplit('/').next().unwrap_or(name));
                if own.is_none_or(|name| !names.contains(name)) {
                    text.push_str(line);
                }
                text.push('\n');
            }
        }
        Self { text, begins }
    }

    fn place(&self, line: usize) -> String {
        let own = self.begins.iter().rev().find(|(begin, _)| *begin <= line);
        own.map_or_else(
            || format!("line {line}"),
            |(begin, path)| format!("{path}, line {}", line - begin + 1),
        )
    }
}

/// The name in the project for each parameter: by its own name, else by the position among inputs and outputs.
fn bind(wrapper: &Wrapper, values: &Values<'_>) -> Result<Vec<String>, String> {
    let definition = values.definition;
    let all: Vec<&str> = definition
        .inputs
        .iter()
        .chain(&definition.outputs)
        .map(|value| value.name.as_str())
        .collect();
    let mut own: Vec<&str> = Vec::new();
    for name in all {
        if !own.contains(&name) {
            own.push(name);
        }
    }
    let parameters =
        wrapper.parameters.iter().filter(|each| !matches!(each.kind, ParameterKind::Launch(_)));
    let parameters: Vec<&str> = parameters.map(|each| each.name.as_str()).collect();
    let by_name = parameters.iter().all(|name| own.contains(name));
    let names = if by_name {
        parameters
    } else if parameters.len() == own.len() || parameters.len() == definition.inputs.len() {
        own
    } else {
        return Err(format!(
            "its function takes {} values, and the definition has {} inputs and {} outputs",
            parameters.len(),
            definition.inputs.len(),
            definition.outputs.len()
        ));
    };
    let given = names.into_iter().take(wrapper.parameters.len()).map(|name| {
        let axis = values.sizes.axis(name).map(|axis| axis.name.as_str());
        let result = values.results.iter().find(|result| result.output == name);
        let result = result.and_then(|result| result.tensor.as_deref());
        let project = values.project_name(name).or(result).or(axis);
        project.map(str::to_owned).ok_or_else(|| format!("`{name}` is not part of the project"))
    });
    given.collect()
}

/// The tensors and numbers of a host function as those of the project.
fn interface<'w>(
    wrapper: &'w mut Wrapper,
    bound: &[String],
    values: &Values<'_>,
    draft: &mut Draft,
    report: &mut Report,
) -> Result<Interface<'w>, String> {
    let mut given: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (parameter, name) in wrapper.parameters.iter_mut().zip(bound) {
        parameter.name.clone_from(name);
        if let ParameterKind::Tensor(index) = parameter.kind {
            let stated = declared(&draft.manifest, name)
                .ok_or_else(|| format!("`{name}` is a number, and its function takes a tensor"))?;
            given.insert(index, stated.shape.iter().map(|size| size.0.clone()).collect());
            if let Some(own) = wrapper.tensors.get_mut(index) {
                own.name.clone_from(name);
            }
        } else if declared(&draft.manifest, name).is_some() {
            return Err(format!("`{name}` is a tensor, and its function takes a number"));
        }
    }
    let outputs = values.results.iter().filter_map(|result| result.tensor.as_deref());
    for (index, name) in wrapper.returned.iter().zip(outputs) {
        if let Some(own) = wrapper.tensors.get_mut(*index)
            && !bound.contains(&own.name)
        {
            name.clone_into(&mut own.name);
        }
    }
    let wrapper: &'w Wrapper = wrapper;
    let interface = Interface::new(wrapper, &given, report);
    check(&interface, &draft.manifest)?;
    for scalar in &interface.scalars {
        let ScalarSource::Computed(real) = &scalar.source else { continue };
        let value = real.constant().ok_or_else(|| {
            format!("its function computes the number `{}` from sizes", scalar.name)
        })?;
        let known = draft.manifest.scalars.iter().find(|each| each.name == scalar.name);
        match known {
            Some(known) if known.value == NumberWritten::Real(value) => {}
            Some(_) => return Err(format!("`{}` has two values", scalar.name)),
            None => {
                let value = NumberWritten::Real(value);
                let mut written = crate::draft::scalar(&scalar.name, scalar.dtype, value);
                written.domain = ScalarDomainWritten::Fixed;
                draft.manifest.scalars.push(written);
            }
        }
    }
    Ok(interface)
}

/// Whether the project has everything that the launches pass.
fn check(interface: &Interface<'_>, manifest: &Manifest) -> Result<(), String> {
    if let Some(axis) = interface.axes.axes.first() {
        return Err(format!("it needs the size `{}`, which is none of the definition", axis.name));
    }
    let launches = interface.wrapper.steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        Step::Fill { .. } => None,
    });
    for argument in launches.flat_map(|launch| &launch.arguments) {
        let ArgumentValue::Tensor { tensor: index, .. } = argument.value else { continue };
        let Some(own) = interface.tensors.get(index) else { continue };
        match declared(manifest, &own.name) {
            Some(declared) if declared.dtype != own.dtype => {
                return Err(format!(
                    "it passes `{}` as {}, and the definition states {}",
                    own.name,
                    own.dtype.name(),
                    declared.dtype.name()
                ));
            }
            Some(_) => {}
            None if own.role == crate::wrapper::interface::Role::Scratch => {}
            None => return Err(format!("`{}` is no tensor of the definition", own.name)),
        }
    }
    Ok(())
}

/// The paths and texts of a solution. Paths stay below its folder and differ not only in case.
fn sources(file: &Path, value: &Json) -> Result<Vec<(String, String)>, ImportError> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (index, source) in
        value.get("sources").and_then(Json::list).unwrap_or_default().iter().enumerate()
    {
        let place = format!("sources[{index}].path");
        let written = source.get("path").and_then(Json::text).unwrap_or_default();
        let path = relative_path(written).map_err(|found| {
            let expected = "a relative path below the solution's folder";
            ImportError::new(file, place.clone(), found, expected)
        })?;
        if !seen.insert(path.to_lowercase()) {
            let found = format!("a second file `{path}`");
            let expected = "paths that differ, and not only in case";
            return Err(ImportError::new(file, place, found, expected));
        }
        let content = text(file, source, "content", || format!("sources[{index}].content"))?;
        found.push((path, content));
    }
    Ok(found)
}

/// `compile_options`: a list of options, or lists of them by compiler (`cuda_cflags`).
fn flags(options: &Json) -> Vec<String> {
    let texts = |list: &Json| -> Vec<String> {
        let all = list.list().unwrap_or_default().iter();
        all.filter_map(Json::text).map(str::to_owned).collect()
    };
    let by_compiler = options.entries().iter().filter(|(key, _)| key.contains("cuda"));
    texts(options).into_iter().chain(by_compiler.flat_map(|(_, list)| texts(list))).collect()
}

/// The text of a key, which is not empty; `place` names it in the error.
fn text(
    file: &Path,
    value: &Json,
    key: &str,
    place: impl FnOnce() -> String,
) -> Result<String, ImportError> {
    match value.get(key) {
        Some(Json::Text(text)) if !text.is_empty() => Ok(text.clone()),
        other => {
            let found = other.map_or_else(|| "nothing".to_owned(), Json::described);
            Err(ImportError::new(file, place(), found, "a text"))
        }
    }
}
