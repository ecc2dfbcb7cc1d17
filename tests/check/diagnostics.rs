//! Compiler messages stand at the right file, line and column, wherever the mistake is.

use super::*;

/// Replaces `old` in a file of the project, and expects the message at the place, in both forms.
struct Mistake {
    file: &'static str,
    old: &'static str,
    new: &'static str,
    kernel: &'static str,
    message: &'static str,
    /// File, line and column; the path is the one to click on in text, the document has the short one.
    place: (&'static str, &'static str, u64, u64),
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        file: "kernels/naive.cu",
        old: "alpha * x[i]",
        new: "alpha * z[i]",
        kernel: "naive",
        message: "identifier \"z\" is undefined",
        place: ("scale/kernels/naive.cu", "kernels/naive.cu", 10, 20),
    },
    Mistake {
        file: "kernels/naive.cu",
        old: "y[i] = alpha * x[i];",
        new: "/* € ä */ y[i] = alpha * x[i]",
        kernel: "naive",
        message: "expected a \";\"",
        place: ("scale/kernels/naive.cu", "kernels/naive.cu", 11, 3),
    },
    Mistake {
        file: "include/index.cuh",
        old: "threadIdx.x;",
        new: "threadIdx.w;",
        kernel: "naive",
        message: "class \"uint3\" has no member \"w\"",
        place: ("scale/include/index.cuh", "index.cuh", 4, 70),
    },
    Mistake {
        file: "kernels/tuned.cu",
        old: "step < Unroll",
        new: "step < Unroll::x",
        kernel: "tuned",
        message: "name followed by \"::\" must be a class or namespace name",
        place: ("scale/kernels/tuned.cu", "kernels/tuned.cu", 16, 29),
    },
    // Found only when the template is instantiated with the parameters of the launch.
    Mistake {
        file: "kernels/tuned.cu",
        old: "  const long long first",
        new: "  static_assert(Unroll == 3, \"three\");\n  const long long first",
        kernel: "tuned",
        message: "static assertion failed with \"three\"",
        place: ("scale/kernels/tuned.cu", "kernels/tuned.cu", 14, 3),
    },
    Mistake {
        file: "reference.cu",
        old: "fabs(y[i])",
        new: "fabs(y[i]",
        kernel: "reference",
        message: "expected a \")\"",
        place: ("scale/reference.cu", "reference.cu", 10, 29),
    },
];

#[test]
fn a_mistake_is_shown_where_it_is() {
    if compiler::required().is_none() {
        return;
    }
    for mistake in MISTAKES {
        let Mistake { file, old, new, kernel, message, place } = mistake;
        let (path, name, line, column) = *place;
        let bench = Bench::new();
        bench.edit(file, old, new);
        let said = check_scale(&bench, &["--kernel", kernel]);
        said.expect(1, &[message, &format!("--> {path}:{line}:{column}\n"), "failed: compile"]);
        let document = check_scale(&bench, &["--kernel", kernel, "--json"]).json();
        let failure = &document["kernels"][0]["failure"];
        assert_eq!(failure["kind"], "compile");
        let text = failure["diagnostics"][0].to_string();
        for part in [
            format!("\"file\":\"{name}\""),
            format!("\"line\":{line}"),
            format!("\"column\":{column}"),
        ] {
            assert!(text.contains(&part), "{part} in {text}");
        }
    }
}

#[test]
fn an_error_inside_a_template_says_what_instantiated_it() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    std::fs::write(
        bench.path().join("table.cu"),
        "template <int N> struct Table { float values[N]; };\n\
         template <int N> __device__ float sum(const Table<N>& table) {\n\
         \x20 return table.values[0] + table.missing;\n\
         }\n\
         __global__ void f(float* x) { Table<4> t; t.values[0] = *x; *x = sum(t); }\n",
    )
    .unwrap();
    bench.run(&["check", "table.cu"]).expect(
        1,
        &[
            "class \"Table<4>\" has no member \"missing\"",
            "--> table.cu:3:34",
            "instantiation of \"float sum(const Table<N> &) [with N=4]\" (table.cu:5)",
        ],
    );
}

#[test]
fn warnings_do_not_fail_a_kernel() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.edit("kernels/naive.cu", "  if (i", "  int unused_count = 3;\n  if (i");
    let said = check_scale(&bench, &["--kernel", "naive"]);
    said.expect(0, &["warning", "unused_count", "--> scale/kernels/naive.cu:9:7"]);
    // A warning is not lost when the kernel comes from the cache.
    check_scale(&bench, &["--kernel", "naive"]).expect(0, &["from the cache", "unused_count"]);
}

#[test]
fn the_prelude_is_counted_in_no_line() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let file = bench.path().join("first.cu");
    std::fs::write(file, "nonsense;\n__global__ void f() {}\n").unwrap();
    bench.run(&["check", "first.cu"]).expect(1, &["--> first.cu:1:1\n"]);
}
