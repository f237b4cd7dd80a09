//! What the trash emptiers of both NameNodes leave of the same trash.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{SETTLE, over, zerohop};
use zerohop_interop::{Kind, Outcome, site, wait};

/// A checkpoint that is old beyond doubt, one that becomes old in 2045, and one by Hadoop 1's name.
const TRASH: [&str; 9] = [
    "/user/alice/.Trash/Current/data/deleted",
    "/user/alice/.Trash/200101000000/old",
    "/user/alice/.Trash/451231235959/kept",
    "/user/alice/.Trash/451231235959-1/kept",
    "/user/alice/.Trash/2001010000/old",
    "/user/alice/.Trash/mine/kept",
    "/user/bob/.Trash/200101000000-7/old",
    "/user/carol/kept",
    "/home/dave/.Trash/200101000000/kept",
];

fn paths(cluster: &Cluster) -> Outcome<Vec<String>> {
    let (_, listed) = zerohop(&cluster.conf(), &["fs", "-ls", "-R", "-C", "/"])?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// Checkpoints that were made just now have one name.
fn common(path: &str) -> String {
    let is_new = |name: &&str| {
        name.len() == 12
            && name.bytes().all(|byte| byte.is_ascii_digit())
            && !TRASH.iter().any(|known| known.contains(*name))
    };
    let named = path.split('/').map(|name| if is_new(&name) { "NEW" } else { name });
    named.collect::<Vec<_>>().join("/")
}

/// All paths, after the emptier has run.
fn emptied(kind: Kind) -> Vec<String> {
    let name = format!("trash-{kind:?}").to_lowercase();
    let settings = site::settings(&[
        ("fs.trash.interval", "60"),
        // At each multiple of six seconds.
        ("fs.trash.checkpoint.interval", "0.1"),
    ]);
    let spec = Spec { name: &name, namenode: kind, datanodes: kind, count: 1, settings };
    let mut found = Vec::new();
    over(Cluster::start(&spec), |cluster| {
        let make: Vec<&str> = ["fs", "-mkdir", "-p"].into_iter().chain(TRASH).collect();
        let (code, said) = zerohop(&cluster.conf(), &make)?;
        assert_eq!(code, 0, "{said}");
        wait::until("the trash is emptied", SETTLE, || {
            let left = paths(cluster)?;
            let is_left = |part: &str| left.iter().any(|path| path.contains(part));
            found = left.iter().map(|path| common(path)).collect();
            if is_left("Current") || is_left("old") { Err(format!("{left:?}")) } else { Ok(true) }
        })
    });
    found.sort();
    found
}

/// `fs.trash.interval` on our NameNode deleted nothing.
#[test]
fn both_emptiers_leave_the_same_trash() {
    let ours = emptied(Kind::Ours);
    assert!(ours.contains(&"/user/alice/.Trash/NEW/data/deleted".to_owned()), "{ours:?}");
    assert_eq!(ours, emptied(Kind::Apache));
}
