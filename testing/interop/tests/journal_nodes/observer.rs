//! An observer beside the active NameNode.

use std::path::Path;

use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;
use zerohop_interop::Outcome;

use super::Pair;

/// The NameNode that ended comes back as an observer. Clients of both kinds read from it what they wrote just now, and read on
/// while the active one is frozen.
pub fn answers(pair: &mut Pair) -> Outcome {
    let (active, observer) = (pair.active, 1 - pair.active);
    pair.start_namenode(observer)?;
    pair.admin(&format!("-transitionToObserver nn{observer}"))?;
    pair.ask("observe /apaches- 50")?;
    let conf = observing_conf(&pair.conf("client"))?;
    let ours = FileSystem::connect(&conf, None).map_err(|e| e.to_string())?;
    for n in 0..50 {
        let path = format!("/ours-{n}");
        ours.mkdirs(&path).map_err(|e| e.to_string())?;
        ours.status(&path).map_err(|e| format!("{path}: {e}"))?;
    }
    // What another client wrote is seen after the next call of this one's that the active NameNode answers.
    ours.status("/apaches-49").map_err(|e| e.to_string())?;
    let frozen = pair.namenodes[active].as_ref().ok_or("no NameNode")?.id();
    signal(frozen, libc::SIGSTOP)?;
    let read = (|| {
        let listed = pair.ask("observed /")?;
        let seen = listed.split_whitespace().any(|name| name == "apaches-49");
        let there = ours.status("/ours-49").map_err(|e| format!("without the active one: {e}"));
        there.and(if seen { Ok(()) } else { Err(format!("apaches-49 is not in {listed}")) })
    })();
    signal(frozen, libc::SIGCONT)?;
    read?;
    pair.admin(&format!("-transitionToStandby nn{observer}"))
}

/// As clients that read from observers have it.
fn observing_conf(directory: &Path) -> Outcome<Conf> {
    let mut conf = Conf::load(directory).map_err(|e| e.to_string())?;
    let provider = "org.apache.hadoop.hdfs.server.namenode.ha.ObserverReadProxyProvider";
    conf.set("dfs.client.failover.proxy.provider.ns", provider);
    Ok(conf)
}

fn signal(pid: u32, signal: i32) -> Outcome {
    let pid = i32::try_from(pid).map_err(|e| e.to_string())?;
    // SAFETY: kill takes no pointers. The process is a child that was not waited for.
    match unsafe { libc::kill(pid, signal) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().to_string()),
    }
}
