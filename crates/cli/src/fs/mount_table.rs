//! The mount tables of `fs.viewfs.mounttable.NAME.*`, as Hadoop's `InodeTree` reads and resolves them.

use std::collections::BTreeMap;

use zerohop_conf::{Conf, keys};

use super::location::{child, file_name, parent};
use crate::failure::{Failure, Outcome};

/// A directory of the tree, or a mount point, or both where mount points are nested.
#[derive(Debug, Default)]
pub struct Node {
    /// The number of its link; `None` for a directory of the tree alone.
    pub link: Option<usize>,
    pub children: BTreeMap<String, Node>,
}

/// A mount point.
#[derive(Debug)]
pub struct Link {
    /// The path in the view; `/` for a fallback and a merge with the root.
    pub path: String,
    /// The URI that it leads to.
    pub target: String,
}

/// The result of resolving a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory of the tree, and the path below it that was not resolved.
    Internal { directory: String, rest: String },
    /// A path in the file system of a link.
    Linked {
        link: usize,
        rest: String,
        /// False if the fallback took what the tree does not have.
        by_mount_point: bool,
    },
}

/// A mount table.
#[derive(Debug)]
pub struct MountTable {
    pub root: Node,
    pub links: Vec<Link>,
    /// The link that takes what the tree does not have.
    pub fallback: Option<usize>,
    /// The link that the whole view leads to.
    pub merge: Option<usize>,
    /// The directory of home directories.
    pub home: String,
}

/// The links of a table as the configuration has them.
#[derive(Default)]
struct Entries {
    links: BTreeMap<String, String>,
    fallback: Option<String>,
    merge: Option<String>,
    home: Option<String>,
    is_empty: bool,
}

impl Entries {
    fn read(conf: &Conf, name: &str) -> Outcome<Entries> {
        let prefix = format!("fs.viewfs.mounttable.{name}.");
        let mut entries = Entries { is_empty: true, ..Entries::default() };
        let names: Vec<String> = conf
            .iter()
            .filter_map(|(key, _)| key.strip_prefix(&prefix).map(str::to_owned))
            .collect();
        for entry in names {
            entries.is_empty = false;
            let key = format!("{prefix}{entry}");
            let value = conf.get_raw(&key).unwrap_or_default();
            entries.add(&prefix, &entry, value.trim())?;
        }
        Ok(entries)
    }

    fn add(&mut self, prefix: &str, entry: &str, target: &str) -> Outcome {
        let not_here = |what: &str| {
            Failure::unsupported(format!(
                "{prefix}{entry}: {what} is not supported; use link entries"
            ))
        };
        if let Some(source) = entry.strip_prefix("link.") {
            if source == "/" {
                return Err(Failure::unsupported(format!(
                    "Unexpected mount table link entry '{prefix}{entry}'. Use linkMergeSlash instead!"
                )));
            }
            if !source.starts_with('/') {
                return Err(Failure::io(format!(
                    "ViewFs: Non absolute mount name in config:{source}"
                )));
            }
            self.links.insert(source.to_owned(), target.to_owned());
            return Ok(());
        }
        match entry {
            "linkFallback" => self.fallback = Some(target.to_owned()),
            "linkMergeSlash" => self.merge = Some(target.to_owned()),
            "homedir" => self.home = Some(target.to_owned()),
            _ if entry.starts_with("linkFallback") || entry.starts_with("linkMergeSlash") => {
                return Err(Failure::io(format!(
                    "ViewFs: Mount points initialization error. Invalid entry in config: {entry}"
                )));
            }
            _ if entry.starts_with("linkMerge.") => return Err(not_here("linkMerge")),
            _ if entry.starts_with("linkNfly") => return Err(not_here("linkNfly")),
            _ if entry.starts_with("linkRegex") => return Err(not_here("linkRegex")),
            _ if entry.starts_with("homedir") => {}
            _ => {
                return Err(Failure::io(format!(
                    "ViewFs: Cannot initialize: Invalid entry in Mount table in config: {entry}"
                )));
            }
        }
        Ok(())
    }
}

impl MountTable {
    /// Reads the table of a name.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `InodeTree`.
    pub fn read(conf: &Conf, name: &str) -> Outcome<MountTable> {
        let entries = Entries::read(conf, name)?;
        if entries.is_empty {
            return Err(Failure::io(format!(
                "ViewFs: Cannot initialize: Empty Mount table in config for viewfs://{name}/; \
                 set fs.viewfs.mounttable.{name}.link./PATH in core-site.xml"
            )));
        }
        let nested = conf.get(&keys::FS_VIEWFS_MOUNTTABLE_NESTED_MOUNT_POINT_SUPPORTED)?;
        let home = entries.home.unwrap_or_else(|| "/user".to_owned());
        let mut table = MountTable {
            root: Node::default(),
            links: Vec::new(),
            fallback: None,
            merge: None,
            home,
        };
        let has_links = !entries.links.is_empty() || entries.fallback.is_some();
        if let Some(target) = entries.merge {
            if has_links {
                return Err(Failure::io(format!(
                    "Mount table {name} has already been configured with a merge slash link. \
                     A regular link should not be added."
                )));
            }
            table.merge = Some(table.add_link("/", target));
            return Ok(table);
        }
        for (path, target) in entries.links {
            table.mount(&path, target, nested)?;
        }
        if let Some(target) = entries.fallback {
            table.fallback = Some(table.add_link("/", target));
        }
        Ok(table)
    }

    fn add_link(&mut self, path: &str, target: String) -> usize {
        self.links.push(Link { path: path.to_owned(), target });
        self.links.len() - 1
    }

    fn mount(&mut self, path: &str, target: String, nested: bool) -> Outcome {
        let number = self.add_link(path, target);
        let mut node = &mut self.root;
        let mut at = String::new();
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        while let Some(name) = names.next() {
            at = format!("{at}/{name}");
            let is_last = names.peek().is_none();
            if is_last && node.children.contains_key(name) {
                return Err(Failure::exists_as(format!(
                    "Path {at} already exists as dir; cannot create link here"
                )));
            }
            node = node.children.entry(name.to_owned()).or_default();
            if !is_last && node.link.is_some() && !nested {
                return Err(Failure::exists_as(format!("Path {at} already exists as link")));
            }
        }
        node.link = Some(number);
        Ok(())
    }

    /// Returns the directory of the tree with a path.
    pub fn directory(&self, path: &str) -> Option<&Node> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(&self.root, |node, name| node.children.get(name))
    }

    /// Resolves a path; with `last` its last name, too, which names what is to be created otherwise.
    ///
    /// # Errors
    /// Fails with [`Kind::NotFound`](crate::failure::Kind::NotFound) if neither the tree nor a link has the path.
    pub fn resolve(&self, path: &str, last: bool) -> Outcome<Place> {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let below = |from: usize| format!("/{}", names.get(from..).unwrap_or_default().join("/"));
        let linked = |link, rest| Ok(Place::Linked { link, rest, by_mount_point: true });
        if let Some(link) = self.merge {
            return linked(link, below(0));
        }
        let mut node = &self.root;
        // Where mount points are nested, the innermost one above the path takes it.
        let mut above: Option<(usize, usize)> = None;
        let resolved = if last { names.len() } else { names.len().saturating_sub(1) };
        for (at, name) in names.iter().take(resolved).enumerate() {
            let Some(next) = node.children.get(*name) else {
                return match (above, self.fallback) {
                    (Some((link, depth)), _) => linked(link, below(depth)),
                    (None, Some(link)) => {
                        Ok(Place::Linked { link, rest: path.to_owned(), by_mount_point: false })
                    }
                    (None, None) => {
                        let missing = names.get(..=at).unwrap_or_default().join("/");
                        Err(Failure {
                            text: format!("File/Directory does not exist: /{missing}"),
                            ..Failure::not_found(path)
                        })
                    }
                };
            };
            node = next;
            if let Some(link) = node.link {
                above = Some((link, at + 1));
                if node.children.is_empty() {
                    return linked(link, below(at + 1));
                }
            }
        }
        match above {
            Some((link, depth)) => linked(link, below(depth)),
            None => {
                let directory = format!("/{}", names.get(..resolved).unwrap_or_default().join("/"));
                Ok(Place::Internal { directory, rest: below(resolved) })
            }
        }
    }

    /// Returns the path in the view of a path in the file system of a link. The link leads to the
    /// directory `root`.
    pub fn view_path(&self, link: usize, root: &str, path: &str) -> String {
        let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path);
        let mounted_on = self.links.get(link).map_or("/", |link| &link.path).trim_end_matches('/');
        match below {
            "" | "/" if mounted_on.is_empty() => "/".to_owned(),
            "" | "/" => mounted_on.to_owned(),
            below => format!("{mounted_on}{below}"),
        }
    }
}

/// Returns a path of a fallback for a name that an internal directory lacks.
pub fn fallback_path(directory: &str, rest: &str) -> String {
    match parent(rest) {
        None => directory.to_owned(),
        Some(_) => child(directory, file_name(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    fn table(entries: &[(&str, &str)]) -> Outcome<MountTable> {
        let mut conf = Conf::new();
        for (name, value) in entries {
            conf.set(&format!("fs.viewfs.mounttable.c.{name}"), *value);
        }
        MountTable::read(&conf, "c")
    }

    fn linked(link: usize, rest: &str, by_mount_point: bool) -> Place {
        Place::Linked { link, rest: rest.to_owned(), by_mount_point }
    }

    fn internal(directory: &str, rest: &str) -> Place {
        Place::Internal { directory: directory.to_owned(), rest: rest.to_owned() }
    }

    #[test]
    fn paths_resolve_to_links_and_to_the_tree() {
        let table = table(&[("link./data", "hdfs://a/d"), ("link./x/y", "hdfs://b/")]).unwrap();
        let place = |path, last| table.resolve(path, last).unwrap();
        assert_eq!(place("/", true), internal("/", "/"));
        assert_eq!(place("/data", true), linked(0, "/", true));
        assert_eq!(place("/data/a/b", true), linked(0, "/a/b", true));
        assert_eq!(place("/x", true), internal("/x", "/"));
        assert_eq!(place("/x/y/z", false), linked(1, "/z", true));
        assert_eq!(place("/x/new", false), internal("/x", "/new"));
        assert_eq!(place("/new", false), internal("/", "/new"));
        let missing = table.resolve("/x/none/f", true).unwrap_err();
        assert_eq!(
            (missing.kind, &*missing.text),
            (Kind::NotFound, "File/Directory does not exist: /x/none")
        );
        assert_eq!(table.view_path(0, "/d", "/d/a"), "/data/a");
        assert_eq!(table.view_path(0, "/d", "/d"), "/data");
        assert_eq!(table.view_path(1, "/", "/a"), "/x/y/a");
    }

    #[test]
    fn a_fallback_takes_what_the_tree_lacks_and_a_merge_takes_all() {
        let fallback = table(&[("link./a/b", "hdfs://a/"), ("linkFallback", "hdfs://f/")]).unwrap();
        assert_eq!(fallback.resolve("/a/c/d", true).unwrap(), linked(1, "/a/c/d", false));
        assert_eq!(fallback.resolve("/a", true).unwrap(), internal("/a", "/"));
        assert_eq!(fallback.view_path(1, "/", "/a/c"), "/a/c");
        let merge = table(&[("linkMergeSlash", "hdfs://m/r")]).unwrap();
        assert_eq!(merge.resolve("/a/b", false).unwrap(), linked(0, "/a/b", true));
        assert_eq!(merge.view_path(0, "/r", "/r"), "/");
    }

    /// Hadoop loses the names between a mount point and a directory that leads to a nested one: /a/b/x became /x.
    #[test]
    fn a_path_beside_a_nested_mount_point_keeps_all_its_names() {
        let table = table(&[("link./a", "hdfs://a/"), ("link./a/b/c", "hdfs://c/")]).unwrap();
        assert_eq!(table.resolve("/a/b/x", true).unwrap(), linked(0, "/b/x", true));
        assert_eq!(table.resolve("/a/b", true).unwrap(), linked(0, "/b", true));
        assert_eq!(table.resolve("/a/b/c/x", true).unwrap(), linked(1, "/x", true));
    }

    #[test]
    fn entries_that_mean_nothing_here_are_refused_by_name() {
        for (entries, problem) in [
            (&[("linkNfly.minReplication=2./a", "hdfs://a/,hdfs://b/")][..], "linkNfly is not"),
            (&[("linkRegex.#.^/u/(.*)", "hdfs://a/$1")], "linkRegex is not"),
            (&[("linkMerge./a", "hdfs://a/,hdfs://b/")], "linkMerge is not"),
            (&[("link./", "hdfs://a/")], "Use linkMergeSlash"),
            (&[("link.a", "hdfs://a/")], "Non absolute mount name"),
            (&[("lnk./a", "hdfs://a/")], "Invalid entry"),
            (&[], "Empty Mount table in config for viewfs://c/"),
            (&[("link./a", "hdfs://a/"), ("linkMergeSlash", "hdfs://b/")], "merge slash link"),
        ] {
            let refused = table(entries).unwrap_err();
            assert!(refused.text.contains(problem), "{refused}");
        }
        let mut conf = Conf::new();
        conf.set("fs.viewfs.mounttable.c.link./a", "hdfs://a/");
        conf.set("fs.viewfs.mounttable.c.link./a/b", "hdfs://b/");
        conf.set("fs.viewfs.mounttable.nested.mount.point.supported", "false");
        let refused = MountTable::read(&conf, "c").unwrap_err();
        assert_eq!(refused.text, "Path /a already exists as link");
    }
}
