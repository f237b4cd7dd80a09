//! The configuration in force, as the `/conf` pages of Hadoop's servers show it.

use crate::site_file::site_file;
use crate::{Conf, ConfigRedactor, keys};

/// One value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The key's name.
    pub name: String,
    /// Its value after substitution; `None` where it is kept off pages.
    pub value: Option<String>,
    /// Whether a file made it final.
    pub is_final: bool,
    /// Where the value comes from.
    pub source: String,
}

/// All values in force in order of name, or the one of `wanted`.
pub fn properties(conf: &Conf, wanted: Option<&str>) -> Vec<Property> {
    let mut names: Vec<String> = keys::all().map(|key| key.name.to_owned()).collect();
    names.extend(conf.iter().map(|(name, _)| name.to_owned()));
    names.sort_unstable();
    names.dedup();
    let redactor = ConfigRedactor::new(conf);
    let shown = names.into_iter().filter(|name| wanted.is_none_or(|wanted| wanted == name));
    let property = |name: String| {
        let value = conf.get_raw(&name)?;
        let source = conf.source(&name).map(|source| source.to_string()).unwrap_or_default();
        let value = (!redactor.is_sensitive(&name)).then_some(value);
        Some(Property { is_final: conf.is_final(&name), name, value, source })
    };
    shown.filter_map(property).collect()
}

/// The page as XML, which reads as a configuration file.
pub fn xml(properties: &[Property]) -> String {
    site_file(properties.iter().map(|property| {
        [
            ("name", property.name.as_str()),
            ("value", property.value.as_deref().unwrap_or("******")),
            ("final", if property.is_final { "true" } else { "false" }),
            ("source", property.source.as_str()),
        ]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_reads_as_the_configuration_it_shows() {
        let mut conf = Conf::new();
        conf.set("dfs.domain.socket.path", "/run/a&b/<dn>");
        conf.set("my.password", "x");
        let mut read = Conf::new();
        read.parse_xml(xml(&properties(&conf, None)).as_bytes()).unwrap();
        assert_eq!(read.get_raw("dfs.domain.socket.path").unwrap(), "/run/a&b/<dn>");
        assert_eq!(read.get_raw("my.password").unwrap(), "******");
        assert_eq!(read.get_raw("dfs.replication"), conf.get_raw("dfs.replication"));
        assert_eq!(properties(&conf, Some("dfs.replication")).len(), 1);
    }
}
