//! The binary and a cluster of it, for tests.
#![allow(dead_code, reason = "each file of tests takes what it needs")]
#![allow(clippy::disallowed_methods, reason = "tests measure and wait")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub use rustix::process::Signal;

pub const BINARY: &str = env!("CARGO_BIN_EXE_zerohop");
static RUNTIME: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
const LIMIT: Duration = Duration::from_secs(60);

pub fn zerohop(args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).env_remove("HADOOP_CONF_DIR").stdin(Stdio::null());
    // Each test process has its own runtime directory: clusters of others are not found.
    command.env("ZEROHOP_RUNTIME_DIR", RUNTIME.path());
    command
}

/// Like [`zerohop`], but no running cluster can be found.
pub fn without_clusters(args: &[&str]) -> Command {
    let mut command = zerohop(args);
    command.env("ZEROHOP_RUNTIME_DIR", RUNTIME.path().join("none"));
    command
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit code, standard output, standard error.
pub fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap_or(-1), text(&stdout), text(&stderr))
}

/// `up` as a child that is killed when the test ends.
pub struct Up {
    pub child: Child,
    pub conf: PathBuf,
    /// Held open: a command whose reader is gone ends.
    _out: std::io::Lines<BufReader<ChildStdout>>,
}

impl Up {
    pub fn start(data: &Path) -> Up {
        let data = data.to_str().unwrap();
        let mut command = zerohop(&["up", "--port", "0", "--http-port", "0", "--data", data]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let conf = lines.find_map(|line| {
            line.unwrap().split_once("HADOOP_CONF_DIR=").map(|(_, conf)| conf.into())
        });
        Up { child, conf: conf.expect("up says where the configuration is"), _out: lines }
    }

    pub fn fs(&self, args: &[&str]) -> Command {
        let mut command = zerohop(&["fs"]);
        command.args(args).env("HADOOP_CONF_DIR", &self.conf);
        command
    }

    pub fn admin(&self, args: &[&str]) -> (i32, String, String) {
        run(zerohop(&["dfsadmin"]).args(args).env("HADOOP_CONF_DIR", &self.conf))
    }

    pub fn signal(&self, signal: Signal) {
        send(&self.child, signal);
    }

    /// The exit code after a signal.
    pub fn stop(mut self, signal: Signal) -> i32 {
        self.signal(signal);
        wait(&mut self.child)
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn send(child: &Child, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits for an end.
pub fn wait(child: &mut Child) -> i32 {
    let code = until(|| child.try_wait().unwrap());
    code.code().unwrap_or(-1)
}

/// Whether a process has ended, be it that nobody has asked for its exit code yet.
pub fn has_ended(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, fields)| fields.trim_start().starts_with(['Z', 'X']))
}

/// Asks again and again until there is an answer.
pub fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < LIMIT, "nothing within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the block file of the only replica below a directory.
pub fn only_replica(directory: &Path) -> PathBuf {
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true => left.push(path),
                false if name.starts_with("blk_") && !name.ends_with(".meta") => return path,
                false => {}
            }
        }
    }
    panic!("no replica");
}
