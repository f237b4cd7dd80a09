//! The bounds of a file's replication.

use crate::error::{LimitError, ReplicationBound, refuse};
use crate::tree::REPLICATION_MAX;
use crate::{NamespaceParams, Result};

/// `BlockManager.verifyReplication`, and what an inode can hold, where `dfs.replication.max` allows more.
pub(crate) fn verify_replication(
    params: &NamespaceParams,
    path: &str,
    replication: u16,
    client: Option<&str>,
) -> Result<()> {
    let (minimum, maximum) = (params.replication_min, params.replication_max);
    let bound = if replication > maximum {
        ReplicationBound::Maximum(maximum)
    } else if replication < minimum {
        ReplicationBound::Minimum(minimum)
    } else if replication > REPLICATION_MAX {
        return refuse(LimitError::ReplicationValue { replication });
    } else {
        return Ok(());
    };
    let (path, client_host) = (path.to_owned(), client.map(str::to_owned));
    refuse(LimitError::Replication { replication, bound, path, client_host })
}
