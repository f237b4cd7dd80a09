//! What several commands make of their words.

use zerohop_conf::Conf;

use crate::failure::{Failure, Outcome};
use crate::fs::{Location, absolute, connect_client};

/// Fails unless there are exactly so many words.
pub fn expect(words: &[String], count: usize) -> Outcome {
    if words.len() == count { Ok(()) } else { Err(Failure::usage("")) }
}

/// The absolute path of a word of the command line.
pub fn resolved(conf: &Conf, text: &str) -> Outcome<String> {
    let home = connect_client(conf)?.home();
    Ok(absolute(&Location::parse(text).path, &home))
}
