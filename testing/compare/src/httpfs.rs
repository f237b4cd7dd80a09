//! The gateway of either kind in front of its own cluster.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use zerohop_bench::WatchedProcess;
use zerohop_bench::rest::{GATEWAY, Service};
use zerohop_interop::process::Process;
use zerohop_interop::site::{settings, write_xml};
use zerohop_interop::tools;
use zerohop_interop::{Kind, Outcome, ports, wait};

use crate::clusters::{Cluster, java};

const LIMIT: Duration = Duration::from_secs(60);
const SERVER: &str = "org.apache.hadoop.fs.http.server.HttpFSServerWebServer";

/// A running gateway: Apache's HttpFS or ours; killed when dropped.
pub struct Gateway {
    process: Process,
    port: u16,
}

impl Gateway {
    /// Starts the one of the cluster's kind with the cluster's configuration and `more`, and waits until it answers.
    pub fn start(
        cluster: &Cluster,
        directory: &Path,
        more: &[(&'static str, String)],
    ) -> Outcome<Self> {
        let port = ports::free();
        let home = directory.join("httpfs");
        let conf = configuration(cluster, &home, more)?;
        let command = match cluster.kind {
            Kind::Ours => ours(&conf, port)?,
            Kind::Apache => apaches(&conf, &home, port)?,
        };
        let process = Process::daemon("gateway", command, &cluster.site.log("gateway"))?;
        let mut gateway = Self { process, port };
        wait::until("the gateway answers", LIMIT, || {
            gateway.process.alive()?;
            gateway.service(cluster).map(|_| true)
        })?;
        Ok(gateway)
    }

    /// The server as the cluster's user asks it.
    pub fn service(&self, cluster: &Cluster) -> Outcome<Service> {
        find(self.port, cluster)
    }

    /// Its process.
    pub fn watched(&self) -> WatchedProcess {
        WatchedProcess::new(GATEWAY, self.process.id())
    }
}

/// WebHDFS on the NameNode's port of a cluster.
pub fn webhdfs(cluster: &Cluster) -> Outcome<Service> {
    find(cluster.site.http_port, cluster)
}

fn find(port: u16, cluster: &Cluster) -> Outcome<Service> {
    let url = format!("http://127.0.0.1:{port}");
    Service::find(&url, &cluster.fs.user().name).map_err(|e| format!("{url}: {e}"))
}

/// A copy of the cluster's configuration with `more` in it.
fn configuration(
    cluster: &Cluster,
    home: &Path,
    more: &[(&'static str, String)],
) -> Outcome<PathBuf> {
    let conf = home.join("hadoop");
    let failed = |e: std::io::Error| format!("{}: {e}", conf.display());
    fs::create_dir_all(&conf).map_err(failed)?;
    fs::copy(cluster.conf().join("core-site.xml"), conf.join("core-site.xml")).map_err(failed)?;
    let more: String = (more.iter())
        .map(|(key, value)| {
            format!("  <property><name>{key}</name><value>{value}</value></property>\n")
        })
        .collect();
    const END: &str = "</configuration>";
    let text = fs::read_to_string(cluster.conf().join("hdfs-site.xml")).map_err(failed)?;
    fs::write(conf.join("hdfs-site.xml"), text.replace(END, &(more + END))).map_err(failed)?;
    Ok(conf)
}

fn ours(conf: &Path, port: u16) -> Outcome<Command> {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(conf).arg("gateway");
    for setting in ["hostname=127.0.0.1", &format!("port={port}")] {
        command.args(["-D", &format!("httpfs.http.{setting}")]);
    }
    Ok(command)
}

/// With the settings that HttpFS comes with; `home` gets its files.
fn apaches(conf: &Path, home: &Path, port: u16) -> Outcome<Command> {
    let failed = |e: std::io::Error| format!("{}: {e}", home.display());
    for directory in ["conf", "log", "temp"] {
        fs::create_dir_all(home.join(directory)).map_err(failed)?;
    }
    fs::write(home.join("conf/httpfs-signature.secret"), "compare").map_err(failed)?;
    let site = settings(&[
        ("httpfs.http.hostname", "127.0.0.1"),
        ("httpfs.http.port", &port.to_string()),
        ("httpfs.hadoop.config.dir", &conf.display().to_string()),
    ]);
    write_xml(&home.join("conf/httpfs-site.xml"), &site)?;
    // Its address is read from the class path.
    let mut command = java(conf, &[home.join("conf")])?;
    let home = home.display();
    for (name, directory) in [("home", ""), ("config", "/conf"), ("log", "/log"), ("temp", "/temp")]
    {
        command.arg(format!("-Dhttpfs.{name}.dir={home}{directory}"));
    }
    command.arg(SERVER);
    Ok(command)
}
