//! Compiler options in fields that are not for them, and text that would command a terminal.

use super::*;

const SECRET: &str = "--include-path=/etc";

const OPTIONS: &[Case] = &[
    Case {
        name: "an option in a flag's expression",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "steps:",
                "flags: [maxrregcount(\"64 --include-path=/etc\")],\n    steps:",
            );
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:"],
    },
    Case {
        name: "an option as a flag",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "steps:",
                "flags: [include_path(\"/etc\")],\n    steps:",
            );
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:13", "`include_path`", "one of fast_math"],
    },
    Case {
        name: "an option as a language",
        change: |bench| {
            bench.edit("kernels/naive.cu", "steps:", "flags: [std(\"c++17 -I/etc\")],\n    steps:");
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:"],
    },
    Case {
        name: "an option in a kernel's name",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "kernel: \"scale\"",
                &format!("kernel: \"scale {SECRET}\""),
            );
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:", "in the name of a kernel"],
    },
    Case {
        name: "a line break in a kernel's name",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "kernel: \"scale\"",
                "kernel: \"scale\\n#include </etc/passwd>\"",
            );
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:", "in the name of a kernel"],
    },
    Case {
        name: "an option in a parameter's name",
        change: |bench| {
            bench.edit(
                "kernels/tuned.cu",
                "\"UNROLL\": [4, 8]",
                &format!("\"UNROLL=1 {SECRET}\": [4, 8]"),
            );
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/tuned.cu:3:36", "is not an identifier"],
    },
    Case {
        name: "an option in an axis's name",
        change: |bench| bench.edit("project.ron", "(name: \"cols\"", "(name: \"cols=1 -I/etc\""),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:8:", "is not an identifier"],
    },
    Case {
        name: "an option in the value of a parameter",
        change: |_| {},
        arguments: &["check", "scale", "--kernel", "tuned", "--param", "BLOCK=128 -I/etc"],
        status: 2,
        says: &["is not an integer"],
    },
    Case {
        name: "an option as the architecture",
        change: |bench| {
            bench.edit("kernels/naive.cu", "steps:", "arch: \"sm_90 -I/etc\",\n    steps:");
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:3:"],
    },
    Case {
        name: "an option as a device",
        change: |_| {},
        arguments: &["check", "scale", "--device", "../../etc/passwd"],
        status: 2,
        says: &["no device sheet is named `../../etc/passwd`"],
    },
];

#[test]
fn options_reach_the_compiler_through_no_field() {
    check_all(Needs::Compiler, OPTIONS);
}

const ESCAPES: &[Case] = &[
    Case {
        name: "in #line",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "__global__",
                "#line 7 \"\u{1b}[2Jred\"\nint x = y;\n__global__",
            );
        },
        arguments: NAIVE,
        status: 1,
        says: &["\\u{1b}[2Jred:7:"],
    },
    Case {
        name: "as an escape in #line",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "__global__",
                "#line 7 \"\\033[2Jred\"\nint x = y;\n__global__",
            );
        },
        arguments: NAIVE,
        status: 1,
        says: &["[2Jred:7:"],
    },
    Case {
        name: "in #error",
        change: |bench| {
            bench.edit("kernels/naive.cu", "__global__", "#error \u{1b}]0;title\u{7}\n__global__");
        },
        arguments: NAIVE,
        status: 1,
        says: &["\\u{1b}]0;title\\u{7}", "--> scale/kernels/naive.cu:7:2"],
    },
    Case {
        name: "in a static assertion",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "__global__",
                "static_assert(false, \"\\x1b[31m \u{202e}\");\n__global__",
            );
        },
        arguments: NAIVE,
        status: 1,
        says: &["--> scale/kernels/naive.cu:7:1"],
    },
    Case {
        name: "in a warning that is shown",
        change: |bench| {
            bench.edit("kernels/naive.cu", "__global__", "#warning \u{1b}[31mred\n__global__");
        },
        arguments: NAIVE,
        status: 0,
        says: &["\\u{1b}[31mred"],
    },
    Case {
        name: "in the project's title",
        change: |bench| {
            bench.edit("project.ron", "Scale a matrix", "Scale \\u{1b}[31m a \u{202e}matrix");
        },
        arguments: NAIVE,
        status: 0,
        says: &["Scale \\u{1b}[31m a \\u{202e}matrix"],
    },
    Case {
        name: "in a kernel's title",
        change: |bench| bench.edit("kernels/naive.cu", "One thread", "\u{1b}[31mOne thread"),
        arguments: &["check", "scale", "--kernel", "naive", "--json"],
        status: 0,
        says: &["\\u001b[31mOne thread"],
    },
    Case {
        name: "in a kernel's file name",
        change: |bench| bench.write("kernels/a\u{1b}[31m.cu", ""),
        arguments: SCALE,
        status: 1,
        says: &["a\\u{1b}[31m.cu"],
    },
    Case {
        name: "in an unknown field",
        change: |bench| bench.edit("project.ron", "summary:", "r#\u{1b}[31m:"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:5:"],
    },
    Case {
        name: "in a key",
        change: |bench| bench.edit("project.ron", "\"rows\": 3", "\"\\u{1b}[31mrows\": 3"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:19:", "\\u{1b}[31mrows"],
    },
    Case {
        name: "in a path",
        change: |_| {},
        arguments: &["check", "no\u{1b}[31mwhere"],
        status: 2,
        says: &["no\\u{1b}[31mwhere"],
    },
    Case {
        name: "in a kernel's name that is asked for",
        change: |_| {},
        arguments: &["check", "scale", "--kernel", "\u{1b}[31m"],
        status: 2,
        says: &["unknown kernel `\\u{1b}[31m`"],
    },
    Case {
        name: "in a source line that is quoted",
        change: |bench| {
            bench.edit(
                "kernels/naive.cu",
                "alpha * x[i]",
                "/* \u{1b}[31m \u{202e} */ alpha * z[i]",
            );
        },
        arguments: NAIVE,
        status: 1,
        says: &["/* \\u{1b}[31m \\u{202e} */ alpha * z[i]", "identifier \"z\" is undefined"],
    },
    Case {
        name: "in SASS and PTX listings",
        change: |bench| {
            bench.edit("kernels/naive.cu", "__global__", "#line 7 \"\u{1b}[31m\"\n__global__");
        },
        arguments: &["check", "scale", "--kernel", "naive", "--sass", "--ptx"],
        status: 0,
        says: &["033[31m:7"],
    },
];

#[test]
fn terminals_are_commanded_by_no_text() {
    check_all(Needs::Compiler, ESCAPES);
}
