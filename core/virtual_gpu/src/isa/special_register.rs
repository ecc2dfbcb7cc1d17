//! Special registers. PTX ISA, section "Special Registers".

use super::keyword::{Keyword as _, keywords};
use super::scalar::ScalarType;

keywords! {
    /// One of three coordinates.
    Axis: "`.x`, `.y` or `.z`" { X = "x", Y = "y", Z = "z" }
}
keywords! {
    /// Special registers with three coordinates, each a u32.
    Triple: "a special register" {
        ThreadIndex = "%tid", BlockSize = "%ntid", BlockIndex = "%ctaid", GridSize = "%nctaid",
        ClusterIndex = "%clusterid", ClusterCount = "%nclusterid",
        BlockInCluster = "%cluster_ctaid", ClusterSize = "%cluster_nctaid",
    }
}
keywords! {
    /// Special registers with one value.
    Single: "a special register" {
        Lane = "%laneid", Warp = "%warpid", WarpCount = "%nwarpid", Multiprocessor = "%smid",
        MultiprocessorCount = "%nsmid", Grid = "%gridid", MaskEqual = "%lanemask_eq",
        MaskLess = "%lanemask_lt", MaskLessEqual = "%lanemask_le", MaskGreater = "%lanemask_gt",
        MaskGreaterEqual = "%lanemask_ge", Clock = "%clock", ClockHigh = "%clock_hi",
        Clock64 = "%clock64", GlobalTimer = "%globaltimer", GlobalTimerLow = "%globaltimer_lo",
        GlobalTimerHigh = "%globaltimer_hi", TotalSharedSize = "%total_smem_size",
        DynamicSharedSize = "%dynamic_smem_size", AllSharedSize = "%aggr_smem_size",
        ReservedSharedBegin = "%reserved_smem_offset_begin",
        ReservedSharedEnd = "%reserved_smem_offset_end",
        ReservedSharedCapacity = "%reserved_smem_offset_cap",
        ExecutionGraph = "%current_graph_exec", IsExplicitCluster = "%is_explicit_cluster",
        RankInCluster = "%cluster_ctarank", BlocksInCluster = "%cluster_nctarank",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    /// One coordinate.
    Coordinate(Triple, Axis),
    /// One value.
    Value(Single),
    /// `%envreg0` to `%envreg31`: set by the driver; a cooperative launch uses two of them.
    Environment(u8),
    /// `%reserved_smem_offset_0` and `_1`: shared memory that is reserved for system use.
    ReservedSharedOffset(u8),
    /// `%pm0` to `%pm7`: performance counters.
    PerformanceCounter(u8),
}

impl SpecialRegister {
    /// The register with this name, and the component after the dot if there is one.
    #[must_use]
    pub fn from_name(name: &str, component: Option<&str>) -> Option<Self> {
        if let Some(component) = component {
            let axis = Axis::from_spelling(component)?;
            return Triple::from_spelling(name).map(|triple| Self::Coordinate(triple, axis));
        }
        if let Some(single) = Single::from_spelling(name) {
            return Some(Self::Value(single));
        }
        let number = |prefix: &str, most: u8| {
            let digits = name.strip_prefix(prefix)?;
            digits.parse::<u8>().ok().filter(|number| *number < most)
        };
        number("%envreg", 32)
            .map(Self::Environment)
            .or_else(|| number("%reserved_smem_offset_", 2).map(Self::ReservedSharedOffset))
            .or_else(|| number("%pm", 8).map(Self::PerformanceCounter))
    }

    /// The type of its value.
    #[must_use]
    pub fn scalar(self) -> ScalarType {
        match self {
            Self::Coordinate(..) | Self::PerformanceCounter(_) => ScalarType::U32,
            Self::Environment(_) | Self::ReservedSharedOffset(_) => ScalarType::B32,
            Self::Value(single) => match single {
                Single::Clock64 | Single::GlobalTimer | Single::Grid => ScalarType::U64,
                Single::ExecutionGraph => ScalarType::U64,
                Single::IsExplicitCluster => ScalarType::Pred,
                Single::Lane
                | Single::Warp
                | Single::WarpCount
                | Single::Multiprocessor
                | Single::MultiprocessorCount
                | Single::MaskEqual
                | Single::MaskLess
                | Single::MaskLessEqual
                | Single::MaskGreater
                | Single::MaskGreaterEqual
                | Single::Clock
                | Single::ClockHigh
                | Single::GlobalTimerLow
                | Single::GlobalTimerHigh
                | Single::TotalSharedSize
                | Single::DynamicSharedSize
                | Single::AllSharedSize
                | Single::ReservedSharedBegin
                | Single::ReservedSharedEnd
                | Single::ReservedSharedCapacity
                | Single::RankInCluster
                | Single::BlocksInCluster => ScalarType::U32,
            },
        }
    }
}
