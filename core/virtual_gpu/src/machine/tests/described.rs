//! Launches described in comments: `// launch: kernel grid=1 block=32 shared=0`, then one `// arg: …` for each
//! parameter and `// expect: name type values…`. The file depends on no other file; lightbench-core includes it
//! too, to run the same files on its devices.
//!
//! An argument is `u32 5`, or `in NAME u32 1,2,3`, or `out NAME u32 8` (uninitialised), or `zero NAME u32 8`, or a
//! tensor map of an earlier buffer: `map NAME bf16 dims=60,40 strides=128 box=64,8`, the innermost dimension first,
//! strides in bytes without that of dimension 0 (`-` for one dimension). Types of elements are `u8 u16 u32 s32 u64 s64
//! f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz`; optional fields are `element_strides=1,1 swizzle=none|b32|b64|b128
//! fill=zeros|nan offset=0` (bytes from the buffer's beginning). Or a texture or surface object of an earlier buffer:
//! `texture NAME f32 sides=8,4 channels=1 memory=array|linear filter=point|linear address=clamp|border|wrap|mirror
//! coordinates=texels|normalized read=element|normalized`, `surface NAME u32 sides=8,4 channels=1`.
//! Values may be `iota:N` or `5*N`; numbers may be hexadecimal bit patterns. `// gpu: NAME f32 1,0*5 ulp, where the
//! ISA says so` permits a GPU an error of as many units in the last place for each value, because the ISA bounds
//! the error of a result that the file expects correctly rounded.

use lightbench_primitives::tensor_map::{
    Interleave, L2Promotion, MapElement, MapRegion, OutOfBoundsFill, Swizzle, TensorMap,
};

use lightbench_primitives::texture::{
    Sampling, TexelAccess, TexelFormat, TexelMemory, Texels, TextureAddress, TextureCoordinates,
    TextureFilter, TextureObject, TextureRead,
};

/// A launch and its expected results.
pub(super) struct Described {
    pub(super) kernel: String,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
    /// Where approximate results lie: `nearest`, `low` or `high`.
    pub(super) approximations: Option<String>,
    /// After how many steps of the virtual GPU it is ended.
    pub(super) steps: Option<u64>,
    pub(super) arguments: Vec<Given>,
    /// The names of buffers, or `printed`, with the bytes expected there.
    pub(super) expected: Vec<(String, Vec<u8>)>,
    pub(super) permitted: Vec<Permitted>,
}

/// One argument.
pub(super) enum Given {
    Value(Vec<u8>),
    Buffer { name: String, length: u64, access: Rights, content: Option<Vec<u8>> },
    TensorMap { buffer: String, map: TensorMap },
    Texture { buffer: String, object: TextureObject },
}

/// Who may write to a buffer.
#[derive(Clone, Copy)]
pub(super) enum Rights {
    Read,
    Write,
}

/// The permitted error of the values of a buffer on a GPU.
pub(super) struct Permitted {
    pub(super) buffer: String,
    /// Bytes of a value.
    pub(super) width: usize,
    /// Units in the last place, for each value.
    pub(super) ulps: Vec<u32>,
}

impl Described {
    /// Reads the comments of a file.
    pub(super) fn from_text(text: &str) -> Self {
        let mut described = Self {
            kernel: String::new(),
            grid: [1; 3],
            block: [32, 1, 1],
            dynamic_shared: 0,
            approximations: None,
            steps: None,
            arguments: Vec::new(),
            expected: Vec::new(),
            permitted: Vec::new(),
        };
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("// launch: ") {
                described.launch(rest);
            } else if let Some(rest) = line.strip_prefix("// arg: ") {
                described.arguments.push(argument(rest));
            } else if let Some(rest) = line.strip_prefix("// expect: ") {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let [name, ty, values] = words[..] else { panic!("{rest}") };
                described.expected.push((name.to_owned(), bytes_of(ty, values)));
            } else if let Some(rest) = line.strip_prefix("// gpu: ") {
                described.permitted.push(permitted(rest));
            }
        }
        for permitted in &described.permitted {
            let bytes = permitted.width * permitted.ulps.len();
            let meant = |(name, expected): &(String, Vec<u8>)| {
                *name == permitted.buffer && expected.len() == bytes
            };
            assert!(described.expected.iter().any(meant), "`{}` in `// gpu:`", permitted.buffer);
        }
        described
    }

    fn launch(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        self.kernel = words.next().unwrap().to_owned();
        for word in words {
            let (key, value) = word.split_once('=').unwrap();
            match key {
                "grid" => self.grid = size(value),
                "block" => self.block = size(value),
                "shared" => self.dynamic_shared = value.parse().unwrap(),
                "approximations" => self.approximations = Some(value.to_owned()),
                "steps" => self.steps = Some(value.parse().unwrap()),
                other => panic!("{other}"),
            }
        }
    }
}

fn argument(text: &str) -> Given {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [kind @ ("in" | "inout"), name, ty, values] => {
            let bytes = bytes_of(ty, values);
            let access = if kind == "in" { Rights::Read } else { Rights::Write };
            let (length, name) = (bytes.len() as u64, name.to_owned());
            Given::Buffer { name, length, access, content: Some(bytes) }
        }
        [kind @ ("out" | "zero"), name, ty, count] => {
            let length = bytes_of(ty, "0").len() as u64 * count.parse::<u64>().unwrap();
            let content = (kind == "zero").then(|| vec![0; length as usize]);
            Given::Buffer { name: name.to_owned(), length, access: Rights::Write, content }
        }
        ["map", buffer, element, ref fields @ ..] => {
            Given::TensorMap { buffer: buffer.to_owned(), map: tensor_map(element, fields) }
        }
        ["texture", buffer, format, ref fields @ ..] => {
            Given::Texture { buffer: buffer.to_owned(), object: texture(format, fields) }
        }
        ["surface", buffer, format, ref fields @ ..] => Given::Texture {
            buffer: buffer.to_owned(),
            object: TextureObject {
                texels: texels(format, fields, TexelMemory::WritableArray),
                access: TexelAccess::Surface,
            },
        },
        [ty, value] => Given::Value(bytes_of(ty, value)),
        _ => panic!("{text}"),
    }
}

/// A tensor map from the type of its elements and its fields.
pub(super) fn tensor_map(element: &str, fields: &[&str]) -> TensorMap {
    let field = |name: &str| {
        let found = fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        found.filter(|value| *value != "-")
    };
    let numbers = |name: &str| -> Vec<u64> {
        let list = field(name).into_iter().flat_map(|value| value.split(','));
        list.map(|number| number.parse().unwrap_or_else(|_| panic!("{name}: {number}"))).collect()
    };
    let small = |name: &str| -> Vec<u32> { numbers(name).iter().map(|n| *n as u32).collect() };
    let corner = |name: &str| -> Vec<i32> {
        let list = field(name).into_iter().flat_map(|value| value.split(','));
        list.map(|number| number.parse().unwrap()).collect()
    };
    let dims = numbers("dims");
    let element_strides = match field("element_strides") {
        Some(_) => small("element_strides"),
        None => vec![1; dims.len()],
    };
    TensorMap {
        element: map_element(element),
        strides: numbers("strides"),
        offset: numbers("offset").first().copied().unwrap_or(0),
        region: match field("channels") {
            None => MapRegion::Tiled(small("box")),
            Some(_) => MapRegion::Im2col {
                lower_corner: corner("lower"),
                upper_corner: corner("upper"),
                channels: small("channels")[0],
                pixels: small("pixels")[0],
            },
        },
        element_strides,
        swizzle: match field("swizzle").unwrap_or("none") {
            "none" => Swizzle::None,
            "b32" => Swizzle::B32,
            "b64" => Swizzle::B64,
            "b128" => Swizzle::B128,
            other => panic!("swizzle {other}"),
        },
        interleave: Interleave::None,
        l2_promotion: L2Promotion::None,
        fill: match field("fill").unwrap_or("zeros") {
            "zeros" => OutOfBoundsFill::Zeros,
            "nan" => OutOfBoundsFill::Nan,
            other => panic!("fill {other}"),
        },
        dims,
    }
}

/// A texture object from the type of its elements and its fields.
pub(super) fn texture(format: &str, fields: &[&str]) -> TextureObject {
    let field = |name: &str, default: &'static str| -> String {
        let found = fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or(default).to_owned()
    };
    let memory = match field("memory", "array").as_str() {
        "array" => TexelMemory::Array,
        "linear" => TexelMemory::Linear,
        other => panic!("memory {other}"),
    };
    let sampling = Sampling {
        filter: match field("filter", "point").as_str() {
            "point" => TextureFilter::Point,
            "linear" => TextureFilter::Linear,
            other => panic!("filter {other}"),
        },
        address: match field("address", "clamp").as_str() {
            "clamp" => TextureAddress::Clamp,
            "border" => TextureAddress::Border,
            "wrap" => TextureAddress::Wrap,
            "mirror" => TextureAddress::Mirror,
            other => panic!("address {other}"),
        },
        coordinates: match field("coordinates", "texels").as_str() {
            "texels" => TextureCoordinates::Texels,
            "normalized" => TextureCoordinates::Normalized,
            other => panic!("coordinates {other}"),
        },
        read: match field("read", "element").as_str() {
            "element" => TextureRead::Element,
            "normalized" => TextureRead::Normalized,
            other => panic!("read {other}"),
        },
    };
    TextureObject { texels: texels(format, fields, memory), access: TexelAccess::Texture(sampling) }
}

fn texels(format: &str, fields: &[&str], memory: TexelMemory) -> Texels {
    let numbers = |name: &str| -> Vec<u64> {
        let found = fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        let list = found.into_iter().flat_map(|value| value.split(','));
        list.map(|number| number.parse().unwrap()).collect()
    };
    let format = match format {
        "f32" => TexelFormat::F32,
        "f16" => TexelFormat::F16,
        "i32" => TexelFormat::I32,
        "i16" => TexelFormat::I16,
        "i8" => TexelFormat::I8,
        "u32" => TexelFormat::U32,
        "u16" => TexelFormat::U16,
        "u8" => TexelFormat::U8,
        other => panic!("texels of {other}"),
    };
    let channels = numbers("channels").first().map_or(1, |count| *count as u8);
    Texels { format, channels, extents: numbers("sides"), memory }
}

fn map_element(name: &str) -> MapElement {
    match name {
        "u8" => MapElement::U8,
        "u16" => MapElement::U16,
        "u32" => MapElement::U32,
        "s32" => MapElement::I32,
        "u64" => MapElement::U64,
        "s64" => MapElement::I64,
        "f16" => MapElement::F16,
        "f32" => MapElement::F32,
        "f64" => MapElement::F64,
        "bf16" => MapElement::Bf16,
        "f32_ftz" => MapElement::F32Ftz,
        "tf32" => MapElement::Tf32,
        "tf32_ftz" => MapElement::Tf32Ftz,
        other => panic!("element type {other}"),
    }
}

fn permitted(text: &str) -> Permitted {
    let (bound, source) = text.split_once(" ulp, ").unwrap_or_else(|| panic!("{text}"));
    assert!(source.contains("PTX ISA"), "{text}: who says so?");
    let words: Vec<&str> = bound.split_whitespace().collect();
    let [buffer, ty, ulps] = words[..] else { panic!("{text}") };
    let ulps = bytes_of("u32", ulps);
    let ulps = ulps.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
    let width = bytes_of(ty, "0").len();
    Permitted { buffer: buffer.to_owned(), width, ulps: ulps.collect() }
}

fn bytes_of(ty: &str, text: &str) -> Vec<u8> {
    if let Some(count) = text.strip_prefix("iota:") {
        let count: u32 = count.trim().parse().unwrap();
        return (0..count).flat_map(|index| number(ty, &index.to_string())).collect();
    }
    text.split(',')
        .flat_map(|value| match value.split_once('*') {
            Some((value, count)) => number(ty, value).repeat(count.trim().parse().unwrap()),
            None => number(ty, value),
        })
        .collect()
}

fn number(ty: &str, text: &str) -> Vec<u8> {
    let text = text.trim();
    let float = || text.parse::<f64>().unwrap_or_else(|_| panic!("number {text}"));
    let integer = || -> u64 {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
            None => digits.parse().unwrap_or_else(|_| panic!("number {text}")),
        };
        if negative { value.wrapping_neg() } else { value }
    };
    let is_bits = text.starts_with("0x");
    match ty {
        "u8" | "s8" => vec![integer() as u8],
        "u16" | "s16" | "b16" => (integer() as u16).to_le_bytes().to_vec(),
        "f32" if !is_bits => (float() as f32).to_le_bytes().to_vec(),
        "f64" if !is_bits => float().to_le_bytes().to_vec(),
        "u32" | "s32" | "b32" | "f32" => (integer() as u32).to_le_bytes().to_vec(),
        "u64" | "s64" | "b64" | "f64" => integer().to_le_bytes().to_vec(),
        other => panic!("type {other}"),
    }
}

fn size(text: &str) -> [u32; 3] {
    let mut size = [1; 3];
    for (slot, part) in size.iter_mut().zip(text.split(',')) {
        *slot = part.parse().unwrap();
    }
    size
}
