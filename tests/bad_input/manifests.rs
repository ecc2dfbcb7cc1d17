//! What may be wrong with `project.ron`.

use super::*;

const MANIFEST: &str = "project.ron";

fn shape(bench: &Bench, size: &str) {
    bench.edit(
        MANIFEST,
        "shape: [\"rows\", \"cols\"], role: input",
        &format!("shape: [\"rows\", \"{size}\"], role: input"),
    );
}

fn count(bench: &Bench, formula: &str) {
    bench.edit(MANIFEST, "count: \"rows * cols\"", &format!("count: \"{formula}\""));
}

const CASES: &[Case] = &[
    Case {
        name: "broken RON",
        change: |bench| bench.edit(MANIFEST, "name: \"scale\",", "name: \"scale\""),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:4:5", "comma", "1 problem in scale"],
    },
    Case {
        name: "a bracket that is never closed",
        change: |bench| bench.write(MANIFEST, "(\n    schema: 1,\n    axes: [\n"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:", "expected"],
    },
    Case {
        name: "an empty manifest",
        change: |bench| bench.write(MANIFEST, ""),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:1:1", "the file is empty", "lightbench new"],
    },
    Case {
        name: "an unknown field",
        change: |bench| bench.edit(MANIFEST, "summary:", "sumary:"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:5:5", "unknown field `sumary`", "write `summary`"],
    },
    Case {
        name: "a value of the wrong type",
        change: |bench| bench.edit(MANIFEST, "title: \"Scale a matrix\"", "title: 3"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:4:12"],
    },
    Case {
        name: "an unknown axis",
        change: |bench| bench.edit(MANIFEST, "\"rows * cols: i64\"", "\"rows * colz: i64\""),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:15:35", "unknown name `colz`", "write `cols`"],
    },
    Case {
        name: "division by zero",
        change: |bench| count(bench, "rows // (cols - cols)"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:17:52", "division by zero"],
    },
    Case {
        name: "overflow",
        change: |bench| shape(bench, "cols ** 100"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:12:50", "overflows"],
    },
    Case {
        name: "a shape of 0",
        change: |bench| shape(bench, "cols - cols"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:12:49", "is 0 in workload `odd`", "from 1 to 2^40"],
    },
    Case {
        name: "a shape beyond the limit",
        change: |bench| shape(bench, "cols * 2 ** 50"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:12:49", "from 1 to 2^40"],
    },
    Case {
        name: "more memory than a device may have",
        change: |bench| {
            bench.edit(
                MANIFEST,
                "    workloads: [",
                "    limits: (device_bytes: 1000),\n    workloads: [",
            );
        },
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:", "1000"],
    },
    Case {
        name: "an axis in scientific notation",
        change: |bench| bench.edit(MANIFEST, "\"rows\": 3", "\"rows\": 1e9"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:19:55"],
    },
    Case {
        name: "an axis outside its own limits",
        change: |bench| bench.edit(MANIFEST, "\"rows\": 3", "\"rows\": 65537"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:19:55", "65536"],
    },
    Case {
        name: "a number that is none",
        change: |bench| bench.edit(MANIFEST, "value: 1.5", "value: NaN"),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:10:50", "NaN", "a number that fits f32"],
    },
    Case {
        name: "values nested a thousand deep",
        change: |bench| bench.write(MANIFEST, "(schema: 1, axes: ".to_owned() + &"[".repeat(1000)),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:1:"],
    },
    Case {
        name: "a hundred thousand brackets",
        change: |bench| bench.write(MANIFEST, "(".repeat(100_000)),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:1:"],
    },
    Case {
        name: "an expression nested too deeply",
        change: |bench| count(bench, &("(".repeat(400) + "1" + &")".repeat(400))),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:17:", "nested too deeply", "at most 64 levels"],
    },
    Case {
        name: "a baseline that does not exist",
        change: |bench| {
            bench.edit(
                MANIFEST,
                "    workloads: [",
                "    baselines: [kernel(\"naife\")],\n    workloads: [",
            );
        },
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:18:", "naife", "write `naive`"],
    },
    Case {
        name: "two tensors of one name",
        change: |bench| bench.edit(MANIFEST, "(name: \"y\"", "(name: \"x\""),
        arguments: SCALE,
        status: 2,
        says: &["--> scale/project.ron:13:"],
    },
    Case {
        name: "several problems at once",
        change: |bench| {
            bench.edit(MANIFEST, "\"rows\": 3", "\"rowz\": 3");
            bench.edit("kernels/naive.cu", "grid:", "gird:");
        },
        arguments: SCALE,
        status: 2,
        says: &[
            "--> scale/project.ron:19:",
            "--> scale/kernels/naive.cu:3:37",
            "problems in scale",
        ],
    },
];

#[test]
fn wrong_manifests_are_reported_with_their_place() {
    check_all(Needs::Nothing, CASES);
}

#[test]
fn problems_are_values_for_scripts() {
    let bench = Bench::new();
    bench.edit(MANIFEST, "summary:", "sumary:");
    let document = bench.run(&["check", "scale", "--json"]).json();
    assert_eq!(document["schema"], "lightbench.error/1");
    let problem = &document["error"]["problems"][0];
    assert_eq!(problem["file"], MANIFEST);
    assert_eq!((&problem["line"], &problem["column"]), (&5.into(), &5.into()));
    assert_eq!(problem["help"], "write `summary`");
}
