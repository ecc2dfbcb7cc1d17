//! Texture fetches against recordings of an H200.

use super::described::texture;
use super::harness::module;
use crate::machine::{
    Access, Argument, DeviceShape, InitialContent, LaunchConfig, Machine, Report,
};
use lightbench_primitives::texture::{TexelAccess, TextureObject};

const FETCHES: &str = include_str!("recorded/texture_fetches.txt");

/// Fetches of one texture.
struct Case {
    line: &'static str,
    instruction: String,
    object: TextureObject,
    bytes: Vec<u8>,
    /// The bits of coordinates and of results.
    fetches: Vec<(Vec<u32>, Vec<u32>)>,
}

fn words(text: &str) -> Vec<u32> {
    text.split_whitespace().map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in FETCHES.lines().filter(|line| !line.starts_with('#')) {
        if let Some(rest) = line.strip_prefix("texture ") {
            let fields: Vec<&str> = rest.split(' ').collect();
            let (gather, fields) = match fields[..] {
                ["gather", component, ref fields @ ..] => (Some(component), fields),
                ["fetch", ref fields @ ..] => (None, fields),
                _ => panic!("{line}"),
            };
            let object = texture(fields[0], &fields[1..]);
            let TexelAccess::Texture(sampling) = object.access else { panic!("{line}") };
            let ty = if sampling.is_float(object.texels.format) { "f32" } else { "s32" };
            let instruction = match (gather, object.texels.extents.len()) {
                (Some("0"), _) => format!("tld4.r.2d.v4.{ty}.f32"),
                (Some(_), _) => format!("tld4.g.2d.v4.{ty}.f32"),
                (None, rank) => format!("tex.{rank}d.v4.{ty}.f32"),
            };
            cases.push(Case { line, instruction, object, bytes: Vec::new(), fetches: Vec::new() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        if let Some(bytes) = line.strip_prefix("bytes ") {
            let pairs = bytes.as_bytes().as_chunks::<2>().0.iter();
            let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16);
            case.bytes = pairs.map(|pair| byte(pair).unwrap()).collect();
        } else {
            let (coordinates, results) = line.split_once(": ").unwrap();
            case.fetches.push((words(coordinates), words(results)));
        }
    }
    cases
}

impl Case {
    /// A kernel whose thread `i` fetches at the coordinates `c[4 i]` and following, and writes to `y[4 i]`.
    fn kernel(&self) -> String {
        let coordinates = match self.object.texels.extents.len() {
            1 => "%f0",
            2 => "%f0, %f1",
            _ => "%f0, %f1, %f2, %f3",
        };
        let ty = if self.instruction.contains(".v4.f32") { "f32" } else { "b32" };
        format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 t, .param .u64 c, .param .u64 y)\n{{\n\
             .reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %d<8>;\n.reg .{ty} %v<4>;\n\
             mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 16;\n\
             ld.param.u64 %d1, [t];\nld.param.u64 %d2, [c];\nld.param.u64 %d3, [y];\n\
             add.u64 %d2, %d2, %d0;\nadd.u64 %d3, %d3, %d0;\n\
             ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%d2];\n\
             {} {{%v0, %v1, %v2, %v3}}, [%d1, {{{coordinates}}}];\n\
             st.global.v4.b32 [%d3], {{%v0, %v1, %v2, %v3}};\nret;\n}}\n",
            self.instruction
        )
    }

    fn run(&self) -> (Report, Vec<u32>, bool) {
        let mut machine = Machine::new(DeviceShape::default());
        let mut given = Vec::new();
        for (coordinates, _) in &self.fetches {
            let padded = coordinates.iter().copied().chain([0; 4]).take(4);
            given.extend(padded.flat_map(u32::to_le_bytes));
        }
        let size = given.len() as u64;
        let texels = InitialContent::Bytes(self.bytes.clone());
        let length = self.object.texels.bytes();
        let buffer = machine.buffer("x", length, Access::ReadOnly, texels).unwrap();
        let coordinates =
            machine.buffer("c", size, Access::ReadOnly, InitialContent::Bytes(given)).unwrap();
        let results =
            machine.buffer("y", size, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
        self.object.check(length).unwrap();
        let arguments = vec![
            Argument::Texture { buffer, object: self.object.clone() },
            Argument::Buffer(coordinates),
            Argument::Buffer(results),
        ];
        let config = LaunchConfig::new([1; 3], [self.fetches.len() as u32, 1, 1], arguments);
        let module = module(&self.kernel());
        let report = machine.launch(&module, "k", &config).unwrap();
        let bytes = machine.read(results);
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        let is_initialised = machine.uninitialised(results).is_empty();
        (report, words.collect(), is_initialised)
    }
}

#[test]
fn every_recorded_fetch_agrees_in_every_bit() {
    let cases = cases();
    let mut count = 0;
    let mut wrong = Vec::new();
    for case in &cases {
        let (report, found, _) = case.run();
        wrong.extend(report.faults.iter().map(|fault| format!("{}: {fault}", case.line)));
        for ((coordinates, expected), found) in case.fetches.iter().zip(found.chunks_exact(4)) {
            count += 1;
            if found[..expected.len()] != expected[..] {
                wrong.push(format!(
                    "{} at {coordinates:x?}: {found:x?}, recorded {expected:x?}",
                    case.line
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1500, "{count}");
}

#[test]
fn a_filter_reads_no_texel_without_a_weight() {
    let check = |coordinate: f32, expected: bool| {
        let case = Case {
            line: "",
            instruction: "tex.1d.v4.f32.f32".to_owned(),
            object: texture("f32", &["sides=4", "filter=linear"]),
            // The last texel is uninitialised.
            bytes: [1.0_f32, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect(),
            fetches: vec![(vec![coordinate.to_bits()], Vec::new())],
        };
        let (_, _, is_initialised) = case.run();
        assert_eq!(is_initialised, expected, "at {coordinate}");
    };
    check(2.5, true);
    check(2.75, false);
}
