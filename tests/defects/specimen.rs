//! One file with a defect and its twin: what its comments say.
//!
//! The first line says in a sentence what the mistake is. Then `// launch: grid=2 block=64,4`, with `shared=BYTES`,
//! `steps=COUNT`, `as-written`, `strict` (a fault in the strict race mode only), `replayed` (no fault is marked: a
//! replay shows the defect), `specific` (for `sm_90a`) and `also=80,100` (architectures beside 90) where needed; one
//! `// arg: SPEC` for each
//! parameter (`values.rs`); and `// expect: 1[0] = 3`, what element 0 of argument 1 holds after the twin. In the code,
//! `// FAULT: KIND` marks the line where the defect is found, and `// OTHER` the other side of it; several lines may be
//! marked.

use std::fs;
use std::path::Path;

use lightbench_core::compile::Build;
use lightbench_core::device::ComputeCapability;
use lightbench_core::project::launch::Architecture;
use lightbench_core::virtual_gpu::machine::{
    Argument, BufferId, Fault, FaultKind, Machine, Races, Report,
};
use lightbench_core::virtual_gpu::module::SourceLine;
use lightbench_core::virtual_gpu::tensor_map::encode;

use super::name_of;
use super::values::{Spec, bytes_of};

/// Enough for every kernel that ends.
const STEPS: u64 = 1 << 22;

/// A file.
pub(super) struct Specimen {
    pub(super) name: String,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) steps: u64,
    pub(super) build: Build,
    pub(super) architecture: Architecture,
    /// By which rules the defect is found; its twin is judged as CUDA code usually is.
    pub(super) mode: Races,
    /// The defect shows where strong reads return older values, and nowhere else.
    pub(super) replayed: bool,
    faults: Vec<Marked>,
    also: Vec<ComputeCapability>,
    others: Vec<u32>,
    arguments: Vec<Spec>,
    expected: Vec<Expected>,
}

/// A line where the defect shows.
struct Marked {
    kind: FaultKind,
    line: u32,
}

/// What an element holds after the twin.
struct Expected {
    argument: usize,
    element: usize,
    value: String,
}

const KINDS: [FaultKind; 19] = [
    FaultKind::OutOfBounds,
    FaultKind::Misaligned,
    FaultKind::UninitializedRead,
    FaultKind::ReadOnlyWrite,
    FaultKind::DataRace,
    FaultKind::MissingWait,
    FaultKind::BarrierDivergence,
    FaultKind::BarrierPhase,
    FaultKind::WarpSync,
    FaultKind::Deadlock,
    FaultKind::Livelock,
    FaultKind::Residency,
    FaultKind::Trap,
    FaultKind::Assertion,
    FaultKind::StepLimit,
    FaultKind::TimeLimit,
    FaultKind::Call,
    FaultKind::TensorMap,
    FaultKind::Texture,
];

impl Specimen {
    pub(super) fn read(file: &Path) -> Self {
        let mut specimen = Self {
            name: name_of(file),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            steps: STEPS,
            build: Build::Optimised,
            architecture: Architecture::Portable,
            mode: Races::CudaIdiom,
            replayed: false,
            faults: Vec::new(),
            also: Vec::new(),
            others: Vec::new(),
            arguments: Vec::new(),
            expected: Vec::new(),
        };
        let text = fs::read_to_string(file).unwrap();
        for (line, number) in text.lines().zip(1..) {
            specimen.take(line, number);
        }
        let name = &specimen.name;
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("// ") && first.ends_with('.'), "{name} says what is wrong");
        assert!(specimen.replayed == specimen.faults.is_empty(), "{name} marks its fault");
        specimen
    }

    fn take(&mut self, line: &str, number: u32) {
        if let Some(words) = line.strip_prefix("// launch: ") {
            words.split_whitespace().for_each(|word| self.launch_word(word));
        } else if let Some(spec) = line.strip_prefix("// arg: ") {
            self.arguments.push(Spec::read(spec));
        } else if let Some(expected) = line.strip_prefix("// expect: ") {
            self.expected.push(Expected::read(expected));
        } else if let Some((_, word)) = line.split_once("// FAULT: ") {
            let kind = KINDS.into_iter().find(|kind| kind.word() == word.trim());
            let kind = kind.unwrap_or_else(|| panic!("{}: fault {word}", self.name));
            self.faults.push(Marked { kind, line: number });
        } else if line.ends_with("// OTHER") {
            self.others.push(number);
        }
    }

    fn launch_word(&mut self, word: &str) {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "grid" => self.grid = size(value),
            "block" => self.block = size(value),
            "shared" => self.shared = value.parse().unwrap(),
            "steps" => self.steps = value.parse().unwrap(),
            "strict" => self.mode = Races::Strict,
            "replayed" => self.replayed = true,
            "specific" => self.architecture = Architecture::Specific,
            "as-written" => self.build = Build::AsWritten,
            "also" => self.also = value.split(',').map(capability).collect(),
            other => panic!("{}: {other}", self.name),
        }
    }

    /// What it is compiled for.
    pub(super) fn capabilities(&self) -> Vec<ComputeCapability> {
        [&[ComputeCapability(9, 0)], &*self.also].concat()
    }

    /// The lines and kinds of which one must be reported.
    pub(super) fn wanted(&self) -> String {
        let marks = self.faults.iter().map(|mark| format!("line {} ({})", mark.line, mark.kind));
        marks.collect::<Vec<_>>().join(" or ")
    }

    /// Whether a fault of a marked kind is reported at its line, or from its other side.
    pub(super) fn finds(&self, report: &Report) -> bool {
        report.faults.iter().any(|fault| self.is_marked(fault))
    }

    fn is_marked(&self, fault: &Fault) -> bool {
        let Some(line) = self.line(fault.source_line.as_ref()) else { return false };
        self.faults.iter().any(|mark| {
            mark.kind == fault.kind
                && match &fault.other {
                    None => line == mark.line,
                    Some(other) => {
                        let sides = [Some(line), self.line(other.source_line.as_ref())];
                        let known = |side: &Option<u32>| {
                            side.is_some_and(|side| {
                                side == mark.line
                                    || self.others.contains(&side)
                                    || self.faults.iter().any(|mark| mark.line == side)
                            })
                        };
                        sides.contains(&Some(mark.line)) && sides.iter().all(known)
                    }
                }
        })
    }

    /// The number of a line of this file.
    fn line(&self, line: Option<&SourceLine>) -> Option<u32> {
        let line = line?;
        (name_of(Path::new(&line.file)) == self.name).then_some(line.line)
    }

    /// Makes the buffers on a machine.
    pub(super) fn arguments(
        &self,
        machine: &mut Machine,
    ) -> (Vec<Argument>, Vec<Option<BufferId>>) {
        let (mut arguments, mut buffers) = (Vec::new(), Vec::<Option<BufferId>>::new());
        for (index, spec) in self.arguments.iter().enumerate() {
            let (argument, buffer) = match spec {
                Spec::Map(map) => {
                    let tensor = map.tensor(self.arguments[map.buffer].element());
                    let buffer = buffers[map.buffer].expect("a tensor map of a buffer");
                    let bytes = encode(&tensor, machine.address(buffer));
                    (Argument::Bytes(bytes.to_vec()), None)
                }
                Spec::Scalar(_) | Spec::Buffer { .. } => {
                    spec.make(&format!("argument {index}"), machine)
                }
            };
            arguments.push(argument);
            buffers.push(buffer);
        }
        (arguments, buffers)
    }

    /// What the twin's buffers hold otherwise than the file says.
    pub(super) fn unexpected(
        &self,
        machine: &Machine,
        buffers: &[Option<BufferId>],
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for Expected { argument, element, value } in &self.expected {
            let wanted = bytes_of(self.arguments[*argument].element(), value);
            let bytes = machine.read(buffers[*argument].expect("a buffer is expected of"));
            let found = &bytes[element * wanted.len()..][..wanted.len()];
            if found != wanted {
                problems.push(format!(
                    "the twin leaves {found:02x?} in {argument}[{element}], not {value}, which is {wanted:02x?}"
                ));
            }
        }
        problems
    }
}

impl Expected {
    fn read(text: &str) -> Self {
        let (place, value) = text.split_once(" = ").unwrap();
        let (argument, element) = place.trim_end_matches(']').split_once('[').unwrap();
        Self {
            argument: argument.parse().unwrap(),
            element: element.parse().unwrap(),
            value: value.trim().to_owned(),
        }
    }
}

fn size(text: &str) -> [u32; 3] {
    let mut size = [1; 3];
    for (slot, part) in size.iter_mut().zip(text.split(',')) {
        *slot = part.parse().unwrap();
    }
    size
}

fn capability(text: &str) -> ComputeCapability {
    let number: u32 = text.parse().unwrap();
    ComputeCapability(number / 10, number % 10)
}
