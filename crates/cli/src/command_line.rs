//! From the words of the command line to a verb.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::failure::complain;
use crate::manual::{self, Entry};
use crate::settings::Settings;
use crate::{
    balancer, bench, cacheadmin, checknative, codec, daemon, debug, demo, dfsadmin, doctor, ec, fs,
    fsck, gateway, getconf, groups, ha, haadmin, journalnode, mover, observe, oev, oiv,
    storagepolicies, suggest, top, up, version, wording, zkfc,
};

/// HDFS in one binary: server, client and tools.
#[derive(Parser)]
#[command(name = "zerohop", version, about, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Examples:
  zerohop up --data ~/hdfs             a whole HDFS in one process
  zerohop fs -put FILE /               copy a file into it
  zerohop up --exec 'zerohop fs -ls /' a cluster for one command
  ln -s $(command -v zerohop) hadoop   ./hadoop takes Hadoop's own command lines";

#[derive(Args)]
struct Global {
    /// Directory of core-site.xml and hdfs-site.xml; else HADOOP_CONF_DIR
    #[arg(long, value_name = "DIR", global = true)]
    config: Option<PathBuf>,
    /// A configuration value; counts more than any file
    #[arg(short = 'D', value_name = "KEY=VALUE", global = true)]
    define: Vec<String>,
}

/// The words behind a verb that reads them itself, in Hadoop's way.
#[derive(Args)]
struct RawArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<String>,
}

#[derive(Subcommand)]
enum Verb {
    /// Run a whole HDFS in this process
    Up(up::Up),
    /// Files: -ls, -put, -get, -cat, -rm and the rest of Hadoop's shell (zerohop fs -help)
    #[command(visible_alias = "dfs")]
    Fs(RawArguments),
    /// Administration: -report, -safemode, -saveNamespace, -printTopology, quotas
    Dfsadmin(RawArguments),
    /// Centralized caching: pools and directives (zerohop cacheadmin -help)
    Cacheadmin(RawArguments),
    /// Check the files below a path: fsck PATH [-files [-blocks [-locations]]]
    Fsck(RawArguments),
    /// Configuration: -confKey KEY [-v], -namenodes, -nnRpcAddresses
    Getconf(RawArguments),
    #[command(about = "Find out why reads do not go locally: doctor [PATH] [--json]")]
    Doctor(RawArguments),
    /// Move replicas until the DataNodes are about equally full
    Balancer(RawArguments),
    /// Move replicas to the types of storage that the policies of their files want
    Mover(RawArguments),
    /// Groups of users, as the NameNode finds them
    Groups(RawArguments),
    /// On which types of storage blocks belong (zerohop storagepolicies -help)
    Storagepolicies(RawArguments),
    /// Erasure coding: policies and codecs of a cluster, the policy of a path
    Ec(RawArguments),
    /// Check a replica's files, make a meta file, end a lease
    Debug(RawArguments),
    /// Show an image as XML, a line for each file, or counts of file sizes, with nothing running
    Oiv(RawArguments),
    /// Show an edit log as XML or counts, with nothing running
    Oev(RawArguments),
    /// Compress and decompress as Hadoop's codecs do: codec compress|decompress FILE (codec --help)
    Codec(RawArguments),
    /// Say which native libraries are there: all is built in
    Checknative(RawArguments),
    /// Copy trees between file systems by threads of this machine
    Distcp(RawArguments),
    /// Run a NameNode, or format one (-format)
    Namenode(RawArguments),
    /// Run a DataNode
    Datanode(RawArguments),
    /// Run a JournalNode, which keeps the edit log that NameNodes share
    Journalnode(RawArguments),
    /// Run a failover controller beside a NameNode, or make its place in ZooKeeper (-formatZK)
    Zkfc(RawArguments),
    /// Which NameNode is active, and failover: -getAllServiceState, -failover (zerohop haadmin -help)
    Haadmin(RawArguments),
    /// Write the configuration of a highly available cluster, a directory for each host
    InitHa(ha::init::InitHa),
    /// Serve a cluster by REST (WebHDFS, HttpFS, Hoop)
    Gateway(RawArguments),
    /// Flame graph of a running process: what it computes, or with --wait what it waits for
    Profile(observe::profile::Profile),
    /// Heat map of how long the disks of a DataNode take, over time
    Heatmap(observe::heatmap::Heatmap),
    /// Watch a cluster in the terminal: DataNodes, calls, users, hot directories, disks; Apache's, too
    Top(top::Top),
    /// Show in a few seconds what this is: a cluster, a gigabyte in and out
    Demo(demo::Demo),
    /// Measure our own stack
    Bench(RawArguments),
    /// Print completions for a shell
    Completions { shell: manual::Shell },
    /// Print the manual page of a verb, or of zerohop
    Man {
        verb: Option<String>,
        /// Write all pages to this directory instead
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// The version
    Version,
    /// Take the command line of Apache's hdfs script
    Hdfs(RawArguments),
    /// Take the command line of Apache's hadoop script
    Hadoop(RawArguments),
}

/// Runs the command line; `called` is the name of the binary.
pub fn run(called: &str, args: Vec<String>) -> i32 {
    let name = Path::new(called).file_name().unwrap_or_default();
    match name.to_str() {
        Some("hdfs") => scripted(HDFS, "hdfs", args),
        Some("hadoop") => scripted(HADOOP, "hadoop", args),
        _ => own(args),
    }
}

/// Our own verbs. Those that read their words themselves do not wait for clap.
fn own(args: Vec<String>) -> i32 {
    let mut rest = args;
    let mut settings = Settings::default();
    if let Err(failure) = settings.take(&mut rest) {
        return complain("zerohop", &failure);
    }
    if let Some(verb) = rest.first().cloned()
        && let Some(run) = find(OWN, &verb)
    {
        settings.take_from_end(&mut rest);
        return start(run, &verb, settings, rest.split_off(1));
    }
    if let Some(hint) = rest.first().and_then(|word| meant(word, &rest)) {
        noteln!("{hint}");
        return EXIT_UNKNOWN;
    }
    let all = std::iter::once("zerohop".to_owned()).chain(rest);
    let cli = match Cli::try_parse_from(all) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return error.exit_code();
        }
    };
    settings.directory = cli.global.config.or(settings.directory);
    for pair in cli.global.define {
        let mut words = vec!["-D".to_owned(), pair];
        if let Err(failure) = settings.take(&mut words) {
            return complain("zerohop", &failure);
        }
    }
    match cli.verb {
        Verb::Up(options) => up::run(settings, options),
        Verb::InitHa(options) => ha::init::run(&settings, options),
        Verb::Demo(options) => demo::run(settings, options),
        Verb::Heatmap(options) => observe::heatmap::run(&options),
        Verb::Top(options) => top::run(&settings, options),
        Verb::Profile(options) => observe::profile::run(&options),
        Verb::Version => version::run(settings, Vec::new()),
        Verb::Completions { shell } => manual::complete(shell, &entries()),
        Verb::Man { verb, directory } => {
            manual::pages(verb.as_deref(), directory.as_deref(), &entries())
        }
        // clap knows these words for its help only; they were found in the tables above.
        Verb::Fs(words) => fs_verb(settings, words.words),
        Verb::Dfsadmin(words) => dfsadmin::run(settings, words.words),
        Verb::Cacheadmin(words) => cacheadmin::run(settings, words.words),
        Verb::Fsck(words) => fsck::run(settings, words.words),
        Verb::Getconf(words) => getconf::run(settings, words.words),
        Verb::Doctor(words) => doctor::run(settings, words.words),
        Verb::Balancer(words) => balancer::run(settings, words.words),
        Verb::Mover(words) => mover::run(settings, words.words),
        Verb::Groups(words) => groups::run(settings, words.words),
        Verb::Storagepolicies(words) => storagepolicies::run(settings, words.words),
        Verb::Ec(words) => ec::run(settings, words.words),
        Verb::Debug(words) => debug::run(settings, words.words),
        Verb::Oiv(words) => oiv::run(settings, words.words),
        Verb::Oev(words) => oev::run(settings, words.words),
        Verb::Codec(words) => codec::run(settings, words.words),
        Verb::Checknative(words) => checknative::run(settings, words.words),
        Verb::Distcp(words) => distcp_verb(settings, words.words),
        Verb::Namenode(words) => daemon::namenode(settings, words.words),
        Verb::Datanode(words) => daemon::datanode(settings, words.words),
        Verb::Journalnode(words) => journalnode::run(settings, words.words),
        Verb::Zkfc(words) => zkfc::run(settings, words.words),
        Verb::Haadmin(words) => haadmin::run(settings, words.words),
        Verb::Gateway(words) => gateway::run(settings, words.words),
        Verb::Bench(words) => bench::run(settings, words.words),
        Verb::Hdfs(words) => scripted(HDFS, "hdfs", words.words),
        Verb::Hadoop(words) => scripted(HADOOP, "hadoop", words.words),
    }
}

type Run = fn(Settings, Vec<String>) -> i32;

const OWN: &[(&str, Run)] = &[
    ("fs", fs_verb),
    ("dfs", fs_verb),
    ("dfsadmin", dfsadmin::run),
    ("cacheadmin", cacheadmin::run),
    ("fsck", fsck::run),
    ("getconf", getconf::run),
    ("balancer", balancer::run),
    ("mover", mover::run),
    ("groups", groups::run),
    ("storagepolicies", storagepolicies::run),
    ("ec", ec::run),
    ("debug", debug::run),
    ("oev", oev::run),
    ("oiv", oiv::run),
    ("codec", codec::run),
    ("checknative", checknative::run),
    ("distcp", distcp_verb),
    ("doctor", doctor::run),
    ("namenode", daemon::namenode),
    ("datanode", daemon::datanode),
    ("journalnode", journalnode::run),
    ("zkfc", zkfc::run),
    ("haadmin", haadmin::run),
    ("gateway", gateway::run),
    ("bench", bench::run),
    ("version", version::run),
    ("hdfs", |settings, words| scripted_with(settings, HDFS, "hdfs", words)),
    ("hadoop", |settings, words| scripted_with(settings, HADOOP, "hadoop", words)),
];

const HDFS: &[(&str, Run)] = &[
    ("dfs", fs_verb),
    ("dfsadmin", dfsadmin::run),
    ("cacheadmin", cacheadmin::run),
    ("fsck", fsck::run),
    ("getconf", getconf::run),
    ("balancer", balancer::run),
    ("mover", mover::run),
    ("groups", groups::run),
    ("storagepolicies", storagepolicies::run),
    ("ec", ec::run),
    ("debug", debug::run),
    ("oev", oev::run),
    ("oiv", oiv::run),
    ("namenode", daemon::namenode),
    ("datanode", daemon::datanode),
    ("journalnode", journalnode::run),
    ("zkfc", zkfc::run),
    ("haadmin", haadmin::run),
    ("httpfs", gateway::run),
    ("version", version::run),
];

const HADOOP: &[(&str, Run)] = &[
    ("fs", fs_verb),
    ("dfs", fs_verb),
    ("distcp", distcp_verb),
    ("version", version::run),
    ("checknative", checknative::run),
];

fn find(table: &[(&str, Run)], verb: &str) -> Option<Run> {
    table.iter().find(|(name, _)| *name == verb).map(|(_, run)| *run)
}

/// The exit code of clap for a command line that it does not know.
const EXIT_UNKNOWN: i32 = 2;

/// Returns the error for an unknown verb, if another verb or a command of a verb was likely meant.
fn meant(word: &str, words: &[String]) -> Option<String> {
    let is_verb =
        word.starts_with('-') || word == "help" || Cli::command().find_subcommand(word).is_some();
    (!is_verb).then(|| suggest::meant(word, words.get(1..).unwrap_or_default(), &entries()))?
}

/// A command line of Apache's scripts.
fn scripted(table: &[(&str, Run)], script: &str, words: Vec<String>) -> i32 {
    scripted_with(Settings::default(), table, script, words)
}

fn scripted_with(
    mut settings: Settings,
    table: &[(&str, Run)],
    script: &str,
    mut words: Vec<String>,
) -> i32 {
    settings.as_apache = true;
    wording::use_apaches();
    if let Err(failure) = settings.take(&mut words) {
        return complain(script, &failure);
    }
    let verbs: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    let usage = format!(
        "Usage: {script} [--config DIR] SUBCOMMAND [OPTIONS]; here are: {}",
        verbs.join(", ")
    );
    let Some(verb) = words.first().cloned() else {
        noteln!("{usage}");
        return 1;
    };
    if matches!(verb.as_str(), "--help" | "-help" | "-h" | "help") {
        sayln!("{usage}");
        return 0;
    }
    words.remove(0);
    match find(table, &verb) {
        Some(run) => start(run, &verb, settings, words),
        None => {
            let meant = zerohop_conf::closest(&verb, verbs);
            let meant = meant.map_or(String::new(), |near| format!(" Did you mean {near}?"));
            noteln!("ERROR: {verb} is not a command of zerohop's {script};{meant} {usage}");
            1
        }
    }
}

/// Generic options may also stand behind the verb.
fn start(run: Run, verb: &str, mut settings: Settings, mut words: Vec<String>) -> i32 {
    match settings.take(&mut words) {
        Ok(()) => run(settings, words),
        Err(failure) => complain(verb, &failure),
    }
}

fn fs_verb(settings: Settings, words: Vec<String>) -> i32 {
    match settings.load_for_cluster() {
        Ok(conf) => fs::run(conf, words),
        Err(failure) => complain("fs", &failure),
    }
}

fn distcp_verb(settings: Settings, words: Vec<String>) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
        sayln!("{}", fs::distcp::USAGE);
        return 0;
    }
    match settings.load_for_cluster() {
        Ok(conf) => fs::distcp::run(conf, words),
        Err(failure) => complain("distcp", &failure),
    }
}

/// All verbs with their commands and options.
fn entries() -> Vec<Entry> {
    manual::verbs(&Cli::command(), |verb| {
        let of_usage = |usage: &str| Some(Entry::new(verb, "", usage, ""));
        let of_commands = |commands| Some(Entry { commands, ..Entry::default() });
        match verb {
            "fs" => of_commands(fs::entries()),
            "dfsadmin" => of_commands(dfsadmin::entries()),
            "cacheadmin" => of_commands(cacheadmin::TOOL.entries()),
            "storagepolicies" => of_commands(storagepolicies::TOOL.entries()),
            "ec" => of_commands(ec::TOOL.entries()),
            "haadmin" => of_commands(haadmin::entries()),
            "zkfc" => of_usage(zkfc::USAGE),
            "debug" => of_commands(debug::entries()),
            "fsck" => of_usage(fsck::USAGE),
            "getconf" => of_usage(getconf::USAGE),
            "balancer" => of_usage(balancer::USAGE),
            "mover" => of_usage(mover::USAGE),
            "groups" => of_usage(groups::USAGE),
            "oiv" => of_usage(oiv::USAGE),
            "oev" => of_usage(oev::USAGE),
            "distcp" => of_usage(fs::distcp::USAGE),
            "codec" => of_usage(codec::USAGE),
            "checknative" => of_usage(checknative::USAGE),
            "doctor" => of_usage(doctor::USAGE),
            "namenode" => of_usage(daemon::NAMENODE_USAGE),
            "datanode" => of_usage(daemon::DATANODE_USAGE),
            "journalnode" => of_usage(journalnode::USAGE),
            "gateway" => of_usage(gateway::USAGE),
            "bench" => of_usage(bench::USAGE),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_agrees_with_itself() {
        Cli::command().debug_assert();
    }

    /// Every word that is parsed by a table of its own is in clap's help, and described for completions.
    #[test]
    fn each_verb_is_in_the_help_and_in_the_completions() {
        let entries = entries();
        for (verb, _) in OWN.iter().filter(|(verb, _)| *verb != "dfs") {
            let entry = entries.iter().find(|entry| entry.name == *verb);
            let entry = entry.unwrap_or_else(|| panic!("{verb} is not in the help"));
            assert!(!entry.about.is_empty(), "{verb}");
        }
        let fs = entries.iter().find(|entry| entry.name == "fs").unwrap();
        let ls = fs.commands.iter().find(|command| command.name == "-ls").unwrap();
        assert!(ls.options.contains("-R") && ls.options.contains("--json"), "{ls:?}");
    }
}
