//! Execution of one thread of a loaded kernel, instruction by instruction: no warps, no slots, no lowering, no
//! `semantics`.

use std::collections::BTreeMap;

use super::super::virtual_gpu::isa::Operation;
use super::super::virtual_gpu::isa::control::Control;
use super::super::virtual_gpu::isa::memory::Memory as MemoryOperation;
use super::super::virtual_gpu::isa::moves::Move;
use super::super::virtual_gpu::isa::scalar::ScalarType;
use super::super::virtual_gpu::isa::special_register::{Axis, SpecialRegister, Triple};
use super::super::virtual_gpu::module::{
    Address, Base, Body, Instruction, Module, Operand, RegisterId, Symbol,
};
use super::{arithmetic, whole};

/// Instructions of a thread at most.
const MOST_STEPS: u32 = 200_000;

/// Buffers by their addresses.
#[derive(Default)]
pub(super) struct Memory {
    buffers: BTreeMap<u64, Vec<u8>>,
}

impl Memory {
    pub(super) fn add(&mut self, address: u64, bytes: Vec<u8>) {
        self.buffers.insert(address, bytes);
    }

    pub(super) fn bytes(&self, address: u64) -> &[u8] {
        self.buffers.get(&address).map_or(&[], Vec::as_slice)
    }

    fn at(&mut self, address: u64, length: usize) -> Result<&mut [u8], String> {
        let outside = || format!("{address:#x} is outside of the buffers");
        let (start, bytes) = self.buffers.range_mut(..=address).next_back().ok_or_else(outside)?;
        let offset = (address - start) as usize;
        bytes.get_mut(offset..offset + length).ok_or_else(outside)
    }
}

/// A thread between two instructions.
pub(super) struct Thread<'b> {
    body: &'b Body,
    registers: Vec<u64>,
    carry: bool,
    index: u32,
    parameters: [u64; 2],
}

/// Runs one thread to its end.
pub(super) fn run(
    module: &Module,
    parameters: [u64; 2],
    index: u32,
    memory: &mut Memory,
) -> Result<(), String> {
    let body = module.kernels().next().and_then(|kernel| kernel.body.as_ref());
    let body = body.ok_or("no kernel")?;
    let registers = vec![0; body.registers.len()];
    let mut thread = Thread { body, registers, carry: false, index, parameters };
    let mut position = 0;
    for _ in 0..MOST_STEPS {
        let Some(instruction) = body.instructions.get(position) else { return Ok(()) };
        let passes = instruction.guard.is_none_or(|guard| {
            (thread.registers[guard.predicate.0 as usize] == 1) != guard.negated
        });
        position += 1;
        if !passes {
            continue;
        }
        match thread.step(instruction, memory)? {
            Next::Following => {}
            Next::Position(target) => position = target as usize,
            Next::End => return Ok(()),
        }
    }
    Err("the reference does not end".to_owned())
}

enum Next {
    Following,
    Position(u32),
    End,
}

impl Thread<'_> {
    fn step(&mut self, instruction: &Instruction, memory: &mut Memory) -> Result<Next, String> {
        let outside = || format!("{:?} is outside of the reference", instruction.operation);
        let sources: Vec<u64> = match instruction.operation {
            Operation::Memory(_) | Operation::Control(_) => Vec::new(),
            Operation::Integer(_)
            | Operation::Logic(_)
            | Operation::Extended(_)
            | Operation::Float(_)
            | Operation::Half(_)
            | Operation::Approximate(_)
            | Operation::Compare(_)
            | Operation::Convert(_)
            | Operation::Move(_)
            | Operation::Atomic(_)
            | Operation::Barrier(_)
            | Operation::Warp(_)
            | Operation::System(_)
            | Operation::Matrix(_)
            | Operation::AsyncCopy(_)
            | Operation::BulkCopy(_)
            | Operation::TensorCopy(_)
            | Operation::TensorMap(_)
            | Operation::Texture(_)
            | Operation::Mbarrier(_)
            | Operation::Cluster(_)
            | Operation::RemoteWrite(_) => {
                instruction.sources().iter().map(|o| self.read(o)).collect::<Result<_, _>>()?
            }
        };
        let result = match instruction.operation {
            Operation::Integer(what) => whole::integer(what, &sources).ok_or_else(outside)?,
            Operation::Logic(what) => whole::logic(what, &sources).ok_or_else(outside)?,
            Operation::Extended(what) => {
                let (result, carry) = whole::extended(what, &sources, self.carry);
                self.carry = carry;
                result
            }
            Operation::Float(what) => arithmetic::float(what, &sources).ok_or_else(outside)?,
            Operation::Half(what) => arithmetic::half(what, &sources).ok_or_else(outside)?,
            Operation::Compare(what) => arithmetic::compare(what, &sources).ok_or_else(outside)?,
            Operation::Convert(what) => arithmetic::convert(what, &sources).ok_or_else(outside)?,
            Operation::Move(Move::Copy(_)) => sources[0],
            Operation::Memory(what) => {
                self.memory(what, instruction, memory)?;
                return Ok(Next::Following);
            }
            Operation::Control(Control::Branch(_)) => {
                let Some(Operand::Label(target)) = instruction.operands.first() else {
                    return Err(outside());
                };
                return Ok(Next::Position(*target));
            }
            Operation::Control(Control::Return(_)) => return Ok(Next::End),
            Operation::Control(_)
            | Operation::Move(_)
            | Operation::Approximate(_)
            | Operation::Atomic(_)
            | Operation::Barrier(_)
            | Operation::Warp(_)
            | Operation::System(_)
            | Operation::Matrix(_)
            | Operation::AsyncCopy(_)
            | Operation::BulkCopy(_)
            | Operation::TensorCopy(_)
            | Operation::TensorMap(_)
            | Operation::Texture(_)
            | Operation::Mbarrier(_)
            | Operation::Cluster(_)
            | Operation::RemoteWrite(_) => return Err(outside()),
        };
        let Some(Operand::Register(register)) = instruction.operands.first() else {
            return Err(outside());
        };
        self.write(*register, result);
        Ok(Next::Following)
    }

    fn memory(
        &mut self,
        what: MemoryOperation,
        instruction: &Instruction,
        memory: &mut Memory,
    ) -> Result<(), String> {
        match (what, &instruction.operands[..]) {
            (MemoryOperation::Load(access), [Operand::Register(to), Operand::Address(from)]) => {
                let ty = ScalarType::from(access.element);
                let bits = match from.base {
                    Base::Symbol(Symbol::Parameter(index)) => self.parameters[index as usize],
                    Base::Absolute | Base::Register(_) | Base::Symbol(_) | Base::Generic(..) => {
                        let bytes = memory.at(self.address(*from)?, ty.bytes() as usize)?;
                        bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
                    }
                };
                // A wider register receives the number, extended by its sign.
                self.write(*to, whole::number(bits, ty) as u64);
                Ok(())
            }
            (MemoryOperation::Store(access), [Operand::Address(to), from]) => {
                let length = ScalarType::from(access.element).bytes() as usize;
                let bits = self.read(from)?.to_le_bytes();
                memory.at(self.address(*to)?, length)?.copy_from_slice(&bits[..length]);
                Ok(())
            }
            _ => Err(format!("{what:?} is outside of the reference")),
        }
    }

    fn address(&self, address: Address) -> Result<u64, String> {
        match address.base {
            Base::Register(register) => {
                Ok(self.registers[register.0 as usize].wrapping_add(address.offset as u64))
            }
            Base::Absolute | Base::Symbol(_) | Base::Generic(..) => {
                Err("an address without a register".to_owned())
            }
        }
    }

    fn read(&self, operand: &Operand) -> Result<u64, String> {
        match operand {
            Operand::Register(register) => Ok(self.registers[register.0 as usize]),
            Operand::Not(register) => Ok(1 - self.registers[register.0 as usize]),
            Operand::Immediate(immediate) => Ok(immediate.bits()),
            Operand::Special(SpecialRegister::Coordinate(Triple::ThreadIndex, Axis::X)) => {
                Ok(u64::from(self.index))
            }
            other @ (Operand::Special(_)
            | Operand::Symbol(..)
            | Operand::Address(_)
            | Operand::Vector(_)
            | Operand::Sink
            | Operand::Pair(..)
            | Operand::Label(_)
            | Operand::Targets(_)
            | Operand::Call(_)) => Err(format!("{other:?} is outside of the reference")),
        }
    }

    fn write(&mut self, register: RegisterId, value: u64) {
        let bits = self.body.registers[register.0 as usize].ty.bits();
        self.registers[register.0 as usize] = whole::wrap(i128::from(value), bits);
    }
}
