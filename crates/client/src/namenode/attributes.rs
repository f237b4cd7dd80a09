//! Calls about permissions, owners, times and replication.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use zerohop_proto::hdfs::*;

/// What inodes say of themselves: permission bits, owner, times, replication.
pub(crate) struct Attributes(pub(super) NameNode);

impl Attributes {
    pub(crate) async fn set_permission(&self, path: &str, permission: u16) -> Result<()> {
        let request = SetPermissionRequestProto {
            src: wire_path(path)?,
            permission: FsPermissionProto { perm: u32::from(permission) },
        };
        let _: SetPermissionResponseProto = self.0.call("setPermission", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_owner(
        &self,
        path: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        let request = SetOwnerRequestProto {
            src: wire_path(path)?,
            username: owner.map(str::to_owned),
            groupname: group.map(str::to_owned),
        };
        let _: SetOwnerResponseProto = self.0.call("setOwner", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_times(
        &self,
        path: &str,
        modified_ms: Option<u64>,
        accessed_ms: Option<u64>,
    ) -> Result<()> {
        // -1 leaves a time as it is.
        let request = SetTimesRequestProto {
            src: wire_path(path)?,
            mtime: modified_ms.unwrap_or(u64::MAX),
            atime: accessed_ms.unwrap_or(u64::MAX),
        };
        let _: SetTimesResponseProto = self.0.call("setTimes", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_replication(&self, path: &str, replication: u16) -> Result<bool> {
        let request = SetReplicationRequestProto {
            src: wire_path(path)?,
            replication: u32::from(replication),
        };
        let response: SetReplicationResponseProto = self.0.call("setReplication", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn check_access(&self, path: &str, mode: u8) -> Result<()> {
        let request = CheckAccessRequestProto { path: wire_path(path)?, mode: i32::from(mode & 7) };
        let _: CheckAccessResponseProto = self.0.call("checkAccess", &request).await?;
        Ok(())
    }
}
