//! The configuration itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{
    Authority, ConfError, Key, Source, Unit, Value, default_fs, keys, replaced_by, substitute, xml,
};

/// The files of a configuration directory, in the order in which Hadoop lays them over each other.
const SITE_FILES: [&str; 3] = ["core-site.xml", "hdfs-site.xml", "hdfs-rbf-site.xml"];

/// Values by key, each with its source. Cloning copies what was set; the defaults are shared.
#[derive(Debug, Clone, Default)]
pub struct Conf {
    entries: BTreeMap<String, Entry>,
    finals: BTreeSet<String>,
    deprecated: BTreeMap<String, Source>,
    warnings: Vec<String>,
    directory: Option<PathBuf>,
}

#[derive(Debug, Clone)]
struct Entry {
    value: String,
    source: Source,
}

impl Conf {
    /// Only the defaults.
    pub fn new() -> Self {
        Conf::default()
    }

    /// The site files of a directory over the defaults; files that are not there are left out.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self, ConfError> {
        let directory = directory.as_ref();
        std::fs::read_dir(directory)
            .map_err(|source| ConfError::Read { path: directory.to_owned(), source })?;
        let mut conf = Conf { directory: Some(directory.to_owned()), ..Conf::new() };
        for name in SITE_FILES {
            let path = directory.join(name);
            if path.exists() {
                conf.add_file(path)?;
            }
        }
        Ok(conf)
    }

    /// The directory HADOOP_CONF_DIR, else HADOOP_HOME/etc/hadoop where it exists, else the defaults.
    pub fn from_env() -> Result<Self, ConfError> {
        if let Some(directory) = std::env::var_os("HADOOP_CONF_DIR").filter(|name| !name.is_empty())
        {
            return Conf::load(PathBuf::from(directory));
        }
        let home = std::env::var_os("HADOOP_HOME").filter(|name| !name.is_empty());
        match home.map(|home| PathBuf::from(home).join("etc/hadoop")).filter(|dir| dir.is_dir()) {
            Some(directory) => Conf::load(directory),
            None => Ok(Conf::new()),
        }
    }

    /// The directory that was loaded.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The same configuration, with its files read again. What the command line and the program set
    /// stays.
    ///
    /// # Errors
    /// As [`Conf::load`].
    pub fn reload(&self) -> Result<Self, ConfError> {
        let mut conf = match &self.directory {
            Some(directory) => Conf::load(directory)?,
            None => Conf::new(),
        };
        let mut files: Vec<&Path> = Vec::new();
        for entry in self.entries.values() {
            if let Source::File { path, .. } = &entry.source
                && path.parent() != self.directory.as_deref()
                && !files.contains(&&**path)
            {
                files.push(path);
            }
        }
        for file in files {
            conf.add_file(file)?;
        }
        for (name, entry) in &self.entries {
            if matches!(entry.source, Source::CommandLine | Source::Program) {
                conf.insert(name.clone(), entry.clone());
            }
        }
        Ok(conf)
    }

    /// Lays a file over what is there. Properties that an earlier file made final stay.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> Result<(), ConfError> {
        let properties = xml::read_file(path.as_ref())?;
        self.add_properties(properties);
        Ok(())
    }

    fn add_properties(&mut self, properties: Vec<xml::Property>) {
        // A file's own later properties are bound by its final ones too.
        for property in properties {
            let name = self.current_name(&property.name, &property.source);
            if self.finals.contains(&name) {
                if self.entries.get(&name).is_some_and(|entry| entry.value != property.value) {
                    self.warnings.push(format!(
                        "{}: an attempt to override final parameter: {name}; Ignoring.",
                        property.source
                    ));
                }
                continue;
            }
            if property.is_final {
                self.finals.insert(name.clone());
            }
            self.insert(name, Entry { value: property.value, source: property.source });
        }
    }

    /// Sets a value on behalf of the program; it counts more than any file.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.set_from(name, value, Source::Program);
    }

    /// Sets a value on behalf of the command line (`-D name=value`).
    pub fn set_option(&mut self, name: &str, value: impl Into<String>) {
        self.set_from(name, value, Source::CommandLine);
    }

    fn set_from(&mut self, name: &str, value: impl Into<String>, source: Source) {
        let name = self.current_name(name, &source);
        self.insert(name, Entry { value: value.into(), source });
    }

    fn insert(&mut self, name: String, entry: Entry) {
        let uri = default_fs::uri_of_old_name(entry.value.trim());
        if let Some(uri) = uri.filter(|_| name == keys::FS_DEFAULTFS.name) {
            let Entry { value, source } = &entry;
            self.warnings.push(format!(
                "{source}: \"{value}\" is a deprecated filesystem name. Use \"{uri}\" instead."
            ));
        }
        self.entries.insert(name, entry);
    }

    /// Removes what was set; the default counts again.
    pub fn unset(&mut self, name: &str) {
        self.entries.remove(replaced_by(name).unwrap_or(name));
    }

    /// The name that a deprecated one stands for now; remembers its use.
    fn current_name(&mut self, name: &str, source: &Source) -> String {
        let Some(new) = replaced_by(name) else { return name.to_owned() };
        if self.deprecated.insert(name.to_owned(), source.clone()).is_none() {
            self.warnings.push(format!("{source}: {name} is deprecated. Instead, use {new}"));
        }
        new.to_owned()
    }

    /// Things worth telling the user once: deprecated keys, attempts to change final ones.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The text of a value after substitution, its default where it is not set. Deprecated names
    /// lead to the current ones. `None`: neither set nor with a default, or its variables never end.
    pub fn get_raw(&self, name: &str) -> Option<String> {
        self.substituted(name).ok().flatten()
    }

    /// As [`Conf::get_raw`], but a value whose variables never end is an error.
    pub fn get_checked(&self, name: &str) -> Result<Option<String>, ConfError> {
        self.substituted(name)
    }

    fn substituted(&self, name: &str) -> Result<Option<String>, ConfError> {
        match self.unsubstituted(name) {
            Some(text) => self.expand(name, text).map(Some),
            None => Ok(None),
        }
    }

    fn expand(&self, name: &str, text: String) -> Result<String, ConfError> {
        let original = text.clone();
        substitute::substitute(text, |name| self.unsubstituted(name)).ok_or_else(|| {
            ConfError::Depth { key: name.to_owned(), depth: substitute::DEPTH_MAX, value: original }
        })
    }

    fn unsubstituted(&self, name: &str) -> Option<String> {
        let name = replaced_by(name).unwrap_or(name);
        match self.entries.get(name) {
            Some(entry) => Some(entry.value.clone()),
            None => {
                let default = match keys::find(name) {
                    Some(key) => key.default.to_owned(),
                    None => keys::other_default(name)?,
                };
                (!default.is_empty()).then_some(default)
            }
        }
    }

    /// The value of a key.
    pub fn get<T: Value>(&self, key: &Key<T>) -> Result<T, ConfError> {
        self.typed(key.name, key.default, key.unit)
    }

    /// The URI of the default file system: fs.defaultFS, a name of the old form made into a URI (as
    /// `FileSystem.getDefaultUri` does): `local` is `file:///`, and `host:port` is `hdfs://host:port`.
    ///
    /// # Errors
    /// As [`Conf::get`], and [`ConfError::Value`] for a text with a slash and no scheme in front of it,
    /// which Hadoop refuses too ("No scheme in default FS").
    pub fn default_fs(&self) -> Result<String, ConfError> {
        self.get_as(&keys::FS_DEFAULTFS, default_fs::EXPECTED, default_fs::uri_of)
    }

    /// Returns the authority of fs.defaultFS if it is an HDFS, or `None` otherwise.
    ///
    /// # Errors
    /// Returns the same errors as [`Conf::default_fs`].
    pub fn default_hdfs(&self) -> Result<Option<Authority>, ConfError> {
        Ok(default_fs::hdfs_of(&self.default_fs()?))
    }

    /// The value of a key that takes fewer values than its type: `read` gives `None` for one that does
    /// not fit. `expected` is what would, for the error: "one of CRC32C, CRC32, NULL".
    ///
    /// # Errors
    /// As [`Conf::get`], and [`ConfError::Value`] for what does not fit.
    pub fn get_as<T: Value, U>(
        &self,
        key: &Key<T>,
        expected: &'static str,
        read: impl FnOnce(T) -> Option<U>,
    ) -> Result<U, ConfError> {
        read(self.get(key)?).ok_or_else(|| self.misfit(key.name, expected))
    }

    /// The error for the value of `name`, which is not what was expected.
    pub fn misfit(&self, name: &str, expected: &'static str) -> ConfError {
        ConfError::Value {
            key: name.to_owned(),
            value: self.get_raw(name).unwrap_or_default().trim().to_owned(),
            origin: self.source(name).unwrap_or(Source::Default),
            expected,
        }
    }

    /// The value of a key for one name service or NameNode: `suffixes` are appended to the name
    /// with dots; without such a value the plain key counts.
    pub fn get_for<T: Value>(&self, key: &Key<T>, suffixes: &[&str]) -> Result<T, ConfError> {
        let mut name = key.name.to_owned();
        for suffix in suffixes.iter().filter(|suffix| !suffix.is_empty()) {
            name.push('.');
            name.push_str(suffix);
        }
        let named = if self.is_set(&name) { &name } else { key.name };
        self.typed(named, key.default, key.unit)
    }

    /// The value of a name that is not in the table, for names made at run time.
    pub fn get_named<T: Value>(
        &self,
        name: &str,
        default: &str,
        unit: Unit,
    ) -> Result<T, ConfError> {
        self.typed(name, default, unit)
    }

    fn typed<T: Value>(&self, name: &str, default: &str, unit: Unit) -> Result<T, ConfError> {
        let set = self.entries.get(replaced_by(name).unwrap_or(name));
        let text = set.map_or(default, |entry| entry.value.as_str());
        let expanded;
        let text = if text.contains("${") {
            expanded = self.expand(name, text.to_owned())?;
            expanded.trim()
        } else {
            text.trim()
        };
        if text.is_empty() {
            return T::absent().ok_or_else(|| ConfError::Missing { key: name.to_owned() });
        }
        T::parse(text, unit).ok_or_else(|| ConfError::Value {
            key: name.to_owned(),
            value: text.to_owned(),
            origin: set.map_or(Source::Default, |entry| entry.source.clone()),
            expected: T::EXPECTED,
        })
    }

    /// Whether a file, the command line or the program set this name (or its deprecated one).
    pub fn is_set(&self, name: &str) -> bool {
        self.entries.contains_key(replaced_by(name).unwrap_or(name))
    }

    /// Whether a file made this name final.
    pub fn is_final(&self, name: &str) -> bool {
        self.finals.contains(replaced_by(name).unwrap_or(name))
    }

    /// Where the value of a name comes from; `None` where it has none.
    pub fn source(&self, name: &str) -> Option<Source> {
        let name = replaced_by(name).unwrap_or(name);
        match self.entries.get(name) {
            Some(entry) => Some(entry.source.clone()),
            None => self.get_raw(name).map(|_| Source::Default),
        }
    }

    /// The names that were set with their values before substitution, in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry.value.as_str()))
    }

    /// The configuration of one NameNode: values of `key.nameservice.namenode` and
    /// `key.nameservice` take the place of those of `key`.
    pub fn specialize(&self, nameservice: Option<&str>, namenode: Option<&str>) -> Conf {
        let mut special = self.clone();
        let Some(nameservice) = nameservice else { return special };
        let mut suffixes = vec![format!(".{nameservice}")];
        if let Some(namenode) = namenode {
            suffixes.push(format!(".{nameservice}.{namenode}"));
        }
        for suffix in suffixes {
            for (name, entry) in &self.entries {
                if let Some(plain) = name.strip_suffix(suffix.as_str())
                    && keys::find(plain).is_some()
                {
                    special.entries.insert(plain.to_owned(), entry.clone());
                }
            }
        }
        special
    }

    /// Parses the text of a configuration file, as tests and fuzzers have it.
    pub fn parse_xml(&mut self, text: &[u8]) -> Result<(), ConfError> {
        let mut properties = Vec::new();
        xml::parse(text, Path::new("configuration.xml"), 0, &mut properties)?;
        self.add_properties(properties);
        Ok(())
    }
}
