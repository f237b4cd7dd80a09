//! The caller of an operation.

use crate::blocks::{ClientLocation, Now};
use std::sync::Arc;
use zerohop_wire::{CallerIdentity, RpcIds};

/// The caller of one operation; cheap to clone.
#[derive(Clone, Debug)]
pub struct OpContext {
    /// The caller; the permissions of its user are checked.
    pub identity: CallerIdentity,
    /// The user's groups, primary first.
    pub groups: Arc<[String]>,
    /// The caller is the superuser or in the supergroup: no permission is checked.
    pub superuser: bool,
    /// Both clocks at the time of the call.
    pub now: Now,
    /// The caller's address (IP), for block placement, locations' order and messages.
    pub client_host: Arc<str>,
    /// The rack that the network's mapping names for the caller's address; `None` if the mapping does not know it.
    pub client_rack: Option<Arc<str>>,
    /// The ids of the call; edits carry them.
    pub rpc: RpcIds,
}

impl OpContext {
    /// The NameNode itself: lease monitor, block recovery, replay.
    pub fn internal(now: Now) -> Self {
        Self {
            identity: CallerIdentity::simple("", None),
            groups: Arc::new([]),
            superuser: true,
            now,
            client_host: "".into(),
            client_rack: None,
            rpc: RpcIds::NONE,
        }
    }

    /// The user whose permissions are checked.
    pub fn user(&self) -> &Arc<str> {
        self.identity.user()
    }

    /// Returns where the caller is in the network.
    pub(crate) fn location(&self) -> ClientLocation<'_> {
        ClientLocation { host: &self.client_host, rack: self.client_rack.as_deref() }
    }

    pub(crate) fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }
}
