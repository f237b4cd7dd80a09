//! A pair of ours with failover controllers of ours and of Apache's, on a real ZooKeeper.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod clock;
mod guarded;
mod printed;
mod rest;
mod sshd;
mod strangers;

use std::process::Command;

use zerohop_interop::harm::resident_kib;
use zerohop_interop::pair::{LIMIT, Pair, other, start_zookeeper};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, ports, wait};

/// A controller with a fencing method that is not there ends with Apache's code for it, and a line with the key and the fix.
fn a_wrong_fencing_method_is_named(pair: &Pair) -> Outcome {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(pair.conf().join("nn1")).arg("zkfc");
    let output = command.args(["-D", "dfs.ha.fencing.methods=powershell(x)"]).output();
    let output = output.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let parts = ["dfs.ha.fencing.methods: Could not find", "powershell; write a method a line"];
    let is_said = said.lines().any(|line| parts.iter().all(|part| line.contains(part)));
    match is_said && output.status.code() == Some(4) {
        true => Ok(()),
        false => Err(format!("{:?}: {said}", output.status)),
    }
}

/// An idle JournalNode has 20 MB at most. The code of a program that is not optimized is larger: of its memory only what it
/// allocates counts then, with as much left for the code as that of an optimized one needs.
fn journal_nodes_are_small(pair: &Pair) -> Outcome {
    const ALL: f64 = 20.0;
    const CODE: f64 = 12.0;
    let megabytes = |pid, kind| Ok::<_, String>(resident_kib(pid, kind)? as f64 * 1024.0 / 1e6);
    let mut found = 0;
    for (name, pid) in pair.pids.iter().filter(|(name, _)| name.starts_with("jn")) {
        let pid = u32::try_from(*pid).map_err(|error| error.to_string())?;
        let (all, own) = (megabytes(pid, "VmRSS")?, megabytes(pid, "RssAnon")?);
        let counts = if cfg!(debug_assertions) { own + CODE } else { all };
        if counts > ALL {
            return Err(format!("{name} has {all:.1} MB resident, {own:.1} MB of them its own"));
        }
        found += 1;
    }
    if found == 3 { Ok(()) } else { Err(format!("{found} JournalNodes")) }
}

/// The active NameNode is told to give up, killed, and frozen.
fn history(pair: &mut Pair) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    let first = pair.active()?.ok_or("none is active")?;
    journal_nodes_are_small(pair)?;
    a_wrong_fencing_method_is_named(pair)?;
    pair.write(0)?;
    strangers::come(pair)?;
    pair.ours(&["haadmin", "-failover", first, other(first)])?;
    pair.until_active(other(first))?;
    pair.write(1)?;
    // By hand nothing is changed where controllers decide.
    if let Ok(said) = pair.ours(&["haadmin", "-transitionToStandby", other(first)]) {
        return Err(format!("a transition by hand: {said}"));
    }
    pair.signal(other(first), libc::SIGKILL)?;
    pair.write(2)?;
    pair.until_active(first)?;
    pair.start_namenode(other(first), &[])?;
    pair.signal(first, libc::SIGSTOP)?;
    pair.write(3)?;
    pair.until_active(other(first))?;
    // It wakes up, and ends with the first edit that it tries, or became standby when it was asked at last.
    pair.signal(first, libc::SIGCONT)?;
    pair.write(4)?;
    pair.all_are_there(5)?;
    // The one that was frozen says that it is active until it has read what it was asked meanwhile.
    pair.until_active(other(first))
}

#[test]
fn no_operation_fails_while_the_active_namenode_moves_is_killed_and_is_frozen() {
    let mut pair = Pair::start("failover-ours").unwrap();
    let outcome = history(&mut pair);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}

/// Apache's controller in place of one of ours, for a NameNode of ours.
fn with_apaches_controller(pair: &mut Pair) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    let ours = pair.active()?.ok_or("none is active")?;
    let apaches = other(ours);
    pair.signal(&format!("zkfc-{apaches}"), libc::SIGKILL)?;
    let mut command = Java::get()?.command(128);
    command.arg("zerohop.Daemon").arg("zkfc").arg(pair.conf().join(apaches));
    let log = pair.directory.join("apaches-zkfc.log");
    // Its port is free as soon as the other one's process is gone.
    pair.started.push(Process::daemon("Apache's controller", command, &log)?);
    pair.write(0)?;
    let moved = || {
        let moved = pair.ours(&["haadmin", "-failover", ours, apaches]);
        moved.map(|_| true).map_err(|error| format!("{error}\n{}", tail(&log, 12)))
    };
    wait::until("Apache's controller takes over", LIMIT, moved)?;
    pair.until_active(apaches)?;
    pair.write(1)?;
    pair.ours(&["haadmin", "-failover", apaches, ours])?;
    pair.until_active(ours)?;
    pair.write(2)?;
    // Whom ours has made active, Apache's fences.
    pair.signal(ours, libc::SIGKILL)?;
    pair.write(3)?;
    pair.until_active(apaches)?;
    // And the same with the controller in the NameNode's process.
    pair.signal(&format!("zkfc-{ours}"), libc::SIGKILL)?;
    pair.start_namenode(ours, &["--zkfc"])?;
    let moved = || pair.ours(&["haadmin", "-failover", apaches, ours]).map(|_| true);
    wait::until("the NameNode's own controller takes over", LIMIT, moved)?;
    pair.until_active(ours)?;
    pair.write(4)?;
    pair.all_are_there(5)
}

#[test]
fn controllers_of_both_kinds_hand_the_active_state_to_each_other() {
    let mut pair = Pair::start("failover-mixed").unwrap();
    let outcome = with_apaches_controller(&mut pair);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}

#[test]
fn a_cluster_of_two_namenodes_runs_one_command_and_ends_with_its_code() {
    let mut command = Command::new(tools::zerohop().unwrap());
    command.args(["up", "--ha", "--port", "0", "--http-port", "0", "--rest-port", "0", "--exec"]);
    // By hand: without a ZooKeeper.
    command.arg(
        "zerohop fs -mkdir /a && zerohop haadmin -failover nn1 nn2 && zerohop fs -mkdir /b \
         && zerohop haadmin -failover nn2 nn1 && zerohop fs -ls -C / && exit 7",
    );
    let output = command.output().unwrap();
    let (said, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(7), "{said}{errors}");
    assert!(said.contains("/a\n/b\n"), "{said}{errors}");
}

/// The record of the NameNode that was active named its port of the first start: no controller made its NameNode active again.
#[test]
fn a_cluster_with_controllers_starts_again_with_other_ports() {
    let directory = tools::clusters().join("failover-again");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let port = ports::free();
    let _zookeeper = start_zookeeper(&directory, port).unwrap();
    let data = directory.join("data");
    let run = |command: &str| {
        let mut up = Command::new(tools::zerohop().unwrap());
        up.args(["up", "--ha", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
        up.arg("--zookeeper").arg(format!("127.0.0.1:{port}"));
        let output = up.arg("--data").arg(&data).args(["--exec", command]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run("zerohop fs -put /etc/hostname /kept");
    let said = run("zerohop fs -cat /kept && zerohop getconf -confKey ha.zookeeper.parent-znode");
    let kept = std::fs::read_to_string("/etc/hostname").unwrap();
    assert!(said.contains(kept.trim_end()), "{said}");
    // The lock of a cluster in another directory is another one.
    let own = data.canonicalize().unwrap().display().to_string();
    assert!(
        said.lines().any(|line| line.starts_with("/hadoop-ha/") && line.ends_with(&own)),
        "{said}"
    );
}
