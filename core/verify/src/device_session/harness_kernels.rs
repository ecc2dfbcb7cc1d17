//! Harness kernels: work that a session runs on its device, with small results.

use lightbench_device::{BufferId, BufferRequest, Device, Image, Launch, ModuleId};
use lightbench_tensors::compare::Strictness;
use lightbench_tensors::encoding::comparison::{
    ComparisonEncoding, ComparisonResult, GroupSquares, SQUARES_BYTES, pair,
};
use lightbench_tensors::encoding::format::Format;
use lightbench_tensors::encoding::input::InputEncoding;
use lightbench_virtual_gpu::{Access, InitialContent};

use super::bound::failure_from_device_error;
use super::{ModuleImage, SessionFailure};
use crate::harness_kernels::launches;
use crate::harness_kernels::launches::Compared;

/// Bytes of an answer: two numbers.
const ANSWER_BYTES: u64 = 16;

/// The harness kernels that a device has loaded, and a buffer for their results.
#[derive(Clone, Copy, Debug)]
pub(super) struct HarnessKernels {
    module: ModuleId,
    answer: BufferId,
}

/// What the reference computed for an output of floats: the values, and the magnitudes of their terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reals {
    pub(super) values: BufferId,
    pub(super) magnitudes: BufferId,
}

impl HarnessKernels {
    /// None for a device that leaves this work to the host.
    pub(super) fn load(
        device: &mut dyn Device,
        image: &ModuleImage,
    ) -> Result<Option<Self>, SessionFailure> {
        let image = Image { ptx: &image.ptx, cubin: image.cubin.as_deref() };
        let Some(module) =
            device.equip(image).map_err(|error| failure_from_device_error(&error))?
        else {
            return Ok(None);
        };
        let answer = working_space(device, "answer", ANSWER_BYTES)?;
        Ok(Some(Self { module, answer }))
    }

    /// Fills a buffer.
    pub(super) fn make(
        self,
        device: &mut dyn Device,
        buffer: BufferId,
        making: &InputEncoding,
    ) -> Result<(), SessionFailure> {
        let table = table(device, making)?;
        run(device, &launches::make(self.module, buffer, making, table))?;
        give_back(device, table)
    }

    /// The first byte of a buffer that is not what was made.
    pub(super) fn first_change(
        self,
        device: &mut dyn Device,
        buffer: BufferId,
        making: &InputEncoding,
    ) -> Result<Option<u64>, SessionFailure> {
        self.begin(device, [u64::MAX; 2])?;
        let table = table(device, making)?;
        let made = (making, table);
        run(device, &launches::still(self.module, buffer, made, self.answer))?;
        give_back(device, table)?;
        let [first, _unused] = self.answered(device)?;
        Ok((first != u64::MAX).then_some(first))
    }

    /// Two numbers that depend on every byte of a buffer of so many.
    pub(super) fn digest(
        self,
        device: &mut dyn Device,
        buffer: BufferId,
        bytes: u64,
    ) -> Result<[u64; 2], SessionFailure> {
        self.begin(device, [0; 2])?;
        run(device, &launches::digest(self.module, buffer, bytes, self.answer))?;
        self.answered(device)
    }

    /// Judges floats. The sums are those of each group of chunks, in order; none for exact results.
    pub(super) fn compare(
        self,
        device: &mut dyn Device,
        (found, expected): (BufferId, Reals),
        comparing: &ComparisonEncoding,
        strictness: Strictness,
    ) -> Result<(ComparisonResult, Vec<GroupSquares>), SessionFailure> {
        let compared = Compared { found, expected: expected.values };
        self.begin(device, [0; 2])?;
        if strictness == Strictness::Exact {
            let (magnitudes, answer) = (expected.magnitudes, self.answer);
            let module = self.module;
            run(
                device,
                &launches::compare_exactly(module, compared, magnitudes, comparing, answer),
            )?;
            return Ok((self.judged(device)?, Vec::new()));
        }
        let sums = |count: u64| count.saturating_mul(SQUARES_BYTES);
        let squares = working_space(device, "sums of chunks", sums(comparing.chunks()))?;
        let groups = working_space(device, "sums of groups", sums(comparing.groups()))?;
        let results = (squares, self.answer);
        let magnitudes = expected.magnitudes;
        run(device, &launches::compare(self.module, compared, magnitudes, comparing, results))?;
        run(device, &launches::add_squares(self.module, comparing, (squares, groups)))?;
        let sums = device.read(groups).map_err(|error| failure_from_device_error(&error))?.bytes;
        for space in [squares, groups] {
            device.free(space).map_err(|error| failure_from_device_error(&error))?;
        }
        Ok((self.judged(device)?, GroupSquares::read_all(&sums).collect()))
    }

    /// Judges anything by its bits.
    pub(super) fn compare_bits(
        self,
        device: &mut dyn Device,
        compared: Compared,
        comparing: &ComparisonEncoding,
    ) -> Result<ComparisonResult, SessionFailure> {
        self.begin(device, [0; 2])?;
        run(device, &launches::compare_bits(self.module, compared, comparing, self.answer))?;
        self.judged(device)
    }

    /// Whether all results are exact, their terms below a limit; and whether some of them are beyond half precision.
    pub(super) fn survey(
        self,
        device: &mut dyn Device,
        Reals { values, magnitudes }: Reals,
        comparing: &ComparisonEncoding,
        limit: f64,
    ) -> Result<(bool, bool), SessionFailure> {
        self.begin(device, [0; 2])?;
        let looked_at = (values, magnitudes);
        run(device, &launches::survey(self.module, looked_at, comparing, limit, self.answer))?;
        let [inexact, telling] = self.answered(device)?;
        Ok((inexact == 0, telling > 0))
    }

    fn begin(self, device: &mut dyn Device, numbers: [u64; 2]) -> Result<(), SessionFailure> {
        let bytes = numbers.map(u64::to_le_bytes).concat();
        device
            .set(self.answer, InitialContent::Bytes(bytes))
            .map_err(|error| failure_from_device_error(&error))
    }

    fn answered(self, device: &mut dyn Device) -> Result<[u64; 2], SessionFailure> {
        let bytes =
            device.read(self.answer).map_err(|error| failure_from_device_error(&error))?.bytes;
        pair(&bytes).ok_or_else(|| {
            SessionFailure::Device("the result of a harness kernel has the wrong size".to_owned())
        })
    }

    fn judged(self, device: &mut dyn Device) -> Result<ComparisonResult, SessionFailure> {
        let [rejected, fraction] = self.answered(device)?;
        Ok(ComparisonResult { rejected, fraction: f64::from_bits(fraction) })
    }
}

/// A buffer of so many bytes, every one the same as others of its kind: elements of one value.
pub(super) fn constant(bytes: u64, element: &[u8]) -> Option<InputEncoding> {
    let size = element.len() as u64;
    let mut bits = [0; 8];
    bits.get_mut(..element.len())?.copy_from_slice(element);
    let fits = matches!(size, 1 | 2 | 4 | 8) && bytes.is_multiple_of(size);
    fits.then(|| {
        InputEncoding::constant(bytes / size, Format::opaque(size), u64::from_le_bytes(bits))
    })
}

/// The numbers that are looked up, where the device reads them.
fn table(
    device: &mut dyn Device,
    making: &InputEncoding,
) -> Result<Option<BufferId>, SessionFailure> {
    let Some(bytes) = making.table() else { return Ok(None) };
    let length = bytes.len() as u64;
    let request =
        BufferRequest::new("table", length, Access::ReadOnly, InitialContent::Bytes(bytes));
    device.allocate(request).map(Some).map_err(|error| failure_from_device_error(&error))
}

fn give_back(device: &mut dyn Device, buffer: Option<BufferId>) -> Result<(), SessionFailure> {
    buffer
        .map_or(Ok(()), |buffer| device.free(buffer))
        .map_err(|error| failure_from_device_error(&error))
}

/// Memory for the work of trusted code.
pub(super) fn working_space(
    device: &mut dyn Device,
    name: &str,
    bytes: u64,
) -> Result<BufferId, SessionFailure> {
    let request = BufferRequest::new(name, bytes, Access::ReadWrite, InitialContent::Uninitialised);
    device.allocate(request).map_err(|error| failure_from_device_error(&error))
}

/// Runs trusted code, which does nothing wrong: if it does, the device is broken.
fn run(device: &mut dyn Device, launch: &Launch) -> Result<(), SessionFailure> {
    let outcome = device.launch(launch).map_err(|error| failure_from_device_error(&error))?;
    match outcome.faults.first() {
        None => Ok(()),
        Some(fault) => {
            Err(SessionFailure::Device(format!("`{}`: {:?}", launch.kernel, fault.kind())))
        }
    }
}
