//! Tests of the instruction set: what decodes, to what, and what does not.

use std::path::Path;

use super::float::{Clamp, Float, FloatFormat, Rounding, Subnormals};
use super::integer::{Integer, IntegerType, Overflow};
use super::refusal::Refusal;
use super::{Operation, decode, opcodes};

fn decoded(spelling: &str, operands: usize) -> Result<Operation, Refusal> {
    let mut words = spelling.split('.');
    let opcode = words.next().unwrap_or_default();
    let words: Vec<_> = words.collect();
    decode(opcode, &words, operands).map(|(operation, _)| operation)
}

fn listed(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ptx").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn every_spelling_that_nvrtc_writes_is_known() {
    let spellings = listed("spellings.txt");
    assert!(spellings.len() > 850, "only {} spellings", spellings.len());
    for spelling in spellings {
        assert!(decoded(&spelling, 3).is_ok(), "{:?}", decoded(&spelling, 3));
    }
}

#[test]
fn modifiers_stand_in_any_order() {
    for spelling in listed("spellings.txt") {
        let parts: Vec<_> = spelling.split('.').collect();
        // Types, layouts and accumulators have an order of their own.
        let order_matters =
            ["cvt", "set", "mma", "wmma", "dp4a", "dp2a", "slct"].contains(&parts[0]);
        if order_matters {
            continue;
        }
        let mut turned = parts.clone();
        turned[1..].reverse();
        let turned = turned.join(".");
        assert_eq!(decoded(&spelling, 3), decoded(&turned, 3), "{spelling} and {turned}");
    }
}

#[test]
fn what_is_not_supported_says_why() {
    for spelling in listed("refused-spellings.txt") {
        let refusal = decoded(&spelling, 3);
        assert!(matches!(refusal, Err(Refusal::Unsupported { .. })), "{spelling}: {refusal:?}");
    }
}

#[track_caller]
fn check(spelling: &str, expected: Operation) {
    assert_eq!(decoded(spelling, 3).unwrap(), expected);
}

#[test]
fn defaults_are_those_of_the_isa() {
    let f32 = FloatFormat::F32(Subnormals::Keep, Clamp::None);
    check("add.f32", Operation::Float(Float::Add(f32, Rounding::NearestEven)));
    let flushed = FloatFormat::F32(Subnormals::Flush, Clamp::Unit);
    check("add.rz.ftz.sat.f32", Operation::Float(Float::Add(flushed, Rounding::TowardZero)));
    let saturated = Integer::Add(IntegerType::S32, Overflow::Saturate);
    check("add.sat.s32", Operation::Integer(saturated));
}

#[track_caller]
fn check_refused(spelling: &str, message: &str) {
    let refusal = decoded(spelling, 3).unwrap_err().to_string();
    assert!(refusal.contains(message), "`{refusal}` lacks `{message}`");
}

#[test]
fn combinations_that_do_not_exist_are_refused() {
    check_refused("add.sat.u32", "only .s32 saturates");
    check_refused("add.rn.u32", "`.rn` does not belong to");
    check_refused("fma.f32", "lacks a rounding mode");
    check_refused("add.ftz.f64", "`.ftz` does not belong to");
    check_refused("add.b32", "lacks a type that it takes");
    check_refused("add.u32.u32", "`.u32` does not belong to");
    check_refused("frobnicate.u32", "unknown instruction `frobnicate.u32`");
    check_refused("setp.lo.s32", "take unsigned types");
    check_refused("setp.lt.b32", "lacks `.eq` or `.ne`");
    check_refused("cvt.f32.f64", "lacks a rounding mode");
    check_refused("cvt.rn.f64.f32", "takes no rounding mode");
    check_refused("ld.global.v8.b64", "at most 128 bits");
    check_refused("ld.release.gpu.global.b32", "does not release");
    check_refused("st.const.b32", "not stored to");
    check_refused("atom.global.add.f16", "lacks `.noftz`");
    check_refused("atom.param.add.u32", "atomics take");
    check_refused("red.global.cas.b32", "does not compare and swap");
    check_refused("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "this shape");
    check_refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", "not multiplied");
    check_refused("mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32", "other than `.row.col`");
    check_refused("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32", "`.satfinite`");
    check_refused("wmma.load.a.sync.aligned.row.m16n16k8.global.f16", "this shape");
    check_refused("shfl.up.b32", "without `.sync`");
    check_refused("rcp.approx.f64", "lacks `.ftz`");
}

#[test]
fn every_base_opcode_of_the_first_two_tiers_is_there() {
    assert!(opcodes().len() >= 90, "{}", opcodes().len());
}
