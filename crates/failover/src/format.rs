//! The path in ZooKeeper that controllers of a name service compete below.

use crate::zookeeper::{ZooKeeperError, ZooKeeperOptions};
use zookeeper_client::{Client, CreateMode, Error};

/// Whether the path is there.
///
/// # Errors
/// If ZooKeeper does not say.
pub async fn is_formatted(
    options: &ZooKeeperOptions,
    client: &Client,
) -> Result<bool, ZooKeeperError> {
    let znode = options.znode();
    let what = format!("Couldn't determine existence of znode '{znode}'");
    Ok(options.retry(&what, || client.check_stat(znode)).await?.is_some())
}

/// Makes the path, and everything above it. What is there gets the configured ACL.
///
/// # Errors
/// If ZooKeeper refuses.
pub async fn make_znode(options: &ZooKeeperOptions, client: &Client) -> Result<(), ZooKeeperError> {
    let znode = options.znode();
    let ends = znode.char_indices().skip(1).filter(|(_, c)| *c == '/').map(|(at, _)| at);
    for end in ends.chain([znode.len()]) {
        let path = &znode[..end];
        let mode = CreateMode::Persistent.with_acls(options.acl());
        let what = format!("Couldn't create {path}");
        match options.retry(&what, || client.create(path, &[], &mode)).await {
            Ok(_) => {}
            Err(failure) if failure.source == Error::NodeExists => {
                set_acl(options, client, path).await?;
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(())
}

async fn set_acl(
    options: &ZooKeeperOptions,
    client: &Client,
    path: &str,
) -> Result<(), ZooKeeperError> {
    let what = format!("Couldn't set ACLs on parent ZNode: {path}");
    let (acl, stat) = options.retry(&what, || client.get_acl(path)).await?;
    let wanted = options.acl();
    let is_same = acl.len() == wanted.len() && acl.iter().all(|one| wanted.contains(one));
    if !is_same {
        options.retry(&what, || client.set_acl(path, &wanted, Some(stat.aversion))).await?;
    }
    Ok(())
}

/// Removes the path with everything below it.
///
/// # Errors
/// If ZooKeeper refuses.
pub async fn remove_znode(
    options: &ZooKeeperOptions,
    client: &Client,
) -> Result<(), ZooKeeperError> {
    let mut paths = vec![options.znode().to_owned()];
    let mut at = 0;
    // Parents before children, then deleted from behind.
    while let Some(path) = paths.get(at).cloned() {
        let what = format!("Couldn't clear parent znode {path}");
        let children = options.retry(&what, || client.list_children(&path)).await?;
        paths.extend(children.into_iter().map(|name| format!("{path}/{name}")));
        at += 1;
    }
    for path in paths.iter().rev() {
        let what = format!("Couldn't clear parent znode {path}");
        match options.retry(&what, || client.delete(path, None)).await {
            Ok(()) => {}
            Err(failure) if failure.source == Error::NoNode => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(())
}
