//! One launch of one kernel with what must come of it.

use super::number::{Element, Format};

/// A launch and its result.
pub(super) struct Case {
    /// The kernel's file in `tests/kernels`, without extension.
    pub(super) file: &'static str,
    pub(super) kernel: &'static str,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(super) shared: u32,
    pub(super) arguments: Vec<Given>,
    /// Builds beyond the optimised ones for every architecture.
    pub(super) variants: Vec<Variant>,
    /// What the kernel prints.
    pub(super) printed: String,
}

/// A build that some kernels are run in as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Without optimisation (`-G`).
    AsWritten,
    /// With approximate functions (`--use_fast_math`).
    FastMath,
}

/// One argument.
pub(super) enum Given {
    Value(Vec<u8>),
    Input(Vec<u8>),
    /// A structure whose members are these, one behind the other; all have eight bytes.
    Record(Vec<Self>),
    /// Read and written.
    Buffer {
        initial: Initially,
        expected: Expected,
    },
}

pub(super) enum Initially {
    Unwritten(usize),
    Bytes(Vec<u8>),
}

/// What a buffer must hold after the launch.
pub(super) enum Expected {
    /// Its content is not a result.
    Anything,
    Exactly(Vec<u8>),
    /// Parts behind each other, each with its own tolerance.
    Near {
        format: Format,
        parts: Vec<Part>,
    },
    /// Results that depend on the order of threads: a check says what is wrong with them.
    Judged(Judge),
}

/// What is wrong with a buffer, if anything is.
pub(super) type Judge = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// Values in f64, and how near results must be to them.
pub(super) type Part = (Vec<f64>, Tolerance);

/// How far a result may be from the value that was computed in f64.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tolerance {
    /// Units in the last place of the result's format.
    Ulps(f64),
    /// A share of the value.
    Relative(f64),
    Absolute(f64),
}

/// Grids and blocks of one, two or three dimensions.
pub(super) trait Size {
    fn size(self) -> [u32; 3];
}

impl Size for u32 {
    fn size(self) -> [u32; 3] {
        [self, 1, 1]
    }
}

impl Size for (u32, u32) {
    fn size(self) -> [u32; 3] {
        [self.0, self.1, 1]
    }
}

impl Size for (u32, u32, u32) {
    fn size(self) -> [u32; 3] {
        [self.0, self.1, self.2]
    }
}

impl Case {
    /// The kernel that is named like its file.
    pub(super) fn new(file: &'static str, grid: impl Size, block: impl Size) -> Self {
        Self {
            file,
            kernel: file,
            grid: grid.size(),
            block: block.size(),
            shared: 0,
            arguments: Vec::new(),
            variants: Vec::new(),
            printed: String::new(),
        }
    }

    /// Another kernel of the file.
    pub(super) fn kernel(self, kernel: &'static str) -> Self {
        Self { kernel, ..self }
    }

    pub(super) fn shared(self, shared: u32) -> Self {
        Self { shared, ..self }
    }

    pub(super) fn prints(self, text: impl Into<String>) -> Self {
        Self { printed: text.into(), ..self }
    }

    pub(super) fn also(mut self, variants: &[Variant]) -> Self {
        self.variants.extend(variants);
        self
    }

    pub(super) fn value(mut self, value: impl Element) -> Self {
        self.arguments.push(Given::Value(value.bytes()));
        self
    }

    /// A structure by value.
    pub(super) fn structure(mut self, bytes: &[u8]) -> Self {
        self.arguments.push(Given::Value(bytes.to_vec()));
        self
    }

    /// A structure of pointers by value: the arguments that `members` adds become one.
    pub(super) fn record(mut self, members: impl FnOnce(Self) -> Self) -> Self {
        let before = self.arguments.len();
        self = members(self);
        let added = self.arguments.split_off(before);
        self.arguments.push(Given::Record(added));
        self
    }

    pub(super) fn input<T: Element>(mut self, values: &[T]) -> Self {
        self.arguments.push(Given::Input(bytes_of(values)));
        self
    }

    /// A buffer that the kernel fills with exactly this.
    pub(super) fn output<T: Element>(self, expected: &[T]) -> Self {
        let expected = bytes_of(expected);
        self.buffer(Initially::Unwritten(expected.len()), Expected::Exactly(expected))
    }

    /// A buffer that the kernel fills with these values, rounded.
    pub(super) fn near(self, format: Format, values: Vec<f64>, within: Tolerance) -> Self {
        self.parts(format, vec![(values, within)])
    }

    /// A buffer that the kernel fills with several results behind each other.
    pub(super) fn parts(self, format: Format, parts: Vec<Part>) -> Self {
        let count: usize = parts.iter().map(|(values, _)| values.len()).sum();
        let initial = Initially::Unwritten(count * format.bytes());
        self.buffer(initial, Expected::Near { format, parts })
    }

    /// A buffer that holds something before and exactly this after the launch.
    pub(super) fn updated<T: Element>(self, before: &[T], after: &[T]) -> Self {
        let bytes = bytes_of(before);
        self.buffer(Initially::Bytes(bytes), Expected::Exactly(bytes_of(after)))
    }

    /// A buffer that holds something before and about these values after the launch.
    pub(super) fn updated_near<T: Element>(
        self,
        before: &[T],
        format: Format,
        values: Vec<f64>,
        within: Tolerance,
    ) -> Self {
        let bytes = bytes_of(before);
        let parts = vec![(values, within)];
        self.buffer(Initially::Bytes(bytes), Expected::Near { format, parts })
    }

    /// A buffer that the kernel uses on its way.
    pub(super) fn scratch<T: Element>(self, before: &[T]) -> Self {
        self.buffer(Initially::Bytes(bytes_of(before)), Expected::Anything)
    }

    /// A buffer of which every element is written, with what a check accepts.
    pub(super) fn judged<T: Element + 'static>(
        self,
        count: usize,
        judge: impl Fn(&[T]) -> Result<(), String> + 'static,
    ) -> Self {
        let bytes = count * size_of::<T>();
        let judge = move |bytes: &[u8]| judge(&elements(bytes));
        self.buffer(Initially::Unwritten(bytes), Expected::Judged(Box::new(judge)))
    }

    /// A buffer that holds something before, with what a check accepts after the launch.
    pub(super) fn updated_judged<T: Element + 'static>(
        self,
        before: &[T],
        judge: impl Fn(&[T]) -> Result<(), String> + 'static,
    ) -> Self {
        let judge = move |bytes: &[u8]| judge(&elements(bytes));
        self.buffer(Initially::Bytes(bytes_of(before)), Expected::Judged(Box::new(judge)))
    }

    pub(super) fn buffer(mut self, initial: Initially, expected: Expected) -> Self {
        self.arguments.push(Given::Buffer { initial, expected });
        self
    }
}

pub(super) fn bytes_of<T: Element>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|value| value.bytes()).collect()
}

fn elements<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::from_bytes).collect()
}

impl Expected {
    /// What is wrong with the bytes that were found.
    pub(super) fn problem(&self, found: &[u8]) -> Option<String> {
        match self {
            Self::Anything => None,
            Self::Exactly(expected) => {
                let at = found.iter().zip(expected).position(|(found, byte)| found != byte)?;
                let near = |bytes: &[u8]| {
                    let from = at / 8 * 8;
                    format!("{:02x?}", &bytes[from..bytes.len().min(from + 8)])
                };
                Some(format!("byte {at}: {} instead of {}", near(found), near(expected)))
            }
            Self::Near { format, parts } => {
                let mut found = found.chunks_exact(format.bytes());
                parts.iter().enumerate().find_map(|(part, (values, within))| {
                    values.iter().zip(&mut found).enumerate().find_map(|(index, (value, bytes))| {
                        let found = format.read(bytes);
                        (!within.holds(found, *value, *format)).then(|| {
                            let place = format!("part {part}, element {index}");
                            format!("{place}: {found:e} instead of {value:e} ({within:?})")
                        })
                    })
                })
            }
            Self::Judged(judge) => judge(found).err(),
        }
    }
}

impl Tolerance {
    fn holds(self, found: f64, value: f64, format: Format) -> bool {
        if value.is_nan() {
            return found.is_nan();
        }
        if value.is_infinite() || found.is_infinite() {
            return found == format.round(value);
        }
        let distance = (found - value).abs();
        match self {
            Self::Ulps(ulps) => distance <= ulps * format.ulp(value),
            Self::Relative(share) => distance <= share * value.abs(),
            Self::Absolute(bound) => distance <= bound,
        }
    }
}
