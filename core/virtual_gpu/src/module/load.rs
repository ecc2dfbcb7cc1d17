//! Text to module: names first, then bodies, each on its own. Errors are collected; the first does not end the
//! load.

use std::sync::atomic::{AtomicU64, Ordering};

use lightbench_ptx::tree::Tree;
use lightbench_ptx::{MAX_ERRORS, parse};

use super::super::error::{LoadError, Problem, PtxLocation};
use super::super::lower::programs::Programs;
use super::locations::Locations;
use super::module_scope::ModuleScope;
use super::{Module, body};

/// The limit of a text in bytes; longer texts are rejected without being read.
const MAX_BYTES: usize = 64 << 20;

pub(super) fn load(text: &str) -> Result<Module, Vec<LoadError>> {
    if text.len() > MAX_BYTES {
        let problem = Problem::TooLong { bytes: text.len(), limit: MAX_BYTES };
        return Err(vec![LoadError { place: PtxLocation::default(), source_line: None, problem }]);
    }
    let (tree, errors) = parse(text);
    let mut errors: Vec<LoadError> = errors.into_iter().map(LoadError::from).collect();
    let module = if errors.len() + tree.unsupported().count() > MAX_ERRORS {
        // The tree is not complete.
        errors.extend(tree.unsupported().map(|statement| statement.error.clone().into()));
        Module::default()
    } else {
        resolve(&tree, &mut errors)
    };
    if errors.is_empty() { Ok(module) } else { Err(report(errors)) }
}

/// The errors in the order of the text; beyond the limit, the last one states that there are more.
fn report(mut errors: Vec<LoadError>) -> Vec<LoadError> {
    errors.sort_by_key(|error| error.place);
    if errors.len() > MAX_ERRORS {
        let place = errors.get(MAX_ERRORS).map_or(PtxLocation::default(), |error| error.place);
        errors.truncate(MAX_ERRORS);
        let problem = Problem::MoreErrors(MAX_ERRORS);
        errors.push(LoadError { place, source_line: None, problem });
    }
    errors
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
    for (index, position) in declared.bodies.iter().enumerate() {
        let function = &declared.function_list[index];
        let written = position.map(|position| &tree.functions[position]);
        let written = written.filter(|_| errors.len() <= MAX_ERRORS);
        let with_body = written.and_then(|written| Some((written.body.as_ref()?, written)));
        let body = with_body.map(|(statements, written)| {
            let mut reader = body::Reader::new(&declared, function, &files, &mut locations);
            let body = reader.read(statements, &written.signature);
            errors.append(&mut reader.errors);
            body
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
