//! The description of a GPU, derived from its attributes and the rates of its compute capability.
//!
//! Bandwidth is bus width × memory clock × 2; a peak is multiprocessors × operations per clock × clock. Nothing is
//! looked up by name: a card without a sheet has every number that its driver determines, and each other number states
//! why it is unknown.

use std::collections::BTreeMap;

use lightbench_units::{Bytes, FlopsPerSecond, Hertz, Watts};

use super::attributes::{Brand, DriverAttributes};
use super::capability::Capability;
use super::peaks::{Peaks, Pipe};
use super::sheet::{DescribedBy, DeviceSheet, SheetError};
use super::sourced::Sourced;

/// The key of the source of every number that the attributes state or determine.
pub const DRIVER: &str = "driver";

/// The key of the source of peaks.
const RATES: &str = "driver-and-rates";

/// The source key of values excluded by the compute capability.
const CAPABILITY: &str = "compute-capability";

impl DriverAttributes {
    /// The description that follows from the attributes alone.
    ///
    /// # Errors
    /// The table of compute capabilities lacks this one.
    pub fn derived(&self, name: &str) -> Result<DeviceSheet, SheetError> {
        let capability = Capability::from_compute_capability(self.compute_capability)?.clone();
        let bandwidth = match self.bandwidth() {
            Ok(rate) => driver(rate),
            Err(why) => Sourced::Unknown { reason: why.to_string() },
        };
        let sheet = DeviceSheet {
            name: name.to_owned(),
            title: self.title.clone(),
            compute_capability: driver(self.compute_capability),
            sms: driver(self.sms),
            base_clock: unknown("the driver reports no base clock"),
            boost_clock: reported(self.clock(), "the driver reports no clock"),
            tensor_clock: reported(self.clock(), "the driver reports no clock"),
            memory_transfers: reported(
                self.memory_transfers(),
                "the driver reports no memory clock",
            ),
            memory_bus_bits: reported(
                self.memory_bus_bits.filter(|bits| *bits > 0),
                "the driver reports no bus width",
            ),
            dram: driver(Bytes(self.memory_bytes)),
            dram_bandwidth: bandwidth,
            l2: reported(
                self.l2_bytes.filter(|bytes| *bytes > 0).map(Bytes),
                "the driver reports no size of L2",
            ),
            power_limit: reported(self.power_limit(), "NVML reports no power limit"),
            pci_device_ids: reported(
                self.board.and_then(|board| board.pci_device_id).map(|id| vec![id]),
                "NVML reports no PCI device id",
            ),
            peaks: self.derived_peaks(&capability),
            sources: BTreeMap::new(),
            described_by: DescribedBy::Driver(Box::new(self.clone())),
            capability,
        };
        Ok(sheet.with_sources(self))
    }

    /// The peak of a pipe at the highest clock that the board reaches; unknown without the rate or that clock.
    #[must_use]
    pub fn highest_peak(&self, capability: &Capability, pipe: Pipe) -> Option<FlopsPerSecond> {
        let rate = capability.rate(pipe, self.brand()).get()?;
        Some(FlopsPerSecond(rate * f64::from(self.sms) * self.max_clock()?.0))
    }

    fn power_limit(&self) -> Option<Watts> {
        let milliwatts = self.board?.power_limit_milliwatts?;
        Some(Watts(f64::from(milliwatts) * 1e-3))
    }

    fn derived_peaks(&self, capability: &Capability) -> Peaks {
        Peaks::from_fn(|pipe| self.derived_peak(capability.rate(pipe, self.brand())))
    }

    fn derived_peak(&self, rate: &Sourced<f64>) -> Sourced<FlopsPerSecond> {
        match (rate, self.clock()) {
            (Sourced::Known { value, .. }, Some(Hertz(clock))) => Sourced::Known {
                value: FlopsPerSecond(value * f64::from(self.sms) * clock),
                source: RATES.to_owned(),
            },
            (Sourced::Known { .. }, None) => unknown("the driver reports no clock"),
            (Sourced::Absent { .. }, _) => Sourced::Absent { source: CAPABILITY.to_owned() },
            (Sourced::Unknown { reason }, _) => Sourced::Unknown { reason: reason.clone() },
        }
    }
}

impl Capability {
    /// Dense operations of a multiprocessor in a clock on a pipe.
    #[must_use]
    pub fn rate(&self, pipe: Pipe, brand: Brand) -> &Sourced<f64> {
        let own = &self.operations_per_clock;
        match brand {
            Brand::GeForce => self.geforce_operations_per_clock.get(&pipe).unwrap_or(own.get(pipe)),
            Brand::Professional => own.get(pipe),
        }
    }
}

impl DeviceSheet {
    /// Adds the documents that derived numbers cite; every one that is listed is cited.
    fn with_sources(mut self, attributes: &DriverAttributes) -> Self {
        let title = &attributes.title;
        let documents = [
            (DRIVER, format!("derived from the driver's attributes of {title}")),
            (
                RATES,
                format!(
                    "derived from the driver's attributes of {title}: multiprocessors × clock × operations per clock of \
                     compute capability {}",
                    attributes.compute_capability
                ),
            ),
            (
                CAPABILITY,
                format!("the rates of compute capability {}", attributes.compute_capability),
            ),
        ];
        let cited: Vec<String> = self.cited();
        let documents = documents.into_iter().filter(|(key, _)| cited.iter().any(|one| one == key));
        self.sources.extend(documents.map(|(key, text)| (key.to_owned(), text)));
        self
    }
}

fn driver<T>(value: T) -> Sourced<T> {
    Sourced::Known { value, source: DRIVER.to_owned() }
}

fn unknown<T>(reason: &str) -> Sourced<T> {
    Sourced::Unknown { reason: reason.to_owned() }
}

fn reported<T>(value: Option<T>, otherwise: &str) -> Sourced<T> {
    value.map_or_else(|| unknown(otherwise), driver)
}
