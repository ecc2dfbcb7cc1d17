//! Products of a warpgroup. PTX ISA, section "Asynchronous Warpgroup Level Matrix Instructions".
//!
//! Each of the four warps computes the 16 rows of D that it holds, when it issues the product. The operands in shared
//! memory count as read from then until a wait completes the group of the product; the registers are in flight until
//! then (`in_flight`). A product is one operation of the warpgroup: a wait ends when all warps have issued it, and the
//! first wait completes it for all of them.

use std::sync::Arc;

use super::super::super::isa::matrix::{Matrix, Source, Warpgroup};
use super::super::super::lower::code::{Op, Slot};
use super::super::super::lower::product::{FragmentPlan, Sign, WarpgroupProduct};
use super::super::super::semantics::matrix::Issuer;
use super::super::fault::{FaultKind, Finding};
use super::super::race::IssueClock;
use super::super::run::Worker;
use super::super::swizzle::period;
use super::super::warp::{Frame, LANES};
use super::descriptor::Descriptor;
use super::in_flight::RegistersInFlight;
use super::operand::{Elements, OperandPlan, SharedMatrix};
use super::product::{Kind, Rows, Sums, gather, kind, scatter, undefined, unknown};

/// Warps of a warpgroup.
pub(in super::super) const WARPS_OF_GROUP: usize = 4;
const WARPS: u32 = WARPS_OF_GROUP as u32;
/// Rows of A and D that a warp holds.
const ROWS: u32 = 16;
/// Columns of a tile.
const COLUMNS: u32 = 8;

/// The products of one warp that no wait has completed.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct PendingProducts {
    /// The number of committed groups.
    pub(super) groups: u64,
    /// The number of products that the warp has issued.
    issued: u64,
    operands: Vec<PendingOperand>,
    pub(super) registers: RegistersInFlight,
}

/// A matrix in shared memory that a pending product reads.
#[derive(Clone, Debug)]
struct PendingOperand {
    group: u64,
    pc: u32,
    plan: Arc<OperandPlan>,
    issue: IssueClock,
}

/// The products that the warps of a warpgroup have issued: all of them issue the same ones.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct IssuedProducts {
    /// For each warp, the number of products.
    counts: [u64; WARPS_OF_GROUP],
    /// Products that not all warps have issued yet; the first one has this index.
    first: u64,
    products: std::collections::VecDeque<IssuedProduct>,
    /// The number of groups that a wait of any warp has completed.
    complete: u64,
    /// Everything that happens before the last completion.
    completion: Option<IssueClock>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IssuedProduct {
    pc: u32,
    descriptors: [u64; 2],
}

impl IssuedProducts {
    /// The first product that not all warps have issued, and a warp that has not.
    pub(in super::super) fn unfinished(&self) -> Option<(u32, usize)> {
        let product = self.products.front()?;
        let warp = self.counts.iter().position(|count| *count <= self.first)?;
        Some((product.pc, warp))
    }
}

impl Worker<'_, '_> {
    /// Reports a product that may read shared memory when the last thread of the warp exits.
    pub(in super::super) fn end_products(&mut self) {
        let pending = self.block.products.get_mut(self.warp.index as usize);
        let Some(operand) = pending.and_then(|of_warp| std::mem::take(&mut of_warp.operands).pop())
        else {
            return;
        };
        let text = "the warp exits while a product may read shared memory; commit its group and wait for it with \
                    `wgmma.wait_group`";
        self.report(operand.pc, Finding::new(FaultKind::MissingWait, 0, text));
    }

    /// The products of the warp that no wait has completed.
    pub(super) fn products(&mut self) -> &mut PendingProducts {
        let (all, index) = (&mut self.block.products, self.warp.index as usize);
        if all.len() <= index {
            all.resize_with(index + 1, PendingProducts::default);
        }
        &mut all[index]
    }

    pub(super) fn warpgroup(
        &mut self,
        pc: u32,
        op: &Op,
        operation: Warpgroup,
        (frame, mask): (Frame, u32),
    ) {
        match operation {
            Warpgroup::Multiply(_) => self.warpgroup_multiply(pc, op, frame, mask),
            Warpgroup::Fence => self.products().registers.fence(),
            Warpgroup::CommitGroup => {
                let group = self.products().groups;
                self.commit_in_phase(group);
                self.products().groups += 1;
            }
            Warpgroup::WaitGroup => self.wait_for_products(op.immediate as u64),
        }
    }

    fn warpgroup_multiply(&mut self, pc: u32, op: &Op, frame: Frame, mask: u32) {
        let program = self.launch.program;
        let Some(product) = program.warpgroup_products.get(op.immediate as usize) else { return };
        let tile = &product.tile;
        let tiles = usize::from(product.multiply.columns) / COLUMNS as usize;
        let slots = &program.lists[op.list.0 as usize..][..usize::from(op.list.1)];
        let (sums, registers_of_a) = slots.split_at(tiles * tile.d.registers);
        let Some(matrices) = self.issue(pc, op, product, (frame, mask)) else { return };
        let length = product.multiply.length_of_a();
        let multiply_adds = ROWS * u32::from(product.multiply.columns) * length;
        self.count_multiply_adds(pc, product.multiply.a, u64::from(multiply_adds));
        let Some(architecture) = self.launch.tensor_cores else { return };
        let operands = self.operands(pc, product, (registers_of_a, matrices), (frame, mask));
        let Some([a, b]) = operands else { return };
        let Some(keeps) = self.keeps_sums(pc, op.f, frame, mask) else { return };
        let Kind::Words(kind) = kind(&tile.multiply) else { return };
        let model = (architecture, Issuer::Warpgroup);
        let selected = self.selected(pc, op, tile, (frame, mask));
        let rows = Rows::new(tile, kind, model, &a.values, selected.as_deref());
        let length = tile.b.elements;
        let mut lanes = self.lanes(frame, mask);
        for (index, slots) in sums.chunks_exact(tile.d.registers).enumerate() {
            let columns = index * length..(index + 1) * length;
            let (mut words, missing) = if keeps {
                (gather(&lanes, slots, &tile.c), unknown(&lanes, slots, &tile.c, mask))
            } else {
                (vec![0; tile.c.elements], None)
            };
            rows.multiply(&b.values[columns.clone()], &mut words);
            let missing = [
                a.unknown.clone(),
                b.unknown.as_ref().map(|unknown| unknown[columns].to_vec()),
                missing,
            ];
            let undefined = undefined(tile, &missing);
            scatter(&mut lanes, slots, &tile.d, &Sums::Words(words), &undefined);
        }
    }

    /// Issues a product; returns A and B as far as they lie in shared memory, or none if a fault was reported.
    fn issue(
        &mut self,
        pc: u32,
        op: &Op,
        product: &WarpgroupProduct,
        (frame, mask): (Frame, u32),
    ) -> Option<[Option<SharedMatrix>; 2]> {
        let tile = &product.tile;
        let (mut descriptors, mut matrices) = ([0; 2], [None; 2]);
        let first = self.warp.index % WARPS * ROWS;
        let parts = [
            (op.a, &product.a, first, ROWS),
            (op.b, &product.b, 0, u32::from(product.multiply.columns)),
        ];
        for (which, (slot, multiplier, first, count)) in parts.into_iter().enumerate() {
            if which == 0 && product.multiply.source == Source::Registers {
                continue;
            }
            let (bits, descriptor) = self.descriptor(pc, slot, frame, mask)?;
            let (major, bits_of_element) = (multiplier.major, tile.b.bits);
            descriptors[which] = bits;
            let length = [tile.a.elements as u32 / ROWS, tile.b.elements as u32 / COLUMNS][which];
            let bits = bits_of_element;
            matrices[which] = Some(SharedMatrix { descriptor, major, first, count, length, bits });
        }
        self.issue_with_warpgroup(pc, descriptors);
        Some(matrices)
    }

    /// A and B; none if a fault was reported.
    fn operands(
        &mut self,
        pc: u32,
        product: &WarpgroupProduct,
        (registers_of_a, matrices): (&[Slot], [Option<SharedMatrix>; 2]),
        (frame, mask): (Frame, u32),
    ) -> Option<[Elements; 2]> {
        let tile = &product.tile;
        let operand = |worker: &mut Self, which: usize, plan: &FragmentPlan, sign: Sign| {
            let elements = match matrices[which] {
                Some(matrix) => worker.shared_elements(pc, matrix)?,
                None => {
                    let lanes = worker.lanes(frame, mask);
                    let values = gather(&lanes, registers_of_a, plan);
                    Elements { values, unknown: unknown(&lanes, registers_of_a, plan, mask) }
                }
            };
            Some(elements.with_sign(sign, plan.bits))
        };
        let a = operand(self, 0, &tile.a, product.a.sign)?;
        let b = operand(self, 1, &tile.b, product.b.sign)?;
        let group = self.products().groups;
        if let Some(issue) = self.race_issue() {
            if !product.multiply.is_sparse {
                self.check_operand_origins(pc, matrices);
            }
            let pending = matrices.into_iter().flatten();
            for matrix in pending {
                let (plan, issue) = (self.operand_plan(matrix), issue.clone());
                self.products().operands.push(PendingOperand { group, pc, plan, issue });
            }
        }
        Some([a, b])
    }

    /// A descriptor, which all lanes share; none if a fault was reported.
    fn descriptor(
        &mut self,
        pc: u32,
        slot: Slot,
        frame: Frame,
        mask: u32,
    ) -> Option<(u64, Descriptor)> {
        let lanes = self.lanes(frame, mask);
        let (values, undefined) = (lanes.double(slot), lanes.double_undefined(slot) & mask);
        if undefined != 0 {
            self.report_undefined(pc, undefined, "a matrix descriptor");
            return None;
        }
        let bits = values[mask.trailing_zeros() as usize % LANES];
        let others = super::super::lanes::bits(|lane| values[lane] != bits) & mask;
        if others != 0 {
            let text = "the lanes of a warp have different matrix descriptors";
            self.report(pc, Finding::new(FaultKind::WarpSync, others.trailing_zeros(), text));
            return None;
        }
        let descriptor = Descriptor::from_bits(bits);
        if !descriptor.is_aligned() {
            let Descriptor { start, base_offset, swizzle, .. } = descriptor;
            let text = format!(
                "the matrix begins at shared memory address {start:#x}: with base offset {base_offset}, its \
                 swizzle pattern must begin at a multiple of {} bytes",
                period(swizzle)
            );
            self.report(pc, Finding::new(FaultKind::Misaligned, mask.trailing_zeros(), text));
            return None;
        }
        Some((bits, descriptor))
    }

    /// `scale-d`: whether the product is added to D. None if a fault was reported.
    fn keeps_sums(&mut self, pc: u32, slot: Slot, frame: Frame, mask: u32) -> Option<bool> {
        let lanes = self.lanes(frame, mask);
        let (keeps, undefined) = (lanes.predicate(slot), lanes.predicate_undefined(slot) & mask);
        if undefined != 0 {
            self.report_undefined(pc, undefined, "the scale of the accumulator");
            return None;
        }
        match keeps & mask {
            0 => Some(false),
            all if all == mask => Some(true),
            some => {
                let text = "the lanes of a warp have different scales of the accumulator";
                let lane = (mask & !some).trailing_zeros();
                self.report(pc, Finding::new(FaultKind::WarpSync, lane, text));
                None
            }
        }
    }

    /// Checks that the other warps of the warpgroup issue the same product.
    fn issue_with_warpgroup(&mut self, pc: u32, descriptors: [u64; 2]) {
        let number = self.products().issued;
        self.products().issued += 1;
        let (group, warp) = (self.warp.index / WARPS, self.warp.index % WARPS);
        let groups = &mut self.block.warpgroups;
        if groups.len() <= group as usize {
            groups.resize_with(group as usize + 1, IssuedProducts::default);
        }
        let issued = &mut groups[group as usize];
        issued.counts[warp as usize] += 1;
        let product = IssuedProduct { pc, descriptors };
        let index = (number - issued.first) as usize;
        let other = issued.products.get(index).copied();
        if other.is_none() {
            issued.products.push_back(product);
        }
        let complete = issued.counts.iter().copied().min().unwrap_or(0);
        while issued.first < complete {
            issued.products.pop_front();
            issued.first += 1;
        }
        if let Some(other) = other.filter(|other| *other != product) {
            let text = if other.pc == pc {
                "the warps of a warpgroup issue this product with different matrix descriptors"
            } else {
                "the warps of a warpgroup issue different products"
            };
            self.report(pc, Finding::new(FaultKind::WarpSync, 0, text));
        }
    }

    /// Whether the instruction waits for products that another warp of the warpgroup has not committed yet, and may
    /// still commit.
    pub(in super::super) fn must_await_warpgroup(&mut self, matrix: Matrix, op: &Op) -> bool {
        if matrix != Matrix::Warpgroup(Warpgroup::WaitGroup) {
            return false;
        }
        let complete = self.complete_groups(op.immediate as u64);
        let warps = self.block.threads.div_ceil(LANES as u32);
        self.warps_of_group().any(|warp| {
            let groups = self.block.products.get(warp as usize).map_or(0, |of| of.groups);
            groups < complete && warp < warps && self.block.exited_warps >> warp & 1 == 0
        })
    }

    /// The groups of this warp that a wait completes which leaves so many pending.
    fn complete_groups(&mut self, pending: u64) -> u64 {
        self.products().groups.saturating_sub(pending)
    }

    /// The warps of this warp's warpgroup.
    fn warps_of_group(&self) -> std::ops::Range<u32> {
        let first = self.warp.index / WARPS * WARPS;
        first..first + WARPS
    }

    /// Completes all but the last groups: until now their operands count as read.
    fn wait_for_products(&mut self, pending: u64) {
        let complete = self.complete_groups(pending);
        self.products().registers.complete(complete);
        self.learn_commits(complete);
        let group = (self.warp.index / WARPS) as usize;
        // A warp that has issued nothing waits for nothing.
        let Some(issued) = self.block.warpgroups.get(group) else { return };
        if complete > issued.complete {
            self.complete_products(complete);
            let completion = self.race_issue();
            let issued = &mut self.block.warpgroups[group];
            issued.complete = complete;
            issued.completion = completion;
        }
        // The reads are those of the operation: each lane knows that all of them are complete.
        if let Some(completion) = self.block.warpgroups[group].completion.clone() {
            self.race_learn(&completion);
        }
    }

    /// The first wait for products completes them in all warps of the warpgroup.
    fn complete_products(&mut self, complete: u64) {
        let mut due = Vec::new();
        for warp in self.warps_of_group() {
            let Some(of_warp) = self.block.products.get_mut(warp as usize) else { continue };
            due.extend(of_warp.operands.extract_if(.., |operand| operand.group < complete));
        }
        for operand in &due {
            self.race_learn(&operand.issue);
        }
        for PendingOperand { pc, plan, issue, .. } in due {
            self.race_completion(0, pc, &plan.ranges, &issue);
        }
    }

    /// Checks that an asynchronous write to shared memory does not overwrite operands of pending products.
    pub(in super::super) fn check_pending_operands(
        &mut self,
        pc: u32,
        lane: u32,
        (offset, bytes): (usize, usize),
    ) {
        let is_overwritten =
            |operand: &&PendingOperand| operand.plan.overlaps(&(offset..offset + bytes));
        let pending = self.block.products.iter().flat_map(|of_warp| &of_warp.operands);
        let Some(pc_of_product) = pending.into_iter().find(is_overwritten).map(|of| of.pc) else {
            return;
        };
        let (place, _) = self.launch.program.place(self.launch.module, pc_of_product);
        let text = format!(
            "an asynchronous copy overwrites shared memory that the pending product at PTX {place} reads: execute \
             `wgmma.wait_group` before the copy"
        );
        self.report(pc, Finding::new(FaultKind::DataRace, lane, text));
    }
}
