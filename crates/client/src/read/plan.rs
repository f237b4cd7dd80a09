//! How a range is read, and why.

use crate::settings::Settings;
use std::net::SocketAddr;

/// The way a range went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// Why a range was not read from a file on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadReason {
    /// It was.
    None,
    /// `dfs.client.read.shortcircuit` is off.
    NotConfigured,
    /// This version of the client has no local reads yet.
    NotImplemented,
    /// The DataNode is on another machine.
    NotLocal,
    /// The file is being written.
    UnderConstruction,
}

impl ReadReason {
    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NotConfigured => "not-configured",
            Self::NotImplemented => "not-implemented",
            Self::NotLocal => "not-local",
            Self::UnderConstruction => "under-construction",
        }
    }
}

/// How a block is read, decided before anything is opened; local reads join here.
pub(super) fn plan(settings: &Settings, is_under_construction: bool) -> ReadReason {
    if !settings.read_shortcircuit {
        ReadReason::NotConfigured
    } else if is_under_construction {
        ReadReason::UnderConstruction
    } else {
        ReadReason::NotImplemented
    }
}

/// Which TCP path a connection is: the socket knows whether its other end is this machine, in
/// containers too, where addresses compared by hand do not.
pub(super) fn tcp_path(near: SocketAddr, far: SocketAddr) -> ReadPath {
    if near.ip() == far.ip() { ReadPath::TcpLocal } else { ReadPath::TcpRemote }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_conf::Conf;

    #[test]
    fn every_read_has_a_reason() {
        let mut conf = Conf::new();
        let settings = Settings::from_conf(&conf).unwrap();
        assert_eq!(plan(&settings, false), ReadReason::NotConfigured);
        conf.set("dfs.client.read.shortcircuit", "true");
        let settings = Settings::from_conf(&conf).unwrap();
        assert_eq!(plan(&settings, true), ReadReason::UnderConstruction);
        assert_eq!(plan(&settings, false), ReadReason::NotImplemented);
        let addr = |ip, port| SocketAddr::from((ip, port));
        assert_eq!(tcp_path(addr([10, 0, 0, 1], 1), addr([10, 0, 0, 1], 2)), ReadPath::TcpLocal);
        assert_eq!(tcp_path(addr([10, 0, 0, 1], 1), addr([10, 0, 0, 2], 2)), ReadPath::TcpRemote);
    }
}
