//! Compares integers and booleans, which must be equal bit for bit.

use lightbench_project::launch::expectation::WrongKind;

use super::super::element::{element_at, element_value};
use super::super::layout::Run;
use super::Comparison;
use super::error::CompareError;
use super::output::Output;
use super::tally::{Fault, Rejected, Tally};

/// Elements that are compared at once.
const CHUNK: usize = 4096;

/// Compares an output of integers or booleans.
pub(super) fn compare(output: &Output<'_>) -> Result<Comparison, CompareError> {
    if output.made.dtype.is_float() {
        return Err(CompareError::Dtype { tensor: output.name() });
    }
    let mut tally = Tally::new(&output.made.dims);
    for mut run in output.layout.runs() {
        while run.length > 0 {
            let count = run.length.min(CHUNK);
            let part = Run { length: count, ..run };
            if !equal(output, part) {
                look_closely(output, part, &mut tally);
            }
            run.first += count as u64;
            run.offset += count * run.step;
            run.length -= count;
        }
    }
    Ok(tally.finish(output.tensor, output.made.elements, WrongKind::Numeric))
}

/// Whether all elements of a run are written and equal; false does not imply that one is wrong.
fn equal(output: &Output<'_>, run: Run) -> bool {
    let bytes = output.bytes_of(run.offset..run.offset + run.length);
    let (found, expected) = (output.found.bytes, output.expected.values);
    run.step == 1
        && !output.any_unwritten(&bytes)
        && found.get(bytes.clone()) == expected.get(bytes)
}

fn look_closely(output: &Output<'_>, run: Run, tally: &mut Tally) {
    let dtype = output.made.dtype;
    for index in 0..run.length {
        let place = run.offset + index * run.step;
        let found = output.found_at(place);
        let expected = element_at(dtype, output.expected.values, place).unwrap_or_default();
        let unwritten = output.any_unwritten(&output.bytes_of(place..place + 1));
        if found == expected && !unwritten {
            continue;
        }
        let poison = unwritten || output.holds_poison(place);
        let fault = if poison { Fault::Unwritten } else { Fault::Value };
        let (found, expected) = (element_value(dtype, found), element_value(dtype, expected));
        tally.reject(Rejected::unequal(run.first + index as u64, fault, found, expected));
    }
}
