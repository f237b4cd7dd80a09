//! Operations on delegation tokens and the keys that sign them.

use super::field::{Field, Result, plain_ops};
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::types::{DelegationKey, TokenIdentifier};

/// The longest key, bytes (`DelegationKey.MAX_KEY_LEN`).
const KEY_LEN_MAX: i32 = 1024 * 1024;

plain_ops! {
    /// A delegation token was issued.
    GetDelegationToken {
        /// The token.
        token: TokenIdentifier,
        /// When it ends unless renewed, ms since the epoch.
        expiry_ms: i64,
    }

    /// A delegation token was renewed.
    RenewDelegationToken {
        /// The token.
        token: TokenIdentifier,
        /// When it ends unless renewed, ms since the epoch.
        expiry_ms: i64,
    }

    /// A delegation token was cancelled.
    CancelDelegationToken {
        /// The token.
        token: TokenIdentifier,
    }

    /// A new key for tokens.
    UpdateMasterKey {
        /// The key.
        key: DelegationKey,
    }
}

impl Field for TokenIdentifier {
    fn put(&self, out: &mut Writer<'_>) {
        out.u8(0);
        out.text(&self.owner);
        out.text(&self.renewer);
        out.text(&self.real_user);
        out.vlong(self.issue_date_ms);
        out.vlong(self.max_date_ms);
        out.vlong(self.sequence_number.into());
        out.vlong(self.master_key_id.into());
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let version = from.u8()?;
        if version != 0 {
            return Err(DecodeError::Value { what: "token version", value: version.into() });
        }
        Ok(Self {
            owner: from.text()?.to_owned(),
            renewer: from.text()?.to_owned(),
            real_user: from.text()?.to_owned(),
            issue_date_ms: from.vlong()?,
            max_date_ms: from.vlong()?,
            sequence_number: from.vint()?,
            master_key_id: from.vint()?,
        })
    }
}

impl Field for DelegationKey {
    fn put(&self, out: &mut Writer<'_>) {
        out.vlong(self.id.into());
        out.vlong(self.expiry_ms);
        match &self.key {
            Some(key) => {
                out.vlong(key.len() as i64);
                out.raw(key);
            }
            None => out.vlong(-1),
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let id = from.vint()?;
        let expiry_ms = from.vlong()?;
        let key = match from.vint()? {
            -1 => None,
            len @ 0..=KEY_LEN_MAX => Some(from.take(len as usize)?.to_vec().into()),
            len => return Err(DecodeError::Value { what: "key length", value: len.into() }),
        };
        Ok(Self { id, expiry_ms, key })
    }
}
