//! The side file with checksums that Hadoop keeps beside a local file, verifies it by and never shows.
//! One that belongs to what the file was before makes the file unreadable for Hadoop's programs.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zerohop_system::files;

use crate::moves::move_path;

/// Bytes below one checksum of a local file.
const CRC_CHUNK: usize = 512;

/// Returns `true` for the name of a side file.
pub fn is_crc_file(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".crc")
}

fn crc_file(path: &str) -> PathBuf {
    let path = Path::new(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.crc"))
}

/// Removes the side file of a file that is removed or written anew.
pub(crate) fn remove_crc_file(path: &str) -> io::Result<()> {
    match std::fs::remove_file(crc_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// After a file was renamed: its side file goes with it, else that of the new name is removed.
pub(crate) fn move_crc_file(from: &str, to: &str) -> io::Result<()> {
    match move_path(&crc_file(from), &crc_file(to)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => remove_crc_file(to),
        moved => moved,
    }
}

/// Writes the side file `.NAME.crc` that Hadoop verifies a local file by: "crc", a zero byte, the
/// chunk size and the CRC-32 of each chunk, numbers big-endian.
///
/// # Errors
/// Fails if the file cannot be read, or the side file not written or closed.
pub fn write_crc_file(path: &str) -> io::Result<()> {
    let mut input = io::BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut output = io::BufWriter::new(File::create(crc_file(path))?);
    output.write_all(b"crc\0")?;
    output.write_all(&(CRC_CHUNK as u32).to_be_bytes())?;
    let mut chunk = Vec::with_capacity(CRC_CHUNK);
    loop {
        chunk.clear();
        input.by_ref().take(CRC_CHUNK as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return files::close(output.into_inner().map_err(|error| error.into_error())?);
        }
        let mut sum = flate2::Crc::new();
        sum.update(&chunk);
        output.write_all(&sum.sum().to_be_bytes())?;
    }
}
