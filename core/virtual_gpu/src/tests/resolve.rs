//! The contents of a loaded module: offsets, labels, scopes, initial bytes, lines, calls.

use super::{kernel, loaded};
use crate::isa::scalar::ScalarType;
use crate::module::{Base, Body, CallTarget, Immediate, Operand, RelocationTarget, Symbol};

const HEAD: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

fn body(text: &str) -> Body {
    loaded(&kernel(text)).functions[0].body.clone().unwrap()
}

/// Parameters as (offset, bytes, alignment).
#[track_caller]
fn check_layout(parameters: &str, expected: &[(u64, u64, u32)]) {
    let module = loaded(&format!("{HEAD}.entry k({parameters}) {{ ret; }}"));
    let found: Vec<_> = module.functions[0]
        .parameters
        .iter()
        .map(|parameter| (parameter.offset, parameter.bytes, parameter.align))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn parameters_lie_at_multiples_of_their_alignment() {
    check_layout(".param .u8 a, .param .u64 b, .param .u16 c", &[(0, 1, 1), (8, 8, 8), (16, 2, 2)]);
    check_layout(
        ".param .u32 a, .param .align 16 .b8 b[20], .param .f32 c",
        &[(0, 4, 4), (16, 20, 16), (36, 4, 4)],
    );
    check_layout(
        ".param .u64 .ptr .global .align 16 a, .param .v4 .f32 b",
        &[(0, 8, 8), (16, 16, 16)],
    );
    check_layout("", &[]);
}

#[test]
fn labels_are_positions_and_scopes_hide_them() {
    let body = body("L: bra M; { L: bra L; } M: bra L;");
    let targets: Vec<_> = body.instructions.iter().map(|one| one.operands[0].clone()).collect();
    assert_eq!(targets, [Operand::Label(2), Operand::Label(1), Operand::Label(0)]);
}

#[test]
fn registers_of_a_scope_are_its_own() {
    let body = body(
        ".reg .b32 %r<3>, x; mov.u32 %r1, 1; { .reg .b64 x; mov.u64 x, 2; mov.u32 %r1, 3; } mov.u32 x, 4;",
    );
    let named: Vec<_> = body.registers.iter().map(|r| (r.name.as_str(), r.ty)).collect();
    let (b32, b64) = (ScalarType::B32, ScalarType::B64);
    assert_eq!(named, [("%r1", b32), ("x", b64), ("x", b32)]);
}

#[test]
fn vector_registers_are_their_components() {
    let body = body(".reg .v2 .b32 v; .reg .b64 d; mov.b32 v.y, 7; mov.b64 d, {v.x, v.y};");
    assert_eq!(body.registers.len(), 3);
    let Operand::Vector(pieces) = &body.instructions[1].operands[1] else { panic!() };
    assert_eq!(pieces[1], body.instructions[0].operands[0]);
}

/// The constant of `mov.<ty> d, <literal>`.
#[track_caller]
fn check_immediate(ty: &str, literal: &str, expected: Immediate) {
    let body = body(&format!(".reg .{ty} d; mov.{ty} d, {literal};"));
    assert_eq!(body.instructions[0].operands[1], Operand::Immediate(expected));
}

#[test]
fn constants_take_the_type_of_the_operand() {
    check_immediate("u32", "-1", Immediate::Integer(0xFFFF_FFFF));
    check_immediate("b16", "0x12345", Immediate::Integer(0x2345));
    check_immediate("s64", "-2", Immediate::Integer(u64::MAX - 1));
    check_immediate("u32", "010", Immediate::Integer(8));
    check_immediate("u32", "0b101U", Immediate::Integer(5));
    check_immediate("u32", "WARP_SZ", Immediate::Integer(32));
    check_immediate("f32", "0f3F800000", Immediate::F32(0x3F80_0000));
    check_immediate("f32", "1.5", Immediate::F32(1.5_f32.to_bits()));
    check_immediate("f32", "-0f3F800000", Immediate::F32((-1.0_f32).to_bits()));
    check_immediate("f64", "0d3FF0000000000000", Immediate::F64(1.0_f64.to_bits()));
    check_immediate("b32", "0f3F800000", Immediate::F32(0x3F80_0000));
    check_immediate("pred", "-1", Immediate::Integer(1));
}

#[test]
fn initial_values_become_bytes_and_relocations() {
    let module = loaded(&format!(
        "{HEAD}.global .u32 t[4] = {{1, -1}};\n.global .f32 f = 0f3F800000;\n\
         .global .u64 p[2] = {{0, generic(t)+8}};\n.global .b8 b[3] = {{0xFF(t), 0xFF00(t), 9}};\n\
         .global .u8 open[][3] = {{{{1}}, {{2, 3}}}};\n.global .u16 m[2][3] = {{{{1}}, {{2, 3}}}};\n.func g() {{ ret; }}\n.const .u64 q = g;\n"
    ));
    let bytes = |name| module.variable(name).unwrap().initial.bytes.clone();
    assert_eq!(bytes("t"), [1, 0, 0, 0, 255, 255, 255, 255]);
    assert_eq!(module.variable("open").unwrap().bytes, Some(6));
    assert_eq!(bytes("f"), 1.0_f32.to_le_bytes());
    assert_eq!(bytes("m"), [1, 0, 0, 0, 0, 0, 2, 0, 3, 0]);
    let relocation = module.variable("p").unwrap().initial.relocations[0];
    assert_eq!((relocation.offset, relocation.bytes, relocation.addend), (8, 8, 8));
    assert!(relocation.generic);
    let shifts: Vec<_> = module
        .variable("b")
        .unwrap()
        .initial
        .relocations
        .iter()
        .map(|r| (r.offset, r.shift))
        .collect();
    assert_eq!(shifts, [(0, 0), (1, 8)]);
    let function = module.variable("q").unwrap().initial.relocations[0].target;
    assert!(matches!(function, RelocationTarget::Function(_)));
}

#[test]
fn addresses_say_from_where_they_count() {
    let body = body(
        ".reg .b64 %rd<3>; .reg .b32 %r<3>; .shared .align 4 .b8 s[8];\n\
         ld.param.u64 %rd1, [a+0]; ld.global.u32 %r1, [%rd1+-4]; ld.shared.u32 %r2, [s+4]; ld.shared.u32 %r2, [16];",
    );
    let bases: Vec<_> = body
        .instructions
        .iter()
        .map(|one| {
            let Operand::Address(address) = one.operands[1] else { panic!("{one:?}") };
            (address.base, address.offset)
        })
        .collect();
    assert_eq!(bases[0], (Base::Symbol(Symbol::Parameter(0)), 0));
    assert!(matches!(bases[1], (Base::Register(_), -4)));
    assert!(matches!(bases[2], (Base::Symbol(Symbol::Local(_)), 4)));
    assert_eq!(bases[3], (Base::Absolute, 16));
}

#[test]
fn calls_know_their_target_and_slots() {
    let module = loaded(&format!(
        "{HEAD}.func (.param .b32 r) f(.param .b32 x) {{ ret; }}\n.entry k() {{ .reg .b64 %rd<2>;\n\
         .param .b32 p; .param .b32 q; call.uni (q), f, (p); mov.u64 %rd1, f;\n\
         proto : .callprototype (.param .b32 _) _ (.param .b32 _);\n call (q), %rd1, (p), proto; ret; }}\n"
    ));
    let body = module.function("k").unwrap().body.as_ref().unwrap();
    let Operand::Call(direct) = &body.instructions[0].operands[0] else { panic!() };
    assert!(matches!(direct.target, CallTarget::Function(_)));
    assert_eq!((direct.arguments.len(), direct.returns.len()), (1, 1));
    let Operand::Call(indirect) = &body.instructions[2].operands[0] else { panic!() };
    assert!(matches!(indirect.target, CallTarget::Prototype(..)));
}

#[test]
fn instructions_know_their_source_line_and_the_calls_that_were_inlined() {
    let module = loaded(&format!(
        "{HEAD}.entry k() {{\n.loc 1 18 3\nexit;\n.loc 1 16 25, function_name $L0, inlined_at 1 18 3\nret;\n}}\n\
         .file 1 \"kernel.cu\"\n.section .debug_str\n{{\n$L0:\n.b8 105,110,108,0\n}}\n"
    ));
    let body = module.functions[0].body.as_ref().unwrap();
    let inner = body.instructions[1].location.unwrap();
    assert_eq!(module.source_line(inner).unwrap().to_string(), "kernel.cu:16:25");
    let inlined = module.locations[inner.0 as usize].inlined.as_ref().unwrap();
    assert_eq!(inlined.function, "inl");
    assert_eq!(module.source_line(inlined.caller).unwrap().line, 18);
}

#[test]
fn errors_name_the_source_line() {
    let errors = crate::Module::load(&format!(
        "{HEAD}.entry k() {{\n.loc 1 7 3\ntcgen05.wait::ld.sync.aligned;\nret;\n}}\n.file 1 \"kernel.cu\"\n"
    ))
    .unwrap_err();
    let message = errors[0].to_string();
    assert!(message.contains("line 6, column 1"), "{message}");
    assert!(message.contains("`tcgen05.wait::ld.sync.aligned` is not supported"), "{message}");
    assert!(message.ends_with("(from kernel.cu:7:3)"), "{message}");
}

#[test]
fn launch_bounds_are_read() {
    let module = loaded(&format!("{HEAD}.entry k()\n.maxntid 128, 2\n.minnctapersm 3\n{{ ret; }}"));
    let bounds = module.functions[0].bounds;
    assert_eq!(bounds.max_threads, Some([128, 2, 1]));
    assert_eq!(bounds.min_blocks_per_multiprocessor, Some(3));
}

#[test]
fn lists_of_targets_are_positions_and_functions() {
    let module = loaded(&format!(
        "{HEAD}.func f() {{ ret; }}\n.func g() {{ ret; }}\n.entry k() {{ .reg .b64 %rd<2>; .reg .b32 %r<2>;\n\
         mov.u64 %rd1, g; fs: .calltargets f, g; call %rd1, (), fs;\n\
         ls: .branchtargets A, B; brx.idx %r1, ls;\nA: ret;\nB: ret; }}\n"
    ));
    let body = module.function("k").unwrap().body.as_ref().unwrap();
    assert_eq!(body.targets, [vec![3, 4]]);
    assert_eq!(body.callees.len(), 1);
    assert_eq!(body.callees[0].len(), 2);
}
