//! The C libraries that Hadoop calls, loaded at run time where they are installed: the measure for our decoders.

use std::ffi::{c_int, c_ulong};
use std::io;

use libloading::Library;
use zerohop_codec::Codec;

/// `uncompress` of zlib.
type Zlib = unsafe extern "C" fn(*mut u8, *mut c_ulong, *const u8, c_ulong) -> c_int;
/// `ZSTD_decompress`.
type Zstd = unsafe extern "C" fn(*mut u8, usize, *const u8, usize) -> usize;
/// `LZ4_decompress_safe`.
type Lz4 = unsafe extern "C" fn(*const u8, *mut u8, c_int, c_int) -> c_int;
/// `snappy_uncompress`.
type Snappy = unsafe extern "C" fn(*const u8, usize, *mut u8, *mut usize) -> c_int;
/// `lzo1x_decompress_safe`.
type Lzo = unsafe extern "C" fn(*const u8, usize, *mut u8, *mut usize, *mut u8) -> c_int;

/// The function of a library that unpacks.
enum Function {
    Zlib(Zlib),
    Zstd(Zstd),
    Lz4(Lz4),
    Snappy(Snappy),
    Lzo(Lzo),
}

/// A library that unpacks what a codec packs.
pub(super) struct CLibrary {
    name: &'static str,
    function: Function,
    /// Keeps the function where it is.
    _library: Library,
}

impl CLibrary {
    /// The library for a codec.
    ///
    /// # Errors
    /// The name of the library, where it is not installed.
    pub(super) fn open(codec: Codec) -> Result<CLibrary, &'static str> {
        let (name, symbol) = match codec {
            Codec::Deflate => ("libz.so.1", "uncompress"),
            Codec::Zstandard => ("libzstd.so.1", "ZSTD_decompress"),
            Codec::Lz4 => ("liblz4.so.1", "LZ4_decompress_safe"),
            Codec::Snappy => ("libsnappy.so.1", "snappy_uncompress"),
            Codec::Lzo => ("liblzo2.so.2", "lzo1x_decompress_safe"),
            _ => return Err("none"),
        };
        CLibrary::load(codec, name, symbol).ok_or(name)
    }

    fn load(codec: Codec, name: &'static str, symbol: &str) -> Option<CLibrary> {
        // SAFETY: these libraries' initializers have no effect on the process but their own state, and the types are
        // those of their headers; a wrong one would call a function with other arguments than it reads.
        let (library, function) = unsafe {
            let library = Library::new(name).ok()?;
            let function = match codec {
                Codec::Deflate => Function::Zlib(*library.get::<Zlib>(symbol).ok()?),
                Codec::Zstandard => Function::Zstd(*library.get::<Zstd>(symbol).ok()?),
                Codec::Lz4 => Function::Lz4(*library.get::<Lz4>(symbol).ok()?),
                Codec::Snappy => Function::Snappy(*library.get::<Snappy>(symbol).ok()?),
                _ => Function::Lzo(*library.get::<Lzo>(symbol).ok()?),
            };
            (library, function)
        };
        Some(CLibrary { name, function, _library: library })
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Unpacks a stream of ours to `plain`, which it fills.
    pub(super) fn unpack(&self, packed: &[u8], plain: &mut [u8]) -> io::Result<()> {
        let failed = || io::Error::other(format!("{} failed", self.name));
        match &self.function {
            Function::Zlib(function) => {
                let mut length = plain.len() as c_ulong;
                let (from, count) = (packed.as_ptr(), packed.len() as c_ulong);
                // SAFETY: both ranges are those of slices, and the library stays within the lengths it is given.
                let code = unsafe { function(plain.as_mut_ptr(), &mut length, from, count) };
                if code == 0 && length as usize == plain.len() { Ok(()) } else { Err(failed()) }
            }
            Function::Zstd(function) => {
                let (to, room) = (plain.as_mut_ptr(), plain.len());
                // SAFETY: as above.
                let made = unsafe { function(to, room, packed.as_ptr(), packed.len()) };
                if made == plain.len() { Ok(()) } else { Err(failed()) }
            }
            _ => self.unpack_frames(packed, plain).ok_or_else(failed),
        }
    }

    /// Hadoop's frames, one chunk a block: plain length, packed length, bytes.
    fn unpack_frames(&self, mut packed: &[u8], mut plain: &mut [u8]) -> Option<()> {
        while !packed.is_empty() {
            let (length, rest) = packed.split_first_chunk::<4>()?;
            let (count, rest) = rest.split_first_chunk::<4>()?;
            let (length, count) = (u32::from_be_bytes(*length), u32::from_be_bytes(*count));
            let (chunk, rest) = rest.split_at_checked(count as usize)?;
            let (target, left) = plain.split_at_mut_checked(length as usize)?;
            (self.unpack_chunk(chunk, target)? == target.len()).then_some(())?;
            (packed, plain) = (rest, left);
        }
        plain.is_empty().then_some(())
    }

    fn unpack_chunk(&self, chunk: &[u8], target: &mut [u8]) -> Option<usize> {
        let (from, to, mut room) = (chunk.as_ptr(), target.as_mut_ptr(), target.len());
        match &self.function {
            Function::Lz4(function) => {
                let (count, room) =
                    (c_int::try_from(chunk.len()).ok()?, c_int::try_from(room).ok()?);
                // SAFETY: both ranges are those of slices, and the library stays within the lengths it is given.
                usize::try_from(unsafe { function(from, to, count, room) }).ok()
            }
            Function::Snappy(function) => {
                // SAFETY: as above.
                let code = unsafe { function(from, chunk.len(), to, &mut room) };
                (code == 0).then_some(room)
            }
            Function::Lzo(function) => {
                // SAFETY: as above; decompression uses no working memory.
                let code =
                    unsafe { function(from, chunk.len(), to, &mut room, std::ptr::null_mut()) };
                (code == 0).then_some(room)
            }
            Function::Zlib(_) | Function::Zstd(_) => None,
        }
    }
}
