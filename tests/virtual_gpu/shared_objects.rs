//! What threads share: atomics, locks, flags, queues.

use super::case::{Case, Variant};
use super::number::{BF16, F16, below, floats, ints};

#[test]
fn atomics_locks_and_queues() {
    super::execution::check(&[
        atomic_ref(),
        atomics_float(),
        atomics_integer(),
        spin_lock(),
        last_block(),
        ring_queue(),
        push_all(),
        ticket_lock(),
        compact(),
        bfs(),
        unite(),
    ]);
}

/// Two blocks of 64: the second waits for a message of the first.
fn atomic_ref() -> Case {
    Case::new("atomic_ref", 2, 64)
        .also(&[Variant::AsWritten])
        .updated(&[0_i32, 0], &[256, 5])
        .updated(&[0_u32; 2], &[63; 2])
        .output(&[42_i32])
        .updated(&[0_i32], &[1])
        .output(&[42_i32])
}

fn atomics_float() -> Case {
    // 96 additions of one (and two) in each.
    let h = F16.bits(96.0) as u16;
    let pair = [h, F16.bits(192.0) as u16];
    Case::new("atomics_float", 2, 48)
        .updated(&[0.0_f32, 1.0, 0.0, 0.0], &[96.0, 3.0, 0.0, 96.0])
        .updated(&[0.0_f64; 3], &[192.0, 96.0, 96.0])
        .updated(&[0_u16], &[h])
        .updated(&[0_u16; 2], &pair)
        .updated(&[0_u16; 2], &[BF16.bits(96.0) as u16, 0])
}

fn atomics_integer() -> Case {
    let sum = (0..64).sum::<i32>();
    let i = [sum, -sum, -3, 63, 0, -1, 0];
    // 64 steps of a cycle of 18; a byte of increments; the register of the compare-and-swap is full after 16.
    let u = [64 % 18, 18 - 64 % 18, 0, 63, 64, 64, 4, 0xffff, 64, 63, 5, 64];
    let w = [8 * 255, 63, 0, u64::MAX, u64::MAX, 9, sum as u64];
    let mut u_before = [0_u32; 12];
    u_before[2] = 1000;
    let mut w_before = [0_u64; 7];
    w_before[2] = u64::MAX;
    Case::new("atomics_integer", 1, 64)
        .also(&[Variant::AsWritten])
        .updated(&[0_i32, 0, -3, 0, -1, 0, 0], &i)
        .updated(&u_before, &u)
        .updated(&w_before, &w)
        .updated(&[0_i64, 0], &[-63, 63])
        .updated(&[0_u16], &[7])
}

fn spin_lock() -> Case {
    Case::new("spin_lock", 3, 64)
        .also(&[Variant::AsWritten])
        .updated(&[0_i32], &[0])
        .updated(&[0_i32], &[192])
}

fn last_block() -> Case {
    let x: Vec<f32> = floats(500, 1).into_iter().map(|x| (x * 64.0).round()).collect();
    Case::new("spin_lock", 7, 32)
        .kernel("last_block")
        .input(&x)
        .scratch(&[0.0_f32; 7])
        .updated(&[0_u32], &[0])
        .output(&[x.iter().sum::<f32>()])
        .value(500)
}

fn same_set(found: &[i32], expected: &[i32]) -> Result<(), String> {
    let sorted = |values: &[i32]| {
        let mut values = values.to_vec();
        values.sort_unstable();
        values
    };
    if sorted(found) == sorted(expected) {
        return Ok(());
    }
    Err(format!("{found:?} are not {expected:?} in any order"))
}

fn ring_queue() -> Case {
    let values = ints(1000, 3 * 9, 2);
    let sent = values.clone();
    Case::new("queues", 6, 32)
        .kernel("ring_queue")
        .also(&[Variant::AsWritten])
        .scratch(&[0_u64; 4])
        .updated(&[0_u32; 2], &[27, 27])
        .input(&values)
        .judged(27, move |out| same_set(out, &sent))
        .value(9)
        .value(4)
}

fn push_all() -> Case {
    let values = ints(1000, 70, 3);
    let pushed = values.clone();
    let judge = move |nodes: &[i32]| {
        let of_nodes = |field: usize| nodes.chunks(2).map(|node| node[field]).collect::<Vec<i32>>();
        if of_nodes(0) != pushed {
            return Err("values are not where they were put".to_owned());
        }
        let next = of_nodes(1);
        let mut at = (0..70).find(|node| !next.contains(node)).ok_or("a cycle")?;
        for _ in 0..69 {
            at = *usize::try_from(at).ok().and_then(|at| next.get(at)).ok_or("a short list")?;
        }
        if next.get(at as usize) == Some(&-1) { Ok(()) } else { Err("no end".to_owned()) }
    };
    // The generation counts pushes; which one was last is not determined.
    let top = |top: &[u64]| match top[0] >> 32 {
        70 => Ok(()),
        other => Err(format!("{other} pushes")),
    };
    Case::new("queues", 3, 32)
        .kernel("push_all")
        .also(&[Variant::AsWritten])
        .judged(140, judge)
        .updated_judged(&[0xffff_ffff_u64], top)
        .input(&values)
        .value(70)
}

fn ticket_lock() -> Case {
    let steps: Vec<i32> = std::iter::successors(Some(0), |x| Some(x * 3 + 1)).take(11).collect();
    Case::new("queues", 5, 64)
        .kernel("ticket_lock")
        .also(&[Variant::AsWritten])
        .updated(&[0_u32], &[10])
        .updated(&[0_u32], &[10])
        .updated(&[0], &steps[10..])
        .output(&steps[..10])
}

fn compact() -> Case {
    let x: Vec<i32> = ints(200, 150, 4).into_iter().map(|x| x - 90).collect();
    let kept: Vec<i32> = x.iter().copied().filter(|x| *x >= 0).collect();
    let count = kept.len();
    let judge = move |out: &[i32]| same_set(&out[..count], &kept);
    Case::new("queues", 2, 96)
        .kernel("compact")
        .also(&[Variant::AsWritten])
        .input(&x)
        .updated_judged(&[-7; 150], judge)
        .updated(&[0], &[count as i32])
        .value(150)
}

/// Directed edges out of each of 60 nodes, in rows; the last ten have none and nothing leads to them.
fn bfs() -> Case {
    let targets = below(50, 100, 5);
    let row: Vec<i32> = (0..=60).map(|node: i32| (node * 2).min(100)).collect();
    let mut depth = vec![-1; 60];
    depth[3] = 0;
    // Relaxed until nothing changes, which is no breadth-first search.
    for _ in 0..60 {
        for (edge, to) in targets.iter().enumerate() {
            let (from, to) = (depth[edge / 2], &mut depth[*to as usize]);
            if from >= 0 && (*to < 0 || *to > from + 1) {
                *to = from + 1;
            }
        }
    }
    Case::new("graph", 1, 64)
        .kernel("bfs_block")
        .also(&[Variant::AsWritten])
        .input(&row)
        .input(&targets)
        .output(&depth)
        .scratch(&[0; 60])
        .scratch(&[0; 60])
        .value(60)
        .value(3)
}

fn unite() -> Case {
    let edges = ints(100, 2 * 60, 6);
    let mut lowest: Vec<i32> = (0..100).collect();
    for _ in 0..100 {
        for edge in edges.chunks(2) {
            let (a, b) = (edge[0] as usize, edge[1] as usize);
            let low = lowest[a].min(lowest[b]);
            (lowest[a], lowest[b]) = (low, low);
        }
    }
    let judge = move |parents: &[i32]| {
        for (node, lowest) in lowest.iter().enumerate() {
            let root = (0..100).fold(node, |at, _| parents[at] as usize);
            if root != *lowest as usize {
                return Err(format!("node {node} leads to {root}, not {lowest}"));
            }
        }
        Ok(())
    };
    Case::new("graph", 2, 32)
        .kernel("unite")
        .also(&[Variant::AsWritten])
        .input(&edges)
        .updated_judged(&(0..100).collect::<Vec<i32>>(), judge)
        .value(60)
}
