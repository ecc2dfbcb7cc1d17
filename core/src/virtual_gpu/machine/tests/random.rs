//! Random straight-line programs compute what a scalar reference computes.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::harness::module;
use crate::virtual_gpu::machine::{Access, Argument, DeviceShape, Initial, LaunchConfig, Machine};

/// One instruction: which, and three registers of eight.
type Step = (u8, usize, usize, usize);

const OPCODES: &[&str] = &[
    "add.s32",
    "sub.s32",
    "mul.lo.s32",
    "and.b32",
    "or.b32",
    "xor.b32",
    "min.s32",
    "max.u32",
    "mul.hi.u32",
    "shl.b32",
    "shr.s32",
    "shr.u32",
];

fn reference(opcode: usize, a: u32, b: u32) -> u32 {
    match opcode {
        0 => a.wrapping_add(b),
        1 => a.wrapping_sub(b),
        2 => a.wrapping_mul(b),
        3 => a & b,
        4 => a | b,
        5 => a ^ b,
        6 => (a as i32).min(b as i32) as u32,
        7 => a.max(b),
        8 => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        9 => a.checked_shl(b).unwrap_or(0),
        10 => ((a as i32) >> b.min(31)) as u32,
        _ => a.checked_shr(b).unwrap_or(0),
    }
}

fn program(steps: &[Step]) -> String {
    let mut text = String::from(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y) {\n\
         .reg .b32 %r<10>; .reg .b64 %d<4>; .reg .pred %p;\n\
         ld.param.u64 %d1, [y]; mov.u32 %r8, %tid.x; mul.wide.u32 %d2, %r8, 32; add.s64 %d1, %d1, %d2;\n",
    );
    for register in 0..8 {
        writeln!(text, "mad.lo.s32 %r{register}, %r8, {}, {};", 0x9e37 * (register + 1), register)
            .unwrap();
    }
    for (opcode, d, a, b) in steps {
        let opcode = usize::from(*opcode) % OPCODES.len();
        writeln!(
            text,
            "setp.lt.u32 %p, %r{a}, %r{b};\n@%p {} %r{d}, %r{a}, %r{b};",
            OPCODES[opcode]
        )
        .unwrap();
    }
    for register in 0..8 {
        writeln!(text, "st.global.u32 [%d1+{}], %r{register};", 4 * register).unwrap();
    }
    text + "ret;\n}\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn straight_line_programs_agree_with_a_scalar_reference(
        steps in prop::collection::vec((any::<u8>(), 0..8_usize, 0..8_usize, 0..8_usize), 0..60)
    ) {
        let mut machine = Machine::new(DeviceShape::default());
        let y = machine.buffer("y", 40 * 32, Access::ReadWrite, Initial::Unwritten).unwrap();
        let config = LaunchConfig::new([1; 3], [40, 1, 1], vec![Argument::Buffer(y)]);
        let report = machine.launch(&module(&program(&steps)), "k", &config).unwrap();
        prop_assert!(report.faults.is_empty(), "{:?}", report.faults);
        let found: Vec<u32> = machine.read(y).chunks_exact(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
        for thread in 0..40_u32 {
            let mut r: [u32; 8] = std::array::from_fn(|i| {
                thread.wrapping_mul(0x9e37 * (i as u32 + 1)).wrapping_add(i as u32)
            });
            for (opcode, d, a, b) in &steps {
                if r[*a] < r[*b] {
                    r[*d] = reference(usize::from(*opcode) % OPCODES.len(), r[*a], r[*b]);
                }
            }
            prop_assert_eq!(&found[thread as usize * 8..][..8], &r[..]);
        }
    }
}
