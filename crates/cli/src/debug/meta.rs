//! Meta files: read, compared with their data, made.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use zerohop_conf::{Conf, keys};
use zerohop_wire::checksum_type::{ChecksumError, ChecksumType, DataChecksum};
use zerohop_wire::meta_header;

use crate::failure::{Failure, Outcome};

/// Chunks that are read at once.
const CHUNKS: usize = 32 << 10;
/// Bytes that are read at once, also if a damaged header claims larger chunks.
const READ_MAX: usize = 64 << 20;

/// Why a block file was not found good.
pub enum Problem {
    /// A file cannot be read.
    Unread(String),
    /// Data and checksums differ.
    Mismatch(String),
}

/// Opens a meta file; it is behind its header.
pub fn open(path: &Path) -> Result<(File, DataChecksum), String> {
    let mut meta = File::open(path).map_err(|error| error.to_string())?;
    let mut head = [0; meta_header::LEN];
    meta.read_exact(&mut head).map_err(|error| format!("no whole header: {error}"))?;
    let (_, checksum) = meta_header::decode(head).map_err(|error| error.to_string())?;
    Ok((meta, checksum))
}

/// Compares a block file with the sums behind the header of its meta file.
pub fn verify(block: &Path, mut meta: &File, checksum: DataChecksum) -> Result<(), Problem> {
    let unread = |what: &str, error: std::io::Error| {
        Problem::Unread(format!("{}: the {what} cannot be read: {error}", block.display()))
    };
    let mut data = File::open(block).map_err(|error| unread("block file", error))?;
    let mut offset = 0_u64;
    let mut buffer = buffer(checksum).ok_or_else(|| {
        Problem::Mismatch(format!("chunks of {} bytes", checksum.bytes_per_checksum()))
    })?;
    loop {
        let part = fill(&mut data, &mut buffer).map_err(|error| unread("block file", error))?;
        if part.is_empty() {
            return Ok(());
        }
        let mut sums = vec![0; checksum.sums_len(part.len())];
        meta.read_exact(&mut sums).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Problem::Mismatch(format!(
                "the meta file has no checksums for all data from byte {offset} on"
            )),
            _ => unread("meta file", error),
        })?;
        checksum.verify(part, &sums).map_err(|error| {
            Problem::Mismatch(match error {
                ChecksumError::Mismatch(bad) => {
                    let chunk = bad.index as u64 * checksum.bytes_per_checksum() as u64;
                    format!("the data at byte {} does not match its checksum", offset + chunk)
                }
                other => other.to_string(),
            })
        })?;
        offset += part.len() as u64;
    }
}

/// Room for whole chunks; `None` where a chunk is larger than any real one.
fn buffer(checksum: DataChecksum) -> Option<Vec<u8>> {
    let chunk = checksum.bytes_per_checksum();
    (chunk <= READ_MAX).then(|| vec![0; chunk * CHUNKS.min(READ_MAX / chunk)])
}

/// Fills the buffer, or takes what is left.
fn fill<'a>(input: &mut impl Read, buffer: &'a mut [u8]) -> std::io::Result<&'a [u8]> {
    let mut len = 0;
    while let Some(rest) = buffer.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => len += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.get(..len).unwrap_or_default())
}

/// The checksums that the configuration asks for.
pub fn configured(conf: &Conf) -> Outcome<DataChecksum> {
    let kind =
        conf.get_as(&keys::DFS_CHECKSUM_TYPE, "one of CRC32C, CRC32, NULL", |name: String| {
            ChecksumType::from_name(&name)
        })?;
    let checksum =
        conf.get_as(&keys::DFS_BYTES_PER_CHECKSUM, "a number of bytes above 0", |len| {
            DataChecksum::new(kind, u32::try_from(len).ok()?).ok()
        })?;
    Ok(checksum)
}

/// Writes the meta file of a block file.
pub fn compute(block: &Path, out: &Path, checksum: DataChecksum) -> Outcome {
    let cannot =
        |what: &Path, error: std::io::Error| Failure::io(format!("{}: {error}", what.display()));
    let mut data = BufReader::new(File::open(block).map_err(|error| cannot(block, error))?);
    let mut buffer =
        buffer(checksum).ok_or_else(|| Failure::io("dfs.bytes-per-checksum is too large"))?;
    let made = File::create_new(out).map_err(|error| cannot(out, error))?;
    let mut meta = BufWriter::new(made);
    let written = |result: std::io::Result<()>| result.map_err(|error| cannot(out, error));
    written(meta.write_all(&meta_header::encode(checksum)))?;
    loop {
        let part = fill(&mut data, &mut buffer).map_err(|error| cannot(block, error))?;
        if part.is_empty() {
            let file = meta.into_inner().map_err(std::io::IntoInnerError::into_error);
            return written(file.and_then(zerohop_system::files::close));
        }
        let mut sums = vec![0; checksum.sums_len(part.len())];
        checksum.compute(part, &mut sums).map_err(Failure::of)?;
        written(meta.write_all(&sums))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computed_meta_file_verifies_until_a_bit_flips() {
        let directory = tempfile::tempdir().unwrap();
        let (block, out) = (directory.path().join("blk_1"), directory.path().join("blk_1_1.meta"));
        let mut data: Vec<u8> = (0..40_000_000_u32).map(|n| (n % 251) as u8).collect();
        std::fs::write(&block, &data).unwrap();
        compute(&block, &out, configured(&Conf::new()).unwrap()).unwrap();
        let checked = || {
            let (meta, checksum) = open(&out).unwrap();
            verify(&block, &meta, checksum)
        };
        assert!(checked().is_ok());
        data[33_000_000] ^= 1;
        std::fs::write(&block, &data).unwrap();
        match checked() {
            Err(Problem::Mismatch(text)) => {
                assert_eq!(text, "the data at byte 32999936 does not match its checksum");
            }
            _ => panic!("a flipped bit was not found"),
        }
        data.push(0);
        std::fs::write(&block, &data[40_000_000..]).unwrap();
        std::fs::write(&out, [0, 1, 2]).unwrap();
        assert!(open(&out).unwrap_err().contains("no whole header"));
    }
}
