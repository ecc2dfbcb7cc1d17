//! What is known of a variant before it runs, as numbers to forecast from: its launches, its code, and the time of what it
//! was made of.
//!
//! They come of a build alone. A virtual device would count more, but in a search without a GPU its run is the very look
//! that is to be saved, and beside a GPU it takes longer than the look. Amounts that may be many times another are
//! logarithms, so that twice is the same distance everywhere; each is the mean over the workloads that count, as the time is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compile::facts::LaunchFacts;
use crate::compile::occupancy::Occupancy;
use crate::evaluate::{Examined, ExaminedWorkload};
use crate::speed_of_light::code_mix::CodeMix;

/// Features of a variant that are known before it runs, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Features(BTreeMap<String, f64>);

/// Name of the logarithm of the time of the parent divided by that of the first variant: one change rarely moves the time
/// far.
pub const PARENT: &str = "parent_time";

/// A feature of one workload.
struct Feature {
    /// Name in journals.
    name: &'static str,
    scale: Scale,
    read: Read,
}

/// Source of a feature.
enum Read {
    /// The launches; none if the device sheet or the assembler lacks a value.
    Launches(fn(&WorkloadFacts<'_>) -> Option<f64>),
    /// The code.
    Code(fn(&CodeMix) -> u64),
}

/// Scale of a feature.
#[derive(Clone, Copy)]
enum Scale {
    /// Unchanged, for fractions.
    Linear,
    /// Logarithm, for amounts that are never zero.
    Log,
    /// Logarithm of one more than the amount, for amounts that are often zero.
    LogOfOneMore,
}

/// One workload of a variant.
struct WorkloadFacts<'a> {
    workload: &'a ExaminedWorkload,
    /// The launch with the most threads.
    widest: &'a LaunchFacts,
    sms: Option<u32>,
}

const LAUNCHES: [Feature; 12] = [
    launch("launches", Scale::Log, |seen| Some(seen.workload.launches.len() as f64)),
    launch("blocks", Scale::Log, |seen| Some(seen.total(blocks))),
    launch("threads_per_block", Scale::Log, |seen| Some(threads_per_block(seen.widest))),
    launch("work_per_thread", Scale::Log, |seen| Some(seen.workload.work / seen.total(threads))),
    launch("registers", Scale::Log, |seen| {
        Some(f64::from(seen.widest.kernel.resources?.registers))
    }),
    launch("shared_bytes", Scale::LogOfOneMore, |seen| {
        let fixed = seen.widest.kernel.resources?.static_shared.0;
        Some((fixed + seen.widest.planned.shared_bytes) as f64)
    }),
    launch("spilled_bytes", Scale::LogOfOneMore, |seen| Some(seen.total(spilled))),
    launch("stack_bytes", Scale::LogOfOneMore, |seen| {
        Some(seen.widest.kernel.resources?.stack?.0 as f64)
    }),
    launch("code_bytes", Scale::LogOfOneMore, |seen| Some(seen.total(code))),
    launch("resident_warps", Scale::Log, |seen| Some(f64::from(resident(seen.widest)?.1))),
    launch("waves", Scale::Log, |seen| seen.waves()),
    launch("idle_in_last_wave", Scale::Linear, |seen| {
        seen.waves().map(|waves| 1.0 - waves / waves.ceil())
    }),
];

const CODE: [Feature; 16] = [
    of_code("products", |mix| mix.products),
    of_code("global_loads", |mix| mix.global_loads),
    of_code("global_stores", |mix| mix.global_stores),
    of_code("widest_load", |mix| mix.widest_load),
    of_code("widest_store", |mix| mix.widest_store),
    of_code("local", |mix| mix.local),
    of_code("global_atomics", |mix| mix.global_atomics),
    of_code("shared", |mix| mix.shared),
    of_code("tensor", |mix| mix.tensor),
    of_code("warp_group", |mix| mix.warp_group),
    of_code("async_copies", |mix| mix.async_copies),
    of_code("bulk_copies", |mix| mix.bulk_copies),
    of_code("shuffles", |mix| mix.shuffles),
    of_code("barriers", |mix| mix.barriers),
    of_code("streaming", |mix| mix.streaming),
    of_code("prefetches", |mix| mix.prefetches),
];

const fn launch(
    name: &'static str,
    scale: Scale,
    read: fn(&WorkloadFacts<'_>) -> Option<f64>,
) -> Feature {
    Feature { name, scale, read: Read::Launches(read) }
}

const fn of_code(name: &'static str, read: fn(&CodeMix) -> u64) -> Feature {
    Feature { name, scale: Scale::LogOfOneMore, read: Read::Code(read) }
}

impl Features {
    /// Features of a candidate, on the workloads in `counting`.
    #[must_use]
    pub fn from_examined(examined: &Examined, counting: &[String]) -> Self {
        let counts = |workload: &&ExaminedWorkload| counting.contains(&workload.name);
        let seen = examined.workloads.iter().filter(counts).filter_map(|workload| {
            let widest = workload.launches.iter().max_by(|a, b| threads(a).total_cmp(&threads(b)));
            Some(WorkloadFacts { workload, widest: widest?, sms: examined.sms })
        });
        let seen: Vec<WorkloadFacts<'_>> = seen.collect();
        let each = LAUNCHES.iter().chain(&CODE);
        Self(each.filter_map(|one| Some((one.name.to_owned(), one.mean(&seen)?))).collect())
    }

    /// Adds a feature.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Values in the order of [`names`], with 0 for an unknown one, as the prediction takes them.
    #[must_use]
    pub fn numbers(&self) -> Vec<f64> {
        names().map(|name| self.0.get(name).copied().unwrap_or(0.0)).collect()
    }
}

/// Names of all features, in the order of [`Features::numbers`].
pub fn names() -> impl Iterator<Item = &'static str> {
    LAUNCHES.iter().chain(&CODE).map(|one| one.name).chain([PARENT])
}

impl Feature {
    /// Mean over workloads; none if a workload has no finite value.
    fn mean(&self, seen: &[WorkloadFacts<'_>]) -> Option<f64> {
        let each = seen.iter().map(|one| {
            let amount = match self.read {
                Read::Launches(read) => read(one)?,
                Read::Code(read) => read(&one.workload.code) as f64,
            };
            Some(match self.scale {
                Scale::Linear => amount,
                Scale::Log => amount.ln(),
                Scale::LogOfOneMore => amount.ln_1p(),
            })
        });
        let each: Vec<f64> = each.collect::<Option<_>>()?;
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        mean.is_finite().then_some(mean)
    }
}

impl WorkloadFacts<'_> {
    fn total(&self, of: fn(&LaunchFacts) -> f64) -> f64 {
        self.workload.launches.iter().map(of).sum()
    }

    /// Number of times that the blocks of the widest launch fill the device.
    fn waves(&self) -> Option<f64> {
        let at_once = f64::from(self.sms?) * f64::from(resident(self.widest)?.0);
        Some(blocks(self.widest) / at_once)
    }
}

fn blocks(launch: &LaunchFacts) -> f64 {
    launch.planned.grid.iter().map(|size| f64::from(*size)).product()
}

fn threads_per_block(launch: &LaunchFacts) -> f64 {
    launch.planned.block.iter().map(|size| f64::from(*size)).product()
}

fn threads(launch: &LaunchFacts) -> f64 {
    blocks(launch) * threads_per_block(launch)
}

fn spilled(launch: &LaunchFacts) -> f64 {
    let resources = launch.kernel.resources;
    resources.map_or(0.0, |all| (all.spill_stores.0 + all.spill_loads.0) as f64)
}

fn code(launch: &LaunchFacts) -> f64 {
    launch.kernel.resources.map_or(0.0, |resources| resources.code.0 as f64)
}

/// Resident blocks and warps of a multiprocessor.
fn resident(launch: &LaunchFacts) -> Option<(u32, u32)> {
    match &launch.occupancy {
        Some(Occupancy::Resident(fit)) => Some((fit.blocks, fit.warps)),
        Some(Occupancy::CannotLaunch(_)) | None => None,
    }
}

/// A candidate of one launch, as a test's script has it: 1000 blocks a workload on 10 multiprocessors.
#[cfg(test)]
pub(super) fn examined(workloads: &[String], block: u32, code: CodeMix) -> Examined {
    use crate::compile::KernelFacts;
    use crate::compile::artifact::Resources;
    use crate::compile::occupancy::Resident;
    use crate::project::launch::plan::PlannedLaunch;
    use crate::units::Bytes;

    let resources = Resources {
        registers: 32,
        spill_stores: Bytes(8),
        spill_loads: Bytes(12),
        stack: Some(Bytes(0)),
        static_shared: Bytes(1024),
        constant: Bytes(0),
        module_constant: Bytes(0),
        barriers: 1,
        code: Bytes(4096),
    };
    let launch = LaunchFacts {
        planned: PlannedLaunch {
            name_expression: "k".to_owned(),
            arguments: Vec::new(),
            grid: [100, 10, 1],
            block: [block, 1, 1],
            shared_bytes: 512,
            cluster: None,
            cooperative: false,
            carveout: None,
            programmatic: false,
        },
        kernel: KernelFacts {
            expression: None,
            symbol: "k".to_owned(),
            parameters: Vec::new(),
            max_threads: None,
            required_threads: None,
            required_cluster: None,
            uses_dynamic_shared: false,
            resources: Some(resources),
            triton: None,
        },
        occupancy: Some(Occupancy::Resident(Resident {
            blocks: 2048 / block,
            warps: 64,
            max_warps: 64,
            allowances: Vec::new(),
        })),
        demand: None,
        problems: Vec::new(),
    };
    let workload = |name: &String| ExaminedWorkload {
        name: name.clone(),
        work: 1_024_000.0,
        launches: vec![launch.clone()],
        code,
    };
    Examined { sms: Some(10), workloads: workloads.iter().map(workload).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: CodeMix = CodeMix { products: 7, ..NONE };
    const NONE: CodeMix = CodeMix {
        products: 0,
        global_loads: 0,
        global_stores: 0,
        widest_load: 0,
        widest_store: 0,
        local: 0,
        global_atomics: 0,
        shared: 0,
        tensor: 0,
        warp_group: 0,
        async_copies: 0,
        bulk_copies: 0,
        shuffles: 0,
        barriers: 0,
        streaming: 0,
        prefetches: 0,
    };

    fn of(names: &[&str]) -> Features {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Features::from_examined(&examined(&names, 256, CODE), &names)
    }

    #[track_caller]
    fn check(name: &str, expected: f64) {
        let found = of(&["a", "b"]).0.get(name).copied();
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{name}: {found:?}");
    }

    #[test]
    fn a_feature_is_what_its_name_says() {
        check("launches", 0.0);
        check("blocks", 1000_f64.ln());
        check("threads_per_block", 256_f64.ln());
        check("work_per_thread", 4_f64.ln());
        check("registers", 32_f64.ln());
        check("shared_bytes", 1537_f64.ln());
        check("spilled_bytes", 21_f64.ln());
        check("stack_bytes", 0.0);
        check("code_bytes", 4097_f64.ln());
        check("resident_warps", 64_f64.ln());
        check("waves", 12.5_f64.ln());
        check("idle_in_last_wave", 0.5 / 13.0);
        check("products", 8_f64.ln());
        check("tensor", 0.0);
    }

    #[test]
    fn numbers_stand_in_the_order_of_names_and_what_is_not_known_is_nothing() {
        let names: Vec<&str> = names().collect();
        let sorted: std::collections::BTreeSet<&&str> = names.iter().collect();
        assert_eq!(sorted.len(), names.len(), "no name twice");
        let numbers = of(&["a"]).with(PARENT, -0.5).numbers();
        assert_eq!(numbers.len(), names.len());
        let at = |name: &str| numbers[names.iter().position(|own| *own == name).unwrap()];
        assert_eq!((at("registers"), at(PARENT)), (32_f64.ln(), -0.5));
        assert_eq!(of(&[]), Features::default());
        assert!(Features::default().numbers().iter().all(|number| *number == 0.0));
        let mut unknown = examined(&["a".to_owned()], 256, CODE);
        unknown.sms = None;
        let features = Features::from_examined(&unknown, &["a".to_owned()]);
        assert!(!features.0.contains_key("waves") && features.0.contains_key("blocks"));
    }

    #[test]
    fn features_are_written_by_name_and_read_again() {
        let features = of(&["a"]).with(PARENT, 0.25);
        let text = serde_json::to_string(&features).unwrap();
        assert!(text.contains("\"registers\":3.46"), "{text}");
        assert_eq!(serde_json::from_str::<Features>(&text).unwrap(), features);
    }
}
