//! Hadoop's compressions, all built in: what a native library does for Apache's client is code of this crate.
//!
//! [`Codec`] names a compression, by the extension of a file or by the name of Hadoop's class; [`Codecs`] is the
//! choice that `io.compression.codecs` leaves, as CompressionCodecFactory makes it. [`Codec::decoder`] reads a
//! compressed stream, [`Compressor`] and [`Encoder`] write one, [`parallel`] writes and reads on several threads.
//! [`lzo`] has LZO1X, lzop files and their index files; [`files`] shows files of records as text.
//!
//! Nothing is allocated because a stream declares a length: buffers grow with the bytes that have arrived. Data
//! that is damaged is an error of kind `InvalidData` or `UnexpectedEof` which holds a [`Damage`]: format, offset
//! in the compressed stream, cause. Errors of the stream below pass through as they are.

mod choose;
mod codec;
mod compressor;
mod damage;
mod decode;
pub mod files;
mod framed;
pub mod lzo;
pub mod parallel;
mod raw;
mod source;
mod zlib;

pub use choose::Codecs;
pub use codec::Codec;
pub use compressor::{Compressor, Encoder, Options};
pub use damage::Damage;
pub use decode::Decoded;
