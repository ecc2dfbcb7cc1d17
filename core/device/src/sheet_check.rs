//! Validates sheets: every number cites a document, and the numbers agree with each other.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond};

use super::capability::Capability;
use super::facts::{Evidence, Fact};
use super::peaks::Pipe;
use super::sheet::DeviceSheet;

/// Data sheets round to two or three digits; a slip of a unit or of sparsity is far outside this.
const AGREEMENT: f64 = 0.03;

/// One thing wrong with a sheet or with the table of capabilities.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A fact cites a document that is not listed.
    #[error("`{fact}` cites `{source_key}`, which is not in `sources`")]
    UnknownSource {
        /// The fact.
        fact: &'static str,
        /// The missing key.
        source_key: String,
    },
    /// An unknown value without a reason.
    #[error("`{fact}` is unknown: write the reason")]
    NoReason {
        /// The fact.
        fact: &'static str,
    },
    /// A document without citation.
    #[error("`sources` lists `{source_key}`, which nothing cites: remove it")]
    UnusedSource {
        /// The key.
        source_key: String,
    },
    /// The compute capability is unknown, so the other checks cannot run.
    #[error("`compute_capability` must be known")]
    NoCapability,
    /// A pipe without an entry.
    #[error("`peaks_tflops` lacks `{}`: write its value, absent or unknown", .0.key())]
    NoPeak(Pipe),
    /// A number that must be positive.
    #[error("`{fact}` must be a positive number")]
    NotPositive {
        /// The fact.
        fact: &'static str,
    },
    /// The stated single-precision peak differs from lanes × clock.
    #[error("the fp32 peak is {stated}, but lanes and boost clock give {computed}")]
    Fp32Peak {
        /// In the sheet.
        stated: FlopsPerSecond,
        /// Multiprocessors × lanes × 2 × boost clock.
        computed: FlopsPerSecond,
    },
    /// The stated memory bandwidth differs from bus width × transfer rate.
    #[error("the memory bandwidth is {stated}, but bus and transfer rate give {computed}")]
    DramBandwidth {
        /// In the sheet.
        stated: BytesPerSecond,
        /// Bus × transfers.
        computed: BytesPerSecond,
    },
    /// A slower accumulation that is faster than the fastest.
    #[error("`{}` exceeds `{}`, which is the fastest accumulation", .slower.key(), .fastest.key())]
    Accumulation {
        /// The pipe with f32 accumulation.
        slower: Pipe,
        /// The pipe with the fastest accumulation.
        fastest: Pipe,
    },
    /// Occupancy cannot be computed.
    #[error("compute capability {compute_capability} must state `{fact}`")]
    NoLimit {
        /// The capability.
        compute_capability: ComputeCapability,
        /// The limit.
        fact: &'static str,
    },
    /// The sizes of shared memory contradict each other.
    #[error(
        "compute capability {compute_capability}: the carve-outs must ascend to {shared_per_sm}, \
         which must hold a block of {max_shared_per_block} and what the system reserves"
    )]
    Shared {
        /// The capability.
        compute_capability: ComputeCapability,
        /// Shared memory of a multiprocessor.
        shared_per_sm: Bytes,
        /// Shared memory of a block.
        max_shared_per_block: Bytes,
    },
    /// One capability twice.
    #[error("compute capability {0} is listed twice")]
    Twice(ComputeCapability),
    /// A pipe without a rate.
    #[error("compute capability {compute_capability}: `operations_per_clock` lacks `{}`", pipe.key())]
    NoRate {
        /// The capability.
        compute_capability: ComputeCapability,
        /// The pipe.
        pipe: Pipe,
    },
}

/// All that is wrong with a sheet.
pub(super) fn sheet(sheet: &DeviceSheet) -> Vec<Problem> {
    let mut problems = citations(&sheet.facts(), &sheet.sources);
    problems.extend(positive(sheet));
    problems.extend(fp32_peak(sheet));
    problems.extend(dram_bandwidth(sheet));
    problems.extend(accumulation(sheet));
    problems
}

/// All that is wrong with the table of capabilities.
pub(super) fn capabilities(all: &[Capability], sources: &BTreeMap<String, String>) -> Vec<Problem> {
    let mut facts = Vec::new();
    let mut problems = Vec::new();
    for capability in all {
        facts.extend(capability.facts());
        let compute_capability = capability.compute_capability;
        let missing = capability.operations_per_clock.missing();
        problems.extend(missing.map(|pipe| Problem::NoRate { compute_capability, pipe }));
        match capability.sm_limits() {
            Ok(_) => problems.extend(shared_sizes(capability)),
            Err(missing) => problems.extend(
                missing.into_iter().map(|fact| Problem::NoLimit { compute_capability, fact }),
            ),
        }
    }
    for pair in all.windows(2) {
        if let [a, b] = pair
            && a.compute_capability == b.compute_capability
        {
            problems.push(Problem::Twice(a.compute_capability));
        }
    }
    problems.extend(citations(&facts, sources));
    problems
}

/// Every citation is listed, every document is cited, and every unknown value has a reason.
fn citations(facts: &[Fact], sources: &BTreeMap<String, String>) -> Vec<Problem> {
    let mut used = BTreeSet::new();
    let mut problems = Vec::new();
    for Fact { name, evidence, .. } in facts {
        match evidence {
            Evidence::Document(key) => {
                used.insert(key);
                if !sources.contains_key(key) {
                    problems.push(Problem::UnknownSource { fact: name, source_key: key.clone() });
                }
            }
            Evidence::Reason(reason) if reason.trim().is_empty() => {
                problems.push(Problem::NoReason { fact: name });
            }
            Evidence::Reason(_) => {}
        }
    }
    problems.extend(
        sources
            .keys()
            .filter(|key| !used.contains(key))
            .map(|key| Problem::UnusedSource { source_key: key.clone() }),
    );
    problems
}

/// Every stated number is positive.
fn positive(sheet: &DeviceSheet) -> Vec<Problem> {
    let mut numbers = vec![
        ("sms", sheet.sms.get().map(f64::from)),
        ("base_clock", sheet.base_clock.get().map(|clock| clock.0)),
        ("boost_clock", sheet.boost_clock.get().map(|clock| clock.0)),
        ("tensor_clock", sheet.tensor_clock.get().map(|clock| clock.0)),
        ("memory_transfers", sheet.memory_transfers.get().map(|rate| rate.0)),
        ("memory_bus_bits", sheet.memory_bus_bits.get().map(f64::from)),
        ("dram", sheet.dram.get().map(|size| size.0 as f64)),
        ("dram_bandwidth", sheet.dram_bandwidth.get().map(|rate| rate.0)),
        ("l2", sheet.l2.get().map(|size| size.0 as f64)),
        ("power_limit", sheet.power_limit.get().map(|power| power.0)),
    ];
    numbers
        .extend(sheet.peaks.iter().map(|(pipe, peak)| (pipe.key(), peak.get().map(|peak| peak.0))));
    numbers
        .into_iter()
        // Written so that NaN is refused.
        .filter(|(_, number)| number.is_some_and(|number| !(number > 0.0 && number.is_finite())))
        .map(|(fact, _)| Problem::NotPositive { fact })
        .collect()
}

/// The single-precision peak is multiprocessors × lanes × 2 × boost clock.
fn fp32_peak(sheet: &DeviceSheet) -> Option<Problem> {
    let stated = sheet.peaks.get(Pipe::Fp32)?;
    let lanes = f64::from(sheet.sms.get()?) * f64::from(sheet.capability.fp32_lanes_per_sm.get()?);
    let computed = FlopsPerSecond(lanes * 2.0 * sheet.boost_clock.get()?.0);
    (!agree(stated.0, computed.0)).then_some(Problem::Fp32Peak { stated, computed })
}

/// The memory rate is pins × transfers.
fn dram_bandwidth(sheet: &DeviceSheet) -> Option<Problem> {
    let stated = sheet.dram_bandwidth.get()?;
    let bytes_per_transfer = f64::from(sheet.memory_bus_bits.get()?) / 8.0;
    let computed = BytesPerSecond(bytes_per_transfer * sheet.memory_transfers.get()?.0);
    (!agree(stated.0, computed.0)).then_some(Problem::DramBandwidth { stated, computed })
}

/// Accumulating in f32 is never faster than the fastest accumulation.
fn accumulation(sheet: &DeviceSheet) -> Vec<Problem> {
    [
        (Pipe::TensorFp16AccumulateFp32, Pipe::TensorFp16),
        (Pipe::TensorFp8AccumulateFp32, Pipe::TensorFp8),
    ]
    .into_iter()
    .filter(|&(slower, fastest)| {
        let both = sheet.peaks.get(slower).zip(sheet.peaks.get(fastest));
        both.is_some_and(|(slower, fastest)| slower.0 > fastest.0 * (1.0 + AGREEMENT))
    })
    .map(|(slower, fastest)| Problem::Accumulation { slower, fastest })
    .collect()
}

/// Carve-outs ascend to the whole, and the whole holds the largest block.
fn shared_sizes(capability: &Capability) -> Option<Problem> {
    let shared_per_sm = capability.shared_per_sm.get()?;
    let max_shared_per_block = capability.max_shared_per_block.get()?;
    let reserved = capability.reserved_shared_per_block.get()?;
    let carveouts = capability.shared_carveouts.value()?;
    let sound = carveouts.is_sorted()
        && carveouts.last() == Some(&shared_per_sm)
        && max_shared_per_block + reserved <= shared_per_sm;
    (!sound).then_some(Problem::Shared {
        compute_capability: capability.compute_capability,
        shared_per_sm,
        max_shared_per_block,
    })
}

/// Whether two numbers agree to within [`AGREEMENT`]; false for NaN.
fn agree(stated: f64, computed: f64) -> bool {
    (stated - computed).abs() <= AGREEMENT * computed
}
