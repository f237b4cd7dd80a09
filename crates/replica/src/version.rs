//! VERSION files of a volume and of a block pool (`DataStorage`, `BlockPoolSliceStorage`).

use crate::error::{Error, ErrorKind, Result};
use std::fs;
use std::path::Path;
use zerohop_daemon::storage::{self, Properties};

/// The layout this crate reads and writes: Hadoop 2.8 to 3.x (32x32 directories).
pub const LAYOUT_VERSION: i32 = -57;

/// `current/VERSION` of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeVersion {
    /// `DS-<uuid>`, unique to the volume.
    pub storage_id: String,
    /// The cluster it belongs to.
    pub cluster_id: String,
    /// The DataNode it belongs to, the same on all of its volumes.
    pub datanode_uuid: String,
    /// Creation time; 0 for volumes never upgraded.
    pub ctime: i64,
}

/// `current/VERSION` of a block pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolVersion {
    /// `BP-<n>-<ip>-<time>`.
    pub pool_id: String,
    /// The NameNode's namespace id.
    pub namespace_id: i32,
    /// The namespace's creation time.
    pub ctime: i64,
}

impl VolumeVersion {
    /// Reads the file; `None` if there is none, or it is empty.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let Some(properties) = read(path)? else { return Ok(None) };
        let storage_type = get(&properties, path, "storageType")?;
        if storage_type != "DATA_NODE" {
            return Err(inconsistent(path, format!("storageType is {storage_type}"))
                .advise("this is not a DataNode's directory: name another one"));
        }
        Ok(Some(Self {
            storage_id: get(&properties, path, "storageID")?.to_owned(),
            cluster_id: get(&properties, path, "clusterID")?.to_owned(),
            datanode_uuid: properties.get("datanodeUuid").unwrap_or_default().to_owned(),
            ctime: number(&properties, path, "cTime")?,
        }))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let ctime = self.ctime.to_string();
        let layout = LAYOUT_VERSION.to_string();
        let properties = Properties::from_iter([
            ("storageID", self.storage_id.as_str()),
            ("clusterID", &self.cluster_id),
            ("cTime", &ctime),
            ("datanodeUuid", &self.datanode_uuid),
            ("storageType", "DATA_NODE"),
            ("layoutVersion", &layout),
        ]);
        write(path, &properties)
    }
}

impl PoolVersion {
    /// Reads the file; `None` if there is none, or it is empty.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let Some(properties) = read(path)? else { return Ok(None) };
        Ok(Some(Self {
            pool_id: get(&properties, path, "blockpoolID")?.to_owned(),
            namespace_id: number(&properties, path, "namespaceID")?,
            ctime: number(&properties, path, "cTime")?,
        }))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let properties = Properties::from_iter([
            ("namespaceID", self.namespace_id.to_string()),
            ("cTime", self.ctime.to_string()),
            ("blockpoolID", self.pool_id.clone()),
            ("layoutVersion", LAYOUT_VERSION.to_string()),
        ]);
        write(path, &properties)
    }

    /// Refuses a pool of another namespace.
    pub(crate) fn check(&self, expected: &Self, path: &Path) -> Result<()> {
        let (field, own, theirs) = match self {
            this if this.pool_id != expected.pool_id => {
                ("blockpoolID", this.pool_id.clone(), expected.pool_id.clone())
            }
            this if this.namespace_id != expected.namespace_id => {
                ("namespaceID", this.namespace_id.to_string(), expected.namespace_id.to_string())
            }
            this if this.ctime > expected.ctime => {
                ("cTime", this.ctime.to_string(), expected.ctime.to_string())
            }
            _ => return Ok(()),
        };
        let text = format!("its {field} is {own}, the NameNode's is {theirs}");
        Err(inconsistent(path, text).advise(
            "the directory belongs to another namespace: name another one, or move it away",
        ))
    }
}

fn read(path: &Path) -> Result<Option<Properties>> {
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io("volume", "read", path, e)),
    };
    // Apache's DataNode was killed before it wrote the first byte.
    if content.is_empty() {
        return Ok(None);
    }
    let properties =
        Properties::parse(&content).map_err(|error| inconsistent(path, error.to_string()))?;
    let layout: i32 = number(&properties, path, "layoutVersion")?;
    if layout == LAYOUT_VERSION {
        return Ok(Some(properties));
    }
    let text = format!("its layout version is {layout}, this program's is {LAYOUT_VERSION}");
    let advice = match layout < LAYOUT_VERSION {
        true => "a newer DataNode wrote it: run that one",
        false => "an older DataNode wrote it: upgrade it with Apache's DataNode first",
    };
    Err(inconsistent(path, text).advise(advice))
}

fn get<'a>(properties: &'a Properties, path: &Path, key: &str) -> Result<&'a str> {
    let missing = || inconsistent(path, format!("{key} is missing"));
    properties.get(key).ok_or_else(missing)
}

fn number<T: std::str::FromStr>(properties: &Properties, path: &Path, key: &str) -> Result<T> {
    let value = get(properties, path, key)?;
    value.parse().map_err(|_| inconsistent(path, format!("{key} is {value:?}, not a number")))
}

pub(crate) fn inconsistent(path: &Path, text: String) -> Error {
    Error::new(ErrorKind::Inconsistent, "volume", "use", path, text)
}

/// Replaces the file: either the old or the new one is there after a power cut.
fn write(path: &Path, properties: &Properties) -> Result<()> {
    Ok(storage::replace(path, properties.to_text().as_bytes())?)
}

/// Makes names created in a directory or moved there survive a power cut.
pub(crate) fn sync_directory(directory: &Path) -> Result<()> {
    Ok(storage::sync_directory(directory)?)
}
