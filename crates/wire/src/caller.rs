//! Who makes a call, what for, and which call it is.

use bytes::Bytes;
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

/// What a client says it is doing, for the audit log: Hadoop's `CallerContext`, `RPCCallerContextProto`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerContext {
    /// The text; fields are `key:value`, with commas between them (`hadoop.caller.context.separator`).
    pub context: Arc<str>,
    /// Its signature, which nothing checks.
    pub signature: Option<Bytes>,
}

impl CallerContext {
    /// A text without a signature.
    pub fn new(context: impl Into<Arc<str>>) -> Self {
        Self { context: context.into(), signature: None }
    }

    /// The same with a signature.
    #[must_use]
    pub fn with_signature(self, signature: impl Into<Bytes>) -> Self {
        Self { signature: Some(signature.into()), ..self }
    }

    /// The same with another field at its end (`CallerContext.Builder.append`); an empty key or value adds nothing.
    #[must_use]
    pub fn with_field(self, key: &str, value: &str, separator: &str) -> Self {
        if key.is_empty() || value.is_empty() {
            return self;
        }
        let between = if self.context.is_empty() { "" } else { separator };
        Self { context: format!("{}{between}{key}:{value}", self.context).into(), ..self }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_behind_each_other() {
        let context =
            CallerContext::new("").with_field("job", "7", ",").with_field("task", "", ",");
        let context = context.with_field("user", "ann", "$");
        assert_eq!(&*context.context, "job:7$user:ann");
        assert_eq!(context.with_signature(&b"s"[..]).signature.as_deref(), Some(&b"s"[..]));
    }
}
