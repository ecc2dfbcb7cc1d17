//! Bytes to a kernel of straight-line and structured code, in which every value is defined and every loop ends.

/// Statements of a program at most.
const MOST_STATEMENTS: u32 = 80;
/// Branches and loops inside each other.
const DEEPEST: u32 = 3;

/// Instructions by their operands: `r` is a register of 32 bits, `d` of 64, `h` of 16, `p` a predicate, `i` a small
/// constant, `t` a table; the first letter is the result. Quotients of integers are not among them: those by zero are open.
const TEMPLATES: &[(&str, &[&str])] = &[
    (
        "rrr",
        &[
            "add.s32",
            "sub.s32",
            "mul.lo.s32",
            "mul.hi.s32",
            "mul.hi.u32",
            "add.sat.s32",
            "sub.sat.s32",
            "min.s32",
            "max.u32",
            "min.u32",
            "max.relu.s32",
            "and.b32",
            "or.b32",
            "xor.b32",
            "shl.b32",
            "shr.s32",
            "shr.u32",
            "mul24.lo.s32",
            "mul24.hi.u32",
            "add.s16x2",
            "min.s16x2",
            "max.u16x2",
            "bmsk.clamp.b32",
            "bmsk.wrap.b32",
            "szext.clamp.s32",
            "szext.wrap.u32",
            "add.rn.f32",
            "add.rz.f32",
            "add.rm.f32",
            "add.rp.f32",
            "sub.f32",
            "mul.rn.f32",
            "mul.rp.f32",
            "mul.ftz.f32",
            "add.sat.f32",
            "div.rn.f32",
            "div.rz.f32",
            "min.f32",
            "max.f32",
            "copysign.f32",
            "set.lt.u32.s32",
            "set.gtu.f32.f32",
            "add.f16x2",
            "mul.bf16x2",
            "max.f16x2",
            "cvt.rn.f16x2.f32",
            "cvt.rz.bf16x2.f32",
            "set.eq.f32.s32",
            "add.ftz.f32",
            "sub.ftz.f32",
        ],
    ),
    (
        "rrrr",
        &[
            "mad.lo.s32",
            "mad.hi.u32",
            "mad.hi.sat.s32",
            "sad.s32",
            "sad.u32",
            "dp4a.s32.u32",
            "dp4a.u32.u32",
            "dp2a.lo.s32.s32",
            "dp2a.hi.u32.u32",
            "shf.l.wrap.b32",
            "shf.r.clamp.b32",
            "shf.r.wrap.b32",
            "prmt.b32",
            "prmt.b32.f4e",
            "prmt.b32.rc8",
            "bfe.u32",
            "bfe.s32",
            "fma.rn.f32",
            "fma.rz.f32",
            "fma.rp.ftz.f32",
            "fma.rn.sat.f32",
            "slct.b32.s32",
            "slct.b32.f32",
            "fma.rn.f16x2",
            "fma.rn.relu.bf16x2",
            "vabsdiff4.u32.s32.u32.add",
            "vabsdiff4.s32.s32.s32.sat",
            "vadd.s32.u32.s32.sat.add",
            "vsub.u32.s32.s32.sat.min",
            "vshl.s32.u32.u32.sat.clamp.max",
            "vshr.u32.s32.u32.wrap.add",
            "vmad.s32.s32.u32.sat.shr7",
            "vmad.u32.u32.u32.po",
            "vavrg2.s32.s32.s32.sat",
            "vset4.u32.s32.lt.add",
            "vsub2.u32.s32.u32",
            "mad24.lo.u32",
            "mad24.hi.sat.s32",
        ],
    ),
    (
        "rr",
        &[
            "neg.s32",
            "abs.s32",
            "not.b32",
            "cnot.b32",
            "popc.b32",
            "clz.b32",
            "brev.b32",
            "bfind.u32",
            "bfind.s32",
            "bfind.shiftamt.s32",
            "abs.f32",
            "neg.f32",
            "rcp.rn.f32",
            "sqrt.rn.f32",
            "cvt.rn.f32.s32",
            "cvt.rp.f32.u32",
            "cvt.rzi.s32.f32",
            "cvt.rni.u32.f32",
            "cvt.rmi.s32.f32",
            "cvt.rpi.f32.f32",
            "cvt.sat.f32.f32",
            "cvt.s32.s8",
            "cvt.u32.u16",
            "cvt.sat.s16.s32",
            "cvt.sat.u8.s32",
            "mov.b32",
            "cvt.rzi.s8.f32",
            "cvt.rni.f32.f32",
        ],
    ),
    (
        "rd",
        &[
            "cvt.u32.u64",
            "cvt.sat.s32.s64",
            "cvt.rn.f32.f64",
            "cvt.rm.f32.f64",
            "cvt.rzi.s32.f64",
            "popc.b64",
            "clz.b64",
            "bfind.u64",
            "cvt.rn.f32.u64",
        ],
    ),
    ("rh", &["cvt.s32.s16", "cvt.f32.f16", "cvt.f32.bf16", "cvt.u32.u16", "cvt.rni.s32.f16"]),
    (
        "ddd",
        &[
            "add.s64",
            "sub.u64",
            "mul.lo.u64",
            "mul.hi.u64",
            "mul.hi.s64",
            "min.s64",
            "max.u64",
            "and.b64",
            "xor.b64",
            "add.rn.f64",
            "sub.rz.f64",
            "mul.rp.f64",
            "mul.rn.f64",
            "div.rm.f64",
            "div.rn.f64",
            "min.f64",
            "max.f64",
        ],
    ),
    ("dddd", &["mad.lo.s64", "fma.rn.f64", "fma.rz.f64", "sad.u64"]),
    ("ddr", &["shl.b64", "shr.s64", "shr.u64"]),
    ("drr", &["mul.wide.s32", "mul.wide.u32"]),
    ("drrd", &["mad.wide.s32", "mad.wide.u32"]),
    (
        "dr",
        &[
            "cvt.s64.s32",
            "cvt.u64.u32",
            "cvt.rn.f64.s32",
            "cvt.f64.f32",
            "cvt.rzi.s64.f32",
            "cvt.rpi.u64.f32",
        ],
    ),
    (
        "dd",
        &[
            "neg.s64",
            "abs.s64",
            "not.b64",
            "brev.b64",
            "rcp.rn.f64",
            "sqrt.rn.f64",
            "abs.f64",
            "cvt.rmi.f64.f64",
        ],
    ),
    (
        "hhh",
        &[
            "add.u16",
            "sub.s16",
            "mul.lo.u16",
            "mul.hi.s16",
            "max.s16",
            "and.b16",
            "add.f16",
            "sub.bf16",
            "mul.f16",
            "min.f16",
            "max.NaN.bf16",
            "add.sat.f16",
        ],
    ),
    ("hhhh", &["mad.lo.s16", "fma.rn.f16", "fma.rn.bf16", "fma.rn.sat.f16"]),
    ("hhr", &["shl.b16", "shr.s16"]),
    (
        "hr",
        &[
            "cvt.u16.u32",
            "cvt.rn.f16.f32",
            "cvt.rz.f16.f32",
            "cvt.rn.bf16.f32",
            "cvt.rz.bf16.f32",
            "cvt.rn.relu.f16.f32",
            "cvt.sat.u16.s32",
            "cvt.rn.f16.s32",
        ],
    ),
    ("hd", &["cvt.u16.u64", "cvt.rn.f16.f64"]),
    (
        "prr",
        &[
            "setp.lt.s32",
            "setp.hs.u32",
            "setp.eq.b32",
            "setp.lt.f32",
            "setp.geu.f32",
            "setp.ne.ftz.f32",
            "setp.nan.f32",
        ],
    ),
    ("pdd", &["setp.gt.s64", "setp.lo.u64", "setp.le.f64", "setp.neu.f64"]),
    ("phh", &["setp.lt.s16", "setp.gt.f16", "setp.equ.bf16"]),
    ("prrp", &["setp.lt.and.s32", "setp.gt.xor.u32", "setp.ltu.or.f32"]),
    ("ppp", &["and.pred", "or.pred", "xor.pred"]),
    ("rrrp", &["selp.b32"]),
    ("dddp", &["selp.b64"]),
    ("rrrii", &["bfi.b32"]),
    ("rrii", &["bfe.u32", "bfe.s32"]),
    ("dddrr", &["bfi.b64"]),
    ("rrrrt", &["lop3.b32"]),
];

/// Constants that bring out edges.
const CONSTANTS: &[u64] = &[
    0,
    1,
    2,
    7,
    31,
    32,
    63,
    64,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0x7f7f_ffff,
    0x0080_0000,
    0x0000_0001,
    0x7fc0_0000,
    0xff80_0000,
    0x3ff0_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x47ef_ffff_f000_0000,
];

/// The bytes that decide; zeros behind their end.
struct Source<'b> {
    bytes: &'b [u8],
    left: u32,
}

impl Source<'_> {
    fn next(&mut self) -> u32 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        u32::from(*first)
    }

    fn below(&mut self, end: usize) -> usize {
        let value = self.next() << 8 | self.next();
        value as usize % end.max(1)
    }

    /// Whether another statement is to be made.
    fn goes_on(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 && !self.bytes.is_empty()
    }
}

/// How constants among the operands of an instruction are written.
#[derive(Clone, Copy)]
enum Constants {
    Never,
    Whole,
    Single,
    Double,
}

impl Constants {
    /// Where several types meet, or halves, there are none.
    fn from_spelling(spelling: &str) -> Self {
        let mut types: Vec<&str> =
            spelling.split('.').skip(1).filter(|word| is_type(word)).collect();
        types.dedup();
        match types[..] {
            ["f32"] => Self::Single,
            ["f64"] => Self::Double,
            _ if types.iter().any(|ty| ty.starts_with('f') || ty.starts_with("bf")) => Self::Never,
            _ => Self::Whole,
        }
    }
}

fn is_type(word: &str) -> bool {
    let digits = word.trim_start_matches(['b', 'f', 'u', 's']);
    digits.len() < word.len() && digits.starts_with(|first: char| first.is_ascii_digit())
}

struct Writer<'b> {
    source: Source<'b>,
    text: String,
    labels: u32,
}

/// The kernel that some bytes stand for; any bytes stand for one.
pub(crate) fn text(bytes: &[u8]) -> String {
    let source = Source { bytes, left: MOST_STATEMENTS };
    let mut writer = Writer { source, text: String::new(), labels: 0 };
    writer.text.push_str(
        ".version 8.7\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 slices, .param .u64 results)\n{\n\
         .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .b64 %d<7>; .reg .pred %p<6>; .reg .b32 %n<4>;\n\
         .reg .b64 %a<3>; .reg .b32 %t;\n\
         ld.param.u64 %a0, [slices];\nld.param.u64 %a1, [results];\nmov.u32 %t, %tid.x;\n",
    );
    writer.line(&format!("mad.wide.u32 %a0, %t, {}, %a0;", super::SLICE));
    writer.line(&format!("mad.wide.u32 %a1, %t, {}, %a1;", super::RESULTS));
    for register in 0..8 {
        writer.line(&format!("ld.global.b32 %r{register}, [%a0+{}];", 4 * register));
    }
    for register in 0..6 {
        writer.line(&format!("ld.global.b64 %d{register}, [%a0+{}];", 8 * register));
    }
    for register in 0..4 {
        writer.line(&format!("ld.global.b16 %h{register}, [%a0+{}];", 32 + 2 * register));
        writer.line(&format!("setp.lt.u32 %p{register}, %t, {};", 3 + 7 * register));
    }
    writer.block(0);
    for register in 0..8 {
        writer.line(&format!("st.global.b32 [%a1+{}], %r{register};", 4 * register));
    }
    for register in 0..6 {
        writer.line(&format!("st.global.b64 [%a1+{}], %d{register};", 32 + 8 * register));
    }
    for register in 0..4 {
        writer.line(&format!("st.global.b16 [%a1+{}], %h{register};", 80 + 2 * register));
        writer.line(&format!("selp.b32 %r8, 1, 0, %p{register};"));
        writer.line(&format!("st.global.b32 [%a1+{}], %r8;", 96 + 4 * register));
    }
    writer.text.push_str("ret;\n}\n");
    writer.text
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// Statements until the source ends them.
    fn block(&mut self, depth: u32) {
        while self.source.goes_on() {
            match self.source.next() % 16 {
                0 if depth > 0 => return,
                1 if depth < DEEPEST => self.branch(depth),
                2 if depth < DEEPEST => self.repeat(depth),
                3 | 4 => self.load(),
                5 | 6 => self.store(),
                7 => self.carry(),
                _ => self.arithmetic(),
            }
        }
    }

    fn branch(&mut self, depth: u32) {
        let (otherwise, end) = (self.label(), self.label());
        let predicate = self.source.below(4);
        self.line(&format!("@!%p{predicate} bra L{otherwise};"));
        self.block(depth + 1);
        self.line(&format!("bra L{end};\nL{otherwise}:"));
        self.block(depth + 1);
        self.line(&format!("L{end}:"));
    }

    /// A loop of one to four rounds; how many, each thread decides.
    fn repeat(&mut self, depth: u32) {
        let again = self.label();
        let register = self.source.below(8);
        self.line(&format!("and.b32 %n{depth}, %r{register}, 3;\nL{again}:"));
        self.block(depth + 1);
        self.line(&format!("sub.u32 %n{depth}, %n{depth}, 1;"));
        self.line(&format!("setp.ge.s32 %p4, %n{depth}, 0;\n@%p4 bra L{again};"));
    }

    fn load(&mut self) {
        let (ty, register, bytes) = [
            ("u8", "%r", 1),
            ("s8", "%r", 1),
            ("u16", "%r", 2),
            ("s16", "%r", 2),
            ("b32", "%r", 4),
            ("b64", "%d", 8),
            ("s32", "%d", 4),
            ("b16", "%h", 2),
            ("s8", "%h", 1),
        ][self.source.below(9)];
        let offset = self.source.below(super::SLICE as usize / bytes) * bytes;
        let number = self.source.below(4);
        let guard = self.guard();
        self.line(&format!("{guard}ld.global.{ty} {register}{number}, [%a0+{offset}];"));
    }

    fn store(&mut self) {
        let (ty, register, bytes) = [
            ("b8", "%r", 1),
            ("b16", "%r", 2),
            ("b32", "%r", 4),
            ("b64", "%d", 8),
            ("b32", "%d", 4),
            ("b16", "%h", 2),
        ][self.source.below(6)];
        let offset = self.source.below(super::SLICE as usize / bytes) * bytes;
        let number = self.source.below(4);
        let guard = self.guard();
        self.line(&format!("{guard}st.global.{ty} [%a0+{offset}], {register}{number};"));
    }

    /// A sum or product of two words by the carry flag.
    fn carry(&mut self) {
        let mut register = || self.source.below(8);
        let [a, b, c, d, e, f] = std::array::from_fn(|_| register());
        let pairs = [("add", "addc"), ("sub", "subc"), ("mad.lo", "madc.hi")];
        let (first, second) = pairs[self.source.below(3)];
        let (more, last) = if first == "mad.lo" {
            (format!(", %r{c}"), format!(", %r{f}"))
        } else {
            Default::default()
        };
        self.line(&format!("{first}.cc.u32 %r8, %r{a}, %r{b}{more};"));
        self.line(&format!("{second}.u32 %r{d}, %r{e}, %r{f}{last};"));
        self.line(&format!("xor.b32 %r{a}, %r{a}, %r8;"));
    }

    fn guard(&mut self) -> String {
        let choice = self.source.next();
        let predicate = choice / 8 % 4;
        match choice % 8 {
            0 => format!("@%p{predicate} "),
            1 => format!("@!%p{predicate} "),
            _ => String::new(),
        }
    }

    fn arithmetic(&mut self) {
        let (operands, spellings) = TEMPLATES[self.source.below(TEMPLATES.len())];
        let spelling = spellings[self.source.below(spellings.len())];
        let guard = self.guard();
        let kinds = operands.as_bytes();
        let constants = Constants::from_spelling(spelling);
        let result = self.operand(kinds[0], Constants::Never);
        let mut line = format!("{guard}{spelling} {result}");
        for kind in &kinds[1..] {
            let operand = self.operand(*kind, constants);
            line += ", ";
            line += &operand;
        }
        line.push(';');
        self.line(&line);
        self.settle(spelling, &result);
    }

    fn operand(&mut self, kind: u8, constants: Constants) -> String {
        let choice = self.source.next();
        let constant = CONSTANTS[choice as usize / 4 % CONSTANTS.len()];
        let takes = choice % 4 == 3;
        match (kind, constants) {
            (b'r', Constants::Whole) if takes => format!("{:#x}", constant as u32),
            (b'd', Constants::Whole) if takes => format!("{constant:#x}"),
            (b'r', Constants::Single) if takes => format!("0f{:08X}", constant as u32),
            (b'd', Constants::Double) if takes => format!("0d{constant:016X}"),
            (b'r', _) => format!("%r{}", choice % 8),
            (b'd', _) => format!("%d{}", choice % 6),
            (b'h', _) => format!("%h{}", choice % 4),
            (b'p', _) => format!("%p{}", choice % 4),
            (b'i', _) => format!("{}", choice % 48),
            (..) => format!("{choice}"),
        }
    }

    /// Which NaN a result is, the ISA leaves open; it becomes one that is known.
    fn settle(&mut self, spelling: &str, result: &str) {
        let types: Vec<&str> = spelling.split('.').collect();
        let has = |ty: &str| types.contains(&ty);
        if result.starts_with("%d") && has("f64") {
            self.line(&format!("testp.notanumber.f64 %p5, {result};"));
            self.line(&format!("@%p5 mov.b64 {result}, 0x7ff8000000000000;"));
        } else if result.starts_with("%r") && has("f32") && types.first() != Some(&"set") {
            self.line(&format!("testp.notanumber.f32 %p5, {result};"));
            self.line(&format!("@%p5 mov.b32 {result}, 0x7fffffff;"));
        } else if result.starts_with("%h") && (has("f16") || has("bf16")) {
            let ty = if has("bf16") { "bf16" } else { "f16" };
            self.line(&format!("setp.nan.{ty} %p5, {result}, {result};"));
            self.line(&format!("@%p5 mov.b16 {result}, 0x7fff;"));
        }
    }
}
