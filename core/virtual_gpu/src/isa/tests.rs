//! Tests of the instruction set: which instructions decode, to which operation, and which are rejected.

use std::path::Path;

use super::float::{Clamp, Float, FloatFormat, Rounding, Subnormals};
use super::integer::{Integer, IntegerType, Overflow};
use super::refusal::Refusal;
use super::signature::Role;
use super::{Operation, decode, opcodes};

fn decoded(spelling: &str, operands: usize) -> Result<Operation, Refusal> {
    let mut words = spelling.split('.');
    let opcode = words.next().unwrap_or_default();
    let words: Vec<_> = words.collect();
    decode(opcode, &words, operands).map(|(operation, _)| operation)
}

fn listed(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx").join(file);
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
            ["cvt", "set", "mma", "wmma", "wgmma", "dp4a", "dp2a", "slct", "tex", "tld4"]
                .contains(&parts[0]);
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
    check_refused("add.sat.u32", "only .s32 supports `.sat`");
    check_refused("add.rn.u32", "does not accept `.rn`");
    check_refused("fma.f32", "requires a rounding mode");
    check_refused("add.ftz.f64", "does not accept `.ftz`");
    check_refused("add.b32", "requires a type that the instruction supports");
    check_refused("add.u32.u32", "does not accept `.u32`");
    check_refused("frobnicate.u32", "unknown instruction `frobnicate.u32`");
    check_refused("setp.lo.s32", "take unsigned types");
    check_refused("setp.lt.b32", "requires `.eq` or `.ne`");
    check_refused("cvt.f32.f64", "requires a rounding mode");
    check_refused("cvt.rn.f64.f32", "does not accept a rounding mode");
    check_refused("ld.global.v8.b64", "at most 128 bits");
    check_refused("ld.release.gpu.global.b32", "does not support `.release`");
    check_refused("st.const.b32", "a store to .const is not possible");
    check_refused("atom.global.add.f16", "requires `.noftz`");
    check_refused("atom.param.add.u32", "atomics require");
    check_refused("red.global.cas.b32", "does not support `.cas`");
    for reduction in ["add.s64", "exch.b32", "max.noftz.f16x2"] {
        let spelling = format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{reduction}");
        check_refused(&spelling, "do not have this operation for this type");
    }
    check_refused("cp.async.bulk.tensor.6d.global.shared::cta.bulk_group", "`.1d` to `.5d`");
    check_refused("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "this shape");
    check_refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", "cannot be combined");
    check_refused("mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32", "other than `.row.col`");
    check_refused("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32", "`.satfinite`");
    check_refused("wmma.load.a.sync.aligned.row.m16n16k8.global.f16", "this shape");
    check_refused("shfl.up.b32", "require `.sync`");
    check_refused("rcp.approx.f64", "requires `.ftz`");
}

#[test]
fn every_base_opcode_of_the_first_two_tiers_is_there() {
    assert!(opcodes().len() >= 90, "{}", opcodes().len());
}

/// Operand counts of the fragments d, a, b, c of one product.
#[track_caller]
fn check_fragments(spelling: &str, expected: [u8; 4]) {
    let words: Vec<_> = spelling.split('.').collect();
    let (_, signature) = decode(words[0], &words[1..], 4).unwrap();
    let counts: Vec<_> = signature
        .roles()
        .iter()
        .filter_map(|role| {
            let (Role::WriteVector { count, .. } | Role::ReadVector { count, .. }) = role else {
                return None;
            };
            Some(*count)
        })
        .collect();
    assert_eq!(counts, expected, "{spelling}");
}

/// Register counts from the fragment tables of the PTX ISA, section "Matrix Fragments for mma".
#[test]
fn products_take_the_fragments_of_the_isa() {
    let mma = |rest: &str, counts| check_fragments(&format!("mma.sync.aligned.{rest}"), counts);
    mma("m8n8k4.row.col.f16.f16.f16.f16", [4, 2, 2, 4]);
    mma("m8n8k4.col.row.f32.f16.f16.f32", [8, 2, 2, 8]);
    mma("m8n8k4.col.col.f32.f16.f16.f16", [8, 2, 2, 4]);
    mma("m16n8k8.row.col.f16.f16.f16.f16", [2, 2, 1, 2]);
    mma("m16n8k8.row.col.f32.f16.f16.f32", [4, 2, 1, 4]);
    mma("m16n8k16.row.col.f16.f16.f16.f16", [2, 4, 2, 2]);
    mma("m16n8k16.row.col.f32.f16.f16.f32", [4, 4, 2, 4]);
    mma("m16n8k8.row.col.f32.bf16.bf16.f32", [4, 2, 1, 4]);
    mma("m16n8k16.row.col.f32.bf16.bf16.f32", [4, 4, 2, 4]);
    mma("m16n8k4.row.col.f32.tf32.tf32.f32", [4, 2, 1, 4]);
    mma("m16n8k8.row.col.f32.tf32.tf32.f32", [4, 4, 2, 4]);
    for types in ["e4m3.e4m3", "e4m3.e5m2", "e5m2.e4m3", "e5m2.e5m2"] {
        mma(&format!("m16n8k32.row.col.f32.{types}.f32"), [4, 4, 2, 4]);
        mma(&format!("m16n8k16.row.col.f16.{types}.f16"), [2, 2, 1, 2]);
    }
    mma("m8n8k4.row.col.f64.f64.f64.f64", [2, 1, 1, 2]);
    mma("m16n8k4.row.col.f64.f64.f64.f64", [4, 2, 1, 4]);
    mma("m16n8k8.row.col.f64.f64.f64.f64", [4, 4, 2, 4]);
    mma("m16n8k16.row.col.rn.f64.f64.f64.f64", [4, 8, 4, 4]);
    for types in ["u8.u8", "u8.s8", "s8.u8", "s8.s8"] {
        mma(&format!("m8n8k16.row.col.satfinite.s32.{types}.s32"), [2, 1, 1, 2]);
        mma(&format!("m16n8k16.row.col.s32.{types}.s32"), [4, 2, 1, 4]);
        mma(&format!("m16n8k32.row.col.s32.{types}.s32"), [4, 4, 2, 4]);
    }
    for types in ["u4.u4", "u4.s4", "s4.u4", "s4.s4"] {
        mma(&format!("m8n8k32.row.col.satfinite.s32.{types}.s32"), [2, 1, 1, 2]);
        mma(&format!("m16n8k32.row.col.s32.{types}.s32"), [4, 2, 1, 4]);
        mma(&format!("m16n8k64.row.col.s32.{types}.s32"), [4, 4, 2, 4]);
    }
    for product in ["and", "xor"] {
        mma(&format!("m8n8k128.row.col.s32.b1.b1.s32.{product}.popc"), [2, 1, 1, 2]);
        mma(&format!("m16n8k128.row.col.s32.b1.b1.s32.{product}.popc"), [4, 2, 1, 4]);
        mma(&format!("m16n8k256.row.col.s32.b1.b1.s32.{product}.popc"), [4, 4, 2, 4]);
    }
}

/// PTX ISA, section "Matrix Fragments for WMMA".
#[test]
fn warp_products_take_the_fragments_of_the_isa() {
    let wmma =
        |rest: &str, counts| check_fragments(&format!("wmma.mma.sync.aligned.{rest}"), counts);
    for shape in ["m16n16k16", "m8n32k16", "m32n8k16"] {
        for layouts in ["row.row", "row.col", "col.row", "col.col"] {
            wmma(&format!("{layouts}.{shape}.f32.f32"), [8, 8, 8, 8]);
            wmma(&format!("{layouts}.{shape}.f16.f16"), [4, 8, 8, 4]);
            wmma(&format!("{layouts}.{shape}.f32.f16"), [8, 8, 8, 4]);
            wmma(&format!("{layouts}.{shape}.f16.f32"), [4, 8, 8, 8]);
        }
    }
    wmma("row.col.m16n16k16.f32.bf16.bf16.f32", [8, 4, 4, 8]);
    wmma("row.col.m8n32k16.f32.bf16.bf16.f32", [8, 2, 8, 8]);
    wmma("row.col.m32n8k16.f32.bf16.bf16.f32", [8, 8, 2, 8]);
    wmma("row.col.m16n16k8.f32.tf32.tf32.f32", [8, 4, 4, 8]);
    wmma("col.row.m8n8k4.rz.f64.f64.f64.f64", [2, 1, 1, 2]);
    wmma("row.col.m16n16k16.s32.s8.s8.s32.satfinite", [8, 2, 2, 8]);
    wmma("row.col.m8n32k16.s32.u8.u8.s32", [8, 1, 4, 8]);
    wmma("row.col.m32n8k16.s32.u8.u8.s32", [8, 4, 1, 8]);
    wmma("row.col.m8n8k32.s32.s4.s4.s32", [2, 1, 1, 2]);
    check_fragments("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", [2, 1, 1, 2]);
    check_refused("wmma.mma.sync.aligned.col.col.m8n8k32.s32.s4.s4.s32", "`.row.col`");
}

#[test]
fn forms_that_only_people_write_are_known_too() {
    for spelling in [
        "add.rm.f64",
        "sub.rp.ftz.f32",
        "mul.rz.f32x2",
        "add.sat.f16",
        "fma.rn.sat.ftz.f16x2",
        "mad.rn.f32",
        "mad24.hi.sat.s32",
        "mul24.lo.u32",
        "sad.u64",
        "rem.s16",
        "min.NaN.xorsign.abs.f32",
        "max.NaN.bf16x2",
        "set.lt.and.u32.f32",
        "set.gt.ftz.f32.f32",
        "set.ne.s32.b64",
        "set.leu.bf16.bf16",
        "slct.ftz.u64.f32",
        "testp.subnormal.f64",
        "lop3.or.b32",
        "shf.l.clamp.b32",
        "prmt.b32.f4e",
        "bfe.s64",
        "szext.wrap.u32",
        "cvt.pack.sat.u8.s32.b32",
        "cvt.pack.sat.s16.s32",
        "cvt.sat.u8.s32",
        "cvt.rzi.sat.s8.f32",
        "cvt.rn.relu.f16x2.f32",
        "cvt.rn.satfinite.relu.e5m2x2.f16x2",
        "cvt.rn.bf16x2.ue8m0x2",
        "cvt.rz.satfinite.ue8m0x2.f32",
        "cvt.rn.f16.u8",
        "ldu.global.v4.f32",
        "ld.global.nc.L1::no_allocate.L2::256B.v4.u32",
        "ld.relaxed.sys.mmio.global.u32",
        "ld.global.L2::cache_hint.v8.f32",
        "st.weak.shared::cta.u8",
        "prefetchu.L1",
        "prefetch.global.L2::evict_last",
        "applypriority.global.L2::evict_normal",
        "discard.global.L2",
        "red.relaxed.gpu.global.add.f32",
        "red.global.v2.f16x2.add.noftz",
        "atom.acq_rel.sys.shared::cta.cas.b128",
        "atom.global.min.noftz.bf16x2",
        "barrier.cta.red.popc.aligned.u32",
        "bar.cta.arrive",
        "fence.acquire.cluster",
        "membar.gl",
        "brx.idx.uni",
        "ret.uni",
        "exit",
        "brkpt",
        "pmevent.mask",
        "redux.sync.min.abs.NaN.f32",
        "vote.sync.uni.pred",
        "match.all.sync.b64",
        "cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B",
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64",
        "mbarrier.arrive_drop.noComplete.release.cta.shared.b64",
        "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64",
        "mbarrier.pending_count.b64",
        "ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16",
        "isspacep.shared::cta",
    ] {
        assert!(decoded(spelling, 3).is_ok(), "{:?}", decoded(spelling, 3));
    }
}
