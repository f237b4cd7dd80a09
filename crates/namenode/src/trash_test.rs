//! Tests of the emptier on a separate NameNode, and of the names of checkpoints.

use super::*;
use crate::ha::HaState;
use crate::name_service::NameService;
use crate::start::Membership;
use crate::{FormatOptions, NameNode, StartOption};
use std::path::Path;
use zerohop_conf::Conf;
use zerohop_namespace::{CreateFlags, CreateRequest, Namespace, OpContext};

fn conf(directory: &Path, values: &[(&str, &str)]) -> Conf {
    let mut conf = Conf::new();
    conf.set("dfs.namenode.name.dir", directory.join("name").to_str().unwrap());
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    conf.set("dfs.namenode.http-address", "127.0.0.1:0");
    conf.set("dfs.namenode.safemode.extension", "0");
    values.iter().for_each(|(name, value)| conf.set(name, *value));
    conf
}

async fn start(conf: Conf) -> NameNode {
    NameNode::format(&conf, FormatOptions::default()).unwrap();
    let service = NameService::default();
    let membership = Membership { service, state: HaState::Active, is_enabled: true };
    NameNode::start_as(Arc::new(conf), StartOption::Regular, membership).await.unwrap()
}

fn make(node: &NameNode, directories: &[&str]) {
    let core = node.core();
    let op = OpContext::internal(core.clock.now());
    for path in directories {
        let make = |names: &mut Namespace| names.directories(&op).mkdirs(path, 0o755, None, true);
        assert!(core.write(make).0.unwrap(), "{path}");
    }
}

fn touch(node: &NameNode, path: &str) {
    let core = node.core();
    let op = OpContext::internal(core.clock.now());
    let request = CreateRequest {
        path,
        client_name: "test",
        replication: 1,
        block_size: 1 << 20,
        create_parent: true,
        flags: CreateFlags { create: true, ..CreateFlags::default() },
        ..CreateRequest::default()
    };
    core.write(|names| names.files(&op).create(&request)).0.unwrap();
}

/// Lists all paths below a directory.
async fn tree(emptier: &Emptier<'_>, directory: &str) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(path) = left.pop() {
        for entry in emptier.list(&path).await.unwrap() {
            let below = child(&path, &entry.path);
            if entry.is_dir() {
                left.push(below.clone());
            }
            found.push(below);
        }
    }
    found.sort();
    found
}

fn policy(values: &[(&str, &str)]) -> Option<TrashPolicy> {
    TrashPolicy::from_conf(&conf(Path::new("/nowhere"), values)).unwrap()
}

fn at(text: &str) -> Zoned {
    text.parse::<jiff::civil::DateTime>().unwrap().to_zoned(TimeZone::system()).unwrap()
}

/// `fs.trash.interval` on the NameNode deleted nothing: trash grew until the disks were full.
#[tokio::test(flavor = "multi_thread")]
async fn old_checkpoints_are_deleted_and_the_current_trash_becomes_one() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(conf(directory.path(), &[("dfs.user.home.dir.prefix", "/home")])).await;
    make(
        &node,
        &[
            "/home/alice/.Trash/Current/data/deleted",
            "/home/alice/.Trash/261126100000/old",
            "/home/alice/.Trash/261126110000-1/just",
            "/home/alice/.Trash/261126110001",
            "/home/alice/.Trash/2611261059",
            "/home/alice/.Trash/mine",
            "/home/alice/kept",
            "/home/bob/.Trash/991231235959",
            "/home/carol",
            "/user/dave/.Trash/Current",
        ],
    );
    touch(&node, "/home/erin");
    touch(&node, "/home/frank/.Trash");
    let mut policy =
        policy(&[("fs.trash.interval", "60"), ("dfs.user.home.dir.prefix", "home/")]).unwrap();
    let core = node.core();
    let emptier = Emptier { core, policy: &policy, now: at("2026-11-26T12:00:00") };
    emptier.empty().await;
    let left = [
        "/home/alice",
        "/home/alice/.Trash",
        "/home/alice/.Trash/261126110000-1",
        "/home/alice/.Trash/261126110000-1/just",
        "/home/alice/.Trash/261126110001",
        "/home/alice/.Trash/261126120000",
        "/home/alice/.Trash/261126120000/data",
        "/home/alice/.Trash/261126120000/data/deleted",
        "/home/alice/.Trash/mine",
        "/home/alice/kept",
        "/home/bob",
        "/home/bob/.Trash",
        "/home/carol",
        "/home/erin",
        "/home/frank",
        "/home/frank/.Trash",
    ];
    assert_eq!(tree(&emptier, "/home").await, left);
    assert_eq!(tree(&emptier, "/user").await.len(), 3, "these are no home directories");

    // A second run in the same second, which also deletes other entries.
    policy.cleans_roots = true;
    make(&node, &["/home/alice/.Trash/Current/more"]);
    let emptier = Emptier { core, policy: &policy, now: at("2026-11-26T12:00:00") };
    emptier.empty().await;
    let now = tree(&emptier, "/home/alice/.Trash").await;
    assert!(now.contains(&"/home/alice/.Trash/261126120000-1/more".to_owned()), "{now:?}");
    assert!(!now.contains(&"/home/alice/.Trash/mine".to_owned()), "{now:?}");
    assert_eq!(tree(&emptier, "/home/frank").await, Vec::<String>::new());

    // The emptier changes nothing in safe mode, and continues after it.
    let later = Emptier { core, policy: &policy, now: at("2026-11-26T14:00:00") };
    core.write(|names| names.blocks_mut().safe_mode_mut().enter());
    later.empty().await;
    assert_eq!(tree(&emptier, "/home/alice/.Trash").await, now);
    assert!(core.write(|names| names.blocks_mut().safe_mode_mut().leave(false)).0);
    later.empty().await;
    assert_eq!(tree(&emptier, "/home/alice/.Trash").await, Vec::<String>::new());
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_active_namenode_empties_the_trash_and_at_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let values = [("fs.trash.interval", "1"), ("fs.trash.checkpoint.interval", "0.002")];
    let node = start(conf(directory.path(), &values)).await;
    let jobs = || node.core().state_jobs.count();
    let active = jobs();
    make(&node, &["/user/alice/.Trash/200101000000/old", "/user/alice/.Trash/Current/new"]);
    let policy = node.core().settings.trash.clone().unwrap();
    let emptier = Emptier { core: node.core(), policy: &policy, now: Zoned::now() };
    let has = |paths: &[String], part: &str| paths.iter().any(|path| path.contains(part));
    loop {
        let paths = tree(&emptier, "/user/alice/.Trash").await;
        if !has(&paths, "old") && !has(&paths, CURRENT) {
            assert!(has(&paths, "/new"), "a checkpoint has it: {paths:?}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    crate::transition::to_standby(node.core().clone()).await.unwrap();
    crate::transition::to_active(node.core().clone()).await.unwrap();
    assert_eq!(jobs(), active);
    node.stop().await;

    let other = tempfile::tempdir().unwrap();
    let node = start(conf(other.path(), &[])).await;
    assert_eq!(node.core().state_jobs.count(), active - 1, "the default keeps no trash");
    node.stop().await;
}

#[test]
fn the_intervals_are_hadoops() {
    assert!(policy(&[]).is_none());
    assert!(policy(&[("fs.trash.checkpoint.interval", "5")]).is_none());
    let minutes = |values: &[(&str, &str)]| {
        let policy = policy(values).unwrap();
        (policy.keep.as_secs() / 60, policy.interval.as_secs() / 60)
    };
    assert_eq!(minutes(&[("fs.trash.interval", "1440")]), (1440, 1440));
    let [keep, short, long] = [
        ("fs.trash.interval", "60"),
        ("fs.trash.checkpoint.interval", "10"),
        ("fs.trash.checkpoint.interval", "61"),
    ];
    assert_eq!((minutes(&[keep, short]), minutes(&[keep, long])), ((60, 10), (60, 60)));
    let negative = conf(Path::new("/nowhere"), &[("fs.trash.interval", "-1")]);
    let error = TrashPolicy::from_conf(&negative).unwrap_err().to_string();
    assert!(error.contains("fs.trash.interval"), "{error}");
}

/// The expected times are those that `SimpleDateFormat` of JDK 17 parses.
#[test]
fn names_are_read_as_java_reads_them() {
    let now = at("2026-11-26T12:00:00");
    let read = |name: &str| time_of_checkpoint(name, &now).map(|time| time.datetime().to_string());
    for (name, expected) in [
        ("261126115958", Some("2026-11-26T11:59:58")),
        ("261126115958-17", Some("2026-11-26T11:59:58")),
        ("261126115958x", Some("2026-11-26T11:59:58")),
        ("2611261159", Some("2026-11-26T11:59:00")),
        ("26112611597", Some("2026-11-26T11:59:07")),
        ("2611261159100", Some("2026-11-26T12:00:40")),
        ("261332250000", Some("2027-02-02T01:00:00")),
        ("261126116160", Some("2026-11-26T12:02:00")),
        ("991231235959", Some("1999-12-31T23:59:59")),
        ("451231235959", Some("2045-12-31T23:59:59")),
        ("260000000000", Some("2025-11-30T00:00:00")),
        ("261126115", Some("2026-11-26T11:05:00")),
        ("26112611", None),
        ("Current", None),
        ("", None),
        ("x261126115958", None),
    ] {
        assert_eq!(read(name).as_deref(), expected, "{name}");
    }
}

/// A checkpoint of the hour that comes twice when summer time ends seemed an hour older, and was deleted an hour early.
#[test]
fn a_checkpoint_of_the_second_of_two_hours_was_read_as_of_the_first() {
    let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
    let at = |text: &str| text.parse::<Timestamp>().unwrap().to_zoned(zone.clone());
    let now = at("2023-11-05T07:00:00Z");
    let read = |name: &str| time_of_checkpoint(name, &now).map(|time| time.timestamp().to_string());
    for (name, expected) in [
        ("231105003000", "2023-11-05T04:30:00Z"),
        ("231105013000", "2023-11-05T06:30:00Z"),
        ("231105023000", "2023-11-05T07:30:00Z"),
        ("230312023000", "2023-03-12T07:30:00Z"),
    ] {
        assert_eq!(read(name).as_deref(), Some(expected), "{name}");
    }
}
