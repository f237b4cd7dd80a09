//! `debug`: checks a replica's files, makes a meta file, ends a lease; the words and exit codes are those of
//! Apache's `hdfs debug`.

mod meta;

use std::path::PathBuf;
use std::time::Duration;
use zerohop_system::clock;

use zerohop_conf::{Conf, closest};

use crate::failure::{Failure, Outcome, complain};
use crate::fs::{client_failure, connect_at, pop_valued};
use crate::manual::Entry;
use crate::settings::Settings;

/// Between two tries of `recoverLease`.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// One command: its name, its synopsis, what it does.
struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&Conf, Vec<String>) -> Outcome<i32>,
}

const COMMANDS: [Command; 3] = [
    Command {
        name: "verifyMeta",
        usage: "-meta <metadata-file> [-block <block-file>]",
        about: "Checks the header of a meta file and, with a block file, that its checksums match the data.",
        run: verify_meta,
    },
    Command {
        name: "computeMeta",
        usage: "-block <block-file> -out <output-metadata-file>",
        about: "Makes a meta file for a block file. If the block file is corrupt, HDFS takes it for good from then on: use \
                this only when you are certain that the data is right.",
        run: compute_meta,
    },
    Command {
        name: "recoverLease",
        usage: "-path <path> [-retries <num-retries>]",
        about: "Ends the lease of a file whose writer does not close it; one try unless -retries asks for more.",
        run: recover_lease,
    },
];

/// The commands for completions and manual pages.
pub fn entries() -> Vec<Entry> {
    let one =
        |command: &Command| Entry::new(command.name, command.about, command.usage, command.about);
    COMMANDS.iter().map(one).collect()
}

/// Help for a terminal.
pub fn usage() -> String {
    let line = |command: &Command| {
        format!("\thdfs debug {} {}\n\t\t{}", command.name, command.usage, command.about)
    };
    let lines: Vec<String> = COMMANDS.iter().map(line).collect();
    format!("Usage: hdfs debug <command> [arguments]\n{}", lines.join("\n"))
}

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    if words.is_empty() {
        noteln!("{}", usage());
        return 1;
    }
    let word = words.remove(0);
    let name = word.trim_start_matches('-');
    if matches!(name, "h" | "help") {
        sayln!("{}", usage());
        return 0;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let near = closest(name, COMMANDS.iter().map(|command| command.name));
        let meant = near.map_or(String::new(), |near| format!(" Did you mean {near}?"));
        noteln!("debug: {word} is no command.{meant}\n{}", usage());
        return 1;
    };
    if words.first().is_none_or(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
        sayln!("{} {}\n  {}", command.name, command.usage, command.about);
        return i32::from(words.is_empty());
    }
    let answer = settings.load_for_cluster().and_then(|conf| (command.run)(&conf, words));
    answer.unwrap_or_else(|failure| {
        complain(command.name, &failure);
        1
    })
}

/// A line on standard error, and the exit code.
fn refuse(code: i32, text: &str) -> Outcome<i32> {
    noteln!("{text}");
    Ok(code)
}

fn verify_meta(_: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let block = pop_valued("-block", &mut words)?.map(PathBuf::from);
    let Some(path) = pop_valued("-meta", &mut words)?.map(PathBuf::from) else {
        return refuse(1, "You must specify a meta file with -meta");
    };
    let (meta, checksum) = match meta::open(&path) {
        Ok(opened) => opened,
        Err(problem) => {
            let text = format!(
                "Failed to read HDFS metadata file header for {}: {problem}",
                path.display()
            );
            return refuse(1, &text);
        }
    };
    let (kind, chunk) = (checksum.kind().name(), checksum.bytes_per_checksum());
    sayln!("Checksum type: DataChecksum(type={kind}, chunkSize={chunk})");
    let Some(block) = block else { return Ok(0) };
    match meta::verify(&block, &meta, checksum) {
        Ok(()) => {
            sayln!("Checksum verification succeeded on block file {}", block.display());
            Ok(0)
        }
        Err(meta::Problem::Mismatch(text)) => {
            sayln!("verifyChunkedSums error: {}: {text}", block.display());
            Ok(1)
        }
        Err(meta::Problem::Unread(text)) => refuse(1, &text),
    }
}

fn compute_meta(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let Some(block) = pop_valued("-block", &mut words)?.map(PathBuf::from) else {
        return refuse(2, "You must specify a block file with -block");
    };
    if !block.is_file() {
        let text = format!("Block file <{}> does not exist or is not a file", block.display());
        return refuse(3, &text);
    }
    let Some(out) = pop_valued("-out", &mut words)?.map(PathBuf::from) else {
        return refuse(4, "You must specify a output file with -out");
    };
    if out.exists() {
        return refuse(5, "output file already exists!");
    }
    meta::compute(&block, &out, meta::configured(conf)?)?;
    sayln!(
        "Checksum calculation succeeded on block file {} saved metadata to meta file {}",
        block.display(),
        out.display()
    );
    Ok(0)
}

fn recover_lease(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let path = pop_valued("-path", &mut words)?;
    let retries = pop_valued("-retries", &mut words)?.map(|text| {
        text.parse::<u32>().map_err(|_| Failure::io(format!("-retries {text}: not a number")))
    });
    let tries = retries.transpose()?.unwrap_or(1).max(1);
    let Some(text) = path else {
        return refuse(1, "You must supply a -path argument to recoverLease.");
    };
    let (fs, path) = connect_at(conf, &text)?;
    for number in 1..=tries {
        match fs.recover_lease(&path) {
            Ok(true) => {
                sayln!("recoverLease SUCCEEDED on {text}");
                return Ok(0);
            }
            Ok(false) => noteln!("recoverLease returned false."),
            Err(error) => {
                let failure = client_failure(error);
                noteln!("recoverLease got exception: {failure}");
                if failure.is_not_found() {
                    return refuse(1, &format!("Giving up on recoverLease for {text} after 1 try"));
                }
            }
        }
        if number < tries {
            noteln!("Retrying in {} ms...", RETRY_AFTER.as_millis());
            clock::sleep_thread(RETRY_AFTER);
            noteln!("Retry #{number}");
        }
    }
    let word = if tries == 1 { "try" } else { "tries" };
    refuse(1, &format!("Giving up on recoverLease for {text} after {tries} {word}."))
}
