//! Names and defaults of Hadoop 3.4.3 that nothing here reads, so that asking for them gives Hadoop's answer.

/// `NAME=VALUE` a line, in order of name; `\\n` in a value is a line's end.
const TEXT: &str = include_str!("others.txt");

/// Hadoop's default of a name that is not in the table of keys; empty where Hadoop lists it without a
/// value.
pub fn other_default(name: &str) -> Option<String> {
    let mut lines = TEXT.lines().filter_map(|line| line.split_once('='));
    let (_, value) = lines.find(|(listed, _)| *listed == name)?;
    Some(value.replace("\\n", "\n"))
}

/// The names, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TEXT.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_once_in_order_and_not_in_the_table_with_a_value() {
        let names: Vec<&str> = TEXT.lines().map(|line| line.split('=').next().unwrap()).collect();
        assert!(names.is_sorted_by(|a, b| a < b) && names.len() > 500);
        for name in names {
            let value = other_default(name).unwrap();
            let key = crate::keys::find(name);
            assert!(key.is_none_or(|key| key.default.is_empty() && value.is_empty()), "{name}");
        }
        assert_eq!(other_default("hadoop.workaround.non.threadsafe.getpwuid").unwrap(), "true");
        assert!(other_default("hadoop.tags.system").unwrap().contains('\n'));
        assert_eq!(other_default("no.such.name"), None);
    }
}
