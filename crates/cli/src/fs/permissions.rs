//! `-chmod`, `-chown`, `-chgrp`

use super::options::Options;
use super::shell::Shell;
use super::status::Status;
use crate::failure::{Failure, Kind, Outcome};

/// What a mode text does to one of user, group, others and sticky.
#[derive(Debug, Clone, Copy)]
struct Change {
    operator: char,
    /// `rwx` bits, and 8 for `X`.
    bits: u32,
}

const NO_CHANGE: Change = Change { operator: '+', bits: 0 };

/// A parsed mode: octal, or symbolic with commas.
#[derive(Debug)]
struct Mode {
    user: Change,
    group: Change,
    others: Change,
    sticky: Change,
}

impl Mode {
    fn parse(text: &str) -> Option<Mode> {
        Mode::octal(text.trim()).or_else(|| Mode::symbolic(text))
    }

    /// Three digits, or four of which the first is 0 or 1.
    fn octal(text: &str) -> Option<Mode> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        if !(3..=4).contains(&digits.len()) || !digits.bytes().all(|b| (b'0'..=b'7').contains(&b)) {
            return None;
        }
        let bits = u32::from_str_radix(digits, 8).ok()?;
        let set = |bits: u32| Change { operator: '=', bits };
        let [user, group, others] = [6, 3, 0].map(|shift| set((bits >> shift) & 7));
        (bits <= 0o1777).then(|| Mode { user, group, others, sticky: set(bits >> 9) })
    }

    fn symbolic(text: &str) -> Option<Mode> {
        let mut mode =
            Mode { user: NO_CHANGE, group: NO_CHANGE, others: NO_CHANGE, sticky: NO_CHANGE };
        for clause in text.trim().split(',') {
            mode.add_clause(clause.trim())?;
        }
        Some(mode)
    }

    fn add_clause(&mut self, clause: &str) -> Option<()> {
        let is_operator = |c: char| matches!(c, '+' | '-' | '=');
        let (who, rest) = clause.split_at(clause.find(is_operator)?);
        let letters = rest.trim_start_matches(is_operator);
        let operator = rest[..rest.len() - letters.len()].chars().last()?;
        if letters.is_empty() || !who.chars().all(|c| "ugoa".contains(c)) {
            return None;
        }
        let (mut bits, mut sticky) = (0, 0);
        for letter in letters.chars() {
            match letter {
                'r' => bits |= 4,
                'w' => bits |= 2,
                'x' => bits |= 1,
                'X' => bits |= 8,
                't' => sticky = 1,
                _ => return None,
            }
        }
        let all = !who.contains(['u', 'g', 'o']);
        let change = Change { operator, bits };
        if all || who.contains('u') {
            self.user = change;
        }
        if all || who.contains('g') {
            self.group = change;
        }
        if all || who.contains('o') {
            self.others = change;
            self.sticky = Change { operator, bits: sticky };
        }
        Some(())
    }

    fn apply(&self, status: &Status) -> u32 {
        let old = status.mode;
        let may_execute = status.is_dir() || old & 0o111 != 0;
        let part =
            |change: Change, shift: u32| combine(change, (old >> shift) & 7, may_execute) << shift;
        part(self.user, 6)
            | part(self.group, 3)
            | part(self.others, 0)
            | combine(self.sticky, old >> 9 & 1, false) << 9
    }
}

fn combine(change: Change, old: u32, may_execute: bool) -> u32 {
    let capital = change.bits & 8 != 0;
    let bits = if capital { change.bits & 7 | 1 } else { change.bits };
    let new = match change.operator {
        '+' => old | bits,
        '-' => old & !bits,
        _ => bits,
    };
    if capital && !may_execute && old & 1 == 0 { new & !1 } else { new }
}

pub fn chmod(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &["R"]).pass_unknown().parse(args)?;
    let text = given.take_first();
    let mode = Mode::parse(&text).ok_or_else(|| {
        Failure::usage(format!("chmod : mode '{text}' does not match the expected pattern."))
    })?;
    let recursive = given.has("R");
    shell.walk_args(&given.rest, recursive, &mut |_, item, _| {
        let status = item.found()?;
        let new = mode.apply(status);
        if new == status.mode {
            return Ok(());
        }
        item.store.set_permission(&item.path, new).map_err(|failure| {
            explain(failure, &format!("changing permissions of '{}'", item.text))
        })
    })
}

fn explain(failure: Failure, doing: &str) -> Failure {
    let kind = if failure.kind == Kind::Pipe { Kind::Pipe } else { Kind::Io };
    Failure { kind, text: format!("{doing}: {}", failure.text) }
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-+_./@".contains(c))
}

pub fn chown(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &["R"]).parse(args)?;
    let text = given.take_first();
    let (owner, group) = match text.trim().split_once(':') {
        Some((owner, group)) => (owner, group),
        None => (text.trim(), ""),
    };
    if !is_name(owner) || !is_name(group) {
        return Err(Failure::usage(format!(
            "'{text}' does not match expected pattern for [owner][:group]."
        )));
    }
    if owner.is_empty() && group.is_empty() {
        return Err(Failure::usage(format!("'{text}' does not specify owner or group.")));
    }
    let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
    set_owner(shell, &given.rest, given.has("R"), named(owner), named(group))
}

pub fn chgrp(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &["R"]).parse(args)?;
    let text = given.take_first();
    let group = text.trim();
    if group.is_empty() || !is_name(group) {
        return Err(Failure::usage(format!("'{text}' does not match expected pattern for group")));
    }
    set_owner(shell, &given.rest, given.has("R"), None, Some(group.to_owned()))
}

fn set_owner(
    shell: &mut Shell,
    paths: &[String],
    recursive: bool,
    owner: Option<String>,
    group: Option<String>,
) -> Outcome {
    shell.walk_args(paths, recursive, &mut |_, item, _| {
        let status = item.found()?;
        let owner = owner.as_deref().filter(|name| *name != status.owner);
        let group = group.as_deref().filter(|name| *name != status.group);
        if owner.is_none() && group.is_none() {
            return Ok(());
        }
        item.store
            .set_owner(&item.path, owner, group)
            .map_err(|failure| explain(failure, &format!("changing ownership of '{}'", item.text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::status::FileKind;

    fn apply(text: &str, old: u32, kind: FileKind) -> Option<u32> {
        let status = Status {
            path: String::new(),
            kind,
            length: 0,
            replication: 0,
            block_size: 0,
            modified_ms: 0,
            accessed_ms: 0,
            owner: String::new(),
            group: String::new(),
            mode: old,
            has_acl: false,
            erasure_policy: String::new(),
            id: None,
        };
        Some(Mode::parse(text)?.apply(&status))
    }

    #[test]
    fn modes() {
        let file = |text: &str, old: u32| apply(text, old, FileKind::File);
        assert_eq!(file("755", 0o1644), Some(0o755));
        assert_eq!(file("1777", 0), Some(0o1777));
        assert_eq!(file("u+x,g-w,o=r", 0o664), Some(0o744));
        assert_eq!(file("+t", 0o755), Some(0o1755));
        assert_eq!(file("a-w", 0o777), Some(0o555));
        assert_eq!(file("+X", 0o644), Some(0o644));
        assert_eq!(file("+X", 0o744), Some(0o755));
        assert_eq!(apply("+X", 0o644, FileKind::Directory), Some(0o755));
        assert_eq!(file("-w", 0o666), Some(0o444));
        assert_eq!(file("2755", 0), None);
        assert_eq!(file("u+s", 0), None);
        assert_eq!(file("", 0), None);
        assert_eq!(file("u+x,", 0), None);
    }
}
