//! `VERSION`: which name space a journal belongs to.

use crate::error::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;
use zerohop_daemon::storage::{self, FileError, Properties};

/// The ids of the name space that a journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageInfo {
    /// Identifies the name space.
    pub namespace_id: i32,
    /// Identifies the cluster.
    pub cluster_id: String,
    /// When the name space was last upgraded, ms since the epoch.
    pub c_time_ms: i64,
    /// The layout of the NameNode's files. A JournalNode only counts records, so that it may be newer than what this build
    /// reads.
    pub layout: i32,
}

impl StorageInfo {
    /// Reads `VERSION` of a directory `current`; none if there is no such file.
    pub(crate) fn read(current: &Path) -> Result<Option<Self>> {
        let path = current.join("VERSION");
        let content = match std::fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::new("read", &path)(error).into()),
        };
        let unreadable = |reason: String| Error::Unreadable { path: path.clone(), reason };
        let properties =
            Properties::parse(&content).map_err(|error| unreadable(error.to_string()))?;
        let text = |name: &str| {
            properties.get(name).ok_or_else(|| unreadable(format!("{name} is missing")))
        };
        let number = |name: &str| {
            let digits = text(name)?;
            digits.parse::<i64>().map_err(|_| unreadable(format!("{name}={digits} is no number")))
        };
        let small = |name: &str| {
            let number = number(name)?;
            i32::try_from(number).map_err(|_| unreadable(format!("{name}={number} is too large")))
        };
        match text("storageType")? {
            "JOURNAL_NODE" => Ok(Some(Self {
                namespace_id: small("namespaceID")?,
                cluster_id: text("clusterID")?.to_owned(),
                c_time_ms: number("cTime")?,
                layout: small("layoutVersion")?,
            })),
            other => Err(unreadable(format!(
                "storageType={other}: the directory does not belong to a JournalNode"
            ))),
        }
    }

    /// Writes `VERSION` into a directory `current`.
    pub(crate) fn write(&self, current: &Path) -> Result<()> {
        let properties = Properties::from_iter([
            ("namespaceID", self.namespace_id.to_string()),
            ("clusterID", self.cluster_id.clone()),
            ("cTime", self.c_time_ms.to_string()),
            ("storageType", "JOURNAL_NODE".to_owned()),
            ("layoutVersion", self.layout.to_string()),
        ]);
        Ok(storage::replace(&current.join("VERSION"), properties.to_text().as_bytes())?)
    }

    /// Layout, name space, time and cluster with colons between them, as `/getJournal` is asked with
    /// (`StorageInfo.toColonSeparatedString`).
    pub fn to_colon_separated(&self) -> String {
        format!("{}:{}:{}:{}", self.layout, self.namespace_id, self.c_time_ms, self.cluster_id)
    }
}
