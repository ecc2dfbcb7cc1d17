//! Wrappers as people write them, and what is read from them.

use std::collections::BTreeMap;

use lightbench_primitives::dtype::Dtype;
use proptest::prelude::*;

use super::{
    ArgumentValue, Axes, Known, KnownInput, Step, TensorOrigin, Wrapper, axes, read_wrapper,
    wrappers,
};
use crate::Source;

/// A kernel that most cases launch.
const ROWS: &str = "
template <typename T>
__global__ void rows_k(T* out, const T* in, int rows, int cols) { out[0] = in[rows + cols]; }
__global__ void add_k(const float* a, const float* b, float* out, int n) { out[n] = a[n] + b[n]; }
__global__ void scale_k(float* y, const float* x, float factor, long n) { y[n] = x[n] * factor; }
";

fn read(text: &str, known: &Known) -> Result<(Wrapper, Axes), String> {
    let source = Source::parse(text).map_err(|error| error.to_string())?;
    let wrapper = read_wrapper(&source, None, known).map_err(|error| error.to_string())?;
    let axes = axes(&wrapper, &BTreeMap::new(), &|_| false);
    Ok((wrapper, axes))
}

/// A description in a few lines: axes, tensors, conditions, steps.
fn described(wrapper: &Wrapper, axes: &Axes) -> String {
    let mut lines = Vec::new();
    let limits = axes.axes.iter().map(|axis| {
        let max = axis.max.map_or(String::new(), |max| format!("..{max}"));
        let multiple =
            if axis.multiple_of > 1 { format!("*{}", axis.multiple_of) } else { String::new() };
        let min = if axis.min > 1 { format!(">={}", axis.min) } else { String::new() };
        format!("{}{min}{max}{multiple}", axis.name)
    });
    lines.push(format!("axes {}", limits.collect::<Vec<_>>().join(" ")));
    for (index, tensor) in wrapper.tensors.iter().enumerate() {
        let shape: Vec<String> =
            axes.shapes[index].iter().map(|size| axes.text(size).expect("a size")).collect();
        let kind = match (&tensor.origin, wrapper.returned.contains(&index)) {
            (TensorOrigin::Parameter(_), false) => "in",
            (TensorOrigin::Parameter(_), true) => "in out",
            (TensorOrigin::Allocated(_), true) => "out",
            (TensorOrigin::Allocated(_), false) => "scratch",
        };
        let dtype = tensor.dtype.map_or("?", Dtype::name);
        lines.push(format!("{kind} {} {dtype} [{}]", tensor.name, shape.join(", ")));
    }
    for condition in &axes.conditions {
        lines.push(format!("require {}", axes.condition_text(condition).unwrap_or_default()));
    }
    lines.extend(wrapper.steps.iter().map(|step| step_text(wrapper, axes, step)));
    lines.join("\n")
}

fn step_text(wrapper: &Wrapper, axes: &Axes, step: &Step) -> String {
    let launch = match step {
        Step::Fill { tensor, value } => {
            return format!("fill {} {value}", wrapper.tensors[*tensor].name);
        }
        Step::Launch(launch) => launch,
    };
    let list = |values: &[super::Integer]| {
        let texts = values.iter().map(|value| axes.text(value).unwrap_or("?".to_owned()));
        texts.collect::<Vec<_>>().join(", ")
    };
    let arguments = launch.arguments.iter().map(|argument| match &argument.value {
        ArgumentValue::Tensor { tensor, .. } => wrapper.tensors[*tensor].name.clone(),
        ArgumentValue::Null => "null".to_owned(),
        ArgumentValue::Integer(value, dtype) => {
            format!("{}: {}", axes.text(value).unwrap_or("?".to_owned()), dtype.name())
        }
        ArgumentValue::Real(value, dtype) => format!("{value:?}: {}", dtype.name()),
        ArgumentValue::Boolean(value) => value.to_string(),
        ArgumentValue::BooleanParameter(position) => wrapper.parameters[*position].name.clone(),
    });
    let template = match launch.template_arguments.as_slice() {
        [] => String::new(),
        some => format!("<{}>", some.join(", ")),
    };
    format!(
        "{}{template} [{}] [{}] {} ({})",
        launch.kernel,
        list(&launch.grid),
        list(&launch.block),
        list(std::slice::from_ref(&launch.shared)),
        arguments.collect::<Vec<_>>().join(", ")
    )
}

fn check(wrapper: &str, expected: &str) {
    check_known(wrapper, &Known::default(), expected);
}

fn check_known(wrapper: &str, known: &Known, expected: &str) {
    let (read, axes) = match read(&format!("{ROWS}{wrapper}"), known) {
        Ok(read) => read,
        Err(error) => panic!("{wrapper}\n{error}"),
    };
    let lines: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(described(&read, &axes), lines.join("\n"), "{wrapper}");
}

/// The line counts from that of the wrapper.
fn refuse(wrapper: &str, expected: &str) {
    let above = ROWS.matches('\n').count();
    let text = format!("{ROWS}{wrapper}");
    let source = Source::parse(&text).expect("parses");
    let error = read_wrapper(&source, None, &Known::default()).expect_err(wrapper);
    let found = format!("{}: {}: {}", error.place.line - above, error.why, error.found);
    assert!(found.starts_with(expected), "{wrapper}\nfound    {found}\nexpected {expected}");
}

#[test]
fn element_wise() {
    check(
        "torch::Tensor add(torch::Tensor a, torch::Tensor b) {
            auto size = a.numel();
            auto out = torch::zeros_like(a);
            const int block_size = 256;
            const int num_blocks = (size + block_size - 1) / block_size;
            add_k<<<num_blocks, block_size>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), size);
            return out;
        }",
        "axes size
        in a f32 [size]
        in b f32 [size]
        out out f32 [size]
        fill out 0
        add_k [ceil_div(size, 256), 1, 1] [256, 1, 1] 0 (a, b, out, size: i32)",
    );
}

#[test]
fn a_dispatch_takes_f32_or_what_is_asked_for() {
    let text = "torch::Tensor f(const torch::Tensor& x) {
        TORCH_CHECK(x.is_cuda() && x.is_contiguous(), \"x\");
        TORCH_CHECK(x.dim() == 2, \"two dimensions\");
        const auto rows = x.size(0), cols = x.size(1);
        auto y = torch::empty_like(x);
        AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), \"f\", ([&] {
            rows_k<scalar_t><<<rows, 128, 32 * sizeof(scalar_t), at::cuda::getCurrentCUDAStream()>>>(
                y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), static_cast<int>(rows), (int)cols);
        }));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        return y;
    }";
    for (dtype, name, c_name, shared) in [
        (None, "f32", "float", 128),
        (Some(Dtype::F16), "f16", "__half", 64),
        (Some(Dtype::Bf16), "bf16", "__nv_bfloat16", 64),
        (Some(Dtype::F64), "f64", "double", 256),
    ] {
        check_known(
            text,
            &Known { dtype, ..Known::default() },
            &format!(
                "axes rows cols
                in x {name} [rows, cols]
                out y {name} [rows, cols]
                rows_k<{c_name}> [rows, 1, 1] [128, 1, 1] {shared} (y, x, rows: i32, cols: i32)"
            ),
        );
    }
}

#[test]
fn branches_on_the_dtype_are_a_dispatch() {
    check(
        "void f(at::Tensor y, at::Tensor x) {
            int cols = x.size(-1);
            int rows = x.numel() / cols;
            if (x.scalar_type() == at::kHalf) {
                rows_k<<<rows, 32>>>(reinterpret_cast<__half*>(y.data_ptr<at::Half>()), (const __half*)x.data_ptr<at::Half>(), rows, cols);
            } else if (x.scalar_type() == at::kFloat) {
                rows_k<<<rows, 32>>>(y.data_ptr<float>(), x.data_ptr<float>(), rows, cols);
            } else {
                TORCH_CHECK(false, \"unsupported\");
            }
        }",
        "axes rows cols
        in y f32 [rows, cols]
        in x f32 [rows, cols]
        rows_k<float> [rows, 1, 1] [32, 1, 1] 0 (y, x, rows: i32, cols: i32)",
    );
}

#[test]
fn checks_named_after_their_comparison_are_read() {
    for name in ["TORCH_CHECK", "TVM_FFI_ICHECK", "CHECK"] {
        let text = "torch::Tensor f(torch::Tensor x, torch::Tensor w) {
            NAME_EQ(x.dim(), 1); NAME_EQ(w.dim(), 1);
            NAME_EQ(x.shape()[0], w->shape[0]) << \"sizes\"; NAME_LE(x.size(0), 1024);
            auto y = at::empty_like(x);
            int n = x.size(0);
            add_k<<<1, n>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), n);
            return y;
        }";
        let text = text.replace("NAME", name);
        let text = if name == "TVM_FFI_ICHECK" { text } else { text.replace(" << \"sizes\"", "") };
        check(
            &text,
            "axes n..1024
            in x f32 [n]
            in w f32 [n]
            out y f32 [n]
            add_k [1, 1, 1] [n, 1, 1] 0 (x, w, y, n: i32)",
        );
    }
}

#[test]
fn checks_become_limits_and_conditions() {
    check(
        "torch::Tensor f(torch::Tensor x, torch::Tensor w) {
            TORCH_CHECK(x.dim() == 2); TORCH_CHECK(w.dim() == 1);
            TORCH_CHECK(x.size(1) == w.size(0), \"columns\");
            int rows = x.size(0), cols = x.sizes()[1];
            TORCH_CHECK(cols % 4 == 0 && cols <= 1024 && rows * cols < 100000);
            if (rows == 0) return x;
            if (x.device() != w.device()) { throw std::runtime_error(\"devices\"); }
            auto y = at::empty({rows, cols}, x.options());
            add_k<<<dim3(rows), dim3(std::min(cols, 256)), 0>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), cols);
            return y;
        }",
        "axes rows cols>=4..1024*4
        in x f32 [rows, cols]
        in w f32 [cols]
        out y f32 [rows, cols]
        require rows * cols < 100000
        add_k [rows, 1, 1] [min(cols, 256), 1, 1] 0 (x, w, y, cols: i32)",
    );
}

#[test]
fn functions_and_macros_of_the_file_are_followed() {
    check(
        "#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x \" must be a CUDA tensor\")
        #define CHECK_INPUT(x) CHECK_CUDA(x); TORCH_CHECK(x.is_contiguous(), #x)
        #define BLOCKS(n) (((n) + THREADS - 1) / THREADS)
        constexpr int THREADS = 128;
        inline unsigned int cdiv(unsigned int a, unsigned int b) { return (a + b - 1) / b; }
        template <typename T, int BLOCK>
        void run(torch::Tensor& y, const torch::Tensor& x, int n) {
            rows_k<T><<<cdiv(n, BLOCK), BLOCK>>>(y.data_ptr<T>(), x.data_ptr<T>(), n, BLOCKS(n));
        }
        torch::Tensor f(torch::Tensor x) {
            CHECK_INPUT(x);
            int n = x.numel();
            auto y = torch::empty(x.sizes(), x.options());
            dim3 grid(THREADS, 2);
            run<float, 64>(y, x, n);
            add_k<<<grid, THREADS>>>(x.data_ptr<float>(), nullptr, y.data_ptr<float>(), n);
            return y;
        }",
        "axes n
        in x f32 [n]
        out y f32 [n]
        rows_k<float> [ceil_div(n, 64), 1, 1] [64, 1, 1] 0 (y, x, n: i32, ceil_div(n, 128): i32)
        add_k [128, 2, 1] [128, 1, 1] 0 (x, null, y, n: i32)",
    );
}

#[test]
fn scratch_scalars_and_several_launches() {
    check(
        "std::vector<torch::Tensor> f(torch::Tensor x, double factor, int64_t chunks = 4) {
            const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
            int64_t n = x.numel();
            auto options = torch::TensorOptions().dtype(torch::kFloat32).device(x.device());
            torch::Tensor partial = torch::zeros({chunks, n}, options);
            auto total = torch::full({1}, 2.5, options);
            auto y = torch::empty_like(x);
            scale_k<<<chunks, 256>>>(partial.data_ptr<float>(), x.data_ptr<float>(), static_cast<float>(factor), chunks * n);
            scale_k<<<ceil((float)n / 256), 256>>>(y.data_ptr<float>(), partial.data_ptr<float>(), 1.0f / sqrtf(4.0f), n);
            cudaError_t err = cudaGetLastError();
            if (err != cudaSuccess) { printf(\"%s\", cudaGetErrorString(err)); }
            return {y, total};
        }",
        "axes n
        in x f32 [n]
        scratch partial f32 [chunks, n]
        out total f32 [1]
        out y f32 [n]
        fill partial 0
        fill total 2.5
        scale_k [chunks, 1, 1] [256, 1, 1] 0 (partial, x, Parameter(1): f32, chunks * n: i64)
        scale_k [ceil_div(n, 256), 1, 1] [256, 1, 1] 0 (y, partial, Binary(Divide, Literal(1.0), Call(Sqrt, Literal(4.0))): f32, n: i64)",
    );
}

#[test]
fn a_caller_fixes_integers_and_ranks() {
    let inputs = BTreeMap::from([
        (0, KnownInput::Tensor { dtype: Some(Dtype::F32), rank: Some(3) }),
        (1, KnownInput::Integer(2)),
    ]);
    check_known(
        "torch::Tensor pool(torch::Tensor x, int k) {
            const int h = x.size(1);
            const int w = x.size(2);
            auto y = torch::empty({x.size(0), h / k, (w - k) / k + 1}, x.options());
            dim3 block(16, 16);
            dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y, x.size(0));
            rows_k<<<grid, block>>>(y.data_ptr<float>(), x.data_ptr<float>(), h << 1, w & ~31);
            return y;
        }",
        &Known { dtype: None, inputs },
        "axes x_0 h w
        in x f32 [x_0, h, w]
        out y f32 [x_0, h // 2, (w - 2) // 2 + 1]
        rows_k<float> [ceil_div(w, 16), ceil_div(h, 16), x_0] [16, 16, 1] 0 (y, x, h * 2: i32, w // 32 * 32: i32)",
    );
}

#[test]
fn names_do_not_collide() {
    check(
        "torch::Tensor f(torch::Tensor N, torch::Tensor m) {
            int n = N.size(0); int M = m.size(0);
            auto y = torch::empty({n, M}, N.options());
            add_k<<<n, 64>>>(N.data_ptr<float>(), m.data_ptr<float>(), y.data_ptr<float>(), M);
            return y.view({-1});
        }",
        "axes n_size M_size
        in N f32 [n_size]
        in m f32 [M_size]
        out y f32 [n_size * M_size]
        add_k [n_size, 1, 1] [64, 1, 1] 0 (N, m, y, M_size: i32)",
    );
}

#[test]
fn what_a_launch_block_cannot_express_is_refused_at_its_line() {
    let body = |statements: &str| {
        format!(
            "torch::Tensor f(torch::Tensor x, torch::Tensor z) {{\nint n = x.numel();\nauto y = torch::empty_like(x);\n\
             {statements}\nadd_k<<<n, 64>>>(x.data_ptr<float>(), z.data_ptr<float>(), y.data_ptr<float>(), n);\nreturn y;\n}}"
        )
    };
    for (statements, expected) in [
        ("x = torch::relu(x);", "4: an operator of PyTorch"),
        ("auto s = x.sum();", "4: an operator of PyTorch"),
        ("auto s = x + z;", "4: an operator of PyTorch"),
        ("x = x.to(torch::kHalf);", "4: an operator of PyTorch"),
        ("auto a = x.packed_accessor32<float, 1>();", "4: an accessor"),
        ("cudaDeviceSynchronize();", "4: the host waits"),
        ("float v = x.item<float>();", "4: the host waits"),
        ("for (int i = 0; i < 3; i++) {}", "4: a loop of the host"),
        ("while (n > 3) n /= 2;", "4: a loop of the host"),
        ("if (n > 1000) { add_k<<<1, 1>>>(nullptr, nullptr, nullptr, n); }", "4: a branch"),
        ("int t = n > 3 ? 64 : 128;", "4: a branch"),
        ("switch (n) { case 1: return x; }", "4: a branch"),
        ("TORCH_CHECK(1 > 2);", "4: the check fails"),
        ("unknown(x);", "4: this call has no counterpart"),
        ("float* p = x.data_ptr<float>() + 3;", "4: this is not the address"),
        ("int t = missing;", "4: nothing in the wrapper defines"),
        ("other_k<<<1, 1>>>();", "4: no kernel of this name"),
        ("add_k<<<1, 1>>>(nullptr);", "4: the number of arguments"),
        ("double* p = x.data_ptr<double>();", "5: the tensor is read as f32, and as f64"),
    ] {
        refuse(&body(statements), expected);
    }
}

#[test]
fn a_file_without_a_wrapper_is_refused() {
    for (text, expected) in [
        ("int main() {}", "no function here takes tensors"),
        (
            "void f(torch::Tensor x) { g<<<1, 1>>>(); } void h(torch::Tensor x) { g<<<1, 1>>>(); }",
            "there are several wrappers",
        ),
        (
            "void f(torch::Tensor x, std::string mode) { g<<<1, 1>>>(); }",
            "this parameter is neither",
        ),
    ] {
        let source = Source::parse(text).expect("parses");
        let error = read_wrapper(&source, None, &Known::default()).expect_err(text);
        assert!(error.why.to_string().starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn functions_that_call_each_other_end() {
    let endless = "void g(torch::Tensor x) { g(x); }\nvoid f(torch::Tensor x) { g(x); add_k<<<1, 1>>>(0, 0, 0, 1); }";
    let source = Source::parse(endless).expect("parses");
    let error = read_wrapper(&source, Some("f"), &Known::default()).expect_err("endless");
    assert_eq!(error.why, super::Why::TooLarge);
    let macros = "#define A(x) B(x); B(x)\n#define B(x) A(x); A(x)\nvoid f(torch::Tensor x) { A(x); add_k<<<1, 1>>>(0, 0, 0, 1); }";
    let source = Source::parse(macros).expect("parses");
    assert!(read_wrapper(&source, Some("f"), &Known::default()).is_err());
}

/// Reads every wrapper of a text in every way.
fn read_all(text: &str) {
    let Ok(source) = Source::parse(text) else { return };
    let names = wrappers(&source);
    for name in names.launching.iter().chain(&names.others).map(String::as_str).take(16) {
        for dtype in [None, Some(Dtype::F16)] {
            let known = Known { dtype, ..Known::default() };
            if let Ok(wrapper) = read_wrapper(&source, Some(name), &known) {
                let axes = axes(&wrapper, &BTreeMap::new(), &|name| name == "rows");
                drop(described(&wrapper, &axes));
            }
        }
    }
    drop(read_wrapper(&source, None, &Known::default()));
}

/// Words of wrappers, in any order.
fn words() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "torch::Tensor",
        "x",
        "y",
        "f",
        "(",
        ")",
        "{",
        "}",
        ";",
        ",",
        "=",
        "<<<",
        ">>>",
        "<",
        ">",
        "int",
        "auto",
        "x.size(0)",
        "x.numel()",
        ".view",
        "-1",
        "0",
        "2",
        "/",
        "*",
        "%",
        "dim3",
        "g",
        "add_k",
        "if",
        "return",
        "TORCH_CHECK",
        "==",
        "AT_DISPATCH_FLOATING_TYPES",
        "[&]",
        "x.scalar_type()",
        "\"s\"",
        "scalar_t",
        "x.data_ptr<float>()",
        "torch::empty",
        "torch::zeros_like",
        "#define A(x) x##x #x\n",
        "A(x)",
        "nullptr",
        "reinterpret_cast<float*>",
        "?",
        ":",
        "ceil",
        "sizeof(float)",
        "\n",
        "else",
        "9223372036854775807",
        "<<",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        read_all(&format!("{ROWS} torch::Tensor f(torch::Tensor x, int n) {{ {text} }}"));
    }

    #[test]
    fn no_order_of_words_panics(text in words()) {
        read_all(&format!("{ROWS} torch::Tensor f(torch::Tensor x, int n) {{ {text} }}"));
        read_all(&text);
    }
}
