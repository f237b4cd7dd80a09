//! Who makes a call, and which call it is.

use std::sync::Arc;

/// Who calls: the user to act as, and the real user where another one sends the call for them (Hadoop's
/// `UserGroupInformation`). Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerIdentity(Arc<Names>);

#[derive(Debug, PartialEq, Eq)]
struct Names {
    user: Arc<str>,
    real_user: Option<Arc<str>>,
}

impl CallerIdentity {
    /// The identity that a client claims and nothing proves (SIMPLE authentication). Identities that Kerberos or a token
    /// proves get functions of their own beside this one.
    pub fn simple(user: impl Into<Arc<str>>, real_user: Option<Arc<str>>) -> Self {
        Self(Arc::new(Names { user: user.into(), real_user }))
    }

    /// The user to act as.
    pub fn user(&self) -> &Arc<str> {
        &self.0.user
    }

    /// The user who sends the call, where that is a proxy for [`CallerIdentity::user`].
    pub fn real_user(&self) -> Option<&Arc<str>> {
        self.0.real_user.as_ref()
    }
}

/// Which call of which client: what retry caches go by, also after a restart, because edits carry it (`rpcClientId`,
/// `rpcCallId`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RpcIds {
    /// The caller's client id; none where the operation did not come from a retryable call.
    pub client_id: Option<[u8; 16]>,
    /// The call's id within that client.
    pub call_id: i32,
}

impl RpcIds {
    /// No caller (`DUMMY_CLIENT_ID`, `INVALID_CALL_ID`).
    pub const NONE: Self = Self { client_id: None, call_id: -2 };

    /// The ids of a call; a client id of another length than 16 bytes counts as none.
    pub fn new(client_id: &[u8], call_id: i32) -> Self {
        match client_id.try_into() {
            Ok(id) => Self { client_id: Some(id), call_id },
            Err(_) => Self::NONE,
        }
    }
}

impl Default for RpcIds {
    fn default() -> Self {
        Self::NONE
    }
}
