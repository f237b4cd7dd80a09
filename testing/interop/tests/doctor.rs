//! `zerohop doctor` finds what was planted, names it, tells the fix, and ends with an exit code that
//! is not 0. Real processes; the cluster is ours, and one of Apache's at the end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, client, flip, on_disk, put, shape};
use zerohop_interop::site::settings;
use zerohop_interop::{Kind, Outcome, tools};

const LEN: u64 = 700_000;
const SWITCH: &str = "dfs.client.read.shortcircuit";
const PATH: &str = "dfs.domain.socket.path";

/// A cluster with a socket in a directory that passes the rules; that of the tests may not.
struct Ward {
    cluster: Cluster,
    directory: PathBuf,
    socket: PathBuf,
}

fn ward(name: &str, datanodes: Kind, more: &[(&str, &str)]) -> Outcome<Ward> {
    let directory = safe_directory(&format!("zerohop-doctor-{}-{name}", std::process::id()))?;
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).at("the directory")?;
    let socket = directory.join("dn");
    let path = socket.display().to_string();
    let mut settings = settings(&[
        (SWITCH, "true"),
        (PATH, &path),
        // A DataNode that is away for a moment is not to be forgotten by the NameNode.
        ("dfs.namenode.heartbeat.recheck-interval", "60000"),
    ]);
    settings.extend(zerohop_interop::site::settings(more));
    let name = format!("doctor-{name}");
    let spec = Spec { name: &name, namenode: Kind::Ours, datanodes, count: 1, settings };
    Ok(Ward { cluster: Cluster::start(&spec)?, directory, socket })
}

/// A directory whose path passes the rules: under a directory of root's, or of this user's.
fn safe_directory(name: &str) -> Outcome<PathBuf> {
    let own = ["XDG_RUNTIME_DIR", "HOME"].into_iter().filter_map(std::env::var_os);
    let mut parents = std::iter::once("/run".into()).chain(own).map(PathBuf::from);
    let made = parents.find_map(|parent| {
        let directory = parent.join(name);
        fs::create_dir(&directory).ok().map(|()| directory)
    });
    made.ok_or_else(|| "no place for the socket: neither /run nor the home directory".to_owned())
}

fn is_root() -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// What the doctor said.
struct Said {
    code: i32,
    json: Value,
    text: String,
}

impl Said {
    /// A check with a verdict, and both its words in it: of what was found, of the fix.
    fn says(&self, name: &str, verdict: &str, found: &str, fix: &str) -> Outcome {
        let checks = self.json["checks"].as_array().cloned().unwrap_or_default();
        let told = checks.iter().any(|check| {
            let has =
                |key: &str, part: &str| check[key].as_str().unwrap_or_default().contains(part);
            check["name"] == name
                && check["verdict"] == verdict
                && has("found", found)
                && has("fix", fix)
        });
        match told {
            true => Ok(()),
            false => {
                Err(format!("no {verdict} {name} with {found:?} and {fix:?} in\n{}", self.text))
            }
        }
    }

    /// A fault, and the exit code of one.
    fn faults(&self, name: &str, found: &str, fix: &str) -> Outcome {
        self.says(name, "fault", found, fix)?;
        match (self.code, &self.json["localReads"]) {
            (1, Value::Bool(false)) => Ok(()),
            (code, works) => Err(format!("{name}: exit code {code}, local reads {works}")),
        }
    }

    fn well(&self, generation: &str) -> Outcome {
        let ok = self.code == 0 && self.json["generation"] == generation;
        if ok && self.json["localReads"] == true { Ok(()) } else { Err(self.text.clone()) }
    }
}

fn ask(mut command: Command) -> Outcome<Said> {
    let output = command.output().at("doctor")?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let json = serde_json::from_str(&text).at(&text)?;
    Ok(Said { code: output.status.code().unwrap_or(-1), json, text })
}

impl Ward {
    fn doctor(&self, changes: &[(&str, &str)], path: Option<&str>) -> Outcome<Said> {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(self.cluster.conf()).arg("doctor").arg("--json");
        changes.iter().for_each(|(key, value)| _ = command.arg(format!("-D{key}={value}")));
        command.args(path);
        ask(command)
    }

    fn plain(&self) -> Outcome<Said> {
        self.doctor(&[], None)
    }

    fn chmod(&self, path: &Path, mode: u32) -> Outcome {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).at("chmod")
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn run(ward: Outcome<Ward>, test: impl FnOnce(&mut Ward) -> Outcome) {
    let outcome = ward.and_then(|mut ward| {
        let outcome = test(&mut ward).map_err(|e| format!("{e}\n{}", ward.cluster.logs()));
        ward.cluster.keep_logs = outcome.is_err();
        outcome
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

/// Faults of the client's configuration: nothing has to be broken for them.
fn misconfigured(ward: &Ward) -> Outcome {
    let said = ward.doctor(&[(SWITCH, "false")], None)?;
    said.faults("client-switch", "is false", "set dfs.client.read.shortcircuit to true")?;
    said.faults("client-read", "tcp-local 1048676; not-configured", "")?;
    ward.doctor(&[(PATH, "")], None)?.faults(
        "socket-path",
        "is not set",
        "set it to the same path",
    )?;
    let long = format!("/{}", "x".repeat(120));
    let said = ward.doctor(&[(PATH, &long)], None)?;
    said.faults("socket-path", "has 121 bytes", "at most 107 bytes")?;
    let other = ward.directory.join("other").display().to_string();
    let said = ward.doctor(&[(PATH, &other)], None)?;
    let theirs = format!("set it to {} here", ward.socket.display());
    said.faults("datanode-path", "at DataNode", &theirs)?;
    said.faults("socket-file", "is not there", "start the DataNode of this machine")?;
    let legacy = "dfs.client.use.legacy.blockreader.local";
    let said = ward.doctor(&[(legacy, "true"), ("dfs.block.size", "1m")], None)?;
    said.faults("legacy-reader", "dfs.block.local-path-access.user", "remove")?;
    said.says("deprecated-key", "warning", legacy, "remove")?;
    said.says("deprecated-key", "warning", "dfs.block.size", "rename")?;
    let nobody = ward.doctor(
        &[("fs.defaultFS", "hdfs://127.0.0.1:1"), ("ipc.client.connect.max.retries", "0")],
        None,
    )?;
    nobody.faults("namenode", "Connection refused", "start the NameNode")
}

/// Too few descriptors for what the client would keep: local reads work, so it is a warning.
fn few_descriptors(ward: &Ward) -> Outcome {
    let line = "ulimit -n 200; exec \"$0\" --config \"$1\" doctor --json";
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(tools::zerohop()?).arg(ward.cluster.conf());
    let said = ask(command)?;
    said.well("HDFS-5182")?;
    said.says("descriptor-limit", "warning", "200 descriptors", "ulimit -n")
}

/// Faults around the socket.
fn unsafe_or_replaced(ward: &mut Ward) -> Outcome {
    ward.chmod(&ward.directory, 0o777)?;
    let fix = format!("chmod o-w {}", ward.directory.display());
    ward.plain()?.faults("path-component", "world-writable", &fix)?;
    ward.chmod(&ward.directory, 0o755)?;
    if is_root() {
        std::os::unix::fs::chown(&ward.directory, Some(12345), None).at("chown")?;
        ward.plain()?.faults("path-component", "uid 12345", "chown root")?;
        std::os::unix::fs::chown(&ward.directory, Some(0), None).at("chown")?;
    }
    ward.plain()?.well("HDFS-5182")?;
    ward.cluster.stop_datanode(0)?;
    // Apache's leaves its socket behind, ours only when it is killed.
    if ward.socket.exists() {
        ward.plain()?.faults("listener", "nobody listens", "start the DataNode")?;
        fs::remove_file(&ward.socket).at("the socket")?;
    }
    ward.plain()?.faults("socket-file", "is not there", "start the DataNode")?;
    fs::write(&ward.socket, "").at("a file")?;
    let rm = format!("rm {}", ward.socket.display());
    ward.doctor(&[], Some("/f"))?.faults("socket-file", "is not a socket", &rm)?;
    fs::remove_file(&ward.socket).at("the file")?;
    // Somebody else, who takes connections and hangs up.
    let stranger = UnixListener::bind(&ward.socket).at("a stranger's socket")?;
    std::thread::spawn(move || stranger.incoming().for_each(drop));
    let said = ward.doctor(&[], Some("/f"))?;
    said.faults("listener", "does not answer as a DataNode does", "stop that process")?;
    fs::remove_file(&ward.socket).at("the stranger's socket")?;
    // Left by a listener that was killed.
    drop(UnixListener::bind(&ward.socket).at("a dead socket")?);
    ward.doctor(&[], Some("/f"))?.faults("listener", "nobody listens", "start the DataNode")?;
    ward.cluster.start_datanode(0)?;
    ward.cluster.wait_serving()
}

/// Faults of a replica.
fn damaged(ward: &mut Ward) -> Outcome {
    let fs = client(&ward.cluster.conf(), &[])?;
    let replica = on_disk(&ward.cluster, &fs, "/f")?.pop().ok_or("no replica")?;
    flip(&replica.data, 300_000)?;
    let said = ward.doctor(&[], Some("/f"))?;
    said.faults("checksum", "the data at 299520 does not match", "zerohop fs -cat")?;
    flip(&replica.data, 300_000)?;
    ward.doctor(&[], Some("/f"))?.well("HDFS-5182")?;
    flip(&replica.meta, 1)?;
    ward.doctor(&[], Some("/f"))?.faults("meta-file", "version", "")?;
    flip(&replica.meta, 1)?;
    let meta = std::fs::read(&replica.meta).at("the meta file")?;
    std::fs::write(&replica.meta, &meta[..100]).at("a short meta file")?;
    ward.doctor(&[], Some("/f"))?.faults("meta-file", "", "")?;
    std::fs::remove_file(&replica.meta).at("no meta file")?;
    ward.doctor(&[], Some("/f"))?.faults("meta-file", "", "")
}

/// What an Apache client of this machine would lack: a warning where there is one, and a remark elsewhere. A library that is found is
/// not named.
fn apache_client(ward: &Ward) -> Outcome {
    let home = ward.cluster.directory().join("hadoop");
    let native = home.join("lib/native");
    fs::create_dir_all(&native).at("a Hadoop without libraries")?;
    let doctor = |home: Option<&Path>| {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(ward.cluster.conf()).args(["doctor", "--json"]);
        for name in ["HADOOP_HOME", "JAVA_LIBRARY_PATH", "LD_LIBRARY_PATH"] {
            command.env_remove(name);
        }
        home.iter().for_each(|home| _ = command.env("HADOOP_HOME", home));
        ask(command)
    };
    let lacks = "would lack libhadoop.so (local reads, ZStandardCodec";
    doctor(Some(&home))?.says("apache-client", "warning", lacks, "$HADOOP_HOME/lib/native")?;
    doctor(None)?.says("apache-client", "ok", "zerohop has all of it built in", "")?;
    fs::write(native.join("libhadoop.so"), "").at("a library")?;
    let said = doctor(Some(&home))?;
    match said.says("apache-client", "warning", "libhadoop.so", "") {
        Err(_) => said.says("apache-client", "warning", "libgplcompression.so (LZO", ""),
        Ok(()) => Err(format!("a library that is there is missed: {}", said.text)),
    }
}

fn planted(name: &str, datanodes: Kind) {
    run(ward(name, datanodes, &[]), |ward| {
        let fs = client(&ward.cluster.conf(), &[])?;
        put(&fs, "/f", 1, LEN, shape(1, 8 << 20))?;
        ward.plain()?.well("HDFS-5182")?;
        ward.doctor(&[], Some("/f"))?.well("HDFS-5182")?;
        if fs.list("/").at("the root")?.len() != 1 {
            return Err("the doctor left a file behind".to_owned());
        }
        let said = ward.doctor(&[], Some("/none"))?;
        said.faults("file", "does not exist", "name a file")?;
        apache_client(ward)?;
        misconfigured(ward)?;
        few_descriptors(ward)?;
        unsafe_or_replaced(ward)?;
        damaged(ward)
    });
}

#[test]
fn faults_planted_around_apache_datanodes_are_found() {
    planted("apache", Kind::Apache);
}

/// Apache's DataNode, with its native library, is as well as ours.
#[test]
fn apache_datanodes_are_well() {
    run(ward("well", Kind::Apache, &[]), |ward| {
        let said = ward.plain()?;
        said.well("HDFS-5182")?;
        said.says("datanode-switch", "ok", "is true at DataNode", "")?;
        let said = ward.doctor(&[(SWITCH, "false")], None)?;
        said.faults("client-switch", "is false", "hdfs-site.xml")
    });
}

/// The legacy reader is found in force where the DataNode tells paths to this user.
#[test]
fn the_legacy_reader_is_named() {
    let user = zerohop_client::User::of_process().name;
    let more = [("dfs.block.local-path-access.user", user.as_str())];
    run(ward("legacy", Kind::Ours, &more), |ward| {
        let legacy = ("dfs.client.use.legacy.blockreader.local", "true");
        let said = ward.doctor(&[legacy, (PATH, "")], None)?;
        said.well("HDFS-2246")?;
        said.says("legacy-reader", "warning", "no permission is checked", "remove")?;
        said.says("client-read", "ok", "local 1048676", "")?;
        ward.plain()?.well("HDFS-5182")
    });
}

#[test]
fn faults_planted_around_our_datanode_are_found() {
    planted("ours", Kind::Ours);
}

/// The socket is there for whole data transfer, but no descriptors are passed; and few may be open.
#[test]
fn a_datanode_that_passes_no_descriptors_is_found() {
    let more = [(SWITCH, "false"), ("dfs.client.domain.socket.data.traffic", "true")];
    run(ward("refusing", Kind::Ours, &more), |ward| {
        let said = ward.doctor(&[(SWITCH, "true")], None)?;
        said.faults(
            "descriptors",
            "File descriptor passing was not configured",
            "set dfs.client.read.shortcircuit to true in the DataNode's",
        )?;
        said.faults("datanode-switch", "is false at DataNode", "restart it")?;
        said.says("client-switch", "ok", "is true", "")
    });
}

/// `_PORT` in the path: what is said names the file that is there, and no port that nobody uses.
#[test]
fn the_port_in_the_socket_s_path_is_the_datanode_s() {
    run(ward("port", Kind::Ours, &[]), |ward| {
        let configured = ward.directory.join("dn._PORT").display().to_string();
        let mut with_port = settings(&[(SWITCH, "true"), (PATH, &configured)]);
        with_port.push(("dfs.namenode.heartbeat.recheck-interval".into(), "60000".into()));
        ward.cluster.stop_datanode(0)?;
        ward.cluster.site.write(&with_port)?;
        ward.cluster.start_datanode(0)?;
        ward.cluster.wait_serving()?;
        let fs = client(&ward.cluster.conf(), &[])?;
        put(&fs, "/f", 1, LEN, shape(1, 8 << 20))?;
        let socket = ward.directory.join(format!("dn.{}", ward.cluster.site.data_ports[0]));
        let only_ours = |said: &Said| {
            let ports = said.text.matches("/dn.").count();
            let named = said.text.matches(&socket.display().to_string()).count();
            let unresolved = said.text.matches("/dn._PORT").count();
            match named > 0 && ports == named + unresolved {
                true => Ok(()),
                false => Err(format!("another file than {} in\n{}", socket.display(), said.text)),
            }
        };
        let said = ward.doctor(&[], Some("/f"))?;
        said.well("HDFS-5182").and_then(|()| only_ours(&said))?;
        ward.cluster.kill_datanode(0);
        // With a file there are DataNodes to ask for; without one there is none to make it on.
        for path in [Some("/f"), None] {
            let said = ward.doctor(&[], path)?;
            said.faults("listener", "nobody listens", "start the DataNode")?;
            only_ours(&said)?;
        }
        fs::remove_file(&socket).at("the socket")?;
        let said = ward.doctor(&[], Some("/f"))?;
        said.faults("socket-file", "is not there", "start the DataNode")?;
        only_ours(&said)
    });
}
