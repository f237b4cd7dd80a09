//! Misspelt words: which of those known was meant.

/// The known word that `word` was most likely meant to be; letter case does not count.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = word.to_ascii_lowercase();
    let limit = match typed.chars().count() {
        0..=1 => return None,
        2..=4 => 1,
        _ => 2,
    };
    let distance = |name: &str| strsim::osa_distance(&typed, &name.to_ascii_lowercase());
    let near = known.into_iter().map(|name| (distance(name), name));
    let near = near.filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_fingers_finds_its_word() {
        let known = ["ls", "lsr", "report", "dfs.replication", "dfs.replication.max"];
        for (typed, meant) in [
            ("lss", Some("ls")),
            ("reprot", Some("report")),
            ("REPRT", Some("report")),
            ("dfs.replicatoin", Some("dfs.replication")),
            ("x", None),
            ("rename", None),
        ] {
            assert_eq!(closest(typed, known), meant, "{typed}");
        }
    }
}
