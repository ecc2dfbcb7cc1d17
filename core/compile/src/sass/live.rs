//! Live registers from the listing `nvdisasm -lrm count`.

use std::collections::HashMap;

use super::{SassFunction, section_of};

/// Adds the number of live general registers to each instruction that the listing has.
pub(super) fn add(functions: &mut [SassFunction], listing: &str) {
    let mut counts: HashMap<(&str, u64), u32> = HashMap::new();
    let mut function = None;
    for line in listing.lines().map(str::trim) {
        if let Some(section) = section_of(line) {
            function = section;
        } else if let Some(name) = function
            && let Some((address, count)) = count(line)
        {
            counts.insert((name, address), count);
        }
    }
    for function in functions {
        for instruction in &mut function.instructions {
            instruction.live_registers =
                counts.get(&(function.name.as_str(), instruction.address)).copied();
        }
    }
}

/// `/*0050*/ IMAD … ; // |   6   |        |   2    |`: general registers are the first column, and an empty one is 0.
fn count(line: &str) -> Option<(u64, u32)> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let column = rest.rsplit_once("// |")?.1.split('|').next()?.trim();
    let count = if column.is_empty() { 0 } else { column.parse().ok()? };
    Some((address, count))
}
