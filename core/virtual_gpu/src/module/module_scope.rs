//! The names of module scope, which are declared before any body is read.

use std::cell::Cell;
use std::collections::HashMap;

use lightbench_ptx::MAX_ERRORS;
use lightbench_ptx::tree::{self, Declaration, FunctionKind, Linkage, Tree};

use super::super::error::{Problem, PtxLocation};
use super::layout::{self, Parameter, ParameterOwner};
use super::{Function, FunctionId, InitialBytes, LaunchBounds, Variable, VariableId};

/// The declarations of module scope.
#[derive(Default)]
pub(super) struct ModuleScope<'a> {
    pub(super) functions: HashMap<&'a str, FunctionId>,
    pub(super) variables: HashMap<&'a str, VariableId>,
    pub(super) function_list: Vec<Function>,
    pub(super) variable_list: Vec<Variable>,
    /// For each function, the function of the tree that has its body.
    pub(super) bodies: Vec<Option<usize>>,
    pub(super) errors: Vec<(PtxLocation, Problem)>,
    /// The number of bytes that initialisers may still fill: braces can require far more bytes than they contain.
    pub(super) initial_bytes_left: Cell<u64>,
}

/// The limit of initialised bytes, far above that of kernels; constant memory has 64 KiB.
pub(super) const MAX_INITIAL_BYTES: u64 = 1 << 28;

impl<'a> ModuleScope<'a> {
    pub(super) fn new(tree: &Tree<'a>) -> Self {
        let mut declared =
            Self { initial_bytes_left: Cell::new(MAX_INITIAL_BYTES), ..Self::default() };
        for (position, function) in tree.functions.iter().enumerate() {
            declared.add_function(function, position);
        }
        for alias in &tree.aliases {
            match declared.functions.get(alias.target) {
                Some(id) => {
                    let id = *id;
                    // A declaration of the alias may come before it; the alias overrides it.
                    declared.functions.insert(alias.name, id);
                }
                None => declared
                    .errors
                    .push((alias.place, super::operands::undeclared("function", alias.target))),
            }
        }
        for variable in &tree.variables {
            declared.add_variable(variable);
        }
        for variable in &tree.variables {
            declared.initialise(variable);
        }
        // One error more than the report has, so that the report can state that there are more.
        declared.errors.truncate(MAX_ERRORS + 1);
        declared
    }

    fn add_function(&mut self, written: &tree::Function<'a>, position: usize) {
        if self.errors.len() > MAX_ERRORS {
            return;
        }
        let function = match function(written) {
            Ok(function) => function,
            Err(error) => return self.errors.push(error),
        };
        let body = written.body.is_some().then_some(position);
        let Some(known) = self.functions.get(written.name) else {
            let id = FunctionId(self.function_list.len() as u32);
            self.functions.insert(written.name, id);
            self.function_list.push(function);
            self.bodies.push(body);
            return;
        };
        let index = known.0 as usize;
        let earlier = &mut self.function_list[index];
        if (self.bodies[index].is_some() && body.is_some())
            || !same_shape(&earlier.parameters, &function.parameters)
            || !same_shape(&earlier.returns, &function.returns)
        {
            let name = lightbench_ptx::excerpt(written.name).to_owned();
            self.errors.push((written.place, Problem::Twice { name }));
        } else if body.is_some() {
            *earlier = function;
            self.bodies[index] = body;
        }
    }

    fn add_variable(&mut self, written: &Declaration<'a>) {
        if self.errors.len() > MAX_ERRORS {
            return;
        }
        let variable = match variable(written) {
            Ok(variable) => variable,
            Err(problem) => return self.errors.push((written.place, problem)),
        };
        if self.functions.contains_key(written.name) {
            let name = lightbench_ptx::excerpt(written.name).to_owned();
            return self.errors.push((written.place, Problem::Twice { name }));
        }
        let Some(known) = self.variables.get(written.name) else {
            let id = VariableId(self.variable_list.len() as u32);
            self.variables.insert(written.name, id);
            self.variable_list.push(variable);
            return;
        };
        let earlier = &mut self.variable_list[known.0 as usize];
        match (earlier.linkage, variable.linkage) {
            (_, Linkage::Extern) => {}
            (Linkage::Extern, _) => *earlier = variable,
            (_, _) => {
                let name = lightbench_ptx::excerpt(written.name).to_owned();
                self.errors.push((written.place, Problem::Twice { name }));
            }
        }
    }

    fn initialise(&mut self, written: &Declaration<'a>) {
        if written.initial.is_empty() || self.errors.len() > MAX_ERRORS {
            return;
        }
        let Some(id) = self.variables.get(written.name).copied() else { return };
        let variable = &self.variable_list[id.0 as usize];
        match super::initial::initial(written, variable.element, variable.bytes, self) {
            Ok(initial) => self.variable_list[id.0 as usize].initial = initial,
            Err(error) => self.errors.push(error),
        }
    }
}

/// Whether a declaration and a definition agree in sizes and alignments.
fn same_shape(first: &[Parameter], second: &[Parameter]) -> bool {
    first.len() == second.len()
        && first.iter().zip(second).all(|(a, b)| a.bytes == b.bytes && a.offset == b.offset)
}

/// A variable without its initial bytes.
pub(super) fn variable(written: &Declaration<'_>) -> Result<Variable, Problem> {
    let what = "variable";
    let space = layout::space(written.space).ok_or_else(|| {
        layout::problem(written, what, format!("lies in `.{}`, which is not memory", written.space))
    })?;
    let mut extent = layout::extent(written, what)?;
    if extent.bytes.is_none() && !written.initial.is_empty() {
        extent.bytes = Some(layout::bytes_from_initial(written, extent.element)?);
    }
    if extent.bytes.is_none() && written.linkage != Linkage::Extern {
        return Err(layout::problem(written, what, "has no size and is not `.extern`"));
    }
    Ok(Variable {
        name: written.name.to_owned(),
        space,
        linkage: written.linkage,
        element: extent.element,
        bytes: extent.bytes,
        align: extent.align,
        initial: InitialBytes::default(),
    })
}

/// PTX ISA, section "Kernel Function Parameters", for sm_70 and later since version 8.1.
const MAX_PARAMETER_BYTES: u64 = 32_764;

fn function(written: &tree::Function<'_>) -> Result<Function, (PtxLocation, Problem)> {
    let taker = match written.kind {
        FunctionKind::Entry => ParameterOwner::Kernel,
        FunctionKind::Device => ParameterOwner::Function,
    };
    let parameters = layout::parameters(&written.signature.parameters, taker)?;
    let bytes = parameters.last().map_or(0, |last| last.offset + last.bytes);
    if written.kind == FunctionKind::Entry && bytes > MAX_PARAMETER_BYTES {
        let name = lightbench_ptx::excerpt(written.name).to_owned();
        let reason =
            format!("takes {bytes} bytes of parameters; a kernel takes {MAX_PARAMETER_BYTES}");
        return Err((written.place, Problem::Declaration { what: "kernel", name, reason }));
    }
    Ok(Function {
        name: written.name.to_owned(),
        kind: written.kind,
        linkage: written.linkage,
        parameters,
        returns: layout::parameters(&written.signature.returns, taker)?,
        never_returns: written.signature.never_returns,
        bounds: bounds(written).map_err(|problem| (written.place, problem))?,
        body: None,
    })
}

fn bounds(written: &tree::Function<'_>) -> Result<LaunchBounds, Problem> {
    let mut bounds = LaunchBounds::default();
    for (directive, numbers) in &written.directives {
        let first = numbers.first().map(|number| *number as u32);
        match *directive {
            "maxntid" => bounds.max_threads = Some(triple(numbers)),
            "reqntid" => bounds.required_threads = Some(triple(numbers)),
            "reqnctapercluster" => bounds.cluster = Some(triple(numbers)),
            "minnctapersm" => bounds.min_blocks_per_multiprocessor = first,
            "maxnreg" => bounds.max_registers = first,
            "maxclusterrank" => bounds.max_cluster_rank = first,
            // Without effect on results.
            "maxnctapersm"
            | "explicitcluster"
            | "blocksareclusters"
            | "abi_preserve"
            | "abi_preserve_control"
            | "local_maxnreg" => {}
            other => {
                let name = lightbench_ptx::excerpt(written.name).to_owned();
                let other = lightbench_ptx::excerpt(other);
                let reason = format!("has the unknown directive `.{other}`");
                return Err(Problem::Declaration { what: "function", name, reason });
            }
        }
    }
    Ok(bounds)
}

/// Three numbers; missing ones are one.
fn triple(numbers: &[u64]) -> [u32; 3] {
    std::array::from_fn(|axis| numbers.get(axis).map_or(1, |number| *number as u32))
}
