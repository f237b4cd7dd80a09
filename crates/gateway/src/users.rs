//! Who asks: the user that a request names, and the client that acts for it.

use crate::failure::Failure;
use crate::params::{Params, invalid};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use zerohop_client::{FileSystem, User};
use zerohop_conf::Conf;
use zerohop_transport::rpc::server::ProxyUsers;

/// So many users' clients are kept; a client holds connections, caches and leases of its own.
const CLIENTS_MAX: usize = 1000;

/// The clients of the gateway's users. The gateway's own user acts for all others, so that the NameNode's rules of
/// `hadoop.proxyuser.*` have the last word.
pub(crate) struct Users {
    conf: Conf,
    login: User,
    proxies: ProxyUsers,
    clients: Mutex<HashMap<String, FileSystem>>,
}

impl Users {
    /// With the configuration of the cluster.
    pub(crate) fn new(mut conf: Conf) -> Self {
        // Permissions in requests are those that files get.
        conf.set("fs.permissions.umask-mode", "000");
        let proxies = ProxyUsers::below("httpfs.proxyuser.", &conf);
        Self { conf, login: User::of_process(), proxies, clients: Mutex::default() }
    }

    /// The client that acts for the user whom a request names. Kerberos and delegation tokens belong here.
    pub(crate) async fn client(
        &self,
        params: &Params,
        from: IpAddr,
    ) -> Result<FileSystem, Failure> {
        if params.text("delegation").is_some() {
            return Err(Failure::unsupported("Delegation tokens are not implemented"));
        }
        let Some(real) = named(params, "user.name")? else {
            return Err(Failure::unauthorized(
                "Anonymous requests are disallowed: say ?user.name=",
            ));
        };
        let name = named(params, "doas")?.unwrap_or(real);
        if name != real
            && let Err(refusal) = self.proxies.authorize(real, name, from).await
        {
            return Err(Failure::forbidden(refusal));
        }
        self.client_of(name)
    }

    fn client_of(&self, name: &str) -> Result<FileSystem, Failure> {
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(name) {
            return Ok(client.clone());
        }
        let user = match name == self.login.name {
            true => self.login.clone(),
            false => User::proxied(name, self.login.name.clone()),
        };
        let client = FileSystem::connect_as(&self.conf, None, user)?;
        if clients.len() >= CLIENTS_MAX {
            // Requests under way hold theirs.
            clients.clear();
        }
        clients.insert(name.to_owned(), client.clone());
        Ok(client)
    }
}

fn named<'a>(params: &'a Params, param: &str) -> Result<Option<&'a str>, Failure> {
    match params.text(param) {
        Some(name) if !is_name(name) => Err(invalid(param, name, "a user's name")),
        name => Ok(name),
    }
}

/// `UserParam`'s default pattern.
fn is_name(name: &str) -> bool {
    let mut rest = name.chars();
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "._-$".contains(c);
    rest.next().is_some_and(starts) && rest.all(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_names_its_user_and_acts_for_others_only_by_a_rule() {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "hdfs://localhost:1");
        conf.set("httpfs.proxyuser.hue.users", "alice");
        conf.set("httpfs.proxyuser.hue.hosts", "127.0.0.1");
        let users = Users::new(conf);
        let user = async |query: &str, from: [u8; 4]| {
            let client = users.client(&Params::parse(query), from.into()).await;
            client.map(|fs| fs.user().name.clone()).map_err(|failure| failure.to_string())
        };
        let here = [127, 0, 0, 1];
        assert_eq!(user("user.name=alice", here).await.unwrap(), "alice");
        assert_eq!(user("user.name=alice&doAs=alice", here).await.unwrap(), "alice");
        assert_eq!(user("user.name=hue&doAs=alice", here).await.unwrap(), "alice");
        let refused = "User: hue is not allowed to impersonate bob";
        assert_eq!(user("user.name=hue&doAs=bob", here).await.unwrap_err(), refused);
        assert!(user("user.name=hue&doAs=alice", [10, 0, 0, 1]).await.is_err());
        for query in [
            "",
            "user.name=",
            "user.name=a%20b",
            "user.name=1a",
            "user.name=a&doas=b",
            "user.name=a&delegation=x",
        ] {
            assert!(user(query, here).await.is_err(), "{query}");
        }
    }
}
