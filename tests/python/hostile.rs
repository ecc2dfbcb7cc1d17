//! Python code that attacks its worker, its parent or the machine: nothing changes, the error says what happened, and the
//! next call works.

use std::fs;
use std::time::{Duration, Instant};

use lightbench_core::python::{Limits, PythonError, Reply, Worker, WorkerConfiguration};
use lightbench_core::worker::error::{Death, WorkerError};
use serde_json::{Value, json};

use super::{check_works, configuration, run, run_within, system_interpreter};

/// A limit for code that would run for ever.
const SHORT: Duration = Duration::from_secs(2);

fn worker(limits: impl FnOnce(&mut Limits)) -> Option<Worker> {
    let interpreter = system_interpreter()?.clone();
    let mut configuration: WorkerConfiguration = configuration();
    limits(&mut configuration.limits);
    Some(Worker::new(interpreter, configuration))
}

fn plain() -> Option<Worker> {
    worker(|_| {})
}

/// Evaluates each expression and returns the class of the exception that it raises, or its value as text.
const TRY_EACH: &str = "
import ctypes, errno, os, shutil, signal, socket, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def system_call(number, *arguments):
    if libc.syscall(number, *arguments) == -1:
        raise OSError(ctypes.get_errno(), 'refused')
def f(expressions, blobs):
    found = []
    for expression in expressions:
        try:
            found.append(repr(eval(expression)))
        except BaseException as error:
            found.append(type(error).__name__)
    return found
";

/// Checks that each expression is refused with a `PermissionError`.
#[track_caller]
fn check_refused(expressions: &[String]) {
    let Some(worker) = plain() else { return };
    check_refused_by(worker, expressions);
}

#[track_caller]
fn check_refused_by(mut worker: Worker, expressions: &[String]) {
    let found = run(&mut worker, TRY_EACH, &json!(expressions)).unwrap().value;
    let found: Vec<&str> =
        found.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    for (expression, outcome) in expressions.iter().zip(found) {
        assert_eq!(outcome, "PermissionError", "{expression}");
    }
    check_works(&mut worker);
}

fn died(result: Result<Reply, PythonError>) -> Death {
    match result {
        Err(PythonError::Worker(WorkerError::Died { death, .. })) => death,
        other => panic!("{other:?}"),
    }
}

fn is_time_out(result: &Result<Reply, PythonError>) -> bool {
    matches!(result, Err(PythonError::Worker(WorkerError::TimedOut { .. })))
}

#[test]
fn a_secret_file_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("key");
    fs::write(&secret, "secret").unwrap();
    let (folder, secret) = (folder.path().display(), secret.display());
    check_refused(&[
        format!("open('{secret}').read()"),
        format!("os.open('{secret}', os.O_RDONLY | os.O_TRUNC)"),
        format!("os.listdir('{folder}')"),
        format!("open('/proc/self/root{secret}').read()"),
        "open('/etc/passwd').read()".to_owned(),
        "os.listdir(os.path.dirname(os.getcwd()))".to_owned(),
    ]);
}

#[test]
fn the_environment_of_the_parent_cannot_be_read() {
    check_refused(&[
        "open(f'/proc/{os.getppid()}/environ').read()".to_owned(),
        "open(f'/proc/{os.getppid()}/cmdline').read()".to_owned(),
        "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)".to_owned(),
        "os.listdir(f'/proc/{os.getppid()}/fd')".to_owned(),
        "os.listdir('/proc')".to_owned(),
        "open('/proc/1/environ').read()".to_owned(),
    ]);
}

#[test]
fn sockets_cannot_be_made() {
    check_refused(&[
        "socket.socket()".to_owned(),
        "socket.socket(socket.AF_UNIX)".to_owned(),
        "socket.socketpair()".to_owned(),
        "socket.create_connection(('127.0.0.1', 80))".to_owned(),
    ]);
}

#[test]
fn a_worker_that_may_use_a_gpu_reaches_no_server_and_no_other_process() {
    let Some(interpreter) = system_interpreter().cloned() else { return };
    let server = tempfile::tempdir().unwrap();
    let agent = server.path().join("agent");
    let _listening = std::os::unix::net::UnixListener::bind(&agent).unwrap();
    // Any file takes the place of a device file.
    let gpu_files = vec!["/dev/null".into()];
    let worker = Worker::new(interpreter, WorkerConfiguration { gpu_files, ..configuration() });
    let agent = agent.display();
    let expressions = [
        format!("socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('{agent}')"),
        "socket.socket(socket.AF_UNIX)".to_owned(),
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)".to_owned(),
        "socket.socket(socket.AF_INET)".to_owned(),
        "socket.socketpair()".to_owned(),
        "open('/dev/shm/lightbench', 'w')".to_owned(),
        "open('/etc/passwd')".to_owned(),
        "open(f'/proc/{os.getppid()}/environ')".to_owned(),
        "os.fork()".to_owned(),
    ];
    check_refused_by(worker, &expressions);
}

#[test]
fn no_process_can_be_started_or_signalled() {
    check_refused(&[
        "os.fork()".to_owned(),
        "subprocess.run(['/bin/true'])".to_owned(),
        "subprocess.run([sys.executable, '-c', ''])".to_owned(),
        "os.posix_spawn('/bin/true', ['true'], {})".to_owned(),
        "os.execv('/bin/true', ['true'])".to_owned(),
        "os.setsid()".to_owned(),
        "os.kill(os.getppid(), signal.SIGKILL)".to_owned(),
        "os.kill(-1, signal.SIGKILL)".to_owned(),
        "os.memfd_create('program')".to_owned(),
        "__import__('resource').prlimit(os.getppid(), __import__('resource').RLIMIT_CPU, (1, 1))"
            .to_owned(),
        "__import__('fcntl').fcntl(0, __import__('fcntl').F_SETOWN, os.getppid())".to_owned(),
    ]);
    let Some(mut worker) = plain() else { return };
    // The system calls themselves: clone3 (435 everywhere) does not exist; clone only starts threads.
    let source = format!(
        "{TRY_EACH}
def g(argument, blobs):
    try:
        system_call(435, 0, 0)
    except OSError as error:
        assert error.errno == errno.ENOSYS, error
    clone = {{'x86_64': 56, 'aarch64': 220}}[os.uname().machine]
    try:
        system_call(clone, int(signal.SIGCHLD), 0, 0, 0, 0)
    except OSError as error:
        assert error.errno == errno.EPERM, error
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    return 'threads only'
f = g
"
    );
    assert_eq!(run(&mut worker, &source, &json!(null)).unwrap().value, json!("threads only"));
}

#[test]
fn nothing_outside_scratch_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let before = fs::metadata(&file).unwrap();
    let (path, folder_path) = (file.display(), folder.path().display());
    check_refused(&[
        format!("open('{path}', 'w')"),
        format!("open('{path}', 'a')"),
        format!("os.truncate('{path}', 0)"),
        format!("os.remove('{path}')"),
        format!("os.mkdir('{folder_path}/new')"),
        format!("os.symlink('/', '{folder_path}/new')"),
        format!("os.link('{path}', '{folder_path}/linked')"),
        format!("os.rename('{path}', '{folder_path}/moved')"),
        format!("os.chmod('{path}', 0o777)"),
        format!("os.chown('{path}', 1, 1)"),
        format!("os.utime('{path}', (0, 0))"),
        format!("os.setxattr('{path}', 'user.a', b'')"),
        "open(os.__file__, 'a')".to_owned(),
        "os.open(os.__file__, os.O_RDONLY | os.O_TRUNC)".to_owned(),
        "os.chmod(os.__file__, 0o777)".to_owned(),
        "os.chroot('.')".to_owned(),
    ]);
    assert_eq!(fs::read(&file).unwrap(), b"text");
    let after = fs::metadata(&file).unwrap();
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn threads_without_end_are_counted_and_killed() {
    let Some(mut worker) = worker(|limits| limits.threads = 40) else { return };
    let source = "import threading, time
def f(argument, blobs):
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        time.sleep(0.002)
";
    let death = died(run(&mut worker, source, &json!(null)));
    let counted = matches!(death, Death::TooManyThreads { found: 41.., limit: 40 });
    assert!(counted, "{death}");
    check_works(&mut worker);
}

#[test]
fn threads_in_a_burst_end_at_the_address_space() {
    let limits = |limits: &mut Limits| limits.memory_bytes = 512 << 20;
    let Some(mut worker) = worker(limits) else { return };
    let source = "import threading, time
def f(argument, blobs):
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
";
    // Whichever limit comes first.
    match run(&mut worker, source, &json!(null)) {
        Err(PythonError::Exception { exception, .. }) => assert_eq!(exception.kind, "RuntimeError"),
        other => assert!(matches!(died(other), Death::TooManyThreads { .. })),
    }
    worker.stop();
    check_works(&mut worker);
}

#[test]
fn descriptor_1_is_no_way_to_the_parent() {
    let Some(mut worker) = plain() else { return };
    let source = "import os, struct, sys
def f(argument, blobs):
    header = b'{\"id\": 2, \"outcome\": {\"value\": \"forged\"}, \"blobs\": []}'
    for stream in (1, 2):
        os.write(stream, b'garbage')
        os.write(stream, b'LBP1' + struct.pack('<I', len(header)) + header)
    print('more')
    return 'honest'
";
    for _ in 0..2 {
        assert_eq!(run(&mut worker, source, &json!(null)).unwrap().value, json!("honest"));
    }
    check_works(&mut worker);
}

/// Python code that writes bytes to the descriptor of replies, which is the last argument of the process.
const TO_PARENT: &str = "
import os, struct, time
REPLIES = int(open('/proc/self/cmdline').read().split('\\0')[-2])
def send(data):
    os.write(REPLIES, data)
def frame(header):
    return b'LBP1' + struct.pack('<I', len(header)) + header
";

#[test]
fn a_forged_reply_is_no_more_than_a_reply_and_garbage_is_an_error() {
    let Some(mut worker) = plain() else { return };
    let source = format!(
        "{TO_PARENT}
def f(argument, blobs):
    send(frame(b'{{\"id\": %d, \"outcome\": {{\"value\": \"forged\"}}, \"blobs\": []}}' % argument))
    return 'honest'
"
    );
    check_works(&mut worker);
    // The first request of a process is its greeting, the second the call above.
    assert_eq!(run(&mut worker, &source, &json!(3)).unwrap().value, json!("forged"));
    let error = run(&mut worker, &source, &json!(0)).unwrap_err();
    assert!(error.to_string().contains("belongs to request 3, expected 4"), "{error}");
    check_works(&mut worker);

    let mut check = |data: &str, part: &str| {
        let source = format!("{TO_PARENT}\ndef f(argument, blobs):\n    send({data})\n");
        let error = run(&mut worker, &source, &json!(null)).unwrap_err();
        let is_reply = matches!(&error, PythonError::Reply(_));
        assert!(is_reply && error.to_string().contains(part), "{data}: {error}");
        check_works(&mut worker);
    };
    check("b'garbage and more'", "expected a reply");
    check("b'LBP1' + b'\\xff' * 4", "4294967295 bytes");
    check("frame(b'{}')", "missing field");
    check("frame(b'{\"outcome\": {\"value\": ' + b'[' * 100000)", "recursion limit");
    check(
        "frame(b'{\"id\": 3, \"outcome\": {\"value\": 0}, \"blobs\": [9223372036854775807]}')",
        "9223372036854775807 bytes",
    );
}

#[test]
fn a_reply_that_never_comes_to_its_end_is_a_time_out() {
    let Some(mut worker) = plain() else { return };
    for data in ["b'LBP'", "b'LBP1' + b'\\xff\\xff\\xff\\x00'"] {
        let source = format!(
            "{TO_PARENT}\ndef f(argument, blobs):\n    send({data})\n    time.sleep(1000)\n"
        );
        let result = run_within(&mut worker, &source, &json!(null), SHORT);
        assert!(is_time_out(&result), "{result:?}");
        check_works(&mut worker);
    }
}

#[test]
fn a_patched_worker_harms_only_itself() {
    let Some(mut worker) = plain() else { return };
    for patch in [
        "json.dumps = lambda *a, **k: 'junk'",
        "json.dumps = lambda *a, **k: 1 / 0",
        "struct.pack = lambda *a: b''",
        "struct.pack = lambda *a: b'LBP1' + b'\\xff' * 4",
        "builtins.memoryview = None",
        "builtins.len = lambda value: 0",
        "os.write = lambda *a: 0",
        "os.readv = lambda *a: 1",
        "os.makedirs = None",
        "__main__.Stream.reply = lambda *a: None",
        "__main__.Services.serve = lambda *a: ('forged', [])",
        "__main__.answer = None",
        "traceback.walk_tb = None\n    1 / 0",
        "os.closerange(3, 100)",
    ] {
        let source = format!(
            "import builtins, json, os, struct, traceback, __main__\ndef f(argument, blobs):\n    {patch}\n"
        );
        let begin = Instant::now();
        let first = run_within(&mut worker, &source, &json!(null), SHORT);
        // The process may serve on with what the code left behind, until the parent notices.
        let second = run_within(&mut worker, "def f(a, b): return 5\n", &json!(null), SHORT);
        for result in [first, second] {
            match result {
                Ok(reply) => {
                    let honest = [json!(null), json!(5), json!("forged")];
                    assert!(honest.contains(&reply.value), "{patch}: {reply:?}");
                }
                Err(PythonError::Request(reason)) => panic!("{patch}: {reason}"),
                Err(_) => {}
            }
        }
        assert!(begin.elapsed() < 10 * SHORT, "{patch}");
        worker.stop();
        check_works(&mut worker);
    }
}

#[test]
fn output_is_dropped_as_it_comes() {
    let Some(mut worker) = plain() else { return };
    let some = "import sys
def f(argument, blobs):
    for _ in range(64):
        print('x' * (1 << 20))
        print('y' * (1 << 19), file=sys.stderr)
    return 'printed'
";
    assert_eq!(run(&mut worker, some, &json!(null)).unwrap().value, json!("printed"));
    let endless = "def f(argument, blobs):\n    while True: print('x' * 1000000)\n";
    let result = run_within(&mut worker, endless, &json!(null), SHORT);
    assert!(is_time_out(&result), "{result:?}");
    check_works(&mut worker);
}

#[test]
fn code_that_never_ends_is_killed() {
    let Some(mut worker) = plain() else { return };
    for body in ["while True: pass", "sum(iter(int, 1))", "import time; time.sleep(1000)"] {
        let source = format!("def f(argument, blobs):\n    {body}\n");
        let result = run_within(&mut worker, &source, &json!(null), SHORT);
        assert!(is_time_out(&result), "{result:?}");
        check_works(&mut worker);
    }
}

#[test]
fn processor_time_is_limited() {
    let Some(mut worker) = worker(|limits| limits.cpu_secs = 2) else { return };
    let death = died(run(&mut worker, "def f(a, b):\n    while True: pass\n", &json!(null)));
    assert!(death.to_string().contains("SIGXCPU"), "{death}");
    check_works(&mut worker);
}

#[test]
fn memory_is_limited() {
    let Some(mut worker) = worker(|limits| limits.memory_bytes = 512 << 20) else { return };
    for body in ["bytearray(1 << 30)", "kept = []\n    while True: kept.append(bytearray(1 << 20))"]
    {
        let source = format!("def f(argument, blobs):\n    {body}\n");
        let error = run(&mut worker, &source, &json!(null)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("MemoryError") && text.contains("512 MiB"), "{text}");
        check_works(&mut worker);
    }
}

#[test]
fn files_are_limited() {
    let Some(mut worker) = worker(|limits| limits.file_bytes = 1 << 20) else { return };
    let source = "def f(argument, blobs):\n    open('large', 'wb').write(bytes(2 << 20))\n";
    let error = run(&mut worker, source, &json!(null)).unwrap_err();
    assert!(error.to_string().contains("OSError: [Errno 27]"), "{error}");
    check_works(&mut worker);
}

#[test]
fn an_exhausted_stack_is_a_crash_that_is_named() {
    let Some(mut worker) = plain() else { return };
    let source = "import sys
sys.setrecursionlimit(10**9)
def g(_=None):
    return sorted([0], key=g)
def f(argument, blobs):
    g()
";
    let death = died(run(&mut worker, source, &json!(null)));
    assert!(death.to_string().contains("SIGSEGV"), "{death}");
    check_works(&mut worker);
    let death = died(run(&mut worker, "import os\nos._exit(7)\n", &json!(null)));
    assert_eq!(death, Death::Exited { code: 7 });
    check_works(&mut worker);
}

#[test]
fn a_deleted_scratch_folder_is_made_again() {
    let Some(mut worker) = plain() else { return };
    let delete = "import os, shutil
def f(argument, blobs):
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    return os.listdir('.')
";
    assert_eq!(run(&mut worker, delete, &json!(null)).unwrap().value, json!([]));
    let write = "import os, tempfile
def f(argument, blobs):
    open(os.environ['HOME'] + '/file', 'w').close()
    with tempfile.TemporaryDirectory() as folder:
        return os.path.isdir(folder)
";
    assert_eq!(run(&mut worker, write, &json!(null)).unwrap().value, Value::Bool(true));
    check_works(&mut worker);
}
