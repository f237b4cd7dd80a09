//! `har`: archives that Apache's HadoopArchives makes.

use std::time::Duration;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::{Kind, Outcome, java, site};

use crate::side_by_side::{Sides, Whose};

/// HAR is an archive by its full URI, SHORT the same one by the default file system.
const COMMANDS: &str = "
-ls HAR
-ls -R HAR
-ls HAR/
-ls SHORT
-ls -R SHORT/d
-ls HAR/d/*
-ls SHORT/d/[ab]*
-ls -d HAR/d
-ls HAR/none
-cat HAR/d/a HAR/d/big
-cat SHORT/d/a
-cat HAR/d
-cat HAR/none
-cat HAR/d/sp%20ace+é
-tail HAR/d/big
-head HAR/d/a
-text HAR/d/a
-get HAR/d/big got
-get HAR/d got-d
-get HAR/none got
-stat %F,%b,%a,%u,%g,%o,%r,%n HAR/d/a HAR/d
-du HAR
-du -s HAR/d
-count HAR HAR/d/a
-checksum HAR/d/a
-test -e HAR/d/a
-test -d HAR/d
-test -e HAR/none
-test -z HAR/d/empty
-find HAR -name t*
-cp HAR/d OUT/d
-cat OUT/d/a OUT/d/tree/below/two
-cp SHORT/d/a OUT/a
-getmerge HAR/d/tree merged
-getfacl HAR/d/a
-mkdir HAR/new
-put a.txt HAR/new
-touchz HAR/new
-appendToFile a.txt HAR/d/a
-rm -skipTrash HAR/d/a
-mv HAR/d/a HAR/d/c
-chmod 700 HAR/d/a
-chown alice HAR/d/a
-setrep 1 HAR/d/a
-truncate 1 HAR/d/a
-touch HAR/d/a
-fs HAR -ls /ar/x.har/d
-fs HAR -cat d/a
-fs HAR -ls
-ls har://hdfs/x.har
-ls har:///no/such.har
-ls har:///no/archive
";

#[test]
fn archives_answer_as_apaches_shell() {
    let spec = Spec {
        name: "schemes-archives",
        namenode: Kind::Ours,
        datanodes: Kind::Ours,
        count: 1,
        settings: site::settings(&[("dfs.replication", "1")]),
    };
    let outcome = Cluster::start(&spec).and_then(|mut cluster| {
        cluster.keep_logs = true;
        compare(&mut cluster)?;
        cluster.keep_logs = false;
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

fn compare(cluster: &mut Cluster) -> Outcome {
    let local = cluster.directory().join("source");
    let big: Vec<u8> = (0..3_000_000u32).map(|n| b'a' + (n % 23) as u8).collect();
    std::fs::create_dir_all(local.join("d/tree/below"))
        .and_then(|()| std::fs::write(local.join("d/a"), "hello\n"))
        .and_then(|()| std::fs::write(local.join("d/empty"), ""))
        .and_then(|()| std::fs::write(local.join("d/big"), big))
        .and_then(|()| std::fs::write(local.join("d/sp ace+é"), "blank\n"))
        .and_then(|()| std::fs::write(local.join("d/tree/below/two"), "22\n"))
        .map_err(|e| e.to_string())?;
    let conf = cluster.conf();
    let run = |class: &str, args: &[&str]| {
        java::run(class, args, &conf, Duration::from_secs(300))?.ok(class)
    };
    let source = local.join("d").display().to_string();
    run("org.apache.hadoop.fs.FsShell", &["-mkdir", "-p", "/in", "/ours", "/theirs"])?;
    run("org.apache.hadoop.fs.FsShell", &["-put", &source, "/in"])?;
    run(
        "org.apache.hadoop.tools.HadoopArchives",
        &["-Dmapreduce.framework.name=local", "-archiveName", "x.har", "-p", "/in", "d", "/ar"],
    )?;
    let port = cluster.site.rpc_port;
    let meaning = |whose: Whose| {
        let out = if whose == Whose::Ours { "ours" } else { "theirs" };
        vec![
            ("HAR".to_owned(), format!("har://hdfs-127.0.0.1:{port}/ar/x.har")),
            ("SHORT".to_owned(), "har:///ar/x.har".to_owned()),
            ("OUT".to_owned(), format!("hdfs://127.0.0.1:{port}/{out}")),
        ]
    };
    let sides = Sides {
        conf: &conf,
        directory: cluster.directory(),
        meaning: &meaning,
        differences: &[("-put a.txt HAR/new", "our copies name the file")],
    };
    sides.compare(COMMANDS)
}
