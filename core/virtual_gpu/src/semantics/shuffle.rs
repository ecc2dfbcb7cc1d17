//! Warp-level operations as functions of 32 values and a mask. PTX ISA 9.7.9.6 "shfl.sync", 9.7.13.9 "vote.sync",
//! 9.7.13.10 "match.sync" and 9.7.13.12 "redux.sync".

use super::float::{CANONICAL_NAN_F32, Choice, extreme_f32};
use super::{NanRule, SignRule, Subnormals};

#[cfg(test)]
mod tests;

/// The number of lanes of a warp.
pub const LANES: usize = 32;

/// The source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// A lower lane (`.up`).
    Up,
    /// A higher lane (`.down`).
    Down,
    /// The lane whose index differs in some bits (`.bfly`).
    Butterfly,
    /// A lane by its index within the segment (`.idx`).
    Index,
}

/// The source of a lane, and whether it is in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The source lane; the lane itself if out of range.
    pub lane: u8,
    /// The optional predicate result.
    pub in_range: bool,
}

/// The source of one lane; `b` is the offset or lane, `c` the clamp (bits 0 to 4) and segment mask (8 to 12).
/// PTX ISA 9.7.9.6 "shfl.sync".
#[inline]
#[must_use]
pub fn shuffle_source(lane: u32, b: u32, c: u32, shuffle: Shuffle) -> Source {
    let lane = lane & 31;
    let (amount, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let lowest = lane & segment;
    let last = lowest | (clamp & !segment);
    let (source, in_range) = match shuffle {
        Shuffle::Up => {
            let source = lane as i32 - amount as i32;
            (source as u32, source >= last as i32)
        }
        Shuffle::Down => (lane + amount, lane + amount <= last),
        Shuffle::Butterfly => (lane ^ amount, lane ^ amount <= last),
        Shuffle::Index => {
            let source = lowest | (amount & !segment);
            (source, source <= last)
        }
    };
    Source { lane: if in_range { source } else { lane } as u8, in_range }
}

/// The members of a mask whose predicate is true (`vote.sync.ballot.b32`). PTX ISA 9.7.13.9 "vote.sync".
#[inline]
#[must_use]
pub fn ballot(predicates: u32, members: u32) -> u32 {
    predicates & members
}

/// Whether the predicate is true for all members.
#[inline]
#[must_use]
pub fn vote_all(predicates: u32, members: u32) -> bool {
    predicates & members == members
}

/// Whether the predicate is true for a member.
#[inline]
#[must_use]
pub fn vote_any(predicates: u32, members: u32) -> bool {
    predicates & members != 0
}

/// Whether the predicate is the same for all members.
#[inline]
#[must_use]
pub fn vote_uniform(predicates: u32, members: u32) -> bool {
    vote_all(predicates, members) || !vote_any(predicates, members)
}

/// For each member, the members with the same value; zero for others. PTX ISA 9.7.13.10 "match.any.sync".
#[must_use]
pub fn match_any<T: PartialEq + Copy>(values: &[T; LANES], members: u32) -> [u32; LANES] {
    std::array::from_fn(|lane| {
        if members >> lane & 1 == 1 { equal_to(values, values[lane], members) } else { 0 }
    })
}

/// The members if all have the same value, else zero; the predicate result is whether it is not zero. PTX ISA
/// 9.7.13.10 "match.all.sync".
#[must_use]
pub fn match_all<T: PartialEq + Copy>(values: &[T; LANES], members: u32) -> u32 {
    let Some(first) = values.get(members.trailing_zeros() as usize) else { return 0 };
    if equal_to(values, *first, members) == members { members } else { 0 }
}

fn equal_to<T: PartialEq + Copy>(values: &[T; LANES], value: T, members: u32) -> u32 {
    let equal = values
        .iter()
        .enumerate()
        .fold(0, |mask, (lane, other)| mask | u32::from(*other == value) << lane);
    equal & members
}

/// The reduction of the words of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum, wrapped (`.add`).
    Add,
    /// `.min.u32`
    MinimumUnsigned,
    /// `.max.u32`
    MaximumUnsigned,
    /// `.min.s32`
    MinimumSigned,
    /// `.max.s32`
    MaximumSigned,
    /// `.and.b32`
    And,
    /// `.or.b32`
    Or,
    /// `.xor.b32`
    Xor,
}

/// The reduction of the members' words. PTX ISA 9.7.13.12 "redux.sync".
#[must_use]
pub fn reduce(values: &[u32; LANES], members: u32, reduction: Reduction) -> u32 {
    let join = |a: u32, b: u32| match reduction {
        Reduction::Add => a.wrapping_add(b),
        Reduction::MinimumUnsigned => a.min(b),
        Reduction::MaximumUnsigned => a.max(b),
        Reduction::MinimumSigned => (a as i32).min(b as i32) as u32,
        Reduction::MaximumSigned => (a as i32).max(b as i32) as u32,
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor => a ^ b,
    };
    of_members(values, members).reduce(join).unwrap_or(0)
}

/// The reduction of the members' f32; NaN is ignored without `.NaN`, unless all are NaN. PTX ISA 9.7.13.12
/// "redux.sync".
#[must_use]
pub fn reduce_f32(values: &[u32; LANES], members: u32, choice: Choice) -> u32 {
    let magnitude = |bits: u32| match choice.sign {
        SignRule::Absolute => bits & 0x7fff_ffff,
        SignRule::Winner | SignRule::Product => bits,
    };
    let plain = Choice { sign: SignRule::Winner, ..choice };
    let start = match choice.nan {
        // NaN is the neutral element if numbers are preferred.
        NanRule::Number => Some(CANONICAL_NAN_F32),
        NanRule::Propagate => None,
    };
    start
        .into_iter()
        .chain(of_members(values, members).map(magnitude))
        .reduce(|a, b| extreme_f32(a, b, plain, Subnormals::Keep))
        .unwrap_or(CANONICAL_NAN_F32)
}

fn of_members(values: &[u32; LANES], members: u32) -> impl Iterator<Item = u32> {
    values
        .iter()
        .enumerate()
        .filter(move |(lane, _)| members >> lane & 1 == 1)
        .map(|(_, value)| *value)
}
