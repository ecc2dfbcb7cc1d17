//! Compile-path benchmarks.

fn main() {}
