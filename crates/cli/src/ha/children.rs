//! The daemons of a cluster as processes of their own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use tokio::process::{Child, Command};
use zerohop_system::clock;

use crate::failure::{Failure, Outcome};

/// How long a daemon may take to end in order before it is killed.
const GRACE: Duration = Duration::from_secs(20);

/// The environment variable that makes a daemon end with the process whose id it holds.
const ENDS_WITH: &str = "ZEROHOP_ENDS_WITH";

/// Called first of all: a daemon of a cluster that was killed does not outlive it.
pub fn end_with_parent() {
    let Ok(parent) = std::env::var(ENDS_WITH) else { return };
    // A system without it: the daemon outlives a cluster that is killed, and nothing else.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let is_alive = getppid().is_some_and(|pid| pid.as_raw_nonzero().get().to_string() == parent);
    if !is_alive {
        std::process::exit(1);
    }
}

/// A running daemon.
pub struct Daemon {
    pub name: String,
    pub pid: u32,
    child: Child,
}

/// The daemons of a cluster: what each is started with, and those that run. They are killed when this is dropped.
pub struct Children {
    binary: PathBuf,
    directory: PathBuf,
    running: Vec<Daemon>,
}

impl Children {
    /// Daemons whose configuration is in `directory/conf/NAME` and whose log is `directory/logs/NAME.log`.
    pub fn new(directory: &Path) -> Outcome<Self> {
        let binary = std::env::current_exe()
            .map_err(|error| Failure::io(format!("this program is not found: {error}")))?;
        std::fs::create_dir_all(directory.join("logs"))?;
        Ok(Self { binary, directory: directory.to_owned(), running: Vec::new() })
    }

    /// Where the daemon's log is.
    pub fn log_of(&self, name: &str) -> PathBuf {
        self.directory.join("logs").join(format!("{name}.log"))
    }

    fn conf_of(&self, name: &str) -> PathBuf {
        self.directory.join("conf").join(name)
    }

    /// The command line that runs a daemon.
    pub fn command_line(&self, name: &str, verb: &str) -> String {
        format!("{} {verb} --config {}", self.binary.display(), self.conf_of(name).display())
    }

    fn command(&self, name: &str, words: &[&str]) -> Outcome<Command> {
        let log = File::options().create(true).append(true).open(self.log_of(name))?;
        let mut command = Command::new(&self.binary);
        command.args(words).arg("--config").arg(self.conf_of(name));
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A group of its own: Ctrl-C is for this process, which ends them in order.
        command.process_group(0).kill_on_drop(true);
        command.env(ENDS_WITH, std::process::id().to_string());
        Ok(command)
    }

    /// Starts a daemon whose verb is `verb`.
    pub fn start(&mut self, name: &str, conf: &str, verb: &str) -> Outcome {
        let mut command = self.command(conf, &[verb])?;
        let child = command.spawn().map_err(|error| Failure::io(format!("{name}: {error}")))?;
        let pid = child.id().unwrap_or_default();
        self.running.push(Daemon { name: name.to_owned(), pid, child });
        Ok(())
    }

    /// Runs a verb to its end; its exit code.
    pub async fn run(&self, conf: &str, words: &[&str]) -> Outcome<i32> {
        let status = self.command(conf, words)?.status().await?;
        Ok(status.code().unwrap_or(1))
    }

    /// Those that run.
    pub fn running(&self) -> &[Daemon] {
        &self.running
    }

    /// Ready when one of them has ended: its name and what it ended with. It is none of those that run then.
    pub async fn ended(&mut self) -> (String, String) {
        loop {
            let now =
                self.running.iter_mut().position(|one| matches!(one.child.try_wait(), Ok(Some(_))));
            if let Some(at) = now {
                let mut one = self.running.remove(at);
                let status = one.child.wait().await;
                let status = status.map_or_else(|error| error.to_string(), |s| s.to_string());
                return (one.name, status);
            }
            clock::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Ends those whose names begin so, in order.
    pub async fn end(&mut self, start: &str) {
        let (ending, rest) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|one| one.name.starts_with(start));
        self.running = rest;
        let mut ending: Vec<Daemon> = ending;
        for one in &ending {
            if let Some(pid) = i32::try_from(one.pid).ok().and_then(Pid::from_raw) {
                // One that was frozen by hand must hear it.
                let _ = kill_process(pid, Signal::CONT);
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        for one in &mut ending {
            tokio::select! {
                _ = one.child.wait() => {}
                () = clock::sleep(GRACE) => drop(one.child.kill().await),
            }
        }
    }

    /// The last lines of a daemon's log, for a message.
    pub fn last_words(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.log_of(name)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(5);
        format!("{}\n(all of it: {})", lines[from..].join("\n"), self.log_of(name).display())
    }
}
