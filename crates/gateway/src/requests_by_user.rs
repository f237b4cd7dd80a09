//! How many requests each user has made.

use parking_lot::Mutex;
use std::collections::HashMap;

/// So many users are counted by name. Names come from requests: memory must not grow with them.
const USERS_MAX: usize = 1000;
/// Where the requests of all others are counted; no name of a user has a blank.
const OTHERS: &str = "all others";

/// Requests since the start by user.
#[derive(Default)]
pub(crate) struct RequestsByUser(Mutex<HashMap<String, u64>>);

impl RequestsByUser {
    /// A request of a user.
    pub(crate) fn count(&self, user: &str) {
        let mut users = self.0.lock();
        if let Some(requests) = users.get_mut(user) {
            *requests += 1;
            return;
        }
        let user = if users.len() < USERS_MAX { user } else { OTHERS };
        *users.entry(user.to_owned()).or_default() += 1;
    }

    /// How many users were counted.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Those with the most requests first, `max` of them at most.
    pub(crate) fn busiest(&self, max: usize) -> Vec<(String, u64)> {
        let mut users: Vec<(String, u64)> =
            self.0.lock().iter().map(|(user, requests)| (user.clone(), *requests)).collect();
        users.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        users.truncate(max);
        users
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_come_first_and_names_without_end_take_no_memory() {
        let users = RequestsByUser::default();
        ["bob", "alice", "alice", "carol"].into_iter().for_each(|user| users.count(user));
        let busiest = users.busiest(2);
        assert_eq!(busiest, [("alice".to_owned(), 2), ("bob".to_owned(), 1)]);
        (0..5000).for_each(|number| users.count(&format!("user-{number}")));
        assert_eq!(users.len(), USERS_MAX + 1);
        assert_eq!(users.busiest(1), [(OTHERS.to_owned(), 5000 + 3 - USERS_MAX as u64)]);
    }
}
