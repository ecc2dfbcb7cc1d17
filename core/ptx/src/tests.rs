//! `inlined.ptx` was written by NVRTC 13.5 for a kernel that inlines through a header; the other
//! texts are cut from what NVRTC and Triton write.

mod specimens;

use proptest::prelude::*;

use super::*;

const INLINED: &str = include_str!("inlined.ptx");

fn parameter(kind: ParameterKind, size: u64, alignment: u64) -> (ParameterKind, u64, u64, bool) {
    (
        kind,
        size,
        alignment,
        matches!(kind, ParameterKind::Integer | ParameterKind::Bits) && size == 8,
    )
}

fn check_parameters(text: &str, expected: &[(ParameterKind, u64, u64, bool)]) -> PtxModule {
    let module = read(text);
    let seen: Vec<_> = module.entries[0]
        .parameters
        .iter()
        .map(|each| (each.kind, each.size, each.alignment, each.may_be_pointer()))
        .collect();
    assert_eq!(seen, expected, "for {text}");
    module
}

#[test]
fn parameters_have_kind_size_and_alignment() {
    use ParameterKind::{Bytes, Float, Integer, Opaque};
    let text = "\
.version 9.5
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 s[];
.visible .entry big(
	.param .u64 big_param_0,
	.param .align 4 .b8 big_param_1[8000],
	.param .u8 big_param_2, .param .u16 big_param_4,
	.param .f32 big_param_5,
	.param .f64 big_param_6, .param .align 2 .b8 half[2], .param .texref t
)
.maxntid 256, 1, 1
.minnctapersm 2
.maxnreg 64
{
	ld.shared.u32 	%r4, [s+8];
	ret;
}
";
    let module = check_parameters(
        text,
        &[
            parameter(Integer, 8, 8),
            parameter(Bytes, 8000, 4),
            parameter(Integer, 1, 1),
            parameter(Integer, 2, 2),
            parameter(Float, 4, 4),
            parameter(Float, 8, 8),
            parameter(Bytes, 2, 2),
            parameter(Opaque, 8, 8),
        ],
    );
    assert_eq!(module.version, Some((9, 5)));
    assert_eq!(module.target, ["sm_90"]);
    let entry = &module.entries[0];
    assert_eq!(
        (entry.max_threads, entry.min_blocks_per_sm, entry.max_registers, entry.required_threads),
        (Some([256, 1, 1]), Some(2), Some(64), None)
    );
    assert!(entry.uses_dynamic_shared());
    assert_eq!((entry.static_shared_bytes(), entry.lines), (0, (5, 18)));
}

#[test]
fn pointers_may_be_declared() {
    let text = "\
.version 8.7
.target sm_90a, debug
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 .ptr .const .align 8 b);
.visible .entry add(
	.param .u64 .ptr .global .align 16 add_param_0,
	.param .u64 .ptr .align 1 add_param_1, .param .b32 n) .reqntid 128
{ ret; }
.entry none { ret; } .entry empty() { ret; }
";
    let integer = parameter(ParameterKind::Integer, 8, 8);
    let module = check_parameters(text, &[integer, integer, parameter(ParameterKind::Bits, 4, 4)]);
    assert_eq!(module.target, ["sm_90a", "debug"]);
    let first = module.entries[0].parameters[0].pointer.clone().unwrap();
    assert_eq!((first.space.as_deref(), first.align), (Some("global"), Some(16)));
    assert_eq!(module.entries[0].required_threads, Some([128, 1, 1]));
    let names: Vec<&str> = module.entries.iter().map(|each| &*each.name).collect();
    assert_eq!(names, ["add", "none", "empty"]);
    assert_eq!(module.constants, []);
}

#[test]
fn variables_are_sized_and_belong_to_the_kernels_that_name_them() {
    let text = "\
.const .align 4 .b8 table[64];
.visible .const .align 8 .u32 other[2][3] = {{1, 2}, {3}}, one = 7;
.shared .align 16 .b8 tile[512];
.shared .v4 .f32 unused[2];
.extern .shared .align 16 .b8 dynamic[];
.entry a() { .shared .align 4 .b8 own[256]; mov.u32 %r1, tile; st.shared.u32 [tile+4], %r1; ret; }
.func f() { .shared .b32 not_mine; mov.u32 %r1, tile; }
.entry b() { mov.u32 %r1, dynamic; }
";
    let module = read(text);
    assert_eq!(module.constant_bytes(), 64 + 24 + 4);
    let [a, b] = &module.entries[..] else { panic!("two entries") };
    assert_eq!((a.static_shared_bytes(), a.uses_dynamic_shared()), (768, false));
    assert_eq!((b.static_shared_bytes(), b.uses_dynamic_shared()), (0, true));
}

#[test]
fn lines_lead_to_their_source_through_inlining() {
    let module = read(INLINED);
    let line = |needle: &str| {
        let at = INLINED.lines().position(|line| line.contains(needle)).unwrap();
        u32::try_from(at + 1).unwrap()
    };
    let stack = |ptx_line: u32| -> Vec<String> {
        let lines = module.line_map.at(ptx_line);
        let shown = |each: &SourceLine| {
            let function = each.function.as_deref().unwrap_or("-");
            format!("{}:{}:{} {function}", each.file, each.line, each.column)
        };
        lines.iter().map(shown).collect()
    };
    assert_eq!(stack(line("bar.sync")), ["/build/kernels/k.cu:12:3 -"]);
    assert_eq!(
        stack(line("rsqrt.approx")),
        [
            "/build/h.cuh:3:3 _Z5innerf",
            "/build/kernels/k.cu:6:3 _Z5outerf",
            "/build/kernels/k.cu:11:3 -"
        ]
    );
    // `.loc 1 0 0`: made by the compiler.
    assert!(stack(line("st.global.f32")).is_empty());
    assert!(stack(1).is_empty());
    assert!(stack(line(".visible .entry")).is_empty());
    let files: Vec<&str> = module.line_map.files().collect();
    assert_eq!(files, ["/build/h.cuh", "/build/kernels/k.cu"]);
    assert_eq!(module.entries[0].static_shared_bytes(), 256);
    assert_eq!(module.constant_bytes(), 64);
}

#[test]
fn a_cycle_of_inlining_ends() {
    let module = read(
        ".file 1 \"a\"\n.func f() {\n.loc 1 2 3, function_name f, inlined_at 1 2 3\nret;\n}\n",
    );
    assert_eq!(module.line_map.at(4).len(), 64);
}

#[test]
fn large_and_broken_texts_are_read_in_linear_time() {
    let pieces = [
        ".entry f(",
        ".param .u64 ",
        ".loc 1 2 3\n",
        "{",
        "\"",
        "/*",
        "//",
        "\\",
        ".shared .b8 a[9], ",
        "a ",
        "\n",
        ".entry f(.param .u64 a){",
        "x: .b8 1,",
        "= {",
        ".const .b32 a = {",
        "[",
        "a{",
        "a{b{}",
        "a{{}",
        "}",
        "\u{1F600}",
        "a;",
        ".loc 1 1 1 ",
        "@",
        "x:",
    ];
    for piece in pieces {
        let repeated = piece.repeat((4 << 20) / piece.len());
        for text in [repeated.clone(), format!(".entry k() {{ {repeated}")] {
            let begun = std::time::Instant::now();
            drop(read(&text));
            assert!(begun.elapsed().as_secs_f64() < 4.0, "{piece:?}: {:?}", begun.elapsed());
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        drop(read(&text));
    }

    #[test]
    fn an_outline_has_the_functions_of_the_whole_tree(from in 0..INLINED.len(), to in 0..INLINED.len()) {
        let text = INLINED.get(from.min(to)..from.max(to)).unwrap_or_default();
        let extents = |tree: &tree::Tree<'_>| -> Vec<_> {
            tree.functions.iter().map(|function| (function.name.to_owned(), function.end)).collect()
        };
        prop_assert_eq!(extents(&outline(text)), extents(&parse(text).0));
    }

    #[test]
    fn any_cut_of_a_real_text_is_read_without_panic(from in 0..INLINED.len(), to in 0..INLINED.len()) {
        let text = INLINED.get(from.min(to)..from.max(to)).unwrap_or_default();
        let module = read(text);
        for line in 0..250 {
            drop(module.line_map.at(line));
        }
    }
}
