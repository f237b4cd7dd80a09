//! In place of `local` where the client is built without local reads: no replica is ever open, and none can be.

use super::local_outcome::{CacheStatistics, Found, LocalError, OpenError};
use super::plan::{NotLocal, ReadReason};
use crate::settings::Settings;
use crate::types::{DatanodeInfo, LocatedBlock, Verify};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_checksum::SharedBytes;
use zerohop_transport::login::User;
use zerohop_transport::net::DataStream;
use zerohop_transport::rpc::ClientOptions;

/// What all readers of a client share: nothing.
pub(crate) struct LocalReads;

/// A replica that was opened.
pub(crate) struct Opened {
    pub(crate) replica: Arc<LocalReplica>,
    pub(crate) found: Found,
}

/// The answer of a DataNode about the files of a replica: none is asked.
pub(crate) enum ToldPaths {}

fn not_built() -> NotLocal {
    NotLocal::new(ReadReason::NotConfigured, "this client was built without local reads")
}

impl LocalReads {
    pub(crate) fn new(_: &Settings, _: String, _: &User, _: &ClientOptions) -> Self {
        Self
    }

    pub(crate) fn find_open(
        &self,
        _: &LocatedBlock,
        _: &DatanodeInfo,
    ) -> Option<Arc<LocalReplica>> {
        None
    }

    pub(crate) fn open(
        &self,
        _: &LocatedBlock,
        _: &DatanodeInfo,
        _: Option<ToldPaths>,
    ) -> Result<Opened, OpenError> {
        Err(OpenError::NotLocal(not_built()))
    }

    pub(crate) async fn ask_for_paths(
        &self,
        _: &LocatedBlock,
        _: &DatanodeInfo,
    ) -> Option<ToldPaths> {
        None
    }

    pub(crate) fn note(&self) -> &'static str {
        ""
    }

    pub(crate) fn socket_path(&self, _: &DatanodeInfo) -> PathBuf {
        PathBuf::new()
    }

    pub(crate) fn connect(&self, _: &DatanodeInfo) -> Result<DataStream, NotLocal> {
        Err(not_built())
    }

    pub(crate) fn is_back(&self, _: &DatanodeInfo) -> bool {
        false
    }

    pub(crate) fn close_idle(&self) {}

    pub(crate) fn forget(&self, _: &LocatedBlock, _: &DatanodeInfo, _: &Arc<LocalReplica>) {}

    pub(crate) fn statistics(&self) -> CacheStatistics {
        CacheStatistics::default()
    }
}

/// An open replica of this machine: there is none.
pub(crate) enum LocalReplica {}

impl LocalReplica {
    pub(crate) fn is_mapped(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_current(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_in_memory(&self, _: u64, _: usize) -> bool {
        match *self {}
    }

    pub(crate) fn is_cold(&self, _: u64, _: usize) -> bool {
        match *self {}
    }

    pub(crate) fn read(&self, _: u64, _: &mut [u8], _: Verify) -> Result<bool, LocalError> {
        match *self {}
    }

    pub(crate) fn was_cold_before(&self, _: u64) -> bool {
        match *self {}
    }

    pub(crate) fn read_ahead(&self, _: bool) {
        match *self {}
    }

    pub(crate) fn chunk_end(&self, _: u64) -> u64 {
        match *self {}
    }

    pub(crate) fn prefetch(&self, _: u64, _: usize) {
        match *self {}
    }
}

/// Bytes of a file, copied: this client was built without local reads.
pub struct ZeroCopyRead(Vec<u8>);

impl ZeroCopyRead {
    pub(crate) fn mapped(
        replica: &Arc<LocalReplica>,
        _: u64,
        _: usize,
        _: Verify,
    ) -> Result<Option<Self>, LocalError> {
        match **replica {}
    }

    pub(crate) fn copied(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none: the end of the file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes.
    pub fn bytes(&self) -> SharedBytes<'_> {
        SharedBytes::from(&self.0)
    }

    /// Gives up the recovery from faults, which copied bytes do not need.
    ///
    /// # Errors
    /// None.
    pub fn without_guard(self) -> io::Result<Self> {
        Ok(self)
    }

    /// The bytes as a slice.
    ///
    /// # Safety
    /// A client with local reads makes demands of the caller; here nothing can go wrong.
    pub unsafe fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// Whether the bytes lie in the map of a replica: never.
    pub fn is_mapped(&self) -> bool {
        false
    }

    /// The block file in which the bytes lie: none.
    ///
    /// # Errors
    /// None.
    pub fn file(&self) -> io::Result<Option<(BorrowedFd<'_>, u64)>> {
        Ok(None)
    }

    /// Whether the DataNode keeps the block locked in memory: never.
    pub fn is_anchored(&self) -> bool {
        false
    }

    /// Whether all bytes were read: always, as there is no map.
    pub fn is_intact(&self) -> bool {
        true
    }
}
