//! How a range is read, and why.

use crate::settings::LocalSettings;
use crate::types::DatanodeInfo;
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};
use zerohop_system::clock;

/// The way a range went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadPath {
    /// From a mapped replica on this machine.
    LocalMapped,
    /// From a replica's file on this machine.
    Local,
    /// From a DataNode on this machine through a Unix socket.
    DomainSocket,
    /// From a DataNode on this machine through TCP.
    TcpLocal,
    /// From a DataNode on another machine.
    TcpRemote,
}

impl ReadPath {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::LocalMapped, Self::Local, Self::DomainSocket, Self::TcpLocal, Self::TcpRemote];

    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LocalMapped => "local-mapped",
            Self::Local => "local",
            Self::DomainSocket => "domain-socket",
            Self::TcpLocal => "tcp-local",
            Self::TcpRemote => "tcp-remote",
        }
    }

    /// Whether the bytes came from the replica's file, without the DataNode.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::LocalMapped | Self::Local)
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// Why a range was not read from a file on this machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ReadReason { $($(#[$doc])* $name),* }

        impl ReadReason {
            /// All of them.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// Its stable name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

reasons! {
    /// The replica was read from its file.
    None = "none";
    /// `dfs.client.read.shortcircuit` is off, or there is no `dfs.domain.socket.path`.
    NotConfigured = "not-configured";
    /// No process answers at the socket's path.
    SocketAbsent = "socket-absent";
    /// A directory above the socket could be changed by another user.
    PathUnsafe = "path-unsafe";
    /// Talking over the socket failed.
    SocketFailed = "socket-failed";
    /// The DataNode does not give descriptors, of this block or at all.
    Refused = "refused-by-datanode";
    /// The block is being written.
    UnderConstruction = "under-construction";
    /// The DataNode did not accept the token.
    Token = "token";
    /// The DataNode is on another machine.
    OtherHost = "other-host";
    /// Another DataNode of this machine answers at the socket.
    OtherDatanode = "other-datanode";
    /// After several failures the socket, or the DataNode behind it, is left alone for a while.
    Disabled = "disabled";
    /// This process or the DataNode has too many files open.
    DescriptorLimit = "descriptor-limit";
    /// The block file or its checksums are not what a replica is: too short, another version.
    ReplicaUnusable = "replica-unusable";
    /// Reading the local files failed just now.
    LocalFailed = "local-read-failed";
}

impl ReadReason {
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// Why a replica is not read from its file, with details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotLocal {
    pub(crate) reason: ReadReason,
    pub(crate) detail: String,
}

impl NotLocal {
    pub(crate) fn new(reason: ReadReason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }

    /// For a socket or DataNode that is not asked for a while after several failures.
    pub(crate) fn disabled(time: Duration, failures: u32, last: &Self) -> Self {
        let now = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let end = now.saturating_add(time).as_secs();
        let (hours, minutes, seconds) = (end / 3600 % 24, end / 60 % 60, end % 60);
        let text = format!(
            "disabled until {hours:02}:{minutes:02}:{seconds:02} UTC after {failures} failures: {}",
            last.detail
        );
        Self::new(ReadReason::Disabled, text)
    }

    /// Whether the DataNode that answered refused the replica, or is not asked for a while because it did.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.reason, ReadReason::Refused | ReadReason::Disabled)
    }

    /// Whether the reason lies in this process, not in the DataNode that answered.
    pub(crate) fn is_of_this_process(&self) -> bool {
        matches!(self.reason, ReadReason::PathUnsafe | ReadReason::DescriptorLimit)
    }

    /// For a replica of another machine.
    pub(crate) fn other_host(node: &DatanodeInfo) -> Self {
        Self::new(ReadReason::OtherHost, format!("{node} is on another machine"))
    }

    /// For a socket at which another DataNode than `node` gave `answer`.
    pub(crate) fn other_datanode(node: &DatanodeInfo, answer: &Self) -> Self {
        let text = format!(
            "another DataNode than {node} answers at its domain socket; put _PORT into \
             dfs.domain.socket.path on both sides ({})",
            answer.detail
        );
        Self::new(ReadReason::OtherDatanode, text)
    }

    /// The error for readers that waited for another thread's request, when that thread failed.
    pub(crate) fn gone() -> Self {
        Self::new(ReadReason::LocalFailed, "the thread that asked for the replica failed")
    }
}

/// Whether a block may be read from its file, decided before anything is opened.
///
/// The last block of a file that is being written is not: how much of it readers may see only its
/// DataNodes know, and its last checksum changes. The blocks in front of it are finished.
/// (`DFSInputStream.shortCircuitForbidden` excludes them as well.)
pub(super) fn plan(settings: &LocalSettings, is_being_written: bool) -> Result<(), NotLocal> {
    if !settings.shortcircuit {
        let text = "dfs.client.read.shortcircuit is off";
        return Err(NotLocal::new(ReadReason::NotConfigured, text));
    }
    if settings.socket_path.is_empty() && !settings.by_path {
        let text = "dfs.client.read.shortcircuit is on but dfs.domain.socket.path is not set";
        return Err(NotLocal::new(ReadReason::NotConfigured, text));
    }
    if is_being_written {
        return Err(NotLocal::new(ReadReason::UnderConstruction, "the block is being written"));
    }
    Ok(())
}

/// Which TCP path a connection is: the socket knows whether its other end is this machine, in
/// containers too, where addresses compared by hand do not.
pub(super) fn tcp_path(near: SocketAddr, far: SocketAddr) -> ReadPath {
    if near.ip() == far.ip() { ReadPath::TcpLocal } else { ReadPath::TcpRemote }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use zerohop_conf::Conf;

    fn reason(conf: &Conf, is_being_written: bool) -> Option<ReadReason> {
        let settings = Settings::from_conf(conf).unwrap().local;
        plan(&settings, is_being_written).err().map(|why| why.reason)
    }

    #[test]
    fn every_read_has_a_reason() {
        let mut conf = Conf::new();
        assert_eq!(reason(&conf, false), Some(ReadReason::NotConfigured));
        conf.set("dfs.client.read.shortcircuit", "true");
        assert_eq!(reason(&conf, false), Some(ReadReason::NotConfigured));
        let mut legacy = conf.clone();
        legacy.set("dfs.client.use.legacy.blockreader.local", "true");
        assert_eq!(reason(&legacy, false), None);
        conf.set("dfs.domain.socket.path", "/run/dn");
        assert_eq!(reason(&conf, true), Some(ReadReason::UnderConstruction));
        assert_eq!(reason(&conf, false), None);
        let addr = |ip, port| SocketAddr::from((ip, port));
        assert_eq!(tcp_path(addr([10, 0, 0, 1], 1), addr([10, 0, 0, 1], 2)), ReadPath::TcpLocal);
        assert_eq!(tcp_path(addr([10, 0, 0, 1], 1), addr([10, 0, 0, 2], 2)), ReadPath::TcpRemote);
    }

    #[test]
    fn names_are_told_apart() {
        for (at, reason) in ReadReason::ALL.iter().enumerate() {
            assert_eq!(reason.index(), at);
            assert_eq!(ReadReason::ALL.iter().filter(|r| r.name() == reason.name()).count(), 1);
        }
    }
}
