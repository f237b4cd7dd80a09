//! What is said of values that promise what is not implemented.

use std::fmt;

use crate::protection::{Accepts, Protection};
use crate::{Role, Source};

/// A value that promises protection or exclusivity which is not implemented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The key's name, as it was set.
    pub key: String,
    /// The value, or the refused words of a list.
    pub value: String,
    /// Where it was set.
    pub origin: Source,
    /// What is not there.
    pub lacks: &'static str,
    /// What to do.
    pub advice: String,
}

/// All values of a configuration that a role refuses; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals {
    /// Who refuses.
    pub role: Role,
    /// One for each value.
    pub list: Vec<Refusal>,
}

impl Refusal {
    pub(crate) fn new(row: &Protection, key: &str, value: &str, origin: Source) -> Self {
        let advice = match row.accepts {
            Accepts::Nothing => "remove the key".to_owned(),
            Accepts::Words(words) => format!("set it to {}", words.join(" or ")),
        };
        Refusal { key: key.to_owned(), value: value.to_owned(), origin, lacks: row.lacks, advice }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { key, value, origin, lacks, advice } = self;
        write!(f, "{key}: `{value}' from {origin} is refused: {lacks}; {advice} to go without it")
    }
}

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.list.as_slice() {
            return only.fmt(f);
        }
        let (role, count) = (self.role, self.list.len());
        // Shells print the first line of an error alone.
        write!(f, "the {role} refuses {count} values of the configuration: ")?;
        for (index, Refusal { key, value, .. }) in self.list.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{key}={value}")?;
        }
        self.list.iter().try_for_each(|refusal| write!(f, "\n  {refusal}"))
    }
}
