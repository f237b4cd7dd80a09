//! What a replica is made of: the block file, mapped or not, and its checksums.

use super::map::Map;
use super::slots::Slot;
use super::windows::Windows;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use zerohop_wire::meta_header;

/// What a replica is opened from.
pub(super) struct Parts {
    /// The block file.
    pub(super) data: File,
    /// Its checksums.
    pub(super) meta: File,
    /// Where the DataNode says that the replica must not be used any more.
    pub(super) slot: Option<Slot>,
}

/// How a replica is used.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// Whether the block file is mapped.
    pub(super) map: bool,
    /// How long a replica without a slot is trusted.
    pub(super) trusted_for: Duration,
}

/// The block file.
pub(super) enum Data {
    Mapped(Map, Windows),
    File(File),
}

/// The checksums, without the header of their file.
pub(super) enum Sums {
    Mapped(Map),
    Kept(Vec<u8>),
}

impl Sums {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map.bytes().get(meta_header::LEN..).unwrap_or_default(),
            Self::Kept(bytes) => bytes,
        }
    }

    pub(super) fn is_poisoned(&self) -> bool {
        matches!(self, Self::Mapped(map) if map.is_poisoned())
    }
}

impl Data {
    /// `asks`: the kernel tells this user which of the file's pages it has in its cache.
    pub(super) fn of(file: File, len: u64, map: bool, asks: bool) -> Self {
        let Ok(len) = usize::try_from(len) else { return Self::File(file) };
        if !map {
            return Self::File(file);
        }
        match Map::new(&file, len) {
            Ok(map) => {
                // Who is not told what left the cache cannot ask for it again: the kernel must.
                if asks {
                    map.without_read_ahead();
                }
                Self::Mapped(map, Windows::new(len, asks))
            }
            Err(error) => {
                tracing::debug!("a block file of {len} bytes cannot be mapped: {error}");
                Self::File(file)
            }
        }
    }
}

impl Sums {
    pub(super) fn of(meta: &File, meta_len: u64) -> io::Result<Self> {
        let len = usize::try_from(meta_len).map_err(invalid)?;
        if let Ok(map) = Map::new(meta, len) {
            return Ok(Self::Mapped(map));
        }
        let mut bytes = vec![0; len.saturating_sub(meta_header::LEN)];
        meta.read_exact_at(&mut bytes, meta_header::LEN as u64)
            .map_err(|e| at("the meta file", e))?;
        Ok(Self::Kept(bytes))
    }
}

pub(super) fn at(what: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

pub(super) fn invalid(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
