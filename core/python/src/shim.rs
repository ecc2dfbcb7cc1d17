//! Our Python code, embedded in the program: the loop of the worker, and the service modules.

/// The oldest version of Python that runs this code: major and minor.
pub const OLDEST_VERSION: (u32, u32) = (3, 8);

/// The loop, passed to the interpreter as its program text.
pub(crate) const WORKER: &str = include_str!("../../../assets/python/worker.py");

/// The services and what they share, each with the text of its module.
pub(crate) const SERVICES: [(&str, &str); 9] = [
    ("packages", include_str!("../../../assets/python/packages.py")),
    ("triton_compile", include_str!("../../../assets/python/triton_compile.py")),
    ("reference", include_str!("../../../assets/python/reference.py")),
    ("torch_baseline", include_str!("../../../assets/python/torch_baseline.py")),
    ("torch_reference", include_str!("../../../assets/python/torch_reference.py")),
    ("numpy_reference", include_str!("../../../assets/python/numpy_reference.py")),
    ("torch_errors", include_str!("../../../assets/python/torch_errors.py")),
    ("running_error", include_str!("../../../assets/python/running_error.py")),
    ("run", include_str!("../../../assets/python/run.py")),
];
