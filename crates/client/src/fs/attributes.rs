//! Calls about owners, permissions, times, ACLs and extended attributes.

use super::FileSystem;
use crate::error::Result;
use crate::namenode::wire_path;
use crate::types::xattr::named;
use crate::types::*;
use bytes::Bytes;

impl FileSystem {
    /// Sets the permission bits; no umask is applied.
    pub async fn set_permission(&self, path: &str, permission: u16) -> Result<()> {
        self.client.namenode.set_permission(&wire_path(path)?, permission).await
    }

    /// Sets owner and group, each where it is given.
    pub async fn set_owner(
        &self,
        path: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        self.client.namenode.set_owner(&wire_path(path)?, owner, group).await
    }

    /// Sets modification and access time, each where it is given, in milliseconds since 1970.
    pub async fn set_times(
        &self,
        path: &str,
        modified_ms: Option<u64>,
        accessed_ms: Option<u64>,
    ) -> Result<()> {
        self.client.namenode.set_times(&wire_path(path)?, modified_ms, accessed_ms).await
    }

    /// Sets the replicas each block of a file should have; false for a directory.
    pub async fn set_replication(&self, path: &str, replication: u16) -> Result<bool> {
        self.client.namenode.set_replication(&wire_path(path)?, replication).await
    }

    /// Fails unless the user has all the bits (of `rwx`) of `mode` on a path.
    pub async fn access(&self, path: &str, mode: u8) -> Result<()> {
        self.client.namenode.check_access(&wire_path(path)?, mode).await
    }

    /// A path's access control list.
    pub async fn acl_status(&self, path: &str) -> Result<AclStatus> {
        self.client.namenode.acl_status(&wire_path(path)?).await
    }

    /// Replaces a path's access control list.
    pub async fn set_acl(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.client.namenode.set_acl(&wire_path(path)?, entries).await
    }

    /// Adds entries or replaces those about the same.
    pub async fn modify_acl(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.client.namenode.modify_acl(&wire_path(path)?, entries).await
    }

    /// Removes entries; their permissions do not matter.
    pub async fn remove_acl_entries(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.client.namenode.remove_acl_entries(&wire_path(path)?, entries).await
    }

    /// Removes the default entries of a directory.
    pub async fn remove_default_acl(&self, path: &str) -> Result<()> {
        self.client.namenode.remove_default_acl(&wire_path(path)?).await
    }

    /// Removes the access control list; the permission bits stay.
    pub async fn remove_acl(&self, path: &str) -> Result<()> {
        self.client.namenode.remove_acl(&wire_path(path)?).await
    }

    /// All extended attributes that the user may see, with their values.
    pub async fn xattrs(&self, path: &str) -> Result<Vec<XAttr>> {
        self.client.namenode.xattrs(&wire_path(path)?, &[]).await
    }

    /// The value of one attribute, by its full name (`user.color`).
    pub async fn xattr(&self, path: &str, name: &str) -> Result<Option<Bytes>> {
        let name = named(name)?;
        let found = self.client.namenode.xattrs(&wire_path(path)?, &[name]).await?;
        Ok(found.into_iter().next().map(|attribute| attribute.value.unwrap_or_default()))
    }

    /// The full names of all extended attributes that the user may see.
    pub async fn list_xattrs(&self, path: &str) -> Result<Vec<String>> {
        let found = self.client.namenode.list_xattrs(&wire_path(path)?).await?;
        Ok(found.iter().map(XAttr::full_name).collect())
    }

    /// Sets an extended attribute by its full name.
    pub async fn set_xattr(
        &self,
        path: &str,
        name: &str,
        value: &[u8],
        flags: XAttrFlags,
    ) -> Result<()> {
        let value = (!value.is_empty()).then(|| Bytes::copy_from_slice(value));
        let attribute = XAttr { value, ..named(name)? };
        self.client.namenode.set_xattr(&wire_path(path)?, &attribute, flags).await
    }

    /// Removes an extended attribute by its full name.
    pub async fn remove_xattr(&self, path: &str, name: &str) -> Result<()> {
        let name = named(name)?;
        self.client.namenode.remove_xattr(&wire_path(path)?, &name).await
    }
}
