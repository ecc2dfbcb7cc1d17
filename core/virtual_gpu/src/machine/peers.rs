//! Shared memory of other blocks of the cluster.
//!
//! An address of the window `shared::cluster` names a variable, an offset and the block: bits 27 to 31 are zero for the
//! block of the thread, and otherwise the rank of the block plus one. The generic address is the start of the window
//! of shared memory plus these 32 bits. Addresses of a launch whose clusters have one block name no block.
//!
//! While a block has its turn, the other blocks of its cluster belong to the launch ([`Peers`]). An access to the memory
//! of another block is executed and checked as an access of the own block, after the two have exchanged their memory:
//! bounds, initialisation, pending copies, barrier objects and recorded accesses are those of the owner, the
//! happens-before order is that of the thread.

use super::super::isa::cluster::AddressKind;
use super::super::isa::memory::Space;
use super::super::isa::moves::AddressType;
use super::super::lower::code::Op;
use super::access::Part;
use super::fault::{FaultKind, Finding};
use super::grid::Block;
use super::lanes::Doubles;
use super::memory::{SHARED_WINDOW, WINDOW_BYTES};
use super::run::{BlockState, Worker};
use super::warp::{Frame, LANES};

/// The lowest bit of an address that names the block.
const RANK_SHIFT: u32 = 27;
const RANK_MASK: u64 = 0x1f << RANK_SHIFT;

/// The bits of an address of shared memory that name the variable and the offset.
pub(super) const VARIABLE_BITS: u32 = RANK_SHIFT;

/// The other blocks of the cluster of the block that has its turn.
#[derive(Default)]
pub(super) struct Peers {
    /// The rank of the block that has its turn.
    rank: u32,
    /// By rank, without that block.
    pub(super) blocks: Vec<Block>,
    /// The index in the grid, and the linear index, of the block whose memory the present access uses, if it is not the
    /// block of the thread.
    owner: Option<([u32; 3], u64)>,
}

impl Peers {
    pub(super) const fn new(rank: u32, blocks: Vec<Block>) -> Self {
        Self { rank, blocks, owner: None }
    }

    /// The rank of the block that has its turn.
    pub(super) const fn own_rank(&self) -> u32 {
        self.rank
    }

    /// The number of blocks of the cluster.
    pub(super) fn ranks(&self) -> u32 {
        self.blocks.len() as u32 + 1
    }

    fn peer(&mut self, rank: u32) -> Option<&mut Block> {
        let index = if rank < self.rank { rank } else { rank.checked_sub(1)? };
        if rank == self.rank { None } else { self.blocks.get_mut(index as usize) }
    }

    /// The addition to a message about an access to the memory of another block.
    pub(super) fn owner_text(&self) -> String {
        match self.owner {
            Some(([x, y, z], _)) => format!(" of block ({x}, {y}, {z})"),
            None => String::new(),
        }
    }

    /// The index in the grid of the block whose memory the present access uses; none if it is the own block.
    pub(super) fn owner(&self) -> Option<[u32; 3]> {
        self.owner.map(|(index, _)| index)
    }

    /// The linear index of that block.
    pub(super) fn owner_block(&self) -> Option<u32> {
        self.owner.map(|(_, linear)| linear as u32)
    }
}

/// Lanes whose addresses lie in the shared memory of other blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemoteLanes {
    pub(super) mask: u32,
    ranks: [u8; LANES],
}

impl RemoteLanes {
    const NONE: Self = Self { mask: 0, ranks: [0; LANES] };

    /// The rank of the block that a lane accesses; none if it is the own block, or no shared memory.
    pub(super) fn rank(&self, lane: usize) -> Option<u32> {
        (self.mask >> lane & 1 == 1).then_some(u32::from(self.ranks[lane]))
    }

    /// Each rank with its lanes.
    pub(super) fn by_rank(&self) -> Vec<(u32, u32)> {
        let mut groups: Vec<(u32, u32)> = Vec::new();
        if self.mask == 0 {
            return groups;
        }
        for lane in 0..LANES {
            let Some(rank) = self.rank(lane) else { continue };
            match groups.iter_mut().find(|(known, _)| *known == rank) {
                Some((_, lanes)) => *lanes |= 1 << lane,
                None => groups.push((rank, 1 << lane)),
            }
        }
        groups
    }
}

impl BlockState {
    /// Exchanges what belongs to the shared memory of two blocks.
    fn exchange_memory(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.shared, &mut other.shared);
        std::mem::swap(&mut self.copies, &mut other.copies);
        // Pending products read the memory.
        std::mem::swap(&mut self.products, &mut other.products);
        std::mem::swap(&mut self.mbarriers, &mut other.mbarriers);
        std::mem::swap(&mut self.unpublished_mbarriers, &mut other.unpublished_mbarriers);
        if let (Some(own), Some(other)) = (&mut self.races, &mut other.races) {
            own.exchange_memory(other);
        }
    }
}

impl Worker<'_, '_> {
    /// Whether addresses of shared memory may name a block.
    pub(super) fn has_peers(&self) -> bool {
        self.launch.clusters.blocks() > 1
    }

    /// The rank of the block that an address of the window of shared memory names; none if it names none.
    fn named_rank(&self, address: u64) -> Option<u32> {
        let named = if self.has_peers() { (address & RANK_MASK) >> RANK_SHIFT } else { 0 };
        (named as u32).checked_sub(1).filter(|rank| *rank < self.launch.peers.ranks())
    }

    /// Finds the lanes that access shared memory of other blocks, and removes the block from their addresses, which
    /// become addresses of shared memory of that block. Addresses that name the own block become addresses without a
    /// block.
    pub(super) fn take_remote(
        &self,
        space: Space,
        addresses: &mut Doubles,
        mask: u32,
    ) -> RemoteLanes {
        if !self.has_peers() || !matches!(space, Space::Generic | Space::SharedCluster) {
            return RemoteLanes::NONE;
        }
        let mut remote = RemoteLanes::NONE;
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let start = if space == Space::Generic { SHARED_WINDOW } else { 0 };
            let offset = addresses[lane].wrapping_sub(start);
            if offset >= WINDOW_BYTES {
                continue;
            }
            let Some(rank) = self.named_rank(offset) else { continue };
            if rank == self.launch.peers.rank {
                addresses[lane] = start + (offset & !RANK_MASK);
            } else {
                addresses[lane] = offset & !RANK_MASK;
                remote.mask |= 1 << lane;
                remote.ranks[lane] = rank as u8;
            }
        }
        remote
    }

    /// Executes an access of these lanes in the shared memory of another block.
    pub(super) fn in_peer<T>(
        &mut self,
        rank: u32,
        part: &Part<'_>,
        access: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if !self.may_access_peer(rank, part) {
            return None;
        }
        self.exchange_memory(rank)?;
        self.race_visit(part);
        let result = access(self);
        self.exchange_memory(rank)?;
        self.launch.peers.owner = None;
        Some(result)
    }

    /// Acts with the happens-before order of another block, for an operation that one of its threads has issued.
    pub(super) fn as_block(&mut self, rank: u32, act: impl FnOnce(&mut Self)) {
        self.exchange_threads(rank);
        act(self);
        self.exchange_threads(rank);
    }

    fn exchange_threads(&mut self, rank: u32) {
        let Some(peer) = self.launch.peers.peer(rank) else { return };
        std::mem::swap(&mut self.block.index, &mut peer.state.index);
        if let (Some(own), Some(other)) = (&mut self.block.races, &mut peer.state.races) {
            own.exchange_order(other);
        }
    }

    fn exchange_memory(&mut self, rank: u32) -> Option<()> {
        let peer = self.launch.peers.peer(rank)?;
        self.block.exchange_memory(&mut peer.state);
        let owner = (peer.state.index, peer.state.linear);
        self.launch.peers.owner = Some(owner);
        Some(())
    }

    /// Reports an access to a block that has exited.
    fn may_access_peer(&mut self, rank: u32, part: &Part<'_>) -> bool {
        let Some(peer) = self.launch.peers.peer(rank) else { return false };
        if peer.state.exited < peer.state.threads {
            return true;
        }
        let [x, y, z] = peer.state.index;
        let lane = part.mask.trailing_zeros().min(31);
        let address = Some(part.addresses[lane as usize]);
        let (buffer, _) = self.launch.shared.describe(part.addresses[lane as usize], part.bytes());
        let details = format!(
            "{} bytes of shared memory of block ({x}, {y}, {z}), whose threads have exited: the memory may belong to \
             another block; let the block wait at a cluster barrier before it exits",
            part.bytes()
        );
        let finding =
            Finding { address, buffer, ..Finding::new(FaultKind::OutOfBounds, lane, details) };
        self.report(part.pc, finding);
        false
    }

    /// `mapa`: the address of the same variable in the block with a given rank.
    pub(super) fn map_shared(
        &mut self,
        op: &Op,
        (kind, ty): (AddressKind, AddressType),
        pc: u32,
        (frame, mask): (Frame, u32),
    ) {
        let (mut addresses, undefined) = self.address_operand(op, ty, frame, mask);
        let lanes = self.lanes(frame, mask);
        let (ranks, no_rank) = (lanes.word(op.b), lanes.word_undefined(op.b) & mask);
        let count = self.launch.peers.ranks();
        for lane in (0..LANES).filter(|lane| mask & !undefined & !no_rank & 1 << lane != 0) {
            let start = window_start(kind);
            let offset = addresses[lane].wrapping_sub(start);
            let text = if ranks[lane] >= count {
                format!("`mapa` for rank {} in a cluster of {count} blocks", ranks[lane])
            } else if offset >= WINDOW_BYTES {
                format!(
                    "`mapa` of {:#x}, which is no generic address of shared memory",
                    addresses[lane]
                )
            } else {
                if self.has_peers() {
                    let named = u64::from(ranks[lane] + 1) << RANK_SHIFT;
                    addresses[lane] = start + (offset & !RANK_MASK | named);
                }
                continue;
            };
            self.report(pc, Finding::new(FaultKind::OutOfBounds, lane as u32, text));
        }
        let undefined = undefined | no_rank;
        let mut lanes = self.lanes(frame, mask);
        match ty {
            AddressType::U32 => {
                lanes.set_word(op.d, &addresses.map(|address| address as u32), undefined);
            }
            AddressType::U64 => lanes.set_double(op.d, &addresses, undefined),
        }
    }

    /// `getctarank`: the rank of the block whose shared memory contains an address.
    pub(super) fn rank_of_address(
        &mut self,
        op: &Op,
        (kind, ty): (AddressKind, AddressType),
        (frame, mask): (Frame, u32),
    ) {
        let (addresses, undefined) = self.address_operand(op, ty, frame, mask);
        let own = self.launch.peers.rank;
        let rank = |address: u64| {
            let offset = address.wrapping_sub(window_start(kind));
            self.named_rank(offset).filter(|_| offset < WINDOW_BYTES).unwrap_or(own)
        };
        let ranks = addresses.map(rank);
        self.lanes(frame, mask).set_word(op.d, &ranks, undefined);
    }

    fn address_operand(
        &mut self,
        op: &Op,
        ty: AddressType,
        frame: Frame,
        mask: u32,
    ) -> (Doubles, u32) {
        let lanes = self.lanes(frame, mask);
        let (addresses, undefined) = match ty {
            AddressType::U32 => (lanes.word(op.a).map(u64::from), lanes.word_undefined(op.a)),
            AddressType::U64 => (lanes.double(op.a), lanes.double_undefined(op.a)),
        };
        (addresses, undefined & mask)
    }

    /// Whether a generic address lies in the shared memory of the block (`shared::cta`), or of any block of the
    /// cluster (`shared::cluster`).
    pub(super) fn is_shared(&self, space: Space, address: u64) -> bool {
        let offset = address.wrapping_sub(SHARED_WINDOW);
        let is_own = self.named_rank(offset).is_none_or(|rank| rank == self.launch.peers.rank);
        offset < WINDOW_BYTES && (space == Space::SharedCluster || is_own)
    }
}

const fn window_start(kind: AddressKind) -> u64 {
    match kind {
        AddressKind::Generic => SHARED_WINDOW,
        AddressKind::Shared => 0,
    }
}
