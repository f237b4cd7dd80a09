//! Who asks, from where, and when.

use crate::blocks::Now;
use std::sync::Arc;

/// The caller of one operation; cheap to clone.
#[derive(Clone, Debug)]
pub struct OpContext {
    /// Effective user.
    pub user: Arc<str>,
    /// The user's groups, primary first.
    pub groups: Arc<[String]>,
    /// The caller is the superuser or in the supergroup: no permission is checked.
    pub superuser: bool,
    /// Both clocks at the time of the call.
    pub now: Now,
    /// The caller's address (IP), for block placement, locations' order and messages.
    pub client_host: Arc<str>,
    /// The caller's 16-byte RPC client id; empty when there is none.
    pub client_id: [u8; 16],
    /// The RPC call's id within the client; -2 (`RpcConstants.INVALID_CALL_ID`) when there is none.
    pub call_id: i32,
}

impl OpContext {
    /// The NameNode itself: lease monitor, block recovery, replay.
    pub fn internal(now: Now) -> Self {
        Self {
            user: "".into(),
            groups: Arc::new([]),
            superuser: true,
            now,
            client_host: "".into(),
            client_id: [0; 16],
            call_id: INVALID_CALL_ID,
        }
    }

    pub(crate) fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }
}

/// The call id of edits that no RPC caused.
pub const INVALID_CALL_ID: i32 = -2;
