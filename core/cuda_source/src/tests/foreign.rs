//! Constructs around and inside signatures that people write, and what is reported where they cannot be read.

use super::kernel::check;
use crate::Source;
use crate::{SourceError, kernels, read};

/// The source is refused with a message that contains `expected`.
#[track_caller]
fn refused(source: &str, expected: &str) {
    let error = read(source, None).unwrap_err().to_string();
    assert!(error.contains(expected), "{source}\n  {error}\n  {expected}");
}

#[test]
fn attributes_stand_around_the_specifiers() {
    check("[[maybe_unused]] __global__ void k(float*x) {}", "k<>(ptr float x)");
    check("__global__ void k([[maybe_unused]] int n) {}", "k<>(value int n)");
    check("__attribute__((noinline)) __global__ void k(int n) {}", "k<>(value int n)");
    check("__global__ __launch_bounds__(256, 2) void k(int n) {}", "k<>(value int n) @256");
    check("extern \"C\" __global__ void __launch_bounds__(64 * W) k() {}", "C k<>() @64 * W");
    check("template <int N> __launch_bounds__(N) __global__ void k() {}", "k<int N>() @N");
    check("__global__ void __cluster_dims__(2, 1, 1) k(int n) {}", "k<>(value int n)");
    check("__global__ __maxnreg__(32) void k(int n) {}", "k<>(value int n)");
    check("static inline __global__ void k(int n) {}", "k<>(value int n)");
}

#[test]
fn default_arguments_are_no_part_of_the_type() {
    check(
        "__global__ void k(float* x = nullptr, int n = (4, 5)) {}",
        "k<>(ptr float x, value int n)",
    );
    check(
        "__global__ void k(const char* s = \"){\", int n = ')') {}",
        "k<>(in char s, value int n)",
    );
}

#[test]
fn types_that_depend_on_a_template() {
    check(
        "template <typename T> __global__ void k(typename T::value* x, const typename Q<T>::type* y) {}",
        "k<type T>(ptr typename T::value x, in typename Q<T>::type y)",
    );
    check(
        "template <typename T> __global__ void k(V<T, 4> p, thrust::complex<float>* z) {}",
        "k<type T>(value V<T, 4> p, ptr thrust::complex<float> z)",
    );
    check(
        "template <typename T, typename = void> __global__ void k(T* x) {}",
        "k<type T, type _=void>(ptr T x)",
    );
    check("template <template <typename> class C> __global__ void k() {}", "k<other _>()");
}

#[test]
fn braces_in_comments_and_literals_do_not_end_a_body() {
    check("/* { */ __global__ void k(int n) { char c = '}'; f(\"}\"); } // {", "k<>(value int n)");
    check(
        "const char* s = R\"x(\n#define float int\n\")x\";\n__global__ void k(float y) {}",
        "k<>(value float y)",
    );
    check("const char* s = R\"(__global__ void no() {})\";\n__global__ void k() {}", "k<>()");
    check("int a = 1'000'000;\n__global__ void k(int n) {}", "k<>(value int n)");
}

#[test]
fn conditionals_around_a_kernel_are_looked_into() {
    check("#if 0\n#elif defined(X)\n__global__ void k(int n) {}\n#endif", "k<>(value int n)");
    check(
        "#if A\n#include <x>\n#endif\nnamespace a {\n#ifndef B\n__global__ void k() {}\n#endif\n}",
        "a::k<>()",
    );
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark() {
    check(
        "#define HINT \\\r\n    __restrict__\r\n__global__ void k(const float* HINT x,\r\n int n) {}\r\n",
        "k<>(in float x, value int n)",
    );
    check("\u{feff}#define R __restrict__\r\n__global__ void k(float* R x) {}", "k<>(ptr float x)");
    let place = |text: &str| read(text, None).unwrap().place.to_string();
    assert_eq!(place("\u{feff}__global__ void k() {}"), "1:17");
    assert_eq!(place("// größer\r\n/* é */ __global__ void k() {}"), "2:25");
}

#[test]
fn what_the_grammar_cannot_read_is_reported() {
    refused("__global__ void k(PTR(float) x, int n) {}", "signature of `k`");
    refused("#define KERNEL __global__ void\nKERNEL k(float* x) {}", "no kernel found");
}

#[test]
fn what_cannot_be_read_does_not_hide_the_kernels_after_it() {
    let text = "FOO(a b c) d\n__global__ void j() {}\n__global__ void k() {}";
    let source = Source::parse(text).unwrap();
    let names: Vec<&str> = kernels(&source).iter().map(|kernel| kernel.name(&source)).collect();
    assert!(source.first_error().is_some());
    assert_eq!(names.last(), Some(&"k"));
}

#[test]
fn more_parameters_than_the_driver_passes() {
    let parameters: Vec<String> = (0..5000).map(|index| format!("int a{index}")).collect();
    let text = format!("__global__ void k({}) {{}}", parameters.join(", "));
    let error = read(&text, None).unwrap_err();
    assert!(matches!(error, SourceError::TooManyParameters { count: 5000, .. }), "{error}");
}
