//! Our Python code, embedded in the program: the loop of the worker, and the service modules.

/// The oldest version of Python that runs this code: major and minor.
pub const OLDEST_VERSION: (u32, u32) = (3, 8);

/// The loop, passed to the interpreter as its program text.
pub(crate) const WORKER: &str = include_str!("../../../assets/python/worker.py");

/// The services, each with the text of its module.
pub(crate) const SERVICES: [(&str, &str); 3] = [
    ("packages", include_str!("../../../assets/python/packages.py")),
    ("triton_compile", include_str!("../../../assets/python/triton_compile.py")),
    ("run", include_str!("../../../assets/python/run.py")),
];
