//! Faulty modules: each faulty line states its error in a comment, and no other line has an error.

use super::{Module, texts};
use crate::{Access, Argument, DeviceShape, InitialContent, LaunchConfig, Machine};

/// (line, message) of every `// error: …` comment; several of a line are separated by ` & `.
fn expected(text: &str) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((_, messages)) = line.split_once("// error: ") {
            for message in messages.split(" & ") {
                all.push((index as u32 + 1, message.trim().to_owned()));
            }
        }
    }
    all
}

#[test]
fn each_error_is_found_on_its_line_and_no_other() {
    let files = texts("refuse");
    assert!(!files.is_empty());
    for (name, text) in files {
        let errors = Module::load(&text).expect_err(&name);
        let expected = expected(&text);
        let found: Vec<_> =
            errors.iter().map(|error| (error.place.line, error.problem.to_string())).collect();
        assert_eq!(found.len(), expected.len(), "{name}: {found:#?}");
        for ((line, message), (wanted_line, wanted)) in found.iter().zip(&expected) {
            assert_eq!(line, wanted_line, "{name}: {message}");
            assert!(
                message.contains(wanted.as_str()),
                "{name}:{line}: `{message}` lacks `{wanted}`"
            );
        }
    }
}

/// `//! KERNEL: supported`, or `//! KERNEL: ` and the beginning of its first error.
#[test]
fn a_kernel_is_refused_for_its_own_unsupported_instructions() {
    let mut kernels = 0;
    for (name, text) in texts("facts") {
        let expected = text.lines().filter_map(|line| line.strip_prefix("//! "));
        let expected: Vec<_> = expected.filter_map(|line| line.split_once(": ")).collect();
        if expected.is_empty() {
            continue;
        }
        let module =
            Module::load_supported(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        assert_eq!(module.kernels().count(), expected.len(), "{name}");
        for (kernel, expected) in expected {
            match module.refusal(kernel) {
                [] => assert_eq!(expected, "supported", "{name}: {kernel}"),
                [first, ..] => {
                    let message = first.to_string();
                    assert!(message.starts_with(expected), "{name}: {kernel}: {message}");
                }
            }
            kernels += 1;
        }
    }
    assert!(kernels > 3);
}

#[test]
fn a_kernel_beside_a_refused_one_runs() {
    let (_, text) =
        texts("facts").into_iter().find(|(name, _)| name == "tensor_memory.ptx").unwrap();
    assert!(Module::load(&text).is_err(), "not all kernels are supported");
    let module = Module::load_supported(&text).unwrap();
    let mut machine = Machine::new(DeviceShape::default());
    let initial = InitialContent::Uninitialised;
    let out = machine.buffer("out", 128, Access::ReadWrite, initial).unwrap();
    let arguments = vec![Argument::Buffer(out), Argument::Bytes(vec![7, 0, 0, 0])];
    let config = LaunchConfig::new([1; 3], [32, 1, 1], arguments);
    let report = machine.launch(&module, "fill", &config).unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(machine.read(out), [7, 0, 0, 0].repeat(32));
}

#[test]
fn an_error_beside_an_unsupported_instruction_refuses_the_module() {
    let load = |first: &str, second: &str| {
        Module::load_supported(&format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n.func f() {{ {second} ret; }}\n\
             .entry a() {{ {first} ret; }}\n.entry b() {{ ret; }}\n"
        ))
    };
    let lines = |module: Result<Module, Vec<_>>| -> Vec<u32> {
        module.unwrap_err().iter().map(|error: &crate::LoadError| error.place.line).collect()
    };
    assert_eq!(load("tcgen05.fence::before_thread_sync;", "").unwrap().refusal("a").len(), 1);
    assert_eq!(lines(load("tcgen05.fence::before_thread_sync; frobnicate;", "")), [5, 5]);
    assert_eq!(lines(load("tcgen05.fence::before_thread_sync;", "frobnicate;")), [4, 5]);
    assert_eq!(lines(load("tcgen05.fence::before_thread_sync; add.s32 %a;", "")), [5, 5]);
    // A function may be called by any kernel.
    assert_eq!(lines(load("", "tcgen05.fence::before_thread_sync;")), [4]);
}
