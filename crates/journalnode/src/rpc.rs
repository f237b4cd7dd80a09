//! `QJournalProtocol`, which NameNodes speak, and `InterQJournalProtocol`, which other JournalNodes speak.

use crate::allowed_hosts::AllowedHosts;
use crate::calls::{Manifest, RequestInfo, Write};
use crate::download::HttpSource;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::journals::{Journals, OpenJournal};
use crate::segments::SegmentState;
use crate::storage::StorageInfo;
use bytes::Bytes;
use prost::Message;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_proto::Checked;
use zerohop_proto::hdfs::qjournal::*;
use zerohop_proto::hdfs::{RemoteEditLogManifestProto, RemoteEditLogProto, StorageInfoProto};
use zerohop_transport::rpc::server::{
    CallContext, Reply, RpcService, decode_param, no_such_method,
};
use zerohop_wire::{RemoteException, TxId};

const NAMENODES: &str = "org.apache.hadoop.hdfs.qjournal.protocol.QJournalProtocol";
pub(crate) const JOURNAL_NODES: &str =
    "org.apache.hadoop.hdfs.qjournal.protocol.InterQJournalProtocol";
pub(crate) const VERSION: u64 = 1;

/// Answers calls for journals.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) journals: Arc<Journals>,
    pub(crate) hosts: Arc<AllowedHosts>,
    /// Where `/getJournal` is, for those who fetch segments.
    pub(crate) http: Arc<HttpAddress>,
}

/// The address of the HTTP server.
#[derive(Clone, Debug)]
pub(crate) struct HttpAddress {
    pub(crate) port: u16,
    /// `http://host:port`
    pub(crate) url: String,
}

/// The protocol of NameNodes.
pub(crate) struct QJournalProtocol(pub(crate) Calls);

/// The protocol of JournalNodes.
pub(crate) struct InterQJournalProtocol(pub(crate) Calls);

impl RpcService for InterQJournalProtocol {
    fn protocol(&self) -> &'static str {
        JOURNAL_NODES
    }

    fn version(&self) -> u64 {
        VERSION
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        let (calls, method) = (self.0.clone(), method.to_owned());
        self.0.admit(context.remote, move || match &*method {
            "getEditLogManifestFromJournal" => calls.manifest(param),
            _ => Reply::exception(no_such_method(JOURNAL_NODES, &method)),
        })
    }
}

impl RpcService for QJournalProtocol {
    fn protocol(&self) -> &'static str {
        NAMENODES
    }

    fn version(&self) -> u64 {
        VERSION
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        if self.0.hosts.is_known(context.remote.ip()) {
            return self.0.answer(&context, method, param);
        }
        let (calls, method, remote) = (self.0.clone(), method.to_owned(), context.remote);
        self.0.admit(remote, move || calls.answer(&context, &method, param))
    }
}

/// The layout of NameNodes that do not name theirs (HDFS-3863: before 2.0.4).
const LAYOUT_UNSAID: i32 = -40;

impl Calls {
    /// Answers a call if its host may call this JournalNode. For an unknown host, the names are resolved again first.
    fn admit(&self, remote: SocketAddr, answer: impl FnOnce() -> Reply + Send + 'static) -> Reply {
        if self.hosts.is_known(remote.ip()) {
            return answer();
        }
        let hosts = Arc::clone(&self.hosts);
        Reply::later(async move {
            hosts.check(remote.ip()).await.map_err(|error| error.to_exception())?;
            answer().answer().await
        })
    }

    /// Answers a NameNode's call.
    fn answer(&self, context: &CallContext, method: &str, param: Bytes) -> Reply {
        let (calls, client) = (self, context.ids.client_id);
        match method {
            "journal" => calls.write(param),
            "heartbeat" => calls.ordered(param, |journal, call: HeartbeatRequestProto| {
                journal.check((&call.req_info).into())?;
                Ok(HeartbeatResponseProto {})
            }),
            "startLogSegment" => {
                calls.ordered(param, |journal, call: StartLogSegmentRequestProto| {
                    let layout = call.layout_version.unwrap_or(LAYOUT_UNSAID);
                    journal.start_segment((&call.req_info).into(), txid(call.txid), layout)?;
                    Ok(StartLogSegmentResponseProto {})
                })
            }
            "finalizeLogSegment" => {
                calls.ordered(param, |journal, call: FinalizeLogSegmentRequestProto| {
                    let (first, last) = (txid(call.start_tx_id), txid(call.end_tx_id));
                    journal.finalize((&call.req_info).into(), first, last)?;
                    Ok(FinalizeLogSegmentResponseProto {})
                })
            }
            "purgeLogs" => calls.ordered(param, |journal, call: PurgeLogsRequestProto| {
                journal.purge((&call.req_info).into(), txid(call.min_tx_id_to_keep))?;
                Ok(PurgeLogsResponseProto {})
            }),
            "prepareRecovery" => calls.ordered(param, prepare_recovery),
            "acceptRecovery" => calls.accept_recovery(param),
            "isFormatted" => calls.is_formatted(param),
            "getJournalState" => calls.state(param),
            "newEpoch" => calls.ordered(param, move |journal, call: NewEpochRequestProto| {
                let last = journal.new_epoch(&(&call.ns_info.storage_info).into(), call.epoch)?;
                journal.promised_to(client);
                Ok(NewEpochResponseProto { last_segment_tx_id: last.map(|txid| txid.0 as u64) })
            }),
            "format" => calls.format(param),
            "getEditLogManifest" => calls.manifest(param),
            "getJournaledEdits" => {
                calls.ordered(param, |journal, call: GetJournaledEditsRequestProto| {
                    let (count, edits) = journal.edits(call.since_tx_id, call.max_txns.into())?;
                    let edit_log = (count > 0).then_some(edits);
                    Ok(GetJournaledEditsResponseProto { txn_count: count as u32, edit_log })
                })
            }
            "getJournalCTime" => calls.ordered(param, |journal, _: GetJournalCTimeRequestProto| {
                Ok(GetJournalCTimeResponseProto { result_c_time: journal.c_time()? })
            }),
            "doPreUpgrade" => calls.ordered(param, |journal, _: DoPreUpgradeRequestProto| {
                journal.begin_upgrade()?;
                Ok(DoPreUpgradeResponseProto {})
            }),
            "doUpgrade" => calls.ordered(param, |journal, call: DoUpgradeRequestProto| {
                journal.complete_upgrade(&(&call.s_info).into())?;
                Ok(DoUpgradeResponseProto {})
            }),
            "doFinalize" => calls.ordered(param, |journal, _: DoFinalizeRequestProto| {
                journal.finalize_upgrade()?;
                Ok(DoFinalizeResponseProto {})
            }),
            "canRollBack" => calls.ordered(param, |journal, call: CanRollBackRequestProto| {
                let (now, before) = ((&call.storage).into(), (&call.prev_storage).into());
                let can = journal.can_roll_back(&now, &before, call.target_layout_version)?;
                Ok(CanRollBackResponseProto { can_roll_back: can })
            }),
            "doRollback" => calls.ordered(param, |journal, _: DoRollbackRequestProto| {
                journal.roll_back()?;
                Ok(DoRollbackResponseProto {})
            }),
            "discardSegments" => {
                calls.ordered(param, move |journal, call: DiscardSegmentsRequestProto| {
                    let first = txid(call.start_tx_id);
                    match &call.req_info {
                        Some(info) => journal.discard_from(info.into(), first)?,
                        None => journal.discard_for(client, first)?,
                    }
                    Ok(DiscardSegmentsResponseProto {})
                })
            }
            _ => Reply::exception(no_such_method(NAMENODES, method)),
        }
    }

    /// Carries a call out behind those of the same journal that came before.
    fn ordered<Q, A>(
        &self,
        param: Bytes,
        call: impl FnOnce(&mut Journal, Q) -> Result<A> + Send + 'static,
    ) -> Reply
    where
        Q: Checked + Named + Send + 'static,
        A: Message + 'static,
    {
        let request: Q = match decode_param(param) {
            Ok(request) => request,
            Err(exception) => return Reply::exception(exception),
        };
        match self.journals.get(request.journal(), request.service()) {
            Ok(journal) => later(journal.worker.run(move |journal| call(journal, request))),
            Err(error) => Reply::exception(error.to_exception()),
        }
    }

    fn write(&self, param: Bytes) -> Reply {
        let request: JournalRequestProto = match decode_param(param) {
            Ok(request) => request,
            Err(exception) => return Reply::exception(exception),
        };
        let info = &request.req_info;
        let service = request.name_service_id.as_deref().or(info.name_service_id.as_deref());
        let journal = match self.journals.get(&info.journal_id.identifier, service) {
            Ok(journal) => journal,
            Err(error) => return Reply::exception(error.to_exception()),
        };
        let mut write = Write {
            request: info.into(),
            segment: txid(request.segment_txn_id),
            first: txid(request.first_txn_id),
            count: request.num_txns,
            records: request.records,
        };
        // All connections have this thread, which waits for the disk. With one journal other calls would wait for the write in any
        // case; with several, a disk that hangs must not hold up journals on other disks.
        if self.journals.has_no_other(&journal) {
            match journal.worker.write_now(write) {
                Ok(Ok(())) => return Reply::message(&JournalResponseProto {}),
                Ok(Err(error)) => return Reply::exception(error.to_exception()),
                Err(before) => write = before,
            }
        }
        let written = journal.worker.write(write);
        later(async { written.await.map(|()| JournalResponseProto {}) })
    }

    /// Fetches the segment between two turns on the journal's thread.
    fn accept_recovery(&self, param: Bytes) -> Reply {
        let request: AcceptRecoveryRequestProto = match decode_param(param) {
            Ok(request) => request,
            Err(exception) => return Reply::exception(exception),
        };
        let journal = match self.journals.get(request.journal(), request.service()) {
            Ok(journal) => journal,
            Err(error) => return Reply::exception(error.to_exception()),
        };
        let timeout = self.journals.settings().transfer_timeout;
        let source = HttpSource { url: request.from_url.to_string(), timeout };
        let state = SegmentState::from(&request.state_to_accept);
        let info = RequestInfo::from(&request.req_info);
        let begun = journal.worker.run(move |journal| journal.begin_accept(info, state));
        later(async move {
            let to = begun.await?;
            let fetched = match to.clone() {
                Some(to) => {
                    let fetch = tokio::task::spawn_blocking(move || source.fetch(&to));
                    fetch.await.map_err(|_| Error::Stopping).flatten()
                }
                None => Ok(()),
            };
            let file = to.clone();
            let finish = move |journal: &mut Journal| {
                journal.finish_accept(info.epoch, state, file.as_deref())
            };
            let finished = match fetched {
                Ok(()) => journal.worker.run(finish).await,
                Err(error) => Err(error),
            };
            // It has the segment's name now, or is of no use.
            if let Some(to) = to {
                let _ = std::fs::remove_file(to);
            }
            finished.map(|()| AcceptRecoveryResponseProto {})
        })
    }

    fn is_formatted(&self, param: Bytes) -> Reply {
        let answer = |is_formatted| Reply::message(&IsFormattedResponseProto { is_formatted });
        match self.named::<IsFormattedRequestProto>(param) {
            Ok((_, Ok(journal))) => answer(journal.figures().info.is_some()),
            Ok((_, Err(Error::NotFormatted { .. }))) => answer(false),
            Ok((_, Err(error))) => Reply::exception(error.to_exception()),
            Err(exception) => Reply::exception(exception),
        }
    }

    fn state(&self, param: Bytes) -> Reply {
        let http = Arc::clone(&self.http);
        self.ordered(param, move |journal, _: GetJournalStateRequestProto| {
            Ok(GetJournalStateResponseProto {
                last_promised_epoch: journal.promised()?,
                http_port: http.port.into(),
                from_url: Some(http.url.as_str().into()),
            })
        })
    }

    fn format(&self, param: Bytes) -> Reply {
        let request: FormatRequestProto = match decode_param(param) {
            Ok(request) => request,
            Err(exception) => return Reply::exception(exception),
        };
        let service = request.name_service_id.as_deref();
        let journal = match self.journals.get_or_make(&request.jid.identifier, service) {
            Ok(journal) => journal,
            Err(error) => return Reply::exception(error.to_exception()),
        };
        later(journal.worker.run(move |journal| {
            journal
                .format((&request.ns_info.storage_info).into(), request.force.unwrap_or(false))?;
            Ok(FormatResponseProto {})
        }))
    }

    fn manifest(&self, param: Bytes) -> Reply {
        let http = Arc::clone(&self.http);
        self.ordered(param, move |journal, call: GetEditLogManifestRequestProto| {
            let in_progress_too = call.in_progress_ok.unwrap_or(false);
            let manifest = journal.manifest(txid(call.since_tx_id), in_progress_too)?;
            Ok(GetEditLogManifestResponseProto {
                manifest: manifest.into(),
                http_port: http.port.into(),
                from_url: Some(http.url.as_str().into()),
            })
        })
    }

    /// The request and its journal.
    fn named<Q: Checked + Named>(
        &self,
        param: Bytes,
    ) -> std::result::Result<(Q, Result<Arc<OpenJournal>>), RemoteException> {
        let request: Q = decode_param(param)?;
        let journal = self.journals.get(request.journal(), request.service());
        Ok((request, journal))
    }
}

fn prepare_recovery(
    journal: &mut Journal,
    call: PrepareRecoveryRequestProto,
) -> Result<PrepareRecoveryResponseProto> {
    let prepared = journal.prepare_recovery((&call.req_info).into(), txid(call.segment_tx_id))?;
    Ok(PrepareRecoveryResponseProto {
        segment_state: prepared.state.map(Into::into),
        accepted_in_epoch: prepared.accepted_in,
        last_writer_epoch: prepared.last_writer,
        last_committed_tx_id: prepared.committed,
    })
}

fn later<A: Message + 'static>(answer: impl Future<Output = Result<A>> + Send + 'static) -> Reply {
    Reply::later(async {
        let answer = answer.await.map_err(|error| error.to_exception())?;
        Ok(answer.encode_to_vec().into())
    })
}

fn txid(txid: u64) -> TxId {
    TxId(txid as i64)
}

/// A request that names its journal.
trait Named {
    fn journal(&self) -> &str;
    fn service(&self) -> Option<&str>;
}

/// For requests that name it among who calls, or by itself, with the name service or without.
macro_rules! named {
    ($request:ident in req_info) => {
        impl Named for $request {
            fn journal(&self) -> &str {
                &self.req_info.journal_id.identifier
            }

            fn service(&self) -> Option<&str> {
                self.req_info.name_service_id.as_deref()
            }
        }
    };
    ($request:ident with $service:ident) => {
        impl Named for $request {
            fn journal(&self) -> &str {
                &self.jid.identifier
            }

            fn service(&self) -> Option<&str> {
                self.$service.as_deref()
            }
        }
    };
    ($request:ident) => {
        impl Named for $request {
            fn journal(&self) -> &str {
                &self.jid.identifier
            }

            fn service(&self) -> Option<&str> {
                None
            }
        }
    };
}

named!(HeartbeatRequestProto in req_info);
named!(StartLogSegmentRequestProto in req_info);
named!(FinalizeLogSegmentRequestProto in req_info);
named!(PurgeLogsRequestProto in req_info);
named!(PrepareRecoveryRequestProto in req_info);
named!(AcceptRecoveryRequestProto in req_info);
named!(IsFormattedRequestProto with name_service_id);
named!(GetJournalStateRequestProto with name_service_id);
named!(NewEpochRequestProto with name_service_id);
named!(GetEditLogManifestRequestProto with name_service_id);
named!(GetJournaledEditsRequestProto with name_service_id);
named!(GetJournalCTimeRequestProto with name_service_id);
named!(DoFinalizeRequestProto with name_service_id);
named!(CanRollBackRequestProto with name_service_id);
named!(DiscardSegmentsRequestProto with name_service_id);
named!(DoRollbackRequestProto with nameservice_id);
named!(DoPreUpgradeRequestProto);
named!(DoUpgradeRequestProto);

impl From<&RequestInfoProto> for RequestInfo {
    fn from(info: &RequestInfoProto) -> Self {
        Self { epoch: info.epoch, serial: info.ipc_serial_number, committed: info.committed_tx_id }
    }
}

impl From<&StorageInfoProto> for StorageInfo {
    fn from(info: &StorageInfoProto) -> Self {
        Self {
            namespace_id: info.namespce_id as i32,
            cluster_id: info.cluster_id.to_string(),
            c_time_ms: info.c_time as i64,
            layout: info.layout_version as i32,
        }
    }
}

impl From<Manifest> for RemoteEditLogManifestProto {
    fn from(manifest: Manifest) -> Self {
        let log = |state: SegmentState| RemoteEditLogProto {
            start_tx_id: state.first.0 as u64,
            end_tx_id: state.last.0 as u64,
            is_in_progress: Some(state.in_progress),
        };
        Self {
            logs: manifest.segments.into_iter().map(log).collect(),
            committed_txn_id: manifest.committed,
        }
    }
}
