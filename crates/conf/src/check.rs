//! What is wrong with a configuration as a whole: promises that are not kept, keys without effect.

use crate::keys::{self, Status, status};
use crate::protection::PROTECTIONS;
use crate::refusal::{Refusal, Refusals};
use crate::{Conf, ConfError, Role, Source, closest, replaced_by};

/// Keys that begin so are read by HDFS and by nothing else.
const OWN_PREFIXES: [&str; 3] = ["dfs.", "ipc.", "zerohop."];

/// Hadoop's class that puts the cross-origin filter in front of the HTTP ports.
pub const CROSS_ORIGIN_FILTER: &str = "org.apache.hadoop.security.HttpCrossOriginFilterInitializer";

/// Refuses a configuration that promises protection or exclusivity which `role` does not implement.
///
/// # Errors
/// [`ConfError::Refused`] with all values that are in the way.
pub fn check_protections(conf: &Conf, role: Role) -> Result<(), ConfError> {
    let services = own_services(conf);
    let mut list = Vec::new();
    for row in PROTECTIONS.iter().filter(|row| row.roles.contains(&role)) {
        for (name, text) in conf.iter() {
            if name != row.name && !is_of_service(name, row.name, &services) {
                continue;
            }
            let value = conf.get_raw(name).unwrap_or_else(|| text.to_owned());
            let refused = row.accepts.refused(&value);
            if !refused.is_empty() {
                let origin = conf.source(name).unwrap_or(Source::Default);
                list.push(Refusal::new(row, name, &refused.join(","), origin));
            }
        }
    }
    if list.is_empty() { Ok(()) } else { Err(ConfError::Refused(Refusals { role, list })) }
}

/// One line for each key that was set and has no effect, because it is not implemented.
pub fn ineffective_keys(conf: &Conf) -> Vec<String> {
    let services = all_services(conf);
    let is_ineffective = |name: &str| {
        let base = base_name(name, &services);
        // A promise that is not implemented is refused by those whom it binds.
        let is_promise = PROTECTIONS.iter().any(|row| row.name == base);
        !is_promise && status(base) == Some(Status::NotImplemented)
    };
    let names = conf.iter().map(|(name, _)| name).filter(|name| is_ineffective(name));
    let unimplemented = names.map(|name| {
        let origin = conf.source(name).unwrap_or(Source::Default);
        format!("{origin}: {name} has no effect: it is not implemented")
    });
    unimplemented.chain(cross_origin_without_filter(conf)).collect()
}

/// Returns a line if the cross-origin filter is enabled and the filter initializers do not name it, as in Apache Hadoop.
fn cross_origin_without_filter(conf: &Conf) -> Option<String> {
    let (enabled, filters) =
        (&keys::HADOOP_HTTP_CROSS_ORIGIN_ENABLED, &keys::HADOOP_HTTP_FILTER_INITIALIZERS);
    let is_named = words(conf, filters.name).iter().any(|class| class == CROSS_ORIGIN_FILTER);
    (conf.get(enabled).unwrap_or_default() && !is_named).then(|| {
        let origin = conf.source(enabled.name).unwrap_or(Source::Default);
        format!(
            "{origin}: {} has no effect: {} does not name {CROSS_ORIGIN_FILTER}",
            enabled.name, filters.name
        )
    })
}

/// One line for each key that was set and that neither Hadoop nor zerohop has: where the key is like one
/// of theirs, or can be of nobody else. Other programs keep their own keys in the same files.
pub fn unknown_keys(conf: &Conf) -> Vec<String> {
    let services = all_services(conf);
    let known = keys::names();
    let mut lines = Vec::new();
    for (name, _) in conf.iter() {
        let base = base_name(name, &services);
        if status(base).is_some() || replaced_by(base).is_some() {
            continue;
        }
        let meant = closest(name, known.iter().copied());
        if meant.is_none() && !OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let origin = conf.source(name).unwrap_or(Source::Default);
        let meant = meant.map_or(String::new(), |key| format!("; did you mean {key}?"));
        lines.push(format!("{origin}: {name} is no key of Hadoop or zerohop{meant}"));
    }
    lines
}

fn words(conf: &Conf, name: &str) -> Vec<String> {
    let text = conf.get_raw(name).unwrap_or_default();
    text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

fn all_services(conf: &Conf) -> Vec<String> {
    let keys = [
        keys::DFS_NAMESERVICES.name,
        keys::DFS_INTERNAL_NAMESERVICES.name,
        keys::DFS_NAMESERVICE_ID.name,
    ];
    keys.iter().flat_map(|key| words(conf, key)).collect()
}

/// The name services that this process may belong to; others may be those of other clusters.
fn own_services(conf: &Conf) -> Vec<String> {
    let keys = [
        keys::DFS_NAMESERVICE_ID.name,
        keys::DFS_INTERNAL_NAMESERVICES.name,
        keys::DFS_NAMESERVICES.name,
    ];
    keys.iter().map(|key| words(conf, key)).find(|words| !words.is_empty()).unwrap_or_default()
}

/// Whether `name` is `key` for one of the name services, or for a NameNode of one.
fn is_of_service(name: &str, key: &str, services: &[String]) -> bool {
    let Some(suffix) = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('.')) else {
        return false;
    };
    services.iter().any(|service| {
        suffix
            .strip_prefix(service.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// A name without the name service and the NameNode that it is for.
fn base_name<'a>(name: &'a str, services: &[String]) -> &'a str {
    let bases = name.rmatch_indices('.').take(2).map(|(at, _)| &name[..at]);
    let mut bases = bases.filter(|base| is_of_service(name, base, services));
    bases.find(|base| status(base).is_some()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(pairs: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::new();
        pairs.iter().for_each(|(name, value)| conf.set_option(name, *value));
        conf
    }

    #[test]
    fn a_misspelt_key_was_taken_without_a_word() {
        let conf = conf(&[
            ("dfs.replicatoin", "2"),
            ("dfs.no.such.key.at.all", "2"),
            ("my.program.key", "2"),
            ("dfs.replication", "2"),
            ("dfs.block.size", "1m"),
            ("dfs.nameservices", "c"),
            ("dfs.namenode.rpc-address.c.a", "h:1"),
            ("hadoop.proxyuser.x.hosts", "*"),
        ]);
        let lines = unknown_keys(&conf);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines.iter().any(|line| line.ends_with("did you mean dfs.replication?")));
        assert!(lines.iter().any(|line| line.ends_with("dfs.no.such.key.at.all is no key of Hadoop or zerohop")));
    }

    fn refused(conf: &Conf, role: Role) -> Vec<String> {
        match check_protections(conf, role) {
            Ok(()) => Vec::new(),
            Err(ConfError::Refused(refusals)) => {
                refusals.list.into_iter().map(|refusal| refusal.key).collect()
            }
            Err(error) => panic!("{error}"),
        }
    }

    const ALL: [Role; 3] = [Role::NameNode, Role::DataNode, Role::Client];

    /// The start went on with hadoop.security.authentication=kerberos and others, and without what
    /// they promise.
    #[test]
    fn a_promise_that_is_not_implemented_is_refused_by_those_it_binds() {
        for (name, value, roles) in [
            ("hadoop.security.authentication", "kerberos", &ALL[..]),
            ("hadoop.security.authorization", "true", &ALL[..2]),
            ("hadoop.rpc.protection", "privacy", &ALL[..]),
            ("hadoop.rpc.protection", "authentication,integrity", &ALL[..]),
            ("dfs.encrypt.data.transfer", "true", &ALL[..]),
            ("dfs.data.transfer.protection", "integrity", &ALL[..]),
            ("dfs.block.access.token.enable", "true", &ALL[..2]),
            ("dfs.http.policy", "HTTPS_ONLY", &ALL[..2]),
            ("dfs.namenode.inode.attributes.provider.class", "x", &ALL[..1]),
            (
                "hadoop.security.group.mapping",
                "org.apache.hadoop.security.LdapGroupsMapping",
                &ALL[..2],
            ),
        ] {
            let conf = conf(&[(name, value)]);
            for role in ALL {
                let wanted: &[&str] = if roles.contains(&role) { &[name] } else { &[] };
                assert_eq!(refused(&conf, role), wanted, "{name}={value} {role}");
            }
        }
    }

    /// The gateway used to start with a group mapping, an impersonation provider and client certificates that it did not
    /// implement, and with any filter.
    #[test]
    fn the_gateway_started_without_what_other_daemons_refuse() {
        for (name, value, refused_part) in [
            ("hadoop.security.group.mapping", "org.apache.hadoop.security.LdapGroupsMapping", ""),
            ("httpfs.groups.hadoop.security.group.mapping", "a.Mapping", ""),
            ("hadoop.security.impersonation.provider.class", "a.Provider", ""),
            ("hadoop.security.instrumentation.requires.admin", "true", ""),
            ("hadoop.ssl.require.client.cert", "true", ""),
            (
                "hadoop.http.filter.initializers",
                "org.apache.hadoop.security.HttpCrossOriginFilterInitializer, a.Filter,b.Filter",
                "a.Filter,b.Filter",
            ),
        ] {
            let error = check_protections(&conf(&[(name, value)]), Role::Gateway).unwrap_err();
            let refused = if refused_part.is_empty() { value } else { refused_part };
            let text = error.to_string();
            assert!(text.starts_with(&format!("{name}: `{refused}' from ")), "{text}");
        }
    }

    #[test]
    fn the_cross_origin_filter_was_enabled_and_not_named_without_a_word() {
        let mut conf = conf(&[("hadoop.http.cross-origin.enabled", "true")]);
        let lines = ineffective_keys(&conf);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("hadoop.http.filter.initializers does not name"), "{lines:?}");
        conf.set(keys::HADOOP_HTTP_FILTER_INITIALIZERS.name, format!("x, {CROSS_ORIGIN_FILTER}"));
        assert!(ineffective_keys(&conf).is_empty());
    }

    /// A shell prints the first line of an error alone; that line said how many values were refused and not which.
    #[test]
    fn the_first_line_of_several_refusals_did_not_name_them() {
        let conf = conf(&[
            ("hadoop.security.authentication", "kerberos"),
            ("hadoop.rpc.protection", "authentication,privacy"),
        ]);
        let text = check_protections(&conf, Role::Client).unwrap_err().to_string();
        assert_eq!(
            text.lines().next().unwrap(),
            "the client refuses 2 values of the configuration: hadoop.security.authentication=kerberos, hadoop.rpc.protection=privacy"
        );
    }

    #[test]
    fn the_defaults_and_values_that_promise_nothing_are_accepted() {
        for row in PROTECTIONS {
            let default = Conf::new().get_raw(row.name).unwrap_or_default();
            assert!(row.accepts.refused(&default).is_empty(), "{}: {default}", row.name);
            assert!(status(row.name).is_some(), "{} is not known", row.name);
            assert!(!row.lacks.ends_with('.') && !row.roles.is_empty());
            assert_eq!(PROTECTIONS.iter().filter(|other| other.name == row.name).count(), 1);
        }
        let harmless = conf(&[
            ("hadoop.security.authentication", " SIMPLE "),
            ("dfs.encrypt.data.transfer", "False"),
            ("dfs.data.transfer.protection", ""),
            ("hadoop.rpc.protection", "authentication"),
        ]);
        ALL.iter().for_each(|role| assert!(check_protections(&harmless, *role).is_ok()));
        assert_eq!(ineffective_keys(&harmless), Vec::<String>::new());
    }

    #[test]
    fn all_refusals_are_listed_with_value_origin_and_advice() {
        let conf =
            conf(&[("dfs.http.policy", "HTTPS_ONLY"), ("dfs.encrypt.data.transfer", "true")]);
        let text = check_protections(&conf, Role::DataNode).unwrap_err().to_string();
        assert_eq!(
            text,
            "the DataNode refuses 2 values of the configuration: dfs.encrypt.data.transfer=true, dfs.http.policy=HTTPS_ONLY\n  \
             dfs.encrypt.data.transfer: `true' from the command line is refused: block data is not encrypted on the wire; set it to false to go without it\n  \
             dfs.http.policy: `HTTPS_ONLY' from the command line is refused: the web pages are served by HTTP only; set it to HTTP_ONLY or HTTP_AND_HTTPS to go without it"
        );
        let text = check_protections(&conf, Role::Client).unwrap_err().to_string();
        assert!(text.starts_with("dfs.encrypt.data.transfer: `true'"), "{text}");
    }

    /// What is said of another name service in the same files does not bind this one.
    #[test]
    fn a_promise_for_another_name_service_is_not_refused() {
        let mut both = conf(&[
            ("dfs.nameservices", "theirs,mine"),
            ("dfs.namenode.inode.attributes.provider.class.theirs.a", "x"),
        ]);
        let refused_key = "dfs.namenode.inode.attributes.provider.class.theirs.a";
        assert_eq!(refused(&both, Role::NameNode), [refused_key]);
        assert!(refused(&both, Role::DataNode).is_empty());
        both.set("dfs.nameservice.id", "mine");
        assert!(refused(&both, Role::NameNode).is_empty());
    }

    /// About 90 keys were accepted, and nothing obeyed them.
    #[test]
    fn a_key_that_nothing_obeys_is_warned_of_once() {
        let conf = conf(&[
            ("dfs.nameservices", "ns"),
            ("dfs.xframe.value", "DENY"),
            ("dfs.namenode.http-address.ns", "h:1"),
            ("dfs.namenode.plugins.ns", "x"),
            ("dfs.replication", "2"),
            ("fs.s3a.secret.key", "x"),
            ("my.own", "x"),
        ]);
        let origin = "the command line";
        assert_eq!(
            ineffective_keys(&conf),
            [
                format!("{origin}: dfs.namenode.plugins.ns has no effect: it is not implemented"),
                format!("{origin}: dfs.xframe.value has no effect: it is not implemented"),
            ]
        );
    }
}
