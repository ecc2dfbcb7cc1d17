//! Tensor copies against recordings of an H100 and an H200.

use lightbench_primitives::tensor_map::{MapElement, MapRegion, TensorMap};

use super::described::tensor_map;
use super::harness::module;
use crate::machine::{
    Access, Argument, DeviceShape, FaultKind, InitialContent, LaunchConfig, Machine, Races, Report,
};
use crate::tensor_map::encode;

const LOADS: &str = include_str!("recorded/tensor_loads.txt");
/// The value of bytes that a load does not write.
const UNWRITTEN: u8 = 0xee;
/// Bytes of global memory.
const GLOBAL: usize = 1 << 17;
/// Bytes of shared memory, unless a case has fewer.
const SHARED: usize = 8192;

/// Values whose conversions were recorded: ties, subnormal numbers, NaN, the largest number, infinity.
const VALUES: [u32; 16] = [
    0x3f80_0fff,
    0x3f80_1000,
    0x3f80_1001,
    0x3f80_3000,
    0x0000_0001,
    0x007f_ffff,
    0x8000_0001,
    0x7f80_0001,
    0xffc0_0000,
    0x7f7f_ffff,
    0x0080_1000,
    0x3f80_2fff,
    0x7fff_ffff,
    0xff80_0000,
    0x0000_1000,
    0x0000_1fff,
];

/// A recorded load.
struct Case {
    line: &'static str,
    map: TensorMap,
    coordinates: Vec<i32>,
    /// Offset of the box in shared memory, in bytes.
    offset: u32,
    content: Vec<u8>,
    shared: usize,
    result: Recorded,
}

enum Recorded {
    Shared(Vec<u8>),
    /// An error of CUDA.
    Error(u32),
}

impl Case {
    fn parse(line: &'static str) -> Self {
        let (parameters, result) = line.split_once(": ").unwrap();
        let words: Vec<&str> = parameters.split(' ').collect();
        let field =
            |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let map = tensor_map(words[1], &words[2..]);
        let coordinates = field("coordinates").unwrap().split(',');
        let shared = field("shared").map_or(SHARED, |bytes| bytes.parse().unwrap());
        let result = match result.strip_prefix("error ") {
            Some(error) => Recorded::Error(error.parse().unwrap()),
            None => Recorded::Shared(elements(result, map.element, shared)),
        };
        Self {
            line,
            coordinates: coordinates.map(|number| number.parse().unwrap()).collect(),
            offset: field("at").unwrap().parse().unwrap(),
            content: content(field("content").unwrap(), map.element),
            map,
            shared,
            result,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        LOADS.lines().filter(|line| !line.starts_with('#')).map(Self::parse)
    }

    /// The bytes of the box, which its transactions count.
    fn bytes(&self) -> u32 {
        let MapRegion::Tiled(sides) = &self.map.region else { panic!("{}", self.line) };
        let strides = [1].into_iter().chain(self.map.element_strides[1..].iter().copied());
        let elements: u32 = sides.iter().zip(strides).map(|(side, n)| side.div_ceil(n)).product();
        elements * self.map.element.bytes()
    }
}

fn unit(element: MapElement) -> usize {
    (element.bytes() as usize).min(4)
}

/// Global memory.
fn content(name: &str, element: MapElement) -> Vec<u8> {
    match (name, unit(element)) {
        ("values", _) => VALUES.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ("iota", 1) => (0..GLOBAL).map(|index| (7 * index + 3 * (index >> 8)) as u8).collect(),
        ("iota", unit) => {
            let numbers = 0..(GLOBAL / unit) as u32;
            numbers.flat_map(|index| index.to_le_bytes()[..unit].to_vec()).collect()
        }
        (other, _) => panic!("content {other}"),
    }
}

/// Shared memory after a load.
fn elements(text: &str, element: MapElement, bytes: usize) -> Vec<u8> {
    let unit = unit(element);
    let mut shared = Vec::new();
    let number = |text: &str| match text {
        "_" => u32::from_le_bytes([UNWRITTEN; 4]),
        digits => u32::from_str_radix(digits, 16).unwrap(),
    };
    for token in text.split(' ') {
        let (first, count, step) = match (token.split_once('+'), token.split_once('*')) {
            (Some((first, count)), _) => (number(first), count.parse().unwrap(), 1),
            (None, Some((first, count))) => (number(first), count.parse().unwrap(), 0),
            (None, None) => (number(token), 1, 0),
        };
        for index in 0..count {
            shared.extend_from_slice(&(first + index * step).to_le_bytes()[..unit]);
        }
    }
    shared.resize(bytes, UNWRITTEN);
    shared
}

/// A kernel that fills shared memory, loads a box, waits for a limited time, and copies shared memory to global memory
/// behind a word that says whether the phase completed.
fn kernel(rank: usize) -> String {
    let names = ["c0", "c1", "c2", "c3", "c4"];
    let parameters: String =
        names[..rank].iter().map(|name| format!(".param .s32 {name}, ")).collect();
    let loads: String =
        (0..rank).map(|axis| format!("ld.param.s32 %c{axis}, [c{axis}];\n")).collect();
    let coordinates: Vec<String> = (0..rank).map(|axis| format!("%c{axis}")).collect();
    let coordinates = coordinates.join(", ");
    format!(
        "\
.version 8.4
.target sm_90
.address_size 64
.extern .shared .align 1024 .b8 s[];
.visible .entry k(.param .u64 x, .param .align 64 .b8 map[128], {parameters}.param .u32 expected, .param .u32 offset,
    .param .u64 y, .param .u32 words)
{{
    .reg .b32 %r<16>;
    .reg .b32 %c<5>;
    .reg .b64 %d<8>;
    .reg .pred %p<4>;
    .shared .align 8 .b64 bar;
    mov.b64 %d0, map;
    cvta.param.u64 %d0, %d0;
    {loads}
    ld.param.u32 %r1, [expected];
    ld.param.u32 %r2, [offset];
    ld.param.u64 %d1, [y];
    ld.param.u32 %r3, [words];
    mov.u32 %r0, %tid.x;
    mov.u32 %r4, s;
    mov.u32 %r5, bar;
    mov.u32 %r6, %r0;
FILL:
    mad.lo.u32 %r7, %r6, 4, %r4;
    st.shared.u32 [%r7], 0xEEEEEEEE;
    add.u32 %r6, %r6, 128;
    setp.lt.u32 %p1, %r6, %r3;
    @%p1 bra FILL;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r5], 1;
    fence.mbarrier_init.release.cluster;
READY:
    fence.proxy.async;
    bar.sync 0;
    @%p0 bra WAITED;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], %r1;
    add.u32 %r8, %r4, %r2;
    cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r8], [%d0, {{{coordinates}}}], [%r5];
    mov.u32 %r9, 0;
POLL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0;
    add.u32 %r9, %r9, 1;
    setp.gt.u32 %p3, %r9, 20;
    @%p3 bra DONE;
    @!%p2 bra POLL;
DONE:
    selp.u32 %r10, 1, 0, %p2;
    st.global.u32 [%d1], %r10;
WAITED:
    bar.sync 0;
    mov.u32 %r6, %r0;
OUT:
    mad.lo.u32 %r7, %r6, 4, %r4;
    ld.shared.u32 %r11, [%r7];
    mul.wide.u32 %d2, %r6, 4;
    add.u64 %d3, %d1, %d2;
    st.global.u32 [%d3+4], %r11;
    add.u32 %r6, %r6, 128;
    setp.lt.u32 %p1, %r6, %r3;
    @%p1 bra OUT;
    ret;
}}
"
    )
}

/// Runs a case: the report, whether the phase completed, and shared memory.
fn run(case: &Case, expected: u32, races: Races) -> (Report, bool, Vec<u8>) {
    let mut machine = Machine::new(DeviceShape::default());
    let content = InitialContent::Bytes(case.content.clone());
    let length = case.content.len() as u64;
    let x = machine.buffer("x", length, Access::ReadOnly, content).unwrap();
    let length = case.shared as u64 + 4;
    let y = machine.buffer("y", length, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
    let word = |word: u32| Argument::Bytes(word.to_le_bytes().to_vec());
    let mut arguments =
        vec![Argument::Buffer(x), Argument::Bytes(encode(&case.map, machine.address(x)).to_vec())];
    arguments.extend(case.coordinates.iter().map(|coordinate| word(*coordinate as u32)));
    arguments.extend([word(expected), word(case.offset), Argument::Buffer(y)]);
    arguments.push(word(case.shared as u32 / 4));
    let mut config = LaunchConfig::new([1; 3], [128, 1, 1], arguments);
    config.dynamic_shared = case.shared as u32;
    config.checks.races = races;
    let module = module(&kernel(case.coordinates.len()));
    let report = machine.launch(&module, "k", &config).unwrap();
    let mut found = machine.read(y);
    let shared = found.split_off(4);
    (report, found[0] == 1, shared)
}

#[test]
fn every_recorded_load_writes_the_same_bytes_and_counts_the_same_transactions() {
    let mut loads = 0;
    for case in Case::all() {
        let Recorded::Shared(expected) = &case.result else { continue };
        loads += 1;
        let (report, is_complete, shared) = run(&case, case.bytes(), Races::Strict);
        assert_eq!(report.faults, [], "{}", case.line);
        assert!(is_complete, "{}", case.line);
        assert!(shared == *expected, "{}\n{shared:x?}", case.line);
        let (_, is_complete, _) = run(&case, case.bytes() + 16, Races::Ignored);
        assert!(!is_complete, "{}", case.line);
    }
    assert_eq!(loads, 56);
}

#[test]
fn every_recorded_error_is_a_fault() {
    let mut errors = Vec::new();
    for case in Case::all() {
        let Recorded::Error(error) = case.result else { continue };
        let (report, ..) = run(&case, case.bytes(), Races::Ignored);
        let (kind, words) = match error {
            700 => (FaultKind::OutOfBounds, "of shared `s`"),
            715 => (FaultKind::Misaligned, "the innermost coordinate is"),
            716 => (FaultKind::Misaligned, "expected a multiple of 128 bytes"),
            other => panic!("error {other}"),
        };
        let fault = &report.faults[0];
        assert_eq!(fault.kind, kind, "{}", case.line);
        assert!(fault.details.contains(words), "{}: {}", case.line, fault.details);
        errors.push(error);
    }
    assert_eq!(errors.len(), 15);
}
