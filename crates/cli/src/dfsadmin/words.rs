//! What several commands make of their words.

use crate::failure::{Failure, Outcome};

/// Fails unless there are exactly so many words.
pub fn expect(words: &[String], count: usize) -> Outcome {
    if words.len() == count { Ok(()) } else { Err(Failure::usage("")) }
}
