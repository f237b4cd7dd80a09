//! Child processes that cannot outlive the test program.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crate::{Outcome, wait};

type Job = Box<dyn FnOnce() + Send>;

/// Starts `command` as the leader of a process group that the kernel kills when this program ends.
///
/// The kernel's parent-death signal follows the *thread* that started the child, and each test has
/// a thread of its own, so one thread that lives as long as the program starts all children.
fn spawn(mut command: Command) -> std::io::Result<Child> {
    static STARTER: OnceLock<Sender<Job>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        std::thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        sender
    });
    command.process_group(0);
    // SAFETY: prctl is async-signal-safe and touches nothing of the parent.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let (answer, answered) = channel();
    let job = Box::new(move || {
        let _ = answer.send(command.spawn());
    });
    starter.send(job).expect("the starter thread runs as long as the program");
    answered.recv().expect("the starter thread answers every job")
}

/// A running child with its log file; killed with its whole process group when dropped.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a daemon: standard output and error go to `log`, standard input stays open.
    pub fn daemon(name: &str, mut command: Command, log: &Path) -> Outcome<Self> {
        let file = open_log(log)?;
        let errors = file.try_clone().map_err(|e| format!("{}: {e}", log.display()))?;
        command.stdin(Stdio::piped()).stdout(file).stderr(errors);
        Self::start(name, command, log)
    }

    /// Starts a program to talk to: its standard error goes to `log`.
    pub fn talker(name: &str, mut command: Command, log: &Path) -> Outcome<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(open_log(log)?);
        Self::start(name, command, log)
    }

    fn start(name: &str, command: Command, log: &Path) -> Outcome<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = spawn(command).map_err(|e| format!("cannot start {program}: {e}"))?;
        Ok(Self { name: name.to_owned(), child, log: log.to_owned() })
    }

    /// The two ends of a talker.
    pub fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        Some((self.child.stdin.take()?, self.child.stdout.take()?))
    }

    /// The process id, which is the id of its process group too.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// An error if it has ended, with the end of its log.
    pub fn alive(&mut self) -> Outcome {
        match self.ended() {
            None => Ok(()),
            Some(status) => {
                Err(format!("{} ended: {}\n{}", self.name, describe(status), tail(&self.log, 25)))
            }
        }
    }

    /// SIGTERM, and SIGKILL if that is not enough within `limit`.
    pub fn stop(&mut self, limit: Duration) -> Outcome<ExitStatus> {
        self.signal(libc::SIGTERM);
        let waited = wait::until("an end after SIGTERM", limit, || Ok(self.ended().is_some()));
        match self.ended() {
            Some(status) => Ok(status),
            None => {
                self.kill();
                waited.map_err(|e| format!("{}: {e}", self.name))?;
                Err(format!("{} ended too late", self.name))
            }
        }
    }

    /// Waits for a program to end by itself; kills it after `limit`.
    pub fn finish(&mut self, limit: Duration) -> Outcome<ExitStatus> {
        let waited = wait::until(&self.name.clone(), limit, || Ok(self.ended().is_some()));
        if waited.is_err() {
            self.kill();
        }
        waited.map_err(|e| format!("{e}\n{}", tail(&self.log, 25)))?;
        self.ended().ok_or_else(|| format!("{}: no exit status", self.name))
    }

    /// Waits for a script that ends well and then has said "done"; all that it said.
    pub fn finish_done(&mut self, limit: Duration) -> Outcome<String> {
        let status = self.finish(limit)?;
        let said = std::fs::read_to_string(&self.log)
            .map_err(|e| format!("{}: {e}", self.log.display()))?;
        match status.success() && said.lines().any(|line| line == "done") {
            true => Ok(said),
            false => Err(format!("{}: {}\n{}", self.name, describe(status), tail(&self.log, 60))),
        }
    }

    /// SIGKILL to the whole group, and waits for the end.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
        let _ = self.child.wait();
    }

    /// SIGSTOP: it does nothing more until its process group is sent SIGCONT.
    pub fn pause(&self) {
        self.signal(libc::SIGSTOP);
    }

    fn signal(&self, signal: i32) {
        // SAFETY: kill takes no pointers. The child is not reaped yet or already gone, and its id
        // is reused only after it was reaped, which only `ended` and `kill` do.
        unsafe { libc::kill(-(self.child.id() as i32), signal) };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.kill();
        }
        // Children of the child, should there be any left.
        self.signal(libc::SIGKILL);
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    }
}

fn open_log(log: &Path) -> Outcome<File> {
    File::options()
        .create(true)
        .append(true)
        .open(log)
        .map_err(|e| format!("{}: {e}", log.display()))
}

/// The last `lines` lines of a file, for the output of a failed test.
pub fn tail(path: &Path, lines: usize) -> String {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let _ = file.read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    let from = all.len().saturating_sub(lines);
    format!("--- {}\n{}", path.display(), all[from..].join("\n"))
}
