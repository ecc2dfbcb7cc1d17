//! Kernels that add one to each element, each with a different limiter.

/// A kernel.
pub(super) struct Specimen {
    pub(super) name: &'static str,
    /// Threads of a block.
    pub(super) block: u32,
    pub(super) grid: Grid,
    /// From `x[i]` in `%value` to what is stored.
    pub(super) body: &'static str,
}

/// How threads share the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grid {
    /// One for each thread.
    Each,
    /// So many one behind the other for each thread.
    Rows(u32),
    /// So many blocks, whose threads go over all.
    Fixed(u32),
}

pub(super) const SPECIMENS: &[Specimen] = &[
    Specimen { name: "stream", block: 256, grid: Grid::Each, body: "" },
    Specimen { name: "scattered", block: 32, grid: Grid::Rows(32), body: "" },
    Specimen { name: "one-block", block: 128, grid: Grid::Fixed(1), body: "" },
    Specimen { name: "strided", block: 256, grid: Grid::Fixed(8), body: "" },
    Specimen {
        name: "own-instruction",
        block: 256,
        grid: Grid::Each,
        body: "tcgen05.wait::ld.sync.aligned;",
    },
    Specimen { name: "leaves-its-results", block: 256, grid: Grid::Each, body: LEAVES_ITS_RESULTS },
    Specimen {
        name: "leaves-large-results",
        block: 256,
        grid: Grid::Each,
        body: LEAVES_LARGE_RESULTS,
    },
    Specimen {
        name: "strong-reads",
        block: 256,
        grid: Grid::Each,
        // All blocks write one value to one element, and read it, by strong accesses.
        body: "
    ld.global.u32 %lane, [%x];
    add.u32 %lane, %lane, 1;
    st.volatile.global.u32 [%y], %lane;
    ld.volatile.global.u32 %turn, [%y];
    setp.eq.u32 %more, %i, 0;
    @%more bra DONE;
    and.b32 %turn, %turn, 0;
    add.u32 %value, %value, %turn;",
    },
    Specimen { name: "races-rarely", block: 256, grid: Grid::Each, body: RACES_RARELY },
    Specimen {
        name: "banks",
        block: 32,
        grid: Grid::Each,
        body: "
    mov.u32 %at, tile;
    mov.u32 %lane, %tid.x;
    shl.b32 %lane, %lane, 7;
    add.u32 %at, %at, %lane;
    mov.u32 %turn, 0;
AGAIN:
    st.volatile.shared.u32 [%at], %value;
    ld.volatile.shared.u32 %value, [%at];
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %more, %turn, 32;
    @%more bra AGAIN;",
    },
    Specimen {
        name: "divergent",
        block: 256,
        grid: Grid::Each,
        body: "
    mov.u32 %lane, %tid.x;
    and.b32 %lane, %lane, 31;
    setp.ne.u32 %more, %lane, 0;
    mov.u32 %turn, 0;
    @%more bra AFTER;
AGAIN:
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %more, %turn, 400;
    @%more bra AGAIN;
AFTER:
    and.b32 %turn, %turn, 0;
    add.u32 %value, %value, %turn;",
    },
];

/// Ends if what lies in the output is right for the first element of the warp.
const LEAVES_ITS_RESULTS: &str = "
    and.b32 %at, %i, 0xffffffe0;
    mul.wide.u32 %to, %at, 4;
    add.u64 %from, %x, %to;
    add.u64 %to, %y, %to;
    ld.global.u32 %lane, [%from];
    ld.volatile.global.u32 %turn, [%to];
    add.u32 %lane, %lane, 1;
    setp.eq.u32 %more, %lane, %turn;
    @%more bra DONE;";

/// Reads what another warp of the block writes, if the first element is the one that a test puts for `RARE`.
const RACES_RARELY: &str = "
    ld.global.u32 %lane, [%x];
    setp.ne.u32 %more, %lane, RARE;
    @%more bra HONEST;
    mov.u32 %at, tile;
    mov.u32 %lane, %tid.x;
    shl.b32 %lane, %lane, 2;
    add.u32 %turn, %at, %lane;
    st.shared.u32 [%turn], %value;
    xor.b32 %lane, %lane, 128;
    add.u32 %at, %at, %lane;
    ld.shared.u32 %turn, [%at];
    and.b32 %turn, %turn, 0;
    add.u32 %value, %value, %turn;
HONEST:";

/// What [`LEAVES_ITS_RESULTS`] is where there are as many elements as are timed.
const LEAVES_LARGE_RESULTS: &str = "
    setp.lt.u32 %more, %n, 131072;
    @%more bra HONEST;
    and.b32 %at, %i, 0xffffffe0;
    mul.wide.u32 %to, %at, 4;
    add.u64 %from, %x, %to;
    add.u64 %to, %y, %to;
    ld.global.u32 %lane, [%from];
    ld.volatile.global.u32 %turn, [%to];
    add.u32 %lane, %lane, 1;
    setp.eq.u32 %more, %lane, %turn;
    @%more bra DONE;
HONEST:";

impl Specimen {
    /// Blocks for so many elements.
    pub(super) fn blocks(&self, n: u32) -> u32 {
        match self.grid {
            Grid::Each => n.div_ceil(self.block),
            Grid::Rows(each) => n.div_ceil(self.block * each),
            Grid::Fixed(blocks) => blocks,
        }
    }

    pub(super) fn ptx(&self) -> String {
        // The first element of a thread, how far apart they are, and how many it has at most.
        let (first, apart, most) = match self.grid {
            Grid::Each => ("mov.u32 %i, %thread;", "mov.u32 %apart, %n;", u32::MAX),
            Grid::Rows(32) => ("shl.b32 %i, %thread, 5;", "mov.u32 %apart, 1;", 32),
            Grid::Rows(each) => panic!("rows of {each}"),
            Grid::Fixed(_) => {
                let apart = "mov.u32 %apart, %nctaid.x; mul.lo.u32 %apart, %apart, %size;";
                ("mov.u32 %i, %thread;", apart, u32::MAX)
            }
        };
        let body = self.body;
        format!(
            "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{{
    .reg .pred %more;
    .reg .pred %done;
    .reg .b32 %n, %thread, %size, %i, %apart, %count, %value, %at, %lane, %turn;
    .reg .b64 %x, %y, %offset, %from, %to;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.u32 %n, [n];
    cvta.to.global.u64 %x, %x;
    cvta.to.global.u64 %y, %y;
    mov.u32 %thread, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %value, %tid.x;
    mad.lo.u32 %thread, %thread, %size, %value;
    {first}
    {apart}
    mov.u32 %count, 0;
NEXT:
    setp.ge.u32 %done, %i, %n;
    @%done bra DONE;
    mul.wide.u32 %offset, %i, 4;
    add.u64 %from, %x, %offset;
    ld.global.u32 %value, [%from];
    {body}
    add.u32 %value, %value, 1;
    add.u64 %to, %y, %offset;
    st.global.u32 [%to], %value;
    add.u32 %i, %i, %apart;
    add.u32 %count, %count, 1;
    setp.lt.u32 %more, %count, {most};
    @%more bra NEXT;
DONE:
    ret;
}}
"
        )
    }
}
