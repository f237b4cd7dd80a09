//! `-addDirective`, `-modifyDirective`, `-removeDirective`, `-removeDirectives`, `-listDirectives`

use jiff::tz::TimeZone;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{CacheDirective, CacheDirectiveStats, CacheExpiry};
use zerohop_conf::Conf;

use crate::admin::table::{Side, Table};
use crate::admin::words::{
    Answer, Arguments, expiry, failed, list_failed, number, path, refuse, ttl,
};
use crate::fs::{Location, absolute, connect_client, open_client};
use crate::units::time;

pub fn add(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(text) = words.value("-path")? else {
        return refuse("You must specify a path with -path.");
    };
    let text = path(&text)?.to_owned();
    let Some(pool) = words.value("-pool")? else {
        return refuse("You must specify a pool name with -pool.");
    };
    let force = words.flag("-force");
    let replication = words.count("-replication")?;
    let expiry = take_expiry(&mut words)?;
    if let Some(word) = words.rest().first() {
        return refuse(format!("Can't understand argument: {word}"));
    }
    let fs = connect(conf, &Location::parse(&text))?;
    let directive = CacheDirective::default()
        .path(path_below(&fs, &text))
        .replication(replication)
        .pool(pool)
        .expiry(expiry);
    let id = fs.add_cache_directive(&directive, force).map_err(|error| failed(&error))?;
    sayln!("Added cache directive {id}");
    Ok(())
}

pub fn modify(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(text) = words.value("-id")? else {
        return refuse("You must specify a directive ID with -id.");
    };
    let id = number(&text)?;
    let to = words.value("-path")?;
    let to = to.as_deref().map(path).transpose()?.map(str::to_owned);
    let force = words.flag("-force");
    let replication = words.count("-replication")?;
    let pool = words.value("-pool")?;
    let expiry = take_expiry(&mut words)?;
    words.none_left()?;
    if to.is_none() && replication.is_none() && pool.is_none() && expiry.is_none() {
        return refuse("No modifications were specified.");
    }
    let fs = connect_client(conf)?;
    let path = to.map(|to| path_below(&fs, &to));
    let directive = CacheDirective::default()
        .id(id)
        .path(path)
        .replication(replication)
        .pool(pool)
        .expiry(expiry);
    fs.modify_cache_directive(&directive, force).map_err(|error| failed(&error))?;
    sayln!("Modified cache directive {text}");
    Ok(())
}

fn take_expiry(words: &mut Arguments) -> Answer<Option<CacheExpiry>> {
    let Some(text) = words.value("-ttl")? else { return Ok(None) };
    expiry(ttl(&text, "ttl")?).map(Some)
}

pub fn remove(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(text) = words.first() else {
        return refuse("You must specify a directive ID to remove.");
    };
    let Ok(id) = number(&text) else {
        return refuse(format!("Invalid directive ID {text}: expected a numeric value."));
    };
    if id <= 0 {
        return refuse(format!("Invalid directive ID {id}: ids must be greater than 0."));
    }
    words.none_left()?;
    let fs = connect_client(conf)?;
    fs.remove_cache_directive(id).map_err(|error| failed(&error))?;
    sayln!("Removed cached directive {id}");
    Ok(())
}

/// One that cannot be removed keeps nobody from removing the others.
pub fn remove_all(conf: &Conf, mut words: Arguments) -> Answer {
    let Some(text) = words.value("-path")? else {
        return refuse("You must specify a path with -path.");
    };
    words.none_left()?;
    let text = path(&text)?;
    let fs = connect(conf, &Location::parse(text))?;
    let filter = CacheDirective::default().path(path_below(&fs, text));
    let found = fs.cache_directives(&filter).map_err(|error| list_failed(&error))?;
    let mut result = Ok(());
    for id in found.into_iter().filter_map(|(directive, _)| directive.id) {
        match fs.remove_cache_directive(id) {
            Ok(()) => sayln!("Removed cache directive {id}"),
            Err(error) => {
                // The last one is printed by who gets it.
                if let Err(before) = std::mem::replace(&mut result, Err(failed(&error))) {
                    noteln!("{}", before.text);
                }
            }
        }
    }
    if result.is_ok() {
        sayln!("Removed every cache directive with path {text}");
    }
    result
}

pub fn list(conf: &Conf, mut words: Arguments) -> Answer {
    let below = words.value("-path")?;
    let below = below.as_deref().map(path).transpose()?.map(str::to_owned);
    let pool = words.value("-pool")?;
    let has_stats = words.flag("-stats");
    let id = words.number("-id")?;
    if let Some(word) = words.rest().first() {
        return refuse(format!("Can't understand argument: {word}"));
    }
    let fs = connect_client(conf)?;
    let path = below.map(|below| path_below(&fs, &below));
    let filter = CacheDirective::default().id(id).path(path).pool(pool);
    print(&fs, &filter, has_stats)
}

/// The file system that a path names, or the default one.
fn connect(conf: &Conf, place: &Location) -> Answer<FileSystem> {
    match place.has_scheme("hdfs") && place.authority.is_some() {
        true => Ok(open_client(conf, Some(&place.prefix()))?),
        false => Ok(connect_client(conf)?),
    }
}

fn path_below(fs: &FileSystem, text: &str) -> String {
    absolute(&Location::parse(text).path, &fs.home())
}

fn print(fs: &FileSystem, filter: &CacheDirective, has_stats: bool) -> Answer {
    let mut columns = vec![
        ("ID", Side::Right),
        ("POOL", Side::Left),
        ("REPL", Side::Right),
        ("EXPIRY", Side::Left),
        ("PATH", Side::Left),
    ];
    if has_stats {
        let names = ["BYTES_NEEDED", "BYTES_CACHED", "FILES_NEEDED", "FILES_CACHED"];
        columns.extend(names.map(|name| (name, Side::Right)));
    }
    let mut table = Table::new(&columns);
    let zone = TimeZone::system();
    for (directive, stats) in fs.cache_directives(filter).map_err(|error| list_failed(&error))? {
        let mut row = row(directive, &zone);
        if has_stats {
            row.extend(figures(&stats));
        }
        table.add(row);
    }
    let plural = if table.len() == 1 { "y" } else { "ies" };
    sayln!("Found {} entr{plural}", table.len());
    if table.len() > 0 {
        say!("{table}");
    }
    Ok(())
}

fn row(directive: CacheDirective, zone: &TimeZone) -> Vec<String> {
    let CacheDirective { id, path, replication, pool, expiry, .. } = directive;
    // Never, give or take what was added to it.
    let is_set = expiry.filter(|expiry| expiry.ms <= CacheExpiry::NEVER_MS / 2);
    vec![
        id.unwrap_or_default().to_string(),
        pool.unwrap_or_default(),
        replication.unwrap_or_default().to_string(),
        is_set.map_or("never".to_owned(), |expiry| time(expiry.ms, "%Y-%m-%dT%H:%M:%S%z", zone)),
        path.unwrap_or_default(),
    ]
}

fn figures(stats: &CacheDirectiveStats) -> [String; 4] {
    let CacheDirectiveStats { bytes_needed, bytes_cached, files_needed, files_cached, .. } = stats;
    [bytes_needed, bytes_cached, files_needed, files_cached].map(|figure| figure.to_string())
}
