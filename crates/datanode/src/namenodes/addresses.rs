//! Which NameNodes there are, by name service.

use crate::error::Error;
use zerohop_conf::{Conf, keys};

/// The port of a NameNode whose address names none.
const RPC_PORT: u16 = 8020;

/// A name service: one block pool, one active NameNode and perhaps standbys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameService {
    /// Its name; empty when only one NameNode is configured.
    pub(crate) name: String,
    /// `host:port` of each of its NameNodes.
    pub(crate) namenodes: Vec<String>,
    /// `host:port` that each of them takes lifelines at, if it does.
    pub(crate) lifelines: Vec<Option<String>>,
}

/// The name services this DataNode serves.
pub(crate) fn name_services(conf: &Conf) -> Result<Vec<NameService>, Error> {
    let internal = conf.get(&keys::DFS_INTERNAL_NAMESERVICES)?;
    let names = if internal.is_empty() { conf.get(&keys::DFS_NAMESERVICES)? } else { internal };
    if names.is_empty() {
        let address = match rpc_address(conf, &[])? {
            Some(address) => Some(address),
            None => default_fs(conf)?,
        };
        let address = address.ok_or_else(|| {
            Error::Config(
                "no NameNode is configured: set fs.defaultFS or dfs.namenode.rpc-address".into(),
            )
        })?;
        let lifelines = vec![lifeline_address(conf, &[])?];
        return Ok(vec![NameService { name: String::new(), namenodes: vec![address], lifelines }]);
    }
    names.into_iter().map(|name| name_service(conf, name)).collect()
}

fn name_service(conf: &Conf, name: String) -> Result<NameService, Error> {
    let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[&name])?;
    let (mut namenodes, mut lifelines) = (Vec::new(), Vec::new());
    let mut add = |suffixes: &[&str]| -> Result<(), Error> {
        let Some(address) = rpc_address(conf, suffixes)? else {
            let key = keys::DFS_NAMENODE_RPC_ADDRESS.name;
            return Err(Error::Config(format!(
                "{key}.{} is not set: set it to HOST:PORT of this NameNode of the name service {name}",
                suffixes.join(".")
            )));
        };
        namenodes.push(address);
        lifelines.push(lifeline_address(conf, suffixes)?);
        Ok(())
    };
    if ids.is_empty() {
        add(&[&name])?;
    }
    // A DataNode that one of them does not know of is of no use after a failover.
    for id in &ids {
        add(&[&name, id])?;
    }
    Ok(NameService { name, namenodes, lifelines })
}

fn rpc_address(conf: &Conf, suffixes: &[&str]) -> Result<Option<String>, Error> {
    let service = conf.get_for(&keys::DFS_NAMENODE_SERVICERPC_ADDRESS, suffixes)?;
    let address = match service {
        Some(address) => Some(address),
        None => conf.get_for(&keys::DFS_NAMENODE_RPC_ADDRESS, suffixes)?,
    };
    Ok(address.filter(|address| !address.is_empty()).map(|address| with_port(&address)))
}

fn lifeline_address(conf: &Conf, suffixes: &[&str]) -> Result<Option<String>, Error> {
    let address = conf.get_for(&keys::DFS_NAMENODE_LIFELINE_RPC_ADDRESS, suffixes)?;
    Ok(address.filter(|address| !address.is_empty()))
}

fn default_fs(conf: &Conf) -> Result<Option<String>, Error> {
    Ok(conf.default_hdfs()?.map(|authority| authority.address()))
}

fn with_port(address: &str) -> String {
    let address = address.trim();
    match address.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_ok() => address.to_owned(),
        _ => format!("{address}:{RPC_PORT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services(settings: &[(&str, &str)]) -> Result<Vec<NameService>, Error> {
        let mut conf = Conf::new();
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        name_services(&conf)
    }

    #[test]
    fn one_namenode_comes_from_the_default_file_system() {
        let found = services(&[("fs.defaultFS", "hdfs://nn1")]).unwrap();
        assert_eq!(
            found,
            [NameService {
                name: String::new(),
                namenodes: vec!["nn1:8020".into()],
                lifelines: vec![None]
            }]
        );
        let found = services(&[("fs.defaultFS", "nn1:9000")]).unwrap();
        assert_eq!(found[0].namenodes, ["nn1:9000"]);
    }

    #[test]
    fn a_pair_comes_from_the_name_service() {
        let found = services(&[
            ("dfs.nameservices", "c"),
            ("dfs.ha.namenodes.c", "a,b"),
            ("dfs.namenode.rpc-address.c.a", "h1:9000"),
            ("dfs.namenode.rpc-address.c.b", "h2:9000"),
            ("dfs.namenode.lifeline.rpc-address.c.b", "h2:8050"),
        ]);
        let found = found.unwrap();
        assert_eq!(found[0].namenodes, ["h1:9000", "h2:9000"]);
        assert_eq!(found[0].lifelines, [None, Some("h2:8050".to_owned())]);
    }

    #[test]
    fn no_namenode_is_an_error_that_says_what_to_set() {
        assert!(services(&[]).unwrap_err().to_string().contains("fs.defaultFS"));
        let pair = [("dfs.nameservices", "c"), ("dfs.ha.namenodes.c", "a,b")];
        let one = [&pair[..], &[("dfs.namenode.rpc-address.c.a", "h1:9000")]].concat();
        let error = services(&one).unwrap_err().to_string();
        assert!(error.contains("dfs.namenode.rpc-address.c.b is not set: set it to"), "{error}");
    }
}
