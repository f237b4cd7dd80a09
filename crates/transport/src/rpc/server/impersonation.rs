//! Who may act for whom: the keys `hadoop.proxyuser.<name>.{users,groups,hosts}`, and `httpfs.proxyuser.` of the gateway
//! (`DefaultImpersonationProvider`).

use crate::groups::Groups;
use crate::machines::MachineList;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use zerohop_conf::Conf;
use zerohop_wire::{JavaException, RemoteException};

/// The rules by the proxy's name.
#[derive(Debug)]
pub struct ProxyUsers {
    rules: HashMap<String, Rule>,
    groups: Groups,
}

#[derive(Debug, Default)]
struct Rule {
    users: Names,
    groups: Names,
    hosts: Option<MachineList>,
    /// Whether users or groups were given at all.
    has_acl: bool,
}

#[derive(Debug, Default)]
struct Names {
    all: bool,
    names: HashSet<String>,
}

impl Names {
    fn parse(text: &str) -> Self {
        let names: HashSet<String> =
            text.split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
        Self { all: names.contains("*"), names }
    }
}

impl ProxyUsers {
    /// The rules of an RPC server in `conf`; without any, no user may act for another.
    pub fn from_conf(conf: &Conf) -> Self {
        Self::below("hadoop.proxyuser.", conf)
    }

    /// The rules of the keys that begin with `prefix`.
    pub fn below(prefix: &str, conf: &Conf) -> Self {
        let mut rules: HashMap<String, Rule> = HashMap::new();
        let names: Vec<String> = conf.iter().map(|(key, _)| key.to_owned()).collect();
        for key in names {
            let Some((proxy, part)) = key.strip_prefix(prefix).and_then(|k| k.rsplit_once('.'))
            else {
                continue;
            };
            let Some(value) = conf.get_raw(&key) else { continue };
            rules.entry(proxy.to_owned()).or_default().set(part, &value);
        }
        Self { rules, groups: Groups::from_conf(conf) }
    }

    /// Refuses, as Apache's server does, a proxy that no rule allows. Waits for a look-up of the user's groups only where a
    /// rule names groups. Runs inside a tokio runtime.
    pub async fn authorize(
        &self,
        real: &str,
        user: &str,
        from: IpAddr,
    ) -> Result<(), RemoteException> {
        let rule = self.rules.get(short_name(real));
        let is_allowed = match rule {
            Some(rule) => rule.allows(user, &self.groups).await,
            None => false,
        };
        if !is_allowed {
            return Err(JavaException::Authorization
                .with(format!("User: {real} is not allowed to impersonate {user}")));
        }
        if !rule.and_then(|rule| rule.hosts.as_ref()).is_some_and(|hosts| hosts.includes(from)) {
            return Err(JavaException::Authorization
                .with(format!("Unauthorized connection for super-user: {real} from IP /{from}")));
        }
        Ok(())
    }
}

impl Rule {
    fn set(&mut self, part: &str, value: &str) {
        match part {
            "users" => self.users = Names::parse(value),
            "groups" => self.groups = Names::parse(value),
            "hosts" => self.hosts = Some(MachineList::parse(value)),
            _ => return,
        }
        self.has_acl |= part != "hosts";
    }

    async fn allows(&self, user: &str, groups: &Groups) -> bool {
        if !self.has_acl {
            return false;
        }
        let user = short_name(user);
        if self.users.all || self.groups.all || self.users.names.contains(user) {
            return true;
        }
        !self.groups.names.is_empty()
            && groups.load(user).await.iter().any(|group| self.groups.names.contains(group))
    }
}

/// `name` of `name/host@REALM`.
fn short_name(user: &str) -> &str {
    user.split(['/', '@']).next().unwrap_or(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> ProxyUsers {
        let mut conf = Conf::new();
        conf.set("hadoop.proxyuser.oozie.users", "alice, bob");
        conf.set("hadoop.proxyuser.oozie.hosts", "10.0.0.0/8,127.0.0.1");
        conf.set("hadoop.proxyuser.hue.groups", "analysts");
        conf.set("hadoop.proxyuser.hue.hosts", "*");
        conf.set("hadoop.user.group.static.mapping.overrides", "carol=analysts");
        ProxyUsers::from_conf(&conf)
    }

    #[tokio::test]
    async fn rules_name_users_groups_and_hosts() {
        let rules = rules();
        let home = IpAddr::from([127, 0, 0, 1]);
        assert!(rules.authorize("oozie", "alice", home).await.is_ok());
        assert!(rules.authorize("oozie", "alice", IpAddr::from([10, 3, 2, 1])).await.is_ok());
        assert!(rules.authorize("hue", "carol", home).await.is_ok());
        let refused = rules.authorize("oozie", "eve", home).await.unwrap_err();
        assert_eq!(refused.message, "User: oozie is not allowed to impersonate eve");
        let refused =
            rules.authorize("oozie", "bob", IpAddr::from([11, 0, 0, 1])).await.unwrap_err();
        assert_eq!(
            refused.message,
            "Unauthorized connection for super-user: oozie from IP /11.0.0.1"
        );
        assert!(rules.authorize("nobody", "alice", home).await.is_err());
    }
}
