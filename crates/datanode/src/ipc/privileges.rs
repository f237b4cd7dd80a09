//! Who may do what over RPC.

use std::sync::Arc;
use zerohop_transport::groups::Groups;
use zerohop_wire::{JavaException, RemoteException};

/// Who may administer this DataNode, and recover its replicas.
pub(super) struct Privileges {
    /// `dfs.permissions.enabled`: without it everybody may.
    pub(super) checked: bool,
    /// Who runs it.
    pub(super) owner: String,
    pub(super) supergroup: String,
    pub(super) groups: Arc<Groups>,
    /// Who may ask for paths of block files.
    pub(super) path_users: Vec<String>,
}

impl Privileges {
    /// Whether [`Privileges::is_superuser`] needs no lookup.
    pub(super) fn are_known(&self, user: &str) -> bool {
        !self.checked || user == self.owner || self.groups.known(user).is_some()
    }

    /// Whether a user may administer it. May wait for the lookup of the user's groups.
    pub(super) fn is_superuser(&self, user: &str) -> bool {
        !self.checked
            || user == self.owner
            || self.groups.of(user).iter().any(|group| **group == *self.supergroup)
    }

    /// Refuses who is no DataNode of this cluster: another one runs as the same user, or as one of the
    /// supergroup.
    pub(super) fn check_datanode(&self, user: &str, method: &str) -> Result<(), RemoteException> {
        if self.is_superuser(user) {
            return Ok(());
        }
        Err(JavaException::AccessControl.with(format!(
            "Permission denied: {user} may not call {method}, which is for DataNodes: they run as \
             {} here, or as a user of the group {}",
            self.owner, self.supergroup
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_conf::Conf;

    /// Every user could stop a writer and cut or restamp a replica.
    #[test]
    fn only_datanodes_may_recover_replicas() {
        let mut conf = Conf::new();
        let members = "alice=staff;hdfs2=hadoop,super;bob=";
        conf.set("hadoop.user.group.static.mapping.overrides", members);
        let mut privileges = Privileges {
            checked: true,
            owner: "hdfs".to_owned(),
            supergroup: "super".to_owned(),
            groups: Arc::new(Groups::from_conf(&conf)),
            path_users: Vec::new(),
        };
        for (user, may) in [("hdfs", true), ("hdfs2", true), ("alice", false), ("bob", false)] {
            let checked = privileges.check_datanode(user, "initReplicaRecovery");
            assert_eq!(checked.is_ok(), may, "{user}: {checked:?}");
        }
        let refusal = privileges.check_datanode("alice", "initReplicaRecovery").unwrap_err();
        assert_eq!(refusal.class, JavaException::AccessControl.with("").class);
        privileges.checked = false;
        privileges.check_datanode("alice", "initReplicaRecovery").unwrap();
    }
}
