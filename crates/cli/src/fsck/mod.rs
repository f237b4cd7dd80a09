//! `fsck`: the NameNode checks, its report is printed. Works on Apache's NameNode as well.

mod json;

use std::io::{BufRead, Write};

use zerohop_conf::{Conf, keys};
use zerohop_transport::login::User;

use crate::failure::{EXIT_USAGE, Failure, Outcome, complain};
use crate::fs::{Location, absolute, pop_flag};
use crate::http::{escape, get};
use crate::namenodes;
use crate::settings::Settings;

pub const USAGE: &str = "Usage: fsck <path> [-list-corruptfileblocks | [-move | -delete | -openforwrite] [-files [-blocks [-locations | -racks | -replicaDetails | -upgradedomains]]]] [-includeSnapshots] [-showprogress] [-storagepolicies] [-maintenance] [-blockId <blk_Id>] [-replicate] [--json]
\t<path>\tcheck the files below this path
\t-files -blocks -locations -racks\tprint the files, their blocks, the DataNodes, their racks
\t-openforwrite\tcount files that are being written
\t-list-corruptfileblocks\tlist the missing blocks and their files
\t-move, -delete\tmove corrupt files to /lost+found, or delete them
\t-files -blocks -replicaDetails | -upgradedomains\tprint the condition or the upgrade domain of each replica
\t-storagepolicies\tcount blocks by the storage types they lie on, beside the policies of their files
\t-replicate\tqueue blocks in too few racks for copies
\t-maintenance\tcount replicas on DataNodes in maintenance
\t-includeSnapshots\tcheck snapshots as well, where there are any
\t-blockId\tprint what is known of a block
\t--json\tone object instead of the report: status, sums, blocks, and all other lines as they are";

/// Options that are handed to the NameNode, with the name of their parameter.
const FLAGS: [(&str, &str); 15] = [
    ("-move", "move"),
    ("-delete", "delete"),
    ("-files", "files"),
    ("-openforwrite", "openforwrite"),
    ("-blocks", "blocks"),
    ("-locations", "locations"),
    ("-racks", "racks"),
    ("-replicaDetails", "replicadetails"),
    ("-upgradedomains", "upgradedomains"),
    ("-storagepolicies", "storagepolicies"),
    ("-showprogress", "showprogress"),
    ("-list-corruptfileblocks", "listcorruptfileblocks"),
    ("-includeSnapshots", "includeSnapshots"),
    ("-maintenance", "maintenance"),
    ("-replicate", "replicate"),
];

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    if words.is_empty() {
        noteln!("{USAGE}");
        return EXIT_USAGE;
    }
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let answer = settings.load_for_cluster().and_then(|conf| check(&conf, words));
    answer.unwrap_or_else(|failure| match failure.kind {
        crate::failure::Kind::Pipe => 141,
        _ => complain("fsck", &failure),
    })
}

/// The report says which files lie where: it is not fetched in plain where HTTPS was asked for.
fn check_http_policy(conf: &Conf) -> Outcome {
    let expected = "HTTP_ONLY or HTTP_AND_HTTPS: fsck speaks HTTP only";
    conf.get_as(&keys::DFS_HTTP_POLICY, expected, |policy| {
        (!policy.eq_ignore_ascii_case("HTTPS_ONLY")).then_some(())
    })?;
    Ok(())
}

fn check(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    check_http_policy(conf)?;
    let as_json = pop_flag("--json", &mut words);
    let user = User::of_process().name;
    let mut query = format!("/fsck?ugi={}", escape(&user));
    let mut path = None;
    let mut list_corrupt = false;
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if let Some((_, parameter)) = FLAGS.iter().find(|(flag, _)| *flag == word) {
            query.push_str(&format!("&{parameter}=1"));
            list_corrupt |= *parameter == "listcorruptfileblocks";
        } else if word == "-blockId" {
            let mut ids = String::new();
            while let Some(id) = words.next_if(|next| !next.starts_with('-')) {
                ids.push_str(&id);
                ids.push(' ');
            }
            query.push_str(&format!("&blockId={}", escape(&ids)));
        } else if word.starts_with('-') {
            let known = FLAGS.iter().map(|(flag, _)| *flag).chain(["-blockId", "--json"]);
            let meant = zerohop_conf::closest(&word, known);
            let meant = meant.map_or(String::new(), |near| format!("; did you mean {near}?"));
            noteln!("fsck: Illegal option '{word}'{meant}\n{USAGE}");
            return Ok(EXIT_USAGE);
        } else if path.is_some() {
            noteln!("fsck: can only operate on one path at a time '{word}'\n{USAGE}");
            return Ok(EXIT_USAGE);
        } else {
            path = Some(word);
        }
    }
    let shown = path.unwrap_or_else(|| "/".to_owned());
    let location = Location::parse(&shown);
    let home = format!("{}/{user}", conf.get(&keys::DFS_USER_HOME_DIR_PREFIX)?);
    let address = namenodes::http_address(conf, &location)?;
    query.push_str(&format!("&path={}", escape(&absolute(&location.path, &home))));
    noteln!("Connecting to namenode via http://{address}{query}");
    let fetch = FsckRequest { conf, address, as_json };
    if list_corrupt { fetch.list_corrupt(&query, &shown) } else { fetch.report(&query, &shown) }
}

struct FsckRequest<'a> {
    conf: &'a Conf,
    address: String,
    as_json: bool,
}

impl FsckRequest<'_> {
    fn lines(&self, query: &str) -> Outcome<impl Iterator<Item = std::io::Result<String>> + use<>> {
        let connect = self.conf.get(&keys::DFS_CLIENT_FSCK_CONNECT_TIMEOUT)?;
        let read = self.conf.get(&keys::DFS_CLIENT_FSCK_READ_TIMEOUT)?;
        Ok(get(&self.address, query, connect, read)?.lines())
    }

    /// Prints the report; its last line makes the exit code.
    fn report(&self, query: &str, shown: &str) -> Outcome<i32> {
        if self.as_json {
            let lines: Vec<String> = self.lines(query)?.collect::<Result<_, _>>()?;
            let code = exit_code(lines.last().map_or("CORRUPT", String::as_str));
            sayln!("{}", json::report(shown, &lines, code));
            return Ok(code);
        }
        let mut out = std::io::stdout().lock();
        let mut last = "CORRUPT".to_owned();
        for line in self.lines(query)? {
            last = line.map_err(|error| Failure::io(error.to_string()))?;
            writeln!(out, "{last}")?;
        }
        Ok(exit_code(&last))
    }

    /// The list comes in pages, each with a cookie for the next.
    fn list_corrupt(&self, query: &str, shown: &str) -> Outcome<i32> {
        let mut found = Vec::new();
        let mut cookie = 0_i64;
        loop {
            let more =
                if cookie > 0 { format!("&startblockafter={cookie}") } else { String::new() };
            let mut done = true;
            for line in self.lines(&format!("{query}{more}"))? {
                let line = line.map_err(|error| Failure::io(error.to_string()))?;
                if let Some(text) = line.strip_prefix("Cookie:") {
                    cookie = text.trim().parse().unwrap_or(0);
                    done = cookie == 0;
                } else if line.ends_with("has no CORRUPT files")
                    || line.ends_with("has no more CORRUPT files")
                    || line.ends_with("does not exist")
                {
                    done = true;
                    break;
                } else if line.starts_with("Access denied for user") {
                    sayln!("Failed to open path '{shown}': Permission denied");
                    return Ok(EXIT_USAGE);
                } else if !is_frame(&line) {
                    if found.is_empty() && !self.as_json {
                        sayln!("The list of corrupt blocks under path '{shown}' are:");
                    }
                    if !self.as_json {
                        sayln!("{line}");
                    }
                    found.push(line);
                }
            }
            if done {
                break;
            }
        }
        let code = if found.is_empty() { 0 } else { EXIT_USAGE };
        match self.as_json {
            true => sayln!("{}", json::corrupt(shown, &found, code)),
            false => {
                sayln!("The filesystem under path '{shown}' has {} CORRUPT blocks", found.len())
            }
        }
        Ok(code)
    }
}

/// Lines around a list.
fn is_frame(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("FSCK started by")
        || line.starts_with("FSCK ended at")
        || line.starts_with("The filesystem under path")
}

fn exit_code(last: &str) -> i32 {
    const CODES: [(&str, i32); 9] = [
        ("is HEALTHY", 0),
        ("CORRUPT", 1),
        ("does not exist", 0),
        ("is DECOMMISSIONED", 2),
        ("is DECOMMISSIONING", 3),
        ("is IN MAINTENANCE", 4),
        ("is ENTERING MAINTENANCE", 5),
        ("is STALE", 6),
        ("is EXCESS", 0),
    ];
    if last.contains("Incorrect blockId format:") {
        return 0;
    }
    CODES.iter().find(|(end, _)| last.ends_with(end)).map_or(EXIT_USAGE, |(_, code)| *code)
}
