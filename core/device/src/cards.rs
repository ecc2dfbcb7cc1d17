//! Recorded attributes of cards; each card is described as a GPU with these attributes would be.
//!
//! They define the virtual devices beyond the embedded sheets (`virtual:rtx4060`), and the tests of the derivation use
//! them. If a sheet has the same name, the virtual device uses the sheet.

use std::sync::LazyLock;

use lightbench_primitives::compute_capability::ComputeCapability;
use serde::Deserialize;

use super::attributes::{DriverAttributes, MemoryPlace};
use super::sheet::{DescribedBy, DeviceSheet, SheetError};

const FILE: &str = "cards.ron";
const TEXT: &str = include_str!("../../../assets/devices/cards.ron");

/// A card with recorded attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The name that people type: `rtx4060`.
    pub name: String,
    /// Attributes as its driver reports them.
    pub attributes: DriverAttributes,
    /// Source of the attributes.
    pub origin: CardOrigin,
    /// Published figures, if the vendor publishes any.
    pub published: Published,
}

/// The origin of a card's attributes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardOrigin {
    /// Printed by a program on such a card; the program and the location of its output.
    Recorded(String),
    /// The vendor's specification, not a reading of a card.
    Specified(String),
}

/// Figures that the vendor publishes for a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Published {
    /// Bandwidth of memory in GB/s.
    pub gb_per_s: Option<f64>,
    /// Single precision in TFLOP/s.
    pub fp32_tflops: Option<f64>,
    /// Dense 16-bit tensor rate with f32 accumulation (f16 or bf16) in TFLOP/s.
    pub tensor_tflops: Option<f64>,
}

impl Card {
    /// All cards.
    ///
    /// # Errors
    /// The embedded table is not sound.
    pub fn all() -> Result<&'static [Self], SheetError> {
        static ALL: LazyLock<Result<Vec<Card>, SheetError>> = LazyLock::new(|| {
            let written: Written = super::sheet::read(FILE, TEXT)?;
            Ok(written.cards.into_iter().map(Card::from).collect())
        });
        ALL.as_deref().map_err(Clone::clone)
    }

    /// The card of this name, `rtx4060`.
    ///
    /// # Errors
    /// The embedded table is not sound.
    pub fn find(name: &str) -> Result<Option<&'static Self>, SheetError> {
        Ok(Self::all()?.iter().find(|card| card.name == name))
    }
}

/// The virtual devices that are described by attributes alone, in the order of the table.
pub(super) fn sheets() -> Result<&'static [DeviceSheet], SheetError> {
    static SHEETS: LazyLock<Result<Vec<DeviceSheet>, SheetError>> = LazyLock::new(|| {
        let own = |card: &&Card| DeviceSheet::documented_names().all(|name| name != card.name);
        Card::all()?.iter().filter(own).map(sheet).collect()
    });
    SHEETS.as_deref().map_err(Clone::clone)
}

/// A virtual device has its numbers by definition.
fn sheet(card: &Card) -> Result<DeviceSheet, SheetError> {
    let derived = card.attributes.derived(&card.name)?;
    Ok(DeviceSheet { described_by: DescribedBy::Documents, ..derived })
}

/// `assets/devices/cards.ron`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    cards: Vec<WrittenCard>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCard {
    name: String,
    title: String,
    compute_capability: ComputeCapability,
    sms: u32,
    memory_bytes: u64,
    #[serde(default)]
    clock_mhz: Option<u32>,
    #[serde(default)]
    memory_clock_mhz: Option<u32>,
    #[serde(default)]
    memory_bus_bits: Option<u32>,
    #[serde(default)]
    l2_bytes: Option<u64>,
    #[serde(default)]
    integrated: bool,
    origin: CardOrigin,
    #[serde(default)]
    published: Published,
}

impl From<WrittenCard> for Card {
    fn from(written: WrittenCard) -> Self {
        let khz = |mhz: Option<u32>| mhz.map(|mhz| mhz.saturating_mul(1000));
        let memory = if written.integrated { MemoryPlace::Host } else { MemoryPlace::Board };
        Self {
            name: written.name,
            attributes: DriverAttributes {
                title: written.title,
                compute_capability: written.compute_capability,
                sms: written.sms,
                memory_bytes: written.memory_bytes,
                clock_khz: khz(written.clock_mhz),
                memory_clock_khz: khz(written.memory_clock_mhz),
                memory_bus_bits: written.memory_bus_bits,
                l2_bytes: written.l2_bytes,
                memory,
                limits: None,
                board: None,
            },
            origin: written.origin,
            published: written.published,
        }
    }
}
