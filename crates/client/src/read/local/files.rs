//! What a replica is made of: the block file, mapped or not, and its checksums.

use super::descriptors::{Descriptors, KeptFile};
use super::map::{Map, UnguardedMap};
use super::slots::Slot;
use super::windows::Windows;
use rustix::fs::Advice;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zerohop_checksum::SharedBytes;
use zerohop_wire::meta_header;

/// Bytes that the disk is asked for at once.
const WANTED_MAX: usize = 8 << 20;

/// What a replica is opened from.
pub(super) struct Parts {
    /// The block file.
    pub(super) data: File,
    /// Its checksums.
    pub(super) meta: File,
    /// The slot in which the DataNode revokes the replica.
    pub(super) slot: Option<Slot>,
}

/// How a replica is used.
#[derive(Clone)]
pub(super) struct Use {
    /// Whether the block file is mapped.
    pub(super) map: bool,
    /// How long a replica without a slot is trusted.
    pub(super) trusted_for: Duration,
    /// The files that stay open beside their maps.
    pub(super) descriptors: Arc<Descriptors>,
}

/// The block file.
pub(super) enum Data {
    Mapped(Mapped),
    File(File),
}

/// A mapped block file.
pub(super) struct Mapped {
    pub(super) map: Map,
    pub(super) windows: Windows,
    /// For reads of what is not in the page cache.
    file: Option<KeptFile>,
    /// The second map, made for the first read that needs it.
    unguarded: OnceLock<Arc<UnguardedMap>>,
}

impl Mapped {
    /// Returns the map in which a page that cannot be had raises SIGBUS.
    pub(super) fn unguarded(&self) -> io::Result<Arc<UnguardedMap>> {
        if let Some(made) = self.unguarded.get() {
            return Ok(Arc::clone(made));
        }
        let fresh = Arc::new(self.map.unguarded(self.file())?);
        Ok(Arc::clone(self.unguarded.get_or_init(|| fresh)))
    }

    /// The file from which a range is to be read, where that is faster than reading it from the map.
    #[inline]
    pub(super) fn file_for(&self, range: &Range<usize>) -> Option<&File> {
        let file = self.file.as_ref()?;
        self.windows.is_cold(&self.map, range).then(|| file.file())
    }

    /// The same for a read that follows at once. One that does not continue the last one has the disk asked for all of it, up to
    /// [`WANTED_MAX`]: the kernel would bring little at first, and what lies behind the range as well.
    #[inline]
    pub(super) fn file_to_read(&self, range: &Range<usize>) -> Option<&File> {
        let goes_on = self.windows.was_cold_before(range.start);
        let file = self.file_for(range)?;
        let wanted = range.len().min(WANTED_MAX) as u64;
        if !goes_on && let Some(len) = NonZeroU64::new(wanted) {
            // A hint.
            let _ = rustix::fs::fadvise(file, range.start as u64, Some(len), Advice::WillNeed);
        }
        Some(file)
    }

    /// Whether a range is to be read from the file, because it has to come from the disk.
    pub(super) fn is_cold(&self, range: &Range<usize>) -> bool {
        self.file_for(range).is_some()
    }

    /// The block file, where it is open beside its map.
    pub(super) fn file(&self) -> Option<&File> {
        self.file.as_ref().map(KeptFile::file)
    }
}

/// The checksums, without the header of their file.
pub(super) enum Sums {
    Mapped(Map),
    Kept(Vec<u8>),
}

impl Sums {
    pub(super) fn bytes(&self) -> SharedBytes<'_> {
        match self {
            Self::Mapped(map) => {
                let bytes = map.bytes();
                bytes.get(meta_header::LEN..bytes.len()).unwrap_or(SharedBytes::from(&[]))
            }
            Self::Kept(bytes) => SharedBytes::from(bytes),
        }
    }

    pub(super) fn is_poisoned(&self) -> bool {
        matches!(self, Self::Mapped(map) if map.is_poisoned())
    }
}

impl Data {
    /// `asks`: the kernel shows this user which of the file's pages are in its cache.
    pub(super) fn of(file: File, len: u64, how: &Use, asks: bool) -> Self {
        let Ok(len) = usize::try_from(len) else { return Self::File(file) };
        if !how.map {
            return Self::File(file);
        }
        match Map::new(&file, len) {
            Ok(map) => {
                // Without knowledge of what left the cache this process cannot ask for it again: the kernel must.
                if asks {
                    map.without_read_ahead();
                }
                let windows = Windows::new(len, asks);
                let (file, unguarded) = (how.descriptors.keep(file), OnceLock::new());
                Self::Mapped(Mapped { map, windows, file, unguarded })
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
