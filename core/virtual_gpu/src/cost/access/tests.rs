//! Costs of requests whose result can be computed by hand.

use super::{Direction, Request, Touched, shared_wavefronts};

const ALL: u32 = u32::MAX;

fn request(address: impl Fn(u64) -> u64) -> [u64; 32] {
    std::array::from_fn(|lane| address(lane as u64))
}

#[test]
fn sectors_lines_and_distinct_bytes_of_global_accesses() {
    let check = |rule: &str, addresses: [u64; 32], mask, bytes, expected: [u64; 4]| {
        let request = Request { addresses: &addresses, mask, bytes };
        let [sectors, lines, distinct_bytes, wavefronts] = expected;
        let touched = request.touched();
        let bytes = u64::from(bytes) * u64::from(mask.count_ones());
        assert_eq!(touched, Touched { sectors, lines, distinct_bytes, bytes }, "{rule}");
        assert_eq!(touched.wavefronts(), wavefronts, "{rule}");
    };
    check("words side by side", request(|lane| 4 * lane), ALL, 4, [4, 1, 128, 1]);
    check("backwards is the same", request(|lane| 4 * (31 - lane)), ALL, 4, [4, 1, 128, 1]);
    check("not aligned takes one more", request(|lane| 4 + 4 * lane), ALL, 4, [5, 2, 128, 1]);
    check("every other word", request(|lane| 8 * lane), ALL, 4, [8, 2, 128, 1]);
    check("a sector each", request(|lane| 32 * lane), ALL, 4, [32, 8, 128, 2]);
    check("a line each", request(|lane| 128 * lane), ALL, 4, [32, 32, 128, 8]);
    check("one word for all", request(|_| 64), ALL, 4, [1, 1, 4, 1]);
    check("16 bytes each", request(|lane| 16 * lane), ALL, 16, [16, 4, 512, 4]);
    check("bytes side by side", request(|lane| lane), ALL, 1, [1, 1, 32, 1]);
    check("two rows of 16 words", request(|l| l / 16 * 4096 + l % 16 * 4), ALL, 4, [4, 2, 128, 1]);
    check("8 lanes of one sector", request(|lane| 4 * lane), 0xff, 4, [1, 1, 32, 1]);
    check("overlapping 8 bytes", request(|lane| 4 * (lane / 2)), ALL, 8, [3, 1, 68, 2]);
    check("nobody", request(|lane| 4 * lane), 0, 4, [0, 0, 0, 0]);
}

#[test]
fn the_end_of_the_address_space_is_no_trap() {
    let addresses = request(|lane| u64::MAX - lane);
    let touched = Request { addresses: &addresses, mask: ALL, bytes: 16 }.touched();
    assert_eq!((touched.sectors, touched.lines), (1, 1));
}

#[test]
fn passes_over_shared_memory() {
    let check = |rule: &str, addresses: [u64; 32], bytes, expected: (u64, u64)| {
        let request = Request { addresses: &addresses, mask: ALL, bytes };
        assert_eq!(shared_wavefronts(&request, Direction::Store), expected, "{rule}");
        if !rule.contains("store") {
            assert_eq!(shared_wavefronts(&request, Direction::Load), expected, "{rule}");
        }
    };
    check("stride 1", request(|lane| 4 * lane), 4, (1, 0));
    check("stride 2", request(|lane| 4 * 2 * lane), 4, (2, 1));
    check("stride 3 meets every bank", request(|lane| 4 * 3 * lane), 4, (1, 0));
    check("stride 4", request(|lane| 4 * 4 * lane), 4, (4, 3));
    check("stride 32 is one bank", request(|lane| 4 * 32 * lane), 4, (32, 31));
    check("stride 33 is padded", request(|lane| 4 * 33 * lane), 4, (1, 0));
    check("one word", request(|_| 40), 4, (1, 0));
    check("bytes of one word", request(|lane| lane), 1, (1, 0));
    check("halves of two rows", request(|lane| 128 * (lane % 2) + 2 * (lane / 2)), 2, (2, 1));
    check("8 bytes side by side", request(|lane| 8 * lane), 8, (2, 0));
    check("8 bytes, stride 2", request(|lane| 16 * lane), 8, (4, 2));
    check("16 bytes side by side", request(|lane| 16 * lane), 16, (4, 0));
    check("16 bytes, stride 2", request(|lane| 32 * lane), 16, (8, 4));
    check("16 bytes of one bank group", request(|lane| 128 * lane), 16, (32, 28));
    check("8 bytes for all, store", request(|_| 8), 8, (2, 0));
    check("16 bytes for all, store", request(|_| 16), 16, (4, 0));
}

#[test]
fn loads_of_pairs_go_together() {
    let check = |rule: &str, addresses: [u64; 32], mask, bytes, expected: (u64, u64)| {
        let request = Request { addresses: &addresses, mask, bytes };
        assert_eq!(shared_wavefronts(&request, Direction::Load), expected, "{rule}");
    };
    check("8 bytes for all", request(|_| 8), ALL, 8, (1, 0));
    check("16 bytes for all", request(|_| 16), ALL, 16, (2, 0));
    check("16 bytes by neighbours", request(|lane| 16 * (lane / 2)), ALL, 16, (2, 0));
    check("16 bytes by n and n^2", request(|l| 16 * (l / 4 * 2 + l % 2)), ALL, 16, (2, 0));
    check("16 bytes by fours, apart", request(|lane| 16 * (lane % 8)), ALL, 16, (4, 0));
    check("8 bytes by neighbours in half", request(|lane| 8 * (lane / 2)), ALL, 8, (1, 0));
    check("8 bytes, half a warp", request(|lane| 8 * lane), 0xffff, 8, (1, 0));
}

#[test]
fn lanes_at_one_address() {
    let check = |rule: &str, addresses: [u64; 32], mask, most, different| {
        let request = Request { addresses: &addresses, mask, bytes: 4 };
        assert_eq!(request.most_at_one_address(), most, "{rule}");
        assert_eq!(request.different_addresses(), different, "{rule}");
    };
    check("each its own", request(|lane| 4 * lane), ALL, 1, 32);
    check("all one", request(|_| 4), ALL, 32, 1);
    check("four bins", request(|lane| 4 * (lane % 4)), ALL, 8, 4);
    check("one crowded bin", request(|lane| 4 * lane.saturating_sub(9)), ALL, 10, 23);
    check("nobody", request(|lane| lane), 0, 0, 0);
}

#[test]
fn own_memory_lies_side_by_side() {
    let check = |rule: &str, addresses: [u64; 32], mask, bytes, sectors| {
        let request = Request { addresses: &addresses, mask, bytes };
        assert_eq!(request.local_sectors(), sectors, "{rule}");
    };
    check("the same word", request(|_| 16), ALL, 4, 4);
    check("the same 8 bytes", request(|_| 16), ALL, 8, 8);
    check("the same byte", request(|_| 17), ALL, 1, 4);
    check("a word each", request(|lane| 4 * lane), ALL, 4, 32);
    check("8 lanes", request(|_| 16), 0xff, 4, 1);
}
