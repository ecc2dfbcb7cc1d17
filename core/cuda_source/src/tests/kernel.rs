//! Signatures in the styles that people write them.

use crate::{Passing, Signature, TemplateKind, read};

/// A signature in one line: `path<templates>(parameters) bounds`.
fn shown(signature: &Signature) -> String {
    let templates: Vec<String> = signature
        .templates
        .iter()
        .map(|template| {
            let kind = match &template.kind {
                TemplateKind::Type => "type",
                TemplateKind::Value(kind) => kind,
                TemplateKind::Other => "other",
            };
            let default = template.default.as_ref().map(|default| format!("={default}"));
            let name = template.name.as_deref().unwrap_or("_");
            format!("{kind} {name}{}", default.unwrap_or_default())
        })
        .collect();
    let parameters: Vec<String> = signature
        .parameters
        .iter()
        .map(|parameter| {
            let passing = match parameter.passing {
                Passing::Value => "value",
                Passing::ConstPointer => "in",
                Passing::Pointer => "ptr",
                Passing::PointerToPointer => "ptr2",
                Passing::Reference => "ref",
                Passing::Function => "function",
                Passing::Variadic => "variadic",
            };
            let restrict = if parameter.restrict { "!" } else { "" };
            let name = parameter.name.as_deref().unwrap_or("_");
            format!("{passing}{restrict} {} {name}", parameter.type_name)
        })
        .collect();
    let linkage = if signature.extern_c { "C " } else { "" };
    let bounds = signature.launch_bounds.as_ref().map(|bounds| format!(" @{bounds}"));
    format!(
        "{linkage}{}<{}>({}){}",
        signature.path(),
        templates.join(", "),
        parameters.join(", "),
        bounds.unwrap_or_default()
    )
}

#[track_caller]
pub(super) fn check(source: &str, expected: &str) {
    let signature = read(source, None).unwrap();
    assert_eq!(shown(&signature), expected, "{source}");
}

#[test]
fn plain_parameters_and_spellings_of_restrict() {
    check("__global__ void k(float*x, int n) {}", "k<>(ptr float x, value int n)");
    check(
        "__global__ void k(const float* __restrict__ a, float const *__restrict b, const float* const __restrict__ c) {}",
        "k<>(in! float a, in! float b, in! float c)",
    );
    check("__global__ void k(float* const p, const int n) {}", "k<>(ptr float p, value int n)");
    check("__global__ void k(float a[], const int b[16]) {}", "k<>(ptr float a, in int b)");
    check("__global__ void k(void) {}", "k<>()");
    check("__global__ void k(float*, int) {}", "k<>(ptr float _, value int _)");
    check("void __global__ k(float*x) {}", "k<>(ptr float x)");
    check("static __global__ void k(float*x) {}", "k<>(ptr float x)");
    check("__global__ inline void k(volatile float*x) {}", "k<>(ptr float x)");
    check(
        "__global__ void k(const __grid_constant__ P p, std::uint32_t q, unsigned  long\nlong r) {}",
        "k<>(value P p, value std::uint32_t q, value unsigned long long r)",
    );
}

#[test]
fn linkage_namespaces_and_conditionals_are_looked_into() {
    check("extern \"C\" __global__ void k(float*x) {}", "C k<>(ptr float x)");
    check("extern \"C\" {\n__global__ void k(float*x) {}\n}", "C k<>(ptr float x)");
    check("namespace a { namespace b { __global__ void k() {} } }", "a::b::k<>()");
    check("namespace a::b { __global__ void k() {} }", "a::b::k<>()");
    check("namespace { __global__ void k() {} }", "k<>()");
    check("#ifdef X\n#else\n__global__ void k() {}\n#endif", "k<>()");
}

#[test]
fn templates_keep_kinds_and_defaults() {
    check(
        "template <typename T = float, class U, int B = 128, bool V> __global__ void k(T*x, const U*y) {}",
        "k<type T=float, type U, int B=128, bool V>(ptr T x, in U y)",
    );
    check("template <typename... Ts> __global__ void k() {}", "k<other _>()");
    check(
        "template <typename T> __global__ void k(T*x) {}\ntemplate <> __global__ void k<int>(int*x) {}",
        "k<type T>(ptr T x)",
    );
}

#[test]
fn launch_bounds_stand_anywhere_before_the_name() {
    check("__global__ void __launch_bounds__(256, 2) k() {}", "k<>() @256");
    check("__launch_bounds__(B) __global__ void k() {}", "k<>() @B");
}

#[test]
fn declarations_comments_and_strings_are_no_kernels() {
    check("__global__ void k(float*x);\n__global__ void k(float*x) {}", "k<>(ptr float x)");
    check(
        "// __global__ void no() {}\n/* __global__ void no() {} */\n__global__ void k() {}",
        "k<>()",
    );
    check("const char* s = \"__global__ void no() {}\";\n__global__ void k() {}", "k<>()");
    check(
        "__global__ void k(/* in */ const float* x, // the input\n  float* y /* out */) {}",
        "k<>(in float x, ptr float y)",
    );
}

#[test]
fn macros_that_only_decorate_are_seen_through() {
    check(
        "#define RESTRICT __restrict__\n__global__ void k(const float* RESTRICT x) {}",
        "k<>(in! float x)",
    );
    check(
        "#define HOST_DEVICE __host__ __device__\nHOST_DEVICE float f(float a) { return a; }\n__global__ void k() {}",
        "k<>()",
    );
    check("__global__ void MY_ATTRIBUTE k(float*x) {}", "k<>(ptr float x)");
    check("CHECK(x) y z;\n__global__ void k(float*x) {}", "k<>(ptr float x)");
}

#[test]
fn line_ends_and_characters_do_not_matter() {
    check(
        "// größer\r\n__global__\r\nvoid\r\nk(float *x,\r\n  int n)\r\n{\r\n}\r\n",
        "k<>(ptr float x, value int n)",
    );
    check("\u{feff}__global__ void k() {}", "k<>()");
}

#[test]
fn a_kernel_is_chosen_by_its_name_or_its_path() {
    let source = "namespace a { __global__ void k() {} }\n__global__ void j() {}";
    for wanted in ["k", "a::k"] {
        assert_eq!(read(source, Some(wanted)).unwrap().path(), "a::k");
    }
    assert_eq!(read(source, Some("j")).unwrap().place.to_string(), "2:17");
}
