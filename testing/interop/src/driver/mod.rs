//! Clients of both kinds behind one line protocol, so that one script runs on either.
//!
//! A request is a line of tab-separated fields: user (empty: whoever runs the tests), command,
//! arguments. The answer is a line: `ok` and results, or `err`, the exception's class name without
//! its package, and the first line of its message. Tab, line feed, carriage return and backslash
//! inside a field are escaped with a backslash.
//!
//! | command | arguments | results |
//! |---|---|---|
//! | ping | | |
//! | mkdir | path \[octal\] | made |
//! | create | writer path replication blocksize overwrite | |
//! | append | writer path | |
//! | put | path length seed replication blocksize | |
//! | write | writer length seed | position after it |
//! | hflush, hsync, close | writer | |
//! | read | path offset length (-1: to the end) | bytes read, CRC-32 |
//! | open | reader path | |
//! | next | reader length | bytes read, CRC-32 |
//! | pread | reader offset length | bytes read, CRC-32 |
//! | rclose | reader | |
//! | stat | path | dir or file, length, replication, block size, octal, owner, group |
//! | list | path | a field an entry: name, then as stat, separated by spaces; sorted by name |
//! | exists | path | yes or no |
//! | access | path action (r-x) | |
//! | rename | from to | done |
//! | rename2 | from to overwrite | |
//! | delete | path recursive | done |
//! | truncate | path length | done at once |
//! | concat | target source... | |
//! | setrep | path replication | done |
//! | chmod | path octal | |
//! | chown | path owner group (empty: keep) | |
//! | settimes | path modified accessed (ms; -1: keep) | |
//! | times | path | modified, accessed |
//! | checksum | path | algorithm, bytes in hex |
//! | locations | path offset length | a field a block: offset, length, transfer addresses (sorted) |
//! | recoverlease | path | closed now |
//! | isclosed | path | closed |
//! | setxattr | path name hex | |
//! | getxattr | path name | hex |
//! | listxattr | path | names, sorted |
//! | removexattr | path name | |
//! | setacl, modifyacl | path entries (user:alice:rwx,...) | |
//! | removeacl | path | |
//! | getacl | path | entries |
//! | summary | path | length, files, directories, quota, space consumed, space quota |
//! | setquota | path names space | |
//! | quota | path | files and directories, quota, space consumed, space quota |
//! | setpolicy | path name | |
//! | getpolicy | path | name |
//! | live, dead | | number of DataNodes |
//! | contacts | | a field a live DataNode: transfer address, last heartbeat (ms); sorted |
//! | safemode | get, enter or leave | in safe mode |
//! | savenamespace | | |
//! | home | | path |
//!
//! Apache's client only:
//!
//! | command | arguments | results |
//! |---|---|---|
//! | iterate | iterator path | (a list that is fetched page by page) |
//! | entries | iterator most | number of further entries |
//! | statistics | reader | bytes read: all, local, by short circuit, by zero copy |
//! | zerocopy | reader most verified | bytes read, CRC-32 |
//! | zerocopykept | reader most | bytes of a zero-copy read, kept |
//! | giveback | reader | (gives those back and closes) |
//! | cache | path | id of the new cache directive |
//! | uncache | id | |
//! | cacheadmin | arguments of hdfs cacheadmin | exit code, output |
//! | cached | path | blocks that are cached |
//! | callercontext | text, signature (empty: none) | (of all later calls) |
//! | checkpath | path of a domain socket | empty, or what Apache finds wrong with it |

mod text;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

pub use text::{escape, unescape};

use crate::process::{Process, tail};
use crate::tools::Java;
use crate::{Kind, Outcome, tools};

/// How long one command may take: long enough for any recovery the script provokes.
const ANSWER_LIMIT: Duration = Duration::from_secs(90);

/// An `err` answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The exception's class, without its package.
    pub class: String,
    /// The first line of its message.
    pub message: String,
}

/// A client process.
pub struct Driver {
    /// Whose client it is.
    pub kind: Kind,
    process: Process,
    requests: ChildStdin,
    answers: Receiver<String>,
    log: std::path::PathBuf,
}

impl Driver {
    /// Starts a client of `kind` on the cluster that the directory `conf` describes.
    pub fn start(kind: Kind, conf: &Path, log: &Path, extra: &[&str]) -> Outcome<Self> {
        let mut command = match kind {
            Kind::Apache => {
                let mut java = Java::get()?.command(512);
                java.arg("-Dhadoop.root.logger=WARN,console").arg("zerohop.Driver");
                java
            }
            Kind::Ours => Command::new(tools::driver()?),
        };
        command.arg(conf).args(extra);
        let mut process = Process::talker(&format!("driver {kind:?}"), command, log)?;
        let (requests, output) = process.pipes().ok_or("a driver without pipes")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { kind, process, requests, answers, log: log.to_owned() })
    }

    /// One request as `user`; the outer error is the harness's: the driver died or hangs.
    pub fn ask(&mut self, user: &str, fields: &[&str]) -> Outcome<Result<Vec<String>, Fault>> {
        let what = fields.join(" ");
        let escaped: Vec<String> = fields.iter().map(|f| escape(f)).collect();
        let line = format!("{}\t{}\n", escape(user), escaped.join("\t"));
        self.requests.write_all(line.as_bytes()).map_err(|e| self.broken(&what, &e.to_string()))?;
        match self.answers.recv_timeout(ANSWER_LIMIT) {
            Ok(answer) => parse(&answer).ok_or_else(|| self.broken(&what, &answer)),
            Err(RecvTimeoutError::Timeout) => Err(self.broken(&what, "no answer in time")),
            Err(RecvTimeoutError::Disconnected) => Err(self.broken(&what, "it ended")),
        }
    }

    fn broken(&self, what: &str, why: &str) -> String {
        format!("{:?} driver at [{what}]: {why}\n{}", self.kind, tail(&self.log, 25))
    }

    /// A request of the superuser that must succeed.
    pub fn ok(&mut self, fields: &[&str]) -> Outcome<Vec<String>> {
        self.ok_as("", fields)
    }

    /// A request that must succeed.
    pub fn ok_as(&mut self, user: &str, fields: &[&str]) -> Outcome<Vec<String>> {
        self.ask(user, fields)?.map_err(|fault| {
            format!(
                "{:?} client{} [{}]: {}: {}",
                self.kind,
                as_user(user),
                fields.join(" "),
                fault.class,
                fault.message
            )
        })
    }

    /// A request of the superuser that must succeed with exactly these results.
    pub fn gives(&mut self, fields: &[&str], expected: &[&str]) -> Outcome {
        let got = self.ok(fields)?;
        match got == expected {
            true => Ok(()),
            false => Err(format!(
                "{:?} client [{}]: got {got:?}, expected {expected:?}",
                self.kind,
                fields.join(" ")
            )),
        }
    }

    /// A request that must fail with one of these classes (separated by `|`); gives the message.
    pub fn fails(&mut self, user: &str, fields: &[&str], classes: &str) -> Outcome<String> {
        match self.ask(user, fields)? {
            Err(fault) if classes.split('|').any(|c| c == fault.class) => Ok(fault.message),
            other => Err(format!(
                "{:?} client{} [{}]: got {other:?}, expected {classes}",
                self.kind,
                as_user(user),
                fields.join(" ")
            )),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills the client without any farewell to the cluster.
    pub fn kill(&mut self) {
        self.process.kill();
    }
}

fn as_user(user: &str) -> String {
    if user.is_empty() { String::new() } else { format!(" as {user}") }
}

fn parse(answer: &str) -> Option<Result<Vec<String>, Fault>> {
    let mut fields = answer.split('\t').map(unescape);
    match fields.next()?.as_str() {
        "ok" => Some(Ok(fields.collect())),
        "err" => Some(Err(Fault { class: fields.next()?, message: fields.next()? })),
        _ => None,
    }
}
