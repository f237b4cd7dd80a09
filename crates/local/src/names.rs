//! Names of users or groups, each looked up once: a listing has many files of few owners.

use parking_lot::Mutex;
use std::collections::HashMap;

/// The names looked up so far, by id.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashMap<u32, String>>);

impl Names {
    /// The name that `look_up` finds; the number where there is none.
    pub(crate) fn of(&self, id: u32, look_up: impl FnOnce(u32) -> Option<String>) -> String {
        let mut names = self.0.lock();
        let name = names.entry(id).or_insert_with(|| look_up(id).unwrap_or_else(|| id.to_string()));
        name.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_once() {
        let names = Names::default();
        assert_eq!(names.of(7, |_| Some("ann".to_owned())), "ann");
        assert_eq!(names.of(7, |_| panic!("looked up twice")), "ann");
        assert_eq!(names.of(8, |_| None), "8");
    }
}
