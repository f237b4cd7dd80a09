//! What users of a file system ask of the NameNode, in groups.

use super::acls::Acls;
use super::admin::Administration;
use super::attributes::Attributes;
use super::caching::Caching;
use super::erasure_coding::ErasureCoding;
use super::paths::Paths;
use super::proxy::NameNode;
use super::quotas::Quotas;
use super::snapshots::Snapshots;
use super::storage_policies::StoragePolicies;
use super::xattrs::XAttrs;

/// The calls of [`FileSystem`](crate::FileSystem), which passes its own on to these. Paths are those of the caller;
/// they are checked here.
pub(crate) struct Calls {
    pub(crate) paths: Paths,
    pub(crate) attributes: Attributes,
    pub(crate) acls: Acls,
    pub(crate) xattrs: XAttrs,
    pub(crate) snapshots: Snapshots,
    pub(crate) quotas: Quotas,
    pub(crate) storage_policies: StoragePolicies,
    pub(crate) erasure_coding: ErasureCoding,
    pub(crate) caching: Caching,
    pub(crate) admin: Administration,
}

impl Calls {
    pub(crate) fn new(namenode: &NameNode, umask: u16, client_name: String) -> Self {
        let namenode = || namenode.clone();
        Self {
            paths: Paths { namenode: namenode(), umask, client_name },
            attributes: Attributes(namenode()),
            acls: Acls(namenode()),
            xattrs: XAttrs(namenode()),
            snapshots: Snapshots(namenode()),
            quotas: Quotas(namenode()),
            storage_policies: StoragePolicies(namenode()),
            erasure_coding: ErasureCoding(namenode()),
            caching: Caching(namenode()),
            admin: Administration(namenode()),
        }
    }
}
