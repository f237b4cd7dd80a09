//! `-addPool`, `-modifyPool`, `-removePool`, `-listPools`

use zerohop_client::{CacheExpiry, CachePool, CachePoolStats};
use zerohop_conf::Conf;

use crate::admin::table::{Side, Table};
use crate::admin::words::{
    Answer, Arguments, failed, list_failed, mode, number, refuse, short, ttl,
};
use crate::fs::{connect_client, permission};

const NO_NAME: &str = "You must specify a name when creating a cache pool.";

pub fn add(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(name) = words.first() else { return refuse(NO_NAME) };
    let owner = words.value("-owner")?;
    let group = words.value("-group")?;
    let mode = words.value("-mode")?.map(|text| short(&text, 8)).transpose()?;
    let limit = take_limit(&mut words)?;
    let default_replication = words.count("-defaultReplication")?;
    let max_ttl_ms = words.value("-maxTtl")?.map(|text| ttl(&text, "maxTtl")).transpose()?;
    words.none_of_them_left()?;
    let pool = CachePool::new(name)
        .owner(owner)
        .group(group)
        .mode(mode.map(|mode| mode as u16))
        .limit(limit)
        .max_relative_expiry_ms(max_ttl_ms)
        .default_replication(default_replication);
    let fs = connect_client(conf)?;
    fs.add_cache_pool(&pool).map_err(|error| failed(&error))?;
    sayln!("Successfully added cache pool {}.", pool.name);
    Ok(())
}

pub fn modify(conf: &Conf, mut words: Arguments) -> Answer {
    let owner = words.value("-owner")?;
    let group = words.value("-group")?;
    let mode = words.value("-mode")?.map(|text| mode(&text)).transpose()?;
    let limit = take_limit(&mut words)?;
    let default_replication = words.count("-defaultReplication")?;
    let ttl_said = words.value("-maxTtl")?;
    let max_ttl_ms = ttl_said.as_ref().map(|text| ttl(text, "maxTtl")).transpose()?;
    let Some(name) = words.first() else { return refuse(NO_NAME) };
    words.none_of_them_left()?;
    let unchanged = CachePool::new(name);
    let pool = unchanged
        .clone()
        .owner(owner)
        .group(group)
        .mode(mode)
        .limit(limit)
        .max_relative_expiry_ms(max_ttl_ms)
        .default_replication(default_replication);
    if pool == unchanged {
        return refuse("You must specify at least one attribute to change in the cache pool.");
    }
    let fs = connect_client(conf)?;
    fs.modify_cache_pool(&pool).map_err(|error| failed(&error))?;
    sayln!("Successfully modified cache pool {}{}", pool.name, changes(&pool, ttl_said));
    Ok(())
}

/// What was changed, in the order and with the line break of Apache's.
fn changes(pool: &CachePool, ttl_said: Option<String>) -> String {
    let mut text = String::new();
    let mut prefix = " to have ";
    let before = [
        pool.owner.as_ref().map(|owner| format!("owner name {owner}")),
        pool.group.as_ref().map(|group| format!("group name {group}")),
        pool.mode.map(|mode| format!("mode {}", permission(u32::from(mode & 0o1777)))),
        pool.limit.map(|limit| format!("limit {limit}")),
    ];
    for change in before.into_iter().flatten() {
        text.push_str(&format!("{prefix}{change}"));
        prefix = " and ";
    }
    if let Some(replication) = pool.default_replication {
        text.push_str(&format!("{prefix}replication {replication}\n"));
        prefix = " replication ";
    }
    if let Some(ttl) = ttl_said {
        text.push_str(&format!("{prefix}max time-to-live {ttl}"));
    }
    text
}

fn take_limit(words: &mut Arguments) -> Answer<Option<i64>> {
    let Some(text) = words.value("-limit")? else { return Ok(None) };
    match text.eq_ignore_ascii_case("unlimited") {
        true => Ok(Some(CachePool::UNLIMITED)),
        false => number(&text).map(Some),
    }
}

pub fn remove(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(name) = words.first() else {
        return refuse("You must specify a name when deleting a cache pool.");
    };
    words.none_of_them_left()?;
    let fs = connect_client(conf)?;
    fs.remove_cache_pool(&name).map_err(|error| failed(&error))?;
    sayln!("Successfully removed cache pool {name}.");
    Ok(())
}

pub fn list(conf: &Conf, mut words: Arguments) -> Answer {
    let name = words.first();
    let has_stats = words.flag("-stats");
    words.none_of_them_left()?;
    let mut columns = vec![
        ("NAME", Side::Left),
        ("OWNER", Side::Left),
        ("GROUP", Side::Left),
        ("MODE", Side::Left),
        ("LIMIT", Side::Right),
        ("MAXTTL", Side::Right),
        ("DEFAULT_REPLICATION", Side::Right),
    ];
    if has_stats {
        let names =
            ["BYTES_NEEDED", "BYTES_CACHED", "BYTES_OVERLIMIT", "FILES_NEEDED", "FILES_CACHED"];
        columns.extend(names.map(|name| (name, Side::Right)));
    }
    let mut table = Table::new(&columns);
    let fs = connect_client(conf)?;
    for (pool, stats) in fs.cache_pools().map_err(|error| list_failed(&error))? {
        if name.as_ref().is_some_and(|name| *name != pool.name) {
            continue;
        }
        let mut row = row(pool);
        if has_stats {
            row.extend(figures(&stats));
        }
        table.add(row);
    }
    let plural = if table.len() == 1 { "" } else { "s" };
    sayln!("Found {} result{plural}.", table.len());
    if table.len() > 0 {
        say!("{table}");
    }
    Ok(())
}

/// Who may not read a pool sees its name; for the rest there is what Java prints of nothing.
fn row(pool: CachePool) -> Vec<String> {
    let CachePool { name, owner, group, mode, limit, default_replication, .. } = pool;
    let null = || "null".to_owned();
    vec![
        name,
        owner.unwrap_or_default(),
        group.unwrap_or_default(),
        mode.map(|mode| permission(mode.into())).unwrap_or_default(),
        limit.map_or_else(null, |limit| match limit {
            CachePool::UNLIMITED => "unlimited".to_owned(),
            limit => limit.to_string(),
        }),
        pool.max_relative_expiry_ms.map(duration).unwrap_or_default(),
        default_replication.map_or_else(null, |count| count.to_string()),
    ]
}

fn figures(stats: &CachePoolStats) -> [String; 5] {
    let CachePoolStats {
        bytes_needed,
        bytes_cached,
        bytes_over_limit,
        files_needed,
        files_cached,
        ..
    } = stats;
    [bytes_needed, bytes_cached, bytes_over_limit, files_needed, files_cached]
        .map(|figure| figure.to_string())
}

/// `ddd:hh:mm:ss.mmm` (`DFSUtil.durationToString`).
fn duration(ms: i64) -> String {
    if ms == CacheExpiry::NEVER_MS {
        return "never".to_owned();
    }
    let sign = if ms < 0 { "-" } else { "" };
    let ms = ms.unsigned_abs();
    let seconds = ms / 1000;
    let (days, hours, minutes) = (seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60);
    format!("{sign}{days:03}:{hours:02}:{minutes:02}:{:02}.{:03}", seconds % 60, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration(2 * 86_400_000 + 3_723_004), "002:01:02:03.004");
        assert_eq!(duration(-1000), "-000:00:00:01.000");
        assert_eq!(duration(CacheExpiry::NEVER_MS), "never");
    }

    #[test]
    fn changes_read_as_apache_writes_them() {
        let pool = CachePool::default().mode(0o750).limit(7);
        assert_eq!(changes(&pool, None), " to have mode rwxr-x--- and limit 7");
        let pool = CachePool::default().default_replication(2);
        let text = " to have replication 2\n replication max time-to-live 2d";
        assert_eq!(changes(&pool, Some("2d".to_owned())), text);
    }
}
