//! LZO1X, written from the description of the format (Linux, Documentation/staging/lzo.rst).
//!
//! A block is a row of instructions. A match copies bytes from before, and may bring up to three literals:
//!
//! ```text
//! 1LLDDDSS, 01LDDDSS  D    3 to 8 bytes, from at most 2 KiB before        (M2)
//! 001LLLLL  l* DD          from at most 16 KiB before                     (M3)
//! 0001DLLL  l* DD          from 16 to 48 KiB before; 11 00 00 ends        (M4)
//! 0000DDSS  D              2 bytes after literals of a match,             (M1)
//!                          3 bytes after a long row of literals
//! 0000LLLL  l*             a row of 4 or more literals, after a match without
//! ```
//!
//! A length of 0 is continued: each zero byte is 255 more, the last byte is added. The first byte of a block may
//! stand for a row of literals (its value minus 17).

use std::fmt;

/// Why a block cannot be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The block ends within an instruction, or without its end mark.
    InputOverrun,
    /// The block holds more than there is room for.
    OutputOverrun,
    /// A back reference points to before the start.
    LookbehindOverrun {
        /// Offset in the block, behind the instruction.
        at: usize,
        /// How far back it points.
        distance: usize,
        /// How many bytes there are before it.
        have: usize,
    },
    /// Bytes follow the end mark, this many bytes into the block.
    InputNotConsumed(usize),
    /// The end mark is wrong, this many bytes into the block.
    BadEnd(usize),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InputOverrun => f.write_str("the LZO block ends without its end mark"),
            Error::OutputOverrun => f.write_str("the LZO block holds more than it should"),
            Error::LookbehindOverrun { at, distance, have } => write!(
                f,
                "a back reference {at} bytes into the LZO block points {distance} bytes back, and there are {have}"
            ),
            Error::InputNotConsumed(at) => {
                write!(f, "the LZO block goes on behind its end mark at {at}")
            }
            Error::BadEnd(at) => write!(f, "the end mark at {at} of the LZO block is wrong"),
        }
    }
}

/// Bytes that one step of a fast copy moves; more than what is wanted where there is room.
const STEP: usize = 16;

/// Unpacks a block to the front of `dst`; the number of its bytes.
pub fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, Error> {
    let mut unpack = Unpack { src, dst, ip: 0, op: 0 };
    unpack.run()?;
    match unpack.ip == src.len() {
        true => Ok(unpack.op),
        false => Err(Error::InputNotConsumed(unpack.ip)),
    }
}

/// `ip <= src.len()` and `op <= dst.len()`.
struct Unpack<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
    ip: usize,
    op: usize,
}

/// What the instruction before left behind: 0 no literals, 1 to 3 so many of a match, 4 a long row.
const LONG_ROW: usize = 4;

impl Unpack<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let mut before = 0;
        let first = usize::from(*self.src.first().ok_or(Error::InputOverrun)?);
        if first > 17 {
            self.ip = 1;
            self.literals(first - 17)?;
            before = (first - 17).min(LONG_ROW);
        }
        loop {
            let inst = self.byte()?;
            let (length, distance, literals);
            if inst >= 64 {
                distance = (self.byte()? << 3) + ((inst >> 2) & 7) + 1;
                length = (inst >> 5) + 1;
                literals = inst & 3;
            } else if inst >= 32 {
                length = self.length(inst & 31, 31)? + 2;
                let pair = self.pair()?;
                distance = (pair >> 2) + 1;
                literals = pair & 3;
            } else if inst >= 16 {
                length = self.length(inst & 7, 7)? + 2;
                let pair = self.pair()?;
                let base = ((inst & 8) << 11) + (pair >> 2);
                if base == 0 {
                    return if length == 3 { Ok(()) } else { Err(Error::BadEnd(self.ip)) };
                }
                distance = base + 0x4000;
                literals = pair & 3;
            } else if before == 0 {
                let row = self.length(inst, 15)? + 3;
                self.literals(row)?;
                before = LONG_ROW;
                continue;
            } else {
                let far = (self.byte()? << 2) + (inst >> 2) + 1;
                (length, distance) = if before == LONG_ROW { (3, far + 0x800) } else { (2, far) };
                literals = inst & 3;
            }
            self.copy(distance, length)?;
            if literals > 0 {
                self.literals(literals)?;
            }
            before = literals;
        }
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<usize, Error> {
        let byte = *self.src.get(self.ip).ok_or(Error::InputOverrun)?;
        self.ip += 1;
        Ok(usize::from(byte))
    }

    #[inline(always)]
    fn pair(&mut self) -> Result<usize, Error> {
        let rest = self.src.get(self.ip..).unwrap_or_default();
        let pair = rest.first_chunk::<2>().ok_or(Error::InputOverrun)?;
        self.ip += 2;
        Ok(usize::from(u16::from_le_bytes(*pair)))
    }

    /// A length of the instruction itself, or of the bytes behind it.
    #[inline(always)]
    fn length(&mut self, own: usize, base: usize) -> Result<usize, Error> {
        if own != 0 {
            return Ok(own);
        }
        let mut length = base;
        loop {
            match self.byte()? {
                0 => length += 255,
                last => return Ok(length + last),
            }
        }
    }

    #[inline(always)]
    fn literals(&mut self, count: usize) -> Result<(), Error> {
        if count <= STEP
            && let Some(from) = self.src.get(self.ip..self.ip + STEP)
            && let Some(to) = self.dst.get_mut(self.op..self.op + STEP)
        {
            to.copy_from_slice(from);
        } else {
            let from = self.src.get(self.ip..self.ip + count).ok_or(Error::InputOverrun)?;
            let to = self.dst.get_mut(self.op..self.op + count).ok_or(Error::OutputOverrun)?;
            to.copy_from_slice(from);
        }
        self.ip += count;
        self.op += count;
        Ok(())
    }

    /// Repeats `length` bytes from `distance` before; the two may overlap.
    #[inline(always)]
    fn copy(&mut self, distance: usize, length: usize) -> Result<(), Error> {
        let Some(from) = self.op.checked_sub(distance) else {
            return Err(Error::LookbehindOverrun { at: self.ip, distance, have: self.op });
        };
        let (to, end) = (self.op, self.op + length);
        if end > self.dst.len() {
            return Err(Error::OutputOverrun);
        }
        if distance >= STEP && end + STEP <= self.dst.len() {
            self.steps::<STEP>(from, to, end);
        } else if distance >= 8 && end + STEP <= self.dst.len() {
            self.steps::<8>(from, to, end);
        } else {
            self.copy_near(from, to, end);
        }
        self.op = end;
        Ok(())
    }

    #[inline(always)]
    fn steps<const N: usize>(&mut self, mut from: usize, mut to: usize, end: usize) {
        while to < end {
            self.dst.copy_within(from..from + N, to);
            from += N;
            to += N;
        }
    }

    /// A pattern of a few bytes, or the end of the room.
    fn copy_near(&mut self, from: usize, to: usize, end: usize) {
        let pattern = to - from;
        if pattern == 1 {
            let byte = self.dst[from];
            self.dst[to..end].fill(byte);
            return;
        }
        // What is there doubles with each step.
        let (mut at, mut have) = (to, pattern);
        while at < end {
            let count = have.min(end - at);
            self.dst.copy_within(from..from + count, at);
            at += count;
            have += count;
        }
    }
}

const TABLE_BITS: u32 = 14;
/// Back references reach this far.
const DISTANCE_MAX: usize = 0xbfff;
/// No match begins in the last bytes of a block.
const TAIL: usize = 8;

/// Packs blocks as LZO1X-1 does: one place to look at for each four bytes, in larger steps where nothing repeats.
pub struct Compressor {
    /// Place of the last four bytes with a hash, plus `base`.
    table: Vec<u32>,
    /// Places below it are of earlier blocks.
    base: u32,
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor { table: vec![0; 1 << TABLE_BITS], base: 1 }
    }
}

impl Compressor {
    /// Appends the block of `plain` to `out`. At most 1 GiB can be packed as one block.
    pub fn compress(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        assert!(plain.len() <= 1 << 30, "an LZO block of more than 1 GiB");
        if self.base > u32::MAX - (1 << 30) {
            self.table.fill(0);
            self.base = 1;
        }
        out.reserve(plain.len() + plain.len() / 16 + 67);
        let start = out.len();
        let mut literals_from = 0;
        let mut at = 0;
        while at + TAIL <= plain.len() {
            let Some(before) = self.candidate(plain, at) else {
                at += 1 + ((at - literals_from) >> 5);
                continue;
            };
            let length = 4 + common(&plain[before + 4..], &plain[at + 4..]);
            literals(&plain[literals_from..at], start, out);
            back_reference(at - before, length, out);
            at += length;
            literals_from = at;
        }
        literals(&plain[literals_from..], start, out);
        out.extend([0x11, 0, 0]);
        self.base += plain.len() as u32;
    }

    /// An earlier place with the same four bytes, in reach.
    #[inline(always)]
    fn candidate(&mut self, plain: &[u8], at: usize) -> Option<usize> {
        let four = word(plain, at);
        let slot = (four.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_BITS)) as usize;
        let place = std::mem::replace(&mut self.table[slot], self.base + at as u32);
        let before = place.checked_sub(self.base)? as usize;
        (at - before <= DISTANCE_MAX && word(plain, before) == four).then_some(before)
    }
}

#[inline(always)]
fn word(plain: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(plain[at..at + 4].try_into().expect("four bytes"))
}

/// How many bytes two slices have in common at their start.
#[inline(always)]
fn common(a: &[u8], b: &[u8]) -> usize {
    let eight = |part: &[u8]| u64::from_le_bytes(part.try_into().expect("eight bytes"));
    let mut count = 0;
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let differ = eight(a) ^ eight(b);
        if differ != 0 {
            return count + (differ.trailing_zeros() / 8) as usize;
        }
        count += 8;
    }
    count + a[count..].iter().zip(&b[count..]).take_while(|(a, b)| a == b).count()
}

/// A length that did not fit into its instruction.
fn continued(mut rest: usize, out: &mut Vec<u8>) {
    while rest > 255 {
        out.push(0);
        rest -= 255;
    }
    out.push(rest as u8);
}

#[inline(always)]
fn literals(row: &[u8], start: usize, out: &mut Vec<u8>) {
    match row.len() {
        0 => return,
        count @ 1..=238 if out.len() == start => out.push(17 + count as u8),
        // They are told of in the low bits of the match before.
        count @ 1..=3 => {
            let at = out.len() - 2;
            out[at] |= count as u8;
        }
        count @ 4..=18 => out.push(count as u8 - 3),
        count => {
            out.push(0);
            continued(count - 18, out);
        }
    }
    out.extend_from_slice(row);
}

#[inline(always)]
fn back_reference(distance: usize, length: usize, out: &mut Vec<u8>) {
    if length <= 8 && distance <= 0x800 {
        let far = distance - 1;
        out.extend([((length - 1) << 5 | (far & 7) << 2) as u8, (far >> 3) as u8]);
        return;
    }
    let far;
    if distance <= 0x4000 {
        far = distance - 1;
        match length {
            ..=33 => out.push(0x20 | (length - 2) as u8),
            _ => {
                out.push(0x20);
                continued(length - 33, out);
            }
        }
    } else {
        far = distance - 0x4000;
        let high = (far >> 11 & 8) as u8;
        match length {
            ..=9 => out.push(0x10 | high | (length - 2) as u8),
            _ => {
                out.push(0x10 | high);
                continued(length - 9, out);
            }
        }
    }
    out.extend((((far & 0x3fff) << 2) as u16).to_le_bytes());
}
