//! Java's exceptions as they cross the wire: a class name and a message.

use std::borrow::Cow;
use std::fmt;

/// What an RPC server answered instead of a result; the class name is Java's, the text is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteException {
    /// The full Java class name.
    pub class: Cow<'static, str>,
    /// The message; Apache's servers put a stack trace after its first line.
    pub message: String,
}

impl RemoteException {
    /// The exception as one of the classes this table knows.
    pub fn kind(&self) -> Option<JavaException> {
        JavaException::ALL.iter().copied().find(|kind| kind.class() == self.class)
    }

    /// The first line of the message: what people are shown.
    pub fn first_line(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

impl fmt::Display for RemoteException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = self.class.rsplit(['.', '$']).next().unwrap_or_default();
        write!(f, "{class}: {}", self.first_line())
    }
}

impl std::error::Error for RemoteException {}

macro_rules! exceptions {
    ($($name:ident = $class:literal),* $(,)?) => {
        /// The Java exception classes that HDFS servers throw to their callers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum JavaException { $($name),* }

        impl JavaException {
            /// Every class in the table.
            pub const ALL: &'static [JavaException] = &[$(JavaException::$name),*];

            /// The full Java class name.
            pub const fn class(self) -> &'static str {
                match self { $(JavaException::$name => $class),* }
            }
        }
    };
}

exceptions! {
    Io = "java.io.IOException",
    FileNotFound = "java.io.FileNotFoundException",
    IllegalArgument = "java.lang.IllegalArgumentException",
    IllegalState = "java.lang.IllegalStateException",
    UnsupportedOperation = "java.lang.UnsupportedOperationException",
    NullPointer = "java.lang.NullPointerException",
    Assertion = "java.lang.AssertionError",
    DirectoryListingStartAfterNotFound = "org.apache.hadoop.fs.DirectoryListingStartAfterNotFoundException",
    FileAlreadyExists = "org.apache.hadoop.fs.FileAlreadyExistsException",
    ParentNotDirectory = "org.apache.hadoop.fs.ParentNotDirectoryException",
    PathIsNotEmptyDirectory = "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException",
    PathIsNotDirectory = "org.apache.hadoop.fs.PathIsNotDirectoryException",
    InvalidPath = "org.apache.hadoop.fs.InvalidPathException",
    XAttrNotFound = "org.apache.hadoop.hdfs.protocol.XAttrNotFoundException",
    HadoopIllegalArgument = "org.apache.hadoop.HadoopIllegalArgumentException",
    AccessControl = "org.apache.hadoop.security.AccessControlException",
    Authorization = "org.apache.hadoop.security.authorize.AuthorizationException",
    InvalidToken = "org.apache.hadoop.security.token.SecretManager$InvalidToken",
    AlreadyBeingCreated = "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException",
    RecoveryInProgress = "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException",
    AclException = "org.apache.hadoop.hdfs.protocol.AclException",
    NSQuotaExceeded = "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException",
    DSQuotaExceeded = "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException",
    QuotaByStorageTypeExceeded = "org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException",
    SnapshotAccessControl = "org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException",
    SnapshotException = "org.apache.hadoop.hdfs.protocol.SnapshotException",
    UnresolvedPath = "org.apache.hadoop.hdfs.protocol.UnresolvedPathException",
    UnregisteredNode = "org.apache.hadoop.hdfs.protocol.UnregisteredNodeException",
    MaxDirectoryItemsExceeded = "org.apache.hadoop.hdfs.protocol.FSLimitException$MaxDirectoryItemsExceededException",
    PathComponentTooLong = "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException",
    UnknownCryptoProtocolVersion = "org.apache.hadoop.hdfs.UnknownCryptoProtocolVersionException",
    InvalidRequest = "org.apache.hadoop.fs.InvalidRequestException",
    LeaseExpired = "org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException",
    NotReplicatedYet = "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException",
    UnsupportedAction = "org.apache.hadoop.hdfs.server.namenode.UnsupportedActionException",
    SafeMode = "org.apache.hadoop.hdfs.server.namenode.SafeModeException",
    InvalidBlockReportLease = "org.apache.hadoop.hdfs.server.protocol.InvalidBlockReportLeaseException",
    DisallowedDatanode = "org.apache.hadoop.hdfs.server.protocol.DisallowedDatanodeException",
    IncorrectVersion = "org.apache.hadoop.hdfs.server.common.IncorrectVersionException",
    InconsistentFsState = "org.apache.hadoop.hdfs.server.common.InconsistentFSStateException",
    ReplicaNotFound = "org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException",
    ReplicaAlreadyExists = "org.apache.hadoop.hdfs.server.datanode.ReplicaAlreadyExistsException",
    ServiceFailed = "org.apache.hadoop.ha.ServiceFailedException",
    HealthCheckFailed = "org.apache.hadoop.ha.HealthCheckFailedException",
    Standby = "org.apache.hadoop.ipc.StandbyException",
    ObserverRetryOnActive = "org.apache.hadoop.ipc.ObserverRetryOnActiveException",
    Retriable = "org.apache.hadoop.ipc.RetriableException",
    RetryStartFile = "org.apache.hadoop.hdfs.server.namenode.RetryStartFileException",
    JournalNotFormatted = "org.apache.hadoop.hdfs.qjournal.protocol.JournalNotFormattedException",
    JournalOutOfSync = "org.apache.hadoop.hdfs.qjournal.protocol.JournalOutOfSyncException",
    NewerTxnId = "org.apache.hadoop.hdfs.qjournal.server.NewerTxnIdException",
    CacheMiss = "org.apache.hadoop.hdfs.qjournal.server.JournaledEditsCache$CacheMissException",
    RpcNoSuchMethod = "org.apache.hadoop.ipc.RpcNoSuchMethodException",
    RpcNoSuchProtocol = "org.apache.hadoop.ipc.RpcNoSuchProtocolException",
    RpcServer = "org.apache.hadoop.ipc.RpcServerException",
    RpcVersionMismatch = "org.apache.hadoop.ipc.RPC$VersionMismatch",
}

impl JavaException {
    /// This exception with a message.
    pub fn with(self, message: impl Into<String>) -> RemoteException {
        RemoteException { class: Cow::Borrowed(self.class()), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_name_finds_its_kind_again() {
        for kind in JavaException::ALL {
            assert_eq!(kind.with("x").kind(), Some(*kind));
        }
    }

    #[test]
    fn people_see_the_short_class_and_the_first_line() {
        let e = JavaException::PathComponentTooLong.with("too long\n\tat Foo.bar");
        assert_eq!(e.to_string(), "PathComponentTooLongException: too long");
    }
}
