//! Lines of the audit log: what clients say they are doing, and what a command has changed. Apache's client, Apache's shell and ours
//! ask NameNodes of both kinds for the same; the lines must be the same.

use std::fs;
use std::time::Duration;

use zerohop_client::CallerContext;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{Explain, SETTLE, client, http, over, put, shape, zerohop};
use zerohop_interop::{Kind, Outcome, java, site, wait};

const SHELL: &str = "org.apache.hadoop.fs.FsShell";
const LOGGER: &str = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";
const LIMIT: Duration = Duration::from_secs(120);

/// Has the NameNode write its audit log, which both have switched off.
fn switch_on(cluster: &mut Cluster, kind: Kind) -> Outcome {
    if kind == Kind::Apache {
        let page = format!("/logLevel?log={LOGGER}&level=INFO");
        return http(cluster.site.http_port, &page).map(drop);
    }
    cluster.stop_namenode()?;
    cluster.start_namenode_as(|mut command| {
        command.env("ZEROHOP_LOG", "info");
        Ok(command)
    })?;
    cluster.wait_serving()
}

/// The fields of the lines so far, ports aside, without those of the harness's own calls.
fn lines(cluster: &Cluster) -> Outcome<Vec<String>> {
    let log = fs::read_to_string(cluster.site.log("nn")).at("the NameNode's log")?;
    let fields = log.lines().filter_map(|line| Some(line.split_once("allowed=")?.1));
    let port = regex::Regex::new("(clientPort|proxyUserPort):[0-9]+").at("a pattern")?;
    let ours = fields.filter(|line| line.contains("src=/audit"));
    Ok(ours.map(|line| port.replace_all(line, "$1:PORT").into_owned()).collect())
}

fn ask(driver: &mut Driver, requests: &[&[&str]]) -> Outcome {
    requests.iter().try_for_each(|request| driver.ok(request).map(drop))
}

/// What Apache's client asks for: the same lines whichever NameNode writes them.
fn ask_all(driver: &mut Driver) -> Outcome {
    let long = "a-context-that-is-longer-than-what-the-NameNode-keeps-of-it";
    ask(
        driver,
        &[
            &["mkdir", "/audit"],
            &["callercontext", "job_1", ""],
            &["mkdir", "/audit/said"],
            &["callercontext", "job_1,user:ann\tproto=x \"q\" \u{e9}", "signed"],
            &["mkdir", "/audit/signed"],
            &["callercontext", long, "a signature that is too long to be kept"],
            &["mkdir", "/audit/long"],
            &["callercontext", "clientPort:1,realUser:bob", ""],
            &["mkdir", "/audit/proxy"],
            &["callercontext", "changes", ""],
            &["create", "w", "/audit/file", "1", "1048576", "true"],
            &["close", "w"],
            &["chmod", "/audit/file", "640"],
            &["settimes", "/audit/file", "1000", "2000"],
            &["setrep", "/audit/file", "2"],
            &["setxattr", "/audit/file", "user.x", "00"],
            &["removexattr", "/audit/file", "user.x"],
            &["setacl", "/audit/said", "user::rwx,group::r-x,other::---,user:bob:r-x"],
            &["modifyacl", "/audit/said", "user:carol:r-x"],
            &["removeacl", "/audit/said"],
            &["setpolicy", "/audit/said", "HOT"],
            &["chmod", "/audit/said", "1770"],
            &["rename", "/audit/file", "/audit/said"],
            &["rename2", "/audit/said/file", "/audit/moved", "true"],
            &["rename2", "/audit/moved", "/audit/again", "false"],
            &["stat", "/audit/again"],
            &["list", "/audit"],
            &["delete", "/audit/again", "false"],
            &["callercontext", "", ""],
            &["delete", "/audit/long", "true"],
        ],
    )
}

fn run(kind: Kind, settings: &[(&str, &str)], name: &str) -> Vec<String> {
    let mut all =
        vec![("hadoop.caller.context.enabled", "true"), ("hadoop.caller.context.max.size", "40")];
    all.extend(settings);
    let spec = Spec {
        name,
        namenode: kind,
        datanodes: Kind::Ours,
        count: 1,
        settings: site::settings(&all),
    };
    let mut found = Vec::new();
    over(Cluster::start(&spec), |cluster| {
        switch_on(cluster, kind)?;
        ask_all(&mut cluster.client(Kind::Apache)?)?;
        let ours = client(&cluster.conf(), &[])?;
        let context = CallerContext::new("ours").with_field("job", "7", ",");
        ours.set_caller_context(Some(context.with_signature(&b"s"[..])));
        ours.mkdirs("/audit/ours").at("our client")?;
        put(&ours, "/audit/ours/file", 1, 10, shape(1, 1 << 20))?;
        // The page's own calls have no line of their own.
        http(cluster.site.http_port, "/fsck?ugi=root&path=%2Faudit&files=1")?;
        http(cluster.site.http_port, "/fsck?ugi=bob&path=%2Faudit%2Fnone")?;
        let shell =
            |words: &[&str]| java::run(SHELL, words, &cluster.conf(), LIMIT)?.ok("the shell");
        shell(&["-mkdir", "/audit/shell"])?;
        let (code, said) = zerohop(&cluster.conf(), &["fs", "-mkdir", "/audit/our-shell"])?;
        if code != 0 {
            return Err(said);
        }
        wait::until("the last line", SETTLE, || {
            let lines = lines(cluster)?;
            Ok(lines.iter().any(|line| line.contains("cmd=mkdirs\tsrc=/audit/our-shell")))
        })?;
        found = lines(cluster)?;
        Ok(())
    });
    found
}

fn compare(settings: &[(&str, &str)], name: &str) {
    let theirs = run(Kind::Apache, settings, &format!("{name}-apache"));
    let ours = run(Kind::Ours, settings, &format!("{name}-ours"));
    assert!(
        theirs.iter().any(|line| line.ends_with("callerContext=CLI") || settings.len() > 1),
        "{theirs:#?}"
    );
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(theirs, ours);
    }
    assert_eq!(theirs.len(), ours.len(), "{theirs:#?}\n{ours:#?}");
}

#[test]
fn caller_contexts_and_changes_are_written_as_apache_writes_them() {
    compare(&[], "audit");
}

#[test]
fn ports_and_tracking_ids_are_added_as_apache_adds_them() {
    let settings = [
        ("dfs.namenode.audit.log.with.remote.port", "true"),
        ("dfs.namenode.audit.log.token.tracking.id", "true"),
        ("hadoop.caller.context.separator", "$"),
        ("dfs.namenode.audit.log.debug.cmdlist", "getfileinfo,setTimes"),
        ("hadoop.caller.context.max.size", "200"),
    ];
    compare(&settings, "audit-ports");
}
