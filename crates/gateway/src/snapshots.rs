//! Operations that ask about snapshots.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::request::Request;
use crate::shapes::file_status;
use crate::streamed_list::{Members, StreamedList, known};
use futures_util::stream;
use serde_json::{Value, json};
use zerohop_client::{
    FileSystem, Snapshot, SnapshotChange, SnapshotChangeKind, SnapshotDiff, SnapshotDiffCursor,
    SnapshotDiffEntry, SnapshotDiffPage, SnapshottableDirectory,
};

/// Returns the answer to an operation that lists; `None` to another one.
pub(crate) async fn list(
    fs: &FileSystem,
    request: &Request,
) -> Result<Option<StreamedList>, Failure> {
    let (path, (from, to)) = (request.path.as_str(), range(request));
    let list = |name: &str, members: Option<Members>| StreamedList {
        head: format!("{{\"{name}\":"),
        empty: if members.is_some() { "[]" } else { "null" },
        members: members.unwrap_or_else(|| Box::pin(stream::empty())),
        tail: "}".to_owned(),
    };
    Ok(Some(match request.operation {
        Operation::GetSnapshottableDirectoryList => {
            let all = fs.snapshottable_directories().await?;
            list("SnapshottableDirectoryList", all.map(|all| known(all, directory)))
        }
        Operation::GetSnapshotList => {
            let all = fs.snapshots(path).await?;
            list("SnapshotList", all.map(|all| known(all, snapshot)))
        }
        Operation::GetSnapshotDiff => {
            let SnapshotDiff { root, from, to, changes, .. } =
                fs.snapshot_diff(path, from, to).await?;
            let rest = json!({ "fromSnapshot": from, "snapshotRoot": root, "toSnapshot": to });
            let rest = rest.to_string();
            StreamedList {
                head: "{\"SnapshotDiffReport\":{\"diffList\":".to_owned(),
                members: known(changes, change),
                tail: format!(",{}}}", rest.trim_start_matches('{')),
                empty: "[]",
            }
        }
        _ => return Ok(None),
    }))
}

/// Returns the answer to the question for a page of a difference; `None` to another one.
pub(crate) async fn answer(fs: &FileSystem, request: &Request) -> Result<Option<Value>, Failure> {
    if request.operation != Operation::GetSnapshotDiffListing {
        return Ok(None);
    }
    let (params, (from, to)) = (&request.params, range(request));
    let start = SnapshotDiffCursor {
        path: params.text("snapshotdiffstartpath").unwrap_or_default().to_owned(),
        index: params.number("snapshotdiffindex", "an integer")?.unwrap_or(-1),
    };
    let page = fs.snapshot_diff_page(&request.path, from, to, start).await?;
    Ok(Some(json!({ "SnapshotDiffReportListing": diff_page(&page) })))
}

/// Returns the names of the two snapshots to compare.
fn range(request: &Request) -> (&str, &str) {
    let name = |param| request.params.text(param).unwrap_or_default();
    (name("oldsnapshotname"), name("snapshotname"))
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

fn change(change: &SnapshotChange) -> Value {
    let kind = match change.kind {
        SnapshotChangeKind::Create => "CREATE",
        SnapshotChangeKind::Delete => "DELETE",
        SnapshotChangeKind::Rename => "RENAME",
        _ => "MODIFY",
    };
    let value = json!({ "sourcePath": change.path, "type": kind });
    with_target(value, change.target.as_deref())
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
