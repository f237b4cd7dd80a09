//! The parts of HDFS that read a configuration.

use std::fmt;

/// A part of HDFS that reads a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The NameNode.
    NameNode,
    /// The DataNode.
    DataNode,
    /// The JournalNode.
    JournalNode,
    /// The failover controller beside a NameNode.
    FailoverController,
    /// The REST gateway.
    Gateway,
    /// A client of either, the shell and the administration commands among them.
    Client,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::NameNode => "NameNode",
            Role::DataNode => "DataNode",
            Role::JournalNode => "JournalNode",
            Role::FailoverController => "failover controller",
            Role::Gateway => "gateway",
            Role::Client => "client",
        })
    }
}
