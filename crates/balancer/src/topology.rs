//! Which DataNodes are near each other.

/// How DataNodes are paired; the nearest pairs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Both are in the same rack.
    SameRack,
    /// Any two.
    Any,
}

impl Matcher {
    /// In the order in which pairs are looked for.
    pub const ALL: [Self; 2] = [Self::SameRack, Self::Any];

    /// Whether two DataNodes with these locations (`/rack1`) are such a pair.
    pub fn matches(self, one: &str, other: &str) -> bool {
        match self {
            Self::SameRack => one == other,
            Self::Any => true,
        }
    }
}
