//! Runs and file systems for tests.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "for tests only")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use lightbench_units::Seconds;

use super::location::HistoryLocation;
use super::machine::Machine;
use super::open::{IntegrityCheck, Notice, open};
use super::record::*;
use super::store::Store;
use super::text::Texts;
use super::timing::{Clock, Duration, Mode, RecordedTiming, Spread};

/// A machine whose key lies in a folder of its own.
#[must_use]
pub fn machine() -> (tempfile::TempDir, Machine) {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::open(folder.path()).unwrap();
    (folder, machine)
}

/// The history of a project, and what was said while it was opened.
#[must_use]
pub fn opened(root: &Path, machine: &Machine) -> (Store, Vec<Notice>) {
    let place = HistoryLocation::for_writing(root, None).unwrap();
    let opened = open(&place, machine, IntegrityCheck::None).unwrap();
    (opened.store, opened.notices)
}

#[must_use]
pub fn duration(seconds: f64) -> Duration {
    Duration::try_from(Seconds(seconds)).unwrap()
}

/// A run that failed, of a kernel, with a candidate and its text.
#[must_use]
pub fn failed(kernel: &str, candidate: &str) -> (RunRecord, Texts) {
    let mut texts = Texts::default();
    let text =
        texts.add(format!("__global__ void {kernel}() {{ /* {candidate} */ }}\n").into_bytes());
    let record = RunRecord {
        id: RunId::fresh().unwrap(),
        made_at: "2026-11-21T19:28:53.125Z".parse().unwrap(),
        project: "rmsnorm".to_owned(),
        definition: Some("d".repeat(64)),
        kernel: kernel.to_owned(),
        candidate: Some(candidate.to_owned()),
        parent: None,
        origin: Origin::Person,
        parameters: BTreeMap::from([("BLOCK".to_owned(), 256)]),
        sources: vec![SourceText { file: format!("kernels/{kernel}.cu"), text }],
        device: DeviceIdentity {
            name: "virtual:h200".to_owned(),
            title: "virtual H200".to_owned(),
            uuid: None,
        },
        seed: Some(u64::MAX),
        workloads: vec![RecordedWorkload {
            name: WorkloadName::from_import("small".to_owned()),
            axes: BTreeMap::from([("rows".to_owned(), 8), ("cols".to_owned(), 1 << 40)]),
            scalars: BTreeMap::from([
                ("eps".to_owned(), RecordedScalar::Real(1e-5)),
                ("flag".to_owned(), RecordedScalar::Boolean(true)),
                ("shift".to_owned(), RecordedScalar::Integer(-3)),
            ]),
        }],
        scope: Scope::Whole,
        outcome: Outcome::Failed {
            word: FailureKind::Wrong,
            sentence: format!("{kernel} is wrong: 3 of 8 elements of `y`"),
            evidence: serde_json::json!({ "kind": "numeric", "workload": "small" }),
        },
        environment: Environment {
            versions: BTreeMap::from([("nvrtc".to_owned(), "13.5.37".to_owned())]),
            clocks: BTreeMap::new(),
        },
        elapsed: Some(Seconds(0.25)),
        evidence: None,
    };
    (record, texts)
}

/// A run that passed, with a time where one is given.
#[must_use]
pub fn passed(kernel: &str, candidate: &str, seconds: Option<f64>) -> (RunRecord, Texts) {
    let (mut record, mut texts) = failed(kernel, candidate);
    let checks = ChecksSummary {
        runs: BTreeMap::from([(WorkloadName::from_import("small".to_owned()), 9)]),
        held_out: 2,
        not_run: BTreeMap::new(),
        not_checked: vec!["local memory".to_owned()],
        notes: Vec::new(),
        deterministic: true,
        accepted_races: 0,
        precision_probed: 1,
        domain_inputs: Default::default(),
        worst_error: Some(0.125),
    };
    let samples = texts.add(b"[1e-5]".to_vec());
    let timing = |seconds: f64| RecordedTiming {
        workload: WorkloadName::from_import("small".to_owned()),
        clock: Clock::Measured { method: "cupti".to_owned() },
        mode: Mode::Cold,
        median: duration(seconds),
        spread: Some(Spread {
            minimum: duration(seconds * 0.9),
            quartiles: (duration(seconds * 0.95), duration(seconds * 1.05)),
            interval: (duration(seconds * 0.99), duration(seconds * 1.01)),
            samples: 100,
        }),
        samples: Some(samples),
        taint: Vec::new(),
        standing: None,
        limiter: None,
        baselines: Vec::new(),
    };
    let timings = seconds.into_iter().map(timing).collect();
    let (by, withheld) = (CorrectnessSource::Verification(checks), BTreeMap::new());
    let (energy, numbers) = (BTreeMap::new(), BTreeMap::new());
    record.outcome = Outcome::Passed { by, timings, withheld, energy, numbers };
    (record, texts)
}

/// A file system in memory. Mounting it needs superuser rights.
#[derive(Debug)]
pub struct MountedFolder(tempfile::TempDir);

impl MountedFolder {
    /// A file system of this size; none, and a printed skip, where this process may not mount one.
    #[must_use]
    pub fn new(kibibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={kibibytes}k");
        let mounted = mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], folder.path());
        if !mounted {
            println!("skipped: this process may not mount a file system");
        }
        mounted.then_some(Self(folder))
    }

    /// Its root folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Remounts it read-only.
    pub fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.path()));
    }

    /// Fills it to the last byte with the file `filler`.
    pub fn fill(&self) {
        let mut filler = File::create(self.path().join("filler")).unwrap();
        while filler.write_all(&[1; 4096]).is_ok() {}
        while filler.write_all(&[1]).is_ok() {}
    }
}

impl Drop for MountedFolder {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(self.path()).status().ok();
    }
}

fn mount(options: &[&str], at: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(options).arg(at).stderr(std::process::Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
