//! The directories and configuration files of one cluster; daemons and clients of either kind take them
//! as they are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, ports};

/// A name of a Hadoop key and its value.
pub type Setting = (String, String);

/// One cluster's directory: `conf/` (NameNode and clients), `dnN/conf/`, data directories, logs.
pub struct Site {
    directory: PathBuf,
    /// The NameNode's RPC port.
    pub rpc_port: u16,
    /// The NameNode's HTTP port.
    pub http_port: u16,
    /// Each DataNode's data-transfer port.
    pub data_ports: Vec<u16>,
    /// Each DataNode's HTTP port.
    pub info_ports: Vec<u16>,
    /// Each DataNode's RPC port.
    pub ipc_ports: Vec<u16>,
}

impl Site {
    /// Picks ports for a NameNode and `datanodes` DataNodes under `directory`.
    pub fn new(directory: &Path, datanodes: usize) -> Self {
        Self {
            directory: directory.to_owned(),
            rpc_port: ports::free(),
            http_port: ports::free(),
            data_ports: (0..datanodes).map(|_| ports::free()).collect(),
            info_ports: (0..datanodes).map(|_| ports::free()).collect(),
            ipc_ports: (0..datanodes).map(|_| ports::free()).collect(),
        }
    }

    /// The configuration directory of the NameNode and of clients.
    pub fn conf(&self) -> PathBuf {
        self.directory.join("conf")
    }

    /// The configuration directory of a DataNode.
    pub fn datanode_conf(&self, i: usize) -> PathBuf {
        self.directory.join(format!("dn{i}/conf"))
    }

    /// The log file of a process.
    pub fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }

    /// Writes all configuration files; `extra` goes last and wins. In a value `{directory}` stands for the
    /// cluster's directory; for a DataNode also `{datanode}` for its own, and `{number}` for its number, from
    /// one.
    pub fn write(&self, extra: &[Setting]) -> Outcome {
        let hdfs = self.hdfs_settings();
        let directory = self.directory.display().to_string();
        let extra = put(extra, "{directory}", &directory);
        write_conf(&self.conf(), &self.core_settings(), &[&hdfs, &extra])?;
        for i in 0..self.data_ports.len() {
            let own = self.datanode_settings(i);
            let extra = put(&extra, "{datanode}", &self.data_url(&format!("dn{i}")));
            let extra = put(&extra, "{number}", &(i + 1).to_string());
            write_conf(&self.datanode_conf(i), &self.core_settings(), &[&hdfs, &own, &extra])?;
        }
        Ok(())
    }

    fn core_settings(&self) -> Vec<Setting> {
        settings(&[
            ("fs.defaultFS", &format!("hdfs://127.0.0.1:{}", self.rpc_port)),
            ("hadoop.tmp.dir", &self.directory.join("tmp").display().to_string()),
            ("hadoop.user.group.static.mapping.overrides", "alice=staff;bob=staff;carol=guests"),
            // A daemon that is still starting must not cost a client a whole second a try.
            ("ipc.client.connect.retry.interval", "100"),
            ("ipc.client.connect.max.retries", "300"),
        ])
    }

    fn hdfs_settings(&self) -> Vec<Setting> {
        settings(&[
            ("dfs.namenode.name.dir", &self.data_url("nn")),
            ("dfs.namenode.rpc-address", &format!("127.0.0.1:{}", self.rpc_port)),
            ("dfs.namenode.http-address", &format!("127.0.0.1:{}", self.http_port)),
            ("dfs.namenode.secondary.http-address", "127.0.0.1:0"),
            ("dfs.namenode.datanode.registration.ip-hostname-check", "false"),
            ("dfs.namenode.safemode.extension", "0"),
            ("dfs.namenode.fs-limits.min-block-size", "16"),
            // A DataNode counts as dead after 2 rechecks and 10 heartbeats.
            ("dfs.heartbeat.interval", "1"),
            ("dfs.namenode.heartbeat.recheck-interval", "500"),
            ("dfs.namenode.redundancy.interval.seconds", "1"),
            ("dfs.namenode.reconstruction.pending.timeout-sec", "5"),
            // Of four DataNodes one with two connections is "too busy" beside three idle ones.
            ("dfs.namenode.redundancy.considerLoad", "false"),
            ("dfs.blocksize", "1048576"),
            ("dfs.replication", "3"),
            // The client sleeps this long when a block's report is not in yet; Apache's NameNode
            // makes that the rule, and its default of 400 ms would be most of a test's time.
            ("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "20"),
            ("dfs.client.block.write.locateFollowingBlock.retries", "9"),
        ])
    }

    fn datanode_settings(&self, i: usize) -> Vec<Setting> {
        let volumes = format!(
            "{},{}",
            self.data_url(&format!("dn{i}/disk0")),
            self.data_url(&format!("dn{i}/disk1"))
        );
        settings(&[
            ("dfs.datanode.data.dir", &volumes),
            ("dfs.datanode.address", &format!("127.0.0.1:{}", self.data_ports[i])),
            ("dfs.datanode.http.address", &format!("127.0.0.1:{}", self.info_ports[i])),
            ("dfs.datanode.ipc.address", &format!("127.0.0.1:{}", self.ipc_ports[i])),
            ("dfs.datanode.hostname", "127.0.0.1"),
        ])
    }

    fn data_url(&self, name: &str) -> String {
        format!("file://{}", self.directory.join(name).display())
    }
}

fn put(settings: &[Setting], name: &str, value: &str) -> Vec<Setting> {
    settings.iter().map(|(key, text)| (key.clone(), text.replace(name, value))).collect()
}

/// Owned settings from literals.
pub fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
    pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

/// Writes the site files of a configuration directory.
pub fn write_conf(directory: &Path, core: &[Setting], hdfs: &[&[Setting]]) -> Outcome {
    fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    write_xml(&directory.join("core-site.xml"), core)?;
    write_xml(&directory.join("hdfs-site.xml"), &hdfs.concat())?;
    let log4j = directory.join("log4j.properties");
    fs::write(&log4j, LOG4J).map_err(|e| format!("{}: {e}", log4j.display()))
}

/// Writes one file of settings.
pub fn write_xml(path: &Path, settings: &[Setting]) -> Outcome {
    let mut text = String::from("<?xml version=\"1.0\"?>\n<configuration>\n");
    for (name, value) in settings {
        text += &format!("  <property><name>{name}</name><value>{value}</value></property>\n");
    }
    text += "</configuration>\n";
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// For Apache programs that take the directory on their class path.
const LOG4J: &str = "log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark=INFO
";
