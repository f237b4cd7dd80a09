//! One storage directory of a DataNode.

use crate::error::Result;
use crate::io::IoTimer;
use crate::mode::DirectoryMode;
use crate::pool::Pool;
use crate::pools::pools;
use crate::probe::VolumeProbe;
use crate::storage_state::{Level, StorageRoot};
use crate::transition::StartOptions;
use crate::version::{PoolVersion, VolumeVersion, inconsistent, sync_directory};
use std::path::{Path, PathBuf};
use zerohop_daemon::storage::DirectoryLock;

/// Prefix of storage ids.
const STORAGE_ID_PREFIX: &str = "DS-";

/// A locked volume.
#[derive(Debug)]
pub struct Volume {
    root: PathBuf,
    mode: DirectoryMode,
    version: Option<VolumeVersion>,
    io: IoTimer,
    _lock: DirectoryLock,
}

impl Volume {
    /// Makes the directory if need be, locks it, completes what was interrupted and reads its VERSION file. Its
    /// permissions become those of `dfs.datanode.data.dir.perm`'s default, 700.
    ///
    /// # Errors
    /// Fails with the name of the directory if it is in a state that no start can complete.
    pub fn open(root: &Path) -> Result<Self> {
        Self::open_with_mode(root, DirectoryMode::default())
    }

    /// As [`open`](Self::open), with other permissions.
    pub fn open_with_mode(root: &Path, mode: DirectoryMode) -> Result<Self> {
        mode.create_root(root)?;
        let lock = DirectoryLock::acquire(root)?;
        mode.apply(root)?;
        StorageRoot::new(root, Level::Volume, &|| ()).settle()?;
        let version = VolumeVersion::read(&root.join("current/VERSION"))?;
        let io = IoTimer::default();
        Ok(Self { root: root.to_owned(), mode, version, io, _lock: lock })
    }

    /// Has its calls to the disk timed.
    pub fn with_io(self, io: IoTimer) -> Self {
        Self { io, ..self }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What its VERSION file says; `None` before it is formatted.
    pub fn version(&self) -> Option<&VolumeVersion> {
        self.version.as_ref()
    }

    /// `DS-<uuid>`; empty before it is formatted.
    pub fn storage_id(&self) -> &str {
        self.version.as_ref().map_or("", |version| &version.storage_id)
    }

    /// Makes it a volume of this DataNode in this cluster: writes VERSION if there is none, and
    /// refuses one of another cluster or DataNode. A storage id from before Hadoop 2.7, which volumes may share, is replaced.
    pub fn claim(&mut self, cluster_id: &str, datanode_uuid: &str) -> Result<()> {
        let Some(found) = &self.version else {
            return self.format(cluster_id, datanode_uuid);
        };
        self.check(found, cluster_id, datanode_uuid)?;
        if is_storage_id(&found.storage_id) {
            return Ok(());
        }
        let version = VolumeVersion { storage_id: new_storage_id(), ..found.clone() };
        let root = self.root.display();
        tracing::info!("{root}: storage id {} replaces {}", version.storage_id, found.storage_id);
        version.write(&self.root.join("current/VERSION"))?;
        self.version = Some(version);
        Ok(())
    }

    fn check(&self, found: &VolumeVersion, cluster_id: &str, datanode_uuid: &str) -> Result<()> {
        let path = self.root.join("current/VERSION");
        if found.cluster_id != cluster_id {
            let text = format!(
                "Incompatible clusterIDs in {}: namenode clusterID = {cluster_id}; datanode \
                 clusterID = {}",
                self.root.display(),
                found.cluster_id
            );
            return Err(inconsistent(&path, text).advise(
                "the directory belongs to another cluster: name another one, or move it away",
            ));
        }
        if !found.datanode_uuid.is_empty() && found.datanode_uuid != datanode_uuid {
            let text = format!(
                "it belongs to DataNode {}, this one is {datanode_uuid}",
                found.datanode_uuid
            );
            return Err(inconsistent(&path, text)
                .advise("all directories of a DataNode must come from the same one"));
        }
        Ok(())
    }

    fn format(&mut self, cluster_id: &str, datanode_uuid: &str) -> Result<()> {
        // It was empty when the volume was opened and locked, or did not exist.
        let current = self.root.join("current");
        self.mode.create(&current)?;
        let version = VolumeVersion {
            storage_id: new_storage_id(),
            cluster_id: cluster_id.to_owned(),
            datanode_uuid: datanode_uuid.to_owned(),
            ctime: 0,
        };
        version.write(&current.join("VERSION"))?;
        sync_directory(&self.root)?;
        self.version = Some(version);
        Ok(())
    }

    /// The ids of the block pools that have a directory here.
    pub fn pools(&self) -> Result<Vec<String>> {
        pools(&self.root)
    }

    /// Opens a block pool, or makes it.
    pub fn open_pool(&self, expected: &PoolVersion) -> Result<Pool> {
        self.open_pool_with(expected, StartOptions::default())
    }

    /// Like [`open_pool`](Self::open_pool), but the DataNode may have been started with `-rollback`.
    ///
    /// # Errors
    /// Fails with the name of the directory if it is in a state that no start can complete.
    pub fn open_pool_with(
        &self,
        expected: &PoolVersion,
        options: StartOptions<'_>,
    ) -> Result<Pool> {
        if options.rolls_back {
            self.check_rollback()?;
        }
        Pool::on_volume(&self.root, self.mode, self.io.clone(), expected, options)
    }

    /// Refuses to roll back to the layout from before federation, which this program does not read.
    fn check_rollback(&self) -> Result<()> {
        let previous = self.root.join("previous");
        if !previous.exists() {
            return Ok(());
        }
        let text = "it is from before an upgrade to federation".to_owned();
        Err(inconsistent(&previous, text).advise("start Apache's DataNode once with -rollback"))
    }

    /// What its disk can be asked without the volume.
    pub fn probe(&self) -> VolumeProbe {
        VolumeProbe::new(self.root.clone(), self.version.clone())
    }
}

fn new_storage_id() -> String {
    format!("{STORAGE_ID_PREFIX}{}", uuid::Uuid::new_v4())
}

/// Returns `true` if an id is unique by its form: `DS-` and a UUID as Java reads them
/// (`DatanodeStorage.isValidStorageId`). Older ones were the same on all volumes of a DataNode (HDFS-7575).
pub fn is_storage_id(id: &str) -> bool {
    let Some(uuid) = id.strip_prefix(STORAGE_ID_PREFIX) else { return false };
    let is_hex = |group: &str| {
        (1..=16).contains(&group.len()) && group.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    uuid.split('-').count() == 5 && uuid.split('-').all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All volumes of a DataNode that was upgraded from Hadoop 2.2 had one storage id.
    #[test]
    fn a_storage_id_without_a_uuid_was_kept() {
        let root = tempfile::tempdir().unwrap();
        let mut volume = Volume::open(root.path()).unwrap();
        volume.claim("CID-1", "uuid-1").unwrap();
        let (id, path) = (volume.storage_id().to_owned(), root.path().join("current/VERSION"));
        drop(volume);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(&id, "DS-73-127.0.0.1-50010-1400000000000")).unwrap();
        let mut volume = Volume::open(root.path()).unwrap();
        assert!(volume.claim("CID-2", "uuid-1").is_err());
        volume.claim("CID-1", "uuid-1").unwrap();
        let (new, cluster) = (volume.storage_id().to_owned(), "CID-1");
        assert!(is_storage_id(&new) && new != id, "{new}");
        drop(volume);
        let mut again = Volume::open(root.path()).unwrap();
        again.claim(cluster, "uuid-1").unwrap();
        assert_eq!(again.storage_id(), new);
    }

    #[test]
    fn storage_ids_are_valid_as_java_says() {
        for valid in [&new_storage_id(), "DS-1-2-3-4-5", "DS-0-0-0-0-aF"] {
            assert!(is_storage_id(valid), "{valid}");
        }
        for wrong in ["", "DS-", "DS-1-2-3-4", "DS-1-2-3-4-5-6", "DS-1-2-3-4-g", "1-2-3-4-5"] {
            assert!(!is_storage_id(wrong), "{wrong}");
        }
    }
}
