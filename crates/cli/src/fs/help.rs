//! The table of commands, and what `-help` and `-usage` print of it.

use super::shell::Shell;
use super::{
    acl, append, checksum, copy_commands, count, display, find as find_command, ls, lzo_index,
    make, modify, mv, permissions, remove, snapshot, stat, tail, test, text, usage, xattr,
};
use crate::failure::{Failure, Outcome};
use crate::manual::Entry;

/// What stands before each synopsis.
pub const PREFIX: &str = "Usage: hadoop fs [generic options]";

/// One command of the shell.
pub struct Command {
    pub name: &'static str,
    usage: &'static str,
    description: &'static str,
    pub run: fn(&mut Shell, Vec<String>) -> Outcome,
    /// Old names point to the new one and are not listed.
    pub replaced_by: Option<&'static str>,
    /// Takes `--json`.
    pub json: bool,
}

impl Command {
    /// `-ls [-C] [-d] ...`
    pub fn synopsis(&self) -> String {
        if self.usage.is_empty() || self.replaced_by.is_some() {
            return format!("-{}", self.name);
        }
        format!("-{} {}", self.name, self.usage)
    }
}

const fn command(
    name: &'static str,
    usage: &'static str,
    run: fn(&mut Shell, Vec<String>) -> Outcome,
    description: &'static str,
) -> Command {
    Command { name, usage, description, run, replaced_by: None, json: false }
}

const fn with_json(command: Command) -> Command {
    Command { json: true, ..command }
}

const fn old(
    name: &'static str,
    replaced_by: &'static str,
    run: fn(&mut Shell, Vec<String>) -> Outcome,
) -> Command {
    Command { name, usage: "", description: "", run, replaced_by: Some(replaced_by), json: false }
}

const PUT: &str =
    "[-f] [-p] [-l] [-d] [-t <thread count>] [-q <thread pool queue size>] <localsrc> ... <dst>";
const GET: &str = "[-f] [-p] [-crc] [-ignoreCrc] [-t <thread count>] [-q <thread pool queue size>] <src> ... <localdst>";
const PUT_HELP: &str =
    "Copies local files and directories into the file system; - as the only source is standard input.
-f: overwrites files that exist
-p: keeps times, owner, group and mode
-l: lets the DataNode write to disk later; one replica only
-d: writes straight to the target, without <dst>._COPYING_
-t: copies that run side by side
-q: accepted, without effect";
const GET_HELP: &str =
    "Copies files and directories to the local file system; - as target is standard output.
-f: overwrites files that exist
-p: keeps times, owner, group and mode
-crc: writes a side file with checksums
-ignoreCrc: does not verify checksums
-v: prints to standard error which way the bytes were read, and why not locally
-t: copies that run side by side
-q: accepted, without effect";

/// In order of name.
#[rustfmt::skip]
static COMMANDS: &[Command] = &[
    command("appendToFile", "[-n] <localsrc> ... <dst>", append::run,
        "Appends local files, or standard input for -, to a file that is made where it is missing.\n-n: starts a new block"),
    command("cat", "[-ignoreCrc] <src> ...", display::cat,
        "Prints files.\n-ignoreCrc: does not verify checksums\n-v: prints to standard error which way the bytes were read, and why not locally"),
    command("checksum", "[-v] <src> ...", checksum::run,
        "Prints the checksums of files, which depend on content, block size and checksum settings.\n-v: prints the block size too"),
    command("chgrp", "[-R] GROUP PATH...", permissions::chgrp,
        "Changes the group.\n-R: of everything below as well"),
    command("chmod", "[-R] <MODE[,MODE]... | OCTALMODE> PATH...", permissions::chmod,
        "Changes permissions: three or four octal digits, or terms like u+rw,g-w,o=r,+t with the letters rwxXt.\n-R: of everything below as well"),
    command("chown", "[-R] [OWNER][:[GROUP]] PATH...", permissions::chown,
        "Changes owner and group; only a superuser may change the owner.\n-R: of everything below as well"),
    command("concat", "<target path> <src path> <src path> ...", modify::concat,
        "Moves the blocks of the sources to the end of the target; no data is copied, the sources are gone."),
    command("copyFromLocal", PUT, copy_commands::put, PUT_HELP),
    command("copyToLocal", GET, copy_commands::get, GET_HELP),
    with_json(command("count", "[-q] [-h] [-v] [-t [<storage type>]] [-u] [-x] [-e] [-s] <path> ...", count::run,
        "Counts directories, files and bytes.\n-q: with quotas\n-u: quotas and usage only\n-t: by storage type, together with -q or -u\n-h: sizes for people\n-v: with a header\n-x: without snapshots\n-e: with the erasure coding policy\n-s: with snapshots apart\n--json: for programs")),
    command("cp", "[-f] [-p | -p[topax]] [-d] [-t <thread count>] [-q <thread pool queue size>] <src> ... <dst>", copy_commands::cp,
        "Copies files and directories.\n-f: overwrites files that exist\n-p: keeps timestamps, ownership, permission, and with the letters ACLs (a) and extended attributes (x)\n-d: writes straight to the target\n-t: copies that run side by side\n-q: accepted, without effect"),
    command("createSnapshot", "<snapshotDir> [<snapshotName>]", snapshot::create, "Makes a snapshot of a directory."),
    command("deleteSnapshot", "<snapshotDir> <snapshotName>", snapshot::delete, "Deletes a snapshot of a directory."),
    with_json(command("df", "[-h] [<path> ...]", usage::df,
        "Shows capacity, used and free space of the file system.\n-h: sizes for people\n--json: for programs")),
    with_json(command("du", "[-s] [-h] [-v] [-x] <path> ...", usage::du,
        "Shows for each entry its size and the space of all its replicas.\n-s: one sum for each path\n-h: sizes for people\n-v: with a header\n-x: without snapshots\n--json: for programs")),
    old("dus", "du -s", usage::dus),
    command("expunge", "[-immediate] [-fs <path>]", remove::expunge,
        "Empties the trash of what is older than the retention.\n-immediate: of everything"),
    command("find", "<path> ... <expression> ...", find_command::run,
        "Prints the paths below that match all expressions.\n-name pattern: the last name matches\n-iname pattern: the same without regard to case\n-print: a path a line\n-print0: a zero byte after each path"),
    command("get", GET, copy_commands::get, GET_HELP),
    command("getfacl", "[-R] <path>", acl::getfacl, "Prints access control lists.\n-R: of everything below as well"),
    command("getfattr", "[-R] {-n name | -d} [-e en] <path>", xattr::getfattr,
        "Prints extended attributes.\n-n name: this one\n-d: all\n-e en: as text, hex or base64\n-R: of everything below as well"),
    command("getmerge", "[-nl] [-skip-empty-file] <src> <localdst>", copy_commands::getmerge,
        "Joins files, or the files of a directory in order of name, to one local file.\n-nl: a newline after each file\n-skip-empty-file: but not after empty ones"),
    command("head", "<file>", display::head, "Prints the first kilobyte of a file."),
    command("help", "[cmd ...]", help, "Explains commands."),
    with_json(command("ls", "[-C] [-d] [-h] [-q] [-R] [-t] [-S] [-r] [-u] [-e] [<path> ...]", ls::run,
        "Lists files and directories: permissions, replication, owner, group, size, modification time, path.\n-C: paths only\n-d: directories themselves, not what is in them\n-h: sizes for people\n-q: ? for what cannot be printed\n-R: everything below\n-t: by time, newest first\n-S: by size, largest first\n-r: in reverse\n-u: access time instead of modification time\n-e: with the erasure coding policy\n--json: for programs")),
    old("lsr", "ls -R", ls::run_recursive),
    command("lzoindex", "[-f] <path> ...", lzo_index::run,
        "Makes the index of .lzo files, in directories of all below, by which jobs split them: FILE.lzo.index.\n-f: also where there is one"),
    command("mkdir", "[-p] <path> ...", make::mkdir, "Makes directories.\n-p: with all above; no error where one exists"),
    command("moveFromLocal", "[-f] [-p] [-l] [-d] <localsrc> ... <dst>", copy_commands::move_from_local,
        "Copies local files into the file system and deletes them."),
    command("moveToLocal", "<src> <localdst>", copy_commands::move_to_local, "Not there, as in Hadoop; use -get and -rm."),
    command("mv", "<src> ... <dst>", mv::run, "Renames, or moves into a directory, within one file system."),
    command("put", PUT, copy_commands::put, PUT_HELP),
    command("renameSnapshot", "<snapshotDir> <oldName> <newName>", snapshot::rename, "Renames a snapshot of a directory."),
    command("rm", "[-f] [-r|-R] [-skipTrash] [-safely] <src> ...", remove::rm,
        "Deletes files, or moves them to the trash where there is one.\n-f: no error where there is nothing\n-r: directories with all that is in them\n-R: the same\n-skipTrash: past the trash\n-safely: asks before a directory with many files is deleted"),
    command("rmdir", "[--ignore-fail-on-non-empty] <dir> ...", remove::rmdir, "Deletes empty directories."),
    old("rmr", "-rm -r", remove::rmr),
    command("setfacl", "[-R] [{-b|-k} {-m|-x <acl_spec>} <path>]|[--set <acl_spec> <path>]", acl::setfacl,
        "Changes access control lists.\n-b: removes all entries but those of the permission bits\n-k: removes the default list\n-m: adds or changes entries\n-x: removes entries\n--set: replaces the list\n-R: of everything below as well"),
    command("setfattr", "{-n name [-v value] | -x name} <path>", xattr::setfattr,
        "Sets or removes an extended attribute.\n-n name: the attribute\n-v value: text, \"text\", 0x and hex digits, or 0s and base64\n-x name: removes it"),
    command("setrep", "[-R] [-w] <rep> <path> ...", modify::setrep,
        "Sets the number of replicas of files, in directories of all files below.\n-w: waits until it is reached\n-R: accepted, without effect"),
    with_json(command("stat", "[format] <path> ...", stat::run,
        "Prints what the format asks for: %a and %A permissions, %b bytes, %F type, %g group, %n name, %o block size, %r replication, %u owner, %x and %X access time, %y and %Y modification time (UTC, or milliseconds for the capitals).\n--json: all of it for programs")),
    command("tail", "[-f] [-s <sleep interval>] <file>", tail::run,
        "Prints the last kilobyte of a file.\n-f: and what is appended to it\n-s: milliseconds between two looks"),
    command("test", "-[defswrz] <path>", test::run,
        "Answers by exit code: 0 for yes.\n-d: a directory\n-e: exists\n-f: a file\n-s: not empty\n-w: may be written\n-r: may be read\n-z: empty"),
    command("text", "[-ignoreCrc] [-range <start>-<end>] <src> ...", text::run,
        "Prints files in plain: gzip, bzip2, zstd, deflate, Snappy, LZ4 and LZO are unpacked, SequenceFiles and Avro become lines; of ORC and Parquet what their footers say.\n-ignoreCrc: does not verify checksums\n-range: the lines that a job reads of this range of a .lzo file, by its index"),
    command("touch", "[-a] [-m] [-t TIMESTAMP (yyyyMMdd:HHmmss) ] [-c] <path> ...", make::touch,
        "Sets times to now, and makes files that are missing.\n-a: access time only\n-m: modification time only\n-t: this time\n-c: makes no files"),
    command("touchz", "<path> ...", make::touchz, "Makes empty files; an error where a file is not empty."),
    command("truncate", "[-w] <length> <path> ...", modify::truncate,
        "Cuts files to a length.\n-w: waits until the last block is in order"),
    command("usage", "[cmd ...]", usages, "Prints the synopsis of commands."),
];

/// The command of a name without dash.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The commands for completions and manual pages.
pub fn entries() -> Vec<Entry> {
    let listed = COMMANDS.iter().filter(|command| command.replaced_by.is_none());
    let one = |command: &Command| {
        let (name, about) = (format!("-{}", command.name), command.description);
        Entry::new(&name, about, command.usage, about)
    };
    listed.map(one).collect()
}

/// The names of all commands that are listed.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter(|command| command.replaced_by.is_none()).map(|command| command.name)
}

const GENERIC: &str = "Generic options, before the command:
  --config DIR            directory of core-site.xml and hdfs-site.xml (else HADOOP_CONF_DIR)
  -conf FILE              one more configuration file
  -D KEY=VALUE            a configuration value
  -fs URI                 the default file system: hdfs://HOST:PORT or file:///
";

/// All synopses.
pub fn overview() -> String {
    let mut out = format!("{PREFIX}\n");
    for command in COMMANDS.iter().filter(|command| command.replaced_by.is_none()) {
        out.push_str(&format!("\t[{}]\n", command.synopsis()));
    }
    out.push('\n');
    out.push_str(GENERIC);
    out
}

fn find_or_fail(name: &str) -> Outcome<&'static Command> {
    find(name).ok_or_else(|| Failure::usage(format!("`{name}': Unknown command")))
}

fn usages(shell: &mut Shell, args: Vec<String>) -> Outcome {
    if args.is_empty() {
        return shell.print(overview().as_bytes());
    }
    args.iter().try_for_each(|name| {
        let command = find_or_fail(name.trim_start_matches('-'))?;
        shell.line(format!("{PREFIX} {}", command.synopsis()))
    })
}

fn help(shell: &mut Shell, args: Vec<String>) -> Outcome {
    if args.is_empty() {
        shell.print(overview().as_bytes())?;
        let listed = COMMANDS.iter().filter(|command| command.replaced_by.is_none());
        return listed.into_iter().try_for_each(|command| explain(shell, command));
    }
    args.iter().try_for_each(|name| explain(shell, find_or_fail(name.trim_start_matches('-'))?))
}

fn explain(shell: &mut Shell, command: &Command) -> Outcome {
    shell.line(format!("{} :", command.synopsis()))?;
    if let Some(other) = command.replaced_by {
        return shell.line(format!("  (DEPRECATED) Same as '{other}'"));
    }
    command.description.lines().try_for_each(|line| shell.line(format!("  {line}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name.to_ascii_lowercase()));
    }
}
