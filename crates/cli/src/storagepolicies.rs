//! `storagepolicies`: on which types of storage the blocks of a file or directory belong, with the words,
//! the output and the exit codes of Apache's `hdfs storagepolicies`.

use zerohop_client::blocking::FileSystem;
use zerohop_client::{Error, StoragePolicy};
use zerohop_conf::Conf;
use zerohop_proto::hdfs::{GetFileInfoRequestProto, GetFileInfoResponseProto};

use crate::admin::words::{Answer, Arguments, Refusal, failed, refuse};
use crate::admin::{Command, Tool};
use crate::fs::{connect_at, connect_client};
use crate::namenode_call::call;
use crate::settings::Settings;

const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const PATH: (&str, &str) = ("<path>", "The file or directory.");

const COMMANDS: &[Command] = &[
    Command {
        name: "-listPolicies",
        usage: "",
        about: "Lists all storage policies.",
        words: &[],
        run: list,
    },
    Command {
        name: "-setStoragePolicy",
        usage: " -path <path> -policy <policy>",
        about: "Sets the storage policy of a file or directory.",
        words: &[PATH, ("<policy>", "The name of the policy, as -listPolicies shows it.")],
        run: set,
    },
    Command {
        name: "-getStoragePolicy",
        usage: " -path <path>",
        about: "Shows the storage policy of a file or directory.",
        words: &[PATH],
        run: get,
    },
    Command {
        name: "-unsetStoragePolicy",
        usage: " -path <path>",
        about: "Removes the storage policy that was set for a file or directory.",
        words: &[PATH],
        run: unset,
    },
    Command {
        name: "-satisfyStoragePolicy",
        usage: " -path <path>",
        about: "Has the blocks of a file or directory moved to where its policy wants them.",
        words: &[PATH],
        run: satisfy,
    },
];

/// The tool with its commands.
pub const TOOL: Tool = Tool { name: "storagepolicies", commands: COMMANDS };

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    TOOL.run(&settings, words)
}

/// As `BlockStoragePolicy.toString`.
fn shown(policy: &StoragePolicy) -> String {
    let list = |types: &[zerohop_client::StorageType]| {
        types.iter().map(|kind| kind.as_str_name()).collect::<Vec<_>>().join(", ")
    };
    format!(
        "BlockStoragePolicy{{{}:{}, storageTypes=[{}], creationFallbacks=[{}], replicationFallbacks=[{}]}}",
        policy.name,
        policy.id,
        list(&policy.creation),
        list(&policy.creation_fallback),
        list(&policy.replication_fallback)
    )
}

fn list(conf: &Conf, _: Arguments) -> Answer {
    let policies = connect_client(conf)?.storage_policies().map_err(|error| failed(&error))?;
    sayln!("Block Storage Policies:");
    policies.iter().for_each(|policy| sayln!("\t{}", shown(policy)));
    Ok(())
}

fn path(words: &mut Arguments) -> Answer<String> {
    match words.value("-path")? {
        Some(path) => Ok(path),
        None => refuse(format!("Please specify the path with -path.\nUsage: {}", words.synopsis())),
    }
}

fn get(conf: &Conf, mut words: Arguments) -> Answer {
    let text = path(&mut words)?;
    let (fs, src) = connect_at(conf, &text)?;
    let mut conf = conf.clone();
    conf.set("fs.defaultFS", fs.uri());
    let request = GetFileInfoRequestProto { src };
    let found: Result<GetFileInfoResponseProto, Error> =
        call(&conf, CLIENT_PROTOCOL, "getFileInfo", &request)?;
    let status = found.map_err(|error| failed(&error))?.fs;
    let Some(status) = status else {
        return Err(Refusal { text: format!("File/Directory does not exist: {text}"), code: 2 });
    };
    let id = status.storage_policy();
    if id == 0 {
        sayln!("The storage policy of {text} is unspecified");
        return Ok(());
    }
    let policies = fs.storage_policies().map_err(|error| failed(&error))?;
    match policies.iter().find(|policy| u32::from(policy.id) == id) {
        Some(policy) => sayln!("The storage policy of {text}:\n{}", shown(policy)),
        None => {
            let text =
                format!("{text} has the storage policy {id}, which the NameNode does not list");
            return Err(Refusal { text, code: 2 });
        }
    }
    Ok(())
}

/// Makes a call at the path of the command, and says that it is done.
fn change(
    conf: &Conf,
    text: &str,
    call: impl Fn(&FileSystem, &str) -> zerohop_client::Result<()>,
    done: &str,
) -> Answer {
    let (fs, path) = connect_at(conf, text)?;
    call(&fs, &path).map_err(|error| failed(&error))?;
    sayln!("{done} {text}");
    Ok(())
}

fn set(conf: &Conf, mut words: Arguments) -> Answer {
    let text = path(&mut words)?;
    let Some(policy) = words.value("-policy")? else {
        return refuse(format!("Please specify the policy name.\nUsage: {}", words.synopsis()));
    };
    let done = format!("Set storage policy {policy} on");
    change(conf, &text, |fs, path| fs.set_storage_policy(path, &policy), &done)
}

fn unset(conf: &Conf, mut words: Arguments) -> Answer {
    let text = path(&mut words)?;
    change(conf, &text, FileSystem::unset_storage_policy, "Unset storage policy from")
}

fn satisfy(conf: &Conf, mut words: Arguments) -> Answer {
    let text = path(&mut words)?;
    let done = "Scheduled blocks to move based on the current storage policy on";
    change(conf, &text, FileSystem::satisfy_storage_policy, done)
}
