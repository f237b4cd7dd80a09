//! Calls about owners, permissions, times, ACLs and extended attributes.

use super::FileSystem;
use crate::error::Result;
use crate::types::*;
use bytes::Bytes;

impl FileSystem {
    /// Sets the permission bits; no umask is applied.
    pub async fn set_permission(&self, path: &str, permission: u16) -> Result<()> {
        self.client.calls.attributes.set_permission(path, permission).await
    }

    /// Sets owner and group, each where it is given.
    pub async fn set_owner(
        &self,
        path: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        self.client.calls.attributes.set_owner(path, owner, group).await
    }

    /// Sets modification and access time, each where it is given, in milliseconds since 1970.
    pub async fn set_times(
        &self,
        path: &str,
        modified_ms: Option<u64>,
        accessed_ms: Option<u64>,
    ) -> Result<()> {
        self.client.calls.attributes.set_times(path, modified_ms, accessed_ms).await
    }

    /// Sets the replicas each block of a file should have; false for a directory.
    pub async fn set_replication(&self, path: &str, replication: u16) -> Result<bool> {
        self.client.calls.attributes.set_replication(path, replication).await
    }

    /// Fails unless the user has all the bits (of `rwx`) of `mode` on a path.
    pub async fn access(&self, path: &str, mode: u8) -> Result<()> {
        self.client.calls.attributes.check_access(path, mode).await
    }

    /// A path's access control list.
    pub async fn acl_status(&self, path: &str) -> Result<AclStatus> {
        self.client.calls.acls.status(path).await
    }

    /// Replaces a path's access control list.
    pub async fn set_acl(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.client.calls.acls.set(path, entries).await
    }

    /// Adds entries or replaces those about the same.
    pub async fn modify_acl(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.client.calls.acls.modify(path, entries).await
    }

    /// Removes entries; their permissions do not matter.
    pub async fn remove_acl_entries(&self, path: &str, entries: &[AclEntry]) -> Result<()> {
        self.client.calls.acls.remove_entries(path, entries).await
    }

    /// Removes the default entries of a directory.
    pub async fn remove_default_acl(&self, path: &str) -> Result<()> {
        self.client.calls.acls.remove_default(path).await
    }

    /// Removes the access control list; the permission bits stay.
    pub async fn remove_acl(&self, path: &str) -> Result<()> {
        self.client.calls.acls.remove(path).await
    }

    /// All extended attributes that the user may see, with their values.
    pub async fn xattrs(&self, path: &str) -> Result<Vec<XAttr>> {
        self.client.calls.xattrs.all(path).await
    }

    /// The value of one attribute, by its full name (`user.color`).
    pub async fn xattr(&self, path: &str, name: &str) -> Result<Option<Bytes>> {
        self.client.calls.xattrs.get(path, name).await
    }

    /// The full names of all extended attributes that the user may see.
    pub async fn list_xattrs(&self, path: &str) -> Result<Vec<String>> {
        self.client.calls.xattrs.list(path).await
    }

    /// Sets an extended attribute by its full name.
    pub async fn set_xattr(
        &self,
        path: &str,
        name: &str,
        value: &[u8],
        flags: XAttrFlags,
    ) -> Result<()> {
        self.client.calls.xattrs.set(path, name, value, flags).await
    }

    /// Removes an extended attribute by its full name.
    pub async fn remove_xattr(&self, path: &str, name: &str) -> Result<()> {
        self.client.calls.xattrs.remove(path, name).await
    }
}
