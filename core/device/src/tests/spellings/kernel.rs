//! A kernel for each spelling: thread `i` computes case `i`, so that any device can answer.

use std::fmt::Write as _;

use super::recorded::{CASES, DIGESTS, digest, operand};

/// One line of the table.
pub(super) struct Case<'a> {
    pub(super) spelling: &'a str,
    bits: usize,
    widths: Vec<u32>,
    digest: &'a str,
}

/// Operands of a case; unused ones are not read.
const OPERANDS: u64 = 4;
pub(super) const BLOCK: u32 = 128;
pub(super) const GRID: u32 = CASES as u32 / BLOCK;

impl<'a> Case<'a> {
    fn new(line: &'a str) -> Self {
        let fields: Vec<&str> = line.split(' ').collect();
        let [spelling, bits, widths, digest] = fields[..] else { panic!("{line}") };
        let widths = widths.split(',').map(|width| width.parse().unwrap()).collect();
        Self { spelling, bits: bits.parse().unwrap(), widths, digest }
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        DIGESTS.lines().map(Self::new)
    }

    /// All operands of all cases, eight bytes each.
    pub(super) fn operands(&self) -> Vec<u8> {
        let width = |index: u64| self.widths.get(index as usize).copied();
        let one = |case, index| width(index).map_or(0, |width| operand(width, case, index));
        (0..CASES)
            .flat_map(|case| (0..OPERANDS).flat_map(move |index| one(case, index).to_le_bytes()))
            .collect()
    }

    /// Whether the results, eight bytes each, are those that the table has.
    pub(super) fn agrees(&self, results: &[u8]) -> bool {
        let bytes = self.bits / 8;
        let narrow = results.chunks_exact(8).flat_map(|result| result[..bytes].iter().copied());
        format!("{:016x}", digest(narrow)) == self.digest
    }

    /// `kernel(out, operands)`.
    pub(super) fn entry(&self, name: &str) -> String {
        let mut text = format!(
            ".visible .entry {name}(.param .u64 out, .param .u64 in)\n{{\n\
             .reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .pred %p<2>;\n\
             .shared .align 8 .b64 cell[{BLOCK}];\n\
             mov.u32 %r8, %tid.x;\nmov.u32 %r9, %ctaid.x;\n\
             mad.lo.u32 %r9, %r9, {BLOCK}, %r8;\n\
             ld.param.u64 %d8, [in];\nmul.wide.u32 %d9, %r9, 32;\nadd.u64 %d8, %d8, %d9;\n\
             ld.param.u64 %d10, [out];\nmul.wide.u32 %d9, %r9, 8;\nadd.u64 %d10, %d10, %d9;\n"
        );
        for (index, width) in self.widths.iter().enumerate() {
            let (register, load) = (register(*width, index), format!("ld.global.b{width}"));
            writeln!(text, "{load} {register}, [%d8+{}];", 8 * index).unwrap();
        }
        writeln!(text, "mov.b64 %d7, 0;\nst.global.b64 [%d10], %d7;").unwrap();
        text += &self.body();
        let result = register(self.bits as u32, 7);
        writeln!(text, "st.global.b{} [%d10], {result};\nret;\n}}", self.bits).unwrap();
        text
    }

    /// Operands 0 to 3 → register 7 of the result's width.
    fn body(&self) -> String {
        let words: Vec<&str> = self.spelling.split('.').collect();
        let sources: Vec<String> =
            self.widths.iter().enumerate().map(|(index, width)| register(*width, index)).collect();
        let result = register(self.bits as u32, 7);
        let sources = sources.join(", ");
        let ty = words[words.len() - 1];
        match words[0] {
            "setp" | "testp" => {
                format!("{} %p1, {sources};\nselp.u32 %r7, 1, 0, %p1;\n", self.spelling)
            }
            "fns" => "and.b32 %r1, %r1, 31;\nrem.s32 %r2, %r2, 40;\n\
                      fns.b32 %r7, %r0, %r1, %r2;\n"
                .to_owned(),
            "lop3" => format!("lop3.b32 {result}, {sources}, 0x{ty};\n"),
            "addc" | "madc" => chain(words[0], ty, self.bits as u32),
            "atom" => atomic(self.spelling, words[1], self.bits as u32),
            _ => format!("{} {result}, {sources};\n", self.spelling),
        }
    }
}

fn register(width: u32, index: usize) -> String {
    let bank = match width {
        64 => "%d",
        32 => "%r",
        _ => "%h",
    };
    format!("{bank}{index}")
}

/// Two limbs, and the carry of the second added to it, so that it shows.
fn chain(opcode: &str, ty: &str, bits: u32) -> String {
    let [a, b, c, d, k, t, r] = [0, 1, 2, 3, 5, 6, 7].map(|index| register(bits, index));
    let limbs = if opcode == "addc" {
        format!("add.cc.{ty} {t}, {a}, {b};\naddc.cc.{ty} {r}, {c}, {d};\n")
    } else {
        format!("mad.lo.cc.{ty} {t}, {a}, {b}, {c};\nmadc.hi.cc.{ty} {r}, {a}, {b}, {d};\n")
    };
    format!("{limbs}addc.{ty} {k}, 0, 0;\nadd.{ty} {r}, {r}, {k};\n")
}

/// The second operand changes the first in memory.
fn atomic(spelling: &str, space: &str, bits: u32) -> String {
    let [a, b, old, new] = [0, 1, 6, 7].map(|index| register(bits, index));
    let (begin, address) = match space {
        "shared" => {
            ("mov.u32 %r10, cell;\nshl.b32 %r11, %r8, 3;\nadd.u32 %r10, %r10, %r11;\n", "%r10")
        }
        _ => ("", "%d10"),
    };
    format!(
        "{begin}st.{space}.b{bits} [{address}], {a};\n{spelling} {old}, [{address}], {b};\n\
         ld.{space}.b{bits} {new}, [{address}];\n"
    )
}

/// One module with a kernel `k0`, `k1`, … for each spelling, in the order of the table.
pub(super) fn module() -> String {
    let mut text = ".version 8.6\n.target sm_90\n.address_size 64\n".to_owned();
    for (index, case) in Case::all().enumerate() {
        text += &case.entry(&format!("k{index}"));
    }
    text
}
