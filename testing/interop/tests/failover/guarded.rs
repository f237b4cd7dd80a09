//! Fencing by ssh, and znodes that only those may change who know a password.

use std::path::Path;

use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::Java;
use zerohop_interop::{Outcome, wait};

use crate::sshd::Sshd;
use zerohop_interop::pair::{LIMIT, Pair, SHORT, other};

/// `user:base64(SHA-1 of user:password)`, as ZooKeeper's DigestAuthenticationProvider makes it.
const USER: &str = "hdfs:Rqc/eU/YLg4bkzNvY5214ox3UMs=";
const SECRET: &str = "digest:hdfs:secret";

/// What ZooKeeper's own shell says to a command.
fn zookeeper_shell(pair: &Pair, words: &[&str]) -> Outcome<String> {
    let log = pair.directory.join("zookeeper-shell.log");
    let _ = std::fs::remove_file(&log);
    let mut command = Java::get()?.command(64);
    command.arg("org.apache.zookeeper.ZooKeeperMain").arg("-server");
    command.arg(format!("127.0.0.1:{}", pair.zookeeper_port)).args(words);
    Process::daemon("ZooKeeper's shell", command, &log)?.finish(LIMIT)?;
    Ok(tail(&log, 40))
}

fn history(pair: &mut Pair, sshd: &Sshd) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    let first = pair.active()?.ok_or("none is active")?;
    pair.write(0)?;
    let acl = zookeeper_shell(pair, &["getAcl", "/hadoop-ha/ha/ActiveBreadCrumb"])?;
    let refused = zookeeper_shell(pair, &["set", "/hadoop-ha/ha/ActiveBreadCrumb", "x"])?;
    // A stranger may not even see who may do what.
    for said in [&acl, &refused] {
        if !said.contains("Insufficient permission") && !said.contains("NoAuth") {
            return Err(format!("a stranger at the record of the active NameNode: {said}"));
        }
    }
    // It does not answer when it is asked to become standby: it is killed by ssh.
    pair.signal(first, libc::SIGSTOP)?;
    pair.write(1)?;
    pair.until_active(other(first))?;
    // Its controller writes into the same file.
    let log = pair.directory.join(format!("data/logs/{}.log", other(first)));
    let text = std::fs::read_to_string(&log).map_err(|error| error.to_string())?;
    if !text.contains("is fenced by sshfence") {
        return Err(format!("not by ssh:\n{}\n{}", tail(&log, 25), sshd.last_words()));
    }
    pair.start_namenode(first, &[])?;
    // The controller has to see first that its NameNode is well again.
    let back = || pair.ours(&["haadmin", "-failover", other(first), first]).map(|_| true);
    wait::until("it is active again", LIMIT, back)?;
    pair.until_active(first)?;
    pair.write(2)?;
    pair.all_are_there(3)
}

fn write(path: &Path, text: &str) -> Outcome<String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(format!("@{}", path.display()))
}

#[test]
fn a_frozen_namenode_is_killed_by_ssh_and_strangers_cannot_change_its_znodes() {
    let directory = tempfile::tempdir().unwrap();
    let sshd = Sshd::start(&directory.path().join("ssh")).unwrap();
    let acl = write(&directory.path().join("acl"), &format!("digest:{USER}:rwcda\n")).unwrap();
    let auth = write(&directory.path().join("auth"), &format!("{SECRET}\n")).unwrap();
    let fencing = format!("sshfence({}:{})", sshd.user, sshd.port);
    let key = sshd.key.display().to_string();
    let options = [
        SHORT[0],
        SHORT[1],
        ("dfs.ha.fencing.methods", fencing.as_str()),
        ("dfs.ha.fencing.ssh.private-key-files", key.as_str()),
        ("ha.zookeeper.parent-znode", "/hadoop-ha"),
        ("ha.zookeeper.acl", acl.as_str()),
        ("ha.zookeeper.auth", auth.as_str()),
    ];
    let mut pair = Pair::start_with("failover-guarded", &options, 1).unwrap();
    let outcome = history(&mut pair, &sshd);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}
