//! Apache's own programs over a cluster: load generators, benchmarks, offline viewers, the shell.

use std::path::Path;
use std::time::Duration;

use crate::cluster::{Cluster, Spec};
use crate::{Kind, Outcome, java, site};

/// How long one program may take.
const LIMIT: Duration = Duration::from_secs(300);

/// A cluster of one kind with two DataNodes.
pub fn cluster(kind: Kind, name: &str) -> Outcome<Cluster> {
    let name = format!("{name}-{kind:?}").to_lowercase();
    let settings = site::settings(&[("dfs.replication", "2")]);
    Cluster::start(&Spec { name: &name, namenode: kind, datanodes: kind, count: 2, settings })
}

/// Runs a class with the cluster's configuration; its output if it ends well.
pub fn run(cluster: &Cluster, class: &str, args: &[&str]) -> Outcome<String> {
    let what = format!("{class} {}", args.join(" "));
    java::run(class, args, &cluster.conf(), LIMIT)?.ok(&what)
}

/// `TestDFSIO` with the local job runner; its result file must name all the files and bytes.
pub fn dfsio(cluster: &Cluster, args: &[&str]) -> Outcome {
    let results = cluster.directory().join("dfsio.log");
    let _ = std::fs::remove_file(&results);
    let mut all = vec!["-Dmapreduce.framework.name=local"];
    all.extend(args);
    let path = results.display().to_string();
    all.extend(["-nrFiles", "3", "-size", "5MB", "-resFile", &path]);
    let output = run(cluster, "org.apache.hadoop.fs.TestDFSIO", &all)?;
    let text = std::fs::read_to_string(&results).map_err(|e| format!("{e}\n{output}"))?;
    let figure = |label: &str| {
        let line = text.lines().find(|l| l.contains(label))?;
        line.split(':').next_back()?.trim().parse::<f64>().ok()
    };
    // Random reads go over the amount by up to a buffer a file.
    match (figure("Number of files"), figure("Total MBytes processed")) {
        (Some(3.0), Some(megabytes)) if megabytes >= 15.0 => beside_ours(cluster, args, &text),
        _ => Err(format!("TestDFSIO {args:?}: not 3 files and 15 MB in\n{text}")),
    }
}

/// `zerohop bench dfsio` on the same files: its results file differs from TestDFSIO's in numbers only.
fn beside_ours(cluster: &Cluster, args: &[&str], theirs: &str) -> Outcome {
    let results = cluster.directory().join("dfsio-ours.log");
    let _ = std::fs::remove_file(&results);
    let mut command = std::process::Command::new(crate::tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).args(["bench", "dfsio"]).args(args);
    command.args(["-nrFiles", "3", "-size", "5MB", "-resFile"]).arg(&results);
    let output = command.output().map_err(|e| format!("zerohop: {e}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let ours = std::fs::read_to_string(&results).map_err(|e| format!("{e}\n{errors}"))?;
    match shape(&ours) == shape(theirs) {
        true => Ok(()),
        false => Err(format!("TestDFSIO's results:\n{theirs}ours:\n{ours}{errors}")),
    }
}

/// The lines without their numbers and the date.
fn shape(results: &str) -> Vec<String> {
    let shape = |line: &str| match line.split_once("Date & time: ") {
        Some((before, date)) => format!("{before}Date, {} words", date.split(' ').count()),
        None => match line.split_once(": ") {
            Some((label, value)) if value.parse::<f64>().is_ok() => label.to_owned(),
            _ => line.to_owned(),
        },
    };
    results.lines().map(shape).collect()
}

/// One operation of `NNThroughputBenchmark` as a client of the running NameNode.
pub fn namenode_throughput(cluster: &Cluster, op: &[&str]) -> Outcome<String> {
    let uri = cluster.uri();
    let mut args = vec!["-fs", &uri, "-op"];
    args.extend(op);
    let output =
        run(cluster, "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark", &args)?;
    match output.contains("Ops per sec: ") && !output.contains("Exception") {
        true => Ok(output),
        false => Err(format!("NNThroughputBenchmark {op:?}:\n{output}")),
    }
}

/// The operations that an edit-log segment holds, as Apache's offline viewer prints them.
pub fn edits_as_xml(conf: &Path, segment: &Path, to: &Path) -> Outcome<String> {
    let (from, to_name) = (segment.display().to_string(), to.display().to_string());
    let class = "org.apache.hadoop.hdfs.tools.offlineEditsViewer.OfflineEditsViewer";
    java::run(class, &["-i", &from, "-o", &to_name, "-p", "xml"], conf, LIMIT)?.ok("oev")?;
    std::fs::read_to_string(to).map_err(|e| format!("{}: {e}", to.display()))
}

/// An fsimage, as Apache's offline viewer prints it.
pub fn image_as_xml(conf: &Path, image: &Path, to: &Path) -> Outcome<String> {
    image_by("XML", conf, image, to)
}

/// An image as one of the processors of Apache's viewer writes it.
pub fn image_by(processor: &str, conf: &Path, image: &Path, to: &Path) -> Outcome<String> {
    image_with(&["-p", processor], conf, image, to)
}

/// Like [`image_by`], with more options.
pub fn image_with(options: &[&str], conf: &Path, image: &Path, to: &Path) -> Outcome<String> {
    let (from, to_name) = (image.display().to_string(), to.display().to_string());
    let class = "org.apache.hadoop.hdfs.tools.offlineImageViewer.OfflineImageViewerPB";
    let args = [&["-i", &from, "-o", &to_name][..], options].concat();
    java::run(class, &args, conf, LIMIT)?.ok("oiv")?;
    std::fs::read_to_string(to).map_err(|e| format!("{}: {e}", to.display()))
}
