//! What is known of one file.

use zerohop_client::blocking::FileSystem;
use zerohop_client::{Error, ErrorKind as Kind};

use crate::promises::broken;

/// A file's content as far as it was written, and how much of that was acknowledged.
#[derive(Clone)]
pub struct Known {
    /// All bytes that were handed to the client.
    pub bytes: Vec<u8>,
    /// So many of them must be there: closed or flushed.
    pub sure: usize,
    pub replication: u16,
}

impl Known {
    pub fn whole(bytes: Vec<u8>, replication: u16) -> Self {
        Self { sure: bytes.len(), bytes, replication }
    }

    /// Whether a file may look like this. After `sure` it may end anywhere.
    pub fn may_be(&self, found: &[u8]) -> Result<(), String> {
        let common = found.iter().zip(&self.bytes).take_while(|(a, b)| a == b).count();
        match found.len() {
            len if len < self.sure => {
                Err(broken("F1", format!("{len} bytes, and {} were acknowledged", self.sure)))
            }
            len if len > self.bytes.len() => Err(broken(
                "F2",
                format!("{len} bytes, and only {} were written", self.bytes.len()),
            )),
            len if common < len => {
                Err(broken("F2", format!("wrong bytes from {common} on, of {len}")))
            }
            _ => Ok(()),
        }
    }
}

/// The whole content of a file.
pub fn content(fs: &FileSystem, path: &str) -> Result<Vec<u8>, Error> {
    let mut reader = fs.open(path)?;
    let mut bytes = vec![0; usize::try_from(reader.len()).unwrap_or(0)];
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read_some(&mut bytes[filled..])? {
            0 => return Err(Error::new(Kind::Io, format!("{path} ends at {filled}"))),
            count => filled += count,
        }
    }
    Ok(bytes)
}
