//! Each source that no project can be made from, and what is said about it.

use crate::scaffold::{KernelSource, plan_from};

#[track_caller]
fn check(text: &str, kernel: Option<&str>, expected: &str) {
    let source = KernelSource { display_name: "k.cu", text, kernel, headers: &[] };
    let error = plan_from(&source).unwrap_err().to_string();
    assert!(error.contains(expected), "{text}\n  {error}\n  {expected}");
}

#[test]
fn a_source_without_the_kernel() {
    check("", None, "no kernel found");
    check("int main() { return 0; }", None, "no kernel found");
    check("__global__ void k(float*x);", None, "no kernel found");
    check(
        "__global__ void j() {}\n__global__ void k() {}",
        None,
        "2 kernels here: `j` at 1:17, `k` at 2:17",
    );
    check("__global__ void j() {}", Some("k"), "no kernel `k` here; there is `j` at 1:17");
    check(
        "__global__ void k(int*x) {}\n__global__ void k(float*x) {}",
        None,
        "`k` is defined more than once",
    );
    check(
        "__global__ void k(int*x) {}\n__global__ void k(float*x) {}",
        Some("k"),
        "rename all but one",
    );
}

#[test]
fn a_kernel_that_no_build_compiles() {
    let kernel = "__global__ void k(float*x) { *x = 1; }\n";
    let expected = "2:17: `k` is in a branch of a conditional that is not compiled";
    check(&format!("#ifdef USE_IT\n{kernel}#endif\n"), None, expected);
    check(&format!("#if 0\n{kernel}#endif\n"), Some("k"), expected);
}

#[test]
fn a_broken_source_names_the_first_place() {
    check("\n  __global__ void k(float *x, int n) { x = 2 }", None, "2:");
    check("__global__ void k(float *x, FOO(int) n y) {}", None, "cannot read the signature of `k`");
    check(
        "float a;\n/*@ lightbench( ) @*/ __global__ void k(float*x) {}",
        None,
        "2:1: there is a launch block",
    );
    check(
        "__global__ void k(float*x) {\n  /*@ lightbenhc( ) @*/ }",
        None,
        "2:3: a comment that begins with `/*@`",
    );
    check("a\0b", None, "1:2: a NUL");
}

#[test]
fn parameters_that_no_project_has() {
    let with =
        |parameter: &str| format!("struct S {{ float* p; }};\n__global__ void k({parameter}) {{}}");
    for (parameter, expected) in [
        ("float** x", "parameter `x` of `k` is `float** x`: a pointer to pointers"),
        ("const float x[][4]", "a pointer to pointers"),
        ("float& x", "takes no references"),
        ("float (&x)[3]", "takes no references"),
        ("float&& x", "takes no references"),
        ("float (*f)(float)", "a pointer to a function"),
        ("void* x", "its element type is unknown"),
        ("cudaTextureObject_t t", "textures are declared"),
        ("float4 v", "pass its components"),
        ("__nv_fp8_e4m3 v", "pass a float"),
        ("Unknown u", "expected an arithmetic type"),
        ("Unknown* u", "expected an arithmetic type"),
        ("S s", "plain scalar fields only"),
        ("long double x", "expected an arithmetic type"),
        ("float* x, ...", "must be fixed"),
    ] {
        check(&with(parameter), None, expected);
    }
    check(
        "template <typename... T> __global__ void k(T... x) {}",
        None,
        "template parameter `typename... T`",
    );
}

#[test]
fn structs_with_a_layout_of_their_own() {
    for definition in [
        "struct B {}; struct S : B { int n; };",
        "struct S { int n[3]; };",
        "struct S { int n : 3; };",
        "struct S { B b; };",
        "struct S {};",
        "struct __align__(16) S { int n; };",
        "struct alignas(16) S { int n; };",
        "struct S { virtual void f(); int n; };",
        "#pragma pack(1)\nstruct S { char c; int n; };",
    ] {
        let text = format!("{definition}\n__global__ void k(float* x, S s) {{}}");
        check(&text, None, "plain scalar fields only");
    }
}

#[test]
fn a_kernel_that_writes_nothing() {
    check("__global__ void k(const float* x, int n) {}", None, "nothing to check");
    check("__global__ void k() {}", None, "nothing to check");
}
