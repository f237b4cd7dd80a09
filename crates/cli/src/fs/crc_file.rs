//! The side file with checksums that Hadoop keeps beside a local file.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use crate::failure::Outcome;

/// Bytes below one checksum of a local file.
const CRC_CHUNK: usize = 512;

/// Writes the side file `.NAME.crc` that Hadoop verifies a local file by: "crc", a zero byte, the
/// chunk size and the CRC-32 of each chunk, numbers big-endian.
pub fn write_crc_file(path: &str) -> Outcome {
    let path = Path::new(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut input = std::io::BufReader::with_capacity(1 << 20, File::open(path)?);
    let side = path.with_file_name(format!(".{name}.crc"));
    let mut output = std::io::BufWriter::new(File::create(side)?);
    output.write_all(b"crc\0")?;
    output.write_all(&(CRC_CHUNK as u32).to_be_bytes())?;
    let mut chunk = Vec::with_capacity(CRC_CHUNK);
    loop {
        chunk.clear();
        input.by_ref().take(CRC_CHUNK as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Ok(output.flush()?);
        }
        let mut sum = flate2::Crc::new();
        sum.update(&chunk);
        output.write_all(&sum.sum().to_be_bytes())?;
    }
}
