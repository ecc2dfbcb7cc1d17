//! The child process that compiles: framed protocol, limits, sandbox.
