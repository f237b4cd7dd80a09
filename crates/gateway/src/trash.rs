//! GETTRASHROOTS: the trash directories that are there.

use crate::failure::Failure;
use crate::list_pages::entries;
use crate::streamed_list::Members;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use zerohop_client::{ErrorKind, FileKind, FileStatus, FileSystem};

/// Returns the caller's trash directory, or with `all_users` those below the directory of home directories, as
/// `FileSystem.getTrashRoots` finds them.
pub(crate) async fn roots(fs: &FileSystem, all_users: bool) -> Result<Members, Failure> {
    let home = fs.home();
    if !all_users {
        let path = format!("{home}/.Trash");
        let found = trash_at(fs, &path).await?;
        return Ok(Box::pin(stream::iter(found.map(|status| Ok(shape(&path, &status))))));
    }
    let (homes, _) = home.rsplit_once('/').unwrap_or_default();
    let mut pages = fs.list_pages(if homes.is_empty() { "/" } else { homes })?;
    let first = match pages.next().await {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Box::pin(stream::empty()));
        }
        listed => listed?.unwrap_or_default(),
    };
    let fs = fs.clone();
    let roots = entries(first, pages).filter_map(move |user| {
        let fs = fs.clone();
        async move { root_of(&fs, user).await.transpose() }
    });
    Ok(Box::pin(roots))
}

/// Returns the trash directory below a home directory; `None` if none exists.
async fn root_of(
    fs: &FileSystem,
    user: Result<FileStatus, Failure>,
) -> Result<Option<Value>, Failure> {
    let user = user?;
    let path = format!("{}/.Trash", user.path);
    // Apache's shows what it knows of the home directory, by the other path.
    Ok(trash_at(fs, &path).await?.map(|_| shape(&path, &user)))
}

async fn trash_at(fs: &FileSystem, path: &str) -> zerohop_client::Result<Option<FileStatus>> {
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
