//! Text to module: names first, then bodies, each on its own. Errors are collected; the first does not end the
//! load.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use lightbench_ptx::tree::Tree;
use lightbench_ptx::{MAX_ERRORS, parse};

use super::super::error::{LoadError, Problem, PtxLocation, Refusal};
use super::super::lower::programs::Programs;
use super::locations::Locations;
use super::module_scope::ModuleScope;
use super::{Function, FunctionId, FunctionKind, Module, body};

/// The limit of a text in bytes; longer texts are rejected without being read.
const MAX_BYTES: usize = 64 << 20;

pub(super) fn load(text: &str) -> Result<Module, Vec<LoadError>> {
    let (module, errors) = read(text);
    if errors.is_empty() && module.refused.is_empty() {
        return Ok(module);
    }
    Err(report(&module, errors))
}

pub(super) fn load_supported(text: &str) -> Result<Module, Vec<LoadError>> {
    let (module, errors) = read(text);
    let supported = module.kernels().count() > module.refused.len();
    if errors.is_empty() && (supported || module.refused.is_empty()) {
        return Ok(module);
    }
    Err(report(&module, errors))
}

/// The module, and the errors that do not belong to its refused kernels.
fn read(text: &str) -> (Module, Vec<LoadError>) {
    if text.len() > MAX_BYTES {
        let problem = Problem::TooLong { bytes: text.len(), limit: MAX_BYTES };
        let error = LoadError { place: PtxLocation::default(), source_line: None, problem };
        return (Module::default(), vec![error]);
    }
    let (tree, errors) = parse(text);
    let mut errors: Vec<LoadError> = errors.into_iter().map(LoadError::from).collect();
    if errors.len() + tree.unsupported().count() > MAX_ERRORS {
        // The tree is not complete.
        errors.extend(tree.unsupported().map(|statement| statement.error.clone().into()));
        return (Module::default(), errors);
    }
    let module = resolve(&tree, &mut errors);
    (module, errors)
}

/// All errors in the order of the text; beyond the limit, the last one states that there are more.
fn report(module: &Module, mut errors: Vec<LoadError>) -> Vec<LoadError> {
    errors.extend(module.refused.values().flatten().cloned());
    errors.sort_by_key(|error| error.place);
    if errors.len() > MAX_ERRORS {
        let place = errors.get(MAX_ERRORS).map_or(PtxLocation::default(), |error| error.place);
        errors.truncate(MAX_ERRORS);
        let problem = Problem::MoreErrors(MAX_ERRORS);
        errors.push(LoadError { place, source_line: None, problem });
    }
    errors
}

/// Whether the errors of a function leave the other functions of the module valid: it is a kernel, which no other
/// function calls, and all errors are instructions that PTX has and the virtual GPU does not support.
fn is_refusal(function: &Function, errors: &[LoadError]) -> bool {
    let unsupported = |error: &LoadError| {
        matches!(error.problem, Problem::Instruction(Refusal::Unsupported { .. }))
    };
    function.kind == FunctionKind::Entry && !errors.is_empty() && errors.iter().all(unsupported)
}

/// The number of modules that this process has loaded.
static LOADED: AtomicU64 = AtomicU64::new(1);

fn resolve(tree: &Tree<'_>, errors: &mut Vec<LoadError>) -> Module {
    header(tree, errors);
    let mut declared = ModuleScope::new(tree);
    let from_declarations = std::mem::take(&mut declared.errors);
    errors.extend(from_declarations.into_iter().map(|(place, problem)| LoadError {
        place,
        source_line: None,
        problem,
    }));
    let files: Vec<_> = tree.files.iter().map(|file| (file.index, file.path.to_owned())).collect();
    let mut locations = Locations::new(tree);
    let mut bodies = Vec::with_capacity(declared.function_list.len());
    let (mut refused, mut refusals) = (BTreeMap::new(), 0);
    for (index, position) in declared.bodies.iter().enumerate() {
        let function = &declared.function_list[index];
        let written = position.map(|position| &tree.functions[position]);
        let written = written.filter(|_| errors.len() + refusals <= MAX_ERRORS);
        let with_body = written.and_then(|written| Some((written.body.as_ref()?, written)));
        let body = with_body.and_then(|(statements, written)| {
            let mut reader = body::Reader::new(&declared, function, &files, &mut locations);
            let body = reader.read(statements, &written.signature);
            if is_refusal(function, &reader.errors) {
                refusals += reader.errors.len();
                refused.insert(FunctionId(index as u32), reader.errors);
                return None;
            }
            errors.append(&mut reader.errors);
            Some(body)
        });
        bodies.push(body);
    }
    let mut functions = declared.function_list;
    for (function, body) in functions.iter_mut().zip(bodies) {
        function.body = body;
    }
    Module {
        version: tree.version.unwrap_or_default(),
        targets: tree.targets.iter().map(|target| (*target).to_owned()).collect(),
        functions,
        variables: declared.variable_list,
        files,
        locations: locations.into_all(),
        refused,
        programs: Programs::default(),
        identity: LOADED.fetch_add(1, Ordering::Relaxed),
    }
}

/// Checks the header: `.version` and `.target` come first, and addresses have 64 bits.
fn header(tree: &Tree<'_>, errors: &mut Vec<LoadError>) {
    let place = PtxLocation { line: 1, column: 1 };
    let mut report = |what, name: &str, reason: String| {
        let problem = Problem::Declaration { what, name: name.to_owned(), reason };
        errors.push(LoadError { place, source_line: None, problem });
    };
    if tree.version.is_none() {
        report("module", ".version", "is missing".to_owned());
    }
    if tree.targets.is_empty() {
        report("module", ".target", "is missing".to_owned());
    }
    if let Some(size) = tree.address_size.filter(|size| *size != 64) {
        report("module", ".address_size", format!("is {size}; only 64 is modelled"));
    }
}
