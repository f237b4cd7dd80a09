//! One JournalNode, as a NameNode asks it.

use crate::address::NamespaceInfo;
use crate::connection::Connection;
use bytes::Bytes;
use prost::Message;
use std::sync::Arc;
use zerohop_proto::Checked;
use zerohop_proto::hdfs::qjournal::*;
use zerohop_proto::hdfs::{NamespaceInfoProto, StorageInfoProto};
use zerohop_wire::TxId;

/// Why a JournalNode did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{node}: {reason}")]
pub(crate) struct Refusal {
    pub(crate) node: String,
    pub(crate) reason: String,
}

/// The extent of a segment on a JournalNode (`SegmentStateProto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentState {
    pub(crate) first: TxId,
    pub(crate) last: TxId,
    pub(crate) in_progress: bool,
}

/// What a JournalNode knows of a segment that is to be recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) state: Option<SegmentState>,
    pub(crate) accepted_in: Option<u64>,
    pub(crate) last_writer: u64,
    pub(crate) committed: Option<u64>,
}

/// What a JournalNode says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeState {
    pub(crate) promised: u64,
    /// Where its segments can be fetched, `http://host:port`.
    pub(crate) url: String,
}

/// The segments of a JournalNode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) committed: Option<u64>,
    pub(crate) url: String,
}

/// The calls to one JournalNode. They block.
#[derive(Clone)]
pub(crate) struct JournalNode {
    connection: Arc<dyn Connection>,
    journal: JournalIdProto,
}

type Result<T> = std::result::Result<T, Refusal>;

impl JournalNode {
    pub(crate) fn new(connection: Arc<dyn Connection>, journal: &str) -> Self {
        Self { connection, journal: JournalIdProto { identifier: journal.to_owned() } }
    }

    /// `host:port`
    pub(crate) fn name(&self) -> &str {
        self.connection.address()
    }

    pub(crate) fn refusal(&self, reason: impl Into<String>) -> Refusal {
        Refusal { node: self.name().to_owned(), reason: reason.into() }
    }

    fn call<Q: Message, A: Checked>(&self, method: &'static str, request: &Q) -> Result<A> {
        let answer = self.connection.call(method, &request.encode_to_vec());
        let answer = answer.map_err(|reason| self.refusal(reason))?;
        zerohop_proto::decode(answer).map_err(|problem| self.refusal(problem.to_string()))
    }

    /// The request's head for a writer's call.
    pub(crate) fn request(
        &self,
        epoch: u64,
        serial: u64,
        committed: Option<u64>,
    ) -> RequestInfoProto {
        RequestInfoProto {
            journal_id: self.journal.clone(),
            epoch,
            ipc_serial_number: serial,
            committed_tx_id: committed,
            name_service_id: None,
        }
    }

    pub(crate) fn is_formatted(&self) -> Result<bool> {
        let request = IsFormattedRequestProto { jid: self.journal.clone(), name_service_id: None };
        let answer: IsFormattedResponseProto = self.call("isFormatted", &request)?;
        Ok(answer.is_formatted)
    }

    pub(crate) fn format(&self, info: &NamespaceInfo) -> Result<()> {
        let request = FormatRequestProto {
            jid: self.journal.clone(),
            ns_info: info.into(),
            name_service_id: None,
            force: Some(true),
        };
        let _: FormatResponseProto = self.call("format", &request)?;
        Ok(())
    }

    pub(crate) fn state(&self) -> Result<NodeState> {
        let request =
            GetJournalStateRequestProto { jid: self.journal.clone(), name_service_id: None };
        let answer: GetJournalStateResponseProto = self.call("getJournalState", &request)?;
        Ok(NodeState {
            promised: answer.last_promised_epoch,
            url: self.url(answer.from_url.as_deref(), answer.http_port),
        })
    }

    /// The host that this JournalNode was named by, with the port that it says.
    fn url(&self, from_url: Option<&str>, port: u32) -> String {
        let host = self.name().rsplit_once(':').map_or(self.name(), |(host, _)| host);
        let told = from_url.and_then(|url| url.trim_end_matches('/').rsplit_once(':'));
        let port = told.and_then(|(_, port)| port.parse().ok()).unwrap_or(port);
        format!("http://{host}:{port}")
    }

    /// The first transaction of its last segment.
    pub(crate) fn new_epoch(&self, info: &NamespaceInfo, epoch: u64) -> Result<Option<TxId>> {
        let request = NewEpochRequestProto {
            jid: self.journal.clone(),
            ns_info: info.into(),
            epoch,
            name_service_id: None,
        };
        let answer: NewEpochResponseProto = self.call("newEpoch", &request)?;
        Ok(answer.last_segment_tx_id.map(|txid| TxId(txid as i64)))
    }

    pub(crate) fn start_segment(
        &self,
        req_info: RequestInfoProto,
        first: TxId,
        layout: i32,
    ) -> Result<()> {
        let request = StartLogSegmentRequestProto {
            req_info,
            txid: first.0 as u64,
            layout_version: Some(layout),
        };
        let _: StartLogSegmentResponseProto = self.call("startLogSegment", &request)?;
        Ok(())
    }

    pub(crate) fn write(
        &self,
        req_info: RequestInfoProto,
        segment: TxId,
        first: TxId,
        count: u32,
        records: Bytes,
    ) -> Result<()> {
        let request = JournalRequestProto {
            req_info,
            first_txn_id: first.0 as u64,
            num_txns: count,
            records,
            segment_txn_id: segment.0 as u64,
            name_service_id: None,
        };
        let _: JournalResponseProto = self.call("journal", &request)?;
        Ok(())
    }

    pub(crate) fn finalize(
        &self,
        req_info: RequestInfoProto,
        first: TxId,
        last: TxId,
    ) -> Result<()> {
        let request = FinalizeLogSegmentRequestProto {
            req_info,
            start_tx_id: first.0 as u64,
            end_tx_id: last.0 as u64,
        };
        let _: FinalizeLogSegmentResponseProto = self.call("finalizeLogSegment", &request)?;
        Ok(())
    }

    pub(crate) fn purge(&self, req_info: RequestInfoProto, before: TxId) -> Result<()> {
        let request = PurgeLogsRequestProto { req_info, min_tx_id_to_keep: before.0 as u64 };
        let _: PurgeLogsResponseProto = self.call("purgeLogs", &request)?;
        Ok(())
    }

    /// Asks whether the writer is still the promised one.
    pub(crate) fn heartbeat(&self, req_info: RequestInfoProto) -> Result<()> {
        let _: HeartbeatResponseProto =
            self.call("heartbeat", &HeartbeatRequestProto { req_info })?;
        Ok(())
    }

    pub(crate) fn prepare_recovery(
        &self,
        req_info: RequestInfoProto,
        first: TxId,
    ) -> Result<Prepared> {
        let request = PrepareRecoveryRequestProto { req_info, segment_tx_id: first.0 as u64 };
        let answer: PrepareRecoveryResponseProto = self.call("prepareRecovery", &request)?;
        Ok(Prepared {
            state: answer.segment_state.as_ref().map(Into::into),
            accepted_in: answer.accepted_in_epoch,
            last_writer: answer.last_writer_epoch,
            committed: answer.last_committed_tx_id,
        })
    }

    pub(crate) fn accept_recovery(
        &self,
        req_info: RequestInfoProto,
        state: SegmentState,
        url: &str,
    ) -> Result<()> {
        let state_to_accept = SegmentStateProto {
            start_tx_id: state.first.0 as u64,
            end_tx_id: state.last.0 as u64,
            is_in_progress: state.in_progress,
        };
        let request =
            AcceptRecoveryRequestProto { req_info, state_to_accept, from_url: url.to_owned() };
        let _: AcceptRecoveryResponseProto = self.call("acceptRecovery", &request)?;
        Ok(())
    }

    /// At most `count_max` edits from `since` on, out of its memory: how many, and their bytes behind a segment's header.
    pub(crate) fn recent_edits(&self, since: TxId, count_max: u32) -> Result<(u32, Bytes)> {
        let request = GetJournaledEditsRequestProto {
            jid: self.journal.clone(),
            since_tx_id: since.0 as u64,
            max_txns: count_max,
            name_service_id: None,
        };
        let answer: GetJournaledEditsResponseProto = self.call("getJournaledEdits", &request)?;
        Ok((answer.txn_count, answer.edit_log.unwrap_or_default()))
    }

    /// Removes the segments from `first` on.
    pub(crate) fn discard_segments(&self, req_info: RequestInfoProto, first: TxId) -> Result<()> {
        let request = DiscardSegmentsRequestProto {
            jid: self.journal.clone(),
            start_tx_id: first.0 as u64,
            name_service_id: None,
            req_info: Some(req_info),
        };
        let _: DiscardSegmentsResponseProto = self.call("discardSegments", &request)?;
        Ok(())
    }

    pub(crate) fn manifest(&self, since: TxId, in_progress_too: bool) -> Result<Manifest> {
        let request = GetEditLogManifestRequestProto {
            jid: self.journal.clone(),
            since_tx_id: since.0 as u64,
            in_progress_ok: Some(in_progress_too),
            name_service_id: None,
        };
        let answer: GetEditLogManifestResponseProto = self.call("getEditLogManifest", &request)?;
        let segments = answer.manifest.logs.iter().map(|log| SegmentState {
            first: TxId(log.start_tx_id as i64),
            last: TxId(log.end_tx_id as i64),
            in_progress: log.is_in_progress.unwrap_or(false),
        });
        Ok(Manifest {
            segments: segments.collect(),
            committed: answer.manifest.committed_txn_id,
            url: self.url(answer.from_url.as_deref(), answer.http_port),
        })
    }
}

impl From<&SegmentStateProto> for SegmentState {
    fn from(state: &SegmentStateProto) -> Self {
        Self {
            first: TxId(state.start_tx_id as i64),
            last: TxId(state.end_tx_id as i64),
            in_progress: state.is_in_progress,
        }
    }
}

impl From<&NamespaceInfo> for NamespaceInfoProto {
    fn from(info: &NamespaceInfo) -> Self {
        Self {
            build_version: String::new(),
            unused: 0,
            block_pool_id: info.block_pool_id.clone(),
            storage_info: StorageInfoProto {
                layout_version: info.layout as u32,
                namespce_id: info.namespace_id as u32,
                cluster_id: info.cluster_id.clone(),
                c_time: info.c_time_ms as u64,
            },
            software_version: SOFTWARE_VERSION.to_owned(),
            capabilities: None,
            state: None,
        }
    }
}

/// The release whose protocol this is.
const SOFTWARE_VERSION: &str = "3.4.3";
