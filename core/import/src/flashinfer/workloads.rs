//! Workloads: those that come with the definition, else sizes chosen from the kind of each axis.

use std::path::Path;

use lightbench_project::manifest::{Purpose, ScalarWritten, WorkloadWritten};
use lightbench_project::written::{Entries, NumberWritten};

use super::definition::Definition;
use super::sizes::{ProjectAxis, Sizes};
use super::values::fitting;
use crate::draft::workload;
use crate::error::ImportError;
use crate::input::InputFile;
use crate::json::Json;
use crate::report::{Place, Report};

/// Workloads of a file that are taken at most.
const MOST: usize = 12;

/// Elements of the largest tensor of a small workload.
const SMALL: i128 = 1 << 21;

/// Sizes of an axis: two to verify, one held out, one to measure.
struct Kind {
    ragged: i64,
    even: i64,
    held_out: i64,
    measure: i64,
}

const BATCH: Kind = Kind { ragged: 3, even: 4, held_out: 5, measure: 64 };
const TOKENS: Kind = Kind { ragged: 17, even: 32, held_out: 23, measure: 4096 };
const PAGES: Kind = Kind { ragged: 11, even: 16, held_out: 13, measure: 1024 };
const INDICES: Kind = Kind { ragged: 9, even: 12, held_out: 10, measure: 512 };
const LENGTH: Kind = Kind { ragged: 67, even: 128, held_out: 91, measure: 8192 };
const SINGLE: Kind = Kind { ragged: 1, even: 1, held_out: 1, measure: 1 };
const OTHER: Kind = Kind { ragged: 5, even: 8, held_out: 7, measure: 128 };

fn kind_of(name: &str) -> &'static Kind {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if ["one", "scalar", "scale_size"].contains(&name.as_str()) {
        &SINGLE
    } else if has(&["max_seq_len", "max_len"]) {
        &LENGTH
    } else if has(&["pages_per_seq", "q_len_per", "num_states", "beam", "speculative"]) {
        &Kind { ragged: 3, even: 4, held_out: 2, measure: 4 }
    } else if has(&["batch", "num_seq", "num_sequences"]) || name == "b" {
        &BATCH
    } else if has(&["page", "pool", "slots"]) && !has(&["indices"]) {
        &PAGES
    } else if has(&["indices", "blocks"]) {
        &INDICES
    } else if has(&["token", "seq", "total", "nnz", "rows", "len", "num_elements"]) || name == "m" {
        &TOKENS
    } else {
        &OTHER
    }
}

/// Workloads for these axes, in the absence of a file.
pub(super) fn chosen(axes: &[&ProjectAxis]) -> Vec<WorkloadWritten> {
    let sized = |name: &str, purpose: Purpose, size: fn(&Kind) -> i64| {
        let sizes = axes.iter().map(|axis| {
            let value = axis.fixed.unwrap_or_else(|| size(kind_of(&axis.name)));
            (axis.name.clone(), value)
        });
        workload(name, purpose, sizes.collect())
    };
    let mut all = vec![
        sized("ragged", Purpose::Verify, |kind| kind.ragged),
        sized("even", Purpose::Verify, |kind| kind.even),
        sized("large", Purpose::Measure, |kind| kind.measure),
        sized("hidden", Purpose::HeldOut, |kind| kind.held_out),
    ];
    if axes.iter().all(|axis| axis.fixed.is_some()) {
        all.remove(0);
    }
    all
}

/// What the workloads of a file are read for.
pub(super) struct Target<'a> {
    pub(super) definition: &'a Definition,
    pub(super) sizes: &'a Sizes,
    pub(super) axes: &'a [&'a ProjectAxis],
    pub(super) scalars: &'a [ScalarWritten],
    /// Inputs by their names in the definition and in the project.
    pub(super) names: &'a [(String, String)],
    /// The product of the sizes of the largest tensor that has all variable axes, roughly: its axes.
    pub(super) largest: &'a [String],
}

impl Target<'_> {
    /// The workloads of a file: the largest to measure, others to verify, and held-out ones beside them.
    pub(super) fn read(
        &self,
        file: &InputFile,
        report: &mut Report,
    ) -> Result<Vec<WorkloadWritten>, ImportError> {
        let lines = Json::read_lines(&file.path, &file.text)?;
        let mut read = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            read.push(self.workload(&file.path, index, line, report)?);
        }
        let count = read.len();
        read.sort_by_key(|workload| self.elements(workload));
        read.dedup_by(|one, other| one.axes == other.axes && one.scalars == other.scalars);
        let mut kept = spread(read, MOST);
        if count > kept.len() {
            let left = count - kept.len();
            report.leave_out(
                format!("{left} workloads of {}", file.name),
                format!("sizes between those of the {} that are kept, or equal ones", kept.len()),
            );
        }
        let last = kept.len().saturating_sub(2);
        for (index, workload) in kept.iter_mut().enumerate() {
            let is_small = self.elements(workload) <= SMALL;
            let measured = !is_small || (index >= last && index > 0);
            workload.purpose = if measured { Purpose::Measure } else { Purpose::Verify };
        }
        let own = chosen(self.axes);
        let lacks_small = !kept.iter().any(|workload| workload.purpose == Purpose::Verify);
        let added = own.into_iter().filter(|workload| match workload.purpose {
            Purpose::HeldOut => true,
            Purpose::Verify => lacks_small,
            Purpose::Measure => false,
        });
        kept.extend(added);
        let text = format!("the held-out sizes are chosen; {} has none", file.name);
        report.confirm("workloads", Place::Workloads, text);
        Ok(kept)
    }

    /// The product of the axes of the largest tensor.
    fn elements(&self, workload: &WorkloadWritten) -> i128 {
        let sizes = workload.axes.0.iter().filter(|(name, _)| self.largest.contains(name));
        sizes.fold(1_i128, |product, (_, size)| product.saturating_mul(i128::from(*size)))
    }

    /// One line: a workload, alone or in a trace without a solution.
    fn workload(
        &self,
        file: &Path,
        index: usize,
        line: &Json,
        report: &mut Report,
    ) -> Result<WorkloadWritten, ImportError> {
        let line = line.get("workload").unwrap_or(line);
        let refused = |place: String, found: Option<&Json>, expected: &str| {
            let found = found.map_or_else(|| "nothing".to_owned(), Json::described);
            Err(ImportError::new(file, format!("line {}, {place}", index + 1), found, expected))
        };
        let Some(Json::Object(given)) = line.get("axes") else {
            return refused(
                "axes".to_owned(),
                line.get("axes"),
                "an object with the value of each variable axis",
            );
        };
        for (name, value) in given {
            if self.definition.axis(name).is_none() {
                return refused(format!("axes.{name}"), Some(value), "an axis of the definition");
            }
        }
        let mut axes = Vec::new();
        for axis in self.axes {
            let own = self.definition.axes.iter().map(|each| each.name.as_str());
            let own = own
                .clone()
                .find(|name| self.sizes.axis(name).is_some_and(|found| found.name == axis.name));
            let own = own.unwrap_or(&axis.name);
            let value = given.iter().find(|(name, _)| name == own).map(|(_, value)| value);
            match (axis.fixed, value) {
                (Some(fixed), _) => axes.push((axis.name.clone(), fixed)),
                (None, Some(Json::Integer(size))) if (1..=1 << 40).contains(size) => {
                    axes.push((axis.name.clone(), i64::try_from(*size).unwrap_or(1)));
                }
                (None, other) => {
                    return refused(format!("axes.{own}"), other, "an integer of at least 1");
                }
            }
        }
        let mut written = workload(&format!("w{}", index + 1), Purpose::Verify, axes);
        written.note = line.get("uuid").and_then(Json::text).unwrap_or_default().to_owned();
        written.scalars = Entries(self.scalars_of(line));
        self.tell_inputs(line, report);
        Ok(written)
    }

    fn scalars_of(&self, line: &Json) -> Vec<(String, NumberWritten)> {
        let inputs = line.get("inputs").map(Json::entries).unwrap_or_default();
        let mut found = Vec::new();
        for (name, input) in inputs {
            let given = self.names.iter().find(|(own, _)| own == name).map(|(_, given)| given);
            let scalar = self.scalars.iter().find(|scalar| Some(&scalar.name) == given);
            let value = match input.get("value") {
                Some(Json::Integer(value)) => NumberWritten::Integer(*value),
                Some(Json::Real(value)) => NumberWritten::Real(*value),
                Some(Json::Boolean(value)) => NumberWritten::Boolean(*value),
                Some(Json::Null | Json::Text(_) | Json::List(_) | Json::Object(_)) | None => {
                    continue;
                }
            };
            if let Some(scalar) = scalar {
                found.push((scalar.name.clone(), fitting(value, scalar.dtype)));
            }
        }
        found
    }

    /// Inputs that come from files or functions are drawn instead.
    fn tell_inputs(&self, line: &Json, report: &mut Report) {
        for (name, input) in line.get("inputs").map(Json::entries).unwrap_or_default() {
            let reason = match input.get("type").and_then(Json::text) {
                Some("safetensors") => {
                    "its values are in a file of tensors; every run draws new ones instead"
                }
                Some("custom") => {
                    "a function generates its values; every run draws new ones as project.ron states"
                }
                Some(_) | None => continue,
            };
            let what = format!("values of `{name}`");
            if !report.left_out.iter().any(|part| part.what == what) {
                report.leave_out(what, reason);
            }
        }
    }
}

/// At most `most` of a sorted list, with both ends.
fn spread(all: Vec<WorkloadWritten>, most: usize) -> Vec<WorkloadWritten> {
    let count = all.len();
    if count <= most {
        return all;
    }
    let keep: Vec<usize> = (0..most).map(|index| index * (count - 1) / (most - 1)).collect();
    let kept = all.into_iter().enumerate().filter(|(index, _)| keep.contains(index));
    kept.map(|(_, workload)| workload).collect()
}
