//! Results of a GPU, compared with those of this crate.
//!
//! Instructions for which the GPU differs are left out here, always where the ISA specifies otherwise or nothing;
//! the implementation of each describes the difference.

mod arithmetic;
mod conversion;
mod matrix;
mod other;
mod recorded;
mod spelling;
mod warpgroup;

use recorded::{CASES, DIGESTS, digest, operand};
use spelling::Spelling;

/// The result of an instruction, if it is compared.
fn evaluate(spelling: &Spelling<'_>, x: [u64; 4]) -> Option<u64> {
    arithmetic::evaluate(spelling, x)
        .or_else(|| other::evaluate(spelling, x))
        .or_else(|| conversion::evaluate(spelling, x))
}

fn results(text: &str, widths: &[u32]) -> Option<Vec<u64>> {
    let spelling = Spelling::new(text);
    let result = |case| {
        let mut x = [0; 4];
        for (index, (slot, width)) in (0..).zip(x.iter_mut().zip(widths)) {
            *slot = operand(*width, case, index);
        }
        evaluate(&spelling, x)
    };
    (0..CASES).map(result).collect()
}

#[test]
fn exact_spellings_give_what_an_h200_gives() {
    let mut wrong = Vec::new();
    for line in DIGESTS.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [spelling, bits, widths, expected] = fields[..] else { panic!("{line}") };
        let bytes = bits.parse::<usize>().unwrap() / 8;
        let widths: Vec<u32> = widths.split(',').map(|width| width.parse().unwrap()).collect();
        let results = results(spelling, &widths).unwrap_or_default();
        let bytes = results.iter().flat_map(|result| result.to_le_bytes().into_iter().take(bytes));
        if format!("{:016x}", digest(bytes)) != expected {
            wrong.push(spelling);
        }
    }
    assert!(wrong.is_empty(), "{} spellings differ: {wrong:?}", wrong.len());
    assert!(DIGESTS.lines().count() > 1100, "the list of digests is whole");
}
