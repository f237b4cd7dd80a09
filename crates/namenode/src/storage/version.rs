//! `VERSION`: a Java properties file with the ids of the namespace.

use super::error::StorageError;
use std::path::Path;
use std::time::UNIX_EPOCH;
use zerohop_daemon::process;
use zerohop_daemon::storage::{self, Properties};
use zerohop_journal::layout::LayoutVersion;
use zerohop_system::{clock, random};

/// The ids a namespace got when it was formatted, the same in every directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageInfo {
    /// Identifies the namespace; 31 random bits.
    pub namespace_id: i32,
    /// Identifies the cluster: `CID-<uuid>` unless chosen.
    pub cluster_id: String,
    /// When it was last upgraded, ms since the epoch; for a formatted one, when that was.
    pub c_time_ms: i64,
    /// `BP-<random>-<ip>-<ms>`
    pub block_pool_id: String,
    /// The layout of the directory's files.
    pub layout: LayoutVersion,
}

impl StorageInfo {
    /// Fresh ids.
    pub fn generate(cluster_id: Option<String>) -> Self {
        let now = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = now.as_millis() as i64;
        let cluster_id = cluster_id.unwrap_or_else(|| format!("CID-{}", uuid::Uuid::new_v4()));
        let pool = random::u32(..i32::MAX as u32);
        Self {
            namespace_id: random::i32(1..i32::MAX),
            cluster_id,
            c_time_ms: now_ms,
            block_pool_id: format!("BP-{pool}-{}-{now_ms}", local_ip()),
            layout: LayoutVersion::CURRENT,
        }
    }

    /// Reads `current/VERSION` below `dir`; none if there is no such file.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, StorageError> {
        let path = dir.join("current/VERSION");
        match std::fs::read(&path) {
            Ok(content) => Self::parse(&content, dir).map(Some),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StorageError::io("read", path)(e)),
        }
    }

    fn parse(content: &[u8], dir: &Path) -> Result<Self, StorageError> {
        let inconsistent =
            |reason: String| StorageError::Inconsistent { path: dir.to_owned(), reason };
        let properties = Properties::parse(content)
            .map_err(|error| inconsistent(format!("file VERSION: {error}.")))?;
        let value = |name: &str| {
            let found = properties.get(name).map(str::to_owned);
            found.ok_or_else(|| inconsistent(format!("file VERSION has {name} missing.")))
        };
        let number = |name: &str| {
            let digits = value(name)?;
            digits
                .parse::<i64>()
                .map_err(|_| inconsistent(format!("file VERSION has {name}={digits}.")))
        };
        // First, because a newer layout may have changed everything else.
        let layout = LayoutVersion(number("layoutVersion")? as i32);
        if layout.is_from_the_future() {
            return Err(StorageError::Newer { path: dir.to_owned(), found: layout });
        }
        let storage_type = value("storageType")?;
        if storage_type != "NAME_NODE" {
            return Err(inconsistent(format!(
                "Incompatible node types: storageType=NAME_NODE but StorageDirectory \
                 type={storage_type}"
            )));
        }
        let block_pool_id = value("blockpoolID")?;
        if block_pool_id.is_empty() {
            return Err(inconsistent("file VERSION has no block pool Id.".to_owned()));
        }
        Ok(Self {
            namespace_id: number("namespaceID")? as i32,
            cluster_id: value("clusterID")?,
            c_time_ms: number("cTime")?,
            block_pool_id,
            layout,
        })
    }

    /// Writes `current/VERSION` below `dir`.
    pub(super) fn write(&self, dir: &Path) -> Result<(), StorageError> {
        let properties = Properties::from_iter([
            ("namespaceID", self.namespace_id.to_string()),
            ("blockpoolID", self.block_pool_id.clone()),
            ("storageType", "NAME_NODE".to_owned()),
            ("cTime", self.c_time_ms.to_string()),
            ("clusterID", self.cluster_id.clone()),
            ("layoutVersion", self.layout.to_string()),
        ]);
        let path = dir.join("current/VERSION");
        Ok(storage::replace(&path, properties.to_text().as_bytes())?)
    }

    /// Refuses `dir`, which has the ids `other`, if it does not belong together with a directory that has these ids.
    pub(super) fn check_same(&self, other: &Self, dir: &Path) -> Result<(), StorageError> {
        let difference = if self.namespace_id != other.namespace_id {
            "namespaceID is incompatible with others."
        } else if self.cluster_id != other.cluster_id {
            "cluster Id is incompatible with others."
        } else if self.block_pool_id != other.block_pool_id {
            "block pool Id is incompatible with others."
        } else if self.c_time_ms != other.c_time_ms || self.layout != other.layout {
            "cTime or layoutVersion is incompatible with others."
        } else {
            return Ok(());
        };
        let reason = format!(
            "{difference} It has layoutVersion {} and the others {}. Take the directory that is not of this namespace, or out of \
             date, out of dfs.namenode.name.dir and dfs.namenode.edits.dir, or empty its current: it becomes a copy of the others",
            other.layout, self.layout
        );
        Err(StorageError::Inconsistent { path: dir.to_owned(), reason })
    }
}

/// The address this machine's name resolves to, for the block pool's id.
fn local_ip() -> std::net::IpAddr {
    use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
    let addresses = (process::host_name().as_str(), 0).to_socket_addrs();
    let mut ips = addresses.into_iter().flatten().map(|address| address.ip());
    ips.find(IpAddr::is_ipv4).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_java_writes() {
        let text = "#Sat Nov 21 12:00:00 UTC 2026\nnamespaceID=1363413447\nblockpoolID=BP-1-1.2.3.4-5\n\
                    storageType=NAME_NODE\ncTime=5\nclusterID=CID\\:a\\=b\nlayoutVersion=-67\n";
        let info = StorageInfo::parse(text.as_bytes(), Path::new("/d")).unwrap();
        assert_eq!(info.cluster_id, "CID:a=b");
        assert_eq!((info.namespace_id, info.layout), (1363413447, LayoutVersion(-67)));
    }

    #[test]
    fn ids_outside_of_ascii_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("current")).unwrap();
        let info = StorageInfo::generate(Some("CID é Ω 😀 a=b".to_owned()));
        info.write(dir.path()).unwrap();
        assert_eq!(StorageInfo::read(dir.path()).unwrap().unwrap(), info);
        std::fs::write(dir.path().join("current/VERSION"), "clusterID=\\u00+9\n").unwrap();
        let error = StorageInfo::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("file VERSION: malformed \\uxxxx encoding"), "{error}");
    }

    #[test]
    fn says_what_is_wrong() {
        let parse = |text: &str| {
            StorageInfo::parse(text.as_bytes(), Path::new("/d")).unwrap_err().to_string()
        };
        assert!(parse("namespaceID=1").contains("file VERSION has layoutVersion missing."));
        assert!(parse("layoutVersion=-68").contains("Reported: -68. Expecting = -67."));
        assert!(parse("layoutVersion=-57\nstorageType=DATA_NODE").contains("type=DATA_NODE"));
    }
}
