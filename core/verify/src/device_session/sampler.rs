//! Runs blocks of one launch one by one, and records which elements they wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use lightbench_device::{BufferId, Device, Launch, LaunchFault, PartialLaunch, Watch};
use lightbench_primitives::random::{Stream, whole};
use lightbench_project::launch::Buffer;
use lightbench_tensors::case::{Case, TensorCase};
use lightbench_virtual_gpu::{BlockSelection, Checks, Races};

use super::block_map::BlockMap;
use super::bound::{Bound, failure_from_device_error};
use super::sample::{
    FILE, Handed, MOST_GRID_STEPS, Sample, Sampled, failure, index_of, partial, product,
};
use super::session::independent;
use super::{SessionFailure, Side};

/// Elements of each output that are followed to the block that writes them: the last one, and random ones.
const TARGETS: u64 = 8;

/// Neighbours of a target that are judged with it.
const WINDOW: u64 = 64;

/// Steps of all sampled blocks of one side: some tenths of a second.
const ENOUGH_STEPS: u64 = 1 << 22;

/// One output on one side.
#[derive(Debug)]
pub(super) struct Output {
    tensor: usize,
    buffer: BufferId,
    /// The reference's sums of magnitudes.
    magnitudes: Option<BufferId>,
    elements: u64,
    /// Bytes of an element on this side.
    size: u64,
    map: Option<BlockMap>,
    /// Elements that were written, as long as no further block runs.
    written: Option<Rc<[Range<u64>]>>,
    /// Elements that were followed to a block and are written.
    found: Vec<u64>,
}

pub(super) fn outputs(
    case: &Case,
    bound: &Bound,
    side: Side,
) -> Result<Vec<Output>, SessionFailure> {
    let all = case.tensors.iter().enumerate();
    all.filter(|(_, tensor)| tensor.role.compare().is_some())
        .map(|(index, tensor)| {
            let wide = side == Side::Reference && tensor.dtype.is_float();
            let magnitudes = wide && tensor.has_magnitude();
            Ok(Output {
                tensor: index,
                buffer: bound.buffer(Buffer::Tensor(index))?,
                magnitudes: match magnitudes {
                    true => Some(bound.buffer(Buffer::Magnitude(index))?),
                    false => None,
                },
                elements: tensor.elements,
                size: if wide { 8 } else { tensor.dtype.address_bytes() },
                map: None,
                written: None,
                found: Vec::new(),
            })
        })
        .collect()
}

/// A launch whose groups of blocks are independent of each other: single blocks or clusters.
pub(super) struct GroupedLaunch {
    pub(super) launch: Launch,
    /// The blocks of a group in each dimension: the size of a cluster, as ranges of a launch count them.
    pub(super) group: [u32; 3],
}

impl GroupedLaunch {
    /// The groups of the grid in each dimension.
    fn groups(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| self.launch.grid[axis] / self.group[axis])
    }

    /// The number of blocks of a group.
    pub(super) fn blocks_of_group(&self) -> u64 {
        product(self.group)
    }
}

/// Runs groups of blocks of one launch one by one, and records the elements that they wrote.
pub(super) struct Sampler<'a> {
    device: &'a mut dyn Device,
    launch: GroupedLaunch,
    outputs: Vec<Output>,
    groups: u64,
    ran: BTreeSet<u64>,
    steps: u64,
    pub(super) faults: Vec<LaunchFault>,
    /// Whether no block was found that writes some element.
    missing: bool,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(
        device: &'a mut dyn Device,
        launch: GroupedLaunch,
        outputs: Vec<Output>,
    ) -> Self {
        let groups = product(launch.groups());
        let (ran, faults) = (BTreeSet::new(), Vec::new());
        Self { device, launch, outputs, groups, ran, steps: 0, faults, missing: false }
    }

    /// Runs a range of groups.
    fn run(&mut self, first: u64, count: NonZeroU64) -> Result<(), SessionFailure> {
        let blocks = BlockSelection::Range { first, count };
        let outcome = partial(self.device)?.launch_part(&self.launch.launch, blocks);
        let outcome = outcome.map_err(|error| failure_from_device_error(&error))?;
        self.ran.extend(first..(first + count.get()).min(self.groups));
        self.steps += outcome.steps.unwrap_or_default();
        self.faults.extend(outcome.faults);
        self.forget_written();
        Ok(())
    }

    fn forget_written(&mut self) {
        for output in &mut self.outputs {
            output.written = None;
        }
    }

    /// Whether no more blocks should run.
    fn is_over(&self) -> bool {
        self.steps >= ENOUGH_STEPS || !self.faults.is_empty()
    }

    /// The elements of an output that were written.
    fn written(&mut self, output: usize) -> Result<Rc<[Range<u64>]>, SessionFailure> {
        let Output { buffer, size, ref written, .. } = self.outputs[output];
        if let Some(written) = written {
            return Ok(Rc::clone(written));
        }
        let written = partial(self.device)?
            .written(buffer)
            .map_err(|error| failure_from_device_error(&error))?;
        // An element of which a part was not written is not.
        let whole =
            |range: Range<usize>| (range.start as u64).div_ceil(size)..range.end as u64 / size;
        let whole = written.into_iter().map(whole).filter(|range| !range.is_empty());
        let whole: Rc<[Range<u64>]> = whole.collect();
        self.outputs[output].written = Some(Rc::clone(&whole));
        Ok(whole)
    }

    /// Runs the first group and its neighbours, and learns from them where blocks write.
    pub(super) fn learn(&mut self, alone: bool) -> Result<(), SessionFailure> {
        self.run(0, NonZeroU64::MIN)?;
        let mut axes = Vec::new();
        for output in 0..self.outputs.len() {
            let map = BlockMap::new(self.launch.groups(), self.written(output)?.to_vec());
            axes.extend((0..map.axes()).map(|axis| (output, axis)));
            self.outputs[output].map = Some(map);
        }
        self.learn_axes(&axes, alone)?;
        let maps = self.outputs.iter_mut().enumerate();
        let divided = maps.filter_map(|(index, output)| {
            Some((index, output.map.as_mut()?.divide(output.elements)?))
        });
        let divided: Vec<_> = divided.collect();
        self.learn_axes(&divided, alone)
    }

    /// Runs the first block's neighbours along axes of outputs' maps, and learns from them.
    fn learn_axes(&mut self, axes: &[(usize, usize)], alone: bool) -> Result<(), SessionFailure> {
        let mut neighbours: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
        for (output, axis) in axes {
            let map = self.outputs[*output].map.as_ref();
            if let Some(block) = map.and_then(|map| map.neighbour(*axis)) {
                neighbours.entry(block).or_default().push((*output, *axis));
            }
        }
        for (block, axes) in neighbours {
            if !self.faults.is_empty() {
                break;
            }
            let outputs = 0..self.outputs.len();
            let before: Vec<_> =
                outputs.map(|output| self.written(output)).collect::<Result<_, _>>()?;
            // Next to the first block, so that races between the two show. If blocks are long, the last two suffice.
            if block == 1 && !alone && self.steps < ENOUGH_STEPS / 8 {
                self.run(0, NonZeroU64::MIN.saturating_add(1))?;
            } else {
                self.run(block, NonZeroU64::MIN)?;
            }
            for (output, axis) in axes {
                let after = self.written(output)?;
                if let Some(map) = &mut self.outputs[output].map {
                    map.learn(axis, &before[output], &after);
                }
            }
        }
        Ok(())
    }

    /// Whether an element is written, after running the blocks that may write it.
    fn find(&mut self, output: usize, element: u64) -> Result<bool, SessionFailure> {
        let guesses = self.outputs[output].map.as_ref().map(|map| map.guesses(element));
        for block in guesses.unwrap_or_default() {
            if is_among(&self.written(output)?, element) {
                break;
            }
            if !self.ran.contains(&block) {
                self.run(block, NonZeroU64::MIN)?;
            }
        }
        Ok(is_among(&self.written(output)?, element))
    }

    /// Runs the first and the last blocks, and the blocks that write the last element and random elements of every output.
    pub(super) fn explore(&mut self, seed: u64) -> Result<(), SessionFailure> {
        self.learn(false)?;
        if self.groups > 2 && self.faults.is_empty() {
            self.run(self.groups - 2, NonZeroU64::MIN.saturating_add(1))?;
        }
        for output in 0..self.outputs.len() {
            let elements = self.outputs[output].elements;
            let random = Stream::new(seed, output as u32);
            let chosen =
                (1..TARGETS).map(|index| whole(0, i128::from(elements) - 1, random.bits(index)));
            for (index, element) in std::iter::once(elements - 1).chain(chosen).enumerate() {
                // The last element is always searched for.
                if index > 0 && self.is_over() {
                    break;
                }
                match self.find(output, element)? {
                    true => self.outputs[output].found.push(element),
                    false => self.missing = true,
                }
            }
        }
        Ok(())
    }

    /// Whether the sample represents the whole grid: every searched element is written, or the whole grid ran.
    pub(super) fn settle(&mut self, case: &Case) -> Result<Sampled, SessionFailure> {
        let each = self.launch.blocks_of_group();
        let of = self.groups * each;
        let ran = Sampled::Ran { blocks: self.ran.len() as u64 * each, of };
        let steps = self.steps / (self.ran.len() as u64).max(1);
        if !self.missing && steps.saturating_mul(self.groups) > MOST_GRID_STEPS / 4 {
            return Ok(ran);
        }
        self.device.watch(Watch {
            checks: Checks { uninitialized: true, races: Races::Ignored },
            schedule: independent(),
            max_steps: MOST_GRID_STEPS,
            counters: false,
            ..Watch::ALL
        });
        let outcome = self
            .device
            .launch(&self.launch.launch)
            .map_err(|error| failure_from_device_error(&error))?;
        self.forget_written();
        if !outcome.faults.is_empty() {
            let reason = "no block was found that writes some of its elements, and the whole grid is too large to run";
            return Ok(if self.missing { Sampled::Impossible(reason.to_owned()) } else { ran });
        }
        for output in 0..self.outputs.len() {
            let written = self.written(output)?;
            let Output { tensor, elements, .. } = self.outputs[output];
            let count: u64 = written.iter().map(|range| range.end - range.start).sum();
            if count < elements {
                let first = written.first().filter(|range| range.start == 0);
                let first = first.map_or(0, |range| range.end);
                let TensorCase { name, dims, .. } = &case.tensors[tensor];
                return Ok(Sampled::Unwritten {
                    tensor: name.clone(),
                    elements: elements - count,
                    first: index_of(dims, first),
                });
            }
            self.outputs[output].found.push(elements - 1);
        }
        Ok(Sampled::Ran { blocks: of, of })
    }

    /// Writes the elements around the chosen ones to the folder from which the reference's device reads them.
    pub(super) fn hand_over(&mut self, folder: &Path) -> Result<(), SessionFailure> {
        let mut all = Vec::new();
        for output in 0..self.outputs.len() {
            let written = self.written(output)?;
            let Output { tensor, buffer, size, ref found, .. } = self.outputs[output];
            let mut elements: Vec<u64> = Vec::new();
            for element in found {
                let around = element.saturating_sub(WINDOW / 2)..element + WINDOW / 2;
                elements.extend(around.filter(|element| is_among(&written, *element)));
            }
            // Elements that the first block wrote.
            elements.extend(
                written.first().into_iter().flat_map(|range| range.clone().take(WINDOW as usize)),
            );
            elements.sort_unstable();
            elements.dedup();
            let device = partial(self.device)?;
            let bytes = gather(device, buffer, (&elements, size))?;
            all.push(Handed { tensor, elements, bytes });
        }
        let text = serde_json::to_vec(&all).map_err(failure)?;
        fs::write(folder.join(FILE), text).map_err(failure)
    }

    /// The reference's values of the elements in the folder, as far as the blocks that compute them are found in time;
    /// none where no block is found.
    pub(super) fn expect<'h>(
        &mut self,
        handed: &'h Handed,
    ) -> Result<Option<Sample<'h>>, SessionFailure> {
        let position = self.outputs.iter().position(|output| output.tensor == handed.tensor);
        let output = position.ok_or_else(|| SessionFailure::Order("no such output".to_owned()))?;
        let mut known: Vec<usize> = Vec::new();
        // From the end: the last element is the one that counts most.
        for (place, element) in handed.elements.iter().enumerate().rev() {
            let is_there = is_among(&self.written(output)?, *element);
            if is_there || (!self.is_over() && self.find(output, *element)?) {
                known.push(place);
            }
        }
        known.reverse();
        if known.is_empty() {
            return Ok(None);
        }
        let elements: Vec<u64> = known.iter().map(|place| handed.elements[*place]).collect();
        let Output { buffer, magnitudes, size, .. } = self.outputs[output];
        let device = partial(self.device)?;
        let values = gather(device, buffer, (&elements, size))?;
        let magnitudes = match magnitudes {
            Some(magnitudes) => Some(gather(device, magnitudes, (&elements, 8))?),
            None => None,
        };
        Ok(Some(Sample { handed, known, elements, values, magnitudes }))
    }
}

/// Elements of a buffer, one behind the other.
fn gather(
    device: &mut dyn PartialLaunch,
    buffer: BufferId,
    (elements, size): (&[u64], u64),
) -> Result<Vec<u8>, SessionFailure> {
    let mut bytes = Vec::with_capacity(elements.len() * size as usize);
    for element in elements {
        let range = (element * size) as usize..((element + 1) * size) as usize;
        bytes.extend(
            device.read_range(buffer, range).map_err(|error| failure_from_device_error(&error))?,
        );
    }
    Ok(bytes)
}

/// Whether an element lies in one of these ranges, which ascend.
fn is_among(ranges: &[Range<u64>], element: u64) -> bool {
    let after = ranges.partition_point(|range| range.end <= element);
    ranges.get(after).is_some_and(|range| range.start <= element)
}
