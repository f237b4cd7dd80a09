//! The end of an append that becomes durable after the call.

use crate::error::JournalError;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Whether records are durable: known at once, or later.
#[derive(Debug)]
#[must_use = "records are durable only when the completion says so"]
pub struct Completion(Option<Receiver<Result<(), JournalError>>>);

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
        let (sender, receiver) = sync_channel(1);
        (Completer(sender), Self(Some(receiver)))
    }

    /// Blocks until the records are durable.
    ///
    /// # Errors
    /// If they may not be: the journal must not be used any more.
    pub fn wait(self) -> Result<(), JournalError> {
        match self.0 {
            None => Ok(()),
            Some(receiver) => receiver.recv().unwrap_or(Err(JournalError::GivenUp)),
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
        let (completer, completion) = Completion::pending();
        drop(completer);
        assert!(matches!(completion.wait(), Err(JournalError::GivenUp)));
    }
}
