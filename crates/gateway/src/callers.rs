//! Who asks: the user that a request names, and the one that it acts for.

use crate::failure::Failure;
use crate::params::{Params, invalid};
use regex::Regex;
use std::net::IpAddr;
use zerohop_client::User;
use zerohop_conf::{Conf, ConfError, Key, keys};
use zerohop_transport::rpc::server::ProxyUsers;

/// The rules by which requests name users. Kerberos and delegation tokens belong here.
pub(crate) struct Callers {
    /// What a user's name looks like, and that as it is configured.
    pattern: Regex,
    pattern_text: String,
    /// Who may act for whom; none where another server decides.
    proxies: Option<ProxyUsers>,
    /// Who sends a request without a name; none where it is refused.
    anonymous: Option<String>,
    refuses_tokens: bool,
}

impl Callers {
    /// HttpFS's.
    ///
    /// # Errors
    /// If a key is malformed.
    pub(crate) fn of_httpfs(conf: &Conf) -> Result<Self, ConfError> {
        let mut callers = Self::new(conf, &keys::HTTPFS_USER_PROVIDER_USER_PATTERN)?;
        callers.proxies = Some(ProxyUsers::below("httpfs.proxyuser.", conf));
        callers.refuses_tokens = true;
        Ok(callers)
    }

    /// The NameNode's.
    ///
    /// # Errors
    /// If a key is malformed.
    pub(crate) fn of_namenode(conf: &Conf) -> Result<Self, ConfError> {
        let mut callers = Self::of_datanode(conf)?;
        callers.proxies = Some(ProxyUsers::from_conf(conf));
        Ok(callers)
    }

    /// The DataNode's; the NameNode decides who may act for whom.
    ///
    /// # Errors
    /// If a key is malformed.
    pub(crate) fn of_datanode(conf: &Conf) -> Result<Self, ConfError> {
        let mut callers = Self::new(conf, &keys::DFS_WEBHDFS_USER_PROVIDER_USER_PATTERN)?;
        callers.anonymous = Some(conf.get(&keys::HADOOP_HTTP_STATICUSER_USER)?);
        Ok(callers)
    }

    fn new(conf: &Conf, key: &Key<String>) -> Result<Self, ConfError> {
        let pattern =
            conf.get_as(key, "a regular expression", |pattern| Regex::new(&pattern).ok())?;
        let pattern_text = pattern.as_str().to_owned();
        Ok(Self { pattern, pattern_text, proxies: None, anonymous: None, refuses_tokens: false })
    }

    /// The user of a request, and who really sends it where it acts for another. Who has shown a cookie is `known`, whatever
    /// name the request says.
    pub(crate) async fn user(
        &self,
        params: &Params,
        from: IpAddr,
        known: Option<&str>,
    ) -> Result<User, Failure> {
        if self.refuses_tokens && params.text("delegation").is_some() {
            return Err(Failure::unsupported("Delegation tokens are not implemented"));
        }
        let real = match known {
            Some(known) => Some(known),
            None => self.named(params, "user.name")?.or(self.anonymous.as_deref()),
        };
        let Some(real) = real else {
            return Err(Failure::unauthorized(
                "Anonymous requests are disallowed: say ?user.name=",
            ));
        };
        let name = self.named(params, "doas")?.unwrap_or(real);
        if name == real {
            return Ok(User::new(name));
        }
        if let Some(proxies) = &self.proxies {
            proxies.authorize(real, name, from).await.map_err(Failure::forbidden)?;
        }
        Ok(User::proxied(name, real))
    }

    fn named<'a>(&self, params: &'a Params, param: &str) -> Result<Option<&'a str>, Failure> {
        match params.text(param) {
            Some(name) if !self.pattern.is_match(name) => {
                Err(invalid(param, name, &self.pattern_text))
            }
            name => Ok(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: [u8; 4] = [127, 0, 0, 1];

    async fn user(callers: &Callers, query: &str, from: [u8; 4]) -> Result<User, String> {
        let user = callers.user(&Params::parse(query), from.into(), None).await;
        user.map_err(|failure| failure.to_string())
    }

    #[tokio::test]
    async fn a_request_names_its_user_and_acts_for_others_only_by_a_rule() {
        let mut conf = Conf::new();
        conf.set("httpfs.proxyuser.hue.users", "alice");
        conf.set("httpfs.proxyuser.hue.hosts", "127.0.0.1");
        let callers = Callers::of_httpfs(&conf).unwrap();
        let user = async |query, from| user(&callers, query, from).await;
        assert_eq!(user("user.name=alice", HERE).await.unwrap(), User::new("alice"));
        assert_eq!(user("user.name=alice&doAs=alice", HERE).await.unwrap(), User::new("alice"));
        let proxied = User::proxied("alice", "hue");
        assert_eq!(user("user.name=hue&doAs=alice", HERE).await.unwrap(), proxied);
        let refused = "User: hue is not allowed to impersonate bob";
        assert_eq!(user("user.name=hue&doAs=bob", HERE).await.unwrap_err(), refused);
        assert!(user("user.name=hue&doAs=alice", [10, 0, 0, 1]).await.is_err());
        for query in [
            "",
            "user.name=",
            "user.name=a%20b",
            "user.name=1a",
            "user.name=a&doas=b",
            "user.name=a&delegation=x",
        ] {
            assert!(user(query, HERE).await.is_err(), "{query}");
        }
    }

    #[tokio::test]
    async fn webhdfs_has_a_user_for_requests_without_a_name_and_a_pattern_of_its_own() {
        let mut conf = Conf::new();
        conf.set("dfs.webhdfs.user.provider.user.pattern", "^[0-9]+$");
        conf.set("hadoop.proxyuser.1.users", "*");
        conf.set("hadoop.proxyuser.1.hosts", "*");
        let callers = Callers::of_namenode(&conf).unwrap();
        assert_eq!(user(&callers, "delegation=x", HERE).await.unwrap(), User::new("dr.who"));
        let proxied = User::proxied("2", "1");
        assert_eq!(user(&callers, "user.name=1&doas=2", HERE).await.unwrap(), proxied);
        let refused = user(&callers, "user.name=alice", HERE).await.unwrap_err();
        assert!(refused.contains("^[0-9]+$"), "{refused}");
        assert!(user(&callers, "user.name=2&doas=1", HERE).await.is_err());
        let callers = Callers::of_datanode(&conf).unwrap();
        assert!(user(&callers, "user.name=2&doas=1", HERE).await.is_ok(), "the NameNode decides");
        conf.set("dfs.webhdfs.user.provider.user.pattern", "(");
        assert!(Callers::of_datanode(&conf).is_err());
    }
}
