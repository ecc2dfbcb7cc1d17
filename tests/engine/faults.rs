//! Evaluations whose processes are killed, stopped and cancelled at random moments.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lightbench_core::engine::{CancelReason, Ending, Event, Notice, RequestId};
use lightbench_core::evaluate::EvaluateError;
use lightbench_core::verify::not_judged::{NotJudged, NotPassed};
use lightbench_core::verify::verdict::{Failure, Step};
use rustix::process::Signal;

use super::meddler::{Chance, Held, children, end_on_panic, entries, signal, workers};
use super::*;

/// An act in so many of a thousand moments, of which there are about sixty in a second.
const ACTS: u64 = 60;

/// Hung evaluations after which the next one is timed until its processes are ready.
const HANGS_TIMED: usize = 20;

/// Long enough for a machine on which much else is built meanwhile.
const PATIENCE: Duration = Duration::from_secs(180);

#[test]
fn forty_evaluations_survive_what_is_done_to_their_processes() {
    check(40);
}

/// `cargo test -p lightbench --test it -- --ignored --nocapture a_thousand_evaluations`
#[test]
#[ignore = "takes minutes"]
fn a_thousand_evaluations_survive_what_is_done_to_their_processes() {
    check(1000);
}

/// In a process of its own: all of its children are workers, and what it holds is the engine's.
fn check(count: usize) {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::with_own_cache();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["engine::faults::process_that_is_meddled_with", "--exact", "--ignored"])
        .arg("--nocapture")
        .env("LIGHTBENCH_TEST_FAULTS", count.to_string())
        .env("LIGHTBENCH_TEST_PROJECT", bench.project())
        .env("LIGHTBENCH_TEST_CACHE", bench.cache())
        .env("TMPDIR", bench.temporary())
        .output()
        .unwrap();
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr),
    );
    println!("{said}");
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains("nothing was left"), "{said}\n{errors}");
}

#[test]
#[ignore = "the process of the tests above"]
fn process_that_is_meddled_with() {
    let Ok(count) = std::env::var("LIGHTBENCH_TEST_FAULTS") else { return };
    let Some(found) = compiler::required() else { return };
    end_on_panic();
    let folder = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
    let project = Arc::new(Project::load(&folder("LIGHTBENCH_TEST_PROJECT")).unwrap());
    let (temporary, before) = (std::env::temp_dir(), Held::now());
    let trial = || {
        let engine = engine(&found.toolchain, &folder("LIGHTBENCH_TEST_CACHE"));
        Trial::new(engine, Arc::clone(&project))
    };
    let mut random = trial();
    random.random(count.parse().unwrap());
    random.all_is_well();
    let said = random.end();
    let mut hung = trial();
    let ready = hung.hangs();
    hung.all_is_well();
    hung.end();
    let after = Held::at_most(before.threads);
    assert_eq!(children(), Vec::<i32>::new(), "no process is left");
    assert_eq!(entries(&temporary), Vec::<PathBuf>::new(), "no temporary file is left");
    let own = format!("lightbench-outputs-{}-", std::process::id());
    let mut left = entries(Path::new("/dev/shm"));
    left.retain(|path| path.to_string_lossy().contains(&own));
    assert_eq!(left, Vec::<PathBuf>::new(), "no handover folder is left");
    assert_eq!(after.descriptors, before.descriptors, "no descriptor is left");
    assert_eq!(after.threads, before.threads, "no thread is left");
    println!("{said}\nbefore {before:?}, after {after:?}");
    println!("from cancelling a hung evaluation until the next one's processes are ready: {ready}");
    println!("nothing was left");
}

struct Trial {
    engine: Engine,
    project: Arc<Project>,
    chance: Chance,
    /// The device of each request that has not ended.
    outstanding: BTreeMap<RequestId, &'static str>,
    taken: Vec<RequestId>,
    ends: BTreeMap<&'static str, usize>,
    ended: Vec<RequestId>,
    acts: BTreeMap<&'static str, usize>,
    replaced: usize,
    stopped: Option<Stopped>,
    most: Held,
}

/// A process that does nothing any more.
#[derive(Clone, Copy)]
struct Stopped {
    process: i32,
    since: Instant,
    /// How long anybody waits for it.
    patience: Duration,
}

impl Trial {
    fn new(engine: Engine, project: Arc<Project>) -> Self {
        Self {
            engine,
            project,
            chance: Chance(1),
            outstanding: BTreeMap::new(),
            taken: Vec::new(),
            ends: BTreeMap::new(),
            ended: Vec::new(),
            acts: BTreeMap::new(),
            replaced: 0,
            stopped: None,
            most: Held::now(),
        }
    }

    /// Drops the engine, and says what became of all requests.
    fn end(self) -> String {
        let Self { engine, taken, mut ended, ends, acts, replaced, most, .. } = self;
        let warm = Held::now();
        drop(engine);
        ended.sort();
        assert_eq!(ended, taken, "every request ends, and once");
        format!(
            "{} requests, each ended once: {ends:?}\nacts: {acts:?}; {replaced} processes were \
             found dead while idle and replaced\nat most {most:?}, at the end {warm:?}",
            taken.len()
        )
    }

    /// Evaluations on both devices while their processes are meddled with.
    fn random(&mut self, count: usize) {
        let mut settled = None;
        for number in 0..count {
            let name = DEVICES[number % DEVICES.len()];
            self.until(|trial| trial.outstanding.values().all(|busy| *busy != name), Meddling::Yes);
            self.ask_for_any(name, number);
            let held = Held::now();
            self.most.descriptors = self.most.descriptors.max(held.descriptors);
            self.most.threads = self.most.threads.max(held.threads);
            self.most.resident_kib = self.most.resident_kib.max(held.resident_kib);
            if number == count / 4 {
                settled = Some(held);
            }
        }
        self.until(|trial| trial.outstanding.is_empty(), Meddling::Yes);
        if let Some(Stopped { process, .. }) = self.stopped.take() {
            signal(process, Signal::CONT);
        }
        let (settled, now) = (settled.unwrap(), Held::now());
        let grown = now.resident_kib.saturating_sub(settled.resident_kib);
        assert!(grown < 32 << 10, "memory grows: {settled:?}, {now:?}");
        // Pipes of the workers: the candidate's, the reference's and one compiler's for each device, and little else.
        assert!(self.most.descriptors < 100, "{:?}", self.most);
    }

    fn ask_for_any(&mut self, name: &'static str, number: usize) -> RequestId {
        let own = if self.chance.in_a_thousand(500) { "naive" } else { "tuned" };
        let kernel = self.project.kernel(own).unwrap();
        // A text that nobody compiled before needs the compiler's processes too.
        let source = match self.chance.in_a_thousand(200) {
            true => format!("{}\n// {number}\n", kernel.source),
            false => kernel.source.clone(),
        };
        let kernel = self.project.draft(own, source).unwrap();
        self.ask(name, &kernel, number)
    }

    fn ask_for_known(&mut self, name: &'static str) -> RequestId {
        let kernel = self.project.kernel("naive").unwrap().clone();
        self.ask(name, &kernel, 0)
    }

    fn ask(&mut self, name: &'static str, kernel: &Kernel, number: usize) -> RequestId {
        let request = evaluate(work(&self.project, kernel), name, number as u64);
        let id = self.engine.ask(request).unwrap();
        self.taken.push(id);
        self.outstanding.insert(id, name);
        id
    }

    /// Listens until something is so; fails if nothing ends for long.
    fn until(&mut self, is_so: impl Fn(&Self) -> bool, meddling: Meddling) {
        let (mut heard, mut ended) = (Instant::now(), self.ended.len());
        while !is_so(self) {
            let patience = Duration::from_micros(self.chance.below(30_000));
            let event = self.engine.next_event(patience);
            event.into_iter().for_each(|event| self.hear(event));
            if self.ended.len() > ended {
                (heard, ended) = (Instant::now(), self.ended.len());
            }
            assert!(heard.elapsed() < PATIENCE, "nothing ends: {:?}", self.outstanding);
            match meddling {
                Meddling::Yes => self.meddle(),
                Meddling::No => {}
            }
        }
    }

    fn meddle(&mut self) {
        if let Some(Stopped { process, since, patience }) = self.stopped
            && since.elapsed() > patience
        {
            self.stopped = None;
            self.count("hung, and given up");
            for id in self.outstanding.keys() {
                // It may have ended meanwhile.
                self.engine.ask(Request::Cancel(*id)).ok();
            }
            // Whoever it worked for kills it. If it was idle, it must not hang somebody else's request for minutes.
            std::thread::sleep(Duration::from_millis(200));
            signal(process, Signal::CONT);
        }
        if !self.chance.in_a_thousand(ACTS) {
            return;
        }
        let processes = workers();
        match self.chance.below(8) {
            0..4 => {
                if let Some(process) = self.chance.one_of(&processes) {
                    signal(*process, Signal::KILL);
                    self.count("killed");
                }
            }
            4 => {
                if let (Some(&process), None) = (self.chance.one_of(&processes), self.stopped) {
                    signal(process, Signal::STOP);
                    let patience = Duration::from_millis(200 + self.chance.below(2000));
                    self.stopped = Some(Stopped { process, since: Instant::now(), patience });
                    self.count("stopped");
                }
            }
            5 | 6 => {
                let all: Vec<RequestId> = self.outstanding.keys().copied().collect();
                if let Some(id) = self.chance.one_of(&all) {
                    self.engine.ask(Request::Cancel(*id)).ok();
                    self.count("cancelled");
                }
            }
            _ => {
                let name = *self.chance.one_of(&DEVICES).unwrap();
                self.ask_for_any(name, 1_000_000);
                self.count("asked again meanwhile");
            }
        }
    }

    fn count(&mut self, act: &'static str) {
        *self.acts.entry(act).or_default() += 1;
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Finished { request, ending } => {
                self.outstanding.remove(&request).expect("it was asked and has not ended");
                self.ended.push(request);
                *self.ends.entry(word(&ending)).or_default() += 1;
            }
            Event::Noticed(Notice::Replaced { .. }) => self.replaced += 1,
            Event::Noticed(Notice::Lost { .. } | Notice::Killed { .. } | Notice::Compiler(_))
            | Event::Queued { .. }
            | Event::Began { .. } => {}
        }
    }

    /// Stops all processes of an evaluation in the middle, gives it up, and times the next one until its processes are
    /// ready: what follows loading is the first step that runs a kernel.
    fn hangs(&mut self) -> String {
        let mut times = Vec::new();
        for _ in 0..HANGS_TIMED {
            let hung = self.ask_for_known(DEVICES[0]);
            self.until_results(hung);
            workers().into_iter().for_each(|process| signal(process, Signal::STOP));
            // It has heard of nothing, and waits.
            std::thread::sleep(Duration::from_millis(50));
            let given_up = Instant::now();
            self.engine.ask(Request::Cancel(hung)).ok();
            let next = self.ask_for_known(DEVICES[0]);
            self.until_results(next);
            times.push(given_up.elapsed());
            self.until(|trial| trial.outstanding.is_empty(), Meddling::No);
        }
        times.sort();
        let (least, median, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
        format!("{least:.1?} to {most:.1?}, median {median:.1?} ({HANGS_TIMED} times)")
    }

    fn until_results(&mut self, id: RequestId) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "{id} does not begin");
            let Some(event) = self.engine.next_event(PATIENCE) else { continue };
            let begun = matches!(
                &event,
                Event::Began { request, step: Step::Results, .. } if *request == id
            );
            self.hear(event);
            if begun {
                return;
            }
            assert!(self.outstanding.contains_key(&id), "{id} ended before it ran");
        }
    }

    /// After all that, both devices still verify.
    fn all_is_well(&mut self) {
        let before = self.ends.get("passed").copied().unwrap_or_default();
        for name in DEVICES {
            self.ask_for_known(name);
        }
        self.until(|trial| trial.outstanding.is_empty(), Meddling::No);
        assert_eq!(self.ends.get("passed"), Some(&(before + DEVICES.len())), "{:?}", self.ends);
    }
}

#[derive(Clone, Copy)]
enum Meddling {
    Yes,
    No,
}

/// How a request ended. No harm to a process may look like a defect of the kernel.
fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Evaluated(run) => match &run.verdict {
            Ok(_) => "passed",
            Err(NotPassed::NotJudged(NotJudged::DeviceLost { .. })) => "device lost",
            Err(NotPassed::NotJudged(NotJudged::CrashesWorker { .. })) => "crashes the worker",
            Err(NotPassed::Failed(Failure::TimedOut { .. })) => "timed out",
            Err(
                reason @ (NotPassed::Failed(
                    Failure::Compile(_)
                    | Failure::Refused(_)
                    | Failure::Fault(_)
                    | Failure::Wrong(_),
                )
                | NotPassed::NotJudged(
                    NotJudged::NotSupported { .. } | NotJudged::Cancelled,
                )),
            ) => panic!("the kernel is not to blame: {reason:?}"),
        },
        Ending::Impossible(EvaluateError::Environment(_)) => "a process of ours died",
        Ending::Cancelled { because: CancelReason::Requested, .. } => "cancelled",
        Ending::Cancelled { because: CancelReason::SupersededBy(_), .. } => "superseded",
        Ending::Cancelled { because: CancelReason::Stopping, .. }
        | Ending::Impossible(EvaluateError::Request(_))
        | Ending::Screened(_)
        | Ending::CompiledAhead { .. }
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Panicked { .. }
        | Ending::Stopped => panic!("{ending:?}"),
    }
}
