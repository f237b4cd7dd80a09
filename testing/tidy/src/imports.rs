//! Which file of a crate imports which, and where such arrows run in a circle.
//!
//! Read from the paths in the source, `use` lines and others, without a compiler. A name that a
//! module passes on (`pub use`) counts for the file it comes from. `mod` lines are no arrows, nor is
//! passing a name on; tests are left out, as nothing is built upon them.

use std::collections::{BTreeMap, BTreeSet};

use crate::Source;
use crate::paths::{Import, Paths};

/// Names that lead to other names are followed this far; more is a mistake of the source.
const STEPS_MAX: usize = 16;

/// The files of a workspace as modules.
pub struct Modules<'a> {
    /// By directory of the crate's root and path of the module below it: `crates/x/src`, `a::b`.
    files: BTreeMap<(&'a str, Vec<&'a str>), usize>,
    /// What each file says, and where it stands.
    all: Vec<(&'a str, Module<'a>, Paths)>,
}

#[derive(Clone)]
struct Module<'a> {
    root: &'a str,
    path: Vec<&'a str>,
}

/// Whom a file imports, by path.
pub type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Whether a file holds tests only, by its path.
pub(crate) fn is_test(path: &str) -> bool {
    path.ends_with("_test.rs") || path.ends_with("/tests.rs") || path.contains("/tests/")
}

impl<'a> Modules<'a> {
    /// Takes the Rust files of a tree; those that are tests are passed over.
    pub fn new(sources: &'a [Source]) -> Self {
        let top = |path: &'a str| path.strip_suffix("/lib.rs").or(path.strip_suffix("/main.rs"));
        let roots: BTreeSet<&str> = sources.iter().filter_map(|file| top(&file.path)).collect();
        let mut modules = Modules { files: BTreeMap::new(), all: Vec::new() };
        for file in sources.iter().filter(|file| !is_test(&file.path)) {
            let below = |root: &&&str| {
                file.path[..].strip_prefix(**root).is_some_and(|rest| rest.starts_with('/'))
            };
            let Some(root) = roots.iter().filter(below).max_by_key(|root| root.len()) else {
                continue;
            };
            let inner = file.path[root.len() + 1..].trim_end_matches(".rs");
            let mut path: Vec<&str> = inner.split('/').collect();
            if matches!(path[..], ["lib" | "main"]) || path.last() == Some(&"mod") {
                path.pop();
            }
            modules.files.insert((*root, path.clone()), modules.all.len());
            modules.all.push((&*file.path, Module { root, path }, Paths::of(&file.text)));
        }
        modules
    }

    /// Whom each file imports.
    pub fn arrows(&self) -> Arrows<'a> {
        let mut arrows = Arrows::new();
        for (at, (from, _, paths)) in self.all.iter().enumerate() {
            let to = paths.used().filter_map(|path| self.file_of(at, path, 0));
            let others = to.filter(|to| *to != at).map(|to| self.all[to].0);
            arrows.insert(*from, others.collect());
        }
        arrows
    }

    /// The file that has what `path` means in the file `from`; `None` if it is of another crate.
    pub(crate) fn file_naming(&self, from: &str, path: &[String]) -> Option<&'a str> {
        let at = self.all.iter().position(|(file, ..)| *file == from)?;
        self.file_of(at, path, 0).map(|found| self.all[found].0)
    }

    fn find(&self, module: &Module<'a>) -> Option<usize> {
        self.files.get(&(module.root, module.path.clone())).copied()
    }

    fn child(&self, of: usize, name: &str) -> Option<usize> {
        let Module { root, path } = &self.all[of].1;
        let path = path.iter().copied().chain([name]).collect();
        self.files.get(&(*root, path)).copied()
    }

    /// The file that has what `path` names in the file `from`; `None` for other crates.
    fn file_of(&self, from: usize, path: &[String], step: usize) -> Option<usize> {
        if step > STEPS_MAX {
            return None;
        }
        let mut module = self.all[from].1.clone();
        let mut rest = path;
        let mut is_anchored = false;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => module.path.clear(),
                "super" => drop(module.path.pop()),
                "self" => {}
                _ => break,
            }
            is_anchored = true;
            rest = others;
        }
        let start = self.find(&module)?;
        let found = self.walk(start, rest, step);
        // Without `crate` in front, a name that is not of this module is another crate's.
        found.filter(|found| is_anchored || *found != start)
    }

    fn walk(&self, from: usize, path: &[String], step: usize) -> Option<usize> {
        let Some((name, rest)) = path.split_first() else { return Some(from) };
        if let Some(child) = self.child(from, name) {
            return self.walk(child, rest, step);
        }
        let paths = &self.all[from].2;
        let passed = |import: &&Import| import.name == *name;
        if let Some(import) = paths.imports.iter().find(passed) {
            let longer: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.file_of(from, &longer, step + 1).or(Some(from));
        }
        let behind_glob =
            paths.imports.iter().filter(|import| import.name == "*").find_map(|glob| {
                let at = self.file_of(from, &glob.path, step + 1).filter(|at| *at != from)?;
                self.all[at].2.defines(name).then_some(at)
            });
        behind_glob.or(Some(from))
    }
}

/// The circles: files that import each other, if by way of others; each file in one at most.
pub fn circles<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (*from, reachable(arrows, from))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for file in arrows.keys().filter(|file| reaches(file, file)) {
        let with = |circle: &&mut BTreeSet<&str>| {
            circle.first().is_some_and(|one| reaches(one, file) && reaches(file, one))
        };
        match found.iter_mut().find(with) {
            Some(circle) => drop(circle.insert(*file)),
            None => found.push(BTreeSet::from([*file])),
        }
    }
    found
}

fn reachable<'a>(arrows: &Arrows<'a>, from: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(file) = waiting.pop() {
        let next = arrows.get(file).into_iter().flatten();
        waiting.extend(next.copied().filter(|to| seen.insert(*to)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source {
            path: format!("c/src/{path}"),
            text: (*text).to_owned(),
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        let circles = circles(&Modules::new(&sources).arrows());
        let names = |circle: &BTreeSet<&str>| {
            let names: Vec<&str> = circle.iter().map(|p| &p["c/src/".len()..]).collect();
            names.join(" ")
        };
        circles.iter().map(names).collect()
    }

    #[test]
    fn two_files_in_a_circle() {
        let lib = ("lib.rs", "mod a;\nmod b;");
        let a = ("a.rs", "use crate::b::{C, D as E};");
        assert_eq!(found(&[lib, a, ("b.rs", "use super::a::B;")]), ["a.rs b.rs"]);
        assert_eq!(found(&[lib, a, ("b.rs", "fn b() {\n    crate::a::f()\n}")]), ["a.rs b.rs"]);
        assert!(found(&[lib, a, ("b.rs", "use other::a::B; // crate::a::B")]).is_empty());
        let tested = "#[cfg(test)]\nmod tests {\n    use crate::a::B;\n}\n";
        assert!(found(&[lib, a, ("b.rs", tested)]).is_empty());
    }

    #[test]
    fn a_name_that_is_passed_on_counts_where_it_comes_from() {
        let lib = ("lib.rs", "mod f;\nmod g;");
        let g = ("g.rs", "use crate::f::A;");
        let a = ("f/a.rs", "pub struct A;");
        let b = ("f/b.rs", "use crate::g::G;");
        assert!(found(&[lib, g, a, b, ("f/mod.rs", "mod a;\nmod b;\npub use a::A;")]).is_empty());
        assert!(found(&[lib, g, a, b, ("f/mod.rs", "mod a;\nmod b;\npub use a::*;")]).is_empty());
        let passed = ("f/mod.rs", "mod a;\nmod b;\npub use b::A;");
        assert_eq!(found(&[lib, g, a, b, passed]), ["f/b.rs g.rs"]);
    }

    #[test]
    fn a_module_and_its_child() {
        let (lib, b) = (("lib.rs", "mod a;"), ("a/b.rs", "use super::A;\npub struct B(A);"));
        let with = |text| found(&[lib, b, ("a/mod.rs", text)]);
        assert_eq!(with("mod b;\npub struct A;\nfn f() {\n    b::f()\n}"), ["a/b.rs a/mod.rs"]);
        assert_eq!(with("mod b;\nuse b::B;\npub struct A;"), ["a/b.rs a/mod.rs"]);
        assert!(with("mod b;\npub use b::{B, b};\npub struct A;").is_empty());
        assert_eq!(with("mod b;\npub use b::B;\npub struct A(Vec<B>);"), ["a/b.rs a/mod.rs"]);
    }
}
