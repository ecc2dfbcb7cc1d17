//! Arbitrary text gives a result and never a panic, in time linear in its length.

use super::{Module, kernel, texts};
use proptest::prelude::*;
use std::sync::LazyLock;

static REAL: LazyLock<Vec<String>> = LazyLock::new(|| {
    let texts = texts("modules").into_iter().map(|(_, text)| text);
    texts.filter(|text| text.len() < 40_000).collect()
});

/// Pieces that PTX is made of, in any order.
const PIECES: &[&str] = &[
    ".version 8.5\n",
    ".target sm_90\n",
    ".address_size 64\n",
    ".visible .entry k(",
    ".func f",
    ".param .u64 a",
    ".reg .b32 %r<9>;",
    ".reg .pred %p<3>;",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "%r1",
    "%p1",
    "a",
    "+",
    "-",
    "4",
    "0f3F800000",
    "0d0000000000000001",
    "add.s32",
    "ld.param.u64",
    "st.global.v4.f32",
    "@%p1",
    "@!%p1",
    "bra L;",
    "L:",
    "call.uni (",
    "_",
    "|",
    "!",
    ".loc 1 2 3",
    ", inlined_at 1 2 3",
    ".shared .align 16 .b8 s[",
    ".global .u64 g[2] = {generic(s), 1};",
    "mov.b64 %r1, {",
    ".section .debug_str {",
    "x: .callprototype (.param .b32 _) _ ();",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "<",
    ">",
    "=",
    "%tid.x",
    "99999999999999999999",
    "0x",
    "\u{fffd}",
    ".align 3",
    ".alias a, b;",
    "setp.lt.and.s32",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        answer(&text);
        answer(&kernel(&text));
    }

    #[test]
    fn any_pieces_are_answered(pieces in proptest::collection::vec(0..PIECES.len(), 0..80)) {
        let text: String = pieces.iter().flat_map(|index| [PIECES[*index], " "]).collect();
        answer(&text);
        answer(&kernel(&text));
    }

    #[test]
    fn truncated_modules_are_answered(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let text = which.get(&REAL);
        let end = text.floor_char_boundary(at.index(text.len()));
        answer(&text[..end]);
    }

    #[test]
    fn mutated_modules_are_answered(
        which in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len(), 0..12_usize), 1..6),
    ) {
        let mut text = which.get(&REAL).clone();
        for (at, piece, length) in edits {
            let start = text.floor_char_boundary(at.index(text.len()));
            let end = text.floor_char_boundary((start + length).min(text.len()));
            text.replace_range(start..end, PIECES[piece]);
        }
        answer(&text);
    }
}

/// Errors are as good as a module; they are also put into words, which must not panic either.
fn answer(text: &str) {
    if let Err(errors) = Module::load(text) {
        assert!(!errors.is_empty());
        assert!(errors.iter().all(|error| !error.to_string().is_empty()));
    }
}

#[track_caller]
fn check_bounded(text: &str) {
    let errors = Module::load(text).expect_err("it is no module");
    assert!(errors.len() <= 101, "{} errors", errors.len());
    assert!(errors.iter().all(|error| error.to_string().len() < 6_000));
}

#[test]
fn garbage_of_any_kind_gives_a_bounded_number_of_short_errors() {
    const LONG: usize = 4_000_000;
    for piece in [
        "{",
        "}",
        "(",
        "[",
        ";",
        "%",
        "a ",
        "@",
        "- ",
        "\u{1F600}",
        "0",
        "/*",
        "\"",
        "{;",
        "a:",
        "!",
        ". ",
    ] {
        let text = piece.repeat(LONG / piece.len());
        check_bounded(&text);
        check_bounded(&kernel(&format!("add.s32 {text}")));
    }
    check_bounded(&kernel(&"{".repeat(1_000_000)));
    check_bounded(&kernel(&"add.s32 %x, %y, %z;\n".repeat(100_000)));
    check_bounded(&kernel(&format!("add.{}s32 %x, %y, %z;", "rn.".repeat(1_000_000))));
    check_bounded(&format!(".global .b8 g[2] = {{{}", "{".repeat(1_000_000)));
    check_bounded(".global .b8 g[2][99999999999][99999999999999] = {{1}, {1}};");
    check_bounded(".global .b8 g[][9223372036854775809] = {{1}, {1}, {1}};");
    check_bounded(&".global .b8 g[2][1000000000] = {{1}, {1}};".repeat(3));
    check_bounded(&".global .f8 c;".repeat(100_000));
    check_bounded(&kernel(&format!("{}mov.u32 %r1, 1;{}", "{".repeat(40), "}".repeat(40))));
    check_bounded(&kernel(
        ".local .b8 big[99999999999];.reg .b32 %r<99999999999>; mov.u32 %r99999999999, 1;",
    ));
}
