//! The records of `.nv.info` sections.

use super::CubinParameter;

/// A record of a supported kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute<'data> {
    Parameter(CubinParameter),
    ParameterBytes(u32),
    Barriers(u32),
    MaxThreads([u32; 3]),
    RequiredThreads([u32; 3]),
    Registers { symbol: u32, count: u32 },
    Frame { symbol: u32, bytes: u32 },
    Stack { symbol: u32, bytes: u32 },
    Other(&'data [u8]),
}

/// A value in the record itself: EIFMT_NVAL, BVAL and HVAL of nvdisasm are 1, 2 and 3.
const FORMAT_LAST_INLINE: u8 = 3;
/// A length, then that many bytes (EIFMT_SVAL).
const FORMAT_SIZED: u8 = 4;

/// Reads records up to the first malformed one.
pub(super) fn attributes(data: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let [format, attribute, low, high, after @ ..] = rest else { return None };
        let value = u16::from_le_bytes([*low, *high]);
        match *format {
            1..=FORMAT_LAST_INLINE => {
                rest = after;
                Some(inline(*attribute, value, *low))
            }
            FORMAT_SIZED => {
                let (payload, after) = after.split_at_checked(usize::from(value))?;
                rest = after;
                Some(sized(*attribute, payload).unwrap_or(Attribute::Other(payload)))
            }
            _ => None,
        }
    })
}

fn inline(attribute: u8, value: u16, byte: u8) -> Attribute<'static> {
    match attribute {
        // EIATTR_CBANK_PARAM_SIZE
        0x19 => Attribute::ParameterBytes(u32::from(value)),
        // EIATTR_NUM_BARRIERS
        0x4c => Attribute::Barriers(u32::from(byte)),
        _ => Attribute::Other(&[]),
    }
}

fn sized(attribute: u8, payload: &[u8]) -> Option<Attribute<'_>> {
    let word = |at: usize| Some(u32::from_le_bytes(payload.get(at..at + 4)?.try_into().ok()?));
    let half =
        |at: usize| Some(u32::from(u16::from_le_bytes(payload.get(at..at + 2)?.try_into().ok()?)));
    let extent = || Some([word(0)?, word(4)?, word(8)?]);
    Some(match attribute {
        // EIATTR_MAX_THREADS, EIATTR_REQNTID
        0x05 => Attribute::MaxThreads(extent()?),
        0x10 => Attribute::RequiredThreads(extent()?),
        // EIATTR_FRAME_SIZE, EIATTR_MIN_STACK_SIZE, EIATTR_REGCOUNT
        0x11 => Attribute::Frame { symbol: word(0)?, bytes: word(4)? },
        0x12 => Attribute::Stack { symbol: word(0)?, bytes: word(4)? },
        0x2f => Attribute::Registers { symbol: word(0)?, count: word(4)? },
        // EIATTR_KPARAM_INFO: index, ordinal, offset, then flags with the size in the top 14 bits.
        0x17 => Attribute::Parameter(CubinParameter {
            ordinal: half(4)?,
            offset: half(6)?,
            size: word(8)? >> 18,
        }),
        // EIATTR_KPARAM_INFO_V2, for kernels with more than 4 KiB of parameters: a plain size.
        0x45 => Attribute::Parameter(CubinParameter {
            ordinal: half(4)?,
            offset: half(6)?,
            size: half(8)?,
        }),
        _ => return None,
    })
}
