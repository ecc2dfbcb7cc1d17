//! Tiled matrix products: tiles in shared memory, and in the registers of each thread.

mod factors;
mod launch;
mod operand;
mod product;
mod text;
mod warpgroups;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::loops::{counted_loop, is_innermost, loops};
use super::super::refusal::{Findings, Missing, NotApplicable};
use launch::{Sizes, sized};
pub(super) use launch::{old_parameters, renamed};
pub(super) use operand::depends;
use product::Product;
pub(super) use product::{check_threads, form, is_free};
pub(super) use warpgroups::RULE as WARPGROUPS;

pub(in super::super) const SHARED: Rule = Rule {
    id: "shared-tiles",
    title: "share tiles of both factors among the threads of a block",
    reason: "a block loads an element of a tile once for all its threads, instead of once for each of them",
    needs: "a launch of two dimensions with a guard for each, and one loop from 0 by 1 of `sum += a[…] * b[…]`, of which one input follows the row and one the column",
    technique: "tile-in-shared-memory",
    apply: shared,
};

pub(in super::super) const REGISTERS: Rule = Rule {
    id: "register-tiles",
    title: "give a thread a tile of results, of tiles in shared memory",
    reason: "what a thread loads of one factor serves several results, so that shared memory is asked less often, too",
    needs: "what `shared-tiles` needs",
    technique: "register-tile",
    apply: registers,
};

const WANTED: &str = "loop in a launched kernel that adds up products of two loads";

/// How many results a thread has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    One,
    Several,
}

fn shared(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    tiled(subject, Share::One)
}

fn registers(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    tiled(subject, Share::Several)
}

fn tiled(subject: &KernelSource<'_>, share: Share) -> Result<Vec<Rewrite>, NotApplicable> {
    products(subject, |function, product| rewritten(function, product, share))
}

/// Rewrites every product of a file.
fn products(
    subject: &KernelSource<'_>,
    rewritten: impl Fn(&Function<'_>, &Product<'_>) -> Result<Rewrite, Missing>,
) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for node in loops(&function).into_iter().filter(|node| is_innermost(*node)) {
            let factors = counted_loop(&function, node)
                .and_then(|counted| factors::factors(&function, &counted));
            let Some((sum, loads)) = factors else { continue };
            let product = product::read(&function, node, sum, loads);
            let rewrite = product.and_then(|product| rewritten(&function, &product));
            found.add(function.line(node), rewrite);
        }
    }
    found.finish(WANTED)
}

fn rewritten(
    function: &Function<'_>,
    product: &Product<'_>,
    share: Share,
) -> Result<Rewrite, Missing> {
    let (sizes, mut edits) = sized(function, product, share)?;
    edits.extend(text::before(function, product, &sizes));
    let end = product.last.end_byte();
    edits.push(Edit::replace(product.start..end, text::tiles(function, product, &sizes)));
    let line = function.line(product.counted.node);
    let what = match &sizes {
        Sizes { rows: Some(rows), cols: Some(cols), .. } => format!(
            "the product of line {line} goes by tiles, and a thread has `{rows}` by `{cols}` results"
        ),
        Sizes { tile, .. } => {
            format!("the product of line {line} goes by tiles of `{tile}` by `{tile}` elements")
        }
    };
    Ok(Rewrite::new(what, line, edits))
}
