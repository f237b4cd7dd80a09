//! The operations, as `GetOpParam`, `PutOpParam`, `PostOpParam` and `DeleteOpParam` have them.

/// An operation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) method: &'static str,
    /// The status of success.
    pub(crate) expected: u16,
    /// True if the operation can be sent again when its answer was lost: it changes nothing, or has the same effect and
    /// answer the second time.
    pub(crate) repeats: bool,
}

macro_rules! operations {
    ($($constant:ident = $method:literal $name:literal $expected:literal $repeats:literal;)*) => {
        $(pub(crate) const $constant: Operation = Operation {
            name: $name,
            method: $method,
            expected: $expected,
            repeats: $repeats,
        };)*
    };
}

operations! {
    OPEN = "GET" "OPEN" 200 true;
    GET_FILE_STATUS = "GET" "GETFILESTATUS" 200 true;
    LIST_STATUS_BATCH = "GET" "LISTSTATUS_BATCH" 200 true;
    GET_CONTENT_SUMMARY = "GET" "GETCONTENTSUMMARY" 200 true;
    GET_QUOTA_USAGE = "GET" "GETQUOTAUSAGE" 200 true;
    GET_FILE_CHECKSUM = "GET" "GETFILECHECKSUM" 200 true;
    GET_FILE_BLOCK_LOCATIONS = "GET" "GETFILEBLOCKLOCATIONS" 200 true;
    GET_SERVER_DEFAULTS = "GET" "GETSERVERDEFAULTS" 200 true;
    GET_STATUS = "GET" "GETSTATUS" 200 true;
    GET_ACL_STATUS = "GET" "GETACLSTATUS" 200 true;
    GET_XATTRS = "GET" "GETXATTRS" 200 true;
    CHECK_ACCESS = "GET" "CHECKACCESS" 200 true;
    CREATE = "PUT" "CREATE" 201 false;
    MKDIRS = "PUT" "MKDIRS" 200 true;
    RENAME = "PUT" "RENAME" 200 false;
    SET_REPLICATION = "PUT" "SETREPLICATION" 200 true;
    SET_OWNER = "PUT" "SETOWNER" 200 true;
    SET_PERMISSION = "PUT" "SETPERMISSION" 200 true;
    SET_TIMES = "PUT" "SETTIMES" 200 true;
    MODIFY_ACL_ENTRIES = "PUT" "MODIFYACLENTRIES" 200 true;
    REMOVE_ACL_ENTRIES = "PUT" "REMOVEACLENTRIES" 200 true;
    REMOVE_DEFAULT_ACL = "PUT" "REMOVEDEFAULTACL" 200 true;
    REMOVE_ACL = "PUT" "REMOVEACL" 200 true;
    SET_ACL = "PUT" "SETACL" 200 true;
    SET_XATTR = "PUT" "SETXATTR" 200 true;
    REMOVE_XATTR = "PUT" "REMOVEXATTR" 200 false;
    CREATE_SNAPSHOT = "PUT" "CREATESNAPSHOT" 200 false;
    RENAME_SNAPSHOT = "PUT" "RENAMESNAPSHOT" 200 false;
    APPEND = "POST" "APPEND" 200 false;
    CONCAT = "POST" "CONCAT" 200 false;
    TRUNCATE = "POST" "TRUNCATE" 200 false;
    DELETE = "DELETE" "DELETE" 200 false;
    DELETE_SNAPSHOT = "DELETE" "DELETESNAPSHOT" 200 false;
}
