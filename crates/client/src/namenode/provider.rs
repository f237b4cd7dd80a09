//! How the NameNode for a call is picked (`dfs.client.failover.proxy.provider.NAMESERVICE`).

use zerohop_conf::{Conf, ConfError, keys};

/// How the NameNode for a call is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// One after the other, until one is active (`ConfiguredFailoverProxyProvider`).
    Configured,
    /// All are asked at once which one is active (`RequestHedgingProxyProvider`).
    Hedging,
    /// Reads go to observers (`ObserverReadProxyProvider`).
    ObserverRead,
}

impl Provider {
    /// The one that is configured for a name service. A class that is not known here is warned of: every one of them leads to the
    /// active NameNode.
    pub(super) fn from_conf(conf: &Conf, nameservice: &str) -> Result<Self, ConfError> {
        let key = &keys::DFS_CLIENT_FAILOVER_PROXY_PROVIDER;
        let class = conf.get_for(key, &[nameservice])?.unwrap_or_default();
        Ok(match class.rsplit('.').next().unwrap_or_default() {
            "" | "ConfiguredFailoverProxyProvider" => Self::Configured,
            "RequestHedgingProxyProvider" => Self::Hedging,
            "ObserverReadProxyProvider" => Self::ObserverRead,
            _ => {
                tracing::warn!(
                    "{}.{nameservice}: {class} is not known here; the NameNodes are asked one after the other",
                    key.name
                );
                Self::Configured
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_counts_for_its_name_service() {
        let mut conf = Conf::new();
        let package = "org.apache.hadoop.hdfs.server.namenode.ha";
        let key = "dfs.client.failover.proxy.provider";
        conf.set(&format!("{key}.a"), format!("{package}.ObserverReadProxyProvider"));
        conf.set(&format!("{key}.b"), format!("{package}.RequestHedgingProxyProvider"));
        conf.set(&format!("{key}.c"), "com.example.Other");
        let of = |nameservice| Provider::from_conf(&conf, nameservice).unwrap();
        assert_eq!((of("a"), of("b")), (Provider::ObserverRead, Provider::Hedging));
        assert_eq!((of("c"), of("d")), (Provider::Configured, Provider::Configured));
    }
}
