//! The paths that a Rust source names, by its words alone.

use std::collections::BTreeSet;

/// A name that a file brings in.
pub struct Import {
    /// As it is called here; `*` for all of a module.
    pub name: String,
    /// From where, as it is written.
    pub path: Vec<String>,
    /// Whether others may take it from here.
    is_passed_on: bool,
}

/// What a file names.
#[derive(Default)]
pub struct Paths {
    pub imports: Vec<Import>,
    /// Paths of two words and more outside of `use` lines.
    inline: Vec<Vec<String>>,
    /// All words outside of `use` lines.
    words: BTreeSet<String>,
    defined: BTreeSet<String>,
}

impl Paths {
    /// Reads a source; what is built for tests only is left out.
    pub fn of(text: &str) -> Paths {
        let words = words(&without_tests(text));
        let mut paths = Paths::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", String::as_str);
            if word == "use" {
                let is_passed_on = matches!(before, "pub" | ")");
                at = paths.tree(&words, at + 1, &[], is_passed_on);
            } else if is_name(word) {
                at = paths.inline_path(&words, at, before);
            } else {
                at += 1;
            }
        }
        paths
    }

    /// The paths that this file needs. A name that is only passed on is not needed.
    pub fn used(&self) -> impl Iterator<Item = &[String]> {
        let is_used = |i: &&Import| !i.is_passed_on || self.words.contains(&i.name);
        let imports = self.imports.iter().filter(is_used).map(|import| &import.path[..]);
        imports.chain(self.inline.iter().map(Vec::as_slice))
    }

    /// Whether an item of this name is written here.
    pub fn defines(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// Reads a tree of a `use` line from `at` on; where it ends.
    fn tree(
        &mut self,
        words: &[String],
        mut at: usize,
        prefix: &[String],
        passed_on: bool,
    ) -> usize {
        let mut path = prefix.to_vec();
        let mut name = None;
        while let Some(word) = words.get(at) {
            match word.as_str() {
                "{" => {
                    at += 1;
                    while words.get(at).is_some_and(|word| word != "}") {
                        at = self.tree(words, at, &path, passed_on);
                        at += usize::from(words.get(at).is_some_and(|word| word == ","));
                    }
                    return at + 1;
                }
                "as" => {
                    name = words.get(at + 1).cloned();
                    at += 1;
                }
                "*" => name = Some("*".to_owned()),
                "::" => {}
                word if is_name(word) => path.push(word.to_owned()),
                _ => break,
            }
            at += 1;
        }
        path.pop_if(|last| last == "self");
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        self.imports.push(Import { name, path, is_passed_on: passed_on });
        at
    }

    fn inline_path(&mut self, words: &[String], mut at: usize, before: &str) -> usize {
        const ITEMS: [&str; 9] =
            ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"];
        let mut path = Vec::new();
        while let Some(word) = words.get(at).filter(|word| is_name(word)) {
            path.push(word.clone());
            // Saying that there is a module is no use of it.
            if before != "mod" {
                self.words.insert(word.clone());
            }
            at += 1;
            if words.get(at).is_none_or(|word| word != "::") {
                break;
            }
            at += 1;
        }
        if ITEMS.contains(&before) {
            self.defined.extend(path.first().cloned());
        }
        if path.len() > 1 && before != "::" {
            self.inline.push(path);
        }
        at
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The source without comments and without what follows `#[cfg(test)]`.
fn without_tests(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_test = false;
    for line in text.lines() {
        let code = if line.trim_start().starts_with("//") { "" } else { line };
        let code = code.split(" //").next().unwrap_or_default();
        if code == "#[cfg(test)]" {
            is_test = true;
        } else if is_test {
            // The item ends where a line without indent does.
            is_test = code.starts_with([' ', '#']) || !code.ends_with(['}', ';']);
        } else {
            out.push_str(code);
            out.push('\n');
        }
    }
    out
}

/// Names, `::`, and every other sign alone.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let goes_on = is_letter(before) && is_letter(c)
            || c == ':' && before == ':' && words.last().is_some_and(|last| last == ":");
        match words.last_mut().filter(|_| goes_on) {
            Some(last) => last.push(c),
            None if c.is_whitespace() => {}
            None => words.push(c.to_string()),
        }
        before = c;
    }
    words
}
