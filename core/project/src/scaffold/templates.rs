//! The template arguments of a kernel's first compilation.

use lightbench_cuda_source::host_launch::HostLaunch;
use lightbench_cuda_source::syntax::one_line;
use lightbench_cuda_source::{Signature, Source, TemplateKind, TemplateParameter};
use lightbench_primitives::dtype::{Dtype, Family};

use super::error::ScaffoldError;
use super::names::Names;

/// A tuning parameter that feeds an integer template parameter.
pub(super) struct Tuned {
    /// Its name in the source.
    pub(super) written: String,
    /// Its name in the project, which code sees as `PARAM_…`.
    pub(super) name: String,
    pub(super) value: u64,
    pub(super) guessed: bool,
    /// The argument in the host code.
    pub(super) host: Option<String>,
}

#[derive(Default)]
pub(super) struct Templates {
    /// The arguments of the kernel's name expression, empty for a plain function.
    pub(super) arguments: Vec<String>,
    pub(super) tuned: Vec<Tuned>,
    /// Type parameters and their types.
    types: Vec<(String, String)>,
    /// Type parameters that neither the source nor its host code decides.
    pub(super) guessed_types: Vec<String>,
}

impl Templates {
    /// A type's name with template parameters, aliases and macros replaced.
    pub(super) fn resolve(&self, source: &Source<'_>, written: &str) -> String {
        let name = source.resolve_type(written);
        match self.types.iter().find(|(parameter, _)| *parameter == name) {
            Some((_, concrete)) => source.resolve_type(concrete),
            None => name,
        }
    }

    /// The tuning parameter that `written` names, if it names one.
    pub(super) fn tuned(&self, written: &str) -> Option<&Tuned> {
        self.tuned.iter().find(|tuned| tuned.written == written)
    }
}

/// Default for an integer parameter: a block's width, or a tile's below.
const BLOCK: u64 = 256;
const TILE: u64 = 32;

pub(super) fn guess(
    source: &Source<'_>,
    signature: &Signature,
    host: &HostLaunch,
    names: &mut Names,
) -> Result<Templates, ScaffoldError> {
    let mut found = Templates::default();
    for (position, parameter) in signature.templates.iter().enumerate() {
        let given = host.template_arguments.get(position).map(String::as_str);
        match &parameter.kind {
            TemplateKind::Type => found.add_type(source, parameter, given),
            TemplateKind::Value(kind) => {
                match Dtype::from_c_name(&found.resolve(source, kind)).map(Dtype::family) {
                    Some(Family::Signed | Family::Unsigned) => {
                        let is_block = signature.launch_bounds == parameter.name;
                        found.add_integer(source, parameter, given, is_block, names);
                    }
                    Some(Family::Boolean) => found.add_bool(parameter, given),
                    Some(Family::Float) | None => return Err(refused(signature, parameter)),
                }
            }
            TemplateKind::Other => return Err(refused(signature, parameter)),
        }
    }
    Ok(found)
}

fn refused(signature: &Signature, parameter: &TemplateParameter) -> ScaffoldError {
    ScaffoldError::TemplateParameter {
        kernel: signature.path(),
        written: parameter.written.clone(),
        place: parameter.place,
    }
}

impl Templates {
    fn add_type(
        &mut self,
        source: &Source<'_>,
        parameter: &TemplateParameter,
        given: Option<&str>,
    ) {
        let known = |text: &str| {
            let resolved = self.resolve(source, text);
            let arithmetic = Dtype::from_c_name(&resolved).is_some()
                || Dtype::vector_from_c_name(&resolved).is_some();
            (arithmetic && names_a_type(&resolved)).then_some(resolved)
        };
        let concrete =
            given.and_then(known).or_else(|| parameter.default.as_deref().and_then(known));
        let name = parameter.name.clone().unwrap_or_default();
        if concrete.is_none() {
            self.guessed_types.push(parameter.written.clone());
        }
        let concrete = concrete.unwrap_or_else(|| "float".to_owned());
        self.arguments.push(concrete.clone());
        self.types.push((name, concrete));
    }

    fn add_integer(
        &mut self,
        source: &Source<'_>,
        parameter: &TemplateParameter,
        given: Option<&str>,
        is_block: bool,
        names: &mut Names,
    ) {
        let evaluate = |text: &str| source.integer(text).filter(|value| *value <= i32::MAX as u64);
        let known =
            given.and_then(evaluate).or_else(|| parameter.default.as_deref().and_then(evaluate));
        let value = known.unwrap_or(if is_block { BLOCK } else { TILE });
        let Some(written) = parameter.name.clone() else {
            return self.arguments.push(value.to_string());
        };
        let name = names.give(&written);
        self.arguments.push(format!("PARAM_{name}"));
        let host = given.map(one_line);
        self.tuned.push(Tuned { written, name, value, guessed: known.is_none(), host });
    }

    fn add_bool(&mut self, parameter: &TemplateParameter, given: Option<&str>) {
        let given = given.or(parameter.default.as_deref());
        self.arguments.push(if given == Some("true") { "true" } else { "false" }.to_owned());
    }
}

/// Whether a type is valid in the format's kernel names.
fn names_a_type(name: &str) -> bool {
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':' | ' '))
}
