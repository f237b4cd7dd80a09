//! `dfsadmin`: administration of a cluster, with the words and the output of Apache's.

mod datanode;
mod every;
mod open_files;
mod pending_deletions;
mod quota;
mod reconfig;
mod report;
mod rolling_upgrade;
mod safe_mode;
mod topology;
mod words;

use zerohop_client::blocking::FileSystem;
use zerohop_conf::{Conf, closest, keys, parse_size};

use crate::failure::{EXIT_USAGE, Failure, Kind, Outcome, complain};
use crate::fs::{asks_for_help, client_failure, connect_at, connect_client};
use crate::manual::Entry;
use crate::settings::Settings;
use words::expect;

/// One command: its name, its synopsis, what it does.
struct Command {
    name: &'static str,
    usage: &'static str,
    run: fn(&Conf, Vec<String>) -> Outcome<i32>,
}

impl Command {
    fn synopsis(&self) -> String {
        format!("{} {}", self.name, self.usage).trim_end().to_owned()
    }
}

const COMMANDS: &[Command] = &[
    Command {
        name: "-report",
        usage: "[-live] [-dead] [-decommissioning] [-enteringmaintenance] [-inmaintenance] [-slownodes] [--json]",
        run: report::run,
    },
    Command {
        name: "-safemode",
        usage: "<enter | leave | get | wait | forceExit>",
        run: safe_mode::run,
    },
    Command { name: "-saveNamespace", usage: "[-beforeShutdown]", run: save_namespace },
    Command { name: "-rollEdits", usage: "", run: roll_edits },
    Command { name: "-refreshNodes", usage: "", run: refresh_nodes },
    Command {
        name: "-restoreFailedStorage",
        usage: "true|false|check",
        run: restore_failed_storage,
    },
    Command { name: "-printTopology", usage: "[--json]", run: topology::run },
    Command { name: "-setQuota", usage: "<quota> <dirname>...<dirname>", run: quota::set_names },
    Command { name: "-clrQuota", usage: "<dirname>...<dirname>", run: quota::clear_names },
    Command {
        name: "-setSpaceQuota",
        usage: "<quota> [-storageType <storagetype>] <dirname>...<dirname>",
        run: quota::set_space,
    },
    Command {
        name: "-clrSpaceQuota",
        usage: "[-storageType <storagetype>] <dirname>...<dirname>",
        run: quota::clear_space,
    },
    Command { name: "-listOpenFiles", usage: "[-path <path>]", run: open_files::run },
    Command { name: "-listPendingDeletions", usage: "[--json]", run: pending_deletions::run },
    Command {
        name: "-shutdownDatanode",
        usage: "<datanode_host:ipc_port> [upgrade]",
        run: datanode::shut_down,
    },
    Command {
        name: "-evictWriters",
        usage: "<datanode_host:ipc_port>",
        run: datanode::evict_writers,
    },
    Command { name: "-getDatanodeInfo", usage: "<datanode_host:ipc_port>", run: datanode::info },
    Command { name: "-getVolumeReport", usage: "<datanode_host:ipc_port>", run: datanode::volumes },
    Command {
        name: "-refreshNamenodes",
        usage: "<datanode_host:ipc_port>",
        run: datanode::refresh_namenodes,
    },
    Command {
        name: "-deleteBlockPool",
        usage: "<datanode_host:ipc_port> <blockpoolId> [force]",
        run: datanode::delete_pool,
    },
    Command {
        name: "-setBalancerBandwidth",
        usage: "<bandwidth in bytes per second>",
        run: set_balancer_bandwidth,
    },
    Command {
        name: "-getBalancerBandwidth",
        usage: "<datanode_host:ipc_port>",
        run: datanode::balancer_bandwidth,
    },
    Command {
        name: "-triggerBlockReport",
        usage: "[-incremental] <datanode_host:ipc_port> [-namenode <namenode_host:ipc_port>]",
        run: datanode::trigger_block_report,
    },
    Command {
        name: "-reconfig",
        usage: "<namenode|datanode> <host:ipc_port|livenodes> <start|status|properties>",
        run: reconfig::run,
    },
    Command {
        name: "-blockScannerReport",
        usage: "<datanode_host:http_port>",
        run: reconfig::block_scanner,
    },
    Command { name: "-metasave", usage: "filename", run: metasave },
    Command { name: "-finalizeUpgrade", usage: "", run: finalize_upgrade },
    Command {
        name: "-rollingUpgrade",
        usage: "[<query|prepare|finalize>]",
        run: rolling_upgrade::run,
    },
    Command { name: "-allowSnapshot", usage: "<snapshotDir>", run: allow_snapshot },
    Command { name: "-disallowSnapshot", usage: "<snapshotDir>", run: disallow_snapshot },
];

/// Commands of Apache's that are not here yet.
const MISSING: &[&str] = &[
    "-provisionSnapshotTrash",
    "-upgrade",
    "-refreshServiceAcl",
    "-refreshUserToGroupsMappings",
    "-refreshSuperUserGroupsConfiguration",
    "-refreshCallQueue",
    "-refresh",
    "-fetchImage",
];

/// The commands for completions and manual pages.
pub fn entries() -> Vec<Entry> {
    let one = |command: &Command| Entry::new(command.name, command.usage, command.usage, "");
    COMMANDS.iter().map(one).collect()
}

fn usage() -> String {
    let lines: Vec<String> =
        COMMANDS.iter().map(|command| format!("\t[{}]", command.synopsis())).collect();
    format!("Usage: hdfs dfsadmin\n{}", lines.join("\n"))
}

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    let conf = match settings.load_for_cluster() {
        Ok(conf) => conf,
        Err(failure) => return complain("dfsadmin", &failure),
    };
    if words.is_empty() {
        noteln!("{}", usage());
        return EXIT_USAGE;
    }
    let word = words.remove(0);
    if matches!(word.as_str(), "-help" | "--help" | "-h") {
        sayln!("{}", usage());
        return 0;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name.eq_ignore_ascii_case(&word))
    else {
        if MISSING.iter().any(|name| name.eq_ignore_ascii_case(&word)) {
            let name = word.trim_start_matches('-');
            noteln!(
                "{name}: not supported by zerohop; Apache's dfsadmin does it if both sides can"
            );
            return EXIT_USAGE;
        }
        noteln!("{}: Unknown command", word.trim_start_matches('-'));
        if let Some(near) = closest(&word, COMMANDS.iter().map(|command| command.name)) {
            noteln!("Did you mean {near}?");
        }
        noteln!("{}", usage());
        return EXIT_USAGE;
    };
    if words.first().is_some_and(|word| asks_for_help(word)) {
        sayln!("Usage: hdfs dfsadmin [{}]", command.synopsis());
        return 0;
    }
    let answer = (command.run)(&conf, words);
    answer.unwrap_or_else(|failure| {
        let name = command.name.trim_start_matches('-');
        if failure.kind == Kind::Usage {
            if !failure.text.is_empty() {
                noteln!("{name}: {failure}");
            }
            noteln!("Usage: hdfs dfsadmin [{}]", command.synopsis());
        } else {
            noteln!("{name}: {failure}");
        }
        EXIT_USAGE
    })
}

/// Runs a call that answers with nothing, and says that it is done.
fn simple(
    conf: &Conf,
    call: impl Fn(&FileSystem) -> zerohop_client::Result<()>,
    done: &str,
) -> Outcome<i32> {
    call(&connect_client(conf)?).map_err(client_failure)?;
    sayln!("{done}");
    Ok(0)
}

fn save_namespace(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let (seconds, transactions) = match words.as_slice() {
        [] => (0, 0),
        [flag] if flag == "-beforeShutdown" => {
            let periods = conf
                .get(&keys::DFS_NAMENODE_MISSING_CHECKPOINT_PERIODS_BEFORE_SHUTDOWN)?
                .unsigned_abs();
            let period = conf.get(&keys::DFS_NAMENODE_CHECKPOINT_PERIOD)?.as_secs();
            let txns = conf.get(&keys::DFS_NAMENODE_CHECKPOINT_TXNS)?.unsigned_abs();
            let (seconds, txns) =
                (period.saturating_mul(periods.into()), txns.saturating_mul(periods.into()));
            sayln!(
                "Do checkpoint if necessary before stopping namenode. The time window is {seconds} seconds, and the transaction gap is {txns}"
            );
            (seconds, txns)
        }
        _ => return Err(Failure::usage("")),
    };
    every::tell(conf, "Save namespace", |fs| {
        Ok(match fs.save_namespace_if_older(seconds, transactions)? {
            true => "Save namespace successful".to_owned(),
            false => "No extra checkpoint has been made".to_owned(),
        })
    })
}

fn roll_edits(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    expect(&words, 0)?;
    let txid = connect_client(conf)?.roll_edits().map_err(client_failure)?;
    sayln!("Successfully rolled edit logs.\nNew segment starts at txid {txid}");
    Ok(0)
}

fn refresh_nodes(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    expect(&words, 0)?;
    every::tell(conf, "Refresh nodes", |fs| {
        fs.refresh_nodes().map(|()| "Refresh nodes successful".to_owned())
    })
}

fn restore_failed_storage(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let [word] = words.as_slice() else { return Err(Failure::usage("")) };
    if !matches!(word.as_str(), "true" | "false" | "check") {
        noteln!("restoreFailedStorage valid args are true|false|check");
        return Ok(EXIT_USAGE);
    }
    every::tell(conf, "restoreFailedStorage", |fs| {
        Ok(format!("restoreFailedStorage is set to {}", fs.restore_failed_storage(word)?))
    })
}

fn set_balancer_bandwidth(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let [word] = words.as_slice() else { return Err(Failure::usage("")) };
    let bandwidth = parse_size(word).ok_or_else(|| {
        Failure::usage(format!("\"{word}\" is not a number of bytes; 10485760 and 10m are"))
    })?;
    let Ok(bandwidth) = u64::try_from(bandwidth) else {
        noteln!("Bandwidth should be a non-negative integer");
        return Ok(EXIT_USAGE);
    };
    simple(
        conf,
        |fs| fs.set_balancer_bandwidth(bandwidth),
        &format!("Balancer bandwidth is set to {bandwidth}"),
    )
}

fn finalize_upgrade(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    expect(&words, 0)?;
    every::tell(conf, "Finalize upgrade", |fs| {
        fs.finalize_upgrade().map(|()| "Finalize upgrade successful".to_owned())
    })
}

fn metasave(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let [name] = words.as_slice() else { return Err(Failure::usage("")) };
    let fs = connect_client(conf)?;
    fs.metasave(name).map_err(client_failure)?;
    sayln!("Created metasave file {name} in the log directory of namenode {}", fs.uri());
    Ok(0)
}

fn allow_snapshot(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    set_snapshot(conf, &words, true, "Allowing")
}

fn disallow_snapshot(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    set_snapshot(conf, &words, false, "Disallowing")
}

fn set_snapshot(conf: &Conf, words: &[String], allowed: bool, what: &str) -> Outcome<i32> {
    let [word] = words else { return Err(Failure::usage("")) };
    let (fs, path) = connect_at(conf, word)?;
    fs.allow_snapshot(&path, allowed).map_err(client_failure)?;
    sayln!("{what} snapshot on {word} succeeded");
    Ok(0)
}
