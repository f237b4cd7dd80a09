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

    /// The name of its unit.
    pub fn unit_name(self) -> String {
        format!("zerohop-{}.service", self.verb())
    }

    /// Returns the packaged unit of the daemon, with its paths and its user replaced.
    pub fn unit(self, binary: &str, conf: &str, user: &str) -> String {
        let packaged = match self {
            Self::JournalNode => {
                include_str!("../../../../packaging/systemd/zerohop-journalnode.service")
            }
            Self::NameNode => {
                include_str!("../../../../packaging/systemd/zerohop-namenode.service")
            }
            Self::Controller => include_str!("../../../../packaging/systemd/zerohop-zkfc.service"),
            Self::DataNode => {
                include_str!("../../../../packaging/systemd/zerohop-datanode.service")
            }
        };
        packaged
            .replace(&format!("={BINARY} "), &format!("={binary} "))
            .replace(&format!("={CONF}\n"), &format!("={conf}\n"))
            .replace(&format!("User={USER}\n"), &format!("User={user}\n"))
    }
}

/// The program in the units of the packages.
pub const BINARY: &str = "/usr/bin/zerohop";
/// The directory of the configuration in these units.
pub const CONF: &str = "/etc/hadoop/conf";
/// The user in the units of the packages.
pub const USER: &str = "hdfs";

#[cfg(test)]
mod tests {
    use super::*;

    /// The packages' units and those of `init-ha` named other programs, directories and limits.
    #[test]
    fn the_units_are_those_of_the_packages() {
        let daemons = [Daemon::JournalNode, Daemon::NameNode, Daemon::Controller, Daemon::DataNode];
        for daemon in daemons {
            let path = format!(
                "{}/../../packaging/systemd/{}",
                env!("CARGO_MANIFEST_DIR"),
                daemon.unit_name()
            );
            let packaged = std::fs::read_to_string(path).unwrap();
            assert_eq!(daemon.unit(BINARY, CONF, USER), packaged);
            let own = daemon.unit("/opt/z", "/opt/conf", "me");
            for line in [
                &format!("ExecStart=/opt/z {}\n", daemon.verb()),
                "Environment=HADOOP_CONF_DIR=/opt/conf\n",
                "User=me\n",
            ] {
                assert!(own.contains(line), "{line} in {own}");
            }
        }
    }
}
