//! What all parts of a running DataNode share.

use crate::activity::DataNodeActivity;
use crate::deletions::Deletions;
use crate::namenodes::{BlockChange, PoolIdentity, PoolService};
use crate::outliers::{PeerLatencies, slow_disks};
use crate::reconfigure::Adjustable;
use crate::scan::{BlockScanner, DirectoryScanner};
use crate::settings::Settings;
use crate::short_circuit::SocketState;
use crate::store::replica::Replica;
use crate::store::volume::DataVolume;
use crate::store::{Failure, Opened, ReplicaFiles, Store, Suspicion, mark_restart};
use crate::transfer::running::RunningOperations;
use crate::transfer::threads::Threads;
use crate::transfer::throttle::Throttle;
use parking_lot::RwLock;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use zerohop_daemon::http::MountPoint;
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use zerohop_proto::hdfs::datanode::{DatanodeRegistrationProto, SlowDiskReportProto};
use zerohop_proto::hdfs::{
    BlockKeyProto, DatanodeIdProto, DatanodeInfoProto, ExportedBlockKeysProto, LocatedBlockProto,
    StorageInfoProto,
};
use zerohop_replica::ErrorKind;
use zerohop_replica::LAYOUT_VERSION;
use zerohop_system::clock;
use zerohop_transport::login::User;
use zerohop_transport::reconfigure::Reconfiguration;
use zerohop_transport::rpc::ClientOptions;
use zerohop_transport::rpc::server::CallActivity;
use zerohop_wire::{Block, ExtendedBlock};

/// How long the last acknowledgement of a block waits for the NameNode to have heard of it.
const REPORT_PATIENCE: Duration = Duration::from_millis(100);

/// Where a DataNode is reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    pub(crate) transfer: SocketAddr,
    pub(crate) ipc: SocketAddr,
    pub(crate) http: SocketAddr,
}

/// Why a DataNode ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// An RPC asked for it, perhaps to start the DataNode again at once.
    Asked {
        /// Writers are told to wait.
        restarts: bool,
    },
    /// It cannot go on.
    Failed(String),
}

/// The shared state of a running DataNode.
pub(crate) struct Node {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<Store>,
    pub(crate) threads: Threads,
    pub(crate) activity: DataNodeActivity,
    /// The port of the RPC server and what its calls do; set when it is there.
    pub(crate) rpc_activity: OnceLock<(u16, Arc<CallActivity>)>,
    /// What the connections are at, for pages.
    pub(crate) operations: Arc<RunningOperations>,
    pub(crate) balance_throttle: Throttle,
    pub(crate) peer_latencies: Arc<PeerLatencies>,
    pub(crate) addresses: OnceLock<Addresses>,
    pub(crate) handle: Handle,
    pub(crate) user: User,
    pub(crate) rpc_options: ClientOptions,
    pub(crate) started: Instant,
    pub(crate) deletions: Arc<Deletions>,
    /// The domain socket, for pages.
    pub(crate) domain_socket: Arc<SocketState>,
    /// WebHDFS's URLs.
    pub(crate) webhdfs: MountPoint,
    pub(crate) reconfiguration: Reconfiguration,
    adjustable: RwLock<Adjustable>,
    pub(crate) block_scanner: BlockScanner,
    pub(crate) directory_scanner: Arc<DirectoryScanner>,
    ending: watch::Sender<Option<Ending>>,
    services: RwLock<Vec<Arc<PoolService>>>,
    transfers: AtomicU32,
    moves: AtomicUsize,
}

impl Node {
    /// The state of a node that serves nothing yet.
    pub(crate) fn new(
        settings: Settings,
        (reconfiguration, adjustable): (Reconfiguration, Adjustable),
        store: Store,
        handle: Handle,
        user: User,
        rpc_options: ClientOptions,
    ) -> Arc<Self> {
        Arc::new(Self {
            threads: Threads::new("transfer", settings.max_transfer_threads),
            activity: DataNodeActivity::new(&settings.percentile_intervals),
            rpc_activity: OnceLock::new(),
            operations: Arc::default(),
            balance_throttle: Throttle::new(settings.balance_bandwidth),
            peer_latencies: Arc::new(PeerLatencies::new(settings.peer_stats)),
            reconfiguration,
            adjustable: RwLock::new(adjustable),
            block_scanner: BlockScanner::new(settings.block_scanner),
            directory_scanner: DirectoryScanner::new(settings.directory_scanner),
            settings,
            store: Arc::new(store),
            addresses: OnceLock::new(),
            handle,
            user,
            rpc_options,
            started: clock::now(),
            deletions: Arc::default(),
            domain_socket: Arc::default(),
            webhdfs: MountPoint::default(),
            ending: watch::channel(None).0,
            services: RwLock::default(),
            transfers: AtomicU32::new(0),
            moves: AtomicUsize::new(0),
        })
    }

    /// The settings that may change.
    pub(crate) fn adjustable(&self) -> Adjustable {
        *self.adjustable.read()
    }

    /// Settings are in force.
    pub(crate) fn set_adjustable(&self, adjustable: Adjustable) {
        *self.adjustable.write() = adjustable;
    }

    /// Adds a name service.
    pub(crate) fn add_service(&self, service: Arc<PoolService>) {
        self.services.write().push(service);
    }

    /// The name services.
    pub(crate) fn services(&self) -> Vec<Arc<PoolService>> {
        self.services.read().clone()
    }

    /// The name service of a block pool.
    pub(crate) fn service(&self, pool_id: &str) -> Option<Arc<PoolService>> {
        let services = self.services.read();
        services.iter().find(|service| service.pool_id().as_deref() == Some(pool_id)).cloned()
    }

    /// The disks that are slower than the others now.
    pub(crate) fn slow_disks(&self) -> Vec<SlowDiskReportProto> {
        let volumes = self.store.volumes().in_use();
        let disks = volumes.iter().map(|volume| (volume.root(), &volume.times));
        slow_disks(disks, &self.settings.disk_stats.limits)
    }

    /// This node has to end; the first reason counts, and gives true.
    pub(crate) fn end(&self, why: Ending) -> bool {
        self.ending.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(why);
            }
            is_first
        })
    }

    /// Whether it ends to be started again at once.
    pub(crate) fn is_restarting(&self) -> bool {
        matches!(*self.ending.borrow(), Some(Ending::Asked { restarts: true }))
    }

    /// Waits until this node has to end.
    pub(crate) async fn ended(&self) -> Ending {
        let mut ending = self.ending.subscribe();
        match ending.wait_for(Option::is_some).await.map(|why| why.clone()) {
            Ok(Some(why)) => why,
            // The sender lives as long as this node.
            _ => std::future::pending().await,
        }
    }

    /// The writer of a replica is told to wait for the restart: it shall find the replica as it left it.
    pub(crate) fn keep_for_restart(&self, pool_id: &str, replica: &Replica) {
        let marked = mark_restart(pool_id, replica, self.settings.restart_expiry);
        if let Err(failure) = marked {
            tracing::warn!("its writer will have to do without blk_{}: {failure}", replica.id);
        }
    }

    fn datanode_id(&self) -> DatanodeIdProto {
        let port = |addr: Option<SocketAddr>| u32::from(addr.map_or(0, |addr| addr.port()));
        let addresses = self.addresses.get();
        let ip = addresses.map(|a| a.transfer.ip()).filter(|ip| !ip.is_unspecified());
        DatanodeIdProto {
            ip_addr: ip.map_or_else(|| "0.0.0.0".to_owned(), |ip| ip.to_string()),
            host_name: self.settings.host_name.clone(),
            datanode_uuid: self.store.datanode_uuid().to_owned(),
            xfer_port: port(addresses.map(|a| a.transfer)),
            info_port: port(addresses.map(|a| a.http)),
            ipc_port: port(addresses.map(|a| a.ipc)),
            info_secure_port: Some(0),
        }
    }

    /// How this node registers with a NameNode. It reports the NameNode's own version: NameNodes
    /// refuse DataNodes of other releases than they know.
    pub(crate) fn registration_for(&self, identity: &PoolIdentity) -> DatanodeRegistrationProto {
        DatanodeRegistrationProto {
            datanode_id: self.datanode_id(),
            storage_info: StorageInfoProto {
                layout_version: LAYOUT_VERSION as u32,
                namespce_id: identity.namespace_id as u32,
                cluster_id: identity.cluster_id.clone(),
                c_time: identity.ctime as u64,
            },
            keys: ExportedBlockKeysProto {
                is_block_token_enabled: false,
                key_update_interval: 0,
                token_life_time: 0,
                current_key: BlockKeyProto { key_id: 0, expiry_date: 0, key_bytes: None },
                all_keys: Vec::new(),
            },
            software_version: identity.software_version.clone(),
        }
    }

    /// This node as a pool's NameNode knows it.
    pub(crate) fn own_id(&self, pool_id: &str) -> DatanodeIdProto {
        let registered = self.service(pool_id).and_then(|service| service.datanode_id());
        registered.unwrap_or_else(|| self.datanode_id())
    }

    /// This node as the source of a copy.
    pub(crate) fn own_info(&self, pool_id: &str) -> Option<DatanodeInfoProto> {
        Some(DatanodeInfoProto { id: self.own_id(pool_id), ..Default::default() })
    }

    fn block_change(
        volume: &DataVolume,
        block: Block,
        status: BlockStatus,
        delete_hint: Option<String>,
    ) -> BlockChange {
        BlockChange { storage: volume.storage(), block, status, delete_hint }
    }

    /// A client begins to write a replica here.
    pub(crate) fn tell_receiving(&self, pool_id: &str, replica: &Replica) {
        if let Some(service) = self.service(pool_id) {
            let change =
                Self::block_change(&replica.volume, replica.block(), BlockStatus::Receiving, None);
            service.tell_receiving(&change);
        }
    }

    /// A replica is final; `waits` until the NameNode knows, because a client will ask it next.
    pub(crate) fn tell_received(
        &self,
        pool_id: &str,
        replica: &Replica,
        block: Block,
        delete_hint: Option<String>,
        waits: bool,
    ) {
        let Some(service) = self.service(pool_id) else { return };
        let change = Self::block_change(&replica.volume, block, BlockStatus::Received, delete_hint);
        if waits {
            service.tell_and_wait(&change, &self.handle, REPORT_PATIENCE);
        } else {
            service.tell(&change);
        }
    }

    /// A replica is gone.
    pub(crate) fn tell_deleted(&self, pool_id: &str, volume: &DataVolume, block: Block) {
        if let Some(service) = self.service(pool_id) {
            service.tell(&Self::block_change(volume, block, BlockStatus::Deleted, None));
        }
    }

    /// Waits until the block's pool is served.
    pub(crate) fn wait_for_pool(&self, block: &ExtendedBlock) -> Result<(), Failure> {
        if self.store.pools().wait_for(&block.pool, self.settings.pool_ready_timeout) {
            return Ok(());
        }
        Err(Failure::io(format!("Not ready to serve the block pool, {}.", block.pool)))
    }

    /// Opens a replica for reading up to `needed` bytes; where it turns out to be lost or damaged, the
    /// NameNode hears of it.
    pub(crate) fn open_replica(
        &self,
        block: &ExtendedBlock,
        needed: u64,
    ) -> Result<Opened, Failure> {
        let opened = self.store.reads().open_replica(block, needed);
        let opened = opened.inspect_err(|failure| self.tell_open_failure(block, failure))?;
        if opened.is_short {
            self.check_damage(block, Suspicion::Short);
        }
        Ok(opened)
    }

    /// Opens a replica's files to be passed to a local reader.
    pub(crate) fn open_files(&self, block: &ExtendedBlock) -> Result<ReplicaFiles, Failure> {
        let opened = self.store.reads().open_files(block);
        opened.inspect_err(|failure| self.tell_open_failure(block, failure))
    }

    fn tell_open_failure(&self, block: &ExtendedBlock, failure: &Failure) {
        match failure {
            Failure::Lost(error, lost) => {
                self.store.events().lost(&block.pool, lost.0, &lost.1, &error.to_string());
                self.tell_deleted(&block.pool, &lost.1, lost.0);
            }
            Failure::Unsummed(error, volume) => {
                self.report_own_bad(block, volume, &error.to_string());
            }
            Failure::Files(error) => self.tell_read_failure(block, error),
            Failure::Refused(_) => {}
        }
    }

    /// The files of a replica could not be read: its volume is checked, and the NameNode hears of a
    /// damaged replica.
    pub(crate) fn tell_read_failure(&self, block: &ExtendedBlock, error: &zerohop_replica::Error) {
        if let Some(why) = Suspicion::of(error) {
            self.check_damage(block, why);
        }
    }

    fn check_damage(&self, block: &ExtendedBlock, why: Suspicion) {
        if let Some((damaged, volume)) = self.store.check_damage(block, why) {
            self.report_own_bad(&damaged, &volume, why.text());
        } else {
            self.suspect_replica(block);
        }
    }

    /// The same for a client, who gets the data of a replica without checksums too, as from Apache's
    /// DataNode: it may be the last one.
    pub(crate) fn open_for_client(
        &self,
        block: &ExtendedBlock,
        needed: u64,
    ) -> Result<Opened, Failure> {
        match self.open_replica(block, needed) {
            Err(Failure::Unsummed(error, _)) if error.kind() == ErrorKind::NotFound => {
                self.store.reads().open_unsummed(block)
            }
            other => other,
        }
    }

    /// Another DataNode sent a corrupt replica.
    pub(crate) fn report_remote_bad(&self, block: &ExtendedBlock, source: DatanodeInfoProto) {
        let address = format!("{}:{}", source.id.host_name, source.id.xfer_port);
        self.store.events().corrupt_at_source(block, &address);
        self.report_bad(block, source, Vec::new());
    }

    /// Records that a replica of this node is corrupt, and reports it to the NameNodes.
    pub(crate) fn report_own_bad(&self, block: &ExtendedBlock, volume: &DataVolume, cause: &str) {
        self.store.events().corrupt(block, volume, cause);
        if let Some(info) = self.own_info(&block.pool) {
            let storage = (volume.storage_id(), volume.location.storage_type.number());
            self.report_bad(block, info, vec![storage]);
        }
    }

    /// Has the block scanner verify a replica of this node soon: reading it failed.
    pub(crate) fn suspect_replica(&self, block: &ExtendedBlock) {
        if let Ok(replica) = self.store.pools().replica(block) {
            self.block_scanner.suspect(block, &replica.volume);
        }
    }

    fn report_bad(
        &self,
        block: &ExtendedBlock,
        location: DatanodeInfoProto,
        storages: Vec<(String, i32)>,
    ) {
        let Some(service) = self.service(&block.pool) else { return };
        let (storage_ids, storage_types) = storages.into_iter().unzip();
        let located = LocatedBlockProto {
            b: block.into(),
            offset: 0,
            locs: vec![location],
            corrupt: false,
            block_token: TokenProto::default(),
            is_cached: Vec::new(),
            storage_types,
            storage_i_ds: storage_ids,
            block_indices: None,
            block_tokens: Vec::new(),
        };
        for link in service.links() {
            let blocks = vec![located.clone()];
            self.handle.spawn(async move { link.report_bad_blocks(blocks).await });
        }
    }

    /// Copies to other DataNodes that are under way.
    pub(crate) fn transfers_under_way(&self) -> u32 {
        self.transfers.load(Ordering::Relaxed)
    }

    /// Counts a copy until the guard goes.
    pub(crate) fn count_transfer(self: &Arc<Self>) -> TransferGuard {
        self.transfers.fetch_add(1, Ordering::Relaxed);
        TransferGuard(Arc::clone(self))
    }

    /// Takes part in a move of a replica, unless there are too many.
    pub(crate) fn begin_move(self: &Arc<Self>) -> Option<MoveGuard> {
        let most = self.adjustable().balance_max_moves;
        let begun = self.moves.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
            (now < most).then_some(now + 1)
        });
        begun.ok().map(|_| MoveGuard(Arc::clone(self)))
    }
}

/// A copy under way.
pub(crate) struct TransferGuard(Arc<Node>);

impl Drop for TransferGuard {
    fn drop(&mut self) {
        self.0.transfers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A move under way.
pub(crate) struct MoveGuard(Arc<Node>);

impl Drop for MoveGuard {
    fn drop(&mut self) {
        self.0.moves.fetch_sub(1, Ordering::Relaxed);
    }
}
