//! What cannot be launched is said in a sentence, with the right status, and never runs.

use super::*;

/// Arguments, exit status, and what must be said. None needs a compiler.
const WITHOUT_COMPILER: &[(&str, i32, &str)] = &[
    ("copy.ptx --grid 1 --block 4 --arg in:u32[4]=iota --arg buf:u32[4]", 0, "no fault"),
    (
        "copy.ptx --grid 1 --block 4 --arg in:u32[4] --arg buf:u32[4]",
        2,
        "column 10: an input is read-only",
    ),
    (
        "copy.ptx --grid 1 --block 4 --arg u33:1 --arg buf:u32[4]",
        2,
        "`u33` is not a type; expected i8, u8",
    ),
    (
        "copy.ptx --grid 1 --block 4 --arg in:u32[4]=iota",
        2,
        "takes 2 arguments (8 bytes, 8 bytes); 1 were given",
    ),
    (
        "copy.ptx --grid 1 --block 4 --arg u32:1 --arg buf:u32[4]",
        2,
        "argument 0 is `u32:1`; the kernel takes 8 bytes",
    ),
    ("copy.ptx --grid 0 --block 4 --arg in:u32[4]=iota --arg buf:u32[4]", 2, "a grid of [0, 1, 1]"),
    (
        "copy.ptx --grid 1 --block 2048 --arg in:u32[4]=iota --arg buf:u32[4]",
        2,
        "a block of [2048, 1, 1]",
    ),
    ("copy.ptx --grid 1,2,3,4 --block 4", 2, "one to three whole numbers"),
    ("copy.ptx --grid x --block 4", 2, "one to three whole numbers"),
    ("copy.ptx --grid 1", 2, "--block"),
    (
        "copy.ptx --kernel paste --grid 1 --block 4",
        2,
        "no kernel `paste` in this file; it has copy",
    ),
    (
        "copy.ptx --shared 9999999 --grid 1 --block 4 --arg in:u32[4]=iota --arg buf:u32[4]",
        2,
        "bytes of shared memory in a block; the device has 232448",
    ),
    ("missing.ptx --grid 1 --block 4", 2, "missing.ptx"),
    ("missing.cu --grid 1 --block 4", 2, "missing.cu"),
    ("scale --grid 1 --block 4", 2, "scale"),
    (
        "copy.ptx --grid 1 --block 4 --print 2 --arg in:u32[4]=iota --arg buf:u32[4]",
        2,
        "there are 2 arguments, counted from 0",
    ),
    (
        "copy.ptx --grid 1 --block 4 --print 0 --arg u32:1 --arg buf:u32[4]",
        2,
        "argument 0 is `u32:1`, not a buffer",
    ),
    (
        "copy.ptx --grid 1 --block 4 --arg in:u32[4]=@none.bin --arg buf:u32[4]",
        2,
        "`none.bin` cannot be read",
    ),
    (
        "copy.ptx --grid 1 --block 4 --arg in:u32[4]=@copy.ptx --arg buf:u32[4]",
        2,
        "the buffer has 16",
    ),
    ("copy.ptx --grid 1 --block 4 --arg in:u32[4]=@/dev/zero --arg buf:u32[4]", 2, "not a file"),
    (
        "copy.ptx --grid 1 --block 4 --arg in:u32[9999999999]=zeros --arg buf:u32[4]",
        2,
        "virtual:h200 has 4294967296",
    ),
    ("copy.ptx --grid 1 --block 4 --device virtual:h300", 2, "did you mean `h200`?"),
    ("copy.ptx --grid 1 --block 4 --device cuda:x", 2, "`cuda:x` names no device"),
    (
        "copy.ptx --grid 1 --block 4 --device cuda:0 --counters",
        2,
        "`--counters` needs a virtual device",
    ),
    ("copy.ptx --grid 1 --block 4 --schedule sometimes", 2, "adversarial:SEED"),
    ("half.ptx --grid 1 --block 4 --arg in:u32[4]=iota --arg buf:u32[4]", 2, "half.ptx"),
    ("random.ptx --grid 1 --block 4", 2, "random.ptx"),
    ("words.ptx --grid 1 --block 4", 2, "contains no kernel"),
];

#[test]
fn what_cannot_be_launched_is_said() {
    let bench = bench();
    fs::write(bench.path().join("half.ptx"), &COPY_PTX[..COPY_PTX.len() / 2]).unwrap();
    fs::write(bench.path().join("words.ptx"), "these are words\n").unwrap();
    let random: Vec<u8> =
        (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(bench.path().join("random.ptx"), random).unwrap();
    for (line, status, message) in WITHOUT_COMPILER {
        let said = launch(&bench, line);
        assert_eq!(said.status, *status, "{line}\n{}", said.everything());
        assert!(
            said.everything().contains(message),
            "{message:?} of {line}\n{}",
            said.everything()
        );
        let document = launch(&bench, &format!("{line} --json"));
        assert_eq!(document.status, *status, "{line} --json");
    }
}

#[test]
fn a_gpu_without_a_driver_is_the_machine_s_lack() {
    let bench = bench();
    let said = launch(
        &bench,
        "copy.ptx --grid 1 --block 4 --device cuda:0 --arg in:u32[4]=iota --arg buf:u32[4]",
    );
    if said.status == 0 {
        println!("a GPU is here: the launch went through");
        return;
    }
    said.expect(3, &["CUDA driver"]);
}

#[test]
fn a_file_that_does_not_compile_is_not_launched() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    fs::write(bench.path().join("wrong.cu"), "__global__ void f() { nonsense; }\n").unwrap();
    launch(&bench, "wrong.cu --grid 1 --block 1")
        .expect(2, &["identifier \"nonsense\" is undefined"]);
    fs::write(bench.path().join("empty.cu"), "template <int N> __global__ void f() {}\n").unwrap();
    launch(&bench, "empty.cu --grid 1 --block 1").expect(2, &["contains no kernel", "--kernel"]);
    launch(&bench, "empty.cu --kernel f<3> --grid 1 --block 1").expect(0, &["f<3>", "no fault"]);
    fs::write(bench.path().join("two.cu"), "__global__ void f() {}\n__global__ void g() {}\n")
        .unwrap();
    launch(&bench, "two.cu --grid 1 --block 1")
        .expect(2, &["the file has several kernels", "f, g"]);
    let wrong = "add.cu --grid 1 --block 4 --arg in:f32[4]=ones --arg buf:f32[4] --arg";
    launch(&bench, &format!("{wrong} i64:4")).expect(2, &["argument 2 is `i64:4`", "4 bytes"]);
}

/// Counters of a file that is no machine code yet: the time that they bound lacks the registers, and that is said.
#[test]
fn ptx_by_itself_has_no_modelled_time() {
    let bench = bench();
    let line = "copy.ptx --grid 1 --block 4 --arg in:u32[4]=iota --arg buf:u32[4] --counters";
    launch(&bench, line).expect(0, &["modelled time", "names neither the registers"]);
    let document = launch(&bench, &format!("{line} --json")).json();
    assert!(document["modelled"]["withheld"].as_str().unwrap().contains("registers"));
    assert!(document["modelled"]["bound_seconds"].is_null());
    let document = launch(&bench, &format!("{} --json", line.replace(" --counters", ""))).json();
    assert!(document["modelled"].is_null(), "{document}");
}

#[test]
fn modelled_time_has_a_band_and_what_it_assumes() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let size = 1 << 16;
    let line = format!(
        "add.cu --grid {} --block 256 --arg in:f32[{size}]=normal --arg buf:f32[{size}] --arg i32:{size} --counters",
        size / 256
    );
    let words = ["modelled time", "not measured", "limited by launch", "expected", "--assumptions"];
    launch(&bench, &line).expect(0, &words);
    launch(&bench, &format!("{line} --assumptions")).expect(
        0,
        &["the clock stays at", "every sector is transferred once", "by itself", "DRAM"],
    );
    let document = launch(&bench, &format!("{line} --json")).json();
    let modelled = &document["modelled"];
    let bound = modelled["bound_seconds"].as_f64().unwrap();
    assert!(bound > 9e-7 && bound < 1e-4, "{modelled}");
    assert_eq!(modelled["measured"], false);
    let expected: Vec<f64> =
        modelled["expected_seconds"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(expected[0] > bound && expected[1] > expected[0], "{modelled}");
    assert!(!modelled["assumptions"].as_array().unwrap().is_empty());
    launch(&bench, &format!("{line} --as-written")).expect(0, &["without optimisation"]);
}

#[test]
fn approximate_results_move_to_the_ends_of_their_interval() {
    if compiler::required().is_none() {
        return;
    }
    let bench = bench();
    let text = "extern \"C\" __global__ void sines(const float* x, float* y) {\n\
                \x20 y[threadIdx.x] = __sinf(x[threadIdx.x]);\n}\n";
    fs::write(bench.path().join("sines.cu"), text).unwrap();
    let sines = |approximations: &str| {
        let line =
            "sines.cu --grid 1 --block 4 --arg in:f32[4]=0.5,1,1.5,2 --arg buf:f32[4] --print 1";
        let said = launch(&bench, &format!("{line} --approximations {approximations} --json"));
        assert_eq!(said.status, 0, "{}", said.everything());
        let document = said.json();
        assert_eq!(document["watch"]["approximations"], approximations);
        numbers(&document)
    };
    let (low, nearest, high) = (sines("low"), sines("nearest"), sines("high"));
    for (index, x) in [0.5_f64, 1.0, 1.5, 2.0].into_iter().enumerate() {
        assert!(low[index] < nearest[index] && nearest[index] < high[index], "{low:?} {high:?}");
        // The interval of the ISA: 2^-20.5 in [-2π, 2π].
        let bound = (-20.5_f64).exp2();
        assert!((low[index] - x.sin()).abs() <= bound && (high[index] - x.sin()).abs() <= bound);
    }
}

/// First lines of a PTX file, the device, and the sentence that refuses it; none where it runs.
const HEADERS: &[(&str, &str, Option<&str>)] = &[
    (".version 9.0\n.target sm_75", "virtual:h200", None),
    (".version 8.8\n.target sm_90a", "virtual:h200", None),
    (
        ".version 9.0\n.target sm_120",
        "virtual:h200",
        Some("`.target sm_120` needs compute capability 12.0 or greater; the device has 9.0"),
    ),
    (
        ".version 9.0\n.target sm_90a",
        "virtual:a100-40gb",
        Some(
            "`.target sm_90a` runs on compute capability 9.0 only; the device has compute capability 8.0",
        ),
    ),
    (
        ".version 12.3\n.target sm_90",
        "virtual:h200",
        Some("`.version 12.3` is not a version of the PTX ISA up to 9.5"),
    ),
];

#[test]
fn the_header_of_a_ptx_file_is_held_against_the_device() {
    let bench = bench();
    for (header, device, refusal) in HEADERS {
        let text = COPY_PTX.replace(".version 9.0\n.target sm_90", header);
        assert!(text.contains(header), "{text}");
        fs::write(bench.path().join("header.ptx"), text).unwrap();
        let line = format!(
            "header.ptx --grid 1 --block 4 --arg in:u32[4]=iota --arg buf:u32[4] --device {device}"
        );
        let said = launch(&bench, &line);
        match refusal {
            None => said.expect(0, &["no fault"]),
            Some(sentence) => said.expect(2, &[sentence]),
        };
    }
}
