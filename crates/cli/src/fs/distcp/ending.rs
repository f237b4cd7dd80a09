//! How the command ends, as `DistCpConstants` numbers it; a shell sees the last eight bits.

use crate::failure::{EXIT_USAGE, Failure};

pub const SUCCESS: i32 = 0;
/// -1: the command line or a source makes no sense.
pub const INVALID_ARGUMENT: i32 = EXIT_USAGE;
/// -2: two sources have one name in the target.
pub const DUPLICATE_INPUT: i32 = 254;
/// -3
pub const ACLS_NOT_SUPPORTED: i32 = 253;
/// -4
pub const XATTRS_NOT_SUPPORTED: i32 = 252;
/// -999
pub const UNKNOWN_ERROR: i32 = 25;

/// A failure that ends the command.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub failure: Failure,
}

/// What ends the command where it fails.
pub type Ending<T = ()> = Result<T, Ended>;

impl Ended {
    /// Hadoop's InvalidInputException.
    pub fn invalid(text: impl Into<String>) -> Ended {
        Ended { code: INVALID_ARGUMENT, failure: Failure::io(text) }
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended { code: UNKNOWN_ERROR, failure }
    }
}
