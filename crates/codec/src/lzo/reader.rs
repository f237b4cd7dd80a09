//! Reads lzop files. Behind the header:
//!
//! ```text
//! block: plain length u32 | packed length u32 | checksums of the plain bytes: [adler32] [crc32]
//!        | where the packed length is less: checksums of the packed bytes: [adler32] [crc32] | bytes
//! a plain length of 0 ends the file; another file may follow
//! ```

use std::io::{self, BufRead, Read};

use super::header::{self, Checksums};
use super::{FORMAT, lzo1x};
use crate::damage::damaged;
use crate::source::Source;

/// lzop makes no larger blocks, and takes none.
const BLOCK_MAX: u32 = 64 << 20;

/// The plain bytes of an lzop file.
pub struct LzopReader<R> {
    source: Source<R>,
    /// `None`: the next thing is a header, or the end.
    checksums: Option<Checksums>,
    /// No other file follows.
    is_ended: bool,
    packed: Vec<u8>,
    plain: Vec<u8>,
    /// `used <= ready <= plain.len()`: the bytes between the two were not handed out yet.
    used: usize,
    ready: usize,
    /// Where the block begins whose bytes are in `plain`.
    block: u64,
}

impl<R: BufRead> LzopReader<R> {
    /// Reads the header.
    pub fn new(input: R) -> io::Result<Self> {
        let mut source = Source::new(input);
        let checksums = header::read(&mut source)?;
        Ok(LzopReader::at(source, checksums))
    }

    /// Goes on in the middle of a file, at a block.
    pub(super) fn at(source: Source<R>, checksums: Option<Checksums>) -> Self {
        let (packed, plain) = Default::default();
        LzopReader {
            source,
            checksums,
            is_ended: false,
            packed,
            plain,
            used: 0,
            ready: 0,
            block: 0,
        }
    }

    /// The offset in the file of the block that the next byte is from; known after a read.
    pub fn block_offset(&self) -> u64 {
        self.block
    }

    /// Bytes that are unpacked and not yet read. Unpacks the next block if there are none; at the end none are left.
    pub(super) fn unpacked(&mut self) -> io::Result<&[u8]> {
        while self.used == self.ready {
            // No block fits.
            if let Next::End = self.next_block(&mut [])? {
                return Ok(&[]);
            }
        }
        Ok(&self.plain[self.used..self.ready])
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.used += count;
    }

    /// Unpacks the next block, into `buffer` where it fits.
    fn next_block(&mut self, buffer: &mut [u8]) -> io::Result<Next> {
        let Some(checksums) = self.checksums else {
            if !self.is_ended {
                self.checksums = header::read(&mut self.source)?;
                self.is_ended = self.checksums.is_none();
            }
            return Ok(if self.is_ended { Next::End } else { Next::Inside });
        };
        let at = self.source.offset();
        let plain_length = self.source.u32(FORMAT)?;
        if plain_length == 0 {
            self.checksums = None;
            return Ok(Next::Inside);
        }
        let packed_length = self.source.u32(FORMAT)?;
        let wrong = |cause: String| Err(damaged(FORMAT, at, cause));
        if plain_length > BLOCK_MAX {
            return wrong(format!("a block of {plain_length} bytes"));
        }
        if packed_length == 0 || packed_length > plain_length {
            return wrong(format!("a block of {packed_length} for {plain_length} plain bytes"));
        }
        let is_stored = packed_length == plain_length;
        let mut checks = Checks::default();
        checks.read(&mut self.source, checksums, is_stored)?;
        self.source.read_into(FORMAT, packed_length as usize, &mut self.packed)?;
        if let Err(cause) = checks.packed.verify(&self.packed, "packed") {
            return wrong(cause);
        }
        let length = plain_length as usize;
        if let Err(cause) = check_length(self.packed.len(), length) {
            return wrong(cause);
        }
        let target = buffer.get_mut(..length);
        let is_direct = target.is_some() && !is_stored;
        let plain = match target.filter(|_| !is_stored) {
            Some(target) => unpack(&self.packed, target),
            None if is_stored => {
                std::mem::swap(&mut self.packed, &mut self.plain);
                Ok(())
            }
            None => unpack_to(&self.packed, &mut self.plain, length),
        };
        if let Err(cause) = plain {
            return wrong(cause);
        }
        let plain = if is_direct { &buffer[..length] } else { &self.plain[..length] };
        if let Err(cause) = checks.plain.verify(plain, "plain") {
            return wrong(cause);
        }
        self.block = at;
        if is_direct {
            return Ok(Next::Direct(length));
        }
        (self.used, self.ready) = (0, length);
        Ok(Next::Inside)
    }
}

/// What came next in a file.
enum Next {
    End,
    /// A header, or a block that is in the reader's own buffer.
    Inside,
    /// So many bytes, which are in the caller's buffer.
    Direct(usize),
}

/// Unpacks a block into a buffer that grows for it.
fn unpack_to(packed: &[u8], plain: &mut Vec<u8>, length: usize) -> Result<(), String> {
    if plain.len() < length {
        plain.resize(length, 0);
    }
    unpack(packed, &mut plain[..length])
}

/// A block that cannot hold what it declares is not believed.
fn check_length(packed: usize, length: usize) -> Result<(), String> {
    match length > packed.saturating_mul(255) {
        true => Err(format!(
            "a block declares {length} plain bytes, which {packed} packed ones cannot hold"
        )),
        false => Ok(()),
    }
}

/// Unpacks a block that fills `plain`.
fn unpack(packed: &[u8], plain: &mut [u8]) -> Result<(), String> {
    let length = plain.len();
    match lzo1x::decompress(packed, plain).map_err(|error| error.to_string())? {
        made if made == length => Ok(()),
        made => Err(format!("a block of {length} bytes holds {made}")),
    }
}

impl<R: BufRead> Read for LzopReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.used == self.ready {
            match self.next_block(buffer)? {
                Next::End => return Ok(0),
                Next::Inside => {}
                Next::Direct(count) => return Ok(count),
            }
        }
        let ready = &self.plain[self.used..self.ready];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.used += count;
        Ok(count)
    }
}

/// The checksums of one block.
#[derive(Default)]
struct Checks {
    plain: Sums,
    packed: Sums,
}

#[derive(Default)]
struct Sums {
    adler: Option<u32>,
    crc: Option<u32>,
}

impl Checks {
    fn read<R: BufRead>(
        &mut self,
        source: &mut Source<R>,
        there: Checksums,
        is_stored: bool,
    ) -> io::Result<()> {
        let mut one = |there: bool| there.then(|| source.u32(FORMAT)).transpose();
        self.plain.adler = one(there.adler_plain)?;
        self.plain.crc = one(there.crc_plain)?;
        self.packed.adler = one(there.adler_packed && !is_stored)?;
        self.packed.crc = one(there.crc_packed && !is_stored)?;
        Ok(())
    }
}

impl Sums {
    fn verify(&self, bytes: &[u8], which: &str) -> Result<(), String> {
        let compare = |name: &str, wanted: u32, found: u32| match wanted == found {
            true => Ok(()),
            false => Err(format!(
                "the {name} of a block's {which} bytes is {found:08x} and should be {wanted:08x}"
            )),
        };
        if let Some(wanted) = self.adler {
            compare("adler32", wanted, simd_adler32::adler32(&bytes))?;
        }
        match self.crc {
            Some(wanted) => compare("crc32", wanted, crc32fast::hash(bytes)),
            None => Ok(()),
        }
    }
}
