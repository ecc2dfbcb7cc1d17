//! Every file of `tests/ptx/pass`, run on every device that is present: its buffers are what the file expects.

use std::collections::BTreeMap;

use super::*;
use described::{Described, Given, Permitted, Rights};

#[path = "../../../virtual_gpu/src/machine/tests/described.rs"]
mod described;

/// A file, and why no device but the model answers it.
struct File {
    name: String,
    text: String,
    described: Described,
    left: Option<&'static str>,
}

impl File {
    fn all() -> Vec<Self> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ptx/pass");
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &std::path::Path) -> Self {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let described = Described::from_text(&text);
        let left = if described.approximations.as_deref().is_some_and(|at| at != "nearest") {
            Some("asks for an end of the documented interval")
        } else if text.contains("// fixed order") {
            Some("what it shows depends on the order of warps")
        } else if described.expected.iter().any(|(buffer, _)| buffer == "printed") {
            Some("a GPU's driver prints to standard output")
        } else {
            None
        };
        Self { name, text, described, left }
    }

    /// The first word of `.target`.
    fn target(&self) -> &str {
        let line = self.text.lines().find_map(|line| line.strip_prefix(".target "));
        let words = line.unwrap_or_else(|| panic!("{}: no target", self.name));
        words.split(',').next().unwrap_or_default().trim()
    }
}

/// Whether a device runs code for a target: from its number on, `f` in its architecture only, `a` nowhere else.
fn runs(capability: ComputeCapability, target: &str) -> bool {
    let number = target.strip_prefix("sm_").unwrap_or_else(|| panic!("target {target}"));
    let digits = number.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let wanted: u32 = digits.parse().unwrap();
    let wanted = ComputeCapability(wanted / 10, wanted % 10);
    match &number[digits.len()..] {
        "" => capability >= wanted,
        "f" => capability >= wanted && capability.major() == wanted.major(),
        "a" => capability == wanted,
        other => panic!("target {target}: {other}"),
    }
}

/// Allocates, launches, reads and frees.
fn differences(device: &mut dyn Device, file: &File) -> Result<Found, DeviceError> {
    let described = &file.described;
    let max_steps = described.steps.unwrap_or(1 << 20);
    device.watch(Watch { max_steps, ..Watch::ALL });
    let module = device.load(Image { ptx: &file.text, cubin: None })?;
    let mut buffers = BTreeMap::new();
    let mut arguments = Vec::new();
    for given in &described.arguments {
        arguments.push(match given {
            Given::Value(bytes) => Argument::Bytes(bytes.clone()),
            Given::Buffer { name, length, access, content } => {
                let access = match access {
                    Rights::Read => Access::ReadOnly,
                    Rights::Write => Access::ReadWrite,
                };
                let initial =
                    content.clone().map_or(InitialContent::Uninitialised, InitialContent::Bytes);
                let buffer = device.allocate(BufferRequest::new(name, *length, access, initial))?;
                buffers.insert(name.as_str(), buffer);
                Argument::Buffer(buffer)
            }
            Given::TensorMap { buffer, map } => {
                Argument::TensorMap { buffer: buffers[buffer.as_str()], map: map.clone() }
            }
            Given::Texture { buffer, object } => {
                Argument::Texture { buffer: buffers[buffer.as_str()], object: object.clone() }
            }
        });
    }
    let (grid, block, dynamic_shared) = (described.grid, described.block, described.dynamic_shared);
    let plain = plain(module, &described.kernel, arguments);
    let outcome = device.launch(&Launch { grid, block, dynamic_shared, ..plain })?;
    let mut found = Found::default();
    found.wrong.extend(outcome.faults.iter().map(|fault| format!("{fault:?}")));
    if found.wrong.is_empty() {
        for (name, expected) in &described.expected {
            let content = device.read(buffers[name.as_str()])?;
            found.hold(name, &content, expected, permitted(device, described, name));
        }
    }
    for buffer in buffers.into_values() {
        device.free(buffer)?;
    }
    Ok(found)
}

/// The virtual GPU gives exactly what the files expect.
fn permitted<'a>(
    device: &dyn Device,
    described: &'a Described,
    name: &str,
) -> Option<&'a Permitted> {
    match device.description().kind {
        DeviceKind::Virtual => None,
        DeviceKind::Cuda { .. } => {
            described.permitted.iter().find(|permitted| permitted.buffer == name)
        }
    }
}

/// How what a device gives differs from what a file expects.
#[derive(Default)]
struct Found {
    /// Not what is expected.
    wrong: Vec<String>,
    /// Not the same, but as near as the ISA asks.
    near: Vec<String>,
}

impl Found {
    fn hold(
        &mut self,
        name: &str,
        content: &Content,
        expected: &[u8],
        permitted: Option<&Permitted>,
    ) {
        let found = &content.bytes;
        if found.len() != expected.len() {
            self.wrong.push(format!("`{name}` has {} bytes", found.len()));
            return;
        }
        if !content.unwritten.is_empty() {
            self.wrong.push(format!("nothing wrote bytes {:?} of `{name}`", content.unwritten));
        }
        let width = permitted.map_or(4, |permitted| permitted.width);
        for (index, (found, expected)) in
            found.chunks(width).zip(expected.chunks(width)).enumerate()
        {
            if found == expected {
                continue;
            }
            let (found, expected) = (bits(found), bits(expected));
            let line = format!("`{name}`[{index}] is {found:#x}, not {expected:#x}");
            match permitted.and_then(|permitted| near(found, expected, permitted, index)) {
                Some(ulps) => self.near.push(format!("{line}: {ulps} ulp")),
                None => self.wrong.push(line),
            }
        }
    }
}

fn bits(little_endian: &[u8]) -> u64 {
    little_endian.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// By how many units in the last place two finite numbers of one sign differ, if that is permitted.
fn near(found: u64, expected: u64, permitted: &Permitted, index: usize) -> Option<u64> {
    let infinity = match permitted.width {
        4 => u64::from(f32::INFINITY.to_bits()),
        8 => f64::INFINITY.to_bits(),
        other => panic!("numbers of {other} bytes"),
    };
    let sign = 1 << (8 * permitted.width - 1);
    let is_finite = |bits: u64| bits & !sign < infinity;
    let ulps = found.abs_diff(expected);
    let is_near = found & sign == expected & sign
        && is_finite(found)
        && is_finite(expected)
        && ulps <= u64::from(permitted.ulps[index]);
    is_near.then_some(ulps)
}

/// Runs all files that the device can run; says which not, and what is not the same.
fn examine(device: &mut dyn Device) -> Vec<String> {
    let Description { title, capability, kind, .. } = device.description().clone();
    // A GPU that a kernel has stopped runs nothing more; another context does.
    let mut another: Option<cuda::CudaDevice> = None;
    let (mut ran, mut left, mut wrong) = (0, 0, Vec::new());
    for file in File::all() {
        let name = &file.name;
        let reason = match file.left {
            Some(reason) => Some(reason.to_owned()),
            None if runs(capability, file.target()) => None,
            None => Some(format!("is for {}", file.target())),
        };
        if let Some(reason) = reason {
            left += 1;
            println!("{name} is skipped on {title}: {reason}");
            continue;
        }
        ran += 1;
        println!("{name} on {title}");
        let device = match &mut another {
            Some(another) => another as &mut dyn Device,
            None => &mut *device,
        };
        let found = differences(device, &file)
            .unwrap_or_else(|error| Found { wrong: vec![error.to_string()], ..Found::default() });
        for line in &found.near {
            println!("{name} on {title}: {line}, as permitted");
        }
        for line in &found.wrong {
            println!("{name} on {title}: {line}");
            wrong.push(format!("{name} on {title}: {line}"));
        }
        if !found.wrong.is_empty() && kind != DeviceKind::Virtual {
            another = cuda::CudaDevice::open(0).ok();
        }
    }
    println!("{ran} files ran on {title}, {left} did not; {} differences", wrong.len());
    wrong
}

#[test]
fn every_passing_file_gives_its_buffers() {
    check(|device| {
        let wrong = examine(device);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn every_passing_file_runs_on_a_gpu_or_says_why_not() {
    let files = File::all();
    assert!(files.len() > 100, "{} files", files.len());
    for file in &files {
        assert!(!file.described.kernel.is_empty(), "{}: no launch", file.name);
        assert!(runs(ComputeCapability(9, 0), file.target()), "{}: {}", file.name, file.target());
    }
    let left = files.iter().filter(|file| file.left.is_some()).map(|file| file.name.as_str());
    let left: Vec<&str> = left.collect();
    let expected = ["approximations_high.ptx", "approximations_low.ptx", "copy_async_exit.ptx"];
    assert_eq!(left, expected);
}

#[test]
fn a_target_is_a_lower_limit_unless_a_letter_says_otherwise() {
    let check = |capability: (u32, u32), target: &str, expected: bool| {
        assert_eq!(
            runs(ComputeCapability(capability.0, capability.1), target),
            expected,
            "{target}"
        );
    };
    check((9, 0), "sm_75", true);
    check((9, 0), "sm_90", true);
    check((9, 0), "sm_90a", true);
    check((9, 0), "sm_100", false);
    check((10, 3), "sm_100", true);
    check((10, 3), "sm_100a", false);
    check((10, 3), "sm_100f", true);
    check((12, 0), "sm_100f", false);
    check((8, 0), "sm_86", false);
}

#[test]
fn near_is_what_the_file_permits() {
    let check = |found: f32, expected: f32, ulps: u32, near_by: Option<u64>| {
        let permitted = Permitted { buffer: String::new(), width: 4, ulps: vec![ulps] };
        let (found, expected) = (u64::from(found.to_bits()), u64::from(expected.to_bits()));
        assert_eq!(near(found, expected, &permitted, 0), near_by, "{found:#x}, {expected:#x}");
    };
    check(1.0f32.next_up(), 1.0, 1, Some(1));
    check(1.0f32.next_down(), 1.0, 2, Some(1));
    check(1.0f32.next_up().next_up(), 1.0, 1, None);
    check(1.0f32.next_up(), 1.0, 0, None);
    check(f32::INFINITY, f32::MAX, 2, None);
    check(f32::NAN, f32::INFINITY, u32::MAX, None);
    check(0.0, -0.0, u32::MAX, None);
}
