//! One verified read of a replica's files.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use zerohop_wire::checksum_type::{ChecksumError, DataChecksum};
use zerohop_wire::meta_header;

/// Bytes read at a time, before rounding to whole chunks.
const READ_LEN: u64 = 1 << 20;

/// A longer chunk is damage of the meta file's header.
const CHUNK_MAX: usize = 16 << 20;

/// What is wrong with a replica.
#[derive(Debug)]
pub enum Damage {
    /// The meta file: what it is like.
    Meta(String),
    /// The data: what it is like.
    Data(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Damage::Meta(text) | Damage::Data(text)) = self;
        f.write_str(text)
    }
}

/// Reads `len` bytes and compares them with their checksums.
pub fn verify(data: &File, meta: &File, len: u64) -> Result<DataChecksum, Damage> {
    let checksum = header(meta)?;
    if checksum.bytes_per_checksum() > CHUNK_MAX {
        return Err(Damage::Meta(format!("chunks of {} bytes", checksum.bytes_per_checksum())));
    }
    let step = checksum.chunk_end(READ_LEN.min(len.max(1)));
    let mut bytes = vec![0; usize::try_from(step).unwrap_or(0)];
    let mut offset = 0;
    while offset < len {
        let part = usize::try_from(step.min(len - offset)).unwrap_or(0);
        let Some(bytes) = bytes.get_mut(..part) else { break };
        data.read_exact_at(bytes, offset).map_err(|error| unread("block file", len, error))?;
        let mut sums = vec![0; checksum.sums_len(part)];
        let at = meta_header::sum_offset(checksum, offset);
        meta.read_exact_at(&mut sums, at).map_err(|error| {
            Damage::Meta(
                unread("meta file", meta_header::file_len(checksum, len), error).to_string(),
            )
        })?;
        checksum.verify(bytes, &sums).map_err(|error| mismatch(checksum, offset, error))?;
        offset += part as u64;
    }
    Ok(checksum)
}

fn header(meta: &File) -> Result<DataChecksum, Damage> {
    let mut head = [0; meta_header::LEN];
    meta.read_exact_at(&mut head, 0).map_err(|error| {
        let len = meta.metadata().map_or(0, |found| found.len());
        Damage::Meta(format!("the meta file has {len} bytes, not even a header: {error}"))
    })?;
    let (version, checksum) = meta_header::decode(head)
        .map_err(|error| Damage::Meta(format!("the meta file's header: {error}")))?;
    if version != meta_header::VERSION {
        return Err(Damage::Meta(format!(
            "the meta file has version {version}, only {} is known",
            meta_header::VERSION
        )));
    }
    Ok(checksum)
}

fn unread(what: &str, len: u64, error: io::Error) -> Damage {
    Damage::Data(match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the {what} is shorter than its {len} bytes"),
        _ => format!("the {what} cannot be read: {error}"),
    })
}

fn mismatch(checksum: DataChecksum, offset: u64, error: ChecksumError) -> Damage {
    match error {
        ChecksumError::Mismatch(bad) => {
            let chunk = bad.index as u64 * checksum.bytes_per_checksum() as u64;
            Damage::Data(format!("the data at {} does not match its checksum", offset + chunk))
        }
        other => Damage::Meta(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn each_damage_is_told() {
        let checksum = DataChecksum::default();
        let data: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        let mut sums = vec![0; checksum.sums_len(data.len())];
        checksum.compute(&data, &mut sums).unwrap();
        let meta = [&meta_header::encode(checksum)[..], &sums].concat();
        let len = data.len() as u64;
        let of = |data: &[u8], meta: &[u8]| {
            verify(&file(data), &file(meta), len).err().map(|damage| damage.to_string())
        };
        assert_eq!(of(&data, &meta), None);
        let mut flipped = data.clone();
        flipped[1_500_000] ^= 1;
        let found = of(&flipped, &meta).unwrap();
        assert_eq!(found, "the data at 1499648 does not match its checksum");
        assert!(of(&data[..len as usize - 1], &meta).unwrap().contains("shorter than its 3000000"));
        assert!(of(&data, &meta[..3]).unwrap().contains("not even a header"));
        assert!(of(&data, &meta[..100]).unwrap().contains("meta file is shorter"));
        let mut other = meta.clone();
        other[1] = 9;
        assert!(of(&data, &other).unwrap().contains("version 9"));
    }
}
