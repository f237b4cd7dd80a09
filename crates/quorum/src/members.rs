//! The JournalNodes of a journal, asked together.

use crate::address::{NamespaceInfo, QuorumAddress};
use crate::journal_node::Refusal;
use crate::majority::{NoMajority, wait_for_all, wait_for_majority};
use crate::options::QuorumOptions;
use crate::session::{Queue, Session, WriterState};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use zerohop_journal::JournalError;
use zerohop_system::clock;

/// The JournalNodes of a journal, with a queue for each.
pub(crate) struct Members {
    pub(crate) address: QuorumAddress,
    pub(crate) info: NamespaceInfo,
    pub(crate) options: QuorumOptions,
    pub(crate) queues: Vec<Queue>,
    pub(crate) writer: Arc<WriterState>,
}

impl Members {
    /// Queues a call for each, whose answers come with the number of the JournalNode.
    fn queue<T: Send + 'static>(
        &self,
        call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Receiver<(usize, Result<T, Refusal>)> {
        let (sender, answers) = channel();
        for (number, queue) in self.queues.iter().enumerate() {
            let (sender, call) = (sender.clone(), call.clone());
            queue.call(move |session| {
                // The caller may have had enough answers already.
                let _ = sender.send((number, call(session)));
            });
        }
        answers
    }

    /// Asks all, and waits for a majority.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        what: &'static str,
        patience: Duration,
        call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<(usize, T)>, NoMajority> {
        wait_for_majority(what, self.queues.len(), &self.queue(call), patience)
    }

    /// Like [`Self::ask`], but collects further answers until each has answered or the time is over.
    pub(crate) fn ask_every<T: Send + 'static>(
        &self,
        what: &'static str,
        patience: Duration,
        call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<(usize, T)>, NoMajority> {
        wait_for_all(what, self.queues.len(), &self.queue(call), patience)
    }

    /// Like [`Self::ask`], but drops the question for JournalNodes whose turn comes after a majority has answered. Otherwise
    /// questions would gather before a JournalNode that hangs.
    pub(crate) fn question<T: Send + 'static>(
        &self,
        what: &'static str,
        patience: Duration,
        question: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<(usize, T)>, NoMajority> {
        let is_open = Arc::new(());
        self.ask(what, patience, while_open(&is_open, question))
    }

    /// Like [`Self::ask_every`], but drops the question as [`Self::question`] does.
    pub(crate) fn question_every<T: Send + 'static>(
        &self,
        what: &'static str,
        patience: Duration,
        question: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<(usize, T)>, NoMajority> {
        let is_open = Arc::new(());
        self.ask_every(what, patience, while_open(&is_open, question))
    }

    /// Asks all, and waits for all of them. After a failure the call is dropped for JournalNodes whose turn has not come: it must not
    /// happen after the caller has given up.
    pub(crate) fn ask_all<T: Send + 'static>(
        &self,
        what: &'static str,
        call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<T>, JournalError> {
        let is_open = Arc::new(());
        let answers = self.queue(while_open(&is_open, call));
        let deadline = clock::now() + self.options.format;
        let answer = |_| {
            let rest = deadline.saturating_duration_since(clock::now());
            let answer = answers.recv_timeout(rest);
            let answer = answer.map_err(|_| self.failed(format!("{what}: no answer in time")))?;
            answer.1.map_err(|error| self.failed(format!("{what}: {error}")))
        };
        self.queues.iter().map(answer).collect()
    }

    pub(crate) fn failed(&self, error: impl std::fmt::Display) -> JournalError {
        JournalError::NoQuorum { reason: format!("{}: {error}", self.name()) }
    }

    pub(crate) fn name(&self) -> String {
        format!("qjournal://{}/{}", self.address.nodes.join(";"), self.address.journal)
    }
}

/// Wraps a call so that it is refused once `is_open` is dropped.
fn while_open<T>(
    is_open: &Arc<()>,
    call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
) -> impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static {
    let is_open = Arc::downgrade(is_open);
    move |session: &mut Session| match is_open.upgrade() {
        Some(_) => call(session),
        None => Err(session.node.refusal("it was not asked: the caller no longer waits")),
    }
}
