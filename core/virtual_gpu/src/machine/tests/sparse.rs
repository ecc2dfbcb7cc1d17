//! Products with a sparse A against recordings of an H200. There they agree with products of the elements of B that the
//! metadata select: of 358,400 sums of `mma.sp` and 71,680 of `wgmma`, in all types, no bit differed.

use super::harness::module;
use crate::machine::{Access, Argument, DeviceShape, InitialContent, LaunchConfig, Machine};

const RECORDED: &str = include_str!("recorded/sparse_products.txt");

/// A recorded product.
struct Case<'r> {
    instruction: &'r str,
    shape: &'r str,
    ty: &'r str,
    sum: &'r str,
    /// Warps, which have 16 rows each.
    warps: usize,
    length: usize,
    /// The size of an element.
    bits: usize,
    generator: Generator,
}

/// The generator of the recorded inputs.
struct Generator(u32);

impl Generator {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0
    }

    fn element(&mut self, ty: &str) -> u32 {
        let bits = self.next();
        let (sign, exponent) = (bits >> 31, bits >> 8 & 7);
        match ty {
            "f16" => sign << 15 | (exponent + 11) << 10 | bits >> 20 & 0x3ff,
            "bf16" => sign << 15 | (exponent + 123) << 7 | bits >> 20 & 0x7f,
            "tf32" => sign << 31 | (exponent + 123) << 23 | (bits >> 20 & 0x3ff) << 13,
            "f32" => sign << 31 | (exponent + 123) << 23 | bits >> 9 & 0x7f_ffff,
            "e4m3" => sign << 7 | ((bits >> 8) % 12 + 1) << 3 | bits >> 20 & 7,
            "e5m2" => sign << 7 | ((bits >> 8) % 12 + 8) << 2 | bits >> 20 & 3,
            "s8" => bits >> 24,
            "s4" => bits >> 28,
            _ => bits,
        }
    }
}

/// The positions of two elements of a group of four.
const PAIRS: [[u32; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

impl<'r> Case<'r> {
    fn parse(parameters: &'r str) -> Self {
        let words: Vec<&str> = parameters.split(' ').collect();
        let [instruction, shape, ty, sum, seed] = words[..] else { panic!("{parameters}") };
        Self {
            instruction,
            shape,
            ty,
            sum,
            warps: if instruction == "mma" { 1 } else { 4 },
            length: shape.rsplit('k').next().unwrap().parse().unwrap(),
            bits: match ty {
                "tf32" => 32,
                "f16" | "bf16" => 16,
                "s4" => 4,
                _ => 8,
            },
            generator: Generator(seed.parse().unwrap()),
        }
    }

    fn threads(&self) -> usize {
        32 * self.warps
    }

    /// Registers of A and B of a thread.
    fn registers(&self) -> usize {
        if self.length * self.bits == 512 { 4 } else { 2 }
    }

    fn has_half_sums(&self) -> bool {
        self.sum == "f16"
    }

    /// The words of all threads: four registers each of A, B and C, the metadata, and for `wgmma` B as in shared memory.
    fn inputs(&mut self) -> Vec<u32> {
        let (threads, rows, present) = (self.threads(), 16 * self.warps, self.length / 2);
        let each = 32 / self.bits;
        let mut words = vec![vec![0_u32; threads]; 14];
        let ty = self.ty;
        let mut draw =
            |count: usize| -> Vec<u32> { (0..count).map(|_| self.generator.element(ty)).collect() };
        let (a, b) = (draw(rows * present), draw(8 * self.length));
        for (register, words) in words[..self.registers()].iter_mut().enumerate() {
            for (thread, word) in words.iter_mut().enumerate() {
                let row = thread / 32 * 16 + thread % 32 / 4 + 8 * (register % 2);
                let first = thread % 4 * each + register / 2 * 4 * each;
                *word = pack(&a[row * present + first..][..each], self.bits);
            }
        }
        for (register, words) in words[4..4 + self.registers()].iter_mut().enumerate() {
            for (thread, word) in words.iter_mut().enumerate() {
                let first = thread % 4 * each + register * 4 * each;
                *word = pack(&b[thread % 32 / 4 * self.length + first..][..each], self.bits);
            }
        }
        self.describe(rows, &mut words[12]);
        let sums: Vec<u32> = (0..rows * 8).map(|_| self.generator.element(self.sum)).collect();
        let count = if self.has_half_sums() { 2 } else { 4 };
        for (register, words) in words[8..8 + count].iter_mut().enumerate() {
            for (thread, word) in words.iter_mut().enumerate() {
                let of_thread = places(thread).map(|[row, column]| sums[row * 8 + column]);
                *word = if self.has_half_sums() {
                    pack(&of_thread[2 * register..][..2], 16)
                } else {
                    of_thread[register]
                };
            }
        }
        if self.instruction == "wgmma" {
            // Matrices of 8 columns by 16 bytes, one after the other.
            for (word, place) in words[13].iter_mut().enumerate() {
                let (matrix, column, quarter) = (word / 32, word % 32 / 4, word % 4);
                let first = (4 * matrix + quarter) * each;
                *place = pack(&b[column * self.length + first..][..each], self.bits);
            }
        }
        words.concat()
    }

    /// Draws the positions of the elements of A.
    fn describe(&mut self, rows: usize, metadata: &mut [u32]) {
        let group = match self.bits {
            32 => 2,
            4 => 8,
            _ => 4,
        };
        for row in 0..rows {
            for number in 0..self.length / group {
                let draw = self.generator.next() >> 16;
                let four = if self.bits == 32 {
                    if draw % 2 == 1 { 0b1110 } else { 0b0100 }
                } else {
                    let [first, second] = PAIRS[draw as usize % 6];
                    first | second << 2
                };
                let half = row % 16 / 8;
                let (lane, nibble) = if self.bits >= 16 {
                    (number / 4, number % 4 + 4 * half)
                } else {
                    (half + 2 * (number / 8), number % 8)
                };
                let thread = row / 16 * 32 + row % 8 * 4 + lane;
                metadata[thread] |= four << (4 * nibble);
            }
        }
    }

    fn text(&self) -> String {
        let Self { shape, ty, sum, .. } = self;
        let threads = self.threads();
        let list = |name: char, count: usize| {
            let names: Vec<String> = (0..count).map(|index| format!("%{name}{index}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let sums = if self.has_half_sums() { 2 } else { 4 };
        let (a, b) = (list('a', self.registers()), list('b', self.registers()));
        let (c, d) = (list('c', sums), list('d', sums));
        let loads: String = ["a", "b", "c"]
            .iter()
            .enumerate()
            .flat_map(|(which, name)| (0..4).map(move |index| (4 * which + index, name, index)))
            .map(|(at, name, index)| {
                format!("ld.global.b32 %{name}{index}, [%x0+{}];\n", 4 * at * threads)
            })
            .collect();
        let product = if self.instruction == "mma" {
            format!(
                "mma.sp::ordered_metadata.sync.aligned.{shape}.row.col.{sum}.{ty}.{ty}.{sum} {d}, {a}, {b}, {c}, %m, 0;\n"
            )
        } else {
            let scales = match *ty {
                "f16" | "bf16" => ", 1, 1, 0",
                "s8" => "",
                _ => ", 1, 1",
            };
            let copies: String =
                (0..4).map(|index| format!("mov.b32 %d{index}, %c{index};\n")).collect();
            format!(
                "ld.global.b32 %r1, [%x0+{}];\nadd.u32 %r2, %r2, %r0;\nst.shared.b32 [%r2], %r1;\nfence.proxy.async;\n\
                 bar.sync 0;\n{copies}wgmma.fence.sync.aligned;\n\
                 wgmma.mma_async.sp.sync.aligned.{shape}.{sum}.{ty}.{ty} {d}, {a}, %x2, %m, 0, %p0{scales};\n\
                 wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
                4 * 13 * threads
            )
        };
        let stores: String = (0..sums)
            .map(|index| format!("st.global.b32 [%x1+{}], %d{index};\n", 4 * index * threads))
            .collect();
        format!(
            ".version 8.5\n.target sm_90a\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 y)\n{{\n.reg .b32 %a<4>, %b<4>, %c<4>, %d<4>, %r<4>, %m;\n\
             .reg .b64 %x<4>;\n.reg .pred %p<2>;\n.shared .align 128 .b8 s[512];\n\
             ld.param.u64 %x0, [x];\nld.param.u64 %x1, [y];\nmov.u32 %r0, %tid.x;\nshl.b32 %r0, %r0, 2;\n\
             cvt.u64.u32 %x3, %r0;\nadd.u64 %x0, %x0, %x3;\nadd.u64 %x1, %x1, %x3;\n\
             mov.u32 %r2, s;\nand.b32 %r3, %r2, 0x3ffff;\nshr.u32 %r3, %r3, 4;\ncvt.u64.u32 %x2, %r3;\nor.b64 %x2, %x2, 0x800080000;\n\
             setp.eq.u32 %p0, 0, 0;\n{loads}ld.global.b32 %m, [%x0+{}];\n{product}{stores}ret;\n}}\n",
            4 * 12 * threads
        )
    }

    /// D by rows.
    fn run(&mut self) -> Vec<u32> {
        let inputs = self.inputs();
        let module = module(&self.text());
        let mut machine = Machine::new(DeviceShape::default());
        let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_le_bytes()).collect();
        let length = bytes.len() as u64;
        let x =
            machine.buffer("x", length, Access::ReadOnly, InitialContent::Bytes(bytes)).unwrap();
        let length = 16 * self.threads() as u64;
        let y =
            machine.buffer("y", length, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
        let arguments = vec![Argument::Buffer(x), Argument::Buffer(y)];
        let config = LaunchConfig::new([1; 3], [self.threads() as u32, 1, 1], arguments);
        let report = machine.launch(&module, "k", &config).unwrap();
        assert!(report.faults.is_empty(), "{:?}", report.faults);
        let words: Vec<u32> = machine
            .read(y)
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        let mut sums = vec![0; 16 * self.warps * 8];
        for thread in 0..self.threads() {
            for (index, [row, column]) in places(thread).into_iter().enumerate() {
                sums[row * 8 + column] = if self.has_half_sums() {
                    words[index / 2 * self.threads() + thread] >> (16 * (index % 2)) & 0xffff
                } else {
                    words[index * self.threads() + thread]
                };
            }
        }
        sums
    }
}

fn pack(elements: &[u32], bits: usize) -> u32 {
    let all = elements.iter().enumerate();
    all.fold(0, |word, (index, element)| word | element << (index * bits))
}

/// Row and column of the four sums of a thread.
fn places(thread: usize) -> [[usize; 2]; 4] {
    let (row, column) = (thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2);
    [[row, column], [row, column + 1], [row + 8, column], [row + 8, column + 1]]
}

#[test]
fn sparse_products_agree_with_an_h200() {
    let check = |line: &str| {
        let (parameters, expected) = line.split_once(": ").unwrap();
        let words = expected.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap());
        assert_eq!(Case::parse(parameters).run(), words.collect::<Vec<u32>>(), "{parameters}");
    };
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.map(check).count(), 21);
}
