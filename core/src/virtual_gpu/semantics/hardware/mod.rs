//! Results of a real GPU, replayed: every spelling once, 2,048 operands each.
//!
//! The operands follow from a seed, so that a digest per spelling suffices. They were run on an NVIDIA H200 (driver
//! 580.x, PTX 8.6 for sm_90a) in November 2026; `h200.digests` holds what came back.

mod arithmetic;
mod conversion;
mod operands;
mod other;
mod spelling;

use operands::operand;
use spelling::Spelling;

const CASES: u64 = 2048;

/// The result of an instruction, if the table knows it.
fn evaluate(spelling: &Spelling<'_>, x: [u64; 4]) -> Option<u64> {
    arithmetic::evaluate(spelling, x)
        .or_else(|| other::evaluate(spelling, x))
        .or_else(|| conversion::evaluate(spelling, x))
}

fn digest(text: &str, bits: u32, widths: &[u32]) -> Option<u64> {
    let spelling = Spelling::new(text);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for case in 0..CASES {
        let mut x = [0; 4];
        for (index, (slot, width)) in x.iter_mut().zip(widths).enumerate() {
            *slot = operand(*width, case, index as u64);
        }
        let result = evaluate(&spelling, x)? & (u64::MAX >> (64 - bits));
        for byte in result.to_le_bytes().into_iter().take(bits as usize / 8) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Some(hash)
}

#[test]
fn temporary_compare() {
    let Ok(path) = std::env::var("H200_RAW") else { return };
    let raw = std::fs::read(path).unwrap();
    let mut at = 0;
    let (mut good, mut bad, mut unknown) = (0, 0, Vec::new());
    while at < raw.len() {
        let (name_length, bits, count) = (raw[at] as usize, raw[at + 1], raw[at + 2] as usize);
        let widths: Vec<u32> = raw[at + 3..at + 3 + count].iter().map(|w| u32::from(*w)).collect();
        at += 3 + count;
        let name = std::str::from_utf8(&raw[at..at + name_length]).unwrap();
        at += name_length;
        let bytes = usize::from(bits) / 8;
        let spelling = Spelling::new(name);
        let (mut wrong, mut shown) = (0, String::new());
        let mut known = true;
        for case in 0..CASES {
            let mut x = [0; 4];
            for (index, (slot, width)) in x.iter_mut().zip(&widths).enumerate() {
                *slot = operand(*width, case, index as u64);
            }
            let mut expected = [0; 8];
            expected[..bytes].copy_from_slice(&raw[at..at + bytes]);
            at += bytes;
            let expected = u64::from_le_bytes(expected);
            let Some(result) = evaluate(&spelling, x) else {
                known = false;
                continue;
            };
            let result = result & (u64::MAX >> (64 - bits));
            if result != expected {
                wrong += 1;
                if wrong <= 3 {
                    shown += &format!("\n      {x:x?} gpu {expected:x} ours {result:x}");
                }
            }
        }
        if !known {
            unknown.push(name.to_owned());
        } else if wrong == 0 {
            good += 1;
        } else {
            bad += 1;
            println!("{name}: {wrong} wrong{shown}");
        }
    }
    println!("good {good} bad {bad} unknown {} {unknown:?}", unknown.len());
}
