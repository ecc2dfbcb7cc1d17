//! The parsed file that a host function belongs to.

use std::collections::BTreeMap;

use lightbench_python_source::{Constants, Module};

use super::kernel::Kernel;

/// The file that is read.
#[derive(Clone, Copy)]
pub(super) struct HostFile<'a> {
    pub(super) text: &'a str,
    pub(super) module: &'a Module,
    pub(super) constants: &'a Constants,
    pub(super) kernels: &'a BTreeMap<String, Kernel>,
}
