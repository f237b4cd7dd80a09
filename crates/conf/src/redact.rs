//! Which values are kept off pages: those of the keys that `hadoop.security.sensitive-config-keys` matches.

use regex::bytes::{Regex, RegexBuilder};

use crate::{Conf, keys};

/// Tells the names whose values are not shown.
#[derive(Debug)]
pub struct ConfigRedactor {
    /// `None` where one of the expressions cannot be read: then nothing is shown.
    patterns: Option<Vec<Regex>>,
}

impl ConfigRedactor {
    /// By the expressions that `conf` has, or Hadoop's defaults; each is found anywhere in a name.
    pub fn new(conf: &Conf) -> Self {
        let list = conf.get(&keys::HADOOP_SECURITY_SENSITIVE_CONFIG_KEYS).ok();
        ConfigRedactor { patterns: list.and_then(|list| compiled(&list).ok()) }
    }

    /// Whether the value of `name` is kept off pages.
    pub fn is_sensitive(&self, name: &str) -> bool {
        match &self.patterns {
            Some(patterns) => patterns.iter().any(|pattern| pattern.is_match(name.as_bytes())),
            None => true,
        }
    }
}

/// The expressions of a list, as Java reads them: classes such as `\d` are those of ASCII.
fn compiled(list: &str) -> Result<Vec<Regex>, regex::Error> {
    let words = list.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| RegexBuilder::new(word).unicode(false).build()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENSITIVE: &str = keys::HADOOP_SECURITY_SENSITIVE_CONFIG_KEYS.name;

    /// Names were compared with a few words of our own, whatever the key said.
    #[test]
    fn the_key_of_sensitive_keys_had_no_effect() {
        let sensitive = |conf: &Conf, name| ConfigRedactor::new(conf).is_sensitive(name);
        let mut conf = Conf::new();
        for (name, hidden) in [
            ("fs.s3a.secret.key", true),
            ("fs.s3a.bucket.x.secret.key", true),
            ("fs.azure.account.key.me", true),
            ("hadoop.security.group.mapping.ldap.bind.password", true),
            ("ssl.server.keystore.keypassword", true),
            ("hadoop.security.sensitive-config-keys", true),
            ("dfs.replication", false),
            // Java's expressions end there; `password.file` is a path.
            ("hadoop.security.group.mapping.ldap.bind.password.file", false),
            ("dfs.block.access.token.enable", false),
        ] {
            assert_eq!(sensitive(&conf, name), hidden, "{name}");
        }
        conf.set(SENSITIVE, "^my[.]\\w, , plan$\n secret");
        for (name, hidden) in [
            ("my.own", true),
            ("a.plan", true),
            ("secrets", true),
            ("own.my.x", false),
            ("a.password", false),
        ] {
            assert_eq!(sensitive(&conf, name), hidden, "{name}");
        }
        // What Java reads and we do not must not lay the rest open.
        conf.set(SENSITIVE, "(?<!a)b, password$");
        assert!(sensitive(&conf, "dfs.replication"));
    }
}
