//! The playbook is complete and consistent, and draws no conclusion from unknown facts.

use std::collections::BTreeSet;

use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::*;
use crate::advice::{Advice, advise, suggestions};
use crate::code_mix::CodeMix;
use crate::fact::Fact;
use crate::limiter::{Bottleneck, Cause, limiter};
use crate::performance_data::{
    CounterLocation, DeviceLimits, DistinctBytes, KernelCounters, PerformanceData,
};
use crate::playbook::{Gain, Technique, Tier, playbook};

/// What the limiter itself looks at.
const OF_THE_LIMITER: [Fact; 5] = [
    Fact::BoundFraction,
    Fact::GlobalAtomicShare,
    Fact::AtomicQueue,
    Fact::BlocksPerMultiprocessor,
    Fact::Occupancy,
];

fn nothing_known(work: &MinimalWork) -> PerformanceData<'_> {
    PerformanceData {
        device: DeviceLimits::from_sheet(h200()),
        work,
        launches: &[],
        launches_run: None,
        code: None,
        counted: None,
        units: Vec::new(),
        waits: false,
        time: None,
        earliest: None,
        bound: None,
        method: None,
        floor: None,
        at: &CounterLocation::SameWorkload,
        no_counters_reason: None,
    }
}

fn facts_of(technique: &Technique) -> impl Iterator<Item = Fact> {
    let conditions = technique.possible.iter().chain(&technique.evidence).chain(&technique.unless);
    let gain = match &technique.gain {
        Gain::UpTo { fact, .. } => Some(*fact),
        Gain::Reported { .. } => None,
    };
    conditions.map(|condition| condition.fact()).chain(gain)
}

#[test]
fn the_playbook_has_six_tiers_and_enough_techniques() {
    let techniques = &playbook().techniques;
    assert!(techniques.len() >= 25, "{}", techniques.len());
    let tiers: BTreeSet<Tier> = techniques.iter().map(|technique| technique.tier).collect();
    assert_eq!(Vec::from_iter(tiers), Tier::ALL);
    assert!(techniques.is_sorted_by_key(|technique| technique.tier), "tier by tier");
    let ids: BTreeSet<&str> = techniques.iter().map(|technique| technique.id.as_str()).collect();
    assert_eq!(ids.len(), techniques.len(), "every id once");
}

#[test]
fn every_technique_is_complete() {
    let mut used = BTreeSet::new();
    for technique in &playbook().techniques {
        let id = &technique.id;
        assert!(!technique.evidence.is_empty() && !technique.relieves.is_empty(), "{id}");
        assert!(!technique.title.is_empty() && technique.how.ends_with('.'), "{id}");
        let source = match &technique.gain {
            Gain::Reported { from, to, source } => {
                assert!(*from >= 1.0 && to > from && to.is_finite(), "{id}");
                source
            }
            Gain::UpTo { source, .. } => source,
        };
        assert!(playbook().sources.contains_key(source), "{id}: {source}");
        used.insert(source.as_str());
    }
    assert_eq!(used.len(), playbook().sources.len(), "every source is cited");
}

#[test]
fn every_fact_is_used() {
    let used: BTreeSet<Fact> =
        playbook().techniques.iter().flat_map(facts_of).chain(OF_THE_LIMITER).collect();
    let unused: Vec<&Fact> = Fact::ALL.iter().filter(|fact| !used.contains(fact)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn nothing_follows_from_nothing() {
    let work = work(1 << 20, 1 << 20, &[]);
    let situation = nothing_known(&work);
    let limiter = limiter(&situation);
    assert_eq!(limiter.bottleneck, Bottleneck::Unknown);
    assert!(matches!(advise(&situation, &limiter), Advice::Nothing));
    // Counted, but nothing: every ratio is none, and none becomes a zero.
    let empty = PerformanceData { counted: Some(KernelCounters::default()), ..situation };
    assert!(suggestions(&empty, Bottleneck::Unknown).is_empty());
}

#[test]
fn what_is_no_number_is_no_fact() {
    let work = work(1 << 20, 0, &[(OperationKind::Contraction, f64::NAN)]);
    let situation = nothing_known(&work);
    assert_eq!(Fact::Contractions.value(&situation), None);
    assert_eq!(Fact::ContractionIntensity.value(&situation), None);
    let bound = bound(&super::work(1 << 20, 0, &[]));
    let situation = PerformanceData {
        time: Some(Seconds(f64::NAN)),
        bound: Some(&bound),
        ..nothing_known(&work)
    };
    assert_eq!(Fact::BoundFraction.value(&situation), None);
    assert_eq!(limiter(&situation).bottleneck, Bottleneck::Unknown);
}

#[test]
fn near_the_speed_of_light_nothing_is_advised() {
    let work = work(1 << 30, 0, &[]);
    let bound = bound(&work);
    let near = PerformanceData {
        time: Some(bound.bound().time * 1.05),
        bound: Some(&bound),
        ..nothing_known(&work)
    };
    let limiter = limiter(&near);
    assert_eq!(limiter.words(), "DRAM");
    let advice = advise(&near, &limiter);
    assert_eq!(advice.sentence(), "at 95.2 % of the speed of light there is little left to gain");
}

#[track_caller]
fn check_limit(
    units: &[(LimitingResource, f64)],
    time: Option<f64>,
    waits: bool,
    expected: Bottleneck,
) {
    let work = work(1 << 30, 0, &[]);
    let situation = PerformanceData {
        units: units.iter().map(|(limit, time)| (*limit, Seconds(*time))).collect(),
        time: time.map(Seconds),
        waits,
        ..nothing_known(&work)
    };
    assert_eq!(limiter(&situation).bottleneck, expected);
}

#[test]
fn a_busy_unit_is_the_limit_and_an_idle_one_is_not() {
    let units = [
        (LimitingResource::Dram, 2e-6),
        (LimitingResource::Shared, 8e-6),
        (LimitingResource::Issue, 1e-6),
    ];
    check_limit(&units, Some(10e-6), false, Bottleneck::Unit(LimitingResource::Shared));
    check_limit(&units, Some(20e-6), false, Bottleneck::Waiting(Cause::Dependencies));
    check_limit(&units, None, false, Bottleneck::Unit(LimitingResource::Shared));
    check_limit(&units, None, true, Bottleneck::Waiting(Cause::Dependencies));
    check_limit(&units, Some(f64::NAN), false, Bottleneck::Waiting(Cause::Dependencies));
    check_limit(&[], Some(10e-6), false, Bottleneck::Unknown);
}

#[test]
fn a_fact_reads_with_its_number() {
    assert_eq!(Fact::LoadSectors.sentence(32.0), "a load by a warp touches 32 sectors of 32 bytes");
    assert_eq!(
        Fact::ConflictShare.sentence(0.969),
        "96.9 % of the passes over shared memory are bank conflicts"
    );
    assert_eq!(Fact::LoadWaste.sentence(7.894), "loads move 7.89 times the bytes that they use");
}

#[test]
fn a_queue_at_one_address_is_the_limit_and_private_counts_are_advised() {
    let work = work(1 << 28, 1 << 10, &[]);
    let mut counted = KernelCounters::default();
    let total = &mut counted.total;
    (total.global_load_requests, total.global_load_sectors) = (1000, 1000);
    total.global_load_bytes = 32_000;
    (total.atomics, total.atomic_requests, total.atomic_sectors) = (32_000, 1000, 19_000);
    let counted = Some(counted);
    let units =
        vec![(LimitingResource::Dram, Seconds(42e-6)), (LimitingResource::Atomics, Seconds(50e-3))];
    let check = |time: Option<f64>, expected: Bottleneck, words: &str| {
        let time = time.map(Seconds);
        let (counted, units) = (counted.clone(), units.clone());
        let situation = PerformanceData { counted, units, time, ..nothing_known(&work) };
        let limiter = limiter(&situation);
        assert_eq!(limiter.bottleneck, expected);
        assert_eq!(limiter.words(), words);
        let advised = suggestions(&situation, limiter.bottleneck);
        let names = advised.iter().map(|suggestion| suggestion.technique.id.as_str());
        assert!(names.into_iter().any(|id| id == "private-counts"), "{words}");
    };
    let queue = Bottleneck::Unit(LimitingResource::Atomics);
    check(Some(50e-3), queue, "atomics to one address (100 % busy)");
    check(None, queue, "atomics to one address");
    // Something else takes the time, and most of what goes to L2 are atomics.
    check(Some(200e-3), Bottleneck::Atomics, "atomic contention");
}

/// A kernel with a load of 4 bytes a thread that is counted twice, in so many of 100 microseconds for each unit; a model's own
/// bound where that is given.
#[track_caller]
fn check_gain(
    units: &[(LimitingResource, f64)],
    least: Option<f64>,
    technique: &str,
    expected: Option<&str>,
) {
    let work = work(1 << 20, 0, &[]);
    let mut counted = KernelCounters::default();
    let total = &mut counted.total;
    (total.global_load_requests, total.global_load_sectors) = (1 << 14, 1 << 16);
    (total.global_load_bytes, total.global_load_distinct_bytes) = (1 << 21, 1 << 21);
    counted.touched = DistinctBytes::Whole { read: Bytes(1 << 20), written: Bytes(0) };
    let code = CodeMix { global_loads: 1, widest_load: 4, async_copies: 1, ..CodeMix::default() };
    let situation = PerformanceData {
        code: Some(code),
        counted: Some(counted),
        units: units.iter().map(|(unit, time)| (*unit, Seconds(time * 1e-6))).collect(),
        time: Some(Seconds(100e-6)),
        earliest: least.map(|time| Seconds(time * 1e-6)),
        ..nothing_known(&work)
    };
    let all = suggestions(&situation, Bottleneck::Unknown);
    let found = all.iter().find(|suggestion| suggestion.technique.id == technique);
    assert_eq!(found.map(|found| found.gain.words()).as_deref(), expected, "{technique}");
}

#[test]
fn no_gain_is_promised_beyond_a_unit_that_is_not_spared() {
    let wide = "1.1 to 1.5 times as fast";
    check_gain(&[], None, "vector-loads", Some(wide));
    check_gain(&[(LimitingResource::Dram, 50.0)], None, "vector-loads", Some(wide));
    check_gain(
        &[(LimitingResource::Dram, 80.0), (LimitingResource::Shared, 70.0)],
        None,
        "vector-loads",
        Some("1.1 to 1.2 times as fast, then limited by DRAM"),
    );
    check_gain(&[(LimitingResource::Dram, 93.0)], None, "vector-loads", None);
    // It is spared, or the counts do not carry over.
    check_gain(&[(LimitingResource::Issue, 93.0)], None, "vector-loads", Some(wide));
    check_gain(&[(LimitingResource::Dram, 180.0)], None, "vector-loads", Some(wide));
    check_gain(
        &[(LimitingResource::Issue, 93.0)],
        None,
        "bulk-copies",
        Some("about 1.1 times as fast"),
    );
    check_gain(&[(LimitingResource::Shared, 93.0)], None, "bulk-copies", None);
    check_gain(
        &[(LimitingResource::Dram, 93.0)],
        None,
        "keep-in-registers",
        Some("up to 2.0 times as fast"),
    );
    check_gain(
        &[(LimitingResource::Dram, 93.0), (LimitingResource::Shared, 60.0)],
        None,
        "keep-in-registers",
        Some("up to 1.7 times as fast, then limited by shared memory"),
    );
    // The band of a model has no unit to blame, and no technique either.
    check_gain(&[(LimitingResource::Dram, 57.0)], None, "vector-loads", Some(wide));
    check_gain(&[(LimitingResource::Dram, 57.0)], Some(58.0), "vector-loads", None);
}

#[test]
fn what_a_model_counted_is_near_the_least_though_its_band_is_not() {
    let work = work(1 << 30, 0, &[]);
    let bound = bound(&work);
    let least = bound.bound().time * 1.04;
    let situation = PerformanceData {
        units: vec![(LimitingResource::Dram, least)],
        time: Some(least * 1.7),
        earliest: Some(least),
        bound: Some(&bound),
        ..nothing_known(&work)
    };
    let limiter = limiter(&situation);
    assert_eq!(limiter.words(), "DRAM (58.8 % busy)");
    let advice = advise(&situation, &limiter);
    let expected = "no further advice: the lower end of the modelled range is 1.04 times the bound";
    assert_eq!(advice.sentence(), expected);
}
