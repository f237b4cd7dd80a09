//! Log lines about waits.

/// Target of the log lines about waits: what is tried again, how often, and in the field `wait_ms` how long
/// the next wait is at most. A program that talks to people shows them.
pub const WAITS: &str = "zerohop::waits";
