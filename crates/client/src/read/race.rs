//! What the two attempts of a hedged read must know of each other: which DataNodes they have chosen, and when
//! one has won.

use super::suspects::Suspects;
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use parking_lot::Mutex;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use zerohop_transport::net::DataStream;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// A range of one block that two attempts read at the same time.
#[derive(Default)]
pub(super) struct Race {
    state: Mutex<State>,
    /// Notified when the first side chooses its first DataNode.
    first_choice: Notify,
}

#[derive(Default)]
struct State {
    is_over: bool,
    /// DataNodes that were chosen, each by one side: the other one leaves it alone, whatever became of it.
    chosen: Vec<(DatanodeInfo, Side)>,
    /// The connections on which the two wait, by side.
    waiting: [Option<DataStream>; 2],
    /// Of both sides: whether a replica is to blame is judged by all of a block's that failed.
    suspects: Suspects,
    last_error: Option<String>,
}

/// What a race that no side has won leaves behind.
pub(super) struct Lost {
    pub(super) nodes: Vec<DatanodeInfo>,
    pub(super) suspects: Suspects,
    pub(super) last_error: Option<String>,
}

impl Race {
    /// Ends the race: a side that waits for a DataNode stops waiting.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        for stream in std::mem::take(&mut state.waiting).into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Waits until the first side has chosen a DataNode. A second side that begins earlier could take the one that the
    /// first would have chosen, and leave it the slower one.
    pub(super) async fn first_choice(&self) {
        self.first_choice.notified().await;
    }

    /// Takes the corrupt replicas that are reported to the NameNode.
    pub(super) fn take_corrupt(&self) -> Vec<LocatedBlock> {
        self.state.lock().suspects.take()
    }

    /// Takes what another attempt has to know, where both have failed.
    pub(super) fn take_lost(&self) -> Lost {
        let mut state = self.state.lock();
        let chosen = std::mem::take(&mut state.chosen);
        Lost {
            nodes: chosen.into_iter().map(|(node, _)| node).collect(),
            suspects: std::mem::take(&mut state.suspects),
            last_error: state.last_error.take(),
        }
    }
}

/// One side of a race. Its attempt holds this, and has it along on the thread that reads.
pub(super) struct Contender {
    race: Arc<Race>,
    side: Side,
    /// Released when the thread is free again, which may be after the race.
    permit: Option<OwnedSemaphorePermit>,
}

impl Contender {
    pub(super) fn new(race: &Arc<Race>, side: Side) -> Self {
        Self { race: Arc::clone(race), side, permit: None }
    }

    /// Keeps the permit until the attempt is dropped.
    pub(super) fn hold(&mut self, permit: Option<OwnedSemaphorePermit>) {
        self.permit = permit;
    }

    /// Chooses a DataNode; false if the other side has chosen it.
    pub(super) fn choose(&self, node: &DatanodeInfo) -> bool {
        let mut state = self.race.state.lock();
        match state.chosen.iter().find(|(chosen, _)| chosen == node) {
            Some((_, side)) => *side == self.side,
            None => {
                state.chosen.push((node.clone(), self.side));
                if self.side == Side::First {
                    self.race.first_choice.notify_one();
                }
                true
            }
        }
    }

    /// Whether the race is over: nobody waits for this attempt any more.
    pub(super) fn is_beaten(&self) -> bool {
        self.race.state.lock().is_over
    }

    /// Notes that a replica could not be read.
    pub(super) fn note_failure(
        &self,
        block: &LocatedBlock,
        replica: &Replica,
        error: &str,
        is_corrupt: bool,
    ) {
        let mut state = self.race.state.lock();
        state.last_error = Some(error.to_owned());
        if is_corrupt {
            state.suspects.add(block, replica);
        }
    }

    /// Has the end of the race shut `stream` down, as long as what is returned lives.
    pub(super) fn watch(&self, stream: &DataStream) -> io::Result<Watched> {
        let stream = stream.try_clone()?;
        let mut state = self.race.state.lock();
        if state.is_over {
            return Err(io::Error::other("another replica was faster"));
        }
        state.waiting[self.side as usize] = Some(stream);
        Ok(Watched { race: Arc::clone(&self.race), side: self.side })
    }
}

/// A connection that is shut down when its race ends. It is taken out before the connection is kept for another
/// request.
pub(super) struct Watched {
    race: Arc<Race>,
    side: Side,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.race.state.lock().waiting[self.side as usize] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{located, replica};
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    fn sides() -> (Arc<Race>, [Contender; 2]) {
        let race = Arc::default();
        let sides = [Side::First, Side::Second].map(|side| Contender::new(&race, side));
        (race, sides)
    }

    fn pair() -> (DataStream, DataStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near.into(), listener.accept().unwrap().0.into())
    }

    #[test]
    fn a_datanode_is_of_the_side_that_chose_it_first() {
        let (race, [first, second]) = sides();
        let (one, two) = (replica(1).node, replica(2).node);
        assert!(first.choose(&one) && !second.choose(&one) && second.choose(&two));
        assert!(first.choose(&one), "again, with a new token");
        assert!(!first.choose(&two));
        assert_eq!(race.take_lost().nodes, [one, two]);
    }

    /// Each side has seen one corrupt replica of two: alone it would report it.
    #[test]
    fn corrupt_replicas_of_both_sides_are_judged_together() {
        for (replicas, reported) in [(2, 0), (3, 2)] {
            let (race, sides) = sides();
            let replicas = (1..=replicas).map(replica).collect();
            let block = LocatedBlock { replicas, ..located(1, 0, 100) };
            for (side, number) in sides.iter().zip(1..) {
                side.note_failure(&block, &replica(number), "checksum", true);
            }
            let corrupt = race.take_corrupt();
            assert_eq!(corrupt.iter().map(|block| block.replicas.len()).sum::<usize>(), reported);
        }
    }

    #[test]
    fn the_end_of_a_race_wakes_who_still_waits_and_spares_other_connections() {
        let (race, [first, second]) = sides();
        let (slow, _far) = pair();
        let (kept, far_of_kept) = pair();
        drop(second.watch(&kept).unwrap());
        let watched = first.watch(&slow).unwrap();
        let waiting = std::thread::spawn(move || (&slow).read(&mut [0]).unwrap());
        race.end();
        assert_eq!(waiting.join().unwrap(), 0);
        drop(watched);
        assert!(first.is_beaten() && second.is_beaten());
        assert!(kept.is_quiet() && far_of_kept.is_quiet(), "it was given back before");
        assert!(second.watch(&kept).is_err(), "too late");
    }
}
