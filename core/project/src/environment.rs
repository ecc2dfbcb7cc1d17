//! Values of the names in expressions: a workload, chosen parameters, a device.

use std::collections::BTreeMap;

use lightbench_primitives::scalar_value::ScalarValue;

use super::expression::Values;

/// Values of a device sheet; an unknown value is `None` and cannot be used in expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Streaming multiprocessors.
    pub sms: Option<u64>,
    /// Bytes of second-level cache.
    pub l2_bytes: Option<u64>,
    /// Bytes of shared memory that one block can opt in to.
    pub max_shared_per_block: Option<u64>,
    /// Bytes of shared memory of one multiprocessor.
    pub shared_per_sm: Option<u64>,
    /// Threads of a warp.
    pub warp_size: Option<u64>,
    /// Resident threads of one multiprocessor.
    pub max_threads_per_sm: Option<u64>,
}

impl DeviceFacts {
    fn fact(&self, name: &str) -> Option<u64> {
        match name {
            "device.sms" => self.sms,
            "device.l2_bytes" => self.l2_bytes,
            "device.max_shared_per_block" => self.max_shared_per_block,
            "device.shared_per_sm" => self.shared_per_sm,
            "device.warp_size" => self.warp_size,
            "device.max_threads_per_sm" => self.max_threads_per_sm,
            _ => None,
        }
    }
}

/// Values by name; small, so that a list beats a map.
#[derive(Clone, Debug, Default)]
pub struct Environment<'a> {
    integers: Vec<(&'a str, i128)>,
    scalars: Vec<(&'a str, ScalarValue)>,
    device: Option<DeviceFacts>,
    occupancy: Option<&'a BTreeMap<String, u64>>,
}

impl<'a> Environment<'a> {
    /// Adds or replaces the value of an axis, an integer scalar or a parameter.
    pub fn set(&mut self, name: &'a str, value: i128) {
        match self.integers.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.integers.push((name, value)),
        }
    }

    /// Adds the value of a scalar; expressions see it as an integer only if it is one.
    pub fn set_scalar(&mut self, name: &'a str, value: ScalarValue) {
        if let ScalarValue::Integer(integer) = value {
            self.set(name, integer);
        }
        self.scalars.push((name, value));
    }

    /// The value of a scalar in its own type.
    pub fn scalar(&self, name: &str) -> Option<ScalarValue> {
        self.scalars.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The same values with the facts of a device.
    #[must_use]
    pub fn on_device(mut self, facts: &DeviceFacts) -> Self {
        self.device = Some(*facts);
        self
    }

    /// The same values with the occupancy of compiled kernels, by the names that the steps launch.
    #[must_use]
    pub fn with_occupancy(mut self, occupancy: &'a BTreeMap<String, u64>) -> Self {
        self.occupancy = Some(occupancy);
        self
    }
}

impl Values for Environment<'_> {
    fn integer(&self, name: &str) -> Option<i128> {
        let known = self.integers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        known.or_else(|| self.device?.fact(name).map(i128::from))
    }

    fn real(&self, name: &str) -> Option<f64> {
        self.scalar(name).map(ScalarValue::as_real)
    }

    fn max_active_blocks(&self, kernel: &str) -> Option<i128> {
        let occupancy = self.occupancy?;
        // A name without template arguments refers to all kernels of that name: the smallest value of them.
        let named = |full: &str| full.split('<').next().unwrap_or_default().trim() == kernel;
        let all =
            || occupancy.iter().filter(|(full, _)| named(full)).map(|(_, blocks)| blocks).min();
        occupancy.get(kernel).or_else(all).map(|blocks| i128::from(*blocks))
    }
}
