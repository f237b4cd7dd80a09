//! One storage folder of a DataNode.

use crate::error::{Error, Result};
use crate::lock::DirLock;
use crate::pool::{Pool, make_folder};
use crate::pools::pools;
use crate::version::{PoolVersion, VolumeVersion, inconsistent, sync_folder};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the file system below a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub capacity: u64,
    /// What nobody has taken yet.
    pub free: u64,
    /// What an ordinary user may still take of that.
    pub available: u64,
}

/// A locked volume.
#[derive(Debug)]
pub struct Volume {
    root: PathBuf,
    version: Option<VolumeVersion>,
    _lock: DirLock,
}

impl Volume {
    /// Makes the folder if need be, locks it and reads its VERSION file.
    pub fn open(root: &Path) -> Result<Self> {
        make_folder(root)?;
        let lock = DirLock::acquire(root)?;
        let version = VolumeVersion::read(&root.join("current/VERSION"))?;
        Ok(Self { root: root.to_owned(), version, _lock: lock })
    }

    /// Its folder.
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
                "the folder belongs to another cluster: name another one, or move it away",
            ));
        }
        if !found.datanode_uuid.is_empty() && found.datanode_uuid != datanode_uuid {
            let text = format!(
                "it belongs to DataNode {}, this one is {datanode_uuid}",
                found.datanode_uuid
            );
            return Err(inconsistent(&path, text)
                .advise("all folders of a DataNode must come from the same one"));
        }
        Ok(())
    }

    fn format(&mut self, cluster_id: &str, datanode_uuid: &str) -> Result<()> {
        let current = self.root.join("current");
        if current.exists() && fs::read_dir(&current).is_ok_and(|mut files| files.next().is_some())
        {
            let text = "it holds files but no VERSION".to_owned();
            return Err(inconsistent(&current, text)
                .advise("restore the VERSION file, or move the folder away"));
        }
        make_folder(&current)?;
        let version = VolumeVersion {
            storage_id: format!("DS-{}", uuid::Uuid::new_v4()),
            cluster_id: cluster_id.to_owned(),
            datanode_uuid: datanode_uuid.to_owned(),
            ctime: 0,
        };
        version.write(&current.join("VERSION"))?;
        sync_folder(&self.root)?;
        self.version = Some(version);
        Ok(())
    }

    /// The ids of the block pools that have a folder here.
    pub fn pools(&self) -> Result<Vec<String>> {
        pools(&self.root)
    }

    /// Opens a block pool, or makes it.
    pub fn open_pool(&self, expected: &PoolVersion) -> Result<Pool> {
        Pool::on_volume(&self.root.join("current"), expected)
    }

    /// The space on its file system.
    pub fn space(&self) -> Result<Space> {
        let found = rustix::fs::statvfs(&self.root);
        let found = found.map_err(|e| Error::io("volume", "ask the space of", &self.root, e))?;
        let bytes = |blocks: u64| blocks * found.f_frsize;
        let (free, available) = (bytes(found.f_bfree), bytes(found.f_bavail));
        Ok(Space { capacity: bytes(found.f_blocks), free, available })
    }

    /// Whether it is still there, and no other one in its place. An error is one of the volume unless
    /// [`Error::is_end_of_volume`] says otherwise.
    pub fn look(&self) -> Result<()> {
        let path = self.root.join("current/VERSION");
        let found = VolumeVersion::read(&path)?;
        if found == self.version {
            return Ok(());
        }
        let text = match found {
            Some(found) => format!("it is another volume now, {}", found.storage_id),
            None => "it is gone".to_owned(),
        };
        Err(inconsistent(&path, text)
            .advise("mount the disk again and restart the DataNode, or take the folder out"))
    }

    /// Whether it can still be listed and written: what a DataNode asks after an I/O error.
    pub fn check_disk(&self) -> Result<()> {
        self.look()?;
        let current = self.root.join("current");
        let io = |verb| move |e: std::io::Error| Error::io("volume", verb, &self.root, e);
        fs::read_dir(&current).map_err(io("list"))?;
        let probe = current.join(".disk-check");
        fs::write(&probe, b"probe").map_err(io("write to"))?;
        fs::remove_file(&probe).map_err(io("delete from"))
    }
}
