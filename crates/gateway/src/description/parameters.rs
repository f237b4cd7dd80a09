//! What parameters mean, and what their values look like.

use serde_json::{Value, json};

/// What a value looks like.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Number,
    /// Octal digits.
    Permission,
    Choice(&'static [&'static str]),
}

struct Parameter(&'static str, Kind, &'static str);

/// Those of every request.
pub(super) const OF_ALL: [&str; 2] = ["user.name", "doas"];

const PARAMETERS: &[Parameter] = &[
    Parameter(
        "user.name",
        Kind::Text,
        "Who asks. Not needed with the cookie of an earlier answer.",
    ),
    Parameter(
        "doas",
        Kind::Text,
        "For whom, where a rule permits the caller to act for that user.",
    ),
    Parameter(
        "offset",
        Kind::Number,
        "The first byte; of an APPEND, the length that the file has before it.",
    ),
    Parameter("length", Kind::Number, "How many bytes; without it, all to the end."),
    Parameter(
        "noredirect",
        Kind::Flag,
        "Answers where the data is to be sent or read in JSON, in place of a redirect.",
    ),
    Parameter(
        "excludedatanodes",
        Kind::Text,
        "DataNodes that a redirect must not name, with commas between them.",
    ),
    Parameter("file", Kind::Text, "A name below the path; may be there several times."),
    Parameter("filter", Kind::Text, "A pattern of names, such as *.log."),
    Parameter("startafter", Kind::Text, "The name after which the list begins."),
    Parameter("allusers", Kind::Flag, "Those of all users."),
    Parameter(
        "xattr.name",
        Kind::Text,
        "An extended attribute, with its namespace, such as user.a.",
    ),
    Parameter("xattr.value", Kind::Text, "Text, 0x and hexadecimal digits, or 0s and base 64."),
    Parameter("flag", Kind::Text, "CREATE, REPLACE, or both with a comma."),
    Parameter("encoding", Kind::Choice(&["text", "hex", "base64"]), "How values are written."),
    Parameter("fsaction", Kind::Text, "What is to be permitted, such as r-x."),
    Parameter(
        "data",
        Kind::Flag,
        "True: the body is the data. Else the answer is a redirect to where it may be sent.",
    ),
    Parameter("overwrite", Kind::Flag, "Replaces a file that is there."),
    Parameter("createparent", Kind::Flag, "Makes missing directories above."),
    Parameter(
        "createflag",
        Kind::Text,
        "CREATE, OVERWRITE, LAZY_PERSIST, with commas between them. CREATE lets an APPEND make a missing file.",
    ),
    Parameter("permission", Kind::Permission, "Permission bits; no umask is applied."),
    Parameter(
        "unmaskedpermission",
        Kind::Permission,
        "The bits to which the default ACL of the directory above applies, if there is one.",
    ),
    Parameter("replication", Kind::Number, "Replicas of each block."),
    Parameter("blocksize", Kind::Number, "Bytes of a block."),
    Parameter("hsync", Kind::Flag, "The bytes are on disk before the answer."),
    Parameter("destination", Kind::Text, "An absolute path."),
    Parameter("renameoptions", Kind::Text, "NONE, OVERWRITE, TO_TRASH, with commas between them."),
    Parameter("owner", Kind::Text, "A user."),
    Parameter("group", Kind::Text, "A group."),
    Parameter("modificationtime", Kind::Number, "Milliseconds since 1970."),
    Parameter("accesstime", Kind::Number, "Milliseconds since 1970."),
    Parameter(
        "aclspec",
        Kind::Text,
        "ACL entries, such as user:bob:r-x, with commas between them.",
    ),
    Parameter("storagepolicy", Kind::Text, "The name of a storage policy."),
    Parameter("namespacequota", Kind::Number, "Files and directories; -1 for no limit."),
    Parameter("storagespacequota", Kind::Number, "Bytes of all replicas; -1 for no limit."),
    Parameter("storagetype", Kind::Text, "A type of storage, such as SSD."),
    Parameter("snapshotname", Kind::Text, "A snapshot."),
    Parameter("oldsnapshotname", Kind::Text, "A snapshot."),
    Parameter("snapshotdiffstartpath", Kind::Text, "Where a page of differences begins."),
    Parameter("snapshotdiffindex", Kind::Number, "How many entries of that path were told."),
    Parameter("ecpolicy", Kind::Text, "The name of an erasure coding policy."),
    Parameter("token", Kind::Text, "A delegation token."),
    Parameter("sources", Kind::Text, "Absolute paths with commas between them."),
    Parameter("newlength", Kind::Number, "Bytes that stay."),
    Parameter("recursive", Kind::Flag, "Also deletes what lies below."),
];

/// A parameter of the query.
pub(super) fn describe(name: &str) -> Value {
    let known = PARAMETERS.iter().find(|Parameter(known, ..)| *known == name);
    let (kind, what) = known.map_or((Kind::Text, ""), |Parameter(_, kind, what)| (*kind, *what));
    let schema = match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number => json!({ "type": "integer" }),
        Kind::Permission => json!({ "type": "string", "pattern": "^[01]?[0-7]{1,3}$" }),
        Kind::Choice(all) => json!({ "type": "string", "enum": all }),
    };
    json!({ "name": name, "in": "query", "description": what, "schema": schema })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use regex::Regex;
    use std::collections::BTreeSet;

    /// What read the parameters of operations.
    const READERS: [&str; 12] = [
        include_str!("../appends.rs"),
        include_str!("../archive/pack.rs"),
        include_str!("../change.rs"),
        include_str!("../data.rs"),
        include_str!("../lists.rs"),
        include_str!("../located_ranges.rs"),
        include_str!("../lookup.rs"),
        include_str!("../namenode.rs"),
        include_str!("../open.rs"),
        include_str!("../other_paths.rs"),
        include_str!("../snapshots.rs"),
        include_str!("../upload.rs"),
    ];

    #[test]
    fn what_is_described_is_what_is_read() {
        let read = Regex::new(
            r#"(?:text|flag|number|permission|needed|values|quota)\((?:params, )?"([a-z.]+)""#,
        );
        let read = read.unwrap();
        let code =
            READERS.map(|file| file.split("#[cfg(test)]").next().unwrap_or_default()).concat();
        let mut read: BTreeSet<&str> =
            read.captures_iter(&code).map(|found| found.get(1).unwrap().as_str()).collect();
        let of_operations: BTreeSet<&str> =
            Operation::ALL.iter().flat_map(|operation| operation.parameters()).copied().collect();
        assert_eq!(read, of_operations);
        read.extend(OF_ALL);
        let described: BTreeSet<&str> =
            PARAMETERS.iter().map(|Parameter(name, ..)| *name).collect();
        assert_eq!(read, described);
    }
}
