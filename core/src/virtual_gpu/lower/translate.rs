//! Instructions → operations, in layout order.

use std::collections::HashMap;

use super::super::isa::Operation;
use super::super::isa::atomic::{Atomic, ExchangeType, SwapType, Update};
use super::super::isa::barrier::Barrier;
use super::super::isa::control::Control;
use super::super::isa::memory::{Access, ElementType, Memory, Space};
use super::super::isa::moves::Move;
use super::super::isa::scalar::{ScalarClass, ScalarType};
use super::super::isa::system::System;
use super::super::module::{
    Call, CallTarget, FunctionId, Instruction, Module, Operand, RegisterId,
};
use super::code::{Bank, Builtin, CallSite, Code, LoweredFunction, Op, PoolValue, Slot, Target};
use super::operands::{NoPlace, Translator, op, special_bank};
use super::{Program, Unsupported, flow, frame, liveness, slots};

/// Translates one function and appends it to the program.
pub(super) fn run(
    module: &Module,
    id: FunctionId,
    program: &mut Program,
    known: &mut HashMap<PoolValue, u32>,
    errors: &mut Vec<Unsupported>,
) {
    let function = &module.functions[id.0 as usize];
    let Some(body) = &function.body else { return };
    let Some(frame) = frame::run(function) else {
        errors.push(Unsupported {
            operation: format!(
                "a frame of `{}` that is larger than a thread's memory",
                function.name
            ),
            place: body.instructions.first().map(|i| i.place).unwrap_or_default(),
            source_line: None,
        });
        return;
    };
    let blocks = flow::blocks(body);
    let order = flow::order(&blocks);
    let slots = slots::run(body, &liveness::ranges(body, &blocks, &order));
    let entry = program.ops.len() as u32;
    let mut translator = Translator {
        module,
        id,
        body,
        slots,
        frame,
        program,
        known,
        temporaries: [0; 3],
        most_temporaries: [0; 3],
        position: 0,
        guard: Slot::NONE,
    };
    // Predicate slot 0 behind the registers is the carry flag.
    let carry = translator.slots.predicates;
    translator.slots.predicates += 1;
    let mut pc_of_block = vec![0; blocks.len()];
    for (index, block) in order.iter().enumerate() {
        let block_index = *block as usize;
        pc_of_block[block_index] = translator.program.ops.len() as u32;
        let block = &blocks[block_index];
        for position in block.start..block.end {
            translator.position = position;
            translator.instruction(&body.instructions[position as usize], carry, errors);
        }
        translator.guard = Slot::NONE;
        let is_last = block.end as usize >= body.instructions.len();
        if block.falls_through && order.get(index + 1) != Some(&(block_index as u32 + 1)) {
            translator.emit(op(Code::Branch { target: block_index as u32 + 1 }));
            mark_as_block(translator.program);
        } else if is_last && !block.falls_through {
            translator.position = body.instructions.len() as u32;
            translator.emit(op(Code::Return));
        }
    }
    let most = translator.most_temporaries;
    let mut lowered = LoweredFunction {
        entry: Some(entry),
        words: translator.slots.words + most[0],
        doubles: translator.slots.doubles + most[1],
        predicates: translator.slots.predicates + most[2],
        ..LoweredFunction::default()
    };
    translator.frame.describe(&mut lowered);
    program.functions.insert(id, lowered);
    resolve_targets(program, entry, &blocks, &pc_of_block);
}

/// A branch that the layout needs: its target is a block already, not an instruction.
fn mark_as_block(program: &mut Program) {
    if let Some(last) = program.ops.last_mut() {
        last.immediate = 1;
    }
}

/// Branches name positions in the body until all blocks have their place.
fn resolve_targets(program: &mut Program, entry: u32, blocks: &[flow::Block], pcs: &[u32]) {
    let pc = |position: u32| {
        let block = blocks.partition_point(|block| block.start <= position) - 1;
        pcs[block]
    };
    for index in entry as usize..program.ops.len() {
        let op = &mut program.ops[index];
        if let Code::Branch { target } = &mut op.code {
            *target = if op.immediate == 1 { pcs[*target as usize] } else { pc(*target) };
        } else if op.code == Code::BranchIndexed {
            let (start, length) = (op.immediate as usize, op.b.index());
            for target in &mut program.targets[start..start + length] {
                *target = pc(*target);
            }
        }
    }
}

impl Translator<'_> {
    fn instruction(
        &mut self,
        instruction: &Instruction,
        carry: u32,
        errors: &mut Vec<Unsupported>,
    ) {
        self.temporaries = [0; 3];
        self.guard = self.guard(instruction.guard);
        let before = self.program.ops.len();
        if self.translate(instruction, carry).is_err() {
            self.program.ops.truncate(before);
            self.program.origins.truncate(before);
            let line = instruction.location.and_then(|line| self.module.source_line(line));
            errors.push(Unsupported {
                operation: format!("{:?}", instruction.operation),
                place: instruction.place,
                source_line: line,
            });
        }
    }

    fn translate(&mut self, instruction: &Instruction, carry: u32) -> Result<(), NoPlace> {
        match instruction.operation {
            Operation::Integer(what) => self.compute(instruction, Code::Integer(what)),
            Operation::Extended(what) => {
                let e = Slot::register(carry);
                self.compute_with(instruction, Op { e, f: e, ..op(Code::Extended(what)) })
            }
            Operation::Float(what) => self.compute(instruction, Code::Float(what)),
            Operation::Half(what) => self.compute(instruction, Code::Half(what)),
            Operation::Approximate(what) => self.compute(instruction, Code::Approximate(what)),
            Operation::Compare(what) => self.compute(instruction, Code::Compare(what)),
            Operation::Logic(what) => self.compute(instruction, Code::Logic(what)),
            Operation::Convert(convert) => self.convert(instruction, convert),
            Operation::Move(what) => self.moves(instruction, what),
            Operation::Memory(what) => self.memory(instruction, what),
            Operation::Atomic(what) => self.atomic(instruction, what),
            Operation::Control(what) => self.control(instruction, what),
            Operation::Barrier(what) => self.barrier(instruction, what),
            Operation::Warp(what) => self.compute(instruction, Code::Warp(what)),
            Operation::System(System::Sleep) => self.compute(instruction, Code::Sleep),
            Operation::System(System::PerformanceEvent) => {
                self.emit(op(Code::Hint));
                Ok(())
            }
            Operation::Matrix(_) | Operation::AsyncCopy(_) | Operation::Mbarrier(_) => Err(NoPlace),
        }
    }

    fn compute(&mut self, instruction: &Instruction, code: Code) -> Result<(), NoPlace> {
        self.compute_with(instruction, op(code))
    }

    /// A result and up to four sources in the order of the PTX ISA.
    fn compute_with(&mut self, instruction: &Instruction, mut op: Op) -> Result<(), NoPlace> {
        let mut sources = [op.a, op.b, op.c, op.f];
        for (slot, operand) in sources.iter_mut().zip(instruction.sources()) {
            *slot = self.source(operand)?.0;
        }
        [op.a, op.b, op.c, op.f] = sources;
        if instruction.sources().len() > 4 {
            // Five sources has `lop3` with a predicate: table and predicate stand apart.
            let [_, _, _, table, predicate] = instruction.sources() else { return Err(NoPlace) };
            let Operand::Immediate(table) = table else { return Err(NoPlace) };
            op.immediate = table.bits() as i64;
            op.f = self.source(predicate)?.0;
        }
        if let Some(destination) = instruction.destinations().first() {
            let bank = result_bank(instruction.operation);
            op.d = self.destination(destination, bank)?.0;
            let second = self.second_destination(destination);
            if !second.is_none() {
                op.e = second;
            }
        }
        self.emit(op);
        Ok(())
    }

    fn convert(
        &mut self,
        instruction: &Instruction,
        convert: super::super::isa::convert::Convert,
    ) -> Result<(), NoPlace> {
        let mut slots = [Slot::NONE; 3];
        let mut wide_source = false;
        for (slot, operand) in slots.iter_mut().zip(instruction.sources()) {
            let (source, bank) = self.source(operand)?;
            wide_source |= bank.is_none() || bank == Some(Bank::Doubles);
            *slot = source;
        }
        let [a, b, c] = slots;
        let Some(destination) = instruction.destinations().first() else { return Err(NoPlace) };
        let (d, bank) = self.destination(destination, Bank::Words)?;
        let register_bits = self.register_bits(destination, bank);
        self.emit(Op { d, a, b, c, ..op(Code::Convert { convert, wide_source, register_bits }) });
        Ok(())
    }

    fn register_bits(&self, destination: &Operand, bank: Bank) -> u8 {
        let of = |register: RegisterId| self.ty(register).bits() as u8;
        match (destination, bank) {
            (Operand::Register(register) | Operand::Pair(Some(register), _), _) => of(*register),
            (Operand::Vector(parts), _) if parts.len() == 1 => self.register_bits(&parts[0], bank),
            (_, Bank::Doubles) => 64,
            (_, Bank::Words | Bank::Predicates) => 32,
        }
    }

    fn moves(&mut self, instruction: &Instruction, what: Move) -> Result<(), NoPlace> {
        let [destination, source] = &instruction.operands[..] else { return Err(NoPlace) };
        match what {
            Move::Copy(ty) => self.copy(destination, source, ScalarType::from(ty)),
            Move::ToGeneric(space, _) => {
                self.address_move(destination, source, Code::ToGeneric(space))
            }
            Move::FromGeneric(space, _) => {
                self.address_move(destination, source, Code::FromGeneric(space))
            }
            Move::IsInSpace(space) => {
                let (a, _) = self.source(source)?;
                let (d, _) = self.destination(destination, Bank::Predicates)?;
                self.emit(Op { d, a, ..op(Code::IsInSpace(space)) });
                Ok(())
            }
        }
    }

    fn address_move(&mut self, to: &Operand, from: &Operand, code: Code) -> Result<(), NoPlace> {
        let (a, bank) = self.source(from)?;
        let (d, to_bank) = self.destination(to, Bank::Doubles)?;
        if to_bank != Bank::Doubles || bank.is_some_and(|bank| bank != Bank::Doubles) {
            return Err(NoPlace);
        }
        self.emit(Op { d, a, ..op(code) });
        Ok(())
    }

    fn copy(&mut self, to: &Operand, from: &Operand, ty: ScalarType) -> Result<(), NoPlace> {
        if ty.bits() > 64 {
            return Err(NoPlace);
        }
        let several = |operand: &Operand| matches!(operand, Operand::Vector(v) if v.len() > 1);
        match (to, from) {
            (to, Operand::Vector(parts)) if several(from) && !several(to) => {
                let mut slots = Vec::with_capacity(parts.len());
                for part in parts {
                    slots.push(self.source(part)?.0);
                }
                let piece_bits = (ty.bits() / parts.len() as u32) as u8;
                let (d, _) = self.destination(to, Bank::Words)?;
                let list = self.list(&slots);
                let whole_bits = ty.bits() as u8;
                self.emit(Op { d, list, ..op(Code::Pack { piece_bits, whole_bits }) });
            }
            (Operand::Vector(parts), from) if several(to) && !several(from) => {
                let (a, _) = self.source(from)?;
                let mut slots = Vec::with_capacity(parts.len());
                let piece_bits = (ty.bits() / parts.len() as u32) as u8;
                let bank = if piece_bits == 64 { Bank::Doubles } else { Bank::Words };
                for part in parts {
                    slots.push(self.destination(part, bank)?.0);
                }
                let list = self.list(&slots);
                let whole_bits = ty.bits() as u8;
                self.emit(Op { a, list, ..op(Code::Unpack { piece_bits, whole_bits }) });
            }
            (Operand::Vector(left), Operand::Vector(right)) if left.len() == right.len() => {
                return Err(NoPlace);
            }
            (to, from) => {
                let (d, bank) = self.destination(to, Bank::Words)?;
                if let Operand::Special(special) = from
                    && special_bank(*special) == bank
                {
                    self.emit(Op { d, ..op(Code::Special(*special)) });
                    return Ok(());
                }
                let (a, from_bank) = self.source(from)?;
                if from_bank.is_some_and(|from| from != bank) {
                    return Err(NoPlace);
                }
                self.emit(Op { d, a, ..op(copy_code(bank)) });
            }
        }
        Ok(())
    }

    fn memory(&mut self, instruction: &Instruction, what: Memory) -> Result<(), NoPlace> {
        match what {
            Memory::Load(access) => self.load(instruction, access, false),
            Memory::LoadReadOnly(access) | Memory::LoadUniform(access) => {
                self.load(instruction, access, true)
            }
            Memory::Store(access) => self.store(instruction, access),
            Memory::Prefetch(..) | Memory::Prioritise(_) | Memory::Discard(_) => {
                self.emit(op(Code::Hint));
                Ok(())
            }
        }
    }

    /// The elements of a load or store.
    fn elements(operand: &Operand) -> &[Operand] {
        if let Operand::Vector(parts) = operand { parts } else { std::slice::from_ref(operand) }
    }

    fn load(
        &mut self,
        instruction: &Instruction,
        access: Access,
        read_only: bool,
    ) -> Result<(), NoPlace> {
        let (Some(to), Some(Operand::Address(address))) =
            (instruction.operands.first(), instruction.operands.get(1))
        else {
            return Err(NoPlace);
        };
        let element = ScalarType::from(access.element);
        if element.bits() > 64 {
            return Err(NoPlace);
        }
        let fallback = if element.bits() == 64 { Bank::Doubles } else { Bank::Words };
        let mut slots = Vec::with_capacity(4);
        let mut register_bits = if element.bits() == 64 { 64 } else { 32 };
        for part in Self::elements(to) {
            let (slot, bank) = self.destination(part, fallback)?;
            if let Operand::Register(_) = part {
                register_bits = self.register_bits(part, bank);
            }
            slots.push(slot);
        }
        let sinks = Self::elements(to).iter().any(|part| matches!(part, Operand::Sink));
        if sinks && (register_bits == 64) != (fallback == Bank::Doubles) {
            return Err(NoPlace);
        }
        if let super::super::module::Base::Symbol(symbol) = address.base
            && access.space == Space::Param
            && let Some(offset) = self.kernel_parameter(symbol, address.offset)
        {
            return self.load_parameter(&slots, offset, element, register_bits);
        }
        let (base, a, immediate) = self.address(*address)?;
        let list = self.list(&slots);
        let code = Code::Load { access, base, register_bits, read_only };
        self.emit(Op { a, immediate, list, ..op(code) });
        Ok(())
    }

    /// A kernel's parameter is the same for all lanes and known when it is launched.
    fn load_parameter(
        &mut self,
        slots: &[Slot],
        offset: i64,
        element: ScalarType,
        register_bits: u8,
    ) -> Result<(), NoPlace> {
        let bytes = element.bytes() as u8;
        let signed = element.class() == ScalarClass::Integer
            && matches!(element, ScalarType::S8 | ScalarType::S16 | ScalarType::S32);
        for (index, d) in slots.iter().enumerate() {
            let Ok(offset) = u32::try_from(offset) else { return Err(NoPlace) };
            let offset = offset + index as u32 * u32::from(bytes);
            let a = self.pool(PoolValue::Parameter { offset, bytes, signed, register_bits });
            let code = if register_bits == 64 { Code::Copy64 } else { Code::Copy32 };
            self.emit(Op { d: *d, a, ..op(code) });
        }
        Ok(())
    }

    fn store(&mut self, instruction: &Instruction, access: Access) -> Result<(), NoPlace> {
        let (Some(Operand::Address(address)), Some(from)) =
            (instruction.operands.first(), instruction.operands.get(1))
        else {
            return Err(NoPlace);
        };
        if ScalarType::from(access.element).bits() > 64 {
            return Err(NoPlace);
        }
        let mut slots = Vec::with_capacity(4);
        let mut wide = None;
        for part in Self::elements(from) {
            let (slot, bank) = self.source(part)?;
            wide = wide.or(bank);
            slots.push(slot);
        }
        let (base, a, immediate) = self.address(*address)?;
        let list = self.list(&slots);
        // A register may be wider than what is stored: `b` says where the values lie.
        let from_doubles = match wide {
            Some(bank) => bank == Bank::Doubles,
            None => matches!(
                access.element,
                ElementType::B64 | ElementType::U64 | ElementType::S64 | ElementType::F64
            ),
        };
        let b = Slot::register(u32::from(from_doubles));
        self.emit(Op { a, b, immediate, list, ..op(Code::Store { access, base }) });
        Ok(())
    }

    fn atomic(&mut self, instruction: &Instruction, atomic: Atomic) -> Result<(), NoPlace> {
        let wide = matches!(
            atomic.update,
            Update::Exchange(ExchangeType::B128) | Update::CompareAndSwap(SwapType::B128)
        );
        if atomic.lanes > 1 || wide {
            return Err(NoPlace);
        }
        let mut sources = instruction.sources().iter();
        let Some(Operand::Address(address)) = sources.next() else { return Err(NoPlace) };
        let (base, a, immediate) = self.address(*address)?;
        let b = match sources.next() {
            Some(operand) => self.source(operand)?.0,
            None => return Err(NoPlace),
        };
        let c = match sources.next() {
            Some(operand) if matches!(atomic.update, Update::CompareAndSwap(_)) => {
                self.source(operand)?.0
            }
            _ => Slot::NONE,
        };
        let d = match instruction.destinations().first() {
            Some(Operand::Sink) | None => Slot::NONE,
            Some(operand) => self.destination(operand, Bank::Words)?.0,
        };
        self.emit(Op { d, a, b, c, immediate, ..op(Code::Atomic { atomic, base }) });
        Ok(())
    }

    fn control(&mut self, instruction: &Instruction, what: Control) -> Result<(), NoPlace> {
        match what {
            Control::Branch(_) => {
                let Some(Operand::Label(target)) = instruction.operands.first() else {
                    return Err(NoPlace);
                };
                self.emit(op(Code::Branch { target: *target }));
            }
            Control::BranchIndexed(_) => {
                let [index, Operand::Targets(list)] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                let (a, _) = self.source(index)?;
                let targets = self.body.targets.get(list.0 as usize).ok_or(NoPlace)?;
                let immediate = self.program.targets.len() as i64;
                self.program.targets.extend(targets);
                let b = Slot::register(targets.len() as u32);
                self.emit(Op { a, b, immediate, ..op(Code::BranchIndexed) });
            }
            Control::Call(_) => {
                let call = instruction.operands.iter().find_map(|operand| {
                    if let Operand::Call(call) = operand { Some(call) } else { None }
                });
                return self.call(call.ok_or(NoPlace)?);
            }
            Control::Return(_) => self.emit(op(Code::Return)),
            Control::Exit => self.emit(op(Code::Exit)),
            Control::Trap => self.emit(op(Code::Trap)),
            Control::Breakpoint => self.emit(op(Code::Hint)),
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), NoPlace> {
        let place =
            |symbol: &super::super::module::Symbol| self.frame.offset(*symbol).ok_or(NoPlace);
        let arguments = call.arguments.iter().map(place).collect::<Result<_, _>>()?;
        let returns = call.returns.iter().map(place).collect::<Result<_, _>>()?;
        let target = match call.target {
            CallTarget::Prototype(register, _) | CallTarget::List(register, _) => {
                Target::Address(self.register(register))
            }
            CallTarget::Function(id) => {
                let function = &self.module.functions[id.0 as usize];
                match (&function.body, builtin(&function.name)) {
                    (Some(_), _) => Target::Function(id),
                    (None, Some(builtin)) => Target::Builtin(builtin),
                    (None, None) => return Err(NoPlace),
                }
            }
        };
        let index = self.program.calls.len() as u32;
        self.program.calls.push(CallSite { target, arguments, returns });
        self.emit(op(Code::Call(index)));
        Ok(())
    }

    fn barrier(&mut self, instruction: &Instruction, what: Barrier) -> Result<(), NoPlace> {
        match what {
            Barrier::Synchronise(alignment) => {
                self.compute(instruction, Code::Synchronise(alignment))
            }
            Barrier::Arrive(alignment) => self.compute(instruction, Code::Arrive(alignment)),
            Barrier::Reduce(vote, alignment) => {
                let [result, number, rest @ ..] = &instruction.operands[..] else {
                    return Err(NoPlace);
                };
                let (count, predicate) = match rest {
                    [count, predicate] => (Some(count), predicate),
                    [predicate] => (None, predicate),
                    _ => return Err(NoPlace),
                };
                let (a, _) = self.source(number)?;
                let b = match count {
                    Some(count) => self.source(count)?.0,
                    None => Slot::NONE,
                };
                let (f, _) = self.source(predicate)?;
                let (d, _) = self.destination(result, Bank::Words)?;
                self.emit(Op { d, a, b, f, ..op(Code::Reduce(vote, alignment)) });
                Ok(())
            }
            Barrier::SynchroniseWarp => self.compute(instruction, Code::SynchroniseWarp),
            Barrier::Fence(order, scope) => {
                self.emit(op(Code::Fence(order, scope)));
                Ok(())
            }
        }
    }
}

fn copy_code(bank: Bank) -> Code {
    match bank {
        Bank::Words => Code::Copy32,
        Bank::Doubles => Code::Copy64,
        Bank::Predicates => Code::CopyPredicate,
    }
}

fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "vprintf" => Builtin::Print,
        "__assertfail" => Builtin::AssertFail,
        "malloc" => Builtin::Allocate,
        "free" => Builtin::Free,
        "__trap" => Builtin::Trap,
        _ => return None,
    })
}

/// Where a result goes that is dropped.
fn result_bank(operation: Operation) -> Bank {
    if let Operation::Compare(super::super::isa::compare::Compare::SetPredicate(..)) = operation {
        Bank::Predicates
    } else {
        Bank::Words
    }
}
