//! Operations on the centralized cache: directives and pools.

use super::field::{Field, Mode, Result, plain_ops};
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::types::{CacheDirectiveRecord, CachePool};

plain_ops! {
    /// A cache directive was made.
    rpc AddCacheDirective {
        /// All of it.
        directive: CacheDirectiveRecord,
    }

    /// A cache directive was changed.
    rpc ModifyCacheDirective {
        /// What changed, and its id.
        directive: CacheDirectiveRecord,
    }

    /// A cache directive was removed.
    rpc RemoveCacheDirective {
        /// Its id.
        id: i64,
    }

    /// A cache pool was made.
    rpc AddCachePool {
        /// All of it.
        pool: CachePool,
    }

    /// A cache pool was changed.
    rpc ModifyCachePool {
        /// What changed, and its name.
        pool: CachePool,
    }

    /// A cache pool was removed.
    rpc RemoveCachePool {
        /// Its name.
        name: String,
    }
}

/// A set of bits says which of the optional values follow; bit 0 is the first.
fn put_flags(present: &[bool], out: &mut Writer<'_>) {
    let bits = present.iter().rev().fold(0, |bits, set| bits << 1 | i32::from(*set));
    out.i32(bits);
}

fn get_flags(count: u32, from: &mut Reader<'_>) -> Result<i32> {
    let flags = from.i32()?;
    if flags >> count != 0 {
        return Err(DecodeError::Value { what: "flags of optional values", value: flags.into() });
    }
    Ok(flags)
}

fn put<T: Field>(value: &Option<T>, out: &mut Writer<'_>) {
    if let Some(value) = value {
        value.put(out);
    }
}

fn get<T: Field>(flags: i32, bit: u32, from: &mut Reader<'_>) -> Result<Option<T>> {
    if flags >> bit & 1 == 1 { T::get(from).map(Some) } else { Ok(None) }
}

impl Field for CacheDirectiveRecord {
    fn put(&self, out: &mut Writer<'_>) {
        out.i64(self.id);
        put_flags(
            &[
                self.path.is_some(),
                self.replication.is_some(),
                self.pool.is_some(),
                self.expiration_ms.is_some(),
            ],
            out,
        );
        put(&self.path, out);
        put(&self.replication, out);
        put(&self.pool, out);
        put(&self.expiration_ms, out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let id = from.i64()?;
        let flags = get_flags(4, from)?;
        Ok(Self {
            id,
            path: get(flags, 0, from)?,
            replication: get(flags, 1, from)?,
            pool: get(flags, 2, from)?,
            expiration_ms: get(flags, 3, from)?,
        })
    }
}

impl Field for CachePool {
    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.name);
        put_flags(
            &[
                self.owner.is_some(),
                self.group.is_some(),
                self.mode.is_some(),
                self.limit.is_some(),
                self.max_relative_expiry_ms.is_some(),
                self.default_replication.is_some(),
            ],
            out,
        );
        put(&self.owner, out);
        put(&self.group, out);
        put(&self.mode.map(Mode), out);
        put(&self.limit, out);
        put(&self.max_relative_expiry_ms, out);
        put(&self.default_replication, out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let pool = Self::new(from.utf8()?);
        let flags = get_flags(6, from)?;
        let pool = pool
            .owner(get::<String>(flags, 0, from)?)
            .group(get::<String>(flags, 1, from)?)
            .mode(get::<Mode>(flags, 2, from)?.map(|mode| mode.0))
            .limit(get::<i64>(flags, 3, from)?)
            .max_relative_expiry_ms(get::<i64>(flags, 4, from)?)
            .default_replication(get::<i16>(flags, 5, from)?);
        Ok(pool)
    }
}
