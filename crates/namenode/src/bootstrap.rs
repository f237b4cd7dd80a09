//! A new standby: it takes ids and the newest image of another NameNode of its name service (`BootstrapStandby`).

use crate::Error;
use crate::image_client::TransferOptions;
use crate::name_service::{NameService, OtherNameNode};
use crate::other_namenode::NameNodeLink;
use crate::storage::{NameStorage, StorageConfig, StorageInfo};
use std::fmt;
use zerohop_conf::{Conf, Role, check_protections, keys};
use zerohop_journal::layout::LayoutVersion;
use zerohop_wire::TxId;

/// What a new standby is made of: another NameNode that has answered.
#[derive(Clone, Debug)]
pub struct BootstrapStandby {
    conf: Conf,
    service: NameService,
    other: OtherNameNode,
    info: StorageInfo,
    is_upgrade_finalized: bool,
    is_rolling_upgrade: bool,
    /// The transactions of the other one's newest image, and of its last edit.
    image_txid: i64,
    last_txid: i64,
}

/// Why there is no new standby.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// No other NameNode answers.
    #[error("Unable to fetch namespace information from any remote NN: {0}")]
    NoAnswer(String),
    /// The other NameNode has directories of another layout.
    #[error(
        "Layout version on remote node ({theirs}) does not match this node's layout version ({ours}): run -bootstrapStandby \
         with the release of the NameNode at {address} ({key}.{id}), or upgrade that one first",
        ours = LayoutVersion::CURRENT,
        key = keys::DFS_NAMENODE_RPC_ADDRESS.name
    )]
    Layout {
        /// The other NameNode: its name service and id, `ns.nn1`.
        id: String,
        /// Where it answers, `host:port`.
        address: String,
        /// That of the other NameNode.
        theirs: LayoutVersion,
    },
    /// The JournalNodes do not have what comes after the image.
    #[error(
        "Unable to read transaction ids {first}-{last} from the configured shared edits storage. Please copy these logs into the \
         shared edits storage or call saveNamespace on the active node. Error: {reason}"
    )]
    NoEdits {
        /// The first transaction behind the image.
        first: i64,
        /// The last one of the other NameNode.
        last: i64,
        /// What is not there.
        reason: String,
    },
    /// Something else.
    #[error(transparent)]
    Other(#[from] Error),
}

impl BootstrapError {
    /// Apache's exit code.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::NoAnswer(_) => 2,
            Self::Layout { .. } => 3,
            Self::NoEdits { .. } => 6,
            Self::Other(_) => 1,
        }
    }
}

impl BootstrapStandby {
    /// Asks the other NameNodes, one after the other, until one answers.
    ///
    /// # Errors
    /// If none does, or it is not one to follow.
    pub async fn find(conf: &Conf) -> Result<Self, BootstrapError> {
        check_protections(conf, Role::NameNode).map_err(Error::from)?;
        let service = NameService::of(conf)?;
        let conf = service.specialized(conf)?;
        if !service.is_ha_enabled() {
            let reason = "HA is not enabled for this namenode: dfs.ha.namenodes.NAMESERVICE must name it and the one that it \
                          shall follow";
            return Err(Error::Invalid(reason.to_owned()).into());
        }
        service.check_shared_edits(&conf)?;
        let mut reasons = Vec::new();
        for other in service.others.clone() {
            match Self::ask(&conf, &service, &other).await {
                Ok(found) if found.info.layout == LayoutVersion::CURRENT => return Ok(found),
                Ok(found) => {
                    let id = format!("{}.{}", service.id, other.id);
                    let (address, theirs) = (other.rpc, found.info.layout);
                    return Err(BootstrapError::Layout { id, address, theirs });
                }
                Err(reason) => {
                    tracing::warn!(
                        "Unable to fetch namespace information from remote NN at {}: {reason}",
                        other.rpc
                    );
                    reasons.push(format!("{}: {reason}", other.rpc));
                }
            }
        }
        Err(BootstrapError::NoAnswer(reasons.join("; ")))
    }

    async fn ask(
        conf: &Conf,
        service: &NameService,
        other: &OtherNameNode,
    ) -> Result<Self, String> {
        let link = NameNodeLink::new(other, conf).map_err(|error| error.to_string())?;
        let asked = async {
            let theirs = link.version().await?;
            let ids = theirs.storage_info;
            let info = StorageInfo {
                namespace_id: ids.namespce_id as i32,
                cluster_id: ids.cluster_id,
                c_time_ms: ids.c_time as i64,
                block_pool_id: theirs.block_pool_id,
                layout: LayoutVersion(ids.layout_version as i32),
            };
            Ok::<_, zerohop_transport::rpc::RpcError>(Self {
                conf: conf.clone(),
                service: service.clone(),
                other: other.clone(),
                info,
                is_upgrade_finalized: link.is_upgrade_finalized().await?,
                is_rolling_upgrade: link.is_rolling_upgrade().await?,
                image_txid: link.last_checkpoint().await?,
                last_txid: link.last_txid().await?,
            })
        };
        asked.await.map_err(|error| error.to_string())
    }

    /// What would be destroyed, as a question names it.
    ///
    /// # Errors
    /// If the directories of the configuration make no sense.
    pub fn data_before_format(&self) -> Result<Vec<String>, Error> {
        let config = StorageConfig::from_conf(&self.conf)?;
        let dirs = config.occupied_dirs().into_iter();
        Ok(dirs.map(|dir| format!("Storage Directory {}", dir.display())).collect())
    }

    /// Empties the directories, and fills them with the other NameNode's image. Blocks. `checks_edits`: what comes after the
    /// image must be on the JournalNodes.
    ///
    /// # Errors
    /// If it is not, or the image does not come.
    pub fn run(&self, checks_edits: bool) -> Result<(), BootstrapError> {
        if !self.is_upgrade_finalized {
            let reason = "the other NameNode's upgrade is not finalized (hdfs dfsadmin -finalizeUpgrade): this NameNode cannot \
                          take part in it";
            return Err(Error::Invalid(reason.to_owned()).into());
        }
        let config = StorageConfig::from_conf(&self.conf).map_err(Error::from)?;
        let storage = NameStorage::create(config, self.info.clone()).map_err(Error::from)?;
        if checks_edits {
            self.check_edits(&storage)?;
        }
        let options = TransferOptions::from_conf(&self.conf).map_err(Error::from)?;
        options
            .fetch_for_bootstrap(&self.other.http, self.image_txid, &storage)
            .map_err(|error| Error::Invalid(error.to_string()))?;
        storage.note_seen_txid(self.image_txid).map_err(Error::from)?;
        storage.unlock();
        Ok(())
    }

    fn check_edits(&self, storage: &NameStorage) -> Result<(), BootstrapError> {
        let (first, last) = (self.image_txid + 1, self.last_txid);
        let no_edits = |reason: String| BootstrapError::NoEdits { first, last, reason };
        let holds = |txid| storage.history().shared_edits_hold(TxId(txid));
        if first > last || holds(first).map_err(|error| no_edits(error.to_string()))? {
            return Ok(());
        }
        Err(no_edits(format!("no segment holds transaction {first}")))
    }
}

/// As Apache's says what it is about to do.
impl fmt::Display for BootstrapStandby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = "=====================================================";
        let (other, info) = (&self.other, &self.info);
        writeln!(f, "{rule}")?;
        writeln!(f, "About to bootstrap Standby ID {} from:", self.service.namenode)?;
        writeln!(f, "           Nameservice ID: {}", self.service.id)?;
        writeln!(f, "        Other Namenode ID: {}", other.id)?;
        writeln!(f, "  Other NN's HTTP address: http://{}", other.http)?;
        writeln!(f, "  Other NN's IPC  address: {}", other.rpc)?;
        writeln!(f, "             Namespace ID: {}", info.namespace_id)?;
        writeln!(f, "            Block pool ID: {}", info.block_pool_id)?;
        writeln!(f, "               Cluster ID: {}", info.cluster_id)?;
        writeln!(f, "           Layout version: {}", info.layout)?;
        writeln!(f, "   Service Layout version: {}", LayoutVersion::CURRENT)?;
        writeln!(f, "       isUpgradeFinalized: {}", self.is_upgrade_finalized)?;
        writeln!(f, "         isRollingUpgrade: {}", self.is_rolling_upgrade)?;
        write!(f, "{rule}")
    }
}
