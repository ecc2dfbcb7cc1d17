//! Devices of another host, through a real `sshd` on the loopback interface.
//!
//! Without the program a test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_SSH` it fails.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::program::{Bench, Said};
use crate::skip::skip;

const SSHD: &str = "/usr/sbin/sshd";

/// A server for the user of this process, who has one key.
struct Server {
    folder: tempfile::TempDir,
    process: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

impl Server {
    /// None: the machine has no `sshd`.
    fn start() -> Option<Self> {
        if !Path::new(SSHD).exists() {
            skip("no OpenSSH server", "LIGHTBENCH_REQUIRE_SSH");
            return None;
        }
        // Where root runs it, the server needs this folder; another user cannot make it and needs none.
        let _not_root = fs::create_dir_all("/run/sshd");
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        for key in ["host", "user", "stranger"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)])
                .status();
            assert!(made.unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nStrictModes no\nUsePAM no\n",
            at("host"),
            at("user.pub")
        );
        fs::write(at("sshd_config"), settings).unwrap();
        let host_key = fs::read_to_string(at("host.pub")).unwrap();
        let stranger = fs::read_to_string(at("stranger.pub")).unwrap();
        fs::write(at("known"), format!("[127.0.0.1]:{port} {host_key}")).unwrap();
        fs::write(at("changed"), format!("[127.0.0.1]:{port} {stranger}")).unwrap();
        fs::write(at("empty"), "").unwrap();
        let entry = |name: &str, key: &str, known: &str| {
            let (key, known) = (at(key), at(known));
            format!(
                "Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {key}\n  \
                 IdentitiesOnly yes\n  UserKnownHostsFile {known}\n"
            )
        };
        let entries = [
            entry("loopback", "user", "known"),
            entry("unknown", "user", "empty"),
            entry("changed", "user", "changed"),
            entry("stranger", "stranger", "known"),
        ];
        fs::write(at("config"), entries.concat()).unwrap();
        let hosts = ["loopback", "unknown", "changed", "stranger"].map(|name| {
            format!(
                "{name:?}: (ssh_options: [\"-F\", {:?}], folder: Some({:?}))",
                at("config"),
                at("host-cache")
            )
        });
        fs::create_dir(at("state")).unwrap();
        let text = format!("(hosts: {{{}}})", hosts.join(", "));
        fs::write(folder.path().join("state/settings.ron"), text).unwrap();
        let process = Command::new(SSHD)
            .args(["-D", "-f", &at("sshd_config"), "-E", &at("log")])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { folder, process };
        server.wait(port);
        Some(server)
    }

    fn wait(&self, port: u16) {
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("sshd does not listen: {log}");
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }
}

fn run(server: &Server, bench: &Bench, device: &str, more: &[&str]) -> Said {
    let (state, project) = (server.state(), bench.project());
    let places = ["--state", state.to_str().unwrap(), "run", project.to_str().unwrap()];
    let mut command = bench.command(&[&places[..], &["--device", device], more].concat());
    // The user's own `ssh`.
    command.env("PATH", std::env::var_os("PATH").unwrap());
    Said::from(command.output().unwrap())
}

#[test]
fn a_device_of_another_host_gives_the_verdict_of_this_one() {
    let Some(server) = Server::start() else { return };
    let bench = Bench::new();
    let verdict = |device: &str, seed: &str| {
        let said = run(&server, &bench, device, &["--json", "--seed", seed]);
        assert_eq!(said.status, 0, "{}", said.everything());
        let document = said.json();
        let runs = document["runs"].as_array().unwrap();
        assert!(runs.iter().all(|run| run["device"] == *device), "{document}");
        runs.iter().map(|run| (run["kernel"].clone(), run["sentence"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(verdict("ssh:loopback/virtual:h200", "5"), verdict("virtual:h200", "5"));
}

/// The arguments and the launch of every kernel below.
const LAUNCH: &str = r#"/*@ lightbench(
    title: "Wrong",
    steps: [launch(kernel: "scale", grid: ["ceil_div(rows * cols, 256)"], block: [256])],
) @*/
__device__ int launches;
__global__ void scale(const float* x, float* y, long long count, float alpha) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
"#;

#[test]
fn a_wrong_kernel_fails_on_another_host_as_on_this_one() {
    let Some(server) = Server::start() else { return };
    let bench = Bench::new();
    let wrong = [
        ("bounds", "if (i <= count) y[i] = alpha * x[i];"),
        ("last", "if (i < count) y[i] = i == 110 ? 0 : alpha * x[i];"),
        ("positive", "if (i < count) y[i] = alpha * fabsf(x[i]);"),
        (
            "hangs",
            "while (i == 3 && *(volatile const float*)x != 5) {}\nif (i < count) y[i] = alpha * x[i];",
        ),
        (
            "second",
            "if (i < count) y[i] = alpha * x[i] + (launches > 0);\n__syncthreads();\nif (i == 0) launches = 1;",
        ),
    ];
    for (name, body) in wrong {
        let file = bench.project().join("kernels").join(name).with_extension("cu");
        fs::write(file, format!("{LAUNCH}{body}\n}}\n")).unwrap();
        let failure = |device: &str| {
            let said = run(&server, &bench, device, &["--json", "--seed", "5", "--kernel", name]);
            assert_eq!(said.status, 1, "{name}: {}", said.everything());
            said.json()["runs"][0]["sentence"].clone()
        };
        assert_eq!(failure("ssh:loopback/virtual:h200"), failure("virtual:h200"));
    }
}

/// Round trips of a verification after which nothing is opened, installed or decided for the first time.
const MOST_ROUND_TRIPS: usize = 15;

#[test]
fn a_verification_takes_few_round_trips() {
    let Some(server) = Server::start() else { return };
    let bench = Bench::new();
    let round_trips = |more: &[&str]| -> usize {
        let said = run(&server, &bench, "ssh:loopback/virtual:h200", more);
        assert_eq!(said.status, 0, "{}", said.everything());
        let errors = said.errors.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, traffic) = errors.split_once("connection to ssh:loopback: ").unwrap();
        traffic.split_once(' ').unwrap().0.parse().unwrap()
    };
    let (one, all) = (round_trips(&["--kernel", "naive"]), round_trips(&[]));
    assert!(one < all, "the other kernel runs too");
    assert!(all - one <= MOST_ROUND_TRIPS, "{}", all - one);
}

#[test]
fn a_host_that_is_not_reached_is_a_lack_of_the_machine() {
    let Some(server) = Server::start() else { return };
    let bench = Bench::new();
    let check = |device: &str, expected: &str| {
        let said = run(&server, &bench, device, &[]);
        assert_eq!(said.status, 3, "{device}: {}", said.everything());
        // Messages are wrapped at the width of the terminal.
        let errors = said.errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(errors.contains(expected), "{device}: {}", said.errors);
    };
    check("ssh:unknown/virtual:h200", "run `ssh unknown` once");
    check("ssh:changed/virtual:h200", "Host key verification failed");
    check("ssh:stranger/virtual:h200", "Permission denied");
    check("ssh:nowhere.invalid/virtual:h200", "Could not resolve hostname");
    assert_eq!(run(&server, &bench, "ssh:-oProxyCommand=true/cuda:0", &[]).status, 2);
}
