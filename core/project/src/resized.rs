//! A workload with other sizes than those of the definition.

use std::path::PathBuf;

use super::definition::Definition;
use super::locate::Located;
use super::manifest::WorkloadWritten;
use super::problem::{Findings, Source};
use super::work::WorkAmount;
use super::workload::{self, Workload};
use super::written::Entries;

impl Workload {
    /// The same workload with these values of its axes, in the order of the definition; `None` if an axis, the type of
    /// an argument, a fill or the limits do not permit them.
    #[must_use]
    pub fn with_axes(&self, definition: &Definition, axes: Vec<u64>) -> Option<Self> {
        let permitted = definition.axes.len() == axes.len()
            && definition.axes.iter().zip(&axes).all(|(axis, value)| {
                (axis.min..=axis.max).contains(value) && value.is_multiple_of(axis.multiple_of)
            });
        if !permitted {
            return None;
        }
        let (extents, work) = (Vec::new(), WorkAmount::default());
        let mut resized = Self { axes, extents, work, ..self.clone() };
        // Only the number of problems counts.
        let nowhere = Source { file: PathBuf::new(), text: "", tree: Located::plain(0..0) };
        let mut findings = Findings::new(&nowhere);
        let written = WorkloadWritten {
            name: self.name.clone(),
            purpose: self.purpose,
            axes: Entries::default(),
            scalars: Entries::default(),
            fills: Entries::default(),
            note: String::new(),
        };
        let root = Located::plain(0..0);
        workload::complete(&mut findings, &root, (0, &written), definition, &mut resized);
        (findings.count() == 0).then_some(resized)
    }
}
