//! Numbers of Java in messages.

/// Converts a number that the protocol declares unsigned and Java fills from a `long`. Negative numbers, which some counters of
/// Apache's NameNode can reach, become 0.
pub(super) fn from_java(number: u64) -> u64 {
    if i64::try_from(number).is_ok() { number } else { 0 }
}
