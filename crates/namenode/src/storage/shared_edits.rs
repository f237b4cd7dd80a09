//! The journal that the NameNodes of a name service share.

use super::error::StorageError;
use super::shared_directory::SharedDirectory;
use super::shared_journal::SharedJournal;
use super::version::StorageInfo;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_journal::JournalError;
use zerohop_journal::log::{EditSource, EditStream, Journal, Recovery, Selection};
use zerohop_quorum::{NamespaceInfo, NodeStatus, QuorumAddress, QuorumJournal, QuorumOptions};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

/// Where the shared journal is (`dfs.namenode.shared.edits.dir`).
#[derive(Clone, Debug)]
pub enum SharedEditsConfig {
    /// On JournalNodes.
    Quorum(Box<QuorumConfig>),
    /// In a directory that all NameNodes' machines have.
    Directory {
        /// The directory.
        root: PathBuf,
        /// Larger records are taken for damage.
        op_size_max: usize,
    },
}

/// Where the JournalNodes are, and how patient their writer is (`dfs.qjournal.*`).
#[derive(Clone, Debug)]
pub struct QuorumConfig {
    /// The JournalNodes.
    pub address: QuorumAddress,
    /// Times and limits.
    pub options: QuorumOptions,
    /// Times and limits of connections.
    pub client: ClientOptions,
}

impl QuorumConfig {
    /// From the configuration, whose shared edits are at `text`.
    pub(super) fn from_conf(conf: &Conf, text: &str) -> Result<Self, ConfError> {
        let Ok(address) = text.parse() else {
            return Err(conf.misfit(
                keys::DFS_NAMENODE_SHARED_EDITS_DIR.name,
                "qjournal://HOST1:8485;HOST2:8485;HOST3:8485/NAMESERVICE, or one directory as file:///DIRECTORY",
            ));
        };
        let recent_max = conf.get(&keys::DFS_HA_TAIL_EDITS_QJM_RPC_MAX_TXNS)?.max(1);
        let options = QuorumOptions {
            start_segment: conf.get(&keys::DFS_QJOURNAL_START_SEGMENT_TIMEOUT_MS)?,
            write: conf.get(&keys::DFS_QJOURNAL_WRITE_TXNS_TIMEOUT_MS)?,
            state: conf.get(&keys::DFS_QJOURNAL_GET_JOURNAL_STATE_TIMEOUT_MS)?,
            new_epoch: conf.get(&keys::DFS_QJOURNAL_NEW_EPOCH_TIMEOUT_MS)?,
            prepare_recovery: conf.get(&keys::DFS_QJOURNAL_PREPARE_RECOVERY_TIMEOUT_MS)?,
            accept_recovery: conf.get(&keys::DFS_QJOURNAL_ACCEPT_RECOVERY_TIMEOUT_MS)?,
            finalize: conf.get(&keys::DFS_QJOURNAL_FINALIZE_SEGMENT_TIMEOUT_MS)?,
            read: conf.get(&keys::DFS_QJOURNAL_SELECT_INPUT_STREAMS_TIMEOUT_MS)?,
            fetch: conf
                .get(&keys::DFS_QJOURNAL_HTTP_READ_TIMEOUT_MS)?
                .min(conf.get(&keys::ZEROHOP_JOURNAL_TRANSFER_STALL_TIMEOUT_MS)?),
            recent_max: conf.get(&keys::DFS_HA_TAIL_EDITS_IN_PROGRESS)?.then_some(recent_max),
            queued_max: conf
                .get(&keys::DFS_QJOURNAL_QUEUED_EDITS_LIMIT_MB)?
                .saturating_mul(1 << 20),
            op_size_max: conf.get(&keys::DFS_NAMENODE_MAX_OP_SIZE)?.max(1024) as usize,
            ..QuorumOptions::default()
        };
        Ok(Self { address, options, client: ClientOptions::from_conf(conf)? })
    }
}

/// The shared journal.
pub(super) struct SharedEdits {
    journal: Box<dyn SharedJournal>,
    /// Whether this NameNode is the one that writes.
    is_writer: AtomicBool,
}

impl SharedEdits {
    /// Nothing is asked yet.
    pub(super) fn open(
        config: &SharedEditsConfig,
        info: &StorageInfo,
    ) -> Result<Arc<Self>, StorageError> {
        let config = match config {
            SharedEditsConfig::Quorum(config) => config,
            SharedEditsConfig::Directory { root, op_size_max } => {
                let journal = SharedDirectory::new(root.clone(), *op_size_max, info.clone());
                return Ok(Arc::new(Self::of(Box::new(journal))));
            }
        };
        let namespace = NamespaceInfo {
            namespace_id: info.namespace_id,
            cluster_id: info.cluster_id.clone(),
            block_pool_id: info.block_pool_id.clone(),
            c_time_ms: info.c_time_ms,
            layout: info.layout.0,
        };
        let QuorumConfig { address, options, client } = (**config).clone();
        if let Some(advice) = address.advice() {
            tracing::warn!("{}: {advice}", keys::DFS_NAMENODE_SHARED_EDITS_DIR.name);
        }
        let journal = QuorumJournal::new(address, namespace, options, &client)
            .map_err(StorageError::io("start threads for", "the shared edits"))?;
        Ok(Arc::new(Self::of(Box::new(journal))))
    }

    fn of(journal: Box<dyn SharedJournal>) -> Self {
        Self { journal, is_writer: AtomicBool::new(false) }
    }

    /// Whether the shared journal has this transaction.
    pub(super) fn holds(&self, txid: TxId) -> Result<bool, JournalError> {
        self.journal.holds(txid)
    }

    /// As `streams`, with the copy of every JournalNode that answers in time, not of a majority alone.
    pub(super) fn every_copy(
        &self,
        selection: Selection,
    ) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        self.journal.every_copy(selection)
    }

    /// How this NameNode stands with each JournalNode.
    pub(super) fn nodes(&self) -> Vec<NodeStatus> {
        self.journal.nodes()
    }

    /// Takes segments that begin with `first` or later out of use; on JournalNodes, all of them must be there.
    pub(super) fn discard_segments(&self, first: TxId) -> Result<(), JournalError> {
        self.journal.discard_segments(first)
    }

    /// Whether this NameNode writes, which only one of them may.
    pub(super) fn set_writer(&self, is_writer: bool) {
        self.is_writer.store(is_writer, Ordering::Release);
    }
}

impl fmt::Debug for SharedEdits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedEdits").field(&self.name()).finish()
    }
}

impl EditSource for SharedEdits {
    fn name(&self) -> String {
        self.journal.name()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        self.journal.streams(selection)
    }
}

impl Journal for SharedEdits {
    fn has_data(&self) -> Result<bool, JournalError> {
        self.journal.has_data()
    }

    fn format(&self) -> Result<(), JournalError> {
        self.journal.format()
    }

    fn recover_unfinalized_segments(&self) -> Recovery {
        self.journal.recover_unfinalized_segments()
    }

    fn start_segment(
        &self,
        first: TxId,
    ) -> Result<Box<dyn zerohop_journal::log::OpenSegment>, JournalError> {
        self.journal.start_segment(first)
    }

    /// Segments are not this NameNode's to remove while another one writes.
    fn purge(&self, before: TxId, kept: Option<RangeInclusive<i64>>) {
        if self.is_writer.load(Ordering::Acquire) {
            self.journal.purge(before, kept);
        }
    }

    fn close(&self) {
        self.journal.close();
    }
}
