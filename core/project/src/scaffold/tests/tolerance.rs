//! Any text at all: no panic, no hang, and what is written still reads.

use proptest::prelude::*;

use super::format;
use crate::scaffold::{KernelSource, ScaffoldError, SourceError, plan_from};

fn plan_any(display_name: &str, text: &str, kernel: Option<&str>) {
    if let Ok(plan) = plan_from(&KernelSource { display_name, text, kernel, headers: &[] }) {
        format::manifest(&plan.files[0].text);
        format::block(&plan.files[1].text);
        format::block(&plan.files[2].text);
    }
}

/// Pieces of sources, put together in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "__global__ void k(",
        "float* x",
        "const int n",
        ", ",
        ") {",
        "}",
        "x[0] = 1;",
        "template <",
        "typename T",
        "int N = 2",
        "> ",
        "struct S { int a; };",
        "S s",
        "#define A B\n",
        "#define B A\n",
        "A ",
        "/* ",
        " */",
        "// é\n",
        "\"",
        "'",
        "\\\n",
        "(",
        ")",
        "<<<1, A>>>",
        "namespace a {",
        "::",
        "__launch_bounds__(A)",
        "alignas(",
        "#if 1\n",
        "#endif\n",
        "\r\n",
        "extern \"C\" ",
        "k",
        ";",
        "=",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), name in any::<String>()) {
        plan_any(&name, &text, Some(&name));
    }

    #[test]
    fn any_pieces_are_read_or_refused(text in pieces(), name in any::<String>()) {
        plan_any(&name, &text, None);
    }

    #[test]
    fn any_name_fits_into_the_texts(name in any::<String>()) {
        plan_any(&name, "__global__ void k(float* x, int n) { x[0] = n; }", None);
    }
}

#[test]
fn a_megabyte_around_a_kernel() {
    let function = "__device__ float f(float a) { return a * 2.0f + 1.0f; } // größer\n";
    let text =
        format!("{}__global__ void k(float* x, int n) {{ x[0] = n; }}\n", function.repeat(16_000));
    assert!(text.len() > 1_000_000);
    let plan =
        plan_from(&KernelSource { display_name: "k.cu", text: &text, kernel: None, headers: &[] })
            .unwrap();
    assert!(plan.files[2].text.ends_with(&text));
}

#[test]
fn hostile_texts_end() {
    for unit in [
        "(",
        "{",
        "a<",
        "namespace a {",
        "alignas(",
        "#if 1\n",
        "x ",
        "\"",
        "[[",
        "/*",
        "k<<<",
        "{([",
    ] {
        plan_any("k.cu", &unit.repeat(20_000), None);
    }
    let source = KernelSource {
        display_name: "k.cu",
        text: &"x<".repeat(200_000),
        kernel: None,
        headers: &[],
    };
    assert!(matches!(plan_from(&source), Err(ScaffoldError::Source(SourceError::GaveUp { .. }))));
    let doubling: String =
        (0..30).map(|level| format!("#define A{level} (A{0}+A{0}*A{0})\n", level + 1)).collect();
    let kernel = "__global__ void k(float* x) { x[0] = 1; }\nvoid run() { k<<<1, A0>>>(x); }";
    plan_any("k.cu", &format!("{doubling}{kernel}"), None);
}
