//! The operations and the methods that they are asked for with.

use axum::http::Method;

macro_rules! operations {
    ($($operation:ident = $method:ident $name:literal [$($parameter:literal),*],)*) => {
        /// An operation of the WebHDFS specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($operation,)*
        }

        impl Operation {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$operation,)*];

            /// Its name, as the parameter `op` has it.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$operation => $name,)*
                }
            }

            /// The parameters that it has besides those of every request, and those that the second step of two has.
            pub(crate) const fn parameters(self) -> &'static [&'static str] {
                match self {
                    $(Self::$operation => &[$($parameter),*],)*
                }
            }

            /// The method that it is asked for with.
            pub(crate) const fn method(self) -> Method {
                match self {
                    $(Self::$operation => Method::$method,)*
                }
            }
        }
    };
}

operations! {
    Open = GET "OPEN" ["offset", "length", "noredirect", "excludedatanodes"],
    GetFileStatus = GET "GETFILESTATUS" [],
    GetFileLinkStatus = GET "GETFILELINKSTATUS" [],
    ListStatus = GET "LISTSTATUS" ["filter"],
    ListStatusBatch = GET "LISTSTATUS_BATCH" ["startafter"],
    ListStatusRecursive = GET "LISTSTATUS_RECURSIVE" [],
    GetArchive = GET "GETARCHIVE" ["file"],
    GetContentSummary = GET "GETCONTENTSUMMARY" [],
    GetQuotaUsage = GET "GETQUOTAUSAGE" [],
    GetFileChecksum = GET "GETFILECHECKSUM" ["noredirect", "excludedatanodes"],
    GetHomeDirectory = GET "GETHOMEDIRECTORY" [],
    GetTrashRoot = GET "GETTRASHROOT" [],
    GetTrashRoots = GET "GETTRASHROOTS" ["allusers"],
    GetAclStatus = GET "GETACLSTATUS" [],
    GetXAttrs = GET "GETXATTRS" ["xattr.name", "encoding"],
    ListXAttrs = GET "LISTXATTRS" [],
    CheckAccess = GET "CHECKACCESS" ["fsaction"],
    GetAllStoragePolicy = GET "GETALLSTORAGEPOLICY" [],
    GetStoragePolicy = GET "GETSTORAGEPOLICY" [],
    GetFileBlockLocations = GET "GETFILEBLOCKLOCATIONS" ["offset", "length"],
    GetBlockLocations = GET "GET_BLOCK_LOCATIONS" ["offset", "length"],
    GetServerDefaults = GET "GETSERVERDEFAULTS" [],
    GetStatus = GET "GETSTATUS" [],
    GetEcPolicy = GET "GETECPOLICY" [],
    GetEcPolicies = GET "GETECPOLICIES" [],
    GetEcCodecs = GET "GETECCODECS" [],
    GetLinkTarget = GET "GETLINKTARGET" [],
    GetSnapshotDiff = GET "GETSNAPSHOTDIFF" ["oldsnapshotname", "snapshotname"],
    GetSnapshotDiffListing = GET "GETSNAPSHOTDIFFLISTING" ["oldsnapshotname", "snapshotname", "snapshotdiffstartpath", "snapshotdiffindex"],
    GetSnapshottableDirectoryList = GET "GETSNAPSHOTTABLEDIRECTORYLIST" [],
    GetSnapshotList = GET "GETSNAPSHOTLIST" [],
    GetDelegationToken = GET "GETDELEGATIONTOKEN" [],
    Create = PUT "CREATE" ["data", "noredirect", "overwrite", "createparent", "createflag", "permission", "unmaskedpermission", "replication", "blocksize", "excludedatanodes"],
    PutArchive = PUT "PUTARCHIVE" ["overwrite", "createparent", "createflag", "permission", "unmaskedpermission", "replication", "blocksize"],
    Mkdirs = PUT "MKDIRS" ["permission", "unmaskedpermission"],
    CreateSymlink = PUT "CREATESYMLINK" ["destination", "createparent"],
    Rename = PUT "RENAME" ["destination", "renameoptions"],
    SetReplication = PUT "SETREPLICATION" ["replication"],
    SetOwner = PUT "SETOWNER" ["owner", "group"],
    SetPermission = PUT "SETPERMISSION" ["permission"],
    SetTimes = PUT "SETTIMES" ["modificationtime", "accesstime"],
    ModifyAclEntries = PUT "MODIFYACLENTRIES" ["aclspec"],
    RemoveAclEntries = PUT "REMOVEACLENTRIES" ["aclspec"],
    RemoveDefaultAcl = PUT "REMOVEDEFAULTACL" [],
    RemoveAcl = PUT "REMOVEACL" [],
    SetAcl = PUT "SETACL" ["aclspec"],
    SetXAttr = PUT "SETXATTR" ["xattr.name", "xattr.value", "flag"],
    RemoveXAttr = PUT "REMOVEXATTR" ["xattr.name"],
    SetStoragePolicy = PUT "SETSTORAGEPOLICY" ["storagepolicy"],
    SatisfyStoragePolicy = PUT "SATISFYSTORAGEPOLICY" [],
    SetQuota = PUT "SETQUOTA" ["namespacequota", "storagespacequota"],
    SetQuotaByStorageType = PUT "SETQUOTABYSTORAGETYPE" ["storagetype", "storagespacequota"],
    AllowSnapshot = PUT "ALLOWSNAPSHOT" [],
    DisallowSnapshot = PUT "DISALLOWSNAPSHOT" [],
    CreateSnapshot = PUT "CREATESNAPSHOT" ["snapshotname"],
    RenameSnapshot = PUT "RENAMESNAPSHOT" ["oldsnapshotname", "snapshotname"],
    EnableEcPolicy = PUT "ENABLEECPOLICY" ["ecpolicy"],
    DisableEcPolicy = PUT "DISABLEECPOLICY" ["ecpolicy"],
    SetEcPolicy = PUT "SETECPOLICY" ["ecpolicy"],
    RenewDelegationToken = PUT "RENEWDELEGATIONTOKEN" ["token"],
    CancelDelegationToken = PUT "CANCELDELEGATIONTOKEN" ["token"],
    Append = POST "APPEND" ["data", "noredirect", "offset", "hsync", "createparent", "createflag", "permission", "unmaskedpermission", "excludedatanodes"],
    Concat = POST "CONCAT" ["sources"],
    Truncate = POST "TRUNCATE" ["newlength"],
    UnsetStoragePolicy = POST "UNSETSTORAGEPOLICY" [],
    UnsetEcPolicy = POST "UNSETECPOLICY" [],
    Delete = DELETE "DELETE" ["recursive"],
    DeleteSnapshot = DELETE "DELETESNAPSHOT" ["snapshotname"],
}

impl Operation {
    /// By its name, in letters of either case.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operation| operation.name().eq_ignore_ascii_case(name))
    }

    /// Whether it is the gateway's own, which WebHDFS does not have.
    pub(crate) const fn is_of_gateway(self) -> bool {
        matches!(self, Self::ListStatusRecursive | Self::GetArchive | Self::PutArchive)
    }

    /// Whether DataNodes answer it.
    pub(crate) const fn moves_data(self) -> bool {
        matches!(self, Self::Open | Self::Create | Self::Append | Self::GetFileChecksum)
    }

    /// Whether it is asked for with `method`. Hoop's clients create files with POST.
    pub(crate) fn takes(self, method: &Method) -> bool {
        self.method() == method
            || self == Self::Create && method == Method::POST
            || self == Self::Append && method == Method::PUT
            || self == Self::PutArchive && method == Method::POST
            || self == Self::Open && method == Method::HEAD
    }
}
