//! The rules, one file each.

mod accumulators;
mod axis_constants;
mod block_parameter;
mod coarsen;
mod divisions;
mod fast_division;
mod fast_functions;
mod flags;
mod hints;
mod lanes;
mod launch_bounds;
mod more_values;
mod narrow;
mod neighbours;
mod pad_shared;
mod private_counts;
mod reciprocal;
mod restrict;
mod row_registers;
mod running_maximum;
mod serial_sums;
mod single_literals;
mod tiles;
mod transposed;
mod unroll;
mod vector;
mod warp_reduction;

use super::Rule;

pub(super) const ALL: &[Rule] = &[
    block_parameter::RULE,
    more_values::RULE,
    launch_bounds::RULE,
    launch_bounds::RESIDENCE,
    flags::REGISTERS,
    coarsen::RULE,
    serial_sums::RULE,
    accumulators::RULE,
    restrict::RULE,
    vector::RULE,
    neighbours::RULE,
    hints::READ_ONLY,
    hints::STREAMED_LOADS,
    hints::STREAMED_STORES,
    lanes::WARP,
    lanes::BLOCK,
    row_registers::RULE,
    transposed::STORES,
    transposed::LOADS,
    pad_shared::RULE,
    tiles::SHARED,
    axis_constants::RULE,
    narrow::RULE,
    divisions::RULE,
    unroll::RULE,
    reciprocal::RULE,
    fast_division::RULE,
    fast_division::ROOT,
    fast_functions::RULE,
    flags::ARITHMETIC,
    single_literals::RULE,
    tiles::REGISTERS,
    tiles::WARPGROUPS,
    running_maximum::RULE,
    warp_reduction::RULE,
    private_counts::RULE,
];
