//! Calls of services, and how they fail.

use std::time::{Duration, Instant};

use lightbench_core::python::{PythonError, Worker};
use lightbench_core::worker::error::WorkerError;
use serde_json::json;

use super::{LIMIT, check_works, configuration, never, run, system_interpreter};

#[test]
fn values_and_blobs_go_there_and_back() {
    let Some(interpreter) = system_interpreter() else { return };
    let mut worker = Worker::new(interpreter.clone(), configuration());
    assert_eq!(worker.id(), None);
    let source = "def f(argument, blobs):
    return {'argument': argument, 'lengths': [len(blob) for blob in blobs]}, blobs[::-1]
";
    let large = vec![7_u8; 3 << 20];
    let request =
        json!({ "file": "case.py", "source": source, "entry": "f", "argument": [null, 0.1, "ü"] });
    let blobs: [&[u8]; 3] = [b"", b"abc", &large];
    let mut processes = Vec::new();
    for _ in 0..2 {
        let reply = worker.call("run", &request, &blobs, LIMIT, &never()).unwrap();
        let expected = json!({ "argument": [null, 0.1, "ü"], "lengths": [0, 3, 3 << 20] });
        assert_eq!(reply.value, expected);
        assert_eq!(reply.blobs, [large.clone(), b"abc".to_vec(), Vec::new()]);
        processes.push(worker.id().unwrap());
    }
    assert_eq!(processes[0], processes[1], "one process serves both calls");
}

#[test]
fn an_exception_names_the_line_and_the_process_goes_on() {
    let Some(interpreter) = system_interpreter() else { return };
    let mut worker = Worker::new(interpreter.clone(), configuration());
    check_works(&mut worker);
    let process = worker.id();
    let mut check = |source: &str, kind: &str, message: &str, line: u32| {
        let error = run(&mut worker, source, &json!(null)).unwrap_err();
        let PythonError::Exception { exception, .. } = &error else { panic!("{error}") };
        assert_eq!(exception.kind, kind, "{error}");
        assert!(exception.message.contains(message), "{error}");
        assert_eq!(
            exception.innermost_in("case.py").map_or(0, |frame| frame.line),
            line,
            "{error}"
        );
    };
    check("def g():\n    return 1 / 0\ndef f(a, b):\n    return g()\n", "ZeroDivisionError", "", 2);
    check("def f(a, b):\n    raise SystemExit(3)\n", "SystemExit", "3", 2);
    check("def f(a, b:\n", "SyntaxError", "case.py, line 1", 0);
    check("import absent_package\n", "ModuleNotFoundError", "absent_package", 1);
    check("def g(a, b): pass\n", "AttributeError", "'f'", 0);
    check("def f(a, b):\n    return float('nan')\n", "ValueError", "JSON", 0);
    check("def f(a, b):\n    return {1, 2}\n", "TypeError", "set", 0);
    check("def f(a, b):\n    return 1, [bytes(5 << 30)]\n", "MemoryError", "", 2);
    check(
        "class E(Exception):\n    def __str__(s): return 1/0\ndef f(a, b):\n    raise E\n",
        "E",
        "no text",
        4,
    );
    check("def f(a, b):\n    raise ValueError('x' * 10**7)\n", "ValueError", "xxx", 2);
    let error = worker.call("absent", &json!(null), &[], LIMIT, &never()).unwrap_err();
    assert!(error.to_string().contains("no service `absent`"), "{error}");
    assert_eq!(worker.id(), process);
}

#[test]
fn a_cancelled_call_ends_at_once() {
    let Some(interpreter) = system_interpreter() else { return };
    let mut worker = Worker::new(interpreter.clone(), configuration());
    check_works(&mut worker);
    let cancellation = never();
    let request = json!({ "file": "case.py", "source": "while True: pass", "entry": null });
    let begin = Instant::now();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            cancellation.cancel();
        });
        worker.call("run", &request, &[], LIMIT, &cancellation)
    });
    assert!(matches!(result, Err(PythonError::Worker(WorkerError::Cancelled))), "{result:?}");
    assert!(begin.elapsed() < LIMIT / 2);
    check_works(&mut worker);
}

#[test]
fn the_environment_is_scratch_only() {
    let Some(interpreter) = system_interpreter() else { return };
    let mut worker = Worker::new(interpreter.clone(), configuration());
    let source = "import os, sys
def f(argument, blobs):
    inside = lambda name: os.environ[name].startswith(os.getcwd() + '/')
    return {
        'variables': sorted(os.environ),
        'inside': all(inside(name) for name in ('HOME', 'TMPDIR', 'TRITON_HOME', 'TRITON_CACHE_DIR')),
        'flags': [sys.flags.isolated, sys.flags.dont_write_bytecode],
        'input': sys.stdin.read(),
        'processors': os.cpu_count() >= 1,
        'random': len(os.urandom(8)) + len(open('/dev/urandom', 'rb').read(8)),
        'status': 'Threads' in open('/proc/self/status').read(),
        'memory': 'MemTotal' in open('/proc/meminfo').read(),
    }
";
    let reply = run(&mut worker, source, &json!(null)).unwrap();
    let expected = json!({
        "variables": [
            "HOME", "LANG", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TMPDIR",
            "TRITON_CACHE_DIR", "TRITON_HOME", "USER",
        ],
        "inside": true, "flags": [1, 1], "input": "", "processors": true, "random": 16, "status": true,
        "memory": true,
    });
    assert_eq!(reply.value, expected);
    assert_eq!(worker.sandbox().unwrap().gaps_for_foreign_code(), Vec::<String>::new());
}
