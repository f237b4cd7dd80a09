//! Deletions that NameNodes ordered: full reports wait for them.
//!
//! A NameNode that takes over does not know what the one before it ordered. A replica that is
//! reported and deleted afterwards may be the one it counts on when it has another deleted.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Orders to delete that are not carried out yet.
#[derive(Default)]
pub(crate) struct Deletions(watch::Sender<usize>);

/// An order under way, until it is dropped.
pub(crate) struct Deletion(Arc<Deletions>);

impl Deletions {
    /// Counts an order, from before anything else is heard of its NameNode.
    pub(crate) fn begin(self: &Arc<Self>) -> Deletion {
        self.0.send_modify(|count| *count += 1);
        Deletion(Arc::clone(self))
    }

    /// Waits until none is under way; false if that took too long.
    pub(crate) async fn carried_out(&self, patience: Duration) -> bool {
        let mut count = self.0.subscribe();
        tokio::time::timeout(patience, count.wait_for(|count| *count == 0)).await.is_ok()
    }
}

impl Drop for Deletion {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_report_waits_for_deletions_but_not_for_ever() {
        let deletions = Arc::<Deletions>::default();
        assert!(deletions.carried_out(Duration::ZERO).await);
        let (first, second) = (deletions.begin(), deletions.begin());
        drop(first);
        assert!(!deletions.carried_out(Duration::ZERO).await);
        let waiting = deletions.carried_out(Duration::from_secs(60));
        let (is_carried_out, ()) = tokio::join!(waiting, async { drop(second) });
        assert!(is_carried_out);
    }
}
