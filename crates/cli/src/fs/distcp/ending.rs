//! Exit codes of `DistCpConstants`, as a shell sees them: the low eight bits.

use crate::failure::{EXIT_USAGE, Failure};

pub const SUCCESS: i32 = 0;
/// -1: invalid arguments or sources.
pub const INVALID_ARGUMENT: i32 = EXIT_USAGE;
/// -2: two sources have the same path in the target.
pub const DUPLICATE_INPUT: i32 = 254;
/// -3
pub const ACLS_NOT_SUPPORTED: i32 = 253;
/// -4
pub const XATTRS_NOT_SUPPORTED: i32 = 252;
/// -999
pub const UNKNOWN_ERROR: i32 = 25;

/// A failure that ends the command, with its exit code.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub failure: Failure,
}

/// Result of a step of the command.
pub type Ending<T = ()> = Result<T, Ended>;

impl Ended {
    /// Hadoop's `InvalidInputException`.
    pub fn invalid(text: impl Into<String>) -> Ended {
        Ended { code: INVALID_ARGUMENT, failure: Failure::io(text) }
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended { code: UNKNOWN_ERROR, failure }
    }
}
