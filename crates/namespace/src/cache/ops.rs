//! What clients ask of the centralized cache: each change becomes an edit.

use super::{LIMIT_NONE, NEVER_MS, Pool, merged};
use crate::access::{Action, READ, WRITE};
use crate::error::{CacheError, Denied, refuse};
use crate::limits::check_text;
use crate::requests::{CacheDirectiveFilter, CacheDirectiveRequest, CacheExpiry};
use crate::tree;
use crate::views::{CacheDirectiveEntry, CachePoolEntry};
use crate::{Namespace, OpContext, Result};
use zerohop_journal::EditOp;
use zerohop_journal::op::{
    AddCacheDirective, AddCachePool, ModifyCacheDirective, ModifyCachePool, RemoveCacheDirective,
    RemoveCachePool,
};
use zerohop_journal::types::{CacheDirective, CachePool};

impl Namespace {
    /// Makes a pool; for the superuser.
    ///
    /// # Errors
    /// As Hadoop's `addCachePool`.
    pub fn add_cache_pool(&mut self, ctx: &OpContext, said: CachePool) -> Result<()> {
        self.begin(ctx, || format!("Cannot add cache pool {}", said.name))?;
        check_text("The pool's name", &said.name)?;
        check_owners(&said)?;
        self.check_superuser(ctx, "addCachePool")?;
        validate_pool(&said)?;
        if self.state.cache().pools.contains_key(&said.name) {
            return refuse(CacheError::PoolExists { name: said.name });
        }
        let group = ctx.groups.first().cloned().unwrap_or_default();
        let said = CachePool {
            owner: said.owner.or_else(|| Some(ctx.user().to_string())),
            group: said.group.or(Some(group)),
            ..said
        };
        let pool = Pool::of(&said).info(&said.name);
        self.change_cache(ctx, AddCachePool { pool })
    }

    /// Changes a pool; for the superuser.
    ///
    /// # Errors
    /// As Hadoop's `modifyCachePool`.
    pub fn modify_cache_pool(&mut self, ctx: &OpContext, said: CachePool) -> Result<()> {
        self.begin(ctx, || format!("Cannot modify cache pool {}", said.name))?;
        self.check_superuser(ctx, "modifyCachePool")?;
        check_owners(&said)?;
        validate_pool(&said)?;
        if !self.state.cache().pools.contains_key(&said.name) {
            return refuse(CacheError::NoSuchPool { name: said.name });
        }
        self.change_cache(ctx, ModifyCachePool { pool: said })
    }

    /// Removes a pool with all its directives; for the superuser.
    ///
    /// # Errors
    /// As Hadoop's `removeCachePool`.
    pub fn remove_cache_pool(&mut self, ctx: &OpContext, name: &str) -> Result<()> {
        self.begin(ctx, || format!("Cannot modify cache pool {name}"))?;
        self.check_superuser(ctx, "removeCachePool")?;
        validate_name(name)?;
        if !self.state.cache().pools.contains_key(name) {
            return refuse(CacheError::NoPoolToRemove { name: name.to_owned() });
        }
        self.change_cache(ctx, RemoveCachePool { name: name.to_owned() })
    }

    /// Makes a directive; its id.
    ///
    /// # Errors
    /// As Hadoop's `addCacheDirective`.
    pub fn add_cache_directive(
        &mut self,
        ctx: &OpContext,
        request: &CacheDirectiveRequest,
    ) -> Result<i64> {
        self.begin(ctx, || "Cannot add cache directive".to_owned())?;
        if request.directive.id != 0 {
            return refuse(CacheError::IdGiven);
        }
        let name = pool_name(&request.directive)?;
        let pool = self.state.cache().pool(name)?;
        self.check_pool(ctx, name, pool, WRITE)?;
        let path = valid_path(&request.directive)?.to_owned();
        check_text("The path", &path)?;
        let replication =
            valid_replication(request.directive.replication.unwrap_or(pool.replication))?;
        let now_ms = self.wall_ms() as i64;
        let expiry_ms = expiry(request.expiry, pool.max_expiry_ms, now_ms)?;
        if !request.force {
            self.check_pool_limit(name, &path, replication)?;
        }
        let id = self.state.cache().next_id;
        if id >= i64::MAX - 1 {
            return refuse(CacheError::NoIdsLeft);
        }
        let directive = CacheDirective {
            id,
            path: Some(path),
            replication: Some(replication),
            pool: Some(name.to_owned()),
            expiration_ms: Some(expiry_ms),
        };
        self.change_cache(ctx, AddCacheDirective { directive })?;
        Ok(id)
    }

    /// Changes a directive.
    ///
    /// # Errors
    /// As Hadoop's `modifyCacheDirective`.
    pub fn modify_cache_directive(
        &mut self,
        ctx: &OpContext,
        request: &CacheDirectiveRequest,
    ) -> Result<()> {
        self.begin(ctx, || "Cannot add cache directive".to_owned())?;
        let id = request.directive.id;
        if id == 0 {
            return refuse(CacheError::IdMissing);
        }
        let known = self.state.cache().directive(id)?;
        self.check_pool(ctx, &known.pool, self.state.cache().pool(&known.pool)?, WRITE)?;
        let after = merged(&request.directive, known.info(id));
        let path = valid_path(&after)?;
        check_text("The path", path)?;
        let replication = valid_replication(after.replication.unwrap_or(-1))?;
        let name = pool_name(&after)?;
        let pool = self.state.cache().pool(name)?;
        if *name != known.pool {
            self.check_pool(ctx, name, pool, WRITE)?;
            if !request.force {
                self.check_pool_limit(name, path, replication)?;
            }
        }
        let now_ms = self.wall_ms() as i64;
        let wanted =
            request.expiry.or(Some(CacheExpiry { ms: known.expiry_ms, is_relative: false }));
        let expiry_ms = expiry(wanted, pool.max_expiry_ms, now_ms)?;
        let expiration_ms = request.expiry.map(|_| expiry_ms);
        let directive = CacheDirective { expiration_ms, ..request.directive.clone() };
        self.change_cache(ctx, ModifyCacheDirective { directive })
    }

    /// Removes a directive.
    ///
    /// # Errors
    /// As Hadoop's `removeCacheDirective`.
    pub fn remove_cache_directive(&mut self, ctx: &OpContext, id: i64) -> Result<()> {
        self.begin(ctx, || "Cannot remove cache directives".to_owned())?;
        let known = self.state.cache().directive(id)?;
        self.check_pool(ctx, &known.pool, self.state.cache().pool(&known.pool)?, WRITE)?;
        self.change_cache(ctx, RemoveCacheDirective { id })
    }

    /// A page of the directives after an id, of pools the caller may read, and whether there are more.
    ///
    /// # Errors
    /// As Hadoop's `listCacheDirectives`.
    pub fn list_cache_directives(
        &self,
        ctx: &OpContext,
        after: i64,
        filter: &CacheDirectiveFilter,
    ) -> Result<(Vec<CacheDirectiveEntry>, bool)> {
        if let Some(path) = &filter.path {
            check_path(path)?;
        }
        if filter.has_replication {
            return refuse(CacheError::FilterByReplication);
        }
        if let Some(id) = filter.id.filter(|id| !self.state.cache().directives.contains_key(id)) {
            return refuse(CacheError::FilteredId { id });
        }
        let now_ms = ctx.now.wall_ms as i64;
        let from = filter.id.unwrap_or(after.saturating_add(1));
        let mut page = Vec::new();
        for (id, directive) in self.state.cache().directives.range(from..) {
            if filter.id.is_some_and(|wanted| wanted != *id) {
                break;
            }
            let fits = filter.pool.as_ref().is_none_or(|pool| *pool == directive.pool)
                && filter.path.as_ref().is_none_or(|path| *path == directive.path);
            let pool = self.state.cache().pools.get(&directive.pool);
            if !fits || !pool.is_some_and(|pool| self.may_use(ctx, pool, READ)) {
                continue;
            }
            if page.len() >= self.params.cache_directives_batch {
                return Ok((page, true));
            }
            page.push(directive.entry(*id, now_ms));
        }
        Ok((page, false))
    }

    /// A page of the pools after a name; of those the caller may not read the name only. And whether
    /// there are more.
    pub fn list_cache_pools(&self, ctx: &OpContext, after: &str) -> (Vec<CachePoolEntry>, bool) {
        let mut rest = self.state.cache().pools.iter().filter(|(name, _)| name.as_str() > after);
        let page = rest.by_ref().take(self.params.cache_pools_batch).map(|(name, pool)| {
            if self.may_use(ctx, pool, READ) {
                return pool.entry(name);
            }
            CachePoolEntry {
                info: CachePool { name: name.clone(), ..CachePool::default() },
                ..CachePoolEntry::default()
            }
        });
        let page: Vec<_> = page.collect();
        let has_more = rest.next().is_some();
        (page, has_more)
    }

    fn change_cache(&mut self, ctx: &OpContext, op: impl Into<EditOp>) -> Result<()> {
        self.commit_call(ctx, op).map(drop)
    }

    fn may_use(&self, ctx: &OpContext, pool: &Pool, action: Action) -> bool {
        if ctx.superuser || !self.params.permissions_enabled {
            return true;
        }
        // Not as with files: an owner who is in the group too has what either class allows.
        let class = |shift: u16| (pool.mode >> shift) as u8 & action == action;
        let (owns, in_group) = (*pool.owner == **ctx.user(), ctx.in_group(&pool.group));
        owns && class(6) || in_group && class(3) || !owns && !in_group && class(0)
    }

    fn check_pool(&self, ctx: &OpContext, name: &str, pool: &Pool, action: Action) -> Result<()> {
        if self.may_use(ctx, pool, action) {
            return Ok(());
        }
        refuse(Denied::CachePool { user: ctx.user().clone(), pool: name.to_owned() })
    }

    fn check_pool_limit(&self, name: &str, path: &str, replication: i16) -> Result<()> {
        let pool = self.state.cache().pool(name)?;
        if pool.limit == LIMIT_NONE {
            return Ok(());
        }
        let bytes: i64 =
            self.files_at(path).iter().map(|slot| self.state.ledger().file_len(*slot) as i64).sum();
        let left = pool.limit.saturating_sub(pool.stats.bytes_needed);
        if bytes.saturating_mul(i64::from(replication)) <= left {
            return Ok(());
        }
        let (path, pool) = (path.to_owned(), name.to_owned());
        refuse(CacheError::PoolFull { path, bytes, replication, pool, left })
    }
}

fn check_owners(said: &CachePool) -> Result<()> {
    said.owner.iter().chain(&said.group).try_for_each(|name| check_text("The name", name))
}

fn validate_name(name: &str) -> Result<()> {
    if name.is_empty() { refuse(CacheError::EmptyPoolName) } else { Ok(()) }
}

fn validate_pool(said: &CachePool) -> Result<()> {
    if said.limit.is_some_and(|limit| limit < 0) {
        return refuse(CacheError::NegativeLimit);
    }
    if said.default_replication.is_some_and(|replication| replication < 0) {
        return refuse(CacheError::NegativeReplication);
    }
    match said.max_relative_expiry_ms {
        Some(..0) => return refuse(CacheError::NegativeMaxExpiry),
        Some(ms) if ms > NEVER_MS => return refuse(CacheError::MaxExpiryTooBig),
        _ => {}
    }
    validate_name(&said.name)
}

fn pool_name(said: &CacheDirective) -> Result<&str> {
    match said.pool.as_deref() {
        None => refuse(CacheError::PoolMissing),
        Some("") => refuse(CacheError::PoolOfDirectiveEmpty),
        Some(name) => Ok(name),
    }
}

fn check_path(path: &str) -> Result<()> {
    if tree::is_valid_name(path) {
        return Ok(());
    }
    refuse(CacheError::InvalidPath { path: path.to_owned() })
}

fn valid_path(said: &CacheDirective) -> Result<&str> {
    let path = said.path.as_deref().ok_or(CacheError::PathMissing)?;
    check_path(path).map(|()| path)
}

fn valid_replication(replication: i16) -> Result<i16> {
    if replication > 0 {
        return Ok(replication);
    }
    refuse(CacheError::InvalidReplication { replication })
}

/// The instant a directive ends, ms since the epoch.
fn expiry(wanted: Option<CacheExpiry>, most_ms: i64, now_ms: i64) -> Result<i64> {
    let Some(wanted) = wanted else { return Ok(now_ms.saturating_add(most_ms)) };
    if wanted.ms < 0 {
        return refuse(CacheError::NegativeExpiry { ms: wanted.ms });
    }
    let (relative_ms, at_ms) = match wanted.is_relative {
        true => (wanted.ms, now_ms.saturating_add(wanted.ms)),
        false => (wanted.ms.saturating_sub(now_ms), wanted.ms),
    };
    if relative_ms > NEVER_MS {
        return refuse(CacheError::ExpiryTooFar { ms: wanted.ms });
    }
    if relative_ms > most_ms {
        return refuse(CacheError::ExpiryOverMax { ms: wanted.ms, max_ms: most_ms });
    }
    Ok(at_ms)
}
