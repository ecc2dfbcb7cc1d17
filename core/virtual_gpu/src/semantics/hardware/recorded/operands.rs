//! Operands, computed from their index.

const SPECIAL_16: &[u64] = &[
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0x7fff, 0xffff, 0x7c01, 0x3c01, 0x3bff, 0x3800, 0x4000, 0x7f80, 0xff80,
    0x7f81, 0x7fc0, 0x7f7f, 0xff7f, 0x0080, 0x007f, 0x3f80, 0xbf80, 0x4248, 0x5bff,
];

const SPECIAL_32: &[u64] = &[
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x7f80_0001,
    0xffc1_2345,
    0x3f80_0001,
    0x3f7f_ffff,
    0x3f00_0000,
    0x4000_0000,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x5f00_0000,
    0x4eff_ffff,
    0x477f_e000,
    0x477f_f000,
    0x3300_0000,
    0x3300_0001,
    0x3880_0000,
    0x43e0_0000,
    0x43e8_0000,
    0x43e8_0001,
    0x4760_0000,
    0x4770_0000,
    0x0000_0002,
    0x0000_001f,
    0x0000_0020,
    0x0000_0021,
    0x0000_00ff,
    0x0000_ffff,
    0x0001_0000,
    0x0000_00ff,
    0x7e96_7699,
    0x00ff_ffff,
    0x0040_0000,
    0x3eff_ffff,
    0x4b00_0001,
    0x4b7f_ffff,
    0x7e80_0000,
    0x7f00_0000,
    0x4049_0fdb,
    0x7f7f_8000,
    0x7f7f_7fff,
];

const SPECIAL_64: &[u64] = &[
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
    0x7ff0_0000_0000_0001,
    0xfff8_1234_5678_9abc,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x4000_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0xc1e0_0000_0000_0000,
    0x41ef_ffff_ffe0_0000,
    0x41f0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x47ef_ffff_efff_ffff,
    0x3810_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x3690_0000_0000_0001,
    0x380f_ffff_e000_0000,
    0x0000_0000_0000_0002,
    0x0000_0000_0000_003f,
    0x0000_0000_0000_0040,
    0x0000_0000_0000_0041,
    0x0000_0000_ffff_ffff,
    0x0000_0001_0000_0000,
    0x001f_ffff_ffff_ffff,
    0x0008_0000_0000_0000,
    0x4330_0000_0000_0001,
    0x7fd0_0000_0000_0000,
];

/// The generator's step; Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// The operand of a case: a special value, random bits, or a number of moderate size.
pub(crate) fn operand(width: u32, case: u64, index: u64) -> u64 {
    let hash = mix(case * 8 + index);
    let value = mix(hash);
    let special = match width {
        64 => SPECIAL_64,
        32 => SPECIAL_32,
        _ => SPECIAL_16,
    };
    let random = value & (u64::MAX >> (64 - width));
    match (hash >> 60, width) {
        (0..6, _) => special[(value % special.len() as u64) as usize],
        (6..10, _) => random,
        (_, 32) => (value & 1) << 31 | (115 + (value >> 1) % 25) << 23 | (value >> 8 & 0x7f_ffff),
        (_, 64) => {
            (value & 1) << 63
                | (1011 + (value >> 1) % 25) << 52
                | (value >> 8 & 0x000f_ffff_ffff_ffff)
        }
        (_, _) => random,
    }
}
