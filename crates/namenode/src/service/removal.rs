//! Changes that remove a subtree, whose caller's permissions on it are checked in slices.

use super::answer::{Answer, synced};
use super::call::{ServiceCall, audit};
use crate::audit::Line;
use crate::ha::OperationCategory as Category;
use crate::retry::Remember;
use std::time::Duration;
use zerohop_namespace::{Namespace, OpContext, RemovalCheck, RenameOptions, Result};
use zerohop_system::clock;

/// Inodes looked at under one hold of the lock, and how long others have it after that.
const SLICE: usize = 1000;
const PAUSE: Duration = Duration::from_micros(500);

/// Deletes a path; false if it was not there.
pub(super) fn delete(call: &ServiceCall<'_>, path: &str, recursive: bool) -> Answer<bool> {
    remove_once(
        call,
        path.to_owned(),
        |path| Line::path("delete", path),
        move |namespace, op, path, check, max| {
            namespace.directories(op).try_delete(path, recursive, check, max)
        },
    )
}

/// `FileContext.rename`, to the trash among others.
pub(super) fn rename2(
    call: &ServiceCall<'_>,
    src: &str,
    dst: &str,
    options: RenameOptions,
) -> Answer<()> {
    remove_once(
        call,
        (src.to_owned(), dst.to_owned()),
        move |(src, dst)| Line::paths("rename", src, dst).with_options(options_of(options)),
        move |namespace, op, (src, dst), check, max| {
            namespace.directories(op).try_rename2(src, dst, options, check, max)
        },
    )
}

/// As Apache's audit log shows them.
fn options_of(options: RenameOptions) -> &'static str {
    match (options.overwrite, options.to_trash) {
        (false, false) => " (options=[NONE])",
        (true, false) => " (options=[OVERWRITE])",
        (false, true) => " (options=[TO_TRASH])",
        (true, true) => " (options=[OVERWRITE, TO_TRASH])",
    }
}

/// A removal that happens once: the same call sent again gets the first answer. `attempt` makes the change as soon as its
/// check has nothing left to look at; until then others get the lock between two slices of the check.
fn remove_once<Q, R>(
    call: &ServiceCall<'_>,
    request: Q,
    line: impl Fn(&Q) -> Line<'_> + Send + 'static,
    attempt: impl Fn(&mut Namespace, &OpContext, &Q, &mut RemovalCheck, usize) -> Result<Option<R>>
    + Send
    + 'static,
) -> Answer<R>
where
    Q: Send + 'static,
    R: Remember + Send + 'static,
{
    let (mut op, key) = (call.op(), call.caller.retry_key());
    let mut check = RemovalCheck::default();
    let first = |namespace: &mut Namespace| attempt(namespace, &op, &request, &mut check, SLICE);
    let (outcome, sync) = call.core.write_once(key, first);
    if let Some(outcome) = outcome.transpose() {
        call.audit(&outcome, line(&request));
        return Answer::after(outcome, sync);
    }
    let (core, caller) = (call.core.clone(), call.caller.clone());
    Answer::later(async move {
        let (outcome, sync) = loop {
            clock::sleep(PAUSE).await;
            let slice =
                |namespace: &Namespace| namespace.subtrees(&op).continue_check(&mut check, SLICE);
            match core.read_as(Category::Write, slice) {
                Ok(true) => continue,
                Ok(false) => op.now = core.clock.now(),
                Err(refused) => break (Err(refused), None),
            }
            let again =
                |namespace: &mut Namespace| attempt(namespace, &op, &request, &mut check, SLICE);
            let (outcome, sync) = core.write_once(key, again);
            if let Some(outcome) = outcome.transpose() {
                break (outcome, sync);
            }
        };
        audit(&core, &caller, &outcome, line(&request));
        if let Some(sync) = sync {
            synced(sync).await?;
        }
        outcome
    })
}
