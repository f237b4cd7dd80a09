//! How a client reads a block, each mode a handful of its settings.

use zerohop_client::{ReadPath, ReadStatistics};
use zerohop_conf::Conf;

/// How the bytes get from a DataNode on this machine to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Data transfer over TCP.
    Tcp,
    /// Data transfer over the domain socket.
    DomainSocket,
    /// pread(2) on the DataNode's file.
    Local,
    /// A map of the DataNode's file.
    LocalMapped,
}

impl ReadMode {
    /// All of them.
    pub const ALL: [ReadMode; 4] =
        [ReadMode::Tcp, ReadMode::DomainSocket, ReadMode::Local, ReadMode::LocalMapped];

    /// Its name in every report.
    pub const fn name(self) -> &'static str {
        match self {
            ReadMode::Tcp => "tcp",
            ReadMode::DomainSocket => "domain-socket",
            ReadMode::Local => "local",
            ReadMode::LocalMapped => "local-mapped",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Whether bytes that went by `path` were read in this mode.
    const fn is(self, path: ReadPath) -> bool {
        match self {
            ReadMode::Tcp => matches!(path, ReadPath::TcpLocal | ReadPath::TcpRemote),
            ReadMode::DomainSocket => matches!(path, ReadPath::DomainSocket),
            ReadMode::Local => matches!(path, ReadPath::Local),
            ReadMode::LocalMapped => matches!(path, ReadPath::LocalMapped),
        }
    }

    /// The client's configuration for this mode.
    pub fn configure(self, conf: &Conf) -> Conf {
        let mut conf = conf.clone();
        let is_local = matches!(self, ReadMode::Local | ReadMode::LocalMapped);
        let mut set = |key: &str, value: bool| conf.set(key, value.to_string());
        set("dfs.client.read.shortcircuit", is_local);
        set("dfs.client.domain.socket.data.traffic", self == ReadMode::DomainSocket);
        set("dfs.client.mmap.enabled", self == ReadMode::LocalMapped);
        conf
    }

    /// `None` if all bytes were read in this mode, else how they were read, and why if the client said so.
    pub fn missed(self, read: &ReadStatistics) -> Option<String> {
        let others: Vec<ReadPath> = ReadPath::ALL
            .into_iter()
            .filter(|path| read.bytes_by(*path) > 0 && !self.is(*path))
            .collect();
        if others.is_empty() {
            return None;
        }
        let names: Vec<&str> = others.iter().map(|path| path.name()).collect();
        let why = read.last.filter(|(path, _)| others.contains(path));
        let why = why.map_or(String::new(), |(_, reason)| format!(" ({})", reason.name()));
        let other: u64 = others.iter().map(|path| read.bytes_by(*path)).sum();
        let part = match other == read.total() {
            true => "reads".to_owned(),
            false => format!("{other} of {} bytes", read.total()),
        };
        Some(format!("{part} went by {}{why}", names.join(" and ")))
    }
}

/// Bytes that were read from a file or a map on this machine.
pub fn local_bytes(read: &ReadStatistics) -> u64 {
    read.bytes_by(ReadPath::Local) + read.bytes_by(ReadPath::LocalMapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_client::ReadReason;

    #[test]
    fn bytes_of_another_mode_are_named() {
        let mut read = ReadStatistics::default();
        let tcp = ReadPath::ALL.iter().position(|path| *path == ReadPath::TcpLocal).unwrap();
        let mapped = ReadPath::ALL.iter().position(|path| *path == ReadPath::LocalMapped).unwrap();
        read.bytes[tcp] = 7;
        read.last = Some((ReadPath::TcpLocal, ReadReason::NotConfigured));
        assert_eq!(ReadMode::Tcp.missed(&read), None);
        let missed = ReadMode::Local.missed(&read).unwrap();
        assert_eq!(missed, "reads went by tcp-local (not-configured)");
        read.bytes[mapped] = 3;
        let missed = ReadMode::LocalMapped.missed(&read).unwrap();
        assert_eq!(missed, "7 of 10 bytes went by tcp-local (not-configured)");
        assert_eq!(local_bytes(&read), 3);
    }

    #[test]
    fn names_lead_back() {
        for mode in ReadMode::ALL {
            assert_eq!(ReadMode::from_name(mode.name()), Some(mode));
        }
        assert_eq!(ReadMode::from_name("carrier-pigeon"), None);
    }
}
