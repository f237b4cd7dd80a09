//! Operations that ask about snapshots.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::request::Request;
use crate::shapes::file_status;
use serde_json::{Value, json};
use zerohop_client::{
    FileSystem, Snapshot, SnapshotChange, SnapshotChangeKind, SnapshotDiff, SnapshotDiffCursor,
    SnapshotDiffEntry, SnapshotDiffPage, SnapshottableDirectory,
};

/// The answer, none to another operation.
pub(crate) async fn answer(fs: &FileSystem, request: &Request) -> Result<Option<Value>, Failure> {
    let (path, params) = (request.path.as_str(), &request.params);
    let from = || params.text("oldsnapshotname").unwrap_or_default();
    let to = || params.text("snapshotname").unwrap_or_default();
    Ok(Some(match request.operation {
        Operation::GetSnapshottableDirectoryList => {
            let all = fs.snapshottable_directories().await?;
            let all: Option<Vec<Value>> = all.map(|all| all.iter().map(directory).collect());
            json!({ "SnapshottableDirectoryList": all })
        }
        Operation::GetSnapshotList => {
            let all = fs.snapshots(path).await?;
            let all: Option<Vec<Value>> = all.map(|all| all.iter().map(snapshot).collect());
            json!({ "SnapshotList": all })
        }
        Operation::GetSnapshotDiff => {
            json!({ "SnapshotDiffReport": diff(&fs.snapshot_diff(path, from(), to()).await?) })
        }
        Operation::GetSnapshotDiffListing => {
            let start = SnapshotDiffCursor {
                path: params.text("snapshotdiffstartpath").unwrap_or_default().to_owned(),
                index: params.number("snapshotdiffindex", "an integer")?.unwrap_or(-1),
            };
            let page = fs.snapshot_diff_page(path, from(), to(), start).await?;
            json!({ "SnapshotDiffReportListing": diff_page(&page) })
        }
        _ => return Ok(None),
    }))
}

fn directory(directory: &SnapshottableDirectory) -> Value {
    json!({
        "dirStatus": file_status(&directory.status, Some("")),
        "parentFullPath": directory.parent,
        "snapshotNumber": directory.snapshots,
        "snapshotQuota": directory.quota,
    })
}

fn snapshot(snapshot: &Snapshot) -> Value {
    json!({
        "deletionStatus": if snapshot.is_deleted { "DELETED" } else { "ACTIVE" },
        "dirStatus": file_status(&snapshot.status, Some("")),
        "fullPath": snapshot.path(),
        "snapshotID": snapshot.id,
    })
}

fn diff(diff: &SnapshotDiff) -> Value {
    let change = |change: &SnapshotChange| {
        let kind = match change.kind {
            SnapshotChangeKind::Create => "CREATE",
            SnapshotChangeKind::Delete => "DELETE",
            SnapshotChangeKind::Rename => "RENAME",
            _ => "MODIFY",
        };
        let value = json!({ "sourcePath": change.path, "type": kind });
        with_target(value, change.target.as_deref())
    };
    json!({
        "diffList": diff.changes.iter().map(change).collect::<Vec<_>>(),
        "fromSnapshot": diff.from,
        "snapshotRoot": diff.root,
        "toSnapshot": diff.to,
    })
}

fn diff_page(page: &SnapshotDiffPage) -> Value {
    let entries = |all: &[SnapshotDiffEntry]| {
        let one = |entry: &SnapshotDiffEntry| {
            let value = json!({
                "dirId": entry.directory_id,
                "fileId": entry.file_id,
                "isReference": entry.is_reference,
                "sourcePath": entry.path,
            });
            with_target(value, entry.target.as_deref())
        };
        all.iter().map(one).collect::<Vec<_>>()
    };
    json!({
        "createList": entries(&page.created),
        "deleteList": entries(&page.deleted),
        "isFromEarlier": page.is_from_earlier,
        "lastIndex": page.next.index,
        "lastPath": page.next.path,
        "modifyList": entries(&page.modified),
    })
}

fn with_target(mut value: Value, target: Option<&str>) -> Value {
    if let Some(target) = target {
        value["targetPath"] = target.into();
    }
    value
}
