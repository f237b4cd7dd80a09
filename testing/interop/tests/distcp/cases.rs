//! The compared runs.
//!
//! A word that begins with `/` is a path of the cluster below the run's own directory, `@/` one of this
//! machine as a URI, `%/` the same without a scheme; `~` stands before a word that is taken as it is.

/// Trees to set up, and a command line.
pub struct Case {
    pub name: &'static str,
    /// Steps: see `tree::Side::set_up`.
    pub before: &'static [&'static str],
    pub words: &'static str,
    /// User who runs the command.
    pub user: &'static str,
    /// Reason for a different result, and our exit code.
    pub differs: Option<(&'static str, i32)>,
}

const fn case(name: &'static str, before: &'static [&'static str], words: &'static str) -> Case {
    Case { name, before, words, user: "root", differs: None }
}

const fn of_alice(case: Case) -> Case {
    Case { user: "alice", ..case }
}

const fn differs(case: Case, why: &'static str, code: i32) -> Case {
    Case { differs: Some((why, code)), ..case }
}

/// A file, a directory with one, an empty directory.
const TREE: &[&str] = &["f /s/a 1", "f /s/d/b 22", "d /s/empty"];

/// Two trees that differ in all ways.
const SYNC: &[&str] = &[
    "f /s/same same",
    "f /t/same same",
    "f /s/changed new",
    "f /t/changed old",
    "f /s/longer longer",
    "f /t/longer short",
    "f /s/missing missing",
    "f /s/d/b 22",
    "f /s/zero",
    "f /t/zero",
    "f /t/extra extra",
    "f /t/d/extra extra",
    "f /t/d.bak/b 22",
    "f /t/gone/deep/f 1",
];

/// Everything that `-p` can preserve.
const KEPT: &[&str] = &[
    "b /s/f 3000000 2097152",
    "c /s/crc 5000",
    "f /s/d/g text",
    "r /s/f 2",
    "a /s/f user:bob:rwx",
    "a /s/d user:carol:r-x",
    "a /s/d default:user:carol:r-x",
    "x /s/f user.color blue",
    "x /s/d user.shape round",
    "o /s/f alice staff",
    "o /s/d bob guests",
    "m /s/crc 640",
    "m /s/d 1750",
    "t /s/f 1000000000000",
    "t /s/crc 1000000001000",
    "t /s/d 1000000002000",
    "t /s 1000000003000",
];

/// Files named after the age of the target file.
const TIMES: &[&str] = &[
    "f /s/older new",
    "f /t/older old",
    "t /t/older 1000000000000",
    "f /s/newer new",
    "f /t/newer old",
    "t /s/newer 1000000000000",
    "f /s/equal new",
    "f /t/equal old",
    "t /s/equal 1000000000000",
    "t /t/equal 1000000000000",
];

const LOCAL_TIMES: &[&str] = &[
    "lf /s/older new",
    "f /t/older old",
    "t /t/older 1000000000000",
    "lf /s/newer new",
    "lt /s/newer 1000000000000",
    "f /t/newer old",
];

/// A source file that alice cannot read.
const SECRET: &[&str] = &[
    "f /s/secret 1",
    "m /s/secret 600",
    "d /t",
    "m /t 777",
    "f /t/extra 1",
    "o /t/extra alice staff",
];

/// A source directory that alice cannot list.
const SHUT: &[&str] = &[
    "f /s/open 1",
    "f /s/shut/f 1",
    "m /s/shut 700",
    "f /t/open 1",
    "f /t/shut/f 1",
    "m /t 777",
    "m /t/shut 777",
];

pub const CASES: &[Case] = &[
    case("new", TREE, "/s /t"),
    case("into", &["f /s/a 1", "f /s/d/b 22", "d /t"], "/s /t"),
    case("slashes", &["f /s/a 1", "f /s/d/b 22", "d /t"], "/s/ /t/"),
    case("there-already", &["f /s/a new", "f /t/s/a old"], "/s /t"),
    case("file-new", &["f /s/a 1"], "/s/a /t"),
    case("file-deep", &["f /s/a 1"], "/s/a /t/u/v"),
    case("file-into", &["f /s/a 1", "d /t"], "/s/a /t"),
    case("file-over-file", &["f /s/a new", "f /t old"], "/s/a /t"),
    case("several-new", &["f /a/x 1", "f /b/y 2", "f /c 3"], "/a /b /c /t"),
    case("several-onto-file", &["f /a/x 1", "f /b/y 2", "f /t 3"], "/a /b /t"),
    case("tree-onto-file", &["f /s/a 1", "f /t 3"], "/s /t"),
    case("glob", &["f /s/a1 1", "f /s/a2 2", "f /s/b 3"], "/s/a* /t"),
    case("glob-of-one", &["f /s/a1/x 1", "f /s/b 3"], "/s/a* /t"),
    case("glob-without-match", SYNC, "-update -delete /none* /t"),
    case("ignored-glob-without-match", SYNC, "-i -update -delete /none* /t"),
    case("missing-source", SYNC, "-i -update -delete /s /none /t"),
    case("odd-names", &["f /s/a_b%20c 1", "f /s/ä 2", "f /s/[x] 3", "f /s/{y} 4"], "/s /t"),
    case("update", SYNC, "-update /s /t"),
    case("update-new", TREE, "-update /s /t"),
    case("update-nothing", &["d /s"], "-update /s /t"),
    case("overwrite", SYNC, "-overwrite /s /t"),
    case("update-delete", SYNC, "-update -delete /s /t"),
    case("overwrite-delete", SYNC, "-overwrite -delete /s /t"),
    case("delete-alone", SYNC, "-delete /s /t"),
    case("delete-beside-file", SYNC, "-update -delete /s/changed /t"),
    case("delete-onto-file", &["f /s/a new", "f /t old"], "-update -delete /s/a /t"),
    case("update-file", SYNC, "-update /s/changed /t"),
    case("update-several", &["f /a/x 1", "f /b/y 2", "d /t"], "-update /a /b /t"),
    case("update-root", KEPT, "-update -updateRoot -skipcrccheck -pugpt /s /t"),
    case("update-keeps", KEPT, "-update -skipcrccheck -pugpt /s /t"),
    case(
        "update-keeps-of-skipped",
        &["f /s/a 1", "m /s/a 600", "t /s/a 1000000000000", "f /t/a 1"],
        "-update -ppt /s /t",
    ),
    case("times-without-checksums", TIMES, "-update -skipcrccheck /s /t"),
    case("times-with-checksums", TIMES, "-update /s /t"),
    case("times-of-this-machine", LOCAL_TIMES, "-update @/s /t"),
    case("from-this-machine", &["lf /s/a 1", "lf /s/d/b 22", "ld /s/empty"], "@/s /t"),
    case("to-this-machine", TREE, "/s @/t"),
    case("on-this-machine", &["lf /s/a 1", "lf /t/s/b 2"], "-overwrite @/s @/t"),
    case(
        "append",
        &[
            "f /s/begun begun-and-ended",
            "f /t/begun begun",
            "f /s/other other-text",
            "f /t/other ander",
            "f /s/cut cut",
            "f /t/cut cut-too-long",
            "f /s/empty full",
            "f /t/empty",
        ],
        "-update -append /s /t",
    ),
    case("append-without-checksums", SYNC, "-update -append -skipcrccheck /s /t"),
    case("append-alone", SYNC, "-append /s /t"),
    case("keep", KEPT, "-p -skipcrccheck /s /t"),
    case("keep-all", KEPT, "-prbugpcaxt /s /t"),
    case("keep-r", KEPT, "-pr -skipcrccheck /s /t"),
    case("keep-b", KEPT, "-pb -skipcrccheck /s /t"),
    case("keep-u", KEPT, "-pu -skipcrccheck /s /t"),
    case("keep-g", KEPT, "-pg -skipcrccheck /s /t"),
    case("keep-p", KEPT, "-pp -skipcrccheck /s /t"),
    case("keep-c", KEPT, "-pc /s /t"),
    case("keep-a", KEPT, "-pa -skipcrccheck /s /t"),
    case("keep-x", KEPT, "-px -skipcrccheck /s /t"),
    case("keep-t", KEPT, "-pt -skipcrccheck /s /t"),
    case("keep-e", KEPT, "-pe -skipcrccheck /s /t"),
    case("keep-z", KEPT, "-pz /s /t"),
    case("keep-acls-there", TREE, "-pa /s @/t"),
    case("keep-acls-from-there", &["lf /s/a 1"], "-pa @/s /t"),
    case("keep-xattrs-there", TREE, "-px /s @/t"),
    differs(
        case("keep-xattrs-from-there", &["lf /s/a 1"], "-px @/s /t"),
        "Hadoop's fails in its listing, before it checks",
        252,
    ),
    case("other-blocks", &["b /s/f 3000000 2097152"], "/s /t"),
    case("other-blocks-unchecked", &["b /s/f 3000000 2097152"], "-skipcrccheck /s /t"),
    case(
        "update-other-blocks",
        &["b /s/f 3000 2097152", "b /t/f 3000 1048576"],
        "-update -pb /s /t",
    ),
    of_alice(case("unreadable", SECRET, "/s /t")),
    of_alice(case("unreadable-ignored", SECRET, "-i /s /t")),
    differs(
        of_alice(case("unreadable-ignored-delete", SECRET, "-i -update -delete /s /t")),
        "Hadoop's deletes although files were not copied",
        25,
    ),
    differs(
        of_alice(case("unlistable-delete", SHUT, "-update -delete /s /t")),
        "Hadoop's gives up on the directory and deletes the copy of it",
        25,
    ),
    case("list", &["f /s/a 1", "f /s/b 2", "list /list /s/a /s/b*"], "-f /list /t"),
    case("list-and-paths", &["f /s/a 1", "list /list /s/a"], "-f /list /s/a /t"),
    case("list-without-lines", &["f /list"], "-f /list /t"),
    case("list-missing", &["d /s"], "-f /none /t"),
    case(
        "filters",
        &["f /s/a.tmp 1", "f /s/d.tmp/b 2", "f /s/c 3", "lf /filters .*\\.tmp"],
        "-filters %/filters /s /t",
    ),
    case(
        "filters-delete",
        &["f /s/c 3", "f /t/x.tmp 1", "f /t/y 2", "lf /filters .*\\.tmp"],
        "-update -delete -filters %/filters /s /t",
    ),
    differs(
        case("filters-missing", TREE, "-filters %/none /s /t"),
        "Hadoop's copies what was to be left out",
        25,
    ),
    case("atomic", TREE, "-atomic /s /t"),
    case("atomic-file", TREE, "-atomic /s/a /t"),
    case("atomic-there", SYNC, "-atomic /s /t"),
    case("atomic-work", &["f /s/a 1", "d /w"], "-atomic -tmp /w -p /s /t"),
    case("atomic-elsewhere", TREE, "-atomic -tmp @/w /s /t"),
    case("atomic-update", SYNC, "-atomic -update /s /t"),
    case("work-alone", TREE, "-tmp /w /s /t"),
    case(
        "taken",
        TREE,
        "-m 3 -bandwidth 10 -strategy dynamic -numListstatusThreads 2 -useiterator -copybuffersize 1000 \
         -filelimit 9 -sizelimit 9 /s /t",
    ),
    case("strategy-unknown", TREE, "-strategy none /s /t"),
    case("maps-of-zero", TREE, "-m 0 /s /t"),
    case("maps-of-nothing", TREE, "-m x /s /t"),
    case("bandwidth-of-zero", TREE, "-bandwidth 0 /s /t"),
    case("chunks", &["b /s/f 3000000 1048576"], "-blocksperchunk 1 /s /t"),
    case("log", &["f /s/a new"], "-log /log -v /s/a /t"),
    case("log-of-skipped", &["f /s/a 1", "f /t/a 1"], "-log /log /s/a /t"),
    case("verbose-alone", TREE, "-v /s /t"),
    case("direct", SYNC, "-direct -update /s /t"),
    case("one-name", &["f /a/f 1", "f /b/f 2", "d /t"], "/a/f /b/f /t"),
    case("one-name-of-trees", &["f /a/d/x 1", "f /b/d/y 2", "d /t"], "/a/d /b/d /t"),
    case("one-name-below", &["f /a/f 1", "f /b/f 2", "d /t"], "-update /a /b /t"),
    case("into-itself", &["f /s/f 1", "f /s/d/g 2"], "/s /s/in"),
    case("into-itself-there", &["f /s/f 1", "f /s/in/g 2"], "/s /s/in"),
    case("update-into-itself", &["f /s/f 1", "f /s/in/g 2"], "-update /s /s/in"),
    case("onto-itself", &["f /s/f 1", "f /s/in/g 2"], "-overwrite /s /s"),
    case("file-onto-directory", &["f /s/z 1", "d /t/z"], "-update -delete /s /t"),
    case("directory-onto-file", &["d /s/z", "f /t/z 1"], "-update -delete /s /t"),
    case("no-option", TREE, "-foo /s /t"),
    case("no-target", TREE, "/s"),
    case("no-words", TREE, ""),
    differs(
        case("target-around-source", &["f /t/s/a 1"], "-update -delete /t/s /t"),
        "Hadoop's deletes the source",
        255,
    ),
    differs(
        case("late-option", &["f /s/a 1", "d /t"], "/s /t -update"),
        "Hadoop's takes the option for the target",
        255,
    ),
    differs(case("xtrack", SYNC, "-update -xtrack /track /s /t"), "refused by name", 255),
    differs(case("diff", SYNC, "-update -diff s1 s2 /s /t"), "refused by name", 255),
    differs(case("rdiff", SYNC, "-update -rdiff s2 s1 /s /t"), "refused by name", 255),
];
