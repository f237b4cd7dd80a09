//! From request bytes to an answer: reads answer at once, changes when their edits are synced.

use crate::audit::{self, Line};
use crate::core::Core;
use crate::message::{decode, encode};
use crate::retry::CallKey;
use crate::storage::Ticket;
use bytes::Bytes;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;
use zerohop_namespace::{Namespace, OpContext, SubtreeWalk};
use zerohop_proto::Checked;
use zerohop_transport::groups::GroupList;
use zerohop_transport::rpc::server::{CallContext, Gate, Reply};
use zerohop_wire::BlockId;
use zerohop_wire::{JavaException, RemoteException};

/// What a method gives: a message, or the exception its caller gets.
pub(crate) type Outcome<R> = Result<R, RemoteException>;

/// One call on its way: who asks, and the request still encoded.
pub(crate) struct Call<'a> {
    pub(crate) core: &'a Arc<Core>,
    pub(crate) context: CallContext,
    /// The caller's groups.
    pub(crate) groups: GroupList,
    pub(crate) param: Bytes,
}

/// An answer that leaves when the ticket is synced.
pub(crate) fn when_synced(result: Outcome<Bytes>, ticket: Option<Ticket>) -> Reply {
    match ticket {
        None => Reply::Now(result),
        Some(ticket) if ticket.is_synced() => Reply::Now(result),
        Some(ticket) => Reply::Gated(result, Box::new(Synced(ticket))),
    }
}

/// Opens when the edits of an answer are on disk.
struct Synced(Ticket);

impl Gate for Synced {
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<Outcome<()>> {
        let synced = Pin::new(&mut self.0).poll(context);
        synced.map_err(|error| JavaException::Io.with(error.to_string()))
    }
}

pub(crate) async fn synced(ticket: Ticket) -> Outcome<()> {
    ticket.synced().await.map_err(|error| JavaException::Io.with(error.to_string()))
}

fn audit<R>(core: &Core, context: &CallContext, result: &Outcome<R>, line: Line<'_>) {
    if audit::is_on() {
        let denied = matches!(result, Err(e) if e.class == JavaException::AccessControl.class());
        audit::log(core.settings.audited_callers, context, !denied, line);
    }
}

impl Call<'_> {
    /// The caller as the namespace sees it.
    pub(crate) fn op_context(&self) -> OpContext {
        self.core.op_context(&self.context, self.groups.clone())
    }

    fn audit<R>(&self, result: &Outcome<R>, line: Line<'_>) {
        audit(self.core, &self.context, result, line);
    }

    /// A question that needs only the caller.
    pub(crate) fn ask<Q: Checked, R: prost::Message>(
        self,
        answer: impl FnOnce(&Core, &OpContext, Q) -> Outcome<R>,
    ) -> Reply {
        let op = self.op_context();
        let result = decode(self.param).and_then(|request| answer(self.core, &op, request));
        Reply::Now(result.map(|message| encode(&message)))
    }

    /// A question to the namespace.
    pub(crate) fn read<Q: Checked, R: prost::Message>(
        self,
        line: impl FnOnce(&Q) -> Line<'_>,
        look: impl FnOnce(&Namespace, &OpContext, &Q) -> Outcome<R>,
    ) -> Reply {
        let request = match decode::<Q>(self.param.clone()) {
            Ok(request) => request,
            Err(error) => return Reply::Now(Err(error)),
        };
        let op = self.op_context();
        let result = self.core.read(|namespace| look(namespace, &op, &request));
        self.audit(&result, line(&request));
        Reply::Now(result.map(|message| encode(&message)))
    }

    /// A question about a subtree: the caller's permissions on it are checked in slices, and others get the lock in
    /// between.
    pub(crate) fn walk<Q, R>(
        self,
        line: impl Fn(&Q) -> Line<'_> + Send + 'static,
        begin: impl FnOnce(&Namespace, &OpContext, &Q) -> Outcome<SubtreeWalk>,
        end: impl Fn(&Namespace, &SubtreeWalk) -> Outcome<R> + Send + 'static,
    ) -> Reply
    where
        Q: Checked + Send + 'static,
        R: prost::Message + Default + 'static,
    {
        let request = match decode::<Q>(self.param.clone()) {
            Ok(request) => request,
            Err(error) => return Reply::Now(Err(error)),
        };
        let op = self.op_context();
        let slice_max = self.core.settings.walk_slice;
        let slice = move |namespace: &Namespace, op: &OpContext, walk: &mut SubtreeWalk| {
            let is_unfinished = namespace.walk_on(op, walk, slice_max)?;
            if is_unfinished { Ok(None) } else { end(namespace, walk).map(Some) }
        };
        let begun = self.core.read(|namespace| {
            let mut walk = begin(namespace, &op, &request)?;
            let answer = slice(namespace, &op, &mut walk)?;
            Ok((walk, answer))
        });
        let mut walk = match begun {
            Ok((walk, None)) => walk,
            done => {
                let result = done.map(|(_, answer)| answer.unwrap_or_default());
                self.audit(&result, line(&request));
                return Reply::Now(result.map(|message| encode(&message)));
            }
        };
        let (core, context) = (self.core.clone(), self.context.clone());
        Reply::later(async move {
            let result = loop {
                tokio::time::sleep(core.settings.walk_pause).await;
                let answer = core.read(|namespace| slice(namespace, &op, &mut walk));
                if let Some(result) = answer.transpose() {
                    break result;
                }
            };
            audit(&core, &context, &result, line(&request));
            result.map(|message| encode(&message))
        })
    }

    /// A change that may be repeated without harm.
    pub(crate) fn write<Q: Checked, R: prost::Message>(
        self,
        line: impl FnOnce(&Q) -> Line<'_>,
        change: impl FnOnce(&mut Namespace, &OpContext, &Q) -> Outcome<R>,
    ) -> Reply {
        self.change(None, line, change)
    }

    /// A change that happens once: the same call sent again gets the first answer.
    pub(crate) fn write_once<Q: Checked, R: prost::Message>(
        self,
        line: impl FnOnce(&Q) -> Line<'_>,
        change: impl FnOnce(&mut Namespace, &OpContext, &Q) -> Outcome<R>,
    ) -> Reply {
        let key = CallKey::new(&self.context.client_id, self.context.call_id);
        self.change(key, line, change)
    }

    fn change<Q: Checked, R: prost::Message>(
        self,
        key: Option<CallKey>,
        line: impl FnOnce(&Q) -> Line<'_>,
        change: impl FnOnce(&mut Namespace, &OpContext, &Q) -> Outcome<R>,
    ) -> Reply {
        let request = match decode::<Q>(self.param.clone()) {
            Ok(request) => request,
            Err(error) => return Reply::Now(Err(error)),
        };
        let op = self.op_context();
        let (result, ticket) = self.core.write_once(key, |namespace| {
            change(namespace, &op, &request).map(|message| encode(&message))
        });
        self.audit(&result, line(&request));
        when_synced(result, ticket)
    }

    /// A change whose answer depends on a DataNode's report that is on its way: where `lacks` names a block, it is held
    /// until that one is complete and tried again, for so long as the settings say.
    pub(crate) fn held<Q, R>(
        self,
        line: impl Fn(&Q) -> Line<'_> + Send + 'static,
        attempt: impl Fn(&mut Namespace, &OpContext, &Q) -> Outcome<R> + Send + 'static,
        lacks: impl Fn(&Namespace, &Q, &Outcome<R>) -> Option<BlockId> + Send + 'static,
    ) -> Reply
    where
        Q: Checked + Send + 'static,
        R: prost::Message + 'static,
    {
        let request = match decode::<Q>(self.param.clone()) {
            Ok(request) => request,
            Err(error) => return Reply::Now(Err(error)),
        };
        let mut op = self.op_context();
        let attempt = move |core: &Core, op: &OpContext, request: &Q| {
            core.write(|namespace| {
                let result = attempt(namespace, op, request);
                let lacking = lacks(namespace, request, &result);
                (result, lacking.map(|block| core.waiters.wait_for(block)))
            })
        };
        let ((result, wait), ticket) = attempt(self.core, &op, &request);
        let Some(wait) = wait else {
            self.audit(&result, line(&request));
            let ticket = ticket.or_else(|| result.is_ok().then(|| self.core.log.barrier()));
            return when_synced(result.map(|message| encode(&message)), ticket);
        };
        let (core, context) = (self.core.clone(), self.context.clone());
        Reply::later(async move {
            let end = Instant::now() + core.settings.held_max;
            let (mut wait, mut ticket) = (wait, ticket);
            let result = loop {
                let in_time = wait.woken_before(end).await;
                op.now = core.clock.now();
                let ((result, next), later) = attempt(&core, &op, &request);
                // Edits are synced in order: the later ticket covers the first.
                ticket = later.or(ticket);
                match next {
                    Some(next) if in_time => wait = next,
                    _ => break result,
                }
            };
            audit(&core, &context, &result, line(&request));
            let ticket = ticket.or_else(|| result.is_ok().then(|| core.log.barrier()));
            if let Some(ticket) = ticket {
                synced(ticket).await?;
            }
            result.map(|message| encode(&message))
        })
    }
}
