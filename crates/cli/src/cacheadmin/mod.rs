//! `cacheadmin`: pools and directives of centralized caching, with the words, the output and the
//! exit codes of Apache's `hdfs cacheadmin`; the explanations of `-help` are our own.

mod directives;
mod pools;

use crate::admin::{Command, Tool};
use crate::settings::Settings;

const PATH: (&str, &str) = ("<path>", "A file, or a directory: then the files right in it.");
const FORCE: (&str, &str) = ("-force", "Even where the pool's limit does not allow it.");
const TTL: (&str, &str) = (
    "<time-to-live>",
    "How long the directive lives: a number with s, m, h or d behind it, or never, which is the default.",
);
const MAX_TTL: (&str, &str) = (
    "<maxTtl>",
    "The longest a directive of the pool may live: a number with s, m, h or d behind it, or never, which is the default.",
);

const COMMANDS: &[Command] = &[
    Command {
        name: "-addDirective",
        usage: " -path <path> -pool <pool-name> [-force] [-replication <replication>] [-ttl <time-to-live>]",
        about: "Has a path cached; needs write permission on the pool.",
        words: &[
            PATH,
            ("<pool-name>", "The pool that the directive belongs to."),
            FORCE,
            ("<replication>", "Cached replicas of each block; else as the pool says."),
            TTL,
        ],
        run: directives::add,
    },
    Command {
        name: "-modifyDirective",
        usage: " -id <id> [-path <path>] [-force] [-replication <replication>] [-pool <pool-name>] [-ttl <time-to-live>]",
        about: "Changes a directive; needs write permission on its pool, and on the one it moves to.",
        words: &[
            ("<id>", "The directive, as -listDirectives shows it."),
            PATH,
            FORCE,
            ("<replication>", "Cached replicas of each block."),
            ("<pool-name>", "The pool that it moves to."),
            TTL,
        ],
        run: directives::modify,
    },
    Command {
        name: "-listDirectives",
        usage: " [-stats] [-path <path>] [-pool <pool>] [-id <id>]",
        about: "Lists the directives of all pools that the caller may read.",
        words: &[
            ("-stats", "With what is needed and what is cached."),
            ("<path>", "Only those with this path."),
            ("<pool>", "Only those of this pool."),
            ("<id>", "Only this one."),
        ],
        run: directives::list,
    },
    Command {
        name: "-removeDirective",
        usage: " <id>",
        about: "Removes a directive; needs write permission on its pool.",
        words: &[("<id>", "The directive, as -listDirectives shows it.")],
        run: directives::remove,
    },
    Command {
        name: "-removeDirectives",
        usage: " -path <path>",
        about: "Removes all directives with a path; needs write permission on their pools.",
        words: &[("-path <path>", "The path, as -listDirectives shows it.")],
        run: directives::remove_all,
    },
    Command {
        name: "-addPool",
        usage: " <name> [-owner <owner>] [-group <group>] [-mode <mode>] [-limit <limit>] [-defaultReplication <defaultReplication>] [-maxTtl <maxTtl>]",
        about: "Makes a pool; for the superuser.",
        words: &[
            ("<name>", "Its name."),
            ("<owner>", "Its owner; else the caller."),
            ("<group>", "Its group; else the caller's first."),
            ("<mode>", "Its permissions in octal; else 0755."),
            (
                "<limit>",
                "Bytes that its directives may need in all, or unlimited, which is the default.",
            ),
            (
                "<defaultReplication>",
                "Cached replicas where a directive says nothing of them; else 1.",
            ),
            MAX_TTL,
        ],
        run: pools::add,
    },
    Command {
        name: "-modifyPool",
        usage: " <name> [-owner <owner>] [-group <group>] [-mode <mode>] [-limit <limit>] [-defaultReplication <defaultReplication>] [-maxTtl <maxTtl>]",
        about: "Changes a pool; for the superuser.",
        words: &[
            ("<name>", "Its name."),
            ("<owner>", "Its owner."),
            ("<group>", "Its group."),
            ("<mode>", "Its permissions in octal."),
            ("<limit>", "Bytes that its directives may need in all, or unlimited."),
            ("<defaultReplication>", "Cached replicas where a directive says nothing of them."),
            MAX_TTL,
        ],
        run: pools::modify,
    },
    Command {
        name: "-removePool",
        usage: " <name>",
        about: "Removes a pool and its directives; for the superuser.",
        words: &[("<name>", "The pool.")],
        run: pools::remove,
    },
    Command {
        name: "-listPools",
        usage: " [-stats] [<name>]",
        about: "Lists the pools; those that the caller may not read with their names only.",
        words: &[
            ("-stats", "With what is needed and what is cached."),
            ("<name>", "Only this one."),
        ],
        run: pools::list,
    },
];

/// The tool with its commands.
pub const TOOL: Tool = Tool { name: "cacheadmin", commands: COMMANDS };

pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    TOOL.run(&settings, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synopses_are_those_of_apache() {
        let of = |name| {
            COMMANDS.iter().find(|command| command.name == name).map(Command::synopsis).unwrap()
        };
        assert_eq!(of("-removePool"), "[-removePool <name>]\n");
        assert!(of("-addDirective").ends_with("[-ttl <time-to-live>]]\n"));
        assert!(of("-addPool").ends_with("[-maxTtl <maxTtl>]]\n"));
    }
}
