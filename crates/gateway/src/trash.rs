//! GETTRASHROOTS: the trash directories that are there.

use crate::failure::Failure;
use serde_json::{Value, json};
use zerohop_client::{ErrorKind, FileKind, FileStatus, FileSystem, Result};

/// The caller's trash directory, or with `all_users` those below the directory of home directories, as
/// `FileSystem.getTrashRoots` finds them.
pub(crate) async fn roots(fs: &FileSystem, all_users: bool) -> std::result::Result<Value, Failure> {
    let home = fs.home();
    let mut found = Vec::new();
    if all_users {
        let (homes, _) = home.rsplit_once('/').unwrap_or_default();
        let users = match fs.list(if homes.is_empty() { "/" } else { homes }).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            listed => listed?,
        };
        for user in users {
            let path = format!("{}/.Trash", user.path);
            if trash_at(fs, &path).await?.is_some() {
                // Apache's shows what it knows of the home directory, by the other path.
                found.push(shape(&path, &user));
            }
        }
    } else {
        let path = format!("{home}/.Trash");
        found.extend(trash_at(fs, &path).await?.map(|status| shape(&path, &status)));
    }
    // No list where there is none, as `JsonUtil` has it.
    Ok(json!({ "Paths": if found.is_empty() { Value::Null } else { found.into() } }))
}

async fn trash_at(fs: &FileSystem, path: &str) -> Result<Option<FileStatus>> {
    match fs.status(path).await {
        Ok(status) => Ok(Some(status)),
        // A file in place of a home directory has nothing below it, and other users' homes may be closed.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied) => Ok(None),
        Err(error)
            if error
                .java_class()
                .is_some_and(|class| class.ends_with(".ParentNotDirectoryException")) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The members that this operation alone has.
fn shape(path: &str, status: &FileStatus) -> Value {
    json!({
        "access_time": status.accessed_ms,
        "block_replication": status.replication,
        "blocksize": status.block_size,
        "group": &*status.group,
        "isdir": status.kind == FileKind::Directory,
        "length": status.len,
        "modification_time": status.modified_ms,
        "owner": &*status.owner,
        "path": path,
        "permission": format!("{:o}", status.permission & 0o1777),
    })
}
