//! A DataNode's domain socket: is it safe, does it answer, may it be used now?

use super::files::Parts;
use super::slots::{NoSlot, Slot, Slots};
use super::talk::{self, Answer};
use crate::read::local_outcome::OpenError;
use crate::read::plan::{NotLocal, ReadReason};
use crate::types::LocatedBlock;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;
use zerohop_system::clock;
use zerohop_transport::domain::{self, Problem};
use zerohop_transport::net::DataStream;

/// Failures one after the other until the socket is left alone for the configured time.
const FAILURES_MAX: u32 = 3;
/// How long a socket at which no process listens is left alone: a DataNode that restarts is found soon.
const ABSENT_FOR: Duration = Duration::from_millis(250);
/// Connections kept for the next request; they close after [`IDLE_FOR`].
const IDLE_MAX: usize = 4;
const IDLE_FOR: Duration = Duration::from_secs(3);

/// How a domain socket is used.
#[derive(Clone, Copy)]
pub(super) struct SocketUse {
    /// For connecting, reading and writing; zero means no limit.
    pub(super) timeout: Duration,
    /// `dfs.domain.socket.disable.interval.seconds`.
    pub(super) disabled_for: Duration,
}

/// One domain socket path, with what is known of the process that listens there.
pub(super) struct Endpoint {
    path: PathBuf,
    how: SocketUse,
    pub(super) slots: Arc<Slots>,
    idle: Mutex<Vec<(Instant, DataStream)>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Failures one after the other, by what failed: all of the socket (empty) or one DataNode.
    failures: HashMap<String, u32>,
    /// What is left alone, until when, and why.
    rests: HashMap<String, Rest>,
    /// The DataNode that was found to answer, at which file.
    claim: Option<Claim>,
}

#[derive(Clone)]
struct Claim {
    node: String,
    file: Option<FileId>,
    since: Instant,
}

impl Claim {
    fn is_fresh(&self, node: &str) -> bool {
        self.node == node && clock::since(self.since) < ABSENT_FOR
    }
}

/// Device, inode and time of change.
type FileId = (u64, u64, i64);

#[derive(Clone)]
struct Rest {
    until: Instant,
    /// Which file was at the path then: another one is worth a try at once.
    file: Option<FileId>,
    why: NotLocal,
}

impl Endpoint {
    pub(super) fn new(path: PathBuf, how: SocketUse, client_name: String) -> Self {
        let to = path.clone();
        let connect = Box::new(move || connect(&to, how));
        let slots = Slots::new(connect, client_name);
        Self { path, how, slots, idle: Mutex::default(), state: Mutex::default() }
    }

    pub(super) fn exists(&self) -> bool {
        file_at(&self.path).is_some()
    }

    /// Notes that it is `node` that answers. (A look at the file costs 3 us: not with each replica.)
    pub(super) fn claim(&self, node: &str) {
        if self.state.lock().claim.as_ref().is_some_and(|claim| claim.is_fresh(node)) {
            return;
        }
        let file = file_at(&self.path);
        let claim = Claim { node: node.to_owned(), file, since: clock::now() };
        self.state.lock().claim = Some(claim);
    }

    /// The DataNode that is known to answer, for as long as the same file is at the path.
    pub(super) fn claimant(&self) -> Option<String> {
        let claim = self.state.lock().claim.clone();
        let Claim { node, file, .. } = claim?;
        (file.is_some() && file == file_at(&self.path)).then_some(node)
    }

    /// Whether the socket, and the DataNode `node` behind it, may be used now.
    pub(super) fn check(&self, node: &str) -> Result<(), NotLocal> {
        let mut state = self.state.lock();
        for who in ["", node] {
            let Some(rest) = state.rests.get(who) else { continue };
            if clock::now() < rest.until && file_at(&self.path) == rest.file {
                return Err(rest.why.clone());
            }
            state.rests.remove(who);
            state.failures.remove(who);
        }
        Ok(())
    }

    /// A fresh connection, for block data.
    pub(super) fn connect(&self) -> Result<DataStream, NotLocal> {
        connect(&self.path, self.how).map_err(|error| self.failed(error))
    }

    /// Asks for a replica of `node`.
    pub(super) fn request(&self, block: &LocatedBlock, node: &str) -> Result<Parts, OpenError> {
        let (slot, answer) = self.ask(block).map_err(OpenError::NotLocal)?;
        match answer {
            Answer::Files(data, meta) => {
                let mut state = self.state.lock();
                state.failures.remove("");
                state.failures.remove(node);
                Ok(Parts { data, meta, slot })
            }
            Answer::Refused { status, is_of_block, message } => {
                // The DataNode keeps no slot of a request that it refused.
                if let Some(slot) = slot {
                    slot.never_used();
                }
                Err(self.refused(node, status, is_of_block, message))
            }
        }
    }

    /// On a kept connection, or on a fresh one; a kept one may have gone stale. Each try has a slot of
    /// its own: the DataNode may have registered that of a request whose answer did not come.
    fn ask(&self, block: &LocatedBlock) -> Result<(Option<Slot>, Answer), NotLocal> {
        let on = |socket: DataStream, slot: Option<Slot>| -> io::Result<(Option<Slot>, Answer)> {
            let answer = talk::request_files(&socket, block, slot.as_ref().map(Slot::id))?;
            self.keep(socket);
            Ok((slot, answer))
        };
        let mut slot = self.take_slot()?;
        if let Some(kept) = self.take_idle() {
            match on(kept, slot) {
                Ok(asked) => return Ok(asked),
                Err(_) => slot = self.take_slot()?,
            }
        }
        match connect(&self.path, self.how) {
            Ok(fresh) => on(fresh, slot).map_err(|error| self.failed(error)),
            Err(error) => {
                if let Some(slot) = slot {
                    slot.never_used();
                }
                Err(self.failed(error))
            }
        }
    }

    fn take_slot(&self) -> Result<Option<Slot>, NotLocal> {
        self.slots.take().map_err(|why| match why {
            NoSlot::Failed(error) => self.failed(error),
            // Counted once, by the caller that asked.
            NoSlot::FailedForAnother(error) => self.reason(error),
        })
    }

    /// Closes connections that wait for their next request.
    pub(super) fn close_idle(&self) {
        self.idle.lock().clear();
    }

    fn take_idle(&self) -> Option<DataStream> {
        let mut idle = self.idle.lock();
        idle.retain(|(since, _)| clock::since(*since) < IDLE_FOR);
        Some(idle.pop()?.1)
    }

    fn keep(&self, socket: DataStream) {
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push((clock::now(), socket));
        }
    }

    fn failed(&self, error: io::Error) -> NotLocal {
        let why = self.reason(error);
        match why.reason {
            ReadReason::PathUnsafe | ReadReason::SocketAbsent => {
                self.rest("", ABSENT_FOR, why.clone());
                why
            }
            ReadReason::SocketFailed => self.count("", why),
            _ => why,
        }
    }

    fn reason(&self, error: io::Error) -> NotLocal {
        match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
            Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) => {
                NotLocal::new(ReadReason::DescriptorLimit, descriptor_limit(&error))
            }
            _ => self.reason_of_socket(&error),
        }
    }

    fn reason_of_socket(&self, error: &io::Error) -> NotLocal {
        if error.kind() == io::ErrorKind::PermissionDenied && error.get_ref().is_some() {
            return NotLocal::new(ReadReason::PathUnsafe, error.to_string());
        }
        let path = self.path.display();
        let is_absent = matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
        );
        if is_absent {
            let text = format!("nobody answers at the domain socket {path}: {error}");
            return NotLocal::new(ReadReason::SocketAbsent, text);
        }
        let text = format!("the domain socket {path} failed: {error}");
        NotLocal::new(ReadReason::SocketFailed, text)
    }

    fn refused(&self, node: &str, status: Status, is_of_block: bool, message: String) -> OpenError {
        if status == Status::ErrorAccessToken {
            return OpenError::Token(message);
        }
        let text = format!("the DataNode refused: {}: {message}", status.as_str_name());
        let why = NotLocal::new(ReadReason::Refused, text);
        if !is_of_block {
            // It has short-circuit reads switched off.
            self.rest("", self.how.disabled_for, why.clone());
            return OpenError::NotLocal(why);
        }
        OpenError::NotLocal(self.count(node, why))
    }

    /// Counts a failure; after some in a row there is a rest.
    fn count(&self, who: &str, why: NotLocal) -> NotLocal {
        let failures = {
            let mut state = self.state.lock();
            let failures = state.failures.entry(who.to_owned()).or_default();
            *failures += 1;
            *failures
        };
        if failures >= FAILURES_MAX && !self.how.disabled_for.is_zero() {
            let why = NotLocal::disabled(self.how.disabled_for, failures, &why);
            self.rest(who, self.how.disabled_for, why);
        }
        why
    }

    fn rest(&self, who: &str, time: Duration, why: NotLocal) {
        let until = clock::now() + time;
        let rest = Rest { until, file: file_at(&self.path), why };
        self.state.lock().rests.insert(who.to_owned(), rest);
    }
}

/// Which file is at `path`.
fn file_at(path: &Path) -> Option<FileId> {
    let file = std::fs::symlink_metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.ctime_nsec() ^ file.ctime()))
}

fn connect(path: &Path, how: SocketUse) -> io::Result<DataStream> {
    let socket = DataStream::connect_domain(path, how.timeout)?;
    socket.set_read_timeout(how.timeout)?;
    socket.set_write_timeout(how.timeout)?;
    let server = domain::peer(&socket)?;
    check_path(path, server.uid)?;
    Ok(socket)
}

/// A user who could put another socket at `path` could serve bytes of their own, with matching
/// checksums. So no directory above it may be changed by others than root, this user, and the user whose
/// process answers: that one is the DataNode, if the directories are as Hadoop wants them.
fn check_path(path: &Path, server: u32) -> io::Result<()> {
    let me = rustix::process::geteuid().as_raw();
    for component in path.ancestors().skip(1) {
        match domain::validate_component(path, component, server) {
            Err(found) if !matches!(found.problem, Problem::Owner(_)) || found.uid != me => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, found));
            }
            _ => {}
        }
    }
    Ok(())
}

fn descriptor_limit(error: &io::Error) -> String {
    format!("this process has too many files open (raise ulimit -n): {error}")
}
