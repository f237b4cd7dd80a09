//! The processes that a command of ours started, and those that they started.

use std::collections::{HashMap, HashSet};
use std::time::Duration;
use zerohop_system::clock;

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

use crate::stop::Cause;

/// A terminal tells all its processes, as `timeout` and service managers do. A second signal would end
/// them in the middle of what they put in order, so they get this long before they are told by us.
const TOLD_BY_OTHERS: Duration = Duration::from_secs(1);
/// How long they get after they were told to end; `fs` takes 15 s at most to leave its files in order.
const GRACE: Duration = Duration::from_secs(20);
/// What was killed is gone as soon as the kernel has time for it.
const KILLED: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(10);

/// All that runs below this process but what did so before.
#[derive(Clone)]
pub struct Descendants {
    /// A shell that became this process by `exec` may have had children.
    before: HashSet<Pid>,
}

impl Descendants {
    /// Those that are started from here on.
    pub fn from_now() -> Self {
        Self { before: all(&HashSet::new()).into_iter().collect() }
    }

    /// All that runs below this process.
    pub fn everything() -> Self {
        Self { before: HashSet::new() }
    }

    /// Asks all of them to end, and makes those that do not. `cause`: the signal that ended us, if one did.
    pub async fn end_all(self, cause: Option<Cause>) {
        adopt();
        if cause.is_some() && self.gone_within(TOLD_BY_OTHERS).await {
            return;
        }
        // Once: what they start now puts things in order.
        self.tell_new(Signal::TERM, &mut HashSet::new());
        if !self.gone_within(GRACE).await {
            self.kill_all();
            self.gone_within(KILLED).await;
        }
    }

    /// Makes all of them end at once.
    pub fn kill_all(&self) {
        adopt();
        // Those of a process that was killed before it was seen to have them are ours then.
        let mut told = HashSet::new();
        while self.tell_new(Signal::KILL, &mut told) > 0 {}
    }

    /// Waits until none is left; false if some are after `limit`.
    async fn gone_within(&self, limit: Duration) -> bool {
        let start = clock::now();
        while !all(&self.before).is_empty() {
            if clock::since(start) > limit {
                return false;
            }
            clock::sleep(POLL).await;
        }
        true
    }

    /// Tells those that were not told before; how many these are.
    fn tell_new(&self, signal: Signal, told: &mut HashSet<Pid>) -> usize {
        let all = all(&self.before).into_iter();
        let new: Vec<Pid> = all.filter(|pid| told.insert(*pid)).collect();
        for pid in &new {
            // It may have ended meanwhile, or be another user's.
            let _ = kill_process(*pid, signal);
        }
        new.len()
    }
}

/// From here on, who loses its parent becomes our child, and can be found.
fn adopt() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Those that have not ended, without `others` and what these started.
fn all(others: &HashSet<Pid>) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in procfs::process::all_processes().into_iter().flatten().flatten() {
        let Ok(stat) = process.stat() else { continue };
        // One that has ended stays there until its parent asks for its exit code.
        if !matches!(stat.state, 'Z' | 'X') {
            children.entry(stat.ppid).or_default().push(stat.pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        let pids = children.remove(&parent).unwrap_or_default().into_iter();
        for child in pids.filter_map(Pid::from_raw).filter(|child| !others.contains(child)) {
            found.push(child);
            next.push(child.as_raw_nonzero().get());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn children_of_children_are_found() {
        let script = "sleep 60 & echo $!; wait";
        let mut shell = Command::new("/bin/sh");
        let mut shell = shell.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = [0; 16];
        let len = shell.stdout.take().unwrap().read(&mut line).unwrap();
        let pid: i32 = std::str::from_utf8(&line[..len]).unwrap().trim().parse().unwrap();
        let found = all(&HashSet::new());
        let after = Descendants::from_now();
        let sleep = Pid::from_raw(pid).unwrap();
        let left_out = !all(&after.before).contains(&sleep);
        kill_process(sleep, Signal::KILL).unwrap();
        shell.wait().unwrap();
        assert!(left_out, "it ran before");
        assert!(found.contains(&sleep) && found.len() >= 2, "{found:?}");
    }
}
