//! The suggestion for a command line whose verb is unknown.

use zerohop_conf::closest;

use crate::manual::Entry;

/// Returns the error for `word`, with the command line that was likely meant, or `None` if nothing is like it: a verb, or
/// the command of a verb without its verb (`zerohop ls /`).
pub fn meant(word: &str, rest: &[String], verbs: &[Entry]) -> Option<String> {
    let verb_names = verbs.iter().map(|verb| verb.name.as_str());
    let dashed = format!("-{word}");
    let of_verb = |verb: &Entry, name: &str| -> Option<String> {
        let command = verb.commands.iter().find(|command| command.name.eq_ignore_ascii_case(name));
        command.map(|command| format!("{} {}", verb.name, command.name))
    };
    let exact = verbs.iter().find_map(|verb| of_verb(verb, &dashed));
    let near_command = || {
        let named = |verb: &Entry| {
            let names: Vec<&str> = verb.commands.iter().map(|c| c.name.as_str()).collect();
            of_verb(verb, closest(&dashed, names)?)
        };
        verbs.iter().find_map(named)
    };
    let line =
        exact.or_else(|| closest(word, verb_names).map(str::to_owned)).or_else(near_command)?;
    let rest: String = rest.iter().map(|word| format!(" {}", quoted(word))).collect();
    Some(format!("zerohop: {word} is not a command; did you mean `zerohop {line}{rest}'?"))
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> Option<String> {
        let entry = |name: &str, commands: &[&str]| Entry {
            name: name.to_owned(),
            commands: commands.iter().map(|name| Entry::new(name, "", "", "")).collect(),
            ..Entry::default()
        };
        let verbs =
            [entry("fs", &["-ls", "-put"]), entry("fsck", &[]), entry("dfsadmin", &["-report"])];
        let rest: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        let text = meant(words[0], &rest, &verbs)?;
        let line = text.split_once("did you mean `zerohop ").unwrap().1;
        Some(line.trim_end_matches("'?").to_owned())
    }

    /// `zerohop ls /` and `zerohop sf` got no suggestion.
    #[test]
    fn a_command_without_its_verb_and_a_slip_of_the_fingers_are_understood() {
        for (words, line) in [
            (&["ls", "/"][..], Some("fs -ls /")),
            (&["sf", "-ls", "/a b"], Some("fs -ls '/a b'")),
            (&["fskc", "/"], Some("fsck /")),
            (&["report"], Some("dfsadmin -report")),
            (&["reprot"], Some("dfsadmin -report")),
            (&["xyzzy"], None),
        ] {
            assert_eq!(said(words).as_deref(), line, "{words:?}");
        }
    }
}
