//! Calls about access control lists.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::{AclEntry, AclStatus};
use zerohop_proto::hdfs::*;

fn spec(entries: &[AclEntry]) -> Vec<AclEntryProto> {
    entries.iter().map(Into::into).collect()
}

/// Access control lists of paths.
pub(crate) struct Acls(pub(super) NameNode);

impl Acls {
    pub(crate) async fn status(&self, path: &str) -> Result<AclStatus> {
        let request = GetAclStatusRequestProto { src: wire_path(path)? };
        let response: GetAclStatusResponseProto = self.0.call("getAclStatus", &request).await?;
        Ok(response.result.into())
    }

    pub(crate) async fn set(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        let request = SetAclRequestProto { src: wire_path(path)?, acl_spec: spec(entries) };
        let _: SetAclResponseProto = self.0.call("setAcl", &request).await?;
        Ok(())
    }

    pub(crate) async fn modify(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        let request =
            ModifyAclEntriesRequestProto { src: wire_path(path)?, acl_spec: spec(entries) };
        let _: ModifyAclEntriesResponseProto = self.0.call("modifyAclEntries", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_entries(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        let request =
            RemoveAclEntriesRequestProto { src: wire_path(path)?, acl_spec: spec(entries) };
        let _: RemoveAclEntriesResponseProto = self.0.call("removeAclEntries", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_default(&self, path: &str) -> Result<()> {
        let request = RemoveDefaultAclRequestProto { src: wire_path(path)? };
        let _: RemoveDefaultAclResponseProto = self.0.call("removeDefaultAcl", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove(&self, path: &str) -> Result<()> {
        let request = RemoveAclRequestProto { src: wire_path(path)? };
        let _: RemoveAclResponseProto = self.0.call("removeAcl", &request).await?;
        Ok(())
    }
}
