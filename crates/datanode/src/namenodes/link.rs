//! One NameNode, as all parts of the DataNode reach it.

use super::incremental::PendingChanges;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use zerohop_proto::hdfs::LocatedBlockProto;
use zerohop_proto::hdfs::datanode::{
    DatanodeRegistrationProto, ErrorReportRequestProto, ErrorReportResponseProto,
    ReportBadBlocksRequestProto, ReportBadBlocksResponseProto,
};
use zerohop_system::clock;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};

/// The protocol's name and version.
const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
const VERSION: u64 = 1;

/// How far this DataNode is with a NameNode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not registered yet.
    Connecting,
    /// Registered; the blocks are not reported yet.
    Registered,
    /// Registered and reported.
    Reported,
    /// The NameNode refused this DataNode for good.
    Refused(String),
}

/// The connection to one NameNode, and what waits to be said there.
pub(crate) struct Link {
    /// `host:port`.
    pub(crate) addr: String,
    /// Its place among the NameNodes of its service.
    pub(crate) index: usize,
    pub(crate) pending_changes: PendingChanges,
    client: RpcClient,
    registration: RwLock<Option<DatanodeRegistrationProto>>,
    /// Changes with each registration.
    registrations: watch::Sender<()>,
    progress: watch::Sender<Progress>,
    /// Wakes the heartbeat loop before its time.
    wake: Notify,
    full_report_asked: AtomicBool,
    heartbeat_asked: AtomicBool,
    /// When the last heartbeat or lifeline left.
    heard: Mutex<Instant>,
}

/// The wish for a full report: until it is fulfilled it stays, also when the report failed.
pub(crate) struct ReportWish<'a> {
    link: &'a Link,
    fulfilled: bool,
}

impl ReportWish<'_> {
    /// The report was sent.
    pub(crate) fn fulfill(mut self) {
        self.fulfilled = true;
    }
}

impl Drop for ReportWish<'_> {
    fn drop(&mut self) {
        if !self.fulfilled {
            self.link.ask_full_report();
        }
    }
}

impl Link {
    /// To NameNode `index` at `addr`; nothing is sent yet.
    pub(crate) fn new(
        addr: String,
        index: usize,
        user: &User,
        options: ClientOptions,
    ) -> Arc<Self> {
        Arc::new(Self {
            client: RpcClient::new(&addr, PROTOCOL, VERSION, user, options),
            addr,
            index,
            pending_changes: PendingChanges::default(),
            registration: RwLock::new(None),
            registrations: watch::channel(()).0,
            progress: watch::channel(Progress::Connecting).0,
            wake: Notify::new(),
            full_report_asked: AtomicBool::new(false),
            heartbeat_asked: AtomicBool::new(false),
            heard: Mutex::new(clock::now()),
        })
    }

    /// For calls.
    pub(crate) fn client(&self) -> &RpcClient {
        &self.client
    }

    /// How this DataNode is registered there.
    pub(crate) fn registration(&self) -> Option<DatanodeRegistrationProto> {
        self.registration.read().clone()
    }

    /// Changes when this DataNode has registered there, again too. Reports that failed should not wait longer: a NameNode that
    /// came back as a standby may be the next active one.
    pub(crate) fn registrations(&self) -> watch::Receiver<()> {
        self.registrations.subscribe()
    }

    /// The NameNode took this DataNode in.
    pub(crate) fn registered(&self, registration: DatanodeRegistrationProto) {
        *self.registration.write() = Some(registration);
        self.registrations.send_replace(());
        self.progress.send_if_modified(|progress| {
            let first = *progress == Progress::Connecting;
            if first {
                *progress = Progress::Registered;
            }
            first
        });
    }

    /// The blocks are reported.
    pub(crate) fn reported(&self) {
        self.progress.send_replace(Progress::Reported);
    }

    /// The NameNode will not have this DataNode.
    pub(crate) fn refused(&self, reason: String) {
        self.progress.send_replace(Progress::Refused(reason));
        // What waits here is not sent any more; callers that wait for it are told.
        drop(self.pending_changes.take());
    }

    /// Whether it will never have this DataNode; nothing need be said to it any more.
    pub(crate) fn has_refused(&self) -> bool {
        matches!(*self.progress.borrow(), Progress::Refused(_))
    }

    /// Whether the blocks were reported.
    pub(crate) fn has_reported(&self) -> bool {
        *self.progress.borrow() == Progress::Reported
    }

    /// How far it is.
    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Has a heartbeat sent before its time: the NameNode may have more to order.
    pub(crate) fn ask_heartbeat(&self) {
        self.heartbeat_asked.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// Whether a heartbeat was asked for since the last call.
    pub(crate) fn take_heartbeat_asked(&self) -> bool {
        self.heartbeat_asked.swap(false, Ordering::AcqRel)
    }

    /// Has a full report sent soon.
    pub(crate) fn ask_full_report(&self) {
        self.full_report_asked.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    /// The request for a full report, if one was made and not fulfilled yet.
    pub(crate) fn full_report_asked(&self) -> Option<ReportWish<'_>> {
        let asked = self.full_report_asked.swap(false, Ordering::AcqRel);
        // Made only where it is one: when it is dropped it is asked for again.
        asked.then(|| ReportWish { link: self, fulfilled: false })
    }

    /// Waits until something is asked for.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// A heartbeat or a lifeline leaves now.
    pub(crate) fn note_heard(&self) {
        *self.heard.lock() = clock::now();
    }

    /// Time since the last heartbeat or lifeline left.
    pub(crate) fn silence(&self) -> Duration {
        clock::since(*self.heard.lock())
    }

    /// Tells the NameNode about an error; failures are only logged.
    pub(crate) async fn report_error(&self, code: u32, msg: String) {
        let Some(registration) = self.registration() else { return };
        let request = ErrorReportRequestProto { registartion: registration, error_code: code, msg };
        let sent: Result<ErrorReportResponseProto, RpcError> =
            self.client.call("errorReport", &request).await;
        if let Err(error) = sent {
            tracing::warn!("NameNode {}: error report lost: {error}", self.addr);
        }
    }

    /// Tells the NameNode about corrupt replicas; failures are only logged.
    pub(crate) async fn report_bad_blocks(&self, blocks: Vec<LocatedBlockProto>) {
        let request = ReportBadBlocksRequestProto { blocks };
        let sent: Result<ReportBadBlocksResponseProto, RpcError> =
            self.client.call("reportBadBlocks", &request).await;
        if let Err(error) = sent {
            tracing::warn!("NameNode {}: report of a bad block lost: {error}", self.addr);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::namenodes) fn link(index: usize) -> Arc<Link> {
        let options = ClientOptions::default();
        Link::new("127.0.0.1:1".to_owned(), index, &User::new("test"), options)
    }

    /// After a NameNode's restart one lost call left it without the blocks for hours.
    #[test]
    fn a_full_report_that_failed_is_still_asked_for() {
        let link = link(0);
        link.ask_full_report();
        drop(link.full_report_asked().expect("asked"));
        link.full_report_asked().expect("still asked").fulfill();
        assert!(link.full_report_asked().is_none());
        assert!(link.full_report_asked().is_none());
    }
}
