//! `viewfs`: mount tables over HDFS.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::{Kind, Outcome, site, tools};

use crate::side_by_side::{Sides, Whose};

/// VIEW is a view with links below /t, FALL one with a fallback, MERGE one that is a single directory.
const COMMANDS: &str = "
-ls VIEW/
-ls -R VIEW/
-ls VIEW/in
-ls VIEW/in/
-ls -d VIEW/data
-stat %F,%b,%a,%n VIEW/ VIEW/in VIEW/data
-mkdir VIEW/data/d
-mkdir -p VIEW/data/d/e/f
-mkdir VIEW/new
-mkdir VIEW/in/new
-mkdir -p VIEW/new/below
-mkdir VIEW/data
-put a.txt VIEW/data/d/a
-put a.txt VIEW/top
-put a.txt VIEW/none/top
-put tree VIEW/other/tree
-put b.txt VIEW/in/deep/b
-cat VIEW/data/d/a VIEW/in/deep/b
-cat VIEW/in
-cat VIEW/none
-cat VIEW/none/none
-ls -R VIEW/data
-ls VIEW/data/d/*
-ls VIEW/*/d
-ls -R VIEW/other VIEW/in/deep
-text VIEW/data/d/a
-get VIEW/other/tree got-tree
-checksum VIEW/data/d/a
-cp VIEW/data/d/a VIEW/other/copy
-cp VIEW/other/tree VIEW/data/d
-ls -R VIEW/data/d
-mv VIEW/data/d/a VIEW/data/d/e
-mv VIEW/data/d/e/a VIEW/other/a
-mv VIEW/data VIEW/moved
-mv VIEW/data/d VIEW/in
-chmod 700 VIEW/data/d
-chmod 700 VIEW/in
-chown alice VIEW/in
-setrep 1 VIEW/other/copy
-touchz VIEW/data/d/empty
-touch VIEW/in
-truncate -w 2 VIEW/other/copy
-cat VIEW/other/copy
-appendToFile b.txt VIEW/other/copy
-cat VIEW/other/copy
-appendToFile b.txt VIEW/in
-getfacl VIEW/data/d
-getfacl VIEW/in
-setfacl -m user:bob:r-x VIEW/in
-setfattr -n user.x -v y VIEW/data/d
-getfattr -d VIEW/data/d
-setfattr -n user.x -v y VIEW/in
-du VIEW/data
-du -s VIEW/
-count VIEW/data
-count VIEW/
-test -d VIEW/in
-test -e VIEW/none
-find VIEW/data -name e*
-rm VIEW/other/copy
-cat TRASH/other/copy
-rm -r VIEW/other
-rm -r VIEW/in
-rmdir VIEW/in
-rm -r -skipTrash VIEW/data/d
-rm -r -skipTrash VIEW/data
-rmdir VIEW/data
-ls VIEW/data
-ls FALL/
-mkdir FALL/new
-put a.txt FALL/new/a
-put a.txt FALL/b
-put a.txt FALL/data
-cat FALL/new/a FALL/b
-ls FALL/
-ls FALL/in
-mv FALL/b FALL/c
-mv FALL/c FALL/in
-cat FALL/none
-rm -skipTrash FALL/new/a
-ls -R FALL/
-mkdir MERGE/x
-put a.txt MERGE/x/a
-ls -R MERGE/
-mv MERGE/x/a MERGE/b
-cat MERGE/b
-ls EMPTY/
-ls NFLY/
-mv ACROSS/data/../data/none ACROSS/other/none
-put a.txt ACROSS/data/across
-mv ACROSS/data/across ACROSS/other/across
-cat ACROSS/other/across
";

const DIFFERENCES: &[(&str, &str)] = &[
    ("-ls -R VIEW/", "Apache's order is that of a hash table"),
    ("-ls -R FALL/", "Apache's order is that of a hash table"),
    ("-put a.txt VIEW/top", "Apache's shell prints the stack of a NotInMountpointException"),
    ("-ls EMPTY/", "ours says what to set"),
    ("-ls NFLY/", "linkNfly is refused by name"),
];

#[test]
fn views_answer_as_apaches_shell() {
    let hdfs = "hdfs://127.0.0.1:{port}";
    for kind in [Kind::Ours, Kind::Apache] {
        let name = format!("schemes-views-{kind:?}").to_lowercase();
        let spec = Spec {
            name: &name,
            namenode: kind,
            datanodes: kind,
            count: 1,
            settings: site::settings(&[("dfs.replication", "1"), ("fs.trash.interval", "10")]),
        };
        let outcome = Cluster::start(&spec).and_then(|mut cluster| {
            cluster.keep_logs = true;
            compare(&cluster, hdfs)?;
            cluster.keep_logs = false;
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("{e}"));
    }
}

fn compare(cluster: &Cluster, hdfs: &str) -> Outcome {
    let hdfs = hdfs.replace("{port}", &cluster.site.rpc_port.to_string());
    let directory = |whose: Whose| if whose == Whose::Ours { "/ours" } else { "/theirs" };
    let mut settings = Vec::new();
    for whose in [Whose::Ours, Whose::Apaches] {
        let root = directory(whose);
        let name = |view: &str| format!("fs.viewfs.mounttable.{view}-{}", &root[1..]);
        let mut add = |key: String, value: String| settings.push((key, value));
        add(format!("{}.link./data", name("view")), format!("{hdfs}{root}/data"));
        add(format!("{}.link./other", name("view")), format!("{hdfs}{root}/other/"));
        add(format!("{}.link./in/deep", name("view")), format!("{hdfs}{root}/deep"));
        add(format!("{}.homedir", name("view")), "/home".to_owned());
        add(format!("{}.link./data", name("fall")), format!("{hdfs}{root}/data"));
        add(format!("{}.link./in/deep", name("fall")), format!("{hdfs}{root}/deep"));
        add(format!("{}.linkFallback", name("fall")), format!("{hdfs}{root}/fall"));
        add(format!("{}.linkMergeSlash", name("merge")), format!("{hdfs}{root}/merge"));
        add(
            format!("{}.linkNfly.minReplication=1./a", name("nfly")),
            format!("{hdfs}{root}/data,{hdfs}{root}/other"),
        );
        add(format!("{}.link./data", name("across")), format!("{hdfs}{root}/data"));
        add(format!("{}.link./other", name("across")), format!("{hdfs}{root}/other"));
        for below in ["data", "other", "deep", "fall/in", "merge"] {
            let mut command = std::process::Command::new(tools::zerohop()?);
            command.arg("--config").arg(cluster.conf()).args(["fs", "-mkdir", "-p"]);
            let made = command.arg(format!("{hdfs}{root}/{below}")).status();
            if !made.map_err(|e| e.to_string())?.success() {
                return Err(format!("cannot make {root}/{below}"));
            }
        }
    }
    let conf = cluster.conf();
    add_to_core(&conf, &settings)?;
    let meaning = |whose: Whose| {
        let root = &directory(whose)[1..];
        let view = |name: &str| (name.to_uppercase(), format!("viewfs://{name}-{root}"));
        let user = "root";
        let mut meaning: Vec<(String, String)> =
            ["view", "fall", "merge", "empty", "nfly", "across"].map(view).to_vec();
        meaning.push(("TRASH".to_owned(), format!("{hdfs}/user/{user}/.Trash/Current/{root}")));
        meaning.push(("ROOT".to_owned(), format!("{hdfs}/{root}")));
        meaning.push(("ROOT".to_owned(), format!("/{root}")));
        meaning
    };
    let sides = Sides {
        conf: &conf,
        directory: cluster.directory(),
        meaning: &meaning,
        differences: DIFFERENCES,
    };
    sides.compare(COMMANDS)
}

/// Adds settings to core-site.xml.
pub fn add_to_core(conf: &std::path::Path, settings: &[site::Setting]) -> Outcome {
    let path = conf.join("core-site.xml");
    let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    let added: String = settings
        .iter()
        .map(|(key, value)| {
            format!("<property><name>{key}</name><value>{value}</value></property>\n")
        })
        .collect();
    let text = text.replace("</configuration>", &format!("{added}</configuration>"));
    std::fs::write(&path, text).map_err(|e| e.to_string())
}
