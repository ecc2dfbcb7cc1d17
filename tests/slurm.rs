//! Devices of a Slurm cluster: a real one, whose two nodes are this machine.
//!
//! Without the programs the test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_SLURM` it fails.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Bench, Said};
use crate::skip::skip;

const PROGRAMS: [&str; 5] = ["munged", "slurmctld", "slurmd", "salloc", "srun"];
const LIMIT: Duration = Duration::from_secs(60);
const NAIVE: &str = include_str!("data/scale/kernels/naive.cu");

/// A cluster with the partition `all`.
struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ended = daemon.kill();
            let _status = daemon.wait();
        }
    }
}

/// Ports that were free a moment ago.
fn free_ports() -> [u16; 3] {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn found(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    folders.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists())
}

impl Cluster {
    /// None: the machine has no Slurm.
    fn start() -> Option<Self> {
        if PROGRAMS.iter().any(|program| found(program).is_none()) {
            skip("no Slurm", "LIGHTBENCH_REQUIRE_SLURM");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let place = folder.path().to_str().unwrap().to_owned();
        let at = |name: &str| format!("{place}/{name}");
        fs::write(at("key"), [7; 128]).unwrap();
        fs::set_permissions(at("key"), Permissions::from_mode(0o600)).unwrap();
        let said = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let (host, user) = (said("uname", &["-n"]), said("id", &["-un"]));
        let [control, one, two] = free_ports();
        fs::create_dir(at("state")).unwrap();
        let settings = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={control}\n\
             AuthType=auth/munge\nAuthInfo=socket={place}/munge\nMpiDefault=none\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSlurmUser={user}\n\
             SlurmdUser={user}\nStateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool.%n\n\
             SlurmctldPidFile={place}/control.pid\nSlurmdPidFile={place}/node.%n.pid\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerType=sched/backfill\nSchedulerParameters=bf_interval=1,sched_min_interval=0\n\
             ReturnToService=2\nKillWait=1\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=1\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=1\n\
             PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n"
        );
        fs::write(at("slurm.conf"), settings).unwrap();
        let nodes = "(slurm: {\"all\": (gpus: \"\", count: 2, folder: Some(\"FOLDER\"))})";
        fs::create_dir(at("user")).unwrap();
        fs::write(at("user/settings.ron"), nodes.replace("FOLDER", &at("cache"))).unwrap();

        let mut cluster = Self { folder, daemons: Vec::new() };
        let own = |name: &str| format!("--{name}-file={}", at(name));
        cluster.start_daemon(
            "munged",
            &["--foreground", "--force", &own("key"), &own("pid"), &own("log"), &own("seed")],
            &[&format!("--socket={}", at("munge"))],
        );
        cluster.wait("munged", |cluster| cluster.folder.path().join("munge").exists());
        cluster.start_daemon("slurmctld", &["-D", "-c"], &[]);
        for node in ["n1", "n2"] {
            cluster.start_daemon("slurmd", &["-D", "-N", node], &[]);
        }
        cluster.wait("two nodes", |cluster| {
            cluster.ask("sinfo", &["-h", "-o", "%D %t"]).trim() == "2 idle"
        });
        Some(cluster)
    }

    fn start_daemon(&mut self, program: &str, arguments: &[&str], more: &[&str]) {
        let log = fs::File::create(self.folder.path().join(format!("{program}.out"))).unwrap();
        let mut command = Command::new(found(program).unwrap());
        command.args(arguments).args(more).env("SLURM_CONF", self.settings());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.daemons.push(command.spawn().unwrap());
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(found(program).unwrap());
        let output = command.args(arguments).env("SLURM_CONF", self.settings()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            if began.elapsed() > LIMIT {
                let logs = ["munged.out", "log", "slurmctld.out", "slurmd.out"];
                let logs = logs.map(|name| fs::read_to_string(self.folder.path().join(name)));
                panic!("{what} within {LIMIT:?}: {logs:#?}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    fn wait_until_free(&self) {
        self.wait("every allocation is given back", |cluster| {
            cluster.ask("squeue", &["-h"]).is_empty()
        });
    }

    /// The program with the settings and the tools of this cluster.
    fn command(&self, bench: &Bench, arguments: &[&str]) -> Command {
        let state = self.folder.path().join("user");
        let mut command =
            bench.command(&[&["--state", state.to_str().unwrap()], arguments].concat());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        // As a user's terminal inside a job might have them.
        command.env("SLURM_LABELIO", "1").env("SLURM_UNBUFFEREDIO", "1");
        command.env("SLURM_CONF", self.settings());
        command
    }
}

#[test]
fn evaluations_run_in_allocations_of_a_cluster() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    the_verdict_is_that_of_this_machine(&cluster, &bench);
    a_request_that_the_cluster_refuses_is_explained(&cluster, &bench);
    a_killed_program_gives_its_allocation_back(&cluster, &bench);
    nodes_that_are_lost_cost_no_evaluation(&cluster, &bench);
}

fn the_verdict_is_that_of_this_machine(cluster: &Cluster, bench: &Bench) {
    let sentences = |device: &str| {
        let run = ["run", "scale", "--seed", "5", "--json", "--device", device];
        let said = Said::from(cluster.command(bench, &run).output().unwrap());
        assert_eq!(said.status, 0, "{}", said.everything());
        let document = said.json();
        let runs = document["runs"].as_array().unwrap();
        runs.iter().map(|run| run["sentence"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(sentences("slurm:all/virtual:h200"), sentences("virtual:h200"));
    cluster.wait_until_free();
}

fn a_request_that_the_cluster_refuses_is_explained(cluster: &Cluster, bench: &Bench) {
    let check = |device: &str, expected: &str| {
        let run = ["run", "scale", "--device", device];
        let said = Said::from(cluster.command(bench, &run).output().unwrap());
        assert_eq!(said.status, 3, "{}", said.everything());
        // Messages are wrapped at the width of the terminal.
        let errors = said.errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(errors.contains(expected), "{errors}");
    };
    // Without settings, an allocation has a GPU.
    check("slurm:nowhere/virtual:h200", "`gpus: \"\"` says that it has none");
    check("slurm:all/cuda:0", "slurm:all: no CUDA driver");
    cluster.wait_until_free();
}

fn a_killed_program_gives_its_allocation_back(cluster: &Cluster, bench: &Bench) {
    let run = ["run", "scale", "--device", "slurm:all#2/virtual:h200", "--no-history"];
    let mut command = cluster.command(bench, &run);
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    cluster.wait("an allocation", |cluster| !cluster.ask("squeue", &["-h"]).is_empty());
    process.kill().unwrap();
    process.wait().unwrap();
    cluster.wait_until_free();
}

/// Candidates of the stream in which nodes are lost.
const CANDIDATES: usize = 40;

fn nodes_that_are_lost_cost_no_evaluation(cluster: &Cluster, bench: &Bench) {
    let lines: Vec<String> = (0..CANDIDATES)
        .map(|number| {
            let kernel = format!("{NAIVE}// {number}\n");
            json!({ "id": number.to_string(), "project": "scale", "kernel": kernel }).to_string()
        })
        .collect();
    fs::write(bench.path().join("candidates.jsonl"), lines.join("\n")).unwrap();
    let device = "slurm:all/virtual:h200";
    let eval = ["eval", "--jsonl", "candidates.jsonl", "--no-times", "--device", device];
    let mut process = cluster.command(bench, &eval).stdout(Stdio::piped()).spawn().unwrap();
    let verdicts = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut judged = BTreeSet::new();
    for (count, verdict) in verdicts.enumerate() {
        let verdict: Value = serde_json::from_str(&verdict.unwrap()).unwrap();
        assert_eq!(verdict["outcome"], "passed", "{verdict}");
        assert!(judged.insert(verdict["id"].to_string()), "{verdict}");
        match count {
            5 => drop(cluster.ask("scontrol", &["update", "node=n1", "state=down", "reason=test"])),
            12 => drop(cluster.ask("scontrol", &["update", "node=n1", "state=resume"])),
            20 => drop(cluster.ask("scancel", &["--name=lightbench"])),
            _ => {}
        }
    }
    assert!(process.wait().unwrap().success());
    assert_eq!(judged.len(), CANDIDATES);
    cluster.wait_until_free();
}
