//! Statements to instructions: each is decoded, and its operands are resolved and checked.

use std::collections::HashMap;

use lightbench_ptx::tree::{self, Declaration, Statement, Unsupported};
use lightbench_ptx::{MAX_ERRORS, excerpt};

use super::super::error::{LoadError, Problem, PtxLocation};
use super::super::isa::refusal::Refusal;
use super::super::isa::scalar::{Fit, ScalarType};
use super::super::isa::signature::{Role, Signature};
use super::super::isa::{self, Operation};
use super::layout::{self, ParameterOwner};
use super::locations::{LocationId, Locations, SourceLine, source_line};
use super::module_scope::{self, ModuleScope};
use super::names::{Binding, NameTaken, Names};
use super::operand::Operand;
use super::operands::{OperandError, Operands, undeclared};
use super::selectors;
use super::{Body, CalleesId, Function, LocalId, Prototype, PrototypeId, RegisterId, TargetsId};

/// A decoded instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if the PTX has line information.
    pub location: Option<LocationId>,
    /// The guard predicate.
    pub guard: Option<Guard>,
    pub operation: Operation,
    /// The operands, in the order of the PTX ISA; the coordinates of a tensor follow its map.
    pub operands: Box<[Operand]>,
    /// The number of result operands, which come first.
    pub results: u8,
}

impl Instruction {
    /// The result operands.
    #[must_use]
    pub fn destinations(&self) -> &[Operand] {
        &self.operands[..usize::from(self.results)]
    }

    /// The source operands.
    #[must_use]
    pub fn sources(&self) -> &[Operand] {
        &self.operands[usize::from(self.results)..]
    }
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub predicate: RegisterId,
    /// Whether the guard is complemented.
    pub negated: bool,
}

/// Labels by scope and name: indices of instructions of the text.
type Labels<'a> = HashMap<(u32, &'a str), u32>;

/// Reads one body.
pub(super) struct Reader<'r, 'a> {
    declared: &'r ModuleScope<'a>,
    pub(super) function: &'r Function,
    files: &'r [(u32, String)],
    locations: &'r mut Locations<'a>,
    pub(super) names: Names<'a>,
    labels: Labels<'a>,
    pub(super) location: Option<LocationId>,
    pub(super) body: Body,
    /// Results that an old-ABI function returns in registers, by their index among the results.
    pub(super) result_registers: Vec<(u32, RegisterId)>,
    /// Instructions to insert after the present one: a call that returns results in registers.
    pub(super) behind: Vec<Instruction>,
    /// For each instruction of the text, the index of the first instruction that it became; at the end, the number of
    /// instructions.
    pub(super) starts: Vec<u32>,
    pub(super) errors: Vec<LoadError>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(
        declared: &'r ModuleScope<'a>,
        function: &'r Function,
        files: &'r [(u32, String)],
        locations: &'r mut Locations<'a>,
    ) -> Self {
        let (names, labels) = (Names::new(), Labels::new());
        let (body, errors) = (Body::default(), Vec::new());
        Self {
            declared,
            function,
            files,
            locations,
            names,
            labels,
            location: None,
            body,
            result_registers: Vec::new(),
            behind: Vec::new(),
            starts: Vec::new(),
            errors,
        }
    }

    pub(super) fn read(
        &mut self,
        written: &tree::Body<'a>,
        signature: &tree::Signature<'a>,
    ) -> Body {
        self.bind_parameters(signature);
        self.find_labels(&written.statements);
        let mut words = Vec::new();
        for statement in &written.statements {
            if self.errors.len() > MAX_ERRORS || !self.statement(statement, written, &mut words) {
                break;
            }
        }
        self.starts.push(self.body.instructions.len() as u32);
        self.store_results(
            None,
            written.statements.last().map_or(PtxLocation::default(), place_of),
        );
        self.resolve_labels();
        self.body.registers = std::mem::take(&mut self.names.registers);
        std::mem::take(&mut self.body)
    }

    /// Branches may be forward, so that labels are collected before the first instruction is read.
    fn find_labels(&mut self, statements: &[Statement<'a>]) {
        let mut position = 0;
        let mut next_scope = 1;
        let mut scopes = vec![0];
        for statement in statements {
            match statement {
                Statement::Open(_) => {
                    scopes.push(next_scope);
                    next_scope += 1;
                }
                Statement::Close => {
                    scopes.pop();
                }
                Statement::Label(name, place) => {
                    let scope = scopes.last().copied().unwrap_or(0);
                    if self.labels.insert((scope, name), position).is_some() {
                        let name = excerpt(name).to_owned();
                        self.report(*place, Problem::Twice { name });
                    }
                }
                Statement::Instruction(_) => position += 1,
                Statement::Declaration(_)
                | Statement::Location(..)
                | Statement::Unsupported(_)
                | Statement::Prototype { .. }
                | Statement::BranchTargets { .. }
                | Statement::CallTargets { .. } => {}
            }
        }
    }

    /// Returns false if the rest of the body cannot be read.
    fn statement(
        &mut self,
        statement: &Statement<'a>,
        body: &tree::Body<'a>,
        words: &mut Vec<&'a str>,
    ) -> bool {
        match statement {
            Statement::Open(place) => {
                if !self.names.open() {
                    let limit = Names::DEEPEST as u64;
                    let problem = Problem::TooMany { what: "nested scopes", limit };
                    self.report(*place, problem);
                    return false;
                }
            }
            Statement::Close => self.names.close(),
            Statement::Label(..) => {}
            Statement::Location(location, _) => self.location = Some(self.locations.add(location)),
            Statement::Declaration(declaration) => self.declaration(declaration),
            Statement::Prototype { name, place, signature } => {
                self.prototype(name, *place, signature);
            }
            Statement::BranchTargets { name, place, labels } => {
                self.branch_targets(name, *place, labels);
            }
            Statement::CallTargets { name, place, functions } => {
                self.call_targets(name, *place, functions);
            }
            Statement::Instruction(instruction) => {
                words.clear();
                words.extend(body.modifiers_in(instruction.modifiers));
                self.starts.push(self.body.instructions.len() as u32);
                match self.instruction(instruction, words) {
                    Ok(decoded) => self.emit(decoded),
                    Err((place, problem)) => self.report(place, problem),
                }
            }
            Statement::Unsupported(statement) => {
                self.unsupported(statement, body.modifiers_in(statement.modifiers));
            }
        }
        true
    }

    /// Reports an instruction whose operands the parser cannot read: the instruction if the virtual GPU does not have
    /// it, otherwise the syntax error.
    fn unsupported(&mut self, statement: &Unsupported<'a>, words: &[&'a str]) {
        match isa::decode(statement.opcode, words, 0_usize) {
            Err(refusal @ (Refusal::Unsupported { .. } | Refusal::Unknown { .. })) => {
                self.report(statement.place, Problem::Instruction(refusal));
            }
            Ok(_)
            | Err(
                Refusal::Modifier { .. } | Refusal::Missing { .. } | Refusal::Combination { .. },
            ) => {
                let LoadError { place, problem, .. } = statement.error.clone().into();
                self.report(place, problem);
            }
        }
    }

    fn declaration(&mut self, written: &Declaration<'a>) {
        if written.space == "reg" {
            return self.register_declaration(written);
        }
        match module_scope::variable(written) {
            Err(problem) => self.report(written.place, problem),
            Ok(mut variable) => {
                match super::initial::initial(
                    written,
                    variable.element,
                    variable.bytes,
                    self.declared,
                ) {
                    Ok(initial) => variable.initial = initial,
                    Err((place, problem)) => self.report(place, problem),
                }
                let id = LocalId(self.body.locals.len() as u32);
                self.body.locals.push(variable);
                self.bind(written.name, written.place, Binding::Local(id));
            }
        }
    }

    pub(super) fn register_declaration(&mut self, written: &Declaration<'a>) {
        let ty = match layout::element(written, "register") {
            Ok(ty) => ty,
            Err(problem) => return self.report(written.place, problem),
        };
        if !written.dimensions.is_empty() {
            let problem = layout::problem(written, "register", "is an array");
            return self.report(written.place, problem);
        }
        let Declaration { name, vector, range, .. } = *written;
        if self.names.declare_register(name, ty, vector, range).is_err() {
            let name = excerpt(name).to_owned();
            self.report(written.place, Problem::Twice { name });
        }
    }

    fn prototype(&mut self, name: &'a str, place: PtxLocation, signature: &tree::Signature<'a>) {
        let parameters = layout::parameters(&signature.parameters, ParameterOwner::Function);
        let returns = layout::parameters(&signature.returns, ParameterOwner::Function);
        match (parameters, returns) {
            (Ok(parameters), Ok(returns)) => {
                let id = PrototypeId(self.body.prototypes.len() as u32);
                let never_returns = signature.never_returns;
                self.body.prototypes.push(Prototype { parameters, returns, never_returns });
                self.bind(name, place, Binding::Prototype(id));
            }
            (Err((place, problem)), _) | (_, Err((place, problem))) => self.report(place, problem),
        }
    }

    fn branch_targets(&mut self, name: &'a str, place: PtxLocation, labels: &[&'a str]) {
        let mut positions = Vec::with_capacity(labels.len());
        for label in labels {
            match self.label(label) {
                Some(position) => positions.push(position),
                None => self.report(place, undeclared("label", label)),
            }
        }
        let id = TargetsId(self.body.targets.len() as u32);
        self.body.targets.push(positions);
        self.bind(name, place, Binding::Targets(id));
    }

    fn call_targets(&mut self, name: &'a str, place: PtxLocation, functions: &[&'a str]) {
        let mut callees = Vec::with_capacity(functions.len());
        for function in functions {
            match self.declared.functions.get(function) {
                Some(id) => callees.push(*id),
                None => self.report(place, undeclared("function", function)),
            }
        }
        let id = CalleesId(self.body.callees.len() as u32);
        self.body.callees.push(callees);
        self.bind(name, place, Binding::Callees(id));
    }

    pub(super) fn bind(&mut self, name: &'a str, place: PtxLocation, binding: Binding) {
        if let Err(NameTaken) = self.names.bind(name, binding) {
            let name = excerpt(name).to_owned();
            self.report(place, Problem::Twice { name });
        }
    }

    fn instruction(
        &mut self,
        written: &tree::Instruction<'a>,
        words: &[&'a str],
    ) -> Result<Instruction, (PtxLocation, Problem)> {
        let place = written.place;
        let (forms, plain) = selectors::split(written);
        let decoded = isa::decode(written.opcode, words, forms);
        let (operation, signature) =
            decoded.map_err(|refusal| (place, Problem::Instruction(refusal)))?;
        let written = plain.as_ref().unwrap_or(written);
        let guard = self.guard(written)?;
        let operands = match signature.control {
            Some(kind) => self.control_operands(kind, written, words, guard)?,
            None => self.plain_operands(&signature, written, words)?,
        };
        let results = signature.destinations() as u8;
        let location = self.location;
        Ok(Instruction { place, location, guard, operation, operands, results })
    }

    fn guard(
        &mut self,
        written: &tree::Instruction<'a>,
    ) -> Result<Option<Guard>, (PtxLocation, Problem)> {
        let Some(tree::Guard { place, predicate, negated }) = written.guard else {
            return Ok(None);
        };
        let register = self.operands().register(predicate, ScalarType::Pred, Fit::Exact);
        let predicate = register.map_err(|error| {
            let problem = problem(error, 0, "@", &[]);
            (place, problem)
        })?;
        Ok(Some(Guard { predicate, negated }))
    }

    fn plain_operands(
        &mut self,
        signature: &Signature,
        written: &tree::Instruction<'a>,
        words: &[&'a str],
    ) -> Result<Box<[Operand]>, (PtxLocation, Problem)> {
        let found = written.operands.len();
        let (fewest, most) = signature.counts();
        if found < fewest || found > most {
            let instruction = isa::spelling(written.opcode, words);
            let expected =
                if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
            return Err((written.place, Problem::OperandCount { instruction, found, expected }));
        }
        let mut operands = Vec::with_capacity(found);
        let roles = signature.roles().iter().zip(&written.operands);
        for (index, (role, (operand, place))) in roles.enumerate() {
            let problem = |error| (*place, problem(error, index + 1, written.opcode, words));
            if let Role::Coordinates { count, ty } = *role {
                let both = self.operands().with_coordinates(operand, (count, ty));
                operands.extend(both.map_err(problem)?);
            } else {
                operands.push(self.operands().check(*role, operand).map_err(problem)?);
            }
        }
        Ok(operands.into_boxed_slice())
    }

    pub(super) fn label(&self, name: &'a str) -> Option<u32> {
        self.names.open_scopes().find_map(|scope| self.labels.get(&(scope, name)).copied())
    }

    pub(super) fn operands(&mut self) -> Operands<'_, 'a> {
        Operands {
            names: &mut self.names,
            declared: self.declared,
            locals: &self.body.locals,
            callees: &self.body.callees,
            function: self.function,
        }
    }

    fn report(&mut self, place: PtxLocation, problem: Problem) {
        let source_line = self.source_line();
        self.errors.push(LoadError { place, source_line, problem });
    }

    fn source_line(&self) -> Option<SourceLine> {
        let location = self.locations.get(self.location?)?;
        Some(source_line(self.files, location))
    }
}

/// The location of a statement, if it has one.
fn place_of(statement: &Statement<'_>) -> PtxLocation {
    match statement {
        Statement::Open(place)
        | Statement::Label(_, place)
        | Statement::Prototype { place, .. }
        | Statement::BranchTargets { place, .. }
        | Statement::CallTargets { place, .. } => *place,
        Statement::Instruction(instruction) => instruction.place,
        Statement::Declaration(declaration) => declaration.place,
        Statement::Unsupported(statement) => statement.place,
        Statement::Close | Statement::Location(..) => PtxLocation::default(),
    }
}

pub(super) fn problem(
    error: OperandError,
    position: usize,
    opcode: &str,
    words: &[&str],
) -> Problem {
    match error {
        OperandError::Problem(problem) => problem,
        OperandError::Mismatch(mismatch) => Problem::Operand {
            instruction: isa::spelling(opcode, words),
            position,
            found: mismatch.found,
            expected: mismatch.expected,
        },
    }
}
