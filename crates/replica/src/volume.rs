//! One storage directory of a DataNode.

use crate::error::Result;
use crate::io::IoTimer;
use crate::mode::DirectoryMode;
use crate::pool::Pool;
use crate::pools::pools;
use crate::probe::VolumeProbe;
use crate::version::{PoolVersion, VolumeVersion, inconsistent, sync_directory};
use std::fs;
use std::path::{Path, PathBuf};
use zerohop_daemon::storage::DirectoryLock;

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
    /// Makes the directory if need be, locks it and reads its VERSION file. Its permissions become
    /// those of `dfs.datanode.data.dir.perm`'s default, 700.
    pub fn open(root: &Path) -> Result<Self> {
        Self::open_with_mode(root, DirectoryMode::default())
    }

    /// As [`open`](Self::open), with other permissions.
    pub fn open_with_mode(root: &Path, mode: DirectoryMode) -> Result<Self> {
        mode.create_root(root)?;
        let lock = DirectoryLock::acquire(root)?;
        mode.apply(root)?;
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
    /// refuses one of another cluster or DataNode.
    pub fn claim(&mut self, cluster_id: &str, datanode_uuid: &str) -> Result<()> {
        match &self.version {
            Some(found) => self.check(found, cluster_id, datanode_uuid),
            None => self.format(cluster_id, datanode_uuid),
        }
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
        let current = self.root.join("current");
        if current.exists() && fs::read_dir(&current).is_ok_and(|mut files| files.next().is_some())
        {
            let text = "it holds files but no VERSION".to_owned();
            return Err(inconsistent(&current, text)
                .advise("restore the VERSION file, or move the directory away"));
        }
        self.mode.create(&current)?;
        let version = VolumeVersion {
            storage_id: format!("DS-{}", uuid::Uuid::new_v4()),
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
        Pool::on_volume(&self.root.join("current"), self.mode, self.io.clone(), expected)
    }

    /// What its disk can be asked without the volume.
    pub fn probe(&self) -> VolumeProbe {
        VolumeProbe::new(self.root.clone(), self.version.clone())
    }
}
