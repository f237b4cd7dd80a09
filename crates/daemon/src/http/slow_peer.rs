//! Peers that move too few bytes while they are waited for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};
use zerohop_system::clock;

/// How slow a peer may be.
#[derive(Clone, Copy, Debug)]
pub struct MinimumRate {
    /// Bytes a second; 0 means that there is no minimum.
    pub bytes_per_s: u64,
    /// So long a peer is waited for before its rate is looked at, and then each time again.
    pub grace: Duration,
}

impl MinimumRate {
    /// No minimum.
    pub const NONE: Self = Self { bytes_per_s: 0, grace: Duration::ZERO };

    fn bytes_in_grace(self) -> u64 {
        let bytes = u128::from(self.bytes_per_s) * self.grace.as_millis() / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// What a peer has moved in one direction, in the time that it was waited for. Time in which nothing is wanted of it does not
/// count.
pub(super) struct SlowPeer {
    rate: MinimumRate,
    /// Waited since the rate was last looked at, without the wait that is under way.
    waited: Duration,
    since: Option<Instant>,
    /// Bytes that had moved when the rate was last looked at.
    moved_before: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl SlowPeer {
    pub(super) fn new(rate: MinimumRate) -> Self {
        Self { rate, waited: Duration::ZERO, since: None, moved_before: 0, timer: None }
    }

    /// The peer is not waited for.
    pub(super) fn stop_waiting(&mut self) {
        if let Some(since) = self.since.take() {
            self.waited += clock::runtime_now() - since;
        }
    }

    /// The peer is waited for; ready when it was too slow. `moved`: bytes that it has moved since the beginning.
    pub(super) fn poll_too_slow(
        &mut self,
        context: &mut Context<'_>,
        moved: impl Fn() -> u64,
    ) -> Poll<()> {
        if self.rate.bytes_per_s == 0 {
            return Poll::Pending;
        }
        loop {
            let now = clock::runtime_now();
            if self.since.is_none() && self.waited.is_zero() {
                self.moved_before = moved();
            }
            let since = *self.since.get_or_insert(now);
            let until = since + self.rate.grace.saturating_sub(self.waited);
            let timer = self.timer.get_or_insert_with(|| Box::pin(clock::sleep(until - now)));
            if timer.deadline() != until {
                timer.as_mut().reset(until);
            }
            ready!(timer.as_mut().poll(context));
            let moved = moved();
            if moved.saturating_sub(self.moved_before) < self.rate.bytes_in_grace() {
                return Poll::Ready(());
            }
            (self.moved_before, self.waited, self.since) = (moved, Duration::ZERO, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::poll_fn;

    const RATE: MinimumRate = MinimumRate { bytes_per_s: 100, grace: Duration::from_secs(10) };

    async fn seconds(seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Whether the peer is found too slow within some time.
    async fn is_too_slow(peer: &mut SlowPeer, moved: &Cell<u64>, within: u64) -> bool {
        let wait = poll_fn(|context| peer.poll_too_slow(context, || moved.get()));
        tokio::time::timeout(Duration::from_secs(within), wait).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn only_time_in_which_the_peer_is_waited_for_counts() {
        let (mut peer, moved) = (SlowPeer::new(RATE), Cell::new(0));
        for _ in 0..4 {
            assert!(!is_too_slow(&mut peer, &moved, 2).await);
            peer.stop_waiting();
            seconds(60).await;
        }
        assert!(is_too_slow(&mut peer, &moved, 3).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_at_the_minimum_is_waited_for_as_long_as_it_takes() {
        let (mut peer, moved) = (SlowPeer::new(RATE), Cell::new(0));
        for _ in 0..100 {
            assert!(!is_too_slow(&mut peer, &moved, 3).await);
            moved.set(moved.get() + 400);
            peer.stop_waiting();
        }
        assert!(is_too_slow(&mut peer, &moved, 21).await, "none after that");
        let mut without = SlowPeer::new(MinimumRate::NONE);
        assert!(!is_too_slow(&mut without, &moved, 1000).await);
    }
}
