//! The end of an append that becomes durable after the call.

use crate::error::JournalError;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Whether records are durable: known at once, or later.
#[derive(Debug)]
#[must_use = "records are durable only when the completion says so"]
pub struct Completion(Option<Awaited>);

/// Records on their way.
#[derive(Debug)]
struct Awaited {
    outcome: Receiver<Result<(), JournalError>>,
    /// How long they may take.
    patience: Option<Duration>,
}

/// Tells the [`Completion`] how an append ended. Dropped without a word, the append has failed.
#[derive(Debug)]
pub struct Completer(SyncSender<Result<(), JournalError>>);

impl Completion {
    /// Of records that are durable already.
    pub fn done() -> Self {
        Self(None)
    }

    /// Of records that are on their way.
    pub fn pending() -> (Completer, Self) {
        Self::pending_for(None)
    }

    /// Of records that count as lost if they are not durable within `patience` of the call of [`Self::wait`].
    pub fn pending_within(patience: Duration) -> (Completer, Self) {
        Self::pending_for(Some(patience))
    }

    fn pending_for(patience: Option<Duration>) -> (Completer, Self) {
        let (sender, outcome) = sync_channel(1);
        (Completer(sender), Self(Some(Awaited { outcome, patience })))
    }

    /// Blocks until the records are durable.
    ///
    /// # Errors
    /// If they may not be: the journal must not be used any more.
    pub fn wait(self) -> Result<(), JournalError> {
        match self.0 {
            None => Ok(()),
            Some(Awaited { outcome, patience: None }) => {
                outcome.recv().unwrap_or(Err(JournalError::GivenUp))
            }
            Some(Awaited { outcome, patience: Some(patience) }) => {
                outcome.recv_timeout(patience).unwrap_or_else(|error| match error {
                    RecvTimeoutError::Timeout => Err(JournalError::TimedOut(patience)),
                    RecvTimeoutError::Disconnected => Err(JournalError::GivenUp),
                })
            }
        }
    }
}

impl Completer {
    /// The append has ended.
    pub fn complete(self, outcome: Result<(), JournalError>) {
        // Where the writer has gone, it is not asked for any more.
        _ = self.0.send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_append_ends_when_its_journal_says_so_and_fails_when_it_says_nothing() {
        Completion::done().wait().unwrap();
        let (completer, completion) = Completion::pending();
        let waits = std::thread::spawn(move || completion.wait());
        completer.complete(Ok(()));
        waits.join().unwrap().unwrap();
        let (_completer, completion) = Completion::pending_within(Duration::from_millis(1));
        assert!(matches!(completion.wait(), Err(JournalError::TimedOut(_))));
        let (completer, completion) = Completion::pending();
        drop(completer);
        assert!(matches!(completion.wait(), Err(JournalError::GivenUp)));
    }
}
