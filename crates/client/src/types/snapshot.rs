//! Snapshots, and what changed between two of them.

use super::FileStatus;
use zerohop_proto::hdfs::{
    SnapshotDiffReportEntryProto, SnapshotDiffReportListingEntryProto,
    SnapshotDiffReportListingProto, SnapshotDiffReportProto, SnapshotStatusProto,
    SnapshottableDirectoryStatusProto,
};

/// A directory that may have snapshots (`SnapshottableDirectoryStatus`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SnapshottableDirectory {
    /// What is known of the directory.
    pub status: FileStatus,
    /// The path of its parent.
    pub parent: String,
    /// The snapshots it has.
    pub snapshots: u32,
    /// The snapshots it may have.
    pub quota: u32,
}

/// A snapshot of a directory (`SnapshotStatus`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// What is known of the snapshot's root; its name is the snapshot's.
    pub status: FileStatus,
    /// The path of the directory.
    pub directory: String,
    /// Its number, unique in the file system.
    pub id: u32,
    /// Deleted, but kept for a while (`dfs.namenode.snapshot.deletion.ordered`).
    pub is_deleted: bool,
}

impl Snapshot {
    /// Its path, such as `/a/.snapshot/s1`.
    pub fn path(&self) -> String {
        format!("{}/.snapshot/{}", self.directory.trim_end_matches('/'), self.status.name())
    }
}

/// What happened to a path (`SnapshotDiffReport.DiffType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotChangeKind {
    /// It is new.
    Create,
    /// Its data or attributes are others; of a directory, its entries.
    Modify,
    /// It is gone.
    Delete,
    /// It has another name.
    Rename,
}

impl SnapshotChangeKind {
    fn of_label(label: &str) -> Option<Self> {
        Some(match label {
            "+" => Self::Create,
            "M" => Self::Modify,
            "-" => Self::Delete,
            "R" => Self::Rename,
            _ => return None,
        })
    }
}

/// A path that differs between two snapshots; paths are relative to the directory, which itself is an empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotChange {
    /// What happened.
    pub kind: SnapshotChangeKind,
    /// The path.
    pub path: String,
    /// The new path of a renamed one.
    pub target: Option<String>,
}

/// What differs between two snapshots (`SnapshotDiffReport`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotDiff {
    /// The directory.
    pub root: String,
    /// The earlier snapshot; empty for the directory as it is now.
    pub from: String,
    /// The later snapshot; empty for the directory as it is now.
    pub to: String,
    /// What differs.
    pub changes: Vec<SnapshotChange>,
}

/// A path of a page of differences, relative to the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotDiffEntry {
    /// The path.
    pub path: String,
    /// The new path of a renamed one.
    pub target: Option<String>,
    /// The inode id of the directory that it is in.
    pub directory_id: u64,
    /// Its own inode id; 0 where the NameNode does not say it.
    pub file_id: u64,
    /// It was renamed, so that the snapshot refers to an inode elsewhere.
    pub is_reference: bool,
}

/// Where the next page of differences begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotDiffCursor {
    /// The path whose entries were not all told; empty at the end.
    pub path: String,
    /// How many of them were; -1 at the end.
    pub index: i32,
}

impl Default for SnapshotDiffCursor {
    fn default() -> Self {
        Self { path: String::new(), index: -1 }
    }
}

/// A page of the differences between two snapshots (`SnapshotDiffReportListing`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotDiffPage {
    /// What has other data, attributes or entries.
    pub modified: Vec<SnapshotDiffEntry>,
    /// What is new.
    pub created: Vec<SnapshotDiffEntry>,
    /// What is gone, or has another name.
    pub deleted: Vec<SnapshotDiffEntry>,
    /// The first of the two snapshots is the older one.
    pub is_from_earlier: bool,
    /// Where the next page begins.
    pub next: SnapshotDiffCursor,
}

impl From<SnapshottableDirectoryStatusProto> for SnapshottableDirectory {
    fn from(proto: SnapshottableDirectoryStatusProto) -> Self {
        let parent = text(&proto.parent_fullpath);
        Self {
            status: FileStatus::from_proto(proto.dir_status, &parent),
            parent,
            snapshots: proto.snapshot_number,
            quota: proto.snapshot_quota,
        }
    }
}

impl From<SnapshotStatusProto> for Snapshot {
    fn from(proto: SnapshotStatusProto) -> Self {
        let directory = text(&proto.parent_fullpath);
        let within = format!("{}/.snapshot", directory.trim_end_matches('/'));
        Self {
            status: FileStatus::from_proto(proto.dir_status, &within),
            directory,
            id: proto.snapshot_id,
            is_deleted: proto.is_deleted,
        }
    }
}

impl From<SnapshotDiffReportProto> for SnapshotDiff {
    fn from(proto: SnapshotDiffReportProto) -> Self {
        // A kind that nothing here knows is left out, as Apache's client does.
        let change = |entry: SnapshotDiffReportEntryProto| {
            Some(SnapshotChange {
                kind: SnapshotChangeKind::of_label(&entry.modification_label)?,
                path: text(&entry.fullpath),
                target: entry.target_path.as_deref().map(text),
            })
        };
        Self {
            root: proto.snapshot_root,
            from: proto.from_snapshot,
            to: proto.to_snapshot,
            changes: proto.diff_report_entries.into_iter().filter_map(change).collect(),
        }
    }
}

impl From<SnapshotDiffReportListingProto> for SnapshotDiffPage {
    fn from(proto: SnapshotDiffReportListingProto) -> Self {
        let entries = |all: Vec<SnapshotDiffReportListingEntryProto>| {
            let one = |entry: SnapshotDiffReportListingEntryProto| SnapshotDiffEntry {
                path: text(&entry.fullpath),
                // Servers send an empty one where there is none.
                target: entry.target_path.as_deref().filter(|path| !path.is_empty()).map(text),
                directory_id: entry.dir_id,
                file_id: entry.file_id.unwrap_or_default(),
                is_reference: entry.is_reference,
            };
            all.into_iter().map(one).collect()
        };
        let next = proto.cursor.map(|cursor| SnapshotDiffCursor {
            path: text(&cursor.start_path),
            index: cursor.index,
        });
        Self {
            modified: entries(proto.modified_entries),
            created: entries(proto.created_entries),
            deleted: entries(proto.deleted_entries),
            is_from_earlier: proto.is_from_earlier,
            next: next.unwrap_or_default(),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_the_root_has_one_slash_at_its_start() {
        let of = |directory: &str| {
            Snapshot::from(SnapshotStatusProto {
                dir_status: zerohop_proto::hdfs::HdfsFileStatusProto {
                    path: "s1".into(),
                    ..Default::default()
                },
                parent_fullpath: directory.to_owned().into(),
                ..Default::default()
            })
            .path()
        };
        assert_eq!((of("/").as_str(), of("/a/b").as_str()), ("/.snapshot/s1", "/a/b/.snapshot/s1"));
    }

    #[test]
    fn a_change_of_an_unknown_kind_is_left_out() {
        let entry = |label: &str, target: Option<&str>| SnapshotDiffReportEntryProto {
            fullpath: "a".into(),
            modification_label: label.to_owned(),
            target_path: target.map(|target| target.to_owned().into()),
        };
        let proto = SnapshotDiffReportProto {
            diff_report_entries: vec![entry("R", Some("b")), entry("?", None), entry("M", None)],
            ..Default::default()
        };
        let diff = SnapshotDiff::from(proto);
        let kinds: Vec<_> = diff.changes.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [SnapshotChangeKind::Rename, SnapshotChangeKind::Modify]);
        assert_eq!(diff.changes[0].target.as_deref(), Some("b"));
    }

    #[test]
    fn a_page_without_a_cursor_is_the_last() {
        let page = SnapshotDiffPage::from(SnapshotDiffReportListingProto::default());
        assert_eq!(page.next, SnapshotDiffCursor { path: String::new(), index: -1 });
    }
}
