//! Translation of instructions to operations, in layout order; one file per family of instructions.

mod asynchronous;
mod barrier;
mod cluster;
mod compute;
mod control;
mod matrix;
mod memory;
mod moves;
mod texture;

use std::collections::HashMap;

use super::super::isa::Operation;
use super::super::isa::system::System;
use super::super::module::{CallTarget, FunctionId, Instruction, Module, Operand};
use super::code::{Code, LoweredFunction, Op, PoolValue, Slot};
use super::in_flight::{self, TrackedInstruction};
use super::operands::{NoPlace, Translator, op};
use super::{Program, Unsupported, flow, frame, limits, liveness, slots};

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
    let place = body.instructions.first().map(|i| i.place).unwrap_or_default();
    let refuse = |operation| Unsupported { operation, place, source_line: None };
    let Some(frame) = frame::run(function) else {
        let name = &function.name;
        errors.push(refuse(format!(
            "a frame of `{name}` that is larger than the local memory of a thread"
        )));
        return;
    };
    if let Some(reason) = limits::body(body) {
        errors.push(refuse(reason));
        return;
    }
    let blocks = flow::blocks(body);
    let order = flow::order(&blocks);
    let slots = slots::run(body, &liveness::ranges(body, &blocks, &order));
    if let Some(reason) = limits::slots(&slots) {
        errors.push(refuse(reason));
        return;
    }
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
        tracked: in_flight::run(body, &blocks, &order),
        guard: Slot::NONE,
    };
    // Predicate slot 0 after the registers is the carry flag.
    let carry = translator.slots.predicates;
    translator.slots.predicates += 1;
    let mut pc_of_block = vec![0; blocks.len()];
    for (index, block) in order.iter().enumerate() {
        let block_index = *block as usize;
        pc_of_block[block_index] = translator.program.ops.len() as u32;
        let block = &blocks[block_index];
        for position in block.start..block.end {
            translator.position = position;
            let instruction = &body.instructions[position as usize];
            translator.track(instruction);
            translator.instruction(instruction, carry, errors);
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

/// Marks a branch that the layout added: its target is a block already, not an instruction.
fn mark_as_block(program: &mut Program) {
    if let Some(last) = program.ops.last_mut() {
        last.immediate = 1;
    }
}

/// Resolves the targets of branches, which are positions in the body until all blocks have a position.
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
    /// Emits the check of an access to registers of asynchronous products.
    fn track(&mut self, instruction: &Instruction) {
        let Some(access) = self.tracked.remove(&self.position) else { return };
        let guard = self.guard(instruction.guard);
        let index = self.program.tracked.len() as i64;
        self.program.tracked.push(TrackedInstruction { guard, access });
        // The machine tests the guard, so that an uninitialised one is reported for the instruction only.
        self.guard = Slot::NONE;
        self.emit(Op { immediate: index, ..op(Code::TrackRegisters) });
    }

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
                operation: self.unsupported(instruction),
                place: instruction.place,
                source_line: line,
            });
        }
    }

    /// The part of an instruction that the machine does not support.
    fn unsupported(&self, instruction: &Instruction) -> String {
        let callee = instruction.operands.iter().find_map(|operand| {
            let Operand::Call(call) = operand else { return None };
            let CallTarget::Function(id) = call.target else { return None };
            self.module.functions.get(id.0 as usize)
        });
        match callee {
            Some(function) => format!(
                "a call to `{}`, which has no body in this module; define the function in the \
                 same file",
                function.name
            ),
            None => "this combination of operands, sizes and constants".to_owned(),
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
            Operation::System(System::PerformanceEvent | System::DependentLaunch) => {
                self.emit(op(Code::Hint));
                Ok(())
            }
            Operation::System(System::Registers(change)) => {
                let count = register_count(instruction)?;
                self.emit(Op { immediate: count as i64, ..op(Code::Registers(change)) });
                Ok(())
            }
            Operation::Matrix(what) => self.matrix(instruction, what),
            Operation::AsyncCopy(what) => self.copy_async(instruction, what),
            Operation::BulkCopy(what) => self.bulk_copy(instruction, what),
            Operation::TensorCopy(what) => self.tensor_copy(instruction, what),
            Operation::TensorMap(what) => self.tensor_map(instruction, what),
            Operation::Texture(what) => self.texture(instruction, what),
            Operation::Mbarrier(what) => self.mbarrier(instruction, what),
            Operation::Cluster(what) => self.cluster(instruction, what),
            Operation::RemoteWrite(what) => self.remote_write(instruction, what),
        }
    }
}

/// The operand of `setmaxnreg`. PTX ISA, section "setmaxnreg": 24 to 256, in steps of 8.
fn register_count(instruction: &Instruction) -> Result<u64, NoPlace> {
    let [Operand::Immediate(count)] = &instruction.operands[..] else { return Err(NoPlace) };
    let count = count.bits();
    if (24..=256).contains(&count) && count.is_multiple_of(8) { Ok(count) } else { Err(NoPlace) }
}
