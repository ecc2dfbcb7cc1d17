//! Lowering of a kernel to a flat program: blocks in reconvergence order, registers in few slots, operands
//! resolved.
//!
//! Each pass is a file: `flow` (basic blocks and their order), `liveness`, `slots`, `frame` (layout of local
//! memory), `in_flight` (accesses to registers of asynchronous products), `translate` (instructions to operations), `product` (positions of the elements of tensor products).

pub(crate) mod code;
mod flow;
mod frame;
pub(crate) mod hot_op;
pub(crate) mod in_flight;
mod limits;
mod liveness;
mod operands;
pub(crate) mod product;
pub(crate) mod programs;
pub(crate) mod registers;
mod slots;
#[cfg(test)]
mod tests;
mod translate;

use std::collections::{BTreeSet, HashMap};

pub(crate) use frame::{FIRST_FRAME, LARGEST_FRAME};
pub(crate) use liveness::{reads, writes};
pub(crate) use programs::program;

use code::{
    BulkSite, CallSite, ClusterWriteSite, Code, CopySite, LoweredFunction, Object, Op, Origin,
    PoolValue, Slot, TensorMapSite, TensorSite, TextureSite,
};
use in_flight::TrackedInstruction;
use product::{Product, WarpgroupProduct};

use super::error::PtxLocation;
use super::isa::Operation;
use super::isa::control::Control;
use super::isa::memory::Space;
use super::module::{CallTarget, FunctionId, Module, Operand, SourceLine, Symbol, VariableId};

/// An instruction that the machine does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The instruction with its modifiers.
    pub operation: String,
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if the PTX has line information.
    pub source_line: Option<SourceLine>,
}

/// A kernel with its reachable functions, ready to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// The class of each operation.
    pub(crate) hot: Vec<hot_op::HotOp>,
    pub(crate) origins: Vec<Origin>,
    pub(crate) pool: Vec<PoolValue>,
    /// Slots of vector elements, and targets of indexed branches.
    pub(crate) lists: Vec<Slot>,
    pub(crate) targets: Vec<u32>,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) copies: Vec<CopySite>,
    pub(crate) bulk_copies: Vec<BulkSite>,
    pub(crate) tensor_copies: Vec<TensorSite>,
    pub(crate) tensor_maps: Vec<TensorMapSite>,
    pub(crate) textures: Vec<TextureSite>,
    pub(crate) cluster_writes: Vec<ClusterWriteSite>,
    pub(crate) products: Vec<Product>,
    pub(crate) warpgroup_products: Vec<WarpgroupProduct>,
    /// Accesses to registers that a product may still use.
    pub(crate) tracked: Vec<TrackedInstruction>,
    pub(crate) functions: HashMap<FunctionId, LoweredFunction>,
    pub(crate) kernel: FunctionId,
    /// Variables of the module that the launch must allocate.
    pub(crate) objects: BTreeSet<Object>,
}

impl Program {
    /// Whether a thread at this position exits without executing anything else.
    pub(crate) fn ends_at(&self, pc: usize) -> bool {
        let mut at = pc;
        for _ in 0..8 {
            let Some(op) = self.ops.get(at) else { return false };
            if !op.guard.is_none() {
                return false;
            }
            let Code::Branch { target } = op.code else {
                return matches!(op.code, Code::Exit | Code::Return);
            };
            at = target as usize;
        }
        false
    }

    /// The location of an operation in the PTX.
    pub(crate) fn place(&self, module: &Module, pc: u32) -> (PtxLocation, Option<SourceLine>) {
        let Some(origin) = self.origins.get(pc as usize) else { return Default::default() };
        let body = module.functions.get(origin.function.0 as usize).and_then(|f| f.body.as_ref());
        let Some(body) = body else { return Default::default() };
        let last = body.instructions.last();
        let instruction = body.instructions.get(origin.instruction as usize).or(last);
        let Some(instruction) = instruction else { return Default::default() };
        let own = |location| module.own_source_line(location, self.kernel);
        let line = instruction.location.and_then(own);
        if line.as_ref().is_some_and(|line| line.line == 0) {
            // The compiler generated the instruction for the one before it, for example the loop of a `memset`.
            let before = body.instructions.iter().take(origin.instruction as usize).rev();
            let mut lines = before.filter_map(|instruction| instruction.location.and_then(own));
            return (instruction.place, lines.find(|line| line.line != 0).or(line));
        }
        (instruction.place, line)
    }
}

/// Lowers a kernel.
///
/// # Errors
///
/// All reachable instructions that are not supported.
pub(crate) fn lower(module: &Module, kernel: FunctionId) -> Result<Program, Vec<Unsupported>> {
    let mut program = Program { kernel, ..Program::default() };
    // The constant predicates.
    program.pool.extend([PoolValue::Bits(0), PoolValue::Bits(1)]);
    let mut known: HashMap<PoolValue, u32> = HashMap::new();
    let mut errors = Vec::new();
    for id in reachable(module, kernel) {
        translate::run(module, id, &mut program, &mut known, &mut errors);
        if let Some(operation) = limits::program(&program) {
            errors.push(Unsupported {
                operation,
                place: PtxLocation::default(),
                source_line: None,
            });
            break;
        }
    }
    program.hot = program.ops.iter().map(hot_op::hot_op).collect();
    collect_objects(module, &mut program);
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

/// The kernel and the functions with a body that it may call.
fn reachable(module: &Module, kernel: FunctionId) -> Vec<FunctionId> {
    let mut seen = BTreeSet::from([kernel]);
    let mut found = Vec::new();
    let mut work = vec![kernel];
    let mut any_function = false;
    while let Some(id) = work.pop() {
        let body = module.functions.get(id.0 as usize).and_then(|function| function.body.as_ref());
        let Some(body) = body else { continue };
        found.push(id);
        let mut add = |callee: FunctionId| {
            if seen.insert(callee) {
                work.push(callee);
            }
        };
        for instruction in &body.instructions {
            let Operation::Control(Control::Call(_)) = instruction.operation else { continue };
            for operand in &instruction.operands {
                let Operand::Call(call) = operand else { continue };
                match call.target {
                    CallTarget::Function(callee) => add(callee),
                    CallTarget::List(_, list) => {
                        body.callees
                            .get(list.0 as usize)
                            .into_iter()
                            .flatten()
                            .for_each(|f| add(*f));
                    }
                    // The address may be that of any function of the module.
                    CallTarget::Prototype(..) if any_function => {}
                    CallTarget::Prototype(..) => {
                        any_function = true;
                        let all = 0..module.functions.len() as u32;
                        let device = all.filter(|f| {
                            module.functions[*f as usize].kind
                                == super::module::FunctionKind::Device
                        });
                        device.for_each(|callee| add(FunctionId(callee)));
                    }
                }
            }
        }
    }
    found
}

/// The objects that the constants refer to, and those that their initial values refer to.
fn collect_objects(module: &Module, program: &mut Program) {
    use super::module::RelocationTarget;
    let mut work: Vec<Object> = program
        .pool
        .iter()
        .filter_map(|value| match value {
            PoolValue::Address(object, _) => Some(*object),
            PoolValue::Bits(_) | PoolValue::Parameter { .. } => None,
        })
        .collect();
    while let Some(object) = work.pop() {
        if !program.objects.insert(object) {
            continue;
        }
        let Some(variable) = variable(module, object) else { continue };
        for relocation in &variable.initial.relocations {
            work.push(match relocation.target {
                RelocationTarget::Variable(id) => Object::Variable(id),
                RelocationTarget::Function(id) => Object::Function(id),
            });
        }
    }
}

/// The declaration of an object.
pub(crate) fn variable(module: &Module, object: Object) -> Option<&super::module::Variable> {
    match object {
        Object::Variable(VariableId(id)) => module.variables.get(id as usize),
        Object::FunctionShared(function, local) | Object::FunctionStatic(function, local) => {
            let body = module.functions.get(function.0 as usize)?.body.as_ref()?;
            body.locals.get(local as usize)
        }
        Object::Parameters | Object::Function(_) => None,
    }
}

/// The object of a symbol, if the launch determines its address; none if it is in the frame.
fn object(module: &Module, function: FunctionId, symbol: Symbol) -> Option<Object> {
    match symbol {
        Symbol::Variable(id) => Some(Object::Variable(id)),
        Symbol::Function(id) => Some(Object::Function(id)),
        Symbol::Parameter(_) | Symbol::Return(_) => None,
        Symbol::Local(local) => {
            let body = module.functions.get(function.0 as usize)?.body.as_ref()?;
            match body.locals.get(local.0 as usize)?.space {
                Space::Shared => Some(Object::FunctionShared(function, local.0)),
                Space::Global | Space::Const => Some(Object::FunctionStatic(function, local.0)),
                Space::Local | Space::Param | Space::Generic | Space::SharedCluster => None,
            }
        }
    }
}
