//! One queue for each priority, and the turns in which they are served (`FairCallQueue`,
//! `WeightedRoundRobinMultiplexer`).

use std::collections::VecDeque;

/// Calls that wait, by priority.
pub(super) struct FairQueue<T> {
    queues: Vec<Queue<T>>,
    /// The queue whose turn it is, and how many calls it may still give.
    turn: usize,
    left: u32,
}

struct Queue<T> {
    calls: VecDeque<T>,
    capacity: usize,
    weight: u32,
}

impl<T> FairQueue<T> {
    /// `weights` and `capacity_weights` have an entry for each priority.
    pub(super) fn new(capacity: usize, weights: &[u32], capacity_weights: &[u32]) -> Self {
        let parts: u64 =
            capacity_weights.iter().map(|weight| u64::from(*weight)).sum::<u64>().max(1);
        let share = |weight: u32| (capacity as u64 * u64::from(weight) / parts) as usize;
        let queues = weights.iter().zip(capacity_weights).map(|(weight, part)| Queue {
            calls: VecDeque::new(),
            capacity: share(*part).max(1),
            weight: *weight,
        });
        Self { queues: queues.collect(), turn: 0, left: weights.first().copied().unwrap_or(1) }
    }

    /// Calls that wait.
    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.calls.len()).sum()
    }

    /// Whether a call of this priority finds a place, if need be in a queue of a lower one.
    pub(super) fn has_room(&self, level: usize) -> bool {
        self.queues.iter().skip(level).any(|queue| queue.calls.len() < queue.capacity)
    }

    /// Puts a call where there is room; into the last queue if there is none.
    pub(super) fn push(&mut self, level: usize, call: T) {
        let with_room =
            self.queues.iter().skip(level).position(|queue| queue.calls.len() < queue.capacity);
        let at = with_room.map_or(self.queues.len().saturating_sub(1), |at| level + at);
        if let Some(queue) = self.queues.get_mut(at) {
            queue.calls.push_back(call);
        }
    }

    /// The next call: of the queue whose turn it is, else of the highest priority that has one.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.queues.iter().all(|queue| queue.calls.is_empty()) {
            return None;
        }
        let turn = self.turn;
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.turn = (self.turn + 1) % self.queues.len().max(1);
            self.left = self.queues.get(self.turn).map_or(1, |queue| queue.weight);
        }
        let of_turn = self.queues.get_mut(turn).and_then(|queue| queue.calls.pop_front());
        of_turn.or_else(|| self.queues.iter_mut().find_map(|queue| queue.calls.pop_front()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that floods the server is behind; another's calls come after a bounded number of its calls.
    #[test]
    fn a_flood_of_one_user_does_not_starve_another() {
        let mut queue = FairQueue::new(4000, &[8, 4, 2, 1], &[1; 4]);
        (0..1000).for_each(|_| queue.push(3, "flood"));
        for _ in 0..50 {
            queue.push(0, "light");
            let place = (0..).take_while(|_| queue.pop() != Some("light")).count();
            assert!(place <= 4, "after {place} calls of the flood");
        }
        // And the flood goes on: its calls are served too while there are light ones.
        (0..100).for_each(|_| queue.push(0, "light"));
        let floods = (0..100).filter(|_| queue.pop() == Some("flood")).count();
        assert!((6..=40).contains(&floods), "{floods}");
    }

    #[test]
    fn turns_follow_the_weights() {
        let mut queue = FairQueue::new(400, &[3, 1], &[1, 1]);
        for _ in 0..8 {
            queue.push(0, 'a');
            queue.push(1, 'b');
        }
        let order: String = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, "aaabaaabaabbbbbb");
    }

    #[test]
    fn a_full_queue_overflows_into_those_of_lower_priority() {
        let mut queue = FairQueue::new(4, &[2, 1], &[1, 1]);
        (0..3).for_each(|call| queue.push(0, call));
        assert!(queue.has_room(0) && queue.has_room(1));
        queue.push(0, 3);
        assert!(!queue.has_room(0) && !queue.has_room(1));
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
