//! The promises, as docs/reliability.md lists them.

/// The failure of a promise, by its name.
pub fn broken(promise: &str, found: impl std::fmt::Display) -> String {
    format!("broken promise {promise}: {found}")
}
