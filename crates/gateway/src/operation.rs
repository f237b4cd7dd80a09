//! The operations and the methods that they are asked for with.

use axum::http::Method;

macro_rules! operations {
    ($($operation:ident = $method:ident $name:literal,)*) => {
        /// An operation of the WebHDFS specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($operation,)*
        }

        impl Operation {
            const ALL: &[Self] = &[$(Self::$operation,)*];

            /// Its name, as the parameter `op` has it.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$operation => $name,)*
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
    Open = GET "OPEN",
    GetFileStatus = GET "GETFILESTATUS",
    GetFileLinkStatus = GET "GETFILELINKSTATUS",
    ListStatus = GET "LISTSTATUS",
    ListStatusBatch = GET "LISTSTATUS_BATCH",
    GetContentSummary = GET "GETCONTENTSUMMARY",
    GetQuotaUsage = GET "GETQUOTAUSAGE",
    GetFileChecksum = GET "GETFILECHECKSUM",
    GetHomeDirectory = GET "GETHOMEDIRECTORY",
    GetTrashRoot = GET "GETTRASHROOT",
    GetTrashRoots = GET "GETTRASHROOTS",
    GetAclStatus = GET "GETACLSTATUS",
    GetXAttrs = GET "GETXATTRS",
    ListXAttrs = GET "LISTXATTRS",
    CheckAccess = GET "CHECKACCESS",
    GetAllStoragePolicy = GET "GETALLSTORAGEPOLICY",
    GetStoragePolicy = GET "GETSTORAGEPOLICY",
    GetFileBlockLocations = GET "GETFILEBLOCKLOCATIONS",
    GetBlockLocations = GET "GET_BLOCK_LOCATIONS",
    GetServerDefaults = GET "GETSERVERDEFAULTS",
    GetStatus = GET "GETSTATUS",
    GetEcPolicy = GET "GETECPOLICY",
    GetEcPolicies = GET "GETECPOLICIES",
    GetEcCodecs = GET "GETECCODECS",
    GetLinkTarget = GET "GETLINKTARGET",
    GetSnapshotDiff = GET "GETSNAPSHOTDIFF",
    GetSnapshotDiffListing = GET "GETSNAPSHOTDIFFLISTING",
    GetSnapshottableDirectoryList = GET "GETSNAPSHOTTABLEDIRECTORYLIST",
    GetSnapshotList = GET "GETSNAPSHOTLIST",
    GetDelegationToken = GET "GETDELEGATIONTOKEN",
    Create = PUT "CREATE",
    Mkdirs = PUT "MKDIRS",
    CreateSymlink = PUT "CREATESYMLINK",
    Rename = PUT "RENAME",
    SetReplication = PUT "SETREPLICATION",
    SetOwner = PUT "SETOWNER",
    SetPermission = PUT "SETPERMISSION",
    SetTimes = PUT "SETTIMES",
    ModifyAclEntries = PUT "MODIFYACLENTRIES",
    RemoveAclEntries = PUT "REMOVEACLENTRIES",
    RemoveDefaultAcl = PUT "REMOVEDEFAULTACL",
    RemoveAcl = PUT "REMOVEACL",
    SetAcl = PUT "SETACL",
    SetXAttr = PUT "SETXATTR",
    RemoveXAttr = PUT "REMOVEXATTR",
    SetStoragePolicy = PUT "SETSTORAGEPOLICY",
    SatisfyStoragePolicy = PUT "SATISFYSTORAGEPOLICY",
    SetQuota = PUT "SETQUOTA",
    SetQuotaByStorageType = PUT "SETQUOTABYSTORAGETYPE",
    AllowSnapshot = PUT "ALLOWSNAPSHOT",
    DisallowSnapshot = PUT "DISALLOWSNAPSHOT",
    CreateSnapshot = PUT "CREATESNAPSHOT",
    RenameSnapshot = PUT "RENAMESNAPSHOT",
    EnableEcPolicy = PUT "ENABLEECPOLICY",
    DisableEcPolicy = PUT "DISABLEECPOLICY",
    SetEcPolicy = PUT "SETECPOLICY",
    RenewDelegationToken = PUT "RENEWDELEGATIONTOKEN",
    CancelDelegationToken = PUT "CANCELDELEGATIONTOKEN",
    Append = POST "APPEND",
    Concat = POST "CONCAT",
    Truncate = POST "TRUNCATE",
    UnsetStoragePolicy = POST "UNSETSTORAGEPOLICY",
    UnsetEcPolicy = POST "UNSETECPOLICY",
    Delete = DELETE "DELETE",
    DeleteSnapshot = DELETE "DELETESNAPSHOT",
}

impl Operation {
    /// By its name, in letters of either case.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operation| operation.name().eq_ignore_ascii_case(name))
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
            || self == Self::Open && method == Method::HEAD
    }
}
