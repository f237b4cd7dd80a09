//! systemd units of the daemons.

/// A daemon of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Daemon {
    JournalNode,
    NameNode,
    Controller,
    DataNode,
}

impl Daemon {
    /// The verb that runs it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::JournalNode => "journalnode",
            Self::NameNode => "namenode",
            Self::Controller => "zkfc",
            Self::DataNode => "datanode",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::JournalNode => "JournalNode",
            Self::NameNode => "NameNode",
            Self::Controller => "failover controller",
            Self::DataNode => "DataNode",
        }
    }

    /// The name of its unit.
    pub fn unit_name(self) -> String {
        format!("zerohop-{}.service", self.verb())
    }

    /// Its unit.
    pub fn unit(self, binary: &str, conf: &str, user: &str) -> String {
        // A DataNode that gets its replicas in order, and a NameNode that saves nothing, end within seconds.
        format!(
            "[Unit]
Description=HDFS {} (zerohop)
After=network-online.target
Wants=network-online.target

[Service]
User={user}
ExecStart={binary} {} --config {conf}
Restart=on-failure
RestartSec=2
LimitNOFILE=1048576
TimeoutStopSec=60

[Install]
WantedBy=multi-user.target
",
            self.title(),
            self.verb()
        )
    }
}
