//! Pictures of accesses with known costs.

use crate::virtual_gpu::error::PtxLocation;
use crate::virtual_gpu::machine::{AccessKind, AccessedMemory, WarpAccess};

use super::{AccessPicture, Units};

fn access(memory: AccessedMemory, bytes: u32, address: impl Fn(u64) -> Option<u64>) -> WarpAccess {
    let start = 1 << 40;
    let (object, base) = match memory {
        AccessedMemory::Global => (Some(("x".to_owned(), start)), start),
        AccessedMemory::Shared => (None, 0),
    };
    WarpAccess {
        place: PtxLocation::default(),
        source_line: None,
        memory,
        kind: AccessKind::Load,
        bytes,
        lanes: std::array::from_fn(|lane| address(lane as u64).map(|offset| base + offset)),
        object,
    }
}

#[test]
fn sectors_are_those_of_the_rules() {
    let check = |bytes: u32, address: fn(u64) -> Option<u64>, touched: usize, sentence: &str| {
        let picture = AccessPicture::from_access(&access(AccessedMemory::Global, bytes, address));
        let Units::Sectors(sectors) = &picture.units else { panic!("{picture:?}") };
        assert_eq!(sectors.touched.len(), touched, "{sentence}");
        assert_eq!(picture.sentence(), sentence);
        assert_eq!(picture.title(), "load of x");
        let lanes = sectors.touched.iter().fold(0, |all, sector| all | sector.lanes);
        assert_eq!(lanes.count_ones() as usize, picture.active());
    };
    check(4, |lane| Some(4 * lane), 4, "4 sectors, the minimum: 100 % of the bytes moved are used");
    check(
        4,
        |lane| Some(32 * lane),
        32,
        "32 sectors, the minimum is 4: 12.5 % of the bytes moved are used",
    );
    check(4, |_| Some(64), 1, "1 sector, the minimum: 12.5 % of the bytes moved are used");
    check(
        4,
        |lane| Some(4 * lane + 4),
        5,
        "5 sectors, the minimum is 4: 80.0 % of the bytes moved are used",
    );
    check(
        16,
        |lane| Some(16 * lane),
        16,
        "16 sectors, the minimum: 100 % of the bytes moved are used",
    );
    check(
        4,
        |lane| (lane < 8).then_some(4 * lane),
        1,
        "1 sector, the minimum: 100 % of the bytes moved are used",
    );
}

#[test]
fn banks_are_those_of_the_rules() {
    let check = |bytes: u32, address: fn(u64) -> Option<u64>, ways: u64, sentence: &str| {
        let picture = AccessPicture::from_access(&access(AccessedMemory::Shared, bytes, address));
        let Units::Banks(banks) = &picture.units else { panic!("{picture:?}") };
        assert_eq!((banks.ways, picture.sentence().as_str()), (ways, sentence));
    };
    check(4, |lane| Some(4 * lane), 1, "no bank conflict: 1 pass");
    check(4, |_| Some(0), 1, "no bank conflict: 1 pass");
    check(4, |lane| Some(4 * 33 * lane), 1, "no bank conflict: 1 pass");
    check(
        4,
        |lane| Some(8 * lane),
        2,
        "a 2-way bank conflict: 2 passes over the banks, the minimum is 1",
    );
    check(
        4,
        |lane| Some(128 * lane),
        32,
        "a 32-way bank conflict: 32 passes over the banks, the minimum is 1",
    );
    check(8, |lane| Some(8 * lane), 2, "no bank conflict: 2 passes, each of them full");
}

#[test]
fn a_lane_says_where_it_goes() {
    let picture =
        AccessPicture::from_access(&access(AccessedMemory::Global, 4, |lane| Some(32 * lane)));
    assert_eq!((picture.lanes[3], picture.units_of(3).as_str()), (Some(96), "3"));
    let picture =
        AccessPicture::from_access(&access(AccessedMemory::Shared, 8, |lane| Some(8 * lane)));
    assert_eq!(picture.units_of(16), "0, 1");
    let picture = AccessPicture::from_access(&access(AccessedMemory::Shared, 4, |lane| {
        (lane > 1).then_some(0)
    }));
    assert_eq!(picture.units_of(0), "");
}
