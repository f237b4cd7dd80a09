//! Calls about access control lists, extended attributes and access itself.

use super::proxy::NameNode;
use crate::error::Result;
use crate::types::{AclEntry, AclStatus, XAttr, XAttrFlags};
use zerohop_proto::hdfs::*;

fn spec(entries: &[AclEntry]) -> Vec<AclEntryProto> {
    entries.iter().map(Into::into).collect()
}

impl NameNode {
    pub(crate) async fn modify_acl(&self, src: &str, entries: &[AclEntry]) -> Result<()> {
        let request = ModifyAclEntriesRequestProto { src: src.to_owned(), acl_spec: spec(entries) };
        let _: ModifyAclEntriesResponseProto = self.call("modifyAclEntries", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_acl_entries(&self, src: &str, entries: &[AclEntry]) -> Result<()> {
        let request = RemoveAclEntriesRequestProto { src: src.to_owned(), acl_spec: spec(entries) };
        let _: RemoveAclEntriesResponseProto = self.call("removeAclEntries", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_acl(&self, src: &str, entries: &[AclEntry]) -> Result<()> {
        let request = SetAclRequestProto { src: src.to_owned(), acl_spec: spec(entries) };
        let _: SetAclResponseProto = self.call("setAcl", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_default_acl(&self, src: &str) -> Result<()> {
        let request = RemoveDefaultAclRequestProto { src: src.to_owned() };
        let _: RemoveDefaultAclResponseProto = self.call("removeDefaultAcl", &request).await?;
        Ok(())
    }

    pub(crate) async fn remove_acl(&self, src: &str) -> Result<()> {
        let request = RemoveAclRequestProto { src: src.to_owned() };
        let _: RemoveAclResponseProto = self.call("removeAcl", &request).await?;
        Ok(())
    }

    pub(crate) async fn acl_status(&self, src: &str) -> Result<AclStatus> {
        let request = GetAclStatusRequestProto { src: src.to_owned() };
        let response: GetAclStatusResponseProto = self.call("getAclStatus", &request).await?;
        Ok(response.result.into())
    }

    pub(crate) async fn set_xattr(
        &self,
        src: &str,
        attribute: &XAttr,
        flags: XAttrFlags,
    ) -> Result<()> {
        let request = SetXAttrRequestProto {
            src: src.to_owned(),
            x_attr: Some(attribute.into()),
            flag: Some(flags.bits()),
        };
        let _: SetXAttrResponseProto = self.call("setXAttr", &request).await?;
        Ok(())
    }

    /// All attributes with their values where `names` is empty.
    pub(crate) async fn xattrs(&self, src: &str, names: &[XAttr]) -> Result<Vec<XAttr>> {
        let request = GetXAttrsRequestProto {
            src: src.to_owned(),
            x_attrs: names.iter().map(Into::into).collect(),
        };
        let response: GetXAttrsResponseProto = self.call("getXAttrs", &request).await?;
        Ok(response.x_attrs.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn list_xattrs(&self, src: &str) -> Result<Vec<XAttr>> {
        let request = ListXAttrsRequestProto { src: src.to_owned() };
        let response: ListXAttrsResponseProto = self.call("listXAttrs", &request).await?;
        Ok(response.x_attrs.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn remove_xattr(&self, src: &str, name: &XAttr) -> Result<()> {
        let request = RemoveXAttrRequestProto { src: src.to_owned(), x_attr: Some(name.into()) };
        let _: RemoveXAttrResponseProto = self.call("removeXAttr", &request).await?;
        Ok(())
    }

    pub(crate) async fn check_access(&self, path: &str, mode: u8) -> Result<()> {
        let request = CheckAccessRequestProto { path: path.to_owned(), mode: i32::from(mode & 7) };
        let _: CheckAccessResponseProto = self.call("checkAccess", &request).await?;
        Ok(())
    }
}
