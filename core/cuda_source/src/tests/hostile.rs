//! Texts that make a reader slow: each ends within seconds, whatever it is read as.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::{
    HeaderText, Source, device_part, host_launch, items, kernels, list, read, structs,
    torch_wrapper, usage,
};

/// Far above what a linear reader takes in a test build, far below what a quadratic one takes.
const LIMIT: Duration = Duration::from_secs(20);

/// Reads everything that there is to read.
fn read_all(text: &str) {
    drop(list(text));
    read_device_part(text);
    let Ok(source) = Source::parse(text) else { return };
    let wrappers = torch_wrapper::wrappers(&source);
    for name in wrappers.launching.iter().chain(&wrappers.others).take(4) {
        let known = torch_wrapper::Known::default();
        drop(torch_wrapper::read_wrapper(&source, Some(name), &known));
    }
    for item in items(&source) {
        drop(source.place(item.node.start_byte()).to_string());
    }
    for kernel in kernels(&source).iter().take(64) {
        let Ok(signature) = kernel.signature(&source) else { continue };
        let launches = host_launch::find_all(&source, &signature.name);
        assert_eq!(host_launch::most_specific(&source, &launches).is_some(), !launches.is_empty());
        let names = signature.parameters.iter().filter_map(|each| each.name.as_deref());
        let names: BTreeSet<&str> = names.collect();
        drop(usage::read(&source, signature.body.clone(), &names, &names));
        for parameter in &signature.parameters {
            let resolved = source.resolve_type(&parameter.type_name);
            drop(structs::fields(&source, &resolved));
        }
    }
}

/// The device part has spaces in place of code, and nothing else differs.
fn read_device_part(text: &str) {
    let headers = [HeaderText { name: "a.h", text }];
    let Ok(Some(part)) = device_part(text, &headers) else { return };
    for found in [&part.text, &part.headers[0]] {
        assert_eq!(found.len(), text.len(), "{text:?}");
        for (new, old) in found.bytes().zip(text.bytes()) {
            assert!(new == old || (new == b' ' && old != b'\n' && old != b'\r'), "{text:?}");
        }
    }
    assert!(!part.left_out.is_empty(), "{text:?}");
}

#[test]
fn long_texts_are_read_in_linear_time() {
    let chain = format!("__global__ void k(int* p) {{ x = {}p; }}", "p + ".repeat(50_000));
    let nested = format!("__global__ void k(int n) {{ x = {}1; }}", "blockIdx.x * ".repeat(20_000));
    let wide = format!("namespace {} {{ {} }}", ["a"; 20_000].join("::"), "int x;".repeat(20_000));
    let one_line = "int größer;".repeat(20_000);
    let macros = format!("#define A {}\n{}", "inline ".repeat(30_000), "A ".repeat(60_000));
    let alias = format!(
        "using A = {} int;\n__global__ void k({}A z) {{}}",
        "unsigned ".repeat(60_000),
        "A a, ".repeat(4000)
    );
    let fields = format!(
        "{}struct S {{ int a; }};\n__global__ void k({}S z) {{}}",
        "int x;\n".repeat(20_000),
        "S a, ".repeat(4000)
    );
    for text in [chain, nested, wide, one_line, macros, alias, fields] {
        let begun = Instant::now();
        read_all(&text);
        let seconds = begun.elapsed();
        assert!(seconds < LIMIT, "{seconds:?} for {}…", text.get(..60).unwrap_or_default());
    }
}

#[test]
fn unclosed_constructs_are_read_in_linear_time() {
    for unit in [
        "(", "{", "/*", "R\"(", "\"", "'", "#", "# ", "a#", "R\"", "a\"(", "alignas(", "[[",
        "void A ", "\\\r\n",
    ] {
        let begun = Instant::now();
        read_all(&unit.repeat(60_000 / unit.len()));
        assert!(begun.elapsed() < LIMIT, "{:?} for {unit}", begun.elapsed());
    }
}

/// Pieces of sources, put together in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "__global__ ",
        "void ",
        "k(",
        "float* x",
        "const int n",
        ", ",
        ") ",
        "{",
        "}",
        "x[0] = 1;",
        "template <",
        "typename T",
        "int N = 2",
        "> ",
        "struct S { int a; };",
        "S s",
        "#define A B\n",
        "A ",
        "/* ",
        " */",
        "// é\n",
        "\"",
        "'",
        "R\"(",
        ")\"",
        "\\\n",
        "\\\r\n",
        "(",
        ")",
        "<<<1, A>>>",
        "namespace a {",
        "::",
        "__launch_bounds__(A)",
        "alignas(",
        "#if 1\n",
        "#else\n",
        "#endif\n",
        "\r\n",
        "\u{feff}",
        "extern \"C\" ",
        ";",
        "=",
        "...",
        "[[",
        "]]",
        "int main() { k<<<1, 1>>>(); }\n",
        "#include <vector>\n",
        "#ifdef A\n",
        "struct T { cudaEvent_t e; };\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>(), name in any::<String>()) {
        read_all(&text);
        drop(read(&text, Some(&name)));
    }

    #[test]
    fn any_pieces_are_read_without_panic(text in pieces()) {
        read_all(&text);
        drop(read(&text, None));
    }
}
