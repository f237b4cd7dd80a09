//! How a call is carried out: the namespace's lock, the audit log, the retry cache, the wait for the edit log.

use super::answer::{Answer, Outcome, synced};
use super::caller::Caller;
use crate::audit::{self, Line};
use crate::call_error::CallError;
use crate::core::Core;
use crate::ha::{HaState, OperationCategory as Category};
use crate::retry::Remember;
use std::sync::Arc;
use zerohop_namespace::{Namespace, OpContext, Result, SubtreeWalk, View};
use zerohop_system::clock;
use zerohop_wire::BlockId;

/// A call of ClientProtocol by one caller.
pub(crate) struct ServiceCall<'a> {
    pub(super) core: &'a Arc<Core>,
    pub(super) caller: Caller,
}

impl<'a> ServiceCall<'a> {
    pub(super) fn new(core: &'a Arc<Core>, caller: Caller) -> Self {
        Self { core, caller }
    }

    /// The caller as the namespace sees it, now.
    pub(super) fn op(&self) -> OpContext {
        self.caller.op_context(self.core)
    }

    /// Refuses every caller but the superuser and members of the supergroup.
    pub(super) fn check_superuser(&self) -> Outcome<()> {
        Ok(self.core.check_superuser(&self.op())?)
    }

    pub(super) fn audit<R>(&self, outcome: &Outcome<R>, line: Line<'_>) {
        audit(self.core, &self.caller, outcome, line);
    }

    /// Looks at the namespace; any number of readers at once.
    pub(super) fn read<R: 'static>(
        &self,
        line: Line<'_>,
        look: impl FnOnce(&Namespace, &OpContext) -> Result<R>,
    ) -> Answer<R> {
        self.read_as(Category::Read, line, look)
    }

    /// As `read`, of what the caller may see.
    pub(super) fn view<R: 'static>(
        &self,
        line: Line<'_>,
        look: impl FnOnce(View<'_>) -> Result<R>,
    ) -> Answer<R> {
        self.read(line, |namespace, op| look(namespace.view(op)))
    }

    /// As `view`, of blocks' locations: an observer sends its caller to the active NameNode where it knows of no replica yet.
    /// `lacks` names the path of what has such a block.
    pub(super) fn view_located<R: 'static>(
        &self,
        line: Line<'_>,
        look: impl FnOnce(View<'_>) -> Result<R>,
        lacks: impl FnOnce(&R) -> Option<String>,
    ) -> Answer<R> {
        let op = self.op();
        let outcome = self.core.read_as(Category::Read, |namespace| {
            let found = look(namespace.view(&op))?;
            let lacking = match self.core.ha.state() {
                HaState::Observer => lacks(&found),
                HaState::Active | HaState::Standby => None,
            };
            Ok((found, lacking))
        });
        let outcome = outcome.and_then(|(found, lacking)| match lacking {
            None => Ok(found),
            Some(path) => Err(CallError::NoLocationsYet { path }),
        });
        self.audit(&outcome, line);
        Answer::Ready(outcome)
    }

    /// A change that may be repeated without harm.
    pub(super) fn change<R: 'static>(
        &self,
        line: Line<'_>,
        change: impl FnOnce(&mut Namespace, &OpContext) -> Result<R>,
    ) -> Answer<R> {
        self.change_as(Category::Write, line, change)
    }

    /// A change that happens once: the same call sent again gets the first answer.
    pub(super) fn change_once<R: Remember + 'static>(
        &self,
        line: Line<'_>,
        change: impl FnOnce(&mut Namespace, &OpContext) -> Result<R>,
    ) -> Answer<R> {
        let op = self.op();
        let key = self.caller.retry_key();
        let (outcome, sync) = self.core.write_once(key, |namespace| change(namespace, &op));
        self.audit(&outcome, line);
        Answer::after(outcome, sync)
    }

    /// A question about a subtree. The caller's permissions on it are checked in slices, and others get the lock between
    /// two of them.
    pub(super) fn walk<R: Default + 'static>(
        &self,
        command: &'static str,
        path: &str,
        begin: impl FnOnce(&Namespace, &OpContext) -> Result<SubtreeWalk>,
        end: impl Fn(&Namespace, &SubtreeWalk) -> Result<R> + Send + 'static,
    ) -> Answer<R> {
        let op = self.op();
        let slice_max = self.core.settings.walk_slice;
        let slice = move |namespace: &Namespace, op: &OpContext, walk: &mut SubtreeWalk| {
            let is_unfinished = namespace.subtrees(op).walk_on(walk, slice_max)?;
            if is_unfinished { Ok(None) } else { end(namespace, walk).map(Some) }
        };
        let begun = self.core.read_as(Category::Read, |namespace| {
            let mut walk = begin(namespace, &op)?;
            let answer = slice(namespace, &op, &mut walk)?;
            Ok((walk, answer))
        });
        let mut walk = match begun {
            Ok((walk, None)) => walk,
            done => {
                let outcome = done.map(|(_, answer)| answer.unwrap_or_default());
                let line = Line::path(command, path);
                self.audit(&outcome, line);
                return Answer::Ready(outcome);
            }
        };
        let (core, caller, path) = (self.core.clone(), self.caller.clone(), path.to_owned());
        Answer::later(async move {
            let outcome = loop {
                clock::sleep(core.settings.walk_pause).await;
                let answer = core.read_as(Category::Read, |names| slice(names, &op, &mut walk));
                if let Some(outcome) = answer.transpose() {
                    break outcome;
                }
            };
            audit(&core, &caller, &outcome, Line::path(command, &path));
            outcome
        })
    }

    /// A change whose answer depends on a DataNode's report that is on its way. Where `lacks` names a block, the call is
    /// held until that block is complete and tried again, up to the time in the settings: Apache's client, if it were
    /// refused, would sleep for 400 ms.
    pub(super) fn held<Q, R>(
        &self,
        request: Q,
        line: impl Fn(&Q) -> Line<'_> + Send + 'static,
        attempt: impl Fn(&mut Namespace, &OpContext, &Q) -> Result<R> + Send + 'static,
        lacks: impl Fn(&Namespace, &Q, &Outcome<R>) -> Option<BlockId> + Send + 'static,
    ) -> Answer<R>
    where
        Q: Send + 'static,
        R: Send + 'static,
    {
        let mut op = self.op();
        let attempt = move |core: &Core, op: &OpContext, request: &Q| {
            core.write(|namespace| {
                let allowed = core.ha.check(Category::Write);
                let outcome = allowed
                    .map_err(CallError::from)
                    .and_then(|()| Ok(attempt(namespace, op, request)?));
                let lacking = lacks(namespace, request, &outcome);
                (outcome, lacking.map(|block| core.waiters.wait_for(block)))
            })
        };
        let ((outcome, wait), sync) = attempt(self.core, &op, &request);
        let Some(wait) = wait else {
            self.audit(&outcome, line(&request));
            let sync = sync.or_else(|| outcome.is_ok().then(|| self.core.log().barrier()));
            return Answer::after(outcome, sync);
        };
        let (core, caller) = (self.core.clone(), self.caller.clone());
        Answer::later(async move {
            let end = clock::runtime_now() + core.settings.held_max;
            let (mut wait, mut sync) = (wait, sync);
            let outcome = loop {
                let in_time = wait.woken_before(end).await;
                op.now = core.clock.now();
                let ((outcome, next), later) = attempt(&core, &op, &request);
                // Edits are synced in order: the later sync covers the first.
                sync = later.or(sync);
                match next {
                    Some(next) if in_time => wait = next,
                    _ => break outcome,
                }
            };
            audit(&core, &caller, &outcome, line(&request));
            let sync = sync.or_else(|| outcome.is_ok().then(|| core.log().barrier()));
            if let Some(sync) = sync {
                synced(sync).await?;
            }
            outcome
        })
    }

    /// Looks at the namespace, where the state allows the category.
    pub(super) fn read_as<R: 'static>(
        &self,
        category: Category,
        line: Line<'_>,
        look: impl FnOnce(&Namespace, &OpContext) -> Result<R>,
    ) -> Answer<R> {
        let op = self.op();
        let outcome = self.core.read_as(category, |namespace| look(namespace, &op));
        self.audit(&outcome, line);
        Answer::Ready(outcome)
    }

    /// Changes the namespace, where the state allows the category.
    pub(super) fn change_as<R: 'static>(
        &self,
        category: Category,
        line: Line<'_>,
        change: impl FnOnce(&mut Namespace, &OpContext) -> Result<R>,
    ) -> Answer<R> {
        let op = self.op();
        let (outcome, sync) = self.core.write_as(category, |namespace| change(namespace, &op));
        let sync = sync.or_else(|| outcome.is_ok().then(|| self.core.log().barrier()));
        self.audit(&outcome, line);
        Answer::after(outcome, sync)
    }
}

pub(super) fn audit<R>(core: &Core, caller: &Caller, outcome: &Outcome<R>, line: Line<'_>) {
    // Nothing was done here: the NameNode that does it logs it.
    if matches!(outcome, Err(CallError::NotAllowed(_) | CallError::NoLocationsYet { .. })) {
        return;
    }
    if outcome.is_ok() {
        core.activity.count(line.cmd);
    }
    if let Some(origin) = caller.origin() {
        let now_ms = core.clock.now().mono_ms;
        core.top_users.count(origin.identity.user(), line.cmd, now_ms);
        if let Some(path) = line.src {
            core.hot_directories.count(path, now_ms);
        }
    }
    let changed = |path: &str| owner_and_mode(core, line.src, path);
    audit::log(&core.adjustable().audit, &caller.origin(), outcome, line, changed);
}

/// `owner:group:rwxr-xr-x` of what a command has changed, a moment after it. What was renamed into a directory is in it.
fn owner_and_mode(core: &Core, src: Option<&str>, path: &str) -> Option<String> {
    let op = OpContext::internal(core.clock.now());
    let name = src.and_then(|src| src.rsplit('/').next()).unwrap_or_default();
    let found = core.read(|namespace| {
        let info = |path: &str| namespace.view(&op).file_link_info(path).ok().flatten();
        let at = info(path)?;
        let is_renamed = src.is_some_and(|src| src != path);
        let within = (is_renamed && at.is_dir()).then(|| info(&format!("{path}/{name}")));
        Some(within.flatten().unwrap_or(at))
    })?;
    let mode = zerohop_namespace::symbolic_mode(found.permission);
    Some(format!("{}:{}:{mode}", found.owner, found.group))
}

/// Does work that blocks on a thread of its own.
pub(super) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Outcome<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(CallError::failed)
}
