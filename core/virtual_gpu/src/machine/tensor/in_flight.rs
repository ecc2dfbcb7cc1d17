//! Registers in flight: those of D and A of a product (`wgmma`) that no wait has completed (rule 37). PTX ISA,
//! "wgmma.wait_group": until then, an access to them is undefined. Also the fences before products (rule 38). PTX ISA,
//! "wgmma.fence".
//!
//! Only accesses that may meet such a register are tracked; see `lower/in_flight.rs`.

use std::collections::HashMap;

use super::super::super::lower::code::Op;
use super::super::super::lower::in_flight::{ProductShape, TrackedAccess, TrackedProduct};
use super::super::super::module::{FunctionId, RegisterId};
use super::super::fault::{ConflictingAccess, FaultKind, Finding};
use super::super::launch::Races;
use super::super::run::Worker;
use super::super::warp::Frame;

/// The kind of access of a product.
const PRODUCT: &str = "asynchronous product";

/// The rule of `docs/races.md` by which the idiom mode accepts a write behind the fence.
const FENCE_RULE: u8 = 38;

/// A register of a frame: the function, the start of its words, the register.
type Key = (FunctionId, u32, RegisterId);

/// The registers of a warp that products use.
#[derive(Clone, Debug, Default)]
pub(super) struct RegistersInFlight {
    registers: HashMap<Key, InFlight>,
    /// The last write of each register since the last fence, if a product may use the register before a fence.
    written: HashMap<Key, u32>,
    fence: LastFence,
}

/// The last `wgmma.fence` of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastFence {
    /// The warp has executed none.
    #[default]
    Missing,
    /// A `wgmma.wait_group` followed it.
    BeforeWait,
    /// No wait followed it.
    AfterWait,
}

/// How a product uses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProductRole {
    /// The product will write to it.
    D,
    /// The product may read it.
    A,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    /// The instruction of the product.
    pc: u32,
    group: u64,
    role: ProductRole,
    shape: ProductShape,
    lanes: u32,
    /// Whether a copy holds the result too: the register may then be used for another value.
    is_copied: bool,
    /// Whether a fence followed the product.
    is_fenced: bool,
}

impl RegistersInFlight {
    /// Completes the products of the groups before this one.
    pub(super) fn complete(&mut self, group: u64) {
        self.registers.retain(|_, register| register.group >= group);
        if self.fence == LastFence::AfterWait {
            self.fence = LastFence::BeforeWait;
        }
    }

    /// Orders the accesses before it with later products.
    pub(super) fn fence(&mut self) {
        self.fence = LastFence::AfterWait;
        self.written.clear();
        self.registers.values_mut().for_each(|register| register.is_fenced = true);
    }
}

impl Worker<'_, '_> {
    /// Checks and records an access to registers of products, before the instruction is executed.
    pub(in super::super) fn track_registers(&mut self, op: &Op, pc: u32, frame: Frame, mask: u32) {
        // The operation is no instruction of the kernel.
        if let Some(counts) = self.launch.count(pc) {
            *counts = Default::default();
        }
        let program = self.launch.program;
        let Some(tracked) = program.tracked.get(op.immediate as usize) else { return };
        let mut mask = mask;
        if !tracked.guard.is_none() {
            mask &= self.lanes(frame, mask).predicate(tracked.guard);
        }
        if mask == 0 {
            return;
        }
        let at = TrackedAt { pc, frame, mask };
        match &tracked.access {
            TrackedAccess::Product(product) => self.track_product(at, product),
            TrackedAccess::Copy { to, from } => self.track_copy(at, to, from),
            TrackedAccess::Other { reads, writes, unordered } => {
                for register in reads {
                    self.check_read(at, *register);
                }
                for register in writes {
                    self.check_write(at, *register);
                    self.forget(at, *register);
                }
                let written = &mut self.products().registers.written;
                written.extend(unordered.iter().map(|register| (at.key(*register), pc)));
            }
        }
    }

    fn track_product(&mut self, at: TrackedAt, product: &TrackedProduct) {
        for register in &product.a {
            self.check_read(at, *register);
        }
        self.check_fence(at, product);
        let group = self.products().groups;
        let in_flight = |role| InFlight {
            pc: at.pc,
            group,
            role,
            shape: product.shape,
            lanes: at.mask,
            is_copied: false,
            is_fenced: false,
        };
        let registers = &mut self.products().registers.registers;
        let of_d = product.d.iter().map(|register| (register, in_flight(ProductRole::D)));
        let of_a = product.a.iter().map(|register| (register, in_flight(ProductRole::A)));
        for (register, in_flight) in of_a.chain(of_d) {
            // Lanes that are not converged yet arrive one part after the other.
            let known = registers.get(&at.key(*register));
            let same = known.filter(|known| (known.pc, known.group) == (at.pc, group));
            let lanes = at.mask | same.map_or(0, |known| known.lanes);
            registers.insert(at.key(*register), InFlight { lanes, ..in_flight });
        }
    }

    /// Reports a product that no fence orders with earlier accesses to its registers.
    fn check_fence(&mut self, at: TrackedAt, product: &TrackedProduct) {
        let fence = self.products().registers.fence;
        if fence == LastFence::Missing {
            self.products().registers.fence = LastFence::BeforeWait;
            let text = "no `wgmma.fence` precedes the first product of the warp: execute `wgmma.fence` first";
            let lane = at.mask.trailing_zeros();
            self.report(at.pc, Finding::new(FaultKind::MissingWait, lane, text));
            return;
        }
        for register in &product.unordered {
            let Some(pc) = self.products().registers.written.remove(&at.key(*register)) else {
                continue;
            };
            // Compilers move arithmetic over the fence, and the assembler then runs the products one by one.
            if fence == LastFence::AfterWait && self.launch.checks.races != Races::Strict {
                self.launch.accept(FENCE_RULE, at.pc);
                continue;
            }
            let name = self.register_name(at.frame, *register);
            let text = format!(
                "no `wgmma.fence` lies between a write of `{name}` and this product, which uses the register: execute \
                 `wgmma.fence` after the write"
            );
            self.report_with(at, (pc, "write"), at.mask, text);
        }
        for register in &product.d {
            let Some(other) = self.in_flight(at, *register).copied() else { continue };
            let is_ordered = other.is_fenced || other.shape == product.shape;
            if !is_ordered && other.role == ProductRole::D {
                let name = self.register_name(at.frame, *register);
                let text = format!(
                    "no `wgmma.fence` lies between this product and one of another shape with the accumulator `{name}`: \
                     execute `wgmma.fence` between them"
                );
                self.report_with(at, (other.pc, PRODUCT), at.mask, text);
            }
        }
    }

    fn track_copy(&mut self, at: TrackedAt, to: &[RegisterId], from: &[RegisterId]) {
        let written = &self.products().registers.written;
        let written = from.iter().find_map(|register| written.get(&at.key(*register))).copied();
        let mut carried = None;
        for register in from {
            let Some(source) = self.in_flight(at, *register) else { continue };
            if source.role == ProductRole::D {
                source.is_copied = true;
                carried = Some(InFlight { is_copied: false, ..*source });
            }
        }
        for register in to {
            let key = at.key(*register);
            let known = &mut self.products().registers.written;
            match written {
                Some(pc) => known.insert(key, pc),
                None => known.remove(&key),
            };
            match carried {
                Some(carried) => {
                    let others = self.in_flight_of_any(at, *register).map_or(0, |old| old.lanes);
                    let lanes = others & !at.mask | carried.lanes & at.mask;
                    self.products().registers.registers.insert(key, InFlight { lanes, ..carried });
                }
                None => {
                    let old = self.in_flight(at, *register).copied();
                    // A compiler may give the register of A, whose value it needs no more, to another value.
                    if old.is_some_and(|old| old.role == ProductRole::D) {
                        self.check_write(at, *register);
                    }
                    self.forget(at, *register);
                }
            }
        }
    }

    fn in_flight_of_any(&mut self, at: TrackedAt, register: RegisterId) -> Option<&mut InFlight> {
        self.products().registers.registers.get_mut(&at.key(register))
    }

    /// The product that uses a register in one of these lanes.
    fn in_flight(&mut self, at: TrackedAt, register: RegisterId) -> Option<&mut InFlight> {
        self.in_flight_of_any(at, register).filter(|register| register.lanes & at.mask != 0)
    }

    fn forget(&mut self, at: TrackedAt, register: RegisterId) {
        if let Some(register) = self.in_flight_of_any(at, register) {
            register.lanes &= !at.mask;
        }
    }

    fn check_read(&mut self, at: TrackedAt, register: RegisterId) {
        let Some(product) = self.in_flight(at, register).copied() else { return };
        if product.role == ProductRole::D {
            let name = self.register_name(at.frame, register);
            let text = format!("the instruction reads `{name}`, an accumulator of a `wgmma`");
            self.report_in_flight(at, product, &text);
        }
    }

    fn check_write(&mut self, at: TrackedAt, register: RegisterId) {
        let Some(product) = self.in_flight(at, register).copied() else { return };
        let name = self.register_name(at.frame, register);
        let text = match product.role {
            ProductRole::D if product.is_copied => return,
            ProductRole::D => {
                format!("the instruction overwrites `{name}`, an accumulator of a `wgmma`")
            }
            ProductRole::A => {
                format!(
                    "the instruction overwrites `{name}`, which holds elements of A of a `wgmma`"
                )
            }
        };
        self.report_in_flight(at, product, &text);
    }

    fn report_in_flight(&mut self, at: TrackedAt, product: InFlight, text: &str) {
        let committed = self.products().groups;
        let advice = if product.group < committed {
            let pending = committed - product.group - 1;
            format!("execute `wgmma.wait_group {pending}` first")
        } else {
            "commit its group with `wgmma.commit_group` and execute `wgmma.wait_group 0` first"
                .to_owned()
        };
        let details = format!("{text} that no wait has completed: {advice}");
        self.report_with(at, (product.pc, PRODUCT), product.lanes & at.mask, details);
    }

    /// Reports a fault with the other access: its instruction and kind.
    fn report_with(
        &mut self,
        at: TrackedAt,
        (pc, access): (u32, &'static str),
        lanes: u32,
        details: String,
    ) {
        let lane = lanes.trailing_zeros();
        let (place, source_line) = self.launch.program.place(self.launch.module, pc);
        let (block, thread) = (self.block.index, self.thread(lane));
        let other = Some(ConflictingAccess { block, thread, place, source_line, access });
        let finding = Finding::new(FaultKind::MissingWait, lane, details);
        self.report(at.pc, Finding { other, ..finding });
    }

    fn register_name(&self, frame: Frame, register: RegisterId) -> String {
        let function = self.launch.module.functions.get(frame.function.0 as usize);
        let body = function.and_then(|function| function.body.as_ref());
        let register = body.and_then(|body| body.registers.get(register.0 as usize));
        register.map_or_else(|| "a register".to_owned(), |register| register.name.clone())
    }
}

/// An execution of a tracked instruction.
#[derive(Clone, Copy)]
struct TrackedAt {
    pc: u32,
    frame: Frame,
    mask: u32,
}

impl TrackedAt {
    fn key(self, register: RegisterId) -> Key {
        (self.frame.function, self.frame.words, register)
    }
}
