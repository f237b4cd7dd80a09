//! ZooKeeper: where it is, how it is asked, who may ask.

use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zookeeper_client::{Acl, Acls, AuthId, Client, Error, Permission, SessionState};

/// Why ZooKeeper cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ZooKeeperError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// A value has another form.
    #[error("{key}: {reason}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no session.
    #[error(
        "Unable to connect to ZooKeeper quorum at {quorum}: {source}. Please check the configured value for ha.zookeeper.quorum and ensure that ZooKeeper is running."
    )]
    Connect {
        /// The servers.
        quorum: String,
        /// What came of it.
        source: Error,
    },
    /// An operation failed.
    #[error("ZooKeeper: {what}: {source}")]
    Operation {
        /// Which one.
        what: String,
        /// What it said.
        source: Error,
    },
}

/// How ZooKeeper is asked.
#[derive(Clone, Debug)]
pub struct ZooKeeperOptions {
    quorum: String,
    session_timeout: Duration,
    /// The path of the name service.
    znode: String,
    acl: Vec<Acl>,
    auth: Vec<(String, Vec<u8>)>,
    tries: u32,
}

impl ZooKeeperOptions {
    /// As the keys `ha.zookeeper.*` say.
    ///
    /// # Errors
    /// If no server is named, or a value has another form.
    pub fn from_conf(conf: &Conf, nameservice: &str) -> Result<Self, ZooKeeperError> {
        let quorum = conf.get(&keys::HA_ZOOKEEPER_QUORUM)?;
        if quorum.is_empty() {
            return Err(ZooKeeperError::Value {
                key: keys::HA_ZOOKEEPER_QUORUM.name,
                reason: "no ZooKeeper server is named; set it to HOST1:2181,HOST2:2181,HOST3:2181"
                    .to_owned(),
            });
        }
        let parent = conf.get(&keys::HA_ZOOKEEPER_PARENT_ZNODE)?;
        let acl = conf.get(&keys::HA_ZOOKEEPER_ACL)?;
        let auth = conf.get(&keys::HA_ZOOKEEPER_AUTH)?;
        let tries = conf.get(&keys::HA_ELECTOR_ZK_OP_RETRIES)?;
        Ok(Self {
            quorum: quorum.join(","),
            session_timeout: conf.get(&keys::HA_ZOOKEEPER_SESSION_TIMEOUT)?,
            znode: format!("{}/{nameservice}", parent.trim_end_matches('/')),
            acl: parse_acl(&of_file(keys::HA_ZOOKEEPER_ACL.name, acl)?)?,
            auth: parse_auth(&of_file(keys::HA_ZOOKEEPER_AUTH.name, auth)?)?,
            tries: u32::try_from(tries).unwrap_or(1).max(1),
        })
    }

    /// The path of the name service, below which the lock is.
    pub fn znode(&self) -> &str {
        &self.znode
    }

    /// Begins a session.
    ///
    /// # Errors
    /// If no server answers within the session's time-out.
    pub async fn connect(&self) -> Result<Client, ZooKeeperError> {
        let mut connector = Client::connector().with_session_timeout(self.session_timeout);
        for (scheme, secret) in &self.auth {
            connector = connector.with_auth(scheme, secret);
        }
        let connected = connector.connect(&self.quorum).await;
        connected.map_err(|source| ZooKeeperError::Connect { quorum: self.quorum.clone(), source })
    }

    /// Who may do what with what is made.
    pub(crate) fn acl(&self) -> Acls<'_> {
        match self.acl.as_slice() {
            [] => Acls::creator_all(),
            acl => Acls::new(acl),
        }
    }

    /// Does something again when the connection was lost meanwhile.
    pub(crate) async fn retry<T, F>(
        &self,
        what: &str,
        mut operation: impl FnMut() -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut tries = 1;
        loop {
            match operation().await {
                Err(Error::ConnectionLoss | Error::Timeout) if tries < self.tries => tries += 1,
                outcome => {
                    return outcome.map_err(|source| Failure { what: what.to_owned(), source });
                }
            }
        }
    }
}

/// An operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub(crate) struct Failure {
    what: String,
    pub(crate) source: Error,
}

impl Failure {
    /// The session is over.
    pub(crate) fn ended(state: SessionState) -> Self {
        Self { what: format!("the session is {state:?}"), source: Error::SessionExpired }
    }
}

impl From<Failure> for ZooKeeperError {
    fn from(failure: Failure) -> Self {
        Self::Operation { what: failure.what, source: failure.source }
    }
}

/// The text itself, or that of the file behind `@` (`ZKUtil.resolveConfIndirection`): so that secrets are not in the
/// configuration.
fn of_file(key: &'static str, text: String) -> Result<String, ZooKeeperError> {
    match text.strip_prefix('@') {
        None => Ok(text),
        Some(path) => match std::fs::read_to_string(path) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) => {
                Err(ZooKeeperError::Value { key, reason: format!("cannot read {path}: {error}") })
            }
        },
    }
}

fn parse_acl(text: &str) -> Result<Vec<Acl>, ZooKeeperError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(parse_one_acl).collect()
}

/// `scheme:id:permissions`; the id may have colons of its own.
fn parse_one_acl(text: &str) -> Result<Acl, ZooKeeperError> {
    let bad = || ZooKeeperError::Value {
        key: keys::HA_ZOOKEEPER_ACL.name,
        reason: format!(
            "ACL '{text}' not of expected form scheme:id:perm, with perm of the letters r, w, c, d and a"
        ),
    };
    let (scheme, rest) = text.split_once(':').ok_or_else(bad)?;
    let (id, letters) = rest.rsplit_once(':').ok_or_else(bad)?;
    let mut permission = Permission::NONE;
    for letter in letters.chars() {
        permission = permission
            | match letter {
                'r' => Permission::READ,
                'w' => Permission::WRITE,
                'c' => Permission::CREATE,
                'd' => Permission::DELETE,
                'a' => Permission::ADMIN,
                _ => return Err(bad()),
            };
    }
    Ok(Acl::new(permission, AuthId::new(scheme, id)))
}

/// `scheme:secret`; the secret may have colons of its own.
fn parse_auth(text: &str) -> Result<Vec<(String, Vec<u8>)>, ZooKeeperError> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let parse = |part: &str| match part.split_once(':') {
        Some((scheme, secret)) => Ok((scheme.to_owned(), secret.as_bytes().to_vec())),
        // What was written may be a secret: it is not shown.
        None => Err(ZooKeeperError::Value {
            key: keys::HA_ZOOKEEPER_AUTH.name,
            reason: "an entry is not of the form scheme:secret".to_owned(),
        }),
    };
    parts.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acls_and_secrets_are_read_as_zookeepers_own_tools_write_them() {
        let acls = parse_acl("world:anyone:rwcda, digest:hdfs:abc=:rw").unwrap();
        assert_eq!(acls[0], Acl::new(Permission::ALL, AuthId::anyone()));
        assert_eq!((acls[1].scheme(), acls[1].id()), ("digest", "hdfs:abc="));
        assert!(parse_acl("").unwrap().is_empty());
        for bad in ["world", "world:anyone", "world:anyone:rx"] {
            assert!(parse_acl(bad).unwrap_err().to_string().contains("ha.zookeeper.acl"), "{bad}");
        }
        let auth = parse_auth("digest:hdfs:a:b").unwrap();
        assert_eq!(auth, [("digest".to_owned(), b"hdfs:a:b".to_vec())]);
        assert!(!parse_auth("hidden").unwrap_err().to_string().contains("hidden"));
    }

    #[test]
    fn values_may_be_in_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("acl");
        std::fs::write(&path, "world:anyone:r\n").unwrap();
        let mut conf = Conf::new();
        conf.set("ha.zookeeper.quorum", "a:1,b:2");
        conf.set("ha.zookeeper.acl", format!("@{}", path.display()));
        let options = ZooKeeperOptions::from_conf(&conf, "ns").unwrap();
        assert_eq!(options.acl, [Acl::new(Permission::READ, AuthId::anyone())]);
        assert_eq!((options.znode(), options.quorum.as_str()), ("/hadoop-ha/ns", "a:1,b:2"));
        conf.set("ha.zookeeper.acl", "@/none");
        let error = ZooKeeperOptions::from_conf(&conf, "ns").unwrap_err().to_string();
        assert!(error.starts_with("ha.zookeeper.acl: cannot read /none"), "{error}");
        conf.unset("ha.zookeeper.quorum");
        let error = ZooKeeperOptions::from_conf(&conf, "ns").unwrap_err().to_string();
        assert!(error.starts_with("ha.zookeeper.quorum"), "{error}");
    }
}
