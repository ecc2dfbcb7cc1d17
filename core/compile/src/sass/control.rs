//! The scheduling bits of a machine instruction: how long its warp waits, for what, and who waits for it.
//!
//! The compiler schedules instructions of known latency by stall counts and the others by six scoreboards. The bits are 105
//! to 125 of the 128 bits of an instruction since Volta (Jia, Maggioni, Staiger and Scarpazza, "Dissecting the NVIDIA Volta
//! GPU architecture via microbenchmarking", 2018, section 2.1).

use std::fmt;

/// The scheduling bits of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp may issue its next instruction.
    pub stall: u8,
    /// Whether the scheduler prefers another warp afterwards.
    pub yields: bool,
    /// The scoreboard that is released when the result is written.
    pub write_scoreboard: Option<u8>,
    /// The scoreboard that is released when the operands are read.
    pub read_scoreboard: Option<u8>,
    /// The scoreboards that the instruction waits for, one bit for each.
    pub waits: u8,
}

/// The number of scoreboards of a warp.
const SCOREBOARDS: u8 = 6;

impl Control {
    /// The bits in the upper 64 bits of an instruction.
    #[must_use]
    pub const fn from_upper_word(word: u64) -> Self {
        const fn scoreboard(field: u64) -> Option<u8> {
            let number = (field & 7) as u8;
            if number < SCOREBOARDS { Some(number) } else { None }
        }
        let bits = word >> 41;
        Self {
            stall: (bits & 0xf) as u8,
            yields: bits & 0x10 == 0,
            write_scoreboard: scoreboard(bits >> 5),
            read_scoreboard: scoreboard(bits >> 8),
            waits: ((bits >> 11) & 0x3f) as u8,
        }
    }

    /// The scoreboards that the instruction waits for.
    pub fn waited(self) -> impl Iterator<Item = u8> {
        (0..SCOREBOARDS).filter(move |number| self.waits & (1 << number) != 0)
    }
}

/// The notation of public assemblers: `B01----:R-:W2:Y:S04` waits for scoreboards 0 and 1, sets 2 and stalls 4 cycles.
impl fmt::Display for Control {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("B")?;
        for number in 0..SCOREBOARDS {
            match self.waits & (1 << number) {
                0 => formatter.write_str("-")?,
                _ => write!(formatter, "{number}")?,
            }
        }
        for (letter, scoreboard) in [("R", self.read_scoreboard), ("W", self.write_scoreboard)] {
            match scoreboard {
                Some(number) => write!(formatter, ":{letter}{number}")?,
                None => write!(formatter, ":{letter}-")?,
            }
        }
        let yields = if self.yields { "Y" } else { "-" };
        write!(formatter, ":{yields}:S{:02}", self.stall)
    }
}
