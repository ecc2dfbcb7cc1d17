//! The search space of the parameters that a kernel declares.

use std::collections::BTreeMap;

use lightbench_strategies::{Dimension, Restriction, Space, SpaceError};

use crate::project::launch::Launch;
use crate::project::{DeviceFacts, Environment, Kernel, Project, Workload};

/// Most configurations of a space.
const MAX_CONFIGURATIONS: usize = 1 << 16;

/// The configurations that `require` allows on every one of these workloads.
///
/// # Errors
/// There are too many configurations, or the conditions allow too few.
pub fn space(
    project: &Project,
    launch: &Launch,
    workloads: &[&Workload],
    device: &DeviceFacts,
) -> Result<Space, SpaceError> {
    let dimensions = launch.parameters.iter().map(|parameter| Dimension {
        name: parameter.name.clone(),
        values: parameter.values.clone(),
    });
    let mut restrictions = Vec::new();
    for condition in &launch.require {
        let names = condition.names();
        let on: Vec<usize> = (0..launch.parameters.len())
            .filter(|index| names.contains(launch.parameters[*index].name.as_str()))
            .collect();
        let environments: Vec<Environment<'_>> = workloads
            .iter()
            .map(|workload| project.definition.environment(workload).on_device(device))
            .collect();
        let chosen: Vec<&str> =
            on.iter().map(|index| launch.parameters[*index].name.as_str()).collect();
        let holds = move |values: &[i64]| {
            environments.iter().all(|environment| {
                let mut environment = environment.clone();
                for (name, value) in chosen.iter().zip(values) {
                    environment.set(name, i128::from(*value));
                }
                // A condition without a value allows the configuration: choosing parameters reports the error.
                condition.condition(&environment).unwrap_or(true)
            })
        };
        restrictions.push(Restriction { dimensions: on, holds: Box::new(holds) });
    }
    Space::build(dimensions.collect(), &restrictions, MAX_CONFIGURATIONS)
}

/// The values of a configuration, by the names of the parameters.
#[must_use]
pub fn named(space: &Space, index: usize) -> BTreeMap<String, i64> {
    let names = space.dimensions().iter().map(|dimension| dimension.name.clone());
    names.zip(space.values(index)).collect()
}

/// The index of the configuration with these values.
#[must_use]
pub fn index_of(space: &Space, parameters: &BTreeMap<String, i64>) -> Option<usize> {
    let values = space.dimensions().iter().map(|dimension| parameters.get(&dimension.name));
    space.index_of_values(&values.map(Option::<&i64>::copied).collect::<Option<Vec<i64>>>()?)
}

/// The kernel with these values first in its lists, so that it chooses them where they are allowed. The text is unchanged.
#[must_use]
pub fn preferring(kernel: &Kernel, parameters: &BTreeMap<String, i64>) -> Kernel {
    let mut kernel = kernel.clone();
    for parameter in &mut kernel.launch.parameters {
        if let Some(value) = parameters.get(&parameter.name) {
            parameter.values.retain(|other| other != value);
            parameter.values.insert(0, *value);
        }
    }
    kernel
}
