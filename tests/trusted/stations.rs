//! A station whose device makes and compares tensors says what one says whose host does.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Mutex;

use lightbench_core::device::{
    Content, Description, DeviceError, MemoryExchange, Outcome, Placement, Sampling, Timed, Work,
};
use lightbench_core::element::POISON;
use lightbench_core::project::launch::Buffer;
use lightbench_core::project::launch::expectation::{FaultKind, WrongKind};
use lightbench_core::tensors::inputs::{InputMode, InputSpec};
use lightbench_core::verify::device_session::{
    BufferPlacement, CountsUse, DeviceSession, GridPart, JudgeReport, JudgeRequest, ModuleImage,
    OpenRequest, RunReport, RunRequest, Scrutiny, Side,
};
use lightbench_core::verify::program::{ArgumentCase, LaunchStep, Program, ScratchCase, Step};
use lightbench_core::verify::reference_source::ReferenceSource;

use super::*;

/// A virtual GPU that behaves like one of metal: nothing is read-only, what was never written is poison, and it takes
/// trusted code.
#[derive(Debug)]
struct Rehearsal {
    device: VirtualDevice,
    bytes: BTreeMap<BufferId, u64>,
    way: Way,
}

/// Whether contents go directly to another process's device.
#[derive(Clone, Copy, Debug)]
enum Way {
    None,
    Works,
    /// What is offered cannot be taken.
    Fails,
}

/// What devices offer each other, by number.
static OFFERED: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

impl MemoryExchange for Rehearsal {
    fn offer(&mut self, buffer: BufferId, _slot: usize) -> Result<Vec<u8>, DeviceError> {
        let bytes = self.device.read(buffer)?.bytes;
        let mut offered = OFFERED.lock().unwrap();
        offered.push(bytes);
        Ok((offered.len() - 1).to_le_bytes().to_vec())
    }

    fn take(&mut self, buffer: BufferId, name: &[u8]) -> Result<(), DeviceError> {
        let number = usize::from_le_bytes(name.try_into().unwrap());
        let bytes = OFFERED.lock().unwrap()[number].clone();
        match self.way {
            Way::Works => self.set(buffer, InitialContent::Bytes(bytes)),
            Way::Fails | Way::None => Err(DeviceError::Passing("not permitted".to_owned())),
        }
    }
}

impl Rehearsal {
    fn poisoned(initial: InitialContent, bytes: u64) -> InitialContent {
        let mut given = initial.given(bytes as usize);
        given.resize(bytes as usize, POISON);
        InitialContent::Bytes(given)
    }
}

impl Device for Rehearsal {
    fn description(&self) -> &Description {
        self.device.description()
    }

    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError> {
        self.device.load(image)
    }

    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError> {
        let (access, bytes) = (Access::ReadWrite, request.bytes);
        let initial = Self::poisoned(request.initial, bytes);
        let id = self.device.allocate(BufferRequest { access, initial, ..request })?;
        self.bytes.insert(id, bytes);
        Ok(id)
    }

    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError> {
        self.device.set(buffer, Self::poisoned(initial, self.bytes[&buffer]))
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        assert!(self.bytes.remove(&buffer).is_some(), "freed twice");
        self.device.free(buffer)
    }

    fn watch(&mut self, watch: Watch) {
        self.device.watch(watch);
    }

    fn fill_variable(
        &mut self,
        module: ModuleId,
        symbol: &str,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.device.fill_variable(module, symbol, bytes)
    }

    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError> {
        self.device.launch(launch)
    }

    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError> {
        self.device.time(work, sampling)
    }

    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError> {
        self.device.read(buffer)
    }

    fn read_to(
        &mut self,
        buffer: BufferId,
        sink: &mut dyn Write,
    ) -> Result<Vec<Range<usize>>, DeviceError> {
        self.device.read_to(buffer, sink)
    }

    fn set_from(&mut self, buffer: BufferId, source: &mut dyn Read) -> Result<(), DeviceError> {
        self.device.set_from(buffer, source)
    }

    fn equip(&mut self, image: Image<'_>) -> Result<Option<ModuleId>, DeviceError> {
        self.device.load(image).map(Some)
    }

    fn direct(&mut self) -> Option<&mut dyn MemoryExchange> {
        match self.way {
            Way::None => None,
            Way::Works | Way::Fails => Some(self),
        }
    }
}

/// y = 2x + 1 and z += 1; each candidate does one thing more.
const CANDIDATES: &str = r#"
template <int DEED>
__device__ void work(float* x, float* y, float* z, unsigned* zero, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2.0f * x[i] + 1.0f;
    z[i] += 1.0f;
    if (DEED == 1 && i == 3) y[i] += 1000.0f;
    if (DEED == 2 && i == 5) x[i] = -x[i];
    if (DEED == 3 && i == 7) zero[0] = 1;
}
extern "C" __global__ void honest(float* x, float* y, float* z, unsigned* zero, int n) { work<0>(x, y, z, zero, n); }
extern "C" __global__ void wrong(float* x, float* y, float* z, unsigned* zero, int n) { work<1>(x, y, z, zero, n); }
extern "C" __global__ void writes(float* x, float* y, float* z, unsigned* zero, int n) { work<2>(x, y, z, zero, n); }
extern "C" __global__ void dirty(float* x, float* y, float* z, unsigned* zero, int n) { work<3>(x, y, z, zero, n); }
extern "C" __global__ void partial(float* x, float* y, float* z, unsigned* zero, int n) { work<0>(x, y, z, zero, n - 9); }
"#;

const REFERENCE: &str = r#"
extern "C" __global__ void exact(const float* x, double* y, double* ym, double* z, double* zm, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2.0 * x[i] + 1.0;
    ym[i] = fabs(2.0 * x[i]) + 1.0;
    zm[i] = fabs(z[i]) + 1.0;
    z[i] = z[i] + 1.0;
}
"#;

const COUNT: u64 = 1001;

/// Both sides, on devices that make and compare, or whose hosts do.
struct Sides {
    candidate: DeviceSession,
    reference: DeviceSession,
    folder: tempfile::TempDir,
}

impl Sides {
    fn new(trusted: Option<(&str, Way)>) -> Option<Self> {
        let open = |side, text: &str| {
            let ptx = kernel_ptx(text)?;
            let image = |ptx: String| ModuleImage { ptx, cubin: None };
            let way = trusted.map(|(_, way)| way);
            let trusted = trusted.map(|(ptx, _)| image(ptx.to_owned()));
            let opening = OpenRequest {
                side,
                device: "virtual:h200".to_owned(),
                max_steps: 1 << 30,
                modules: vec![image(ptx)],
                harness_kernels: trusted,
            };
            let sheet = DeviceSheet::named("h200").unwrap();
            let device = VirtualDevice::new(sheet, WATCH).unwrap();
            let device: Box<dyn Device> = match way {
                Some(way) => Box::new(Rehearsal { device, bytes: BTreeMap::new(), way }),
                None => Box::new(device),
            };
            Some(DeviceSession::with_device(device, &opening).unwrap())
        };
        Some(Self {
            candidate: open(Side::Candidate, CANDIDATES)?,
            reference: open(Side::Reference, REFERENCE)?,
            folder: tempfile::tempdir().unwrap(),
        })
    }

    fn run(&mut self, kernel: &str, recipe: InputSpec, memory: BufferPlacement) -> RunReport {
        let tensors = [0, 1, 2].map(|tensor| ArgumentCase::Buffer(Buffer::Tensor(tensor)));
        let zero = ArgumentCase::Buffer(Buffer::Scratch(0));
        let program = Program {
            scratch: vec![ScratchCase { name: "zero".to_owned(), bytes: 64, init: Init::ZeroOnce }],
            ..program(kernel, tensors.into_iter().chain([zero]).collect())
        };
        let outputs = Some(self.folder.path().to_owned());
        let (scrutiny, counts, part) = (Scrutiny::Memory, CountsUse::Drop, GridPart::Whole);
        let case = three();
        let order = RunRequest { case, program, recipe, memory, scrutiny, counts, outputs, part };
        self.candidate.run(&order).unwrap()
    }

    fn judge(&mut self, recipe: InputSpec) -> JudgeReport {
        let buffers = [
            Buffer::Tensor(0),
            Buffer::Tensor(1),
            Buffer::Magnitude(1),
            Buffer::Tensor(2),
            Buffer::Magnitude(2),
        ];
        let program = program("exact", buffers.map(ArgumentCase::Buffer).to_vec());
        let outputs = self.folder.path().to_owned();
        let (case, part) = (three(), GridPart::Whole);
        let admission = None;
        let (reference, supplied) = (ReferenceSource::Program(program), Vec::new());
        let order = JudgeRequest { case, reference, supplied, recipe, outputs, part, admission };
        self.reference.judge(&order).unwrap()
    }
}

fn three() -> Case {
    let normal = || Fill::Normal { mean: 0.5, std: 2.0 };
    let compare = Comparator::Elementwise { terms: 2, factor: 4.0, rms: true };
    let x = input(Dtype::F32, &[COUNT], normal());
    let y = output(Dtype::F32, &[COUNT], compare.clone());
    let z = tensor("z", Dtype::F32, &[COUNT], Role::Inout { fill: normal(), compare });
    case(Accuracy::F32, vec![x, y, z])
}

fn program(kernel: &str, mut arguments: Vec<ArgumentCase>) -> Program {
    arguments.push(ArgumentCase::Bytes((COUNT as i32).to_le_bytes().to_vec()));
    let launch = LaunchStep {
        kernel: kernel.to_owned(),
        grid: [8, 1, 1],
        block: [128, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        arguments,
        residence: None,
    };
    let steps = vec![Step::Launch(launch)];
    Program { module: 0, scratch: Vec::new(), constants: Vec::new(), steps }
}

/// Both kinds; nothing where there is no compiler.
fn both() -> Option<[Sides; 2]> {
    let trusted = trusted_ptx()?;
    Some([Sides::new(None)?, Sides::new(Some((&trusted, Way::Works)))?])
}

fn recipes() -> Vec<InputSpec> {
    let draws =
        DISTRIBUTIONS.into_iter().map(InputMode::Distribution).chain([InputMode::PrecisionProbe]);
    draws.map(|draw| InputSpec { seed: 11, draw }).collect()
}

#[test]
fn both_judge_alike() {
    let Some([mut host, mut device]) = both() else { return };
    for recipe in recipes() {
        for kernel in ["honest", "wrong"] {
            let memory = BufferPlacement::Fresh(Placement::Left);
            let reports = [&mut host, &mut device].map(|sides| {
                let ran = sides.run(kernel, recipe, memory);
                assert!(ran.faults.is_empty(), "{:?}", ran.faults);
                assert_eq!(ran.left_dirty, [""; 0]);
                sides.judge(recipe)
            });
            let [here, there] = reports;
            assert_eq!(here, there, "{kernel} {recipe:?}");
            let is_wrong = here.comparisons.iter().any(|comparison| comparison.wrong.is_some());
            assert_eq!(is_wrong, kernel == "wrong", "{recipe:?}: {here:?}");
            assert_eq!(here.exact, recipe.draw == InputMode::PrecisionProbe);
        }
    }
}

#[test]
fn both_see_an_input_that_a_kernel_writes_to() {
    let Some(both) = both() else { return };
    for mut sides in both {
        let ran = sides.run("writes", recipes()[0], BufferPlacement::Fresh(Placement::Left));
        let kinds: Vec<FaultKind> = ran.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::ReadOnlyWrite]);
    }
}

#[test]
fn both_see_scratch_that_is_not_left_zero() {
    let Some(both) = both() else { return };
    for mut sides in both {
        let ran = sides.run("dirty", recipes()[0], BufferPlacement::Fresh(Placement::Right));
        assert_eq!(ran.left_dirty, ["zero"]);
    }
}

#[test]
fn both_see_elements_that_nothing_wrote() {
    let Some(both) = both() else { return };
    for mut sides in both {
        sides.run("partial", recipes()[0], BufferPlacement::Fresh(Placement::Left));
        let judged = sides.judge(recipes()[0]);
        let y = judged.comparisons[0].wrong.as_ref().unwrap();
        assert_eq!((y.kind, y.count), (WrongKind::Unwritten, 9));
    }
}

#[test]
fn digests_tell_outputs_apart_and_not_places() {
    let Some([_, mut sides]) = both() else { return };
    let [a, b, ..] = recipes()[..] else { panic!("two recipes") };
    let left = sides.run("honest", a, BufferPlacement::Fresh(Placement::Left)).digest;
    let same = sides.run("honest", a, BufferPlacement::Same).digest;
    let right = sides.run("honest", a, BufferPlacement::Fresh(Placement::Right)).digest;
    let other = sides.run("honest", b, BufferPlacement::Same).digest;
    let wrong = sides.run("wrong", a, BufferPlacement::Same).digest;
    assert_eq!([&left, &left], [&same, &right]);
    assert!(left != other && left != wrong && other != wrong);
}

#[test]
fn outputs_go_the_way_that_works() {
    let Some(trusted) = trusted_ptx() else { return };
    for (way, files_after) in [(Way::None, 2), (Way::Fails, 2), (Way::Works, 0)] {
        let Some(mut sides) = Sides::new(Some((&trusted, way))) else { return };
        for round in 0..3 {
            for file in ["1", "2"] {
                std::fs::remove_file(sides.folder.path().join(file)).ok();
            }
            let recipe = recipes()[round];
            for (kernel, wrong) in [("honest", 0), ("wrong", 1)] {
                sides.run(kernel, recipe, BufferPlacement::Fresh(Placement::Left));
                let judged = sides.judge(recipe).comparisons;
                let found = judged.iter().filter(|comparison| comparison.wrong.is_some()).count();
                assert_eq!(found, wrong, "{way:?}, round {round}, {kernel}");
            }
            let written = |file: &&str| sides.folder.path().join(file).exists();
            let files = ["1", "2"].iter().filter(|file| written(file)).count();
            // The first time both ways are offered.
            assert_eq!(files, if round == 0 { 2 } else { files_after }, "{way:?}, round {round}");
        }
    }
}
