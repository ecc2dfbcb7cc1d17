//! The cache model on access sequences that can be followed by hand.

use super::{CacheAccess, CacheSizes, CacheTraffic, Caches};
use lightbench_units::Bytes;

const KIB: u64 = 1024;

/// 16 KiB of L1 on two multiprocessors, 64 KiB of L2.
fn caches() -> Caches {
    Caches::new(CacheSizes { l1: Bytes(16 * KIB), l2: Bytes(64 * KIB), multiprocessors: 2 })
}

/// Every sector of a range.
fn run(caches: &mut Caches, block: u64, range: std::ops::Range<u64>, access: CacheAccess) {
    for address in range.step_by(32) {
        caches.access(block, address, access);
    }
}

/// (L1 hit, L2 hit, read from memory, written to memory, left dirty), all in KiB.
fn check(rule: &str, caches: &Caches, expected: [u64; 5]) {
    let CacheTraffic { l1_hit, l2_hit, dram_read, dram_written, left_dirty, .. } = caches.traffic();
    let found = [l1_hit, l2_hit, dram_read, dram_written, left_dirty].map(|bytes| bytes.0);
    assert_eq!(found, expected.map(|kib| kib * KIB), "{rule}");
}

#[test]
fn what_is_read_once_comes_from_memory() {
    let mut caches = caches();
    run(&mut caches, 0, 0..256 * KIB, CacheAccess::Load);
    check("streaming", &caches, [0, 0, 256, 0, 0]);
}

#[test]
fn what_fits_into_l1_is_read_once() {
    let mut caches = caches();
    for _ in 0..3 {
        run(&mut caches, 0, 0..16 * KIB, CacheAccess::Load);
    }
    check("within L1", &caches, [32, 0, 16, 0, 0]);
}

#[test]
fn what_fits_into_l2_alone_is_served_there() {
    let mut caches = caches();
    for _ in 0..3 {
        run(&mut caches, 0, 0..64 * KIB, CacheAccess::Load);
    }
    check("within L2", &caches, [0, 128, 64, 0, 0]);
}

#[test]
fn what_fits_nowhere_comes_from_memory_each_time() {
    let mut caches = caches();
    for _ in 0..3 {
        run(&mut caches, 0, 0..128 * KIB, CacheAccess::Load);
    }
    check("thrashing", &caches, [0, 0, 384, 0, 0]);
}

#[test]
fn multiprocessors_have_an_l1_each() {
    let mut caches = caches();
    for block in 0..4 {
        run(&mut caches, block, 0..8 * KIB, CacheAccess::Load);
    }
    check("two cold, two warm", &caches, [16, 8, 8, 0, 0]);
}

#[test]
fn stores_pass_l1_and_stay_in_l2_until_displaced() {
    let mut caches = caches();
    run(&mut caches, 0, 0..128 * KIB, CacheAccess::Store);
    check("half is displaced", &caches, [0, 0, 0, 64, 64]);
    run(&mut caches, 0, 120 * KIB..128 * KIB, CacheAccess::Load);
    check("not in L1, but in L2", &caches, [0, 8, 0, 64, 64]);
}

#[test]
fn neighbours_in_a_line_are_sectors_of_their_own() {
    let mut caches = caches();
    for _ in 0..2 {
        for line in 0..32 {
            caches.access(0, line * 128, CacheAccess::Load);
        }
    }
    check("a quarter of each line", &caches, [1, 0, 1, 0, 0]);
    run(&mut caches, 0, 0..4 * KIB, CacheAccess::Load);
    check("the rest of each line", &caches, [2, 0, 4, 0, 0]);
}

#[test]
fn loads_through_and_read_modify_writes_skip_l1() {
    let mut caches = caches();
    for _ in 0..2 {
        run(&mut caches, 0, 0..4 * KIB, CacheAccess::LoadThrough);
    }
    check("served by L2", &caches, [0, 4, 4, 0, 0]);
    run(&mut caches, 0, 0..4 * KIB, CacheAccess::ReadModifyWrite);
    check("changed in L2", &caches, [0, 8, 4, 0, 4]);
}

#[test]
fn no_size_is_too_odd() {
    for (l1, l2) in [(0, 0), (1, u64::MAX), (u64::MAX, 100), (3000, 5000)] {
        let sizes = CacheSizes { l1: Bytes(l1), l2: Bytes(l2), multiprocessors: u32::MAX };
        let mut caches = Caches::new(sizes);
        for access in [CacheAccess::Load, CacheAccess::Store, CacheAccess::ReadModifyWrite] {
            run(&mut caches, u64::MAX, u64::MAX - 100..u64::MAX, access);
        }
        let traffic = caches.traffic();
        assert!(traffic.l2_read.0 > 0, "{l1} {l2}");
    }
}
