//! The launch block of a kernel file, and its construction from the parsed block.

mod arguments;
pub(crate) mod coverage;
pub mod expectation;
pub mod flags;
pub mod header_libraries;
pub mod kernel_name;
mod objects;
pub mod plan;
mod planned;
mod steps;
pub mod tensor_maps;
pub mod textures;
pub mod triton;
pub mod written;

use std::collections::BTreeSet;

pub use arguments::{Argument, Buffer, OWN_ALIGN};
pub use coverage::MAX_COMBINATIONS;
pub use expectation::Expectation;
pub use flags::Flags;
pub use header_libraries::HeaderLibrary;
pub use kernel_name::KernelName;
pub use objects::{ConstantMemory, Scratch, StructArgument};
pub use steps::{LaunchStep, Step};
pub use tensor_maps::TensorMap;
pub use textures::Texture;
pub use written::Architecture;

use self::written::{LaunchBlockWritten, StepWritten};
use super::{
    definition::{Definition, Inputs},
    expression::{DeviceNames, Expression, Kind, Openness, Scope},
    language::Language,
    locate::Located,
    names::is_identifier,
    problem::Findings,
    workload::Workload,
};

/// The launch block of a kernel file.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// One line.
    pub title: String,
    /// Free text; not part of a candidate's identity.
    pub note: String,
    /// Free text; not part of a candidate's identity.
    pub lineage: String,
    /// Integers to choose from.
    pub parameters: Vec<Parameter>,
    /// Conditions on parameters, axes and device facts.
    pub require: Vec<Expression>,
    /// Axes that are compile-time constants.
    pub constants: Vec<String>,
    /// Device memory that the kernel needs.
    pub scratch: Vec<Scratch>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Compiler flags.
    pub flags: Flags,
    /// Libraries of headers that the code includes.
    pub libraries: Vec<HeaderLibrary>,
    /// Which architectures the compiled code runs on.
    pub architecture: Architecture,
    /// TMA descriptors.
    pub tensor_maps: Vec<TensorMap>,
    /// Structs that are passed by value.
    pub structs: Vec<StructArgument>,
    /// Texture objects, and surface objects after them.
    pub textures: Vec<Texture>,
    /// `__constant__` arrays.
    pub constant_memory: Vec<ConstantMemory>,
    /// The failure that a kernel under `wrong/` must produce.
    pub expect: Option<Expectation>,
}

/// An integer to choose from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; code sees `PARAM_` and the name.
    pub name: String,
    /// The values, in the order in which they are tried.
    pub values: Vec<i64>,
}

impl Launch {
    /// The names of the kernels that are launched, in order, each once.
    pub fn kernels(&self) -> Vec<&KernelName> {
        let mut kernels: Vec<&KernelName> = Vec::new();
        steps::each_launch(&self.steps, &mut |launch| {
            if !kernels.contains(&&launch.kernel) {
                kernels.push(&launch.kernel);
            }
        });
        kernels
    }
}

/// The role of a kernel file in its project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelRole {
    /// `reference.cu`.
    Reference,
    /// Below `kernels/`.
    Variant,
    /// Below `wrong/`.
    Wrong,
    /// A file that belongs to no project.
    Standalone,
}

/// The context that a block is checked against.
#[derive(Clone, Copy)]
pub(super) struct LaunchContext<'a> {
    pub(super) role: KernelRole,
    /// `None` outside a project, or if the definition is invalid.
    pub(super) project: Option<(&'a Definition, &'a [Workload])>,
}

impl<'a> LaunchContext<'a> {
    fn definition(&self) -> Option<&'a Definition> {
        self.project.map(|(definition, _)| definition)
    }
}

/// The names that expressions of a block may use.
struct Scopes {
    /// Before the kernel is compiled.
    early: Scope,
    /// The scope including occupancy.
    late: Scope,
}

/// Validates the block; the result is valid only if no problem was reported.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LaunchBlockWritten,
    (around, language): (LaunchContext<'_>, Language),
) -> Launch {
    check_head(findings, at, written, around);
    let parameters = check_parameters(findings, at.field("params"), written);
    let scopes = scopes(written, around);
    let names = arguments::Names {
        block: written,
        definition: around.definition(),
        role: around.role,
        language,
        early: &scopes.early,
        late: &scopes.late,
    };
    let require = written.require.iter().enumerate().map(|(index, condition)| {
        findings.formula(
            at.field("require").item(index),
            &condition.0,
            &scopes.early,
            Kind::Condition,
        )
    });
    let require = require.collect();
    check_constants(findings, at.field("constants"), written, around);
    let scratch =
        objects::check_scratch(findings, at.field("scratch"), &written.scratch, &scopes.late);
    let launch = Launch {
        title: written.title.clone(),
        note: written.note.clone(),
        lineage: written.lineage.clone(),
        parameters,
        require,
        constants: written.constants.clone(),
        steps: steps::check(findings, at.field("steps"), &written.steps, names, &scopes.early),
        flags: flags::check(findings, at.field("flags"), &written.flags, &scopes.early),
        libraries: header_libraries::check(
            findings,
            at.field("libraries"),
            &written.libraries,
            language,
        ),
        architecture: written.arch,
        tensor_maps: tensor_maps::check(
            findings,
            at.field("tensor_maps"),
            (names, &scratch),
            &scopes.early,
        ),
        textures: textures::check(findings, at, (names, &scratch)),
        scratch,
        structs: objects::check_structs(findings, at.field("structs"), names),
        constant_memory: objects::check_constant_memory(
            findings,
            at.field("constant_memory"),
            names,
        ),
        expect: check_expectation(findings, at, written, around.role),
    };
    textures::check_arrays(findings, at, &launch);
    if language == Language::Triton {
        triton::check_block(findings, at, written);
    }
    if around.role == KernelRole::Reference {
        check_reference(findings, at, written, &launch, around);
    }
    if findings.count() == 0
        && let Some((definition, workloads)) = around.project
    {
        coverage::check(findings, at, &launch, definition, workloads);
    }
    launch
}

fn check_head(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LaunchBlockWritten,
    around: LaunchContext<'_>,
) {
    findings.line(at.field("title"), &written.title);
    for (field, count, most) in [
        ("params", written.params.0.len(), 16),
        ("require", written.require.len(), 64),
        ("constants", written.constants.len(), 32),
        ("scratch", written.scratch.len(), 32),
        ("flags", written.flags.len(), 16),
        ("tensor_maps", written.tensor_maps.len(), 32),
        ("structs", written.structs.len(), 32),
        ("textures", written.textures.len(), 32),
        ("surfaces", written.surfaces.len(), 32),
        ("constant_memory", written.constant_memory.len(), 32),
    ] {
        findings.at_most(at.field(field), field, count, most);
    }
    let mut names: Vec<(&Located, &str)> = Vec::new();
    names.extend(
        written
            .params
            .0
            .iter()
            .enumerate()
            .map(|(index, (name, _))| (at.field("params").key(index), name.as_str())),
    );
    let lists: [(&str, Vec<&str>); 5] = [
        ("scratch", written.scratch.iter().map(|entry| entry.name.as_str()).collect()),
        ("tensor_maps", written.tensor_maps.iter().map(|entry| entry.name.as_str()).collect()),
        ("structs", written.structs.iter().map(|entry| entry.name.as_str()).collect()),
        ("textures", written.textures.iter().map(|entry| entry.name.as_str()).collect()),
        ("surfaces", written.surfaces.iter().map(|entry| entry.name.as_str()).collect()),
    ];
    for (list, entries) in &lists {
        for (index, name) in entries.iter().enumerate() {
            let place = at.field(list).item(index).field("name");
            findings.identifier(place, name);
            names.push((place, name));
        }
    }
    if let Some(definition) = around.definition() {
        let axes = definition.axes.iter().map(|axis| axis.name.as_str());
        let scalars = definition.scalars.iter().map(|scalar| scalar.name.as_str());
        let tensors = definition.tensors.iter().map(|tensor| tensor.name.as_str());
        let taken: BTreeSet<&str> = axes.chain(scalars).chain(tensors).collect();
        for (at, name) in &names {
            if taken.contains(name) {
                findings.add(at, format!("`{name}` is a name of the project"), "another name");
            }
        }
    }
    findings.unique("name", names);
}

fn check_parameters(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LaunchBlockWritten,
) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    let mut combinations = 1_usize;
    for (index, (name, values)) in written.params.0.iter().enumerate() {
        findings.identifier(at.key(index), name);
        let place = at.value(index);
        findings.at_most(place, "values", values.len(), 256);
        if values.is_empty() {
            findings.add(place, format!("no value for `{name}`"), "at least one integer");
        }
        for (entry, value) in values.iter().enumerate() {
            if values[..entry].contains(value) {
                findings.add(place.item(entry), format!("{value} again"), "each value once");
            }
        }
        combinations = combinations.saturating_mul(values.len().max(1));
        parameters.push(Parameter { name: name.clone(), values: values.clone() });
    }
    findings.at_most(at, "combinations of parameters", combinations, MAX_COMBINATIONS);
    parameters
}

fn scopes(written: &LaunchBlockWritten, around: LaunchContext<'_>) -> Scopes {
    let inputs = around.definition().map_or_else(Inputs::default, Definition::inputs);
    let mut early = inputs.scope();
    // An invalid name is reported in its location and not suggested elsewhere.
    let parameters = written.params.0.iter().map(|(name, _)| name);
    early.integers.extend(parameters.filter(|name| is_identifier(name)).cloned());
    early.device = DeviceNames::Facts;
    if around.project.is_none() {
        early.open = Openness::Open;
    }
    let mut kernels = Vec::new();
    collect_kernels(&written.steps, &mut kernels);
    let late = Scope { device: DeviceNames::FactsAndOccupancy(kernels), ..early.clone() };
    Scopes { early, late }
}

/// Occupancy refers to a kernel by the step's full name, or by the base name.
fn collect_kernels(steps: &[StepWritten], kernels: &mut Vec<String>) {
    for step in steps {
        match step {
            StepWritten::Launch(launch) => {
                let base = launch.kernel.split('<').next().unwrap_or_default().trim();
                for name in [launch.kernel.as_str(), base] {
                    if !kernels.iter().any(|known| known == name) {
                        kernels.push(name.to_owned());
                    }
                }
            }
            StepWritten::Triton(launch) => kernels.push(launch.kernel.trim().to_owned()),
            StepWritten::Repeat(repeat) => collect_kernels(&repeat.steps, kernels),
            StepWritten::Fill(_) => {}
        }
    }
}

fn check_constants(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LaunchBlockWritten,
    around: LaunchContext<'_>,
) {
    for (index, name) in written.constants.iter().enumerate() {
        let place = at.item(index);
        if written.constants[..index].contains(name) {
            findings.add(place, format!("`{name}` again"), "each axis once");
        }
        match around.definition() {
            Some(definition) if !definition.axes.iter().any(|axis| axis.name == *name) => {
                let known: Vec<&str> =
                    definition.axes.iter().map(|axis| axis.name.as_str()).collect();
                findings.unknown(place, "axis", name, &known);
            }
            Some(_) => {}
            None => findings.identifier(place, name),
        }
    }
}

fn check_expectation(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LaunchBlockWritten,
    role: KernelRole,
) -> Option<Expectation> {
    let place = at.field("expect");
    match (&written.expect, role) {
        (None, KernelRole::Wrong) => {
            findings.add_with_help(
                at,
                "a kernel under wrong/ does not say how it fails",
                "the failure that it must produce",
                "add `expect: wrong(numeric)`, `expect: fault(data_race)` or another failure",
            );
            None
        }
        (Some(_), KernelRole::Variant | KernelRole::Reference) => {
            let help = "remove `expect`, or move the file to wrong/";
            findings.add_with_help(
                place,
                "a kernel outside wrong/ names a failure",
                "a kernel that is right",
                help,
            );
            None
        }
        (Some(expect), KernelRole::Wrong | KernelRole::Standalone) => {
            expectation::check(findings, place, expect.get_ron())
        }
        (None, KernelRole::Variant | KernelRole::Reference | KernelRole::Standalone) => None,
    }
}

/// The reference has a single variant: no parameters, and no flags that change arithmetic.
fn check_reference(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LaunchBlockWritten,
    launch: &Launch,
    around: LaunchContext<'_>,
) {
    if !written.params.0.is_empty() {
        findings.add(
            at.field("params"),
            "the reference has parameters",
            "one variant without parameters",
        );
    }
    for (index, flag) in launch.flags.list().iter().enumerate() {
        if !matches!(flag, flags::Flag::Dialect(_)) {
            findings.add(
                at.field("flags").item(index),
                "a flag that changes the code",
                "no flag but `std(…)`",
            );
        }
    }
    if launch.architecture == Architecture::Specific {
        findings.add(at.field("arch"), "a reference for one architecture", "`portable`");
    }
    let Some(definition) = around.definition() else { return };
    for needed in arguments::reference_outputs(definition) {
        let mut passed = false;
        steps::each_launch(&launch.steps, &mut |step| {
            passed |= step.arguments.contains(&Argument::Buffer(needed));
        });
        if !passed {
            let name = arguments::buffer_name(needed, definition, &launch.scratch);
            findings.add(
                at.field("steps"),
                format!("no step of the reference writes `{name}`"),
                "every output and magnitude as an argument",
            );
        }
    }
}
