//! Failover controllers for the pair, and the ZooKeeper that they use.

use zerohop_interop::Kind::{self, Apache, Ours};
use zerohop_interop::pair::start_zookeeper;
use zerohop_interop::process::Process;
use zerohop_interop::site::{Setting, settings};
use zerohop_interop::{Outcome, ports};

use super::Pair;

/// Ports of ZooKeeper and of both controllers.
pub struct Ports {
    zookeeper: u16,
    controllers: [u16; 2],
}

impl Ports {
    pub fn take() -> Self {
        Self { zookeeper: ports::free(), controllers: [0; 2].map(|_| ports::free()) }
    }

    /// What makes failover automatic.
    pub fn settings(&self) -> Vec<Setting> {
        let mut all = settings(&[
            ("dfs.ha.automatic-failover.enabled", "true"),
            ("ha.zookeeper.quorum", &format!("127.0.0.1:{}", self.zookeeper)),
            ("ha.zookeeper.session-timeout.ms", "4000"),
        ]);
        for (i, port) in self.controllers.iter().enumerate() {
            all.push((format!("dfs.ha.zkfc.port.ns.nn{i}"), port.to_string()));
        }
        all
    }
}

/// Starts a ZooKeeper, and a controller of each kind for the NameNodes.
pub fn start(pair: &Pair, kinds: [Kind; 2]) -> Outcome<Vec<Process>> {
    let zookeeper = start_zookeeper(&pair.directory, pair.controller_ports.zookeeper)?;
    let format = pair.ours("nn0", &["zkfc", "-formatZK", "-nonInteractive"])?;
    let log = pair.log("nn0").with_file_name("formatZK.log");
    let status = Process::daemon("formatZK", format, &log)?.finish(super::LIMIT)?;
    if !status.success() {
        return Err(zerohop_interop::process::tail(&log, 20));
    }
    let mut started = vec![zookeeper];
    for (i, kind) in kinds.into_iter().enumerate() {
        let name = format!("nn{i}");
        let command = match kind {
            Apache => pair.apache("zkfc", &name)?,
            Ours => pair.ours(&name, &["zkfc"])?,
        };
        let log = pair.log(&name).with_file_name("zkfc.log");
        started.push(Process::daemon(&format!("zkfc{i}"), command, &log)?);
    }
    Ok(started)
}
