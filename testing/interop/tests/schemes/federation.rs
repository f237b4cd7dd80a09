//! Several name services on one set of DataNodes, as docs/federation.md describes them, and a view over them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{self, Setting};
use zerohop_interop::{Outcome, java, ports, tools, wait};

const LIMIT: Duration = Duration::from_secs(240);

/// Two NameNodes that know nothing of each other, and two DataNodes that serve both.
struct Federation {
    directory: PathBuf,
    processes: Vec<(PathBuf, Process)>,
}

impl Federation {
    fn start(name: &str) -> Outcome<Self> {
        let directory = tools::clusters().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        let mut federation = Self { directory, processes: Vec::new() };
        // Apache's client knows the name of a name service only if that has several NameNodes.
        let mut hosts = Vec::new();
        let mut common = site::settings(&[
            ("dfs.nameservices", "east,west"),
            ("dfs.replication", "2"),
            ("dfs.namenode.safemode.extension", "0"),
            ("dfs.heartbeat.interval", "1"),
        ]);
        for service in ["east", "west"] {
            for (key, port) in [("rpc", ports::free()), ("http", ports::free())] {
                if key == "rpc" {
                    hosts.push(format!("hdfs://127.0.0.1:{port}"));
                }
                let key = format!("dfs.namenode.{key}-address.{service}");
                common.push((key, format!("127.0.0.1:{port}")));
            }
        }
        let core = site::settings(&[
            ("fs.defaultFS", "viewfs://all"),
            ("fs.viewfs.mounttable.all.link./projects", &format!("{}/projects", hosts[0])),
            ("fs.viewfs.mounttable.all.link./archive", &format!("{}/archive", hosts[1])),
            ("fs.viewfs.mounttable.all.link./user", &format!("{}/user", hosts[0])),
            ("ipc.client.connect.retry.interval", "100"),
            ("ipc.client.connect.max.retries", "300"),
        ]);
        let own = |settings: &[(&str, String)]| -> Vec<Setting> {
            settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
        };
        let data = |name: &str| format!("file://{}", federation.directory.join(name).display());
        site::write_conf(&federation.conf("client"), &core, &[&common])?;
        for service in ["east", "west"] {
            let own = own(&[
                ("dfs.nameservice.id", service.to_owned()),
                ("dfs.namenode.name.dir", data(&format!("{service}/name"))),
            ]);
            site::write_conf(&federation.conf(service), &core, &[&common, &own])?;
        }
        for node in ["dn1", "dn2"] {
            let address = || format!("127.0.0.1:{}", ports::free());
            let own = own(&[
                ("dfs.datanode.data.dir", data(&format!("{node}/data"))),
                ("dfs.datanode.address", address()),
                ("dfs.datanode.http.address", address()),
                ("dfs.datanode.ipc.address", address()),
                ("dfs.datanode.hostname", "127.0.0.1".to_owned()),
            ]);
            site::write_conf(&federation.conf(node), &core, &[&common, &own])?;
        }
        for service in ["east", "west"] {
            let format = ["namenode", "-format", "-clusterid", "CID-both"];
            federation.zerohop(service, &format)?;
            federation.daemon(service, "namenode")?;
        }
        for node in ["dn1", "dn2"] {
            federation.daemon(node, "datanode")?;
        }
        for service in ["east", "west"] {
            let uri = format!("hdfs://{service}");
            wait::until("both DataNodes serve the name service", LIMIT, || {
                let report = federation.zerohop("client", &["dfsadmin", "-fs", &uri, "-report"])?;
                Ok(report.contains("Live datanodes (2)"))
            })
            .map_err(|error| format!("{error}\n{}", federation.logs()))?;
        }
        Ok(federation)
    }

    fn conf(&self, name: &str) -> PathBuf {
        self.directory.join(name).join("conf")
    }

    fn daemon(&mut self, name: &str, kind: &str) -> Outcome {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(self.conf(name)).arg(kind);
        let log = self.directory.join(format!("{name}.log"));
        let process = Process::daemon(name, command, &log)?;
        self.processes.push((log, process));
        Ok(())
    }

    /// Runs a command that must succeed; what it printed.
    fn zerohop(&self, conf: &str, words: &[&str]) -> Outcome<String> {
        let (code, output) = self.any(conf, words)?;
        if code == 0 { Ok(output) } else { Err(format!("{words:?}: {code}\n{output}")) }
    }

    fn any(&self, conf: &str, words: &[&str]) -> Outcome<(i32, String)> {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(self.conf(conf)).args(words).current_dir(&self.directory);
        let output = command.output().map_err(|e| e.to_string())?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned()))
    }

    fn logs(&self) -> String {
        self.processes.iter().map(|(log, _)| tail(log, 15)).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn two_name_services_share_datanodes_and_a_view() {
    let outcome = Federation::start("schemes-federation").and_then(|federation| {
        let checked = check(&federation);
        checked.map_err(|error| format!("{error}\n{}", federation.logs()))
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

fn check(federation: &Federation) -> Outcome {
    let fs = |words: &[&str]| federation.zerohop("client", &[&["fs"], words].concat());
    let file = federation.directory.join("file");
    let bytes: Vec<u8> = (0..2_000_000u32).map(|n| (n % 251) as u8).collect();
    std::fs::write(&file, &bytes).map_err(|e| e.to_string())?;
    for path in ["hdfs://east/projects", "hdfs://east/user", "hdfs://west/archive"] {
        fs(&["-mkdir", path])?;
    }
    fs(&["-mkdir", "-p", "/projects/p/below"])?;
    fs(&["-put", &file.display().to_string(), "/projects/p/file"])?;
    fs(&["-cp", "/projects/p/file", "/archive/copy"])?;
    federation.zerohop("client", &["distcp", "/projects/p", "/archive/p"])?;

    // Each name service has its own namespace, and both have their blocks on the same DataNodes.
    let below = |uri: &str| fs(&["-ls", "-R", "-C", uri]);
    let east = below("hdfs://east/")?;
    let west = below("hdfs://west/")?;
    let expected = "hdfs://west/archive\nhdfs://west/archive/copy\nhdfs://west/archive/p\n\
                    hdfs://west/archive/p/below\nhdfs://west/archive/p/file\n";
    if west != expected || east.contains("archive") {
        return Err(format!("east:\n{east}west:\n{west}"));
    }
    for path in ["/archive/copy", "/archive/p/file", "hdfs://west/archive/copy"] {
        let got = federation.directory.join("got");
        let _ = std::fs::remove_file(&got);
        fs(&["-get", path, &got.display().to_string()])?;
        if std::fs::read(&got).map_err(|e| e.to_string())? != bytes {
            return Err(format!("{path} differs"));
        }
    }
    for node in ["dn1", "dn2"] {
        let pools = std::fs::read_dir(federation.directory.join(node).join("data/current"));
        let pools = pools.map_err(|e| e.to_string())?.flatten();
        let count =
            pools.filter(|entry| entry.file_name().to_string_lossy().starts_with("BP-")).count();
        if count != 2 {
            return Err(format!("{node} has {count} block pools"));
        }
    }
    let (code, said) =
        federation.any("client", &["fs", "-mv", "/projects/p/file", "/archive/moved"])?;
    if code != 1 || !said.contains("Renames across Mount points not supported") {
        return Err(format!("-mv between name services: {code} {said}"));
    }
    as_apaches(federation, &federation.conf("client"))
}

/// Apache's shell shows the view as ours does.
fn as_apaches(federation: &Federation, conf: &Path) -> Outcome {
    let shell = "org.apache.hadoop.fs.FsShell";
    for words in
        [&["-ls", "-R", "-C", "/projects"][..], &["-ls", "-C", "/archive"], &["-ls", "-C", "/"]]
    {
        let theirs = java::run(shell, words, conf, LIMIT)?.ok(shell)?;
        let ours = federation.zerohop("client", &[&["fs"], words].concat())?;
        if theirs != ours {
            return Err(format!("{words:?}\n--- Apache's\n{theirs}--- ours\n{ours}"));
        }
    }
    Ok(())
}
