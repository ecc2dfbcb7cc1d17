//! Lanes and masks.

use proptest::prelude::*;

use super::super::Extreme;
use super::*;

/// What `__shfl_*_sync` passes for a width: the segment mask above the clamp.
fn control(width: u32, clamp: u32) -> u32 {
    (32 - width) << 8 | clamp
}

#[test]
fn shuffles_stay_inside_their_segment() {
    for width in [1, 2, 4, 8, 16, 32] {
        for lane in 0..32 {
            for amount in 0..32 {
                let first = lane / width * width;
                let check = |shuffle, clamp, wanted: i64| {
                    let source = shuffle_source(lane, amount, control(width, clamp), shuffle);
                    let inside = (i64::from(first)..i64::from(first + width)).contains(&wanted);
                    let expected = if inside { wanted as u8 } else { lane as u8 };
                    assert_eq!(source, Source { lane: expected, in_range: inside });
                };
                let (at, by) = (i64::from(lane), i64::from(amount));
                check(Shuffle::Up, 0, at - by);
                check(Shuffle::Down, 31, at + by);
                check(Shuffle::Index, 31, i64::from(first + amount % width));
            }
        }
    }
}

#[test]
fn butterflies_may_reach_lower_segments() {
    // "pval = (j <= maxLane)": a lower segment is in range.
    let source = shuffle_source(20, 16, control(16, 31), Shuffle::Butterfly);
    assert_eq!(source, Source { lane: 4, in_range: true });
    let source = shuffle_source(4, 16, control(16, 31), Shuffle::Butterfly);
    assert_eq!(source, Source { lane: 4, in_range: false });
}

proptest! {
    #[test]
    fn matches_are_mutual(values: [u8; 32], members: u32) {
        let values = values.map(|value| value % 4);
        let matched = match_any(&values, members);
        for lane in 0..32 {
            for other in 0..32 {
                let both = members >> lane & 1 == 1 && members >> other & 1 == 1;
                let expected = both && values[lane] == values[other];
                prop_assert_eq!(matched[lane] >> other & 1 == 1, expected);
            }
        }
        let same = matched.iter().filter(|mask| **mask != 0).all(|mask| *mask == members);
        prop_assert_eq!(match_all(&values, members) == members, same);
    }

    #[test]
    fn votes_and_ballots_agree(predicates: u32, members: u32) {
        let votes = ballot(predicates, members);
        prop_assert_eq!(vote_all(predicates, members), votes == members);
        prop_assert_eq!(vote_any(predicates, members), votes != 0);
        prop_assert_eq!(vote_uniform(predicates, members), votes == members || votes == 0);
    }

    #[test]
    fn reductions_take_members_only(values: [u32; 32], members in 1_u32..) {
        let chosen = |lane: &usize| members >> lane & 1 == 1;
        let of = || (0..32).filter(chosen).map(|lane| values[lane]);
        let check = |reduction| reduce(&values, members, reduction);
        prop_assert_eq!(check(Reduction::Add), of().fold(0, u32::wrapping_add));
        prop_assert_eq!(check(Reduction::Xor), of().fold(0, |a, b| a ^ b));
        prop_assert_eq!(Some(check(Reduction::MaximumUnsigned)), of().max());
        prop_assert_eq!(Some(check(Reduction::MinimumSigned) as i32), of().map(|v| v as i32).min());
    }
}

#[test]
fn nan_is_ignored_or_wins() {
    let mut values = [1_f32.to_bits(); 32];
    values[3] = 0x7fc0_0000;
    values[4] = (-2_f32).to_bits();
    let choice = |nan, sign| Choice { extreme: Extreme::Minimum, nan, sign };
    let all = u32::MAX;
    let number = choice(NanRule::Number, SignRule::Winner);
    assert_eq!(reduce_f32(&values, all, number), (-2_f32).to_bits());
    let absolute = choice(NanRule::Number, SignRule::Absolute);
    assert_eq!(reduce_f32(&values, all, absolute), 1_f32.to_bits());
    let nan = choice(NanRule::Propagate, SignRule::Winner);
    assert_eq!(reduce_f32(&values, all, nan), CANONICAL_NAN_F32);
    assert_eq!(reduce_f32(&values, 1 << 3, number), CANONICAL_NAN_F32);
}
