//! Commands on names and where blocks are.

use zerohop_client::blocking::FileSystem;
use zerohop_client::{DatanodeReportType, FileStatus, RenameOptions, SafeModeAction};

use crate::answer::{Answer, done, invalid, number, one};

/// Runs a command on paths or on the cluster; `None` for a command that is none.
pub fn run(fs: &FileSystem, command: &str, args: &[&str]) -> Option<Answer> {
    Some(match (command, args) {
        ("ping", []) => Ok(Vec::new()),
        ("mkdir", [path]) => fs.mkdirs_with(path, 0o755, true).map(one),
        ("mkdir", [path, mode]) => octal(mode).and_then(|m| fs.mkdirs_with(path, m, true)).map(one),
        ("stat", [path]) => fs.status(path).map(|s| status(&s)),
        ("list", [path]) => list(fs, path),
        ("exists", [path]) => fs.exists(path).map(one),
        ("rename", [from, to]) => fs.rename(from, to).map(one),
        ("rename2", [from, to, overwrite]) => {
            let options = RenameOptions::default().overwrite(*overwrite == "true");
            fs.rename2(from, to, options).map(done)
        }
        ("delete", [path, recursive]) => fs.delete(path, *recursive == "true").map(one),
        ("truncate", [path, len]) => number(len).and_then(|len| fs.truncate(path, len)).map(one),
        ("concat", [target, sources @ ..]) => fs.concat(target, sources).map(done),
        ("checksum", [path]) => checksum(fs, path),
        ("locations", [path, offset, len]) => locations(fs, path, offset, len),
        ("recoverlease", [path]) => fs.recover_lease(path).map(one),
        ("isclosed", [path]) => fs.is_file_closed(path).map(one),
        ("live", []) => count(fs, DatanodeReportType::Live),
        ("dead", []) => count(fs, DatanodeReportType::Dead),
        ("contacts", []) => contacts(fs),
        ("safemode", [action]) => safe_mode(fs, action),
        ("savenamespace", []) => fs.save_namespace().map(|_| Vec::new()),
        ("home", []) => Ok(one(fs.home())),
        _ => return None,
    })
}

/// Permission bits of a request.
pub fn octal(text: &str) -> Result<u16, zerohop_client::Error> {
    u16::from_str_radix(text, 8).map_err(|_| invalid(format!("not octal: {text}")))
}

fn status(s: &FileStatus) -> Vec<String> {
    vec![
        if s.is_dir() { "dir" } else { "file" }.to_owned(),
        s.len.to_string(),
        s.replication.to_string(),
        s.block_size.to_string(),
        format!("{:o}", s.permission),
        s.owner.to_string(),
        s.group.to_string(),
    ]
}

fn list(fs: &FileSystem, path: &str) -> Answer {
    let mut entries = fs.list(path)?;
    entries.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(entries.iter().map(|s| format!("{} {}", s.name(), status(s).join(" "))).collect())
}

fn checksum(fs: &FileSystem, path: &str) -> Answer {
    Ok(match fs.checksum(path)? {
        Some(sum) => vec![sum.algorithm.to_string(), hex(&sum.bytes)],
        None => vec!["NONE".to_owned(), String::new()],
    })
}

fn locations(fs: &FileSystem, path: &str, offset: &str, len: &str) -> Answer {
    let located = fs.block_locations(path, number(offset)?, number(len)?)?;
    let block = |b: &zerohop_client::LocatedBlock| {
        let mut addresses: Vec<String> = b.nodes().map(|n| n.transfer_addr(false)).collect();
        addresses.sort();
        format!("{} {} {}", b.offset, b.block.block.len, addresses.join(" "))
    };
    Ok(located.blocks.iter().map(block).collect())
}

fn count(fs: &FileSystem, kind: DatanodeReportType) -> Answer {
    fs.datanode_report(kind).map(|nodes| one(nodes.len()))
}

fn contacts(fs: &FileSystem) -> Answer {
    let nodes = fs.datanode_report(DatanodeReportType::Live)?;
    let contact = |n: &zerohop_client::DatanodeInfo| {
        format!("{} {}", n.transfer_addr(false), n.proto().last_update())
    };
    let mut all: Vec<String> = nodes.iter().map(contact).collect();
    all.sort();
    Ok(all)
}

fn safe_mode(fs: &FileSystem, action: &str) -> Answer {
    let action = match action {
        "get" => SafeModeAction::SafemodeGet,
        "enter" => SafeModeAction::SafemodeEnter,
        "leave" => SafeModeAction::SafemodeLeave,
        other => return Err(invalid(format!("safemode {other}"))),
    };
    fs.safe_mode(action).map(one)
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
