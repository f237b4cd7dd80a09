//! Which names are wanted of a listing that goes in order of names.

/// Names after a name, and with a prefix that need not end at a slash.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyRange {
    /// Names that are greater are wanted.
    pub(crate) after: Option<String>,
    /// Names that begin so are wanted.
    pub(crate) prefix: String,
}

impl KeyRange {
    pub(crate) fn holds(&self, name: &str) -> bool {
        name.starts_with(&self.prefix) && self.after.as_deref().is_none_or(|after| name > after)
    }

    /// Whether names below a directory, named with a slash at its end, may be wanted.
    pub(crate) fn may_hold_below(&self, directory: &str) -> bool {
        let fits = directory.starts_with(&self.prefix) || self.prefix.starts_with(directory);
        fits && self
            .after
            .as_deref()
            .is_none_or(|after| directory > after || after.starts_with(directory))
    }

    /// A name in a directory (empty, or with a slash at its end): no entry up to this one is wanted, nor
    /// anything below it. Empty if the directory is to be listed from its beginning.
    pub(crate) fn list_after(&self, directory: &str) -> String {
        let of_prefix = self.prefix.strip_prefix(directory).unwrap_or_default();
        let of_after = self.after.as_deref().and_then(|after| after.strip_prefix(directory));
        before_all(of_prefix).max(of_after.map(before_all).unwrap_or_default()).to_owned()
    }
}

/// A string that is less than every entry whose names, or those below it, may be `name` or greater. A directory `a` holds `a/b`,
/// which is greater than `a-b`: all beginnings of the first part of `name` count that are followed by less than a slash.
fn before_all(name: &str) -> &str {
    let first = name.split('/').next().unwrap_or_default();
    let less_than_slash = first.bytes().skip(1).position(|byte| byte < b'/');
    let shortest = less_than_slash.and_then(|at| first.get(..at + 1)).unwrap_or(first);
    let mut chars = shortest.chars();
    chars.next_back();
    chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_directory_is_not_passed_over_for_what_sorts_before_the_slash() {
        let after = |name: &str| KeyRange { after: Some(name.to_owned()), ..KeyRange::default() };
        assert!(after("a-b").may_hold_below("a/"));
        assert_eq!(after("a-b").list_after(""), "");
        assert_eq!(after("table/part-7").list_after("table/"), "par");
        assert_eq!(after("table/7").list_after("other/"), "");
        assert!(!after("table/7").may_hold_below("other/"));
    }

    proptest! {
        /// Whatever is wanted lies behind the name from which its directory is listed, and in directories that may hold it.
        #[test]
        fn nothing_that_is_wanted_is_passed_over(
            name in "[ab!-/é]{1,4}(/[ab!.é]{1,3}){0,2}",
            after in proptest::option::of("[ab!-/é]{0,4}(/[ab!.é]{1,3}){0,2}"),
            prefix in "([ab!é]{1,2}/?)?[ab]?",
        ) {
            prop_assume!(!name.split('/').any(str::is_empty));
            let range = KeyRange { after, prefix };
            if range.holds(&name) {
                let mut directory = String::new();
                for part in name.split('/') {
                    prop_assert!(directory.is_empty() || range.may_hold_below(&directory), "{range:?} {name}");
                    let from = range.list_after(&directory);
                    prop_assert!(part > from.as_str(), "{range:?} {name}: {part} {from}");
                    directory = format!("{directory}{part}/");
                }
            }
        }
    }
}
