//! Checks that every workload has permitted parameters, and that with the default parameters every number is in range.
//!
//! Expressions that depend on a device are checked once a device is known.

use super::{
    Launch, LaunchStep, Step, flags,
    plan::{MAX_OPERATIONS, PlanError, Selection, combination, combinations, with_parameters},
};
use crate::definition::Definition;
use crate::environment::Environment;
use crate::expression::Expression;
use crate::locate::Located;
use crate::manifest::Purpose;
use crate::problem::Findings;
use crate::workload::Workload;

/// Maximum number of parameter combinations.
pub const MAX_COMBINATIONS: usize = 1 << 16;

/// Reports workloads without allowed parameters, and numbers out of range.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    launch: &Launch,
    definition: &Definition,
    workloads: &[Workload],
) {
    let is_held_out = |workload: &&Workload| workload.purpose == Purpose::HeldOut;
    let (held_out, visible): (Vec<_>, Vec<_>) = workloads.iter().partition(is_held_out);
    for workload in visible {
        check_workload(findings, at, launch, (definition, workload));
    }
    // A problem would disclose a size, a name or the number of held-out workloads. Only the fact that one of them has
    // no plan is reported.
    let mut unseen = findings.separate();
    for workload in held_out {
        check_workload(&mut unseen, at, launch, (definition, workload));
    }
    if unseen.count() > 0 {
        let (found, expected) = HELD_OUT;
        findings.add(at, found, expected);
    }
}

/// The only message about held-out workloads without a plan: found, and expected.
pub(crate) const HELD_OUT: (&str, &str) = (
    "the launch block has no valid plan for a held-out workload",
    "a plan for every size that the axes permit",
);

fn check_workload(
    findings: &mut Findings<'_>,
    at: &Located,
    launch: &Launch,
    (definition, workload): (&Definition, &Workload),
) {
    let environment = definition.environment(workload);
    let Some(parameters) = default_parameters(findings, at, launch, (&environment, workload))
    else {
        return;
    };
    let environment = with_parameters(&environment, &parameters);
    flags::check_values(findings, at.field("flags"), &launch.flags, &environment);
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let selection = Selection {
        parameters,
        constants: Vec::new(),
        options: Vec::new(),
        architecture: launch.architecture,
        name_expressions: Vec::new(),
        triton: Vec::new(),
    };
    let checker = Checker { launch, selection: &selection, environment: &environment, workload };
    checker.objects(findings, at);
    checker.steps(findings, at.field("steps"), &launch.steps);
    checker.operations(findings, at.field("steps"));
}

fn default_parameters<'a>(
    findings: &mut Findings<'_>,
    at: &Located,
    launch: &'a Launch,
    (environment, workload): (&Environment<'a>, &Workload),
) -> Option<Vec<(&'a str, i64)>> {
    let mut failed: Option<&Expression> = None;
    for index in 0..combinations(&launch.parameters) {
        let parameters = combination(&launch.parameters, index);
        match launch.forbidding(&with_parameters(environment, &parameters)) {
            Ok(None) => return Some(parameters),
            Ok(Some(condition)) => failed = Some(condition),
            Err(PlanError::Expression { text, error }) => {
                let index = launch.require.iter().position(|condition| condition.text() == text);
                findings.expression(at.field("require").item(index.unwrap_or_default()), 0, &error);
                return None;
            }
            Err(
                PlanError::UnknownParameter { .. }
                | PlanError::UnknownValue { .. }
                | PlanError::NotAllowed { .. }
                | PlanError::OutOfRange { .. }
                | PlanError::TensorMap(_)
                | PlanError::TooManyOperations { .. },
            ) => return None,
        }
    }
    let index =
        launch.require.iter().position(|condition| Some(condition) == failed).unwrap_or_default();
    let found = format!("no parameter values are allowed for workload `{}`", workload.name);
    findings.add(at.field("require").item(index), found, "at least one choice for every workload");
    None
}

struct Checker<'a> {
    launch: &'a Launch,
    selection: &'a Selection,
    environment: &'a Environment<'a>,
    workload: &'a Workload,
}

impl Checker<'_> {
    /// Scratch, tensor maps, textures, and the fields of structs.
    fn objects(&self, findings: &mut Findings<'_>, at: &Located) {
        for (index, scratch) in self.launch.scratch.iter().enumerate() {
            let only = Launch { scratch: vec![scratch.clone()], ..self.empty() };
            let place = at.field("scratch").item(index).field("shape");
            self.report(findings, place, only.plan_in(self.selection, self.environment).err());
        }
        for (index, map) in self.launch.tensor_maps.iter().enumerate() {
            let only = Launch { tensor_maps: vec![map.clone()], ..self.empty() };
            let place = at.field("tensor_maps").item(index);
            self.report(findings, place, only.plan_in(self.selection, self.environment).err());
        }
        for texture in &self.launch.textures {
            let only = Launch { textures: vec![texture.clone()], ..self.empty() };
            self.report(findings, at, only.plan_in(self.selection, self.environment).err());
        }
        for (index, layout) in self.launch.structs.iter().enumerate() {
            for (entry, field) in layout.fields.iter().enumerate() {
                let place = at.field("structs").item(index).field("fields").item(entry);
                field.check_value(findings, place, self.environment, &self.workload.name);
            }
        }
    }

    fn empty(&self) -> Launch {
        Launch {
            title: String::new(),
            note: String::new(),
            lineage: String::new(),
            parameters: Vec::new(),
            require: Vec::new(),
            constants: Vec::new(),
            scratch: Vec::new(),
            steps: Vec::new(),
            flags: flags::Flags::default(),
            libraries: Vec::new(),
            architecture: self.launch.architecture,
            tensor_maps: Vec::new(),
            structs: self.launch.structs.clone(),
            textures: Vec::new(),
            constant_memory: Vec::new(),
            expect: None,
        }
    }

    fn steps(&self, findings: &mut Findings<'_>, at: &Located, steps: &[Step]) {
        for (index, step) in steps.iter().enumerate() {
            let place = at.item(index);
            match step {
                Step::Fill { .. } => {}
                Step::Repeat { steps, swap, .. } => {
                    self.plan_one(findings, place.field("count"), step);
                    self.swaps(findings, place.field("swap"), swap);
                    self.steps(findings, place.field("steps"), steps);
                }
                Step::Launch(launch) => self.launch(findings, place, launch),
            }
        }
    }

    /// Repetitions that are each in range may multiply to a run of hours.
    fn operations(&self, findings: &mut Findings<'_>, at: &Located) {
        let all = Launch { steps: self.launch.steps.clone(), ..self.empty() };
        let planned = all.plan_in(self.selection, self.environment);
        let Err(PlanError::TooManyOperations { found }) = planned else { return };
        let is_repeat = |step: &Step| matches!(step, Step::Repeat { .. });
        let first = self.launch.steps.iter().position(is_repeat).unwrap_or_default();
        let found = format!("{found} launches and fills in workload `{}`", self.workload.name);
        let expected = format!("at most {MAX_OPERATIONS} in one run, with all repetitions");
        findings.add(at.item(first).field("count"), found, expected);
    }

    fn launch(&self, findings: &mut Findings<'_>, at: &Located, launch: &LaunchStep) {
        for (index, argument) in launch.arguments.iter().enumerate() {
            if let super::Argument::Value(value) = argument
                && !value.check_value(
                    findings,
                    at.field("args").item(index),
                    self.environment,
                    &self.workload.name,
                )
            {
                return;
            }
        }
        if let Some(triton) = &launch.triton {
            let call = triton.call(launch, self.launch.flags.list(), self.environment);
            self.report(findings, at, call.err());
        }
        self.plan_one(findings, at, &Step::Launch(launch.clone()));
    }

    /// Plans one step without its nested steps.
    fn plan_one(&self, findings: &mut Findings<'_>, at: &Located, step: &Step) {
        let step = match step {
            Step::Repeat { count, .. } => {
                Step::Repeat { count: count.clone(), swap: Vec::new(), steps: Vec::new() }
            }
            Step::Launch(_) | Step::Fill { .. } => step.clone(),
        };
        let only = Launch { steps: vec![step], ..self.empty() };
        self.report(findings, at, only.plan_in(self.selection, self.environment).err());
    }

    fn swaps(
        &self,
        findings: &mut Findings<'_>,
        at: &Located,
        swap: &[(super::Buffer, super::Buffer)],
    ) {
        for (index, (left, right)) in swap.iter().enumerate() {
            let sizes = (self.elements(*left), self.elements(*right));
            if let (Some(left), Some(right)) = sizes
                && left != right
            {
                let found =
                    format!("{left} and {right} elements in workload `{}`", self.workload.name);
                findings.add(at.item(index), found, "buffers of the same size");
            }
        }
    }

    fn elements(&self, buffer: super::Buffer) -> Option<u64> {
        match buffer {
            super::Buffer::Tensor(index) | super::Buffer::Magnitude(index) => {
                self.workload.extents.get(index).map(|extent| extent.elements)
            }
            super::Buffer::Scratch(index) => {
                let only = Launch {
                    scratch: vec![self.launch.scratch.get(index)?.clone()],
                    ..self.empty()
                };
                let plan = only.plan_in(self.selection, self.environment).ok()?;
                plan.scratch.first().map(|scratch| scratch.dims.iter().product())
            }
        }
    }

    fn report(&self, findings: &mut Findings<'_>, at: &Located, error: Option<PlanError>) {
        let Some(error) = error.filter(|error| !error.needs_device()) else { return };
        match error {
            PlanError::Expression { text, error } => {
                findings.expression_inside(at, &text, &error);
            }
            PlanError::OutOfRange { field, text, found, expected } => {
                let place = place_of(at, field).unwrap_or(at);
                let found = format!("`{text}` is {found} in workload `{}`", self.workload.name);
                findings.add(place, found, expected);
            }
            PlanError::TensorMap(limit) => {
                let place = match (place_of(at, limit.field), limit.item) {
                    (Some(list), Some(item)) => list.item(item),
                    (Some(field), None) => field,
                    // The value is the tensor's own.
                    (None, _) => at.field("tensor"),
                };
                let found = format!("{} in workload `{}`", limit.subject(), self.workload.name);
                findings.add(place, found, limit.expected);
            }
            PlanError::UnknownParameter { .. }
            | PlanError::UnknownValue { .. }
            | PlanError::NotAllowed { .. }
            | PlanError::TooManyOperations { .. } => {}
        }
    }
}

/// A field of a step or of an object; the region of a tensor map has fields of its own.
fn place_of<'a>(at: &'a Located, field: &str) -> Option<&'a Located> {
    [at, at.field("im2col")].into_iter().find(|at| at.has_field(field)).map(|at| at.field(field))
}
