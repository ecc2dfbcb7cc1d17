//! A workload: a value for every axis, with all resulting sizes, fills and amounts of work as numbers.

use lightbench_primitives::scalar_value::ScalarValue;

use super::definition::Definition;
use super::environment::Environment;
use super::extent::Extent;
use super::fill::{Fill, Target};
use super::locate::Located;
use super::manifest::{Manifest, Purpose, RoleWritten, WorkloadWritten};
use super::problem::Findings;
use super::scalar::scalar_value;
use super::work::WorkAmount;
use super::{extent, fill, work};
use crate::compare::Comparator;
use crate::expression::Scope;

/// One workload of a project. Lists are in the order of the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name.
    pub name: String,
    pub purpose: Purpose,
    /// A value for every axis.
    pub axes: Vec<u64>,
    /// A value for every scalar.
    pub scalars: Vec<ScalarValue>,
    /// The fill of each tensor; `None` for outputs.
    pub fills: Vec<Option<Fill>>,
    /// The sizes of each tensor.
    pub extents: Vec<Extent>,
    /// The least that any correct kernel does.
    pub work: WorkAmount,
    /// Free text.
    pub note: String,
}

/// A workload whose names and values are sound, before anything is computed from it.
pub(super) fn check_values(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &WorkloadWritten,
    definition: &Definition,
    (manifest, scope): (&Manifest, &Scope),
) -> Workload {
    findings.file_name(at.field("name"), &written.name);
    let axes = check_axes(findings, at.field("axes"), written, definition);
    let scalars = check_scalars(findings, at.field("scalars"), written, definition);
    let fills = check_fills(findings, at.field("fills"), written, definition, (manifest, scope));
    Workload {
        name: written.name.clone(),
        purpose: written.purpose,
        axes,
        scalars,
        fills,
        extents: Vec::new(),
        work: WorkAmount::default(),
        note: written.note.clone(),
    }
}

fn check_axes(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &WorkloadWritten,
    definition: &Definition,
) -> Vec<u64> {
    let entries = &written.axes.0;
    findings.unique(
        "value for axis",
        entries.iter().enumerate().map(|(index, (name, _))| (at.key(index), name.as_str())),
    );
    let known: Vec<&str> = definition.axes.iter().map(|axis| axis.name.as_str()).collect();
    for (index, (name, _)) in entries.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            findings.unknown(at.key(index), "axis", name, &known);
        }
    }
    let mut values = Vec::new();
    for axis in &definition.axes {
        let Some((index, (_, value))) =
            entries.iter().enumerate().find(|(_, (name, _))| *name == axis.name)
        else {
            let help =
                format!("add `\"{}\": {}`", axis.name, axis.min.next_multiple_of(axis.multiple_of));
            findings.add_with_help(
                at,
                format!("no value for the axis `{}`", axis.name),
                "a value for every axis",
                help,
            );
            values.push(axis.min);
            continue;
        };
        let place = at.value(index);
        let fits = u64::try_from(*value).ok().filter(|value| (axis.min..=axis.max).contains(value));
        if fits.is_none() {
            let expected =
                format!("from {} to {}, the limits of `{}`", axis.min, axis.max, axis.name);
            findings.add(place, format!("{value}"), expected);
        } else if fits.is_some_and(|value| value % axis.multiple_of != 0) {
            let expected =
                format!("a multiple of {}, as the axis `{}` says", axis.multiple_of, axis.name);
            findings.add(place, format!("{value}"), expected);
        }
        values.push(fits.unwrap_or(axis.min));
    }
    values
}

fn check_scalars(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &WorkloadWritten,
    definition: &Definition,
) -> Vec<ScalarValue> {
    let entries = &written.scalars.0;
    findings.unique(
        "value for scalar",
        entries.iter().enumerate().map(|(index, (name, _))| (at.key(index), name.as_str())),
    );
    let mut values: Vec<ScalarValue> =
        definition.scalars.iter().map(|scalar| scalar.value).collect();
    for (index, (name, value)) in entries.iter().enumerate() {
        match definition.scalars.iter().position(|scalar| scalar.name == *name) {
            Some(scalar) => {
                let dtype = definition.scalars[scalar].dtype;
                values[scalar] = scalar_value(findings, at.value(index), *value, dtype);
            }
            None => {
                let known: Vec<&str> =
                    definition.scalars.iter().map(|scalar| scalar.name.as_str()).collect();
                findings.unknown(at.key(index), "scalar", name, &known);
            }
        }
    }
    values
}

fn check_fills(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &WorkloadWritten,
    definition: &Definition,
    (manifest, scope): (&Manifest, &Scope),
) -> Vec<Option<Fill>> {
    let entries = &written.fills.0;
    findings.unique(
        "fill of",
        entries.iter().enumerate().map(|(index, (name, _))| (at.key(index), name.as_str())),
    );
    let mut fills: Vec<Option<Fill>> =
        definition.tensors.iter().map(|tensor| tensor.role.fill().cloned()).collect();
    let inputs = manifest.tensors.iter().filter(|tensor| tensor.role != RoleWritten::Output);
    let known: Vec<&str> = inputs.map(|tensor| tensor.name.as_str()).collect();
    for (index, (name, fill)) in entries.iter().enumerate() {
        let tensor = definition.tensors.iter().position(|tensor| tensor.name == *name);
        match tensor.filter(|_| known.contains(&name.as_str())) {
            Some(tensor) => {
                let own = &definition.tensors[tensor];
                let (dtype, rank, domain) = (own.dtype, own.shape.len(), &own.domain);
                let target = Target { dtype, rank, domain, tensors: &manifest.tensors, scope };
                fills[tensor] = Some(fill::check(findings, at.value(index), fill, target));
            }
            None => findings.unknown(at.key(index), "input", name, &known),
        }
    }
    fills
}

/// Computes sizes, ranges of fills, work and arguments from the values.
pub(super) fn complete(
    findings: &mut Findings<'_>,
    root: &Located,
    (index, written): (usize, &WorkloadWritten),
    definition: &Definition,
    workload: &mut Workload,
) {
    let environment = definition.environment(workload);
    let name = written.name.as_str();
    let extents: Option<Vec<Extent>> = definition
        .tensors
        .iter()
        .enumerate()
        .map(|(index, tensor)| {
            extent::extent(findings, root.field("tensors").item(index), tensor, &environment, name)
        })
        // All tensors are checked before the first problem ends the validation.
        .collect::<Vec<_>>()
        .into_iter()
        .collect();
    check_arguments(findings, root.field("arguments"), definition, (&environment, name));
    let Some(extents) = extents else { return };
    let own_fills = root.field("workloads").item(index).field("fills");
    for (tensor, fill) in workload.fills.iter().enumerate() {
        let Some(fill) = fill else { continue };
        let overridden =
            written.fills.0.iter().position(|(name, _)| *name == definition.tensors[tensor].name);
        let place = match overridden {
            Some(entry) => own_fills.value(entry),
            None => root.field("tensors").item(tensor).field("fill"),
        };
        let own = &definition.tensors[tensor];
        let instance = fill::Instance {
            dtype: own.dtype,
            domain: &own.domain,
            extents: &extents,
            tensor,
            environment: &environment,
            workload: name,
        };
        fill::check_instance(findings, place, fill, instance);
    }
    check_contracts(findings, root.field("tensors"), definition, &extents, (&environment, name));
    let tensors = (definition.tensors.as_slice(), extents.as_slice());
    check_memory(findings, root, definition, &extents, name);
    let amount =
        work::amount(findings, root.field("work"), &definition.work, tensors, (&environment, name));
    workload.work = amount;
    workload.extents = extents;
}

/// All tensors of a workload are on the device together.
fn check_memory(
    findings: &mut Findings<'_>,
    root: &Located,
    definition: &Definition,
    extents: &[Extent],
    workload: &str,
) {
    let bytes: u64 = extents.iter().map(|extent| extent.bytes).sum();
    let most = definition.limits.device_bytes;
    if bytes > most {
        let index = extents
            .iter()
            .enumerate()
            .max_by_key(|(_, extent)| extent.bytes)
            .map_or(0, |(index, _)| index);
        let found = format!("the tensors have {bytes} bytes in workload `{workload}`");
        let help = "make the workload smaller, or raise `limits: (device_bytes: …)`";
        findings.add_with_help(
            root.field("tensors").item(index).field("shape"),
            found,
            format!("at most {most} bytes"),
            help,
        );
    }
}

fn check_arguments(
    findings: &mut Findings<'_>,
    at: &Located,
    definition: &Definition,
    (environment, workload): (&Environment<'_>, &str),
) {
    for (index, argument) in definition.arguments.iter().enumerate() {
        if let super::definition::Argument::Value(value) = argument {
            value.check_value(findings, at.item(index), environment, workload);
        }
    }
}

/// Checks the sizes against scales, comparators and domains.
fn check_contracts(
    findings: &mut Findings<'_>,
    at: &Located,
    definition: &Definition,
    extents: &[Extent],
    (environment, workload): (&Environment<'_>, &str),
) {
    for (index, tensor) in definition.tensors.iter().enumerate() {
        let place = at.item(index);
        if let Some(scales) = &tensor.scales {
            let last = extents[index].dims.last().copied().unwrap_or(1);
            let wanted = extents[index].elements / last * last.div_ceil(scales.block);
            let there = extents[scales.tensor].elements;
            if there != wanted || last % scales.block != 0 {
                let found = format!(
                    "{there} scales for a last dimension of {last} in blocks of {} in workload `{workload}`",
                    scales.block
                );
                findings.add(
                    place.field("scales"),
                    found,
                    format!("whole blocks, and {wanted} scales"),
                );
            }
        }
        let count = match tensor.role.compare() {
            Some(Comparator::Elementwise { terms, .. }) => Some(("terms", terms)),
            Some(Comparator::Sampling { draws, .. }) => Some(("draws", draws)),
            Some(Comparator::Permutation { of })
                if extents[*of].elements != extents[index].elements =>
            {
                let found = format!("tensors of different sizes in workload `{workload}`");
                findings.add(place.field("compare").field("of"), found, "as many elements in both");
                None
            }
            Some(
                Comparator::Permutation { .. }
                | Comparator::IntegerExact
                | Comparator::IndexByValue { .. }
                | Comparator::Set,
            )
            | None => None,
        };
        if let Some((field, count)) = count {
            at_least_one(
                findings,
                place.field("compare").field(field),
                count.integer(environment),
                workload,
            );
        }
        if let super::tensor::Domain::IndexBelow(below) = &tensor.domain {
            at_least_one(
                findings,
                place.field("domain").item(0),
                below.integer(environment),
                workload,
            );
        }
    }
}

fn at_least_one(
    findings: &mut Findings<'_>,
    at: &Located,
    value: Result<i128, super::expression::ExpressionError>,
    workload: &str,
) {
    match value {
        Ok(value) if value >= 1 => {}
        Ok(value) => findings.add(at, format!("{value} in workload `{workload}`"), "at least 1"),
        Err(error) => findings.expression(at, 0, &error),
    }
}
