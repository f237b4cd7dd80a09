//! What goes wrong here is only told to people.

/// What nearly everything here returns.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Any error, in its own words.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
