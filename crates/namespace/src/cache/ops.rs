//! Changes of cache pools and directives.

use super::{Pool, merged};
use crate::Result;
use crate::access::{Action, WRITE};
use crate::call::Call;
use crate::error::{CacheError, Denied, refuse};
use crate::limits::check_text;
use crate::requests::CacheDirectiveRequest;
use crate::tree::{self, Slot, Tree};
use crate::walk::Paths;
use zerohop_journal::EditOp;
use zerohop_journal::op::{
    AddCacheDirective, AddCachePool, ModifyCacheDirective, ModifyCachePool, RemoveCacheDirective,
    RemoveCachePool,
};
use zerohop_journal::types::CacheDirectiveRecord;
use zerohop_wire::{CacheExpiry, CachePool};

/// Changes of pools and directives (`CacheManager`).
pub struct CacheManager<'n> {
    pub(crate) call: Call<'n>,
}

impl CacheManager<'_> {
    /// Makes a pool; for the superuser.
    ///
    /// # Errors
    /// As Hadoop's `addCachePool`.
    pub fn add_cache_pool(&mut self, given: CachePool) -> Result<()> {
        self.call.begin(|| format!("Cannot add cache pool {}", given.name))?;
        check_text("The pool's name", &given.name)?;
        check_owners(&given)?;
        self.call.access().check_superuser("addCachePool")?;
        validate_pool(&given)?;
        if self.call.state.cache().pools.contains_key(&given.name) {
            return refuse(CacheError::PoolExists { name: given.name });
        }
        let group = self.call.ctx.groups.first().cloned().unwrap_or_default();
        let owner = given.owner.clone().unwrap_or_else(|| self.call.ctx.user().to_string());
        let group = given.group.clone().unwrap_or(group);
        let given = given.owner(owner).group(group);
        let pool = Pool::of(&given).info(&given.name);
        self.change(AddCachePool { pool })
    }

    /// Changes a pool; for the superuser.
    ///
    /// # Errors
    /// As Hadoop's `modifyCachePool`.
    pub fn modify_cache_pool(&mut self, given: CachePool) -> Result<()> {
        self.call.begin(|| format!("Cannot modify cache pool {}", given.name))?;
        self.call.access().check_superuser("modifyCachePool")?;
        check_owners(&given)?;
        validate_pool(&given)?;
        if !self.call.state.cache().pools.contains_key(&given.name) {
            return refuse(CacheError::NoSuchPool { name: given.name });
        }
        self.change(ModifyCachePool { pool: given })
    }

    /// Removes a pool with all its directives; for the superuser.
    ///
    /// # Errors
    /// As Hadoop's `removeCachePool`.
    pub fn remove_cache_pool(&mut self, name: &str) -> Result<()> {
        self.call.begin(|| format!("Cannot modify cache pool {name}"))?;
        self.call.access().check_superuser("removeCachePool")?;
        validate_name(name)?;
        if !self.call.state.cache().pools.contains_key(name) {
            return refuse(CacheError::NoPoolToRemove { name: name.to_owned() });
        }
        self.change(RemoveCachePool { name: name.to_owned() })
    }

    /// Makes a directive; returns its id.
    ///
    /// # Errors
    /// As Hadoop's `addCacheDirective`.
    pub fn add_cache_directive(&mut self, request: &CacheDirectiveRequest) -> Result<i64> {
        self.call.begin(|| "Cannot add cache directive".to_owned())?;
        let given = &request.directive;
        if given.id.is_some_and(|id| id != 0) {
            return refuse(CacheError::IdGiven);
        }
        let name = pool_name(given.pool.as_deref())?;
        let pool = self.call.state.cache().pool(name)?;
        self.check_pool(name, pool, WRITE)?;
        let path = valid_path(given.path.as_deref())?.to_owned();
        check_text("The path", &path)?;
        let replication = valid_replication(given.replication.unwrap_or(pool.replication))?;
        let now_ms = self.call.wall_ms() as i64;
        let expiry_ms = expiry(given.expiry, pool.max_expiry_ms, now_ms)?;
        if !request.force {
            self.check_pool_limit(name, &path, replication)?;
        }
        let id = self.call.state.cache().next_id;
        if id >= i64::MAX - 1 {
            return refuse(CacheError::NoIdsLeft);
        }
        let directive = CacheDirectiveRecord {
            id,
            path: Some(path),
            replication: Some(replication),
            pool: Some(name.to_owned()),
            expiration_ms: Some(expiry_ms),
        };
        self.change(AddCacheDirective { directive })?;
        Ok(id)
    }

    /// Changes a directive.
    ///
    /// # Errors
    /// As Hadoop's `modifyCacheDirective`.
    pub fn modify_cache_directive(&mut self, request: &CacheDirectiveRequest) -> Result<()> {
        self.call.begin(|| "Cannot add cache directive".to_owned())?;
        let given = &request.directive;
        let id = given.id.unwrap_or_default();
        if id == 0 {
            return refuse(CacheError::IdMissing);
        }
        let known = self.call.state.cache().directive(id)?;
        self.check_pool(&known.pool, self.call.state.cache().pool(&known.pool)?, WRITE)?;
        let after = merged(&CacheDirectiveRecord::of(given, id, None), known.record(id));
        let path = valid_path(after.path.as_deref())?;
        check_text("The path", path)?;
        let replication = valid_replication(after.replication.unwrap_or(-1))?;
        let name = pool_name(after.pool.as_deref())?;
        let pool = self.call.state.cache().pool(name)?;
        if *name != known.pool {
            self.check_pool(name, pool, WRITE)?;
            if !request.force {
                self.check_pool_limit(name, path, replication)?;
            }
        }
        let now_ms = self.call.wall_ms() as i64;
        let wanted = given.expiry.or(Some(CacheExpiry { ms: known.expiry_ms, is_relative: false }));
        let expiry_ms = expiry(wanted, pool.max_expiry_ms, now_ms)?;
        let expiration_ms = given.expiry.map(|_| expiry_ms);
        let directive = CacheDirectiveRecord::of(given, id, expiration_ms);
        self.change(ModifyCacheDirective { directive })
    }

    /// Removes a directive.
    ///
    /// # Errors
    /// As Hadoop's `removeCacheDirective`.
    pub fn remove_cache_directive(&mut self, id: i64) -> Result<()> {
        self.call.begin(|| "Cannot remove cache directives".to_owned())?;
        let known = self.call.state.cache().directive(id)?;
        self.check_pool(&known.pool, self.call.state.cache().pool(&known.pool)?, WRITE)?;
        self.change(RemoveCacheDirective { id })
    }

    fn change(&mut self, op: impl Into<EditOp>) -> Result<()> {
        self.call.commit_call(op).map(drop)
    }

    fn check_pool(&self, name: &str, pool: &Pool, action: Action) -> Result<()> {
        if pool.permits(self.call.access(), action) {
            return Ok(());
        }
        refuse(Denied::CachePool { user: self.call.ctx.user().clone(), pool: name.to_owned() })
    }

    fn check_pool_limit(&self, name: &str, path: &str, replication: i16) -> Result<()> {
        let pool = self.call.state.cache().pool(name)?;
        if pool.limit == CachePool::UNLIMITED {
            return Ok(());
        }
        let bytes: i64 = files_at(self.call.state.tree(), path)
            .iter()
            .map(|slot| self.call.state.ledger().file_len(*slot) as i64)
            .sum();
        let left = pool.limit.saturating_sub(pool.stats.bytes_needed);
        if bytes.saturating_mul(i64::from(replication)) <= left {
            return Ok(());
        }
        let (path, pool) = (path.to_owned(), name.to_owned());
        refuse(CacheError::PoolFull { path, bytes, replication, pool, left })
    }
}

/// The file at a path, or those in the directory there.
fn files_at(tree: &Tree, path: &str) -> Vec<Slot> {
    let Some(slot) = Paths(tree).walk(path).ok().and_then(|located| located.last()) else {
        return Vec::new();
    };
    let is_file = |slot: &Slot| tree.get(*slot).as_file().is_some();
    match tree.get(slot).as_directory() {
        Some(directory) => directory.children.iter().filter(is_file).collect(),
        None => [slot].into_iter().filter(is_file).collect(),
    }
}

fn check_owners(given: &CachePool) -> Result<()> {
    given.owner.iter().chain(&given.group).try_for_each(|name| check_text("The name", name))
}

fn validate_name(name: &str) -> Result<()> {
    if name.is_empty() { refuse(CacheError::EmptyPoolName) } else { Ok(()) }
}

fn validate_pool(given: &CachePool) -> Result<()> {
    if given.limit.is_some_and(|limit| limit < 0) {
        return refuse(CacheError::NegativeLimit);
    }
    if given.default_replication.is_some_and(|replication| replication < 0) {
        return refuse(CacheError::NegativeReplication);
    }
    match given.max_relative_expiry_ms {
        Some(..0) => return refuse(CacheError::NegativeMaxExpiry),
        Some(ms) if ms > CacheExpiry::NEVER_MS => return refuse(CacheError::MaxExpiryTooBig),
        _ => {}
    }
    validate_name(&given.name)
}

fn pool_name(given: Option<&str>) -> Result<&str> {
    match given {
        None => refuse(CacheError::PoolMissing),
        Some("") => refuse(CacheError::PoolOfDirectiveEmpty),
        Some(name) => Ok(name),
    }
}

pub(super) fn check_path(path: &str) -> Result<()> {
    if tree::is_valid_name(path) {
        return Ok(());
    }
    refuse(CacheError::InvalidPath { path: path.to_owned() })
}

fn valid_path(given: Option<&str>) -> Result<&str> {
    let path = given.ok_or(CacheError::PathMissing)?;
    check_path(path).map(|()| path)
}

fn valid_replication(replication: i16) -> Result<i16> {
    if replication > 0 {
        return Ok(replication);
    }
    refuse(CacheError::InvalidReplication { replication })
}

/// When a directive expires, ms since the epoch.
fn expiry(wanted: Option<CacheExpiry>, most_ms: i64, now_ms: i64) -> Result<i64> {
    let Some(wanted) = wanted else { return Ok(now_ms.saturating_add(most_ms)) };
    if wanted.ms < 0 {
        return refuse(CacheError::NegativeExpiry { ms: wanted.ms });
    }
    let (relative_ms, at_ms) = match wanted.is_relative {
        true => (wanted.ms, now_ms.saturating_add(wanted.ms)),
        false => (wanted.ms.saturating_sub(now_ms), wanted.ms),
    };
    if relative_ms > CacheExpiry::NEVER_MS {
        return refuse(CacheError::ExpiryTooFar { ms: wanted.ms });
    }
    if relative_ms > most_ms {
        return refuse(CacheError::ExpiryOverMax { ms: wanted.ms, max_ms: most_ms });
    }
    Ok(at_ms)
}
