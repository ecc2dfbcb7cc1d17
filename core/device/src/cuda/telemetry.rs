//! The state of a GPU during timing, as NVML reports it: clock, power, temperature, memory, and the reasons for a
//! reduced clock.
//!
//! NVML is optional: if its library is missing or fails, there are no readings.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use lightbench_measure::energy::Joules;
use lightbench_measure::timing::{DeviceMemory, Reading};
use lightbench_units::{Bytes, Hertz, Watts};
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};

/// Interval between readings, each of which takes a fraction of a millisecond.
const PERIOD: Duration = Duration::from_millis(20);

/// NVML of one GPU.
#[derive(Debug)]
pub(super) struct Telemetry {
    nvml: Nvml,
    bus: String,
    last: Option<Instant>,
}

impl Telemetry {
    /// `None` if NVML is missing or does not know the GPU.
    pub(super) fn open(bus: String) -> Option<Self> {
        let nvml = Nvml::init().ok()?;
        nvml.device_by_pci_bus_id(bus.as_str()).ok()?;
        Some(Self { nvml, bus, last: None })
    }

    /// Energy since the driver was loaded, if the GPU has a counter.
    pub(super) fn energy(&self) -> Option<Joules> {
        let device = self.nvml.device_by_pci_bus_id(self.bus.as_str()).ok()?;
        device.total_energy_consumption().ok().map(|millijoules| Joules(millijoules as f64 * 1e-3))
    }

    /// A reading, if the last one is old enough.
    pub(super) fn read(&mut self) -> Option<Reading> {
        if self.last.is_some_and(|last| last.elapsed() < PERIOD) {
            return None;
        }
        self.last = Some(Instant::now());
        let device = self.nvml.device_by_pci_bus_id(self.bus.as_str()).ok()?;
        let megahertz = device.clock_info(Clock::SM).ok()?;
        let held = device.current_throttle_reasons().unwrap_or(ThrottleReasons::empty());
        let thermal = ThrottleReasons::SW_THERMAL_SLOWDOWN | ThrottleReasons::HW_THERMAL_SLOWDOWN;
        let hardware = ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN | ThrottleReasons::HW_SLOWDOWN;
        let processes = device.running_compute_processes().unwrap_or_default();
        let processes = processes.into_iter().map(|process| process.pid).collect();
        Some(Reading {
            sm_clock: Hertz(f64::from(megahertz) * 1e6),
            power: device.power_usage().ok().map(|power| Watts(f64::from(power) * 1e-3)),
            celsius: device.temperature(TemperatureSensor::Gpu).ok(),
            is_power_capped: held.contains(ThrottleReasons::SW_POWER_CAP),
            is_hot: held.intersects(thermal),
            is_held_down: held.intersects(hardware) && !held.intersects(thermal),
            other_processes: others(&processes),
            memory: device.memory_info().ok().map(|memory| DeviceMemory {
                free: Bytes(memory.free),
                total: Bytes(memory.total),
            }),
        })
    }
}

/// The driver's release, `580.159.04`, if its library reports it.
#[must_use]
pub fn driver_release() -> Option<String> {
    Nvml::init().ok()?.sys_driver_version().ok()
}

/// Processes other than this one and its siblings. If the process numbers belong to another name space, the count is
/// unknown.
fn others(processes: &BTreeSet<u32>) -> u32 {
    let Some(parent) = parent_of("self") else { return 0 };
    if !processes.contains(&std::process::id()) {
        return 0;
    }
    let other = |process: &&u32| parent_of(&process.to_string()) != Some(parent);
    u32::try_from(processes.iter().filter(other).count()).unwrap_or(u32::MAX)
}

/// The fourth field of `/proc/PID/stat`, after the name in parentheses.
fn parent_of(process: &str) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}
