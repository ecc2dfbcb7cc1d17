//! Parameters and results in `.reg`, as functions of the old ABI declare them. PTX ISA, section "Function
//! Declarations and Definitions".
//!
//! Values are always passed through memory, as `.param` variables are. A register that is a parameter is loaded at
//! the entry of the function, a register that is a result is stored before each `ret`, and a call stores its
//! arguments and loads its results. These instructions are added here, so that the rest of the crate handles one
//! way of passing only.

use lightbench_ptx::tree;

use super::super::error::PtxLocation;
use super::super::isa::Operation;
use super::super::isa::control::Control;
use super::super::isa::memory::{Access, CacheHints, ElementType, Memory, Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::arguments::{ParsedCall, PassedValue};
use super::body::{Guard, Instruction, Reader};
use super::names::Binding;
use super::operand::{Address, Base, Operand, Symbol};
use super::{Call, InitialBytes, Linkage, LocalId, RegisterId, Variable};

impl<'a> Reader<'_, 'a> {
    /// Binds the names of parameters and results, and loads the parameters that are registers.
    pub(super) fn bind_parameters(&mut self, signature: &tree::Signature<'a>) {
        for (index, parameter) in signature.parameters.iter().enumerate() {
            match self.passed_register(parameter) {
                None => {
                    self.bind(parameter.name, parameter.place, Binding::Parameter(index as u32));
                }
                Some(register) => {
                    let from = Symbol::Parameter(index as u32);
                    let load = self.load(Operand::Register(register), from, None, parameter.place);
                    self.body.instructions.push(load);
                }
            }
        }
        for (index, result) in signature.returns.iter().enumerate() {
            match self.passed_register(result) {
                None => self.bind(result.name, result.place, Binding::Return(index as u32)),
                Some(register) => self.result_registers.push((index as u32, register)),
            }
        }
    }

    /// The register of a parameter or result, if it is one.
    fn passed_register(&mut self, written: &tree::Declaration<'a>) -> Option<RegisterId> {
        if written.space != "reg" {
            return None;
        }
        self.register_declaration(written);
        match self.names.find(written.name) {
            Some(Binding::Register { first, .. }) => Some(first),
            Some(_) | None => None,
        }
    }

    /// Adds an instruction, with the instructions that belong before and after it.
    pub(super) fn emit(&mut self, instruction: Instruction) {
        if let Operation::Control(Control::Return(_)) = instruction.operation {
            self.store_results(instruction.guard, instruction.place);
        }
        self.body.instructions.push(instruction);
        self.body.instructions.append(&mut self.behind);
    }

    /// Stores the results that are registers before the function returns.
    pub(super) fn store_results(&mut self, guard: Option<Guard>, place: PtxLocation) {
        for index in 0..self.result_registers.len() {
            let (position, register) = self.result_registers[index];
            let to = Symbol::Return(position);
            let store = self.store(to, Operand::Register(register), guard, place);
            self.body.instructions.push(store);
        }
    }

    /// Assigns memory to the arguments and results that a call passes in registers.
    pub(super) fn pass_registers(
        &mut self,
        call: ParsedCall,
        guard: Option<Guard>,
        place: PtxLocation,
    ) -> Call {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for passed in call.arguments {
            arguments.push(match passed {
                PassedValue::Slot(symbol) => symbol,
                PassedValue::Value(value, bytes) => {
                    let to = self.hidden(bytes);
                    let store = self.store(to, value, guard, place);
                    self.body.instructions.push(store);
                    to
                }
            });
        }
        let mut returns = Vec::with_capacity(call.returns.len());
        for passed in call.returns {
            returns.push(match passed {
                PassedValue::Slot(symbol) => symbol,
                PassedValue::Value(Operand::Sink, bytes) => self.hidden(bytes),
                PassedValue::Value(register, bytes) => {
                    let from = self.hidden(bytes);
                    let load = self.load(register, from, guard, place);
                    self.behind.push(load);
                    from
                }
            });
        }
        Call { target: call.target, arguments, returns }
    }

    /// A `.param` variable without a name.
    fn hidden(&mut self, bytes: u64) -> Symbol {
        let id = LocalId(self.body.locals.len() as u32);
        self.body.locals.push(Variable {
            name: "value of a call".to_owned(),
            space: Space::Param,
            linkage: Linkage::Internal,
            element: ScalarType::from(element(bytes)),
            bytes: Some(bytes),
            align: bytes as u32,
            initial: InitialBytes::default(),
        });
        Symbol::Local(id)
    }

    /// The size of a `.param` variable that stands for a register, in bytes.
    fn bytes(&self, symbol: Symbol) -> u64 {
        let parameter = |list: &[super::Parameter], index: u32| {
            list.get(index as usize).map_or(0, |parameter| parameter.bytes)
        };
        match symbol {
            Symbol::Parameter(index) => parameter(&self.function.parameters, index),
            Symbol::Return(index) => parameter(&self.function.returns, index),
            Symbol::Local(id) => self.body.locals[id.0 as usize].bytes.unwrap_or(0),
            Symbol::Variable(_) | Symbol::Function(_) => 0,
        }
    }

    fn load(
        &self,
        to: Operand,
        from: Symbol,
        guard: Option<Guard>,
        place: PtxLocation,
    ) -> Instruction {
        let operation = Operation::Memory(Memory::Load(self.access(from)));
        let operands = [to, address(from)].into();
        Instruction { place, location: self.location, guard, operation, operands, results: 1 }
    }

    fn store(
        &self,
        to: Symbol,
        value: Operand,
        guard: Option<Guard>,
        place: PtxLocation,
    ) -> Instruction {
        let operation = Operation::Memory(Memory::Store(self.access(to)));
        let operands = [address(to), value].into();
        Instruction { place, location: self.location, guard, operation, operands, results: 0 }
    }

    fn access(&self, symbol: Symbol) -> Access {
        let element = element(self.bytes(symbol));
        let (ordering, hints) = (Ordering::Weak, CacheHints::default());
        Access { space: Space::Param, element, lanes: 1, ordering, hints }
    }

    /// Labels refer to instructions of the text; this converts them to indices of all instructions.
    pub(super) fn resolve_labels(&mut self) {
        let end = self.body.instructions.len() as u32;
        let position = |label: u32| self.starts.get(label as usize).copied().unwrap_or(end);
        let operands = self.body.instructions.iter_mut().flat_map(|each| each.operands.iter_mut());
        for operand in operands {
            if let Operand::Label(label) = operand {
                *label = position(*label);
            }
        }
        for label in self.body.targets.iter_mut().flatten() {
            *label = position(*label);
        }
    }
}

fn address(symbol: Symbol) -> Operand {
    Operand::Address(Address { base: Base::Symbol(symbol), offset: 0 })
}

/// Registers have 8 to 128 bits.
fn element(bytes: u64) -> ElementType {
    match bytes {
        1 => ElementType::B8,
        2 => ElementType::B16,
        4 => ElementType::B32,
        8 => ElementType::B64,
        _ => ElementType::B128,
    }
}
