//! The cluster for a busy network: NameNode, first DataNode and client on one machine, the second DataNode on another.

use crate::args::Args;
use crate::failure::Result;
use crate::network::{FAR, Machines, NEAR};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where a directory for domain sockets is one that nobody else can change, up to the root.
const SOCKETS: &str = "/run";
const LIMIT: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Runs a program, says its process id, and ends it when standard input ends. Its output goes to a file.
const DAEMON: &str = r#""$@" >"$0" 2>&1 & echo $!; cat >/dev/null; kill $!; wait $!"#;
/// The port of DataNodes for block data.
const TRANSFER_PORT: u16 = 9866;

/// The second DataNode, as a favored node.
pub fn far_datanode() -> String {
    format!("{FAR}:{TRANSFER_PORT}")
}

/// Starts the cluster and runs this program again on the near machine.
pub fn run(args: &Args, zerohop: &Path, machines: &Machines) -> Result<i32> {
    let directory = tempfile::Builder::new().prefix("zerohop-star-").tempdir()?;
    let sockets = tempfile::Builder::new().prefix("zerohop-star-").tempdir_in(SOCKETS)?;
    let site = Site { args, zerohop, directory: directory.path(), sockets: sockets.path() };
    site.write()?;
    let format = ["namenode", "-format", "-nonInteractive"];
    let mut command = machines.on_near(zerohop);
    let output = site.configured(&mut command).args(format).output()?;
    if !output.status.success() {
        return Err(format!("namenode -format: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let namenode = site.daemon("namenode", machines.on_near(zerohop), &["namenode".to_owned()])?;
    let near = site.daemon("near", machines.on_near(zerohop), &site.datanode("near"))?;
    let far = site.daemon("far", machines.on_far(zerohop), &site.datanode("far"))?;
    site.until_live(machines, &[&namenode, &near, &far])?;
    let mut command = machines.on_near(&std::env::current_exe()?);
    site.configured(command.args(&args.words));
    command.env_remove("HADOOP_CONF_DIR").args(["--far", &machines.far_pid().to_string()]);
    for daemon in [&namenode, &near, &far] {
        command.args(["--watch", &format!("{}={}", daemon.name, daemon.pid)]);
    }
    Ok(command.status()?.code().unwrap_or(1))
}

/// Where the cluster keeps its files.
struct Site<'a> {
    args: &'a Args,
    zerohop: &'a Path,
    directory: &'a Path,
    sockets: &'a Path,
}

impl Site<'_> {
    fn conf(&self) -> PathBuf {
        self.directory.join("conf")
    }

    fn data(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn socket(&self, name: &str) -> String {
        self.sockets.join(format!("{name}._PORT")).display().to_string()
    }

    /// The configuration of the client and of all daemons.
    fn write(&self) -> Result<()> {
        std::fs::create_dir(self.conf())?;
        let both = format!("{},{}", self.data("near"), self.data("far"));
        let values = [
            ("dfs.replication", "1".to_owned()),
            ("dfs.namenode.name.dir", self.data("name")),
            ("dfs.datanode.data.dir", both),
            ("dfs.client.read.shortcircuit", "true".to_owned()),
            ("dfs.domain.socket.path", self.socket("near")),
            // These addresses have no names.
            ("dfs.namenode.datanode.registration.ip-hostname-check", "false".to_owned()),
        ];
        let default = [("fs.defaultFS", format!("hdfs://{NEAR}:8020"))];
        std::fs::write(self.conf().join("core-site.xml"), site_xml(&default))?;
        Ok(std::fs::write(self.conf().join("hdfs-site.xml"), site_xml(&values))?)
    }

    /// The command with the words that say where the cluster is.
    fn configured<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(&self.args.cluster.words).arg("--config").arg(self.conf())
    }

    /// The words that start a DataNode.
    fn datanode(&self, name: &str) -> Vec<String> {
        let data = format!("dfs.datanode.data.dir={}", self.data(name));
        let socket = format!("dfs.domain.socket.path={}", self.socket(name));
        ["datanode", "-D", &data, "-D", &socket].map(str::to_owned).to_vec()
    }

    /// Starts `command`, which is to run zerohop, as a daemon.
    fn daemon(&self, name: &'static str, mut command: Command, words: &[String]) -> Result<Daemon> {
        self.configured(&mut command).args(words);
        let log = self.directory.join(format!("{name}.log"));
        let mut shell = Command::new("sh");
        shell.args(["-c", DAEMON]).arg(&log).arg(command.get_program()).args(command.get_args());
        shell.env_remove("HADOOP_CONF_DIR").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut daemon = Daemon { name, pid: 0, log, shell: shell.spawn()? };
        let output = daemon.shell.stdout.take().ok_or("the shell has no output")?;
        let line = BufReader::new(output).lines().next().transpose()?.unwrap_or_default();
        daemon.pid = line.parse().map_err(|_| format!("{name} was not started: {line}"))?;
        Ok(daemon)
    }

    fn until_live(&self, machines: &Machines, daemons: &[&Daemon]) -> Result<()> {
        let start = Instant::now();
        loop {
            let mut command = machines.on_near(self.zerohop);
            self.configured(&mut command).args(["dfsadmin", "-report", "-live"]);
            let output = command.output()?;
            if String::from_utf8_lossy(&output.stdout).contains("Live datanodes (2)") {
                return Ok(());
            }
            if start.elapsed() > LIMIT {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let logs: Vec<String> = daemons.iter().map(|daemon| daemon.end_of_log()).collect();
                let logs = logs.join("\n");
                return Err(format!("two DataNodes are not live yet: {said}\n{logs}").into());
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

fn site_xml(values: &[(&str, String)]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let property = |(name, value): &(&str, String)| {
        format!("<property><name>{name}</name><value>{}</value></property>\n", escaped(value))
    };
    let properties: String = values.iter().map(property).collect();
    format!("<configuration>\n{properties}</configuration>\n")
}

/// A daemon, ended when dropped, and when this process ends in any way.
struct Daemon {
    name: &'static str,
    pid: u32,
    log: PathBuf,
    shell: Child,
}

impl Daemon {
    fn end_of_log(&self) -> String {
        let text = match std::fs::read_to_string(&self.log) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => error.to_string(),
            Ok(text) => text,
        };
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        format!("{}: {}", self.name, lines.join("\n"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_kind_are_written() {
        let text = site_xml(&[("a", "/x&y<z".to_owned())]);
        assert!(text.contains("<name>a</name><value>/x&amp;y&lt;z</value>"), "{text}");
    }
}
