//! Apache's FileSystem contract tests over a cluster, through Apache's own client.

use std::ffi::OsStr;
use std::time::Duration;

use crate::cluster::{Cluster, Spec};
use crate::driver::unescape;
use crate::process::Process;
use crate::tools::Java;
use crate::{Kind, Outcome, site};

/// The contract classes (`AbstractContract...Test`) that Apache runs over HDFS.
pub const CLASSES: [&str; 20] = [
    "Append",
    "BulkDelete",
    "Concat",
    "ContentSummary",
    "CopyFromLocal",
    "Create",
    "Delete",
    "GetFileStatus",
    "LeaseRecovery",
    "Mkdir",
    "MultipartUploader",
    "Open",
    "PathHandle",
    "Rename",
    "RootDirectory",
    "SafeMode",
    "Seek",
    "SetTimes",
    "Unbuffer",
    "VectoredRead",
];

/// How long all classes together may take.
const LIMIT: Duration = Duration::from_secs(600);

/// One contract test's outcome.
pub struct Case {
    /// `Class#method[parameters]`, behind the property `zerohop.door`.
    pub name: String,
    /// `pass`, `fail` or `skip`.
    pub verdict: String,
    /// Why it failed or was skipped.
    pub reason: String,
}

/// Starts a cluster of `kind` and runs all contract tests over it in one JVM.
pub fn run(kind: Kind, classes: &[&str]) -> Outcome<Vec<Case>> {
    let name = format!("contract-{kind:?}").to_lowercase();
    // Apache's own tests use blocks of this size, to have edges of blocks everywhere.
    let settings = site::settings(&[("dfs.blocksize", "1024"), ("dfs.replication", "1")]);
    let spec = Spec { name: &name, namenode: kind, datanodes: kind, count: 2, settings };
    let mut cluster = Cluster::start(&spec)?;
    run_over(&mut cluster, classes)
}

/// Runs contract tests over a cluster in one JVM. `KEY=VALUE` among the classes sets a system property for those behind
/// it.
pub fn run_over(cluster: &mut Cluster, classes: &[impl AsRef<OsStr>]) -> Outcome<Vec<Case>> {
    cluster.keep_logs = true;
    let mut java = Java::get()?.command(1024);
    java.arg("-Dhadoop.root.logger=ERROR,console")
        .arg(format!("-Dzerohop.conf={}", cluster.conf().display()))
        .arg(format!("-Dtest.build.data={}", cluster.directory().join("local").display()))
        .arg("zerohop.ContractRunner")
        .args(classes)
        .current_dir(cluster.directory());
    let log = cluster.site.log("contract");
    let status = Process::daemon("contract tests", java, &log)?.finish(LIMIT)?;
    let output = std::fs::read(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let output = String::from_utf8_lossy(&output);
    let cases: Vec<Case> = output.lines().filter_map(parse).collect();
    if !status.success() || cases.is_empty() {
        return Err(format!("contract tests: {status}\n{}", crate::process::tail(&log, 40)));
    }
    cluster.keep_logs = cases.iter().any(|c| c.verdict == "fail");
    Ok(cases)
}

fn parse(line: &str) -> Option<Case> {
    let mut fields = line.split('\t');
    let verdict = fields.next().filter(|v| ["pass", "fail", "skip"].contains(v))?;
    let name = fields.next()?;
    Some(Case {
        name: name.to_owned(),
        verdict: verdict.to_owned(),
        reason: unescape(fields.next()?),
    })
}
