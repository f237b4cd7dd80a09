//! Which code reads which configuration key, and the page that says so: docs/configuration.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use zerohop_conf::protection::{Accepts, PROTECTIONS};
use zerohop_conf::{KeyInfo, keys};

use crate::sources;

/// Where the page lies.
pub const PAGE: &str = "docs/configuration.md";

/// Where code stands, and who runs it; the first that fits counts.
const READERS: [(&str, &[&str]); 26] = [
    ("crates/namenode/", &["NameNode"]),
    ("crates/namespace/", &["NameNode"]),
    ("crates/journal/", &["NameNode"]),
    ("crates/datanode/", &["DataNode"]),
    ("crates/replica/", &["DataNode"]),
    ("crates/gateway/src/namenode.rs", &["NameNode"]),
    ("crates/gateway/src/redirects.rs", &["NameNode"]),
    ("crates/gateway/src/datanode.rs", &["DataNode"]),
    ("crates/gateway/src/csrf.rs", &["NameNode", "DataNode"]),
    ("crates/gateway/src/callers.rs", &["NameNode", "DataNode", "gateway"]),
    ("crates/gateway/src/lib.rs", &["NameNode", "DataNode", "gateway"]),
    ("crates/journalnode/", &["JournalNode"]),
    ("crates/failover/", &["failover controller", "client"]),
    ("crates/gateway/", &["gateway"]),
    ("crates/client/", &["client"]),
    ("crates/cli/src/rest.rs", &["gateway"]),
    ("crates/cli/", &["client"]),
    ("crates/webhdfs/", &["client"]),
    ("crates/balancer/", &["client"]),
    ("crates/bench/", &["client"]),
    ("crates/transport/src/rpc/server/", &["NameNode", "DataNode", "JournalNode"]),
    ("crates/transport/src/groups", &["NameNode", "DataNode"]),
    ("crates/transport/", &["NameNode", "DataNode", "client"]),
    ("crates/daemon/", &["NameNode", "DataNode", "JournalNode"]),
    ("crates/conf/src/umask.rs", &["client"]),
    ("crates/conf/", &["NameNode", "DataNode", "client"]),
];

/// Code that shows keys or their tables and does not obey them.
const SHOWS_ONLY: [&str; 5] = [
    "crates/conf/src/keys/",
    "crates/conf/src/check.rs",
    "crates/cli/src/getconf",
    "crates/cli/src/doctor/",
    "/tests/",
];

/// Reads a value by its name; the name in quotes follows.
const READS_BY_NAME: [&str; 4] = ["get_raw(", "get_checked(", "is_set(", "get_raw(&format!("];

/// The code of the crates without tests, by path.
fn code() -> Vec<(String, String)> {
    let all = sources(&["crates"], &[".rs"]).into_iter();
    let own = all.filter(|file| {
        !file.path.ends_with("_test.rs") && !SHOWS_ONLY.iter().any(|part| file.path.contains(part))
    });
    own.map(|file| {
        let end = file.text.find("#[cfg(test)]\nmod ").unwrap_or(file.text.len());
        (file.path, file.text.get(..end).unwrap_or_default().to_owned())
    })
    .collect()
}

/// Who reads each key by its constant; by the name of the key.
pub fn readers() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let by_constant: BTreeMap<&str, &str> =
        keys::all().map(|key| (key.constant, key.name)).collect();
    let mut readers: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (path, text) in code() {
        let Some((_, who)) = READERS.iter().find(|(start, _)| path.starts_with(start)) else {
            continue;
        };
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if let Some(name) = by_constant.get(word) {
                readers.entry(*name).or_default().extend(*who);
            }
        }
    }
    // Values of other keys are made of it.
    readers.entry("hadoop.tmp.dir").or_default().extend(["NameNode", "DataNode"]);
    readers
}

/// Names of keys that code reads without a constant, with the file; a part in braces varies.
pub fn read_by_name() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, text) in code() {
        for call in READS_BY_NAME {
            for (at, _) in text.match_indices(call) {
                let rest = text.get(at + call.len()..).unwrap_or_default();
                let name = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
                found.extend(name.map(|name| (path.clone(), name.to_owned())));
            }
        }
    }
    found
}

/// The page.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    refused(&mut page);
    implemented(&mut page);
    ineffective(&mut page);
    others(&mut page);
    page
}

const INTRODUCTION: &str = "\
<!-- Made from the tables of crates/conf by `cargo run -p zerohop-tidy --bin configuration-page`. -->
# Configuration

zerohop reads core-site.xml and hdfs-site.xml of `--config DIR`, else of HADOOP_CONF_DIR, else of HADOOP_HOME/etc/hadoop, as
Hadoop 3.4.3 does. Names, defaults and units are Hadoop's; keys that begin with `zerohop.` are ours. `zerohop getconf -confKey NAME
--verbose` says where a value comes from.

Each key of Hadoop is one of these:

- **Implemented**: it is obeyed. A value that does not fit is refused with the file and line it comes from.
- **Refused**: its value promises protection or exclusivity, and the promise is not implemented. Who is bound by the promise does not
  start, and lists all such values.
- **Without effect**: Hadoop knows it, zerohop does not implement it. A daemon that starts logs one warning for each one that is set; the
  shell prints them with `ZEROHOP_LOG=warn`.
- **Of another program**: neither NameNode nor DataNode nor client of Hadoop reads it.
";

fn refused(page: &mut String) {
    page.push_str("\n## Refused\n\n| key | refused by | values that are accepted | why the others are refused |\n|---|---|---|---|\n");
    for row in PROTECTIONS {
        let roles: Vec<_> = row.roles.iter().map(ToString::to_string).collect();
        let accepted = match row.accepts {
            Accepts::Words(words) => {
                words.iter().map(|word| code_of(word)).collect::<Vec<_>>().join(", ")
            }
            Accepts::Nothing => "none".to_owned(),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {accepted} | {} |",
            code_of(row.name),
            roles.join(", "),
            row.lacks
        );
    }
}

fn implemented(page: &mut String) {
    page.push_str(
        "\n## Implemented\n\n| key | default | read by | what it is |\n|---|---|---|---|\n",
    );
    let readers = readers();
    let mut rows: Vec<&KeyInfo> = keys::all().filter(|key| !keys::is_unread(key.name)).collect();
    rows.sort_by_key(|key| key.name);
    for key in rows {
        let who = readers.get(key.name).cloned().unwrap_or_default();
        let who = ["NameNode", "DataNode", "JournalNode", "gateway", "client"]
            .into_iter()
            .filter(|role| who.contains(role));
        let who = who.collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            page,
            "| {} | {} | {who} | {} |",
            code_of(key.name),
            code_of(key.default),
            key.doc.trim()
        );
    }
    page.push_str("\nNames with a part that varies:\n\n");
    keys::PATTERNS.iter().for_each(|pattern| _ = writeln!(page, "- {}", code_of(pattern)));
}

fn ineffective(page: &mut String) {
    page.push_str("\n## Without effect\n\n| key | default |\n|---|---|\n");
    for name in keys::names() {
        let is_refused = PROTECTIONS.iter().any(|row| row.name == name);
        if keys::status(name) == Some(keys::Status::NotImplemented) && !is_refused {
            let default = keys::find(name).map(|key| key.default.to_owned());
            let default = default.or_else(|| keys::other_default(name)).unwrap_or_default();
            let _ = writeln!(page, "| {} | {} |", code_of(name), code_of(&default));
        }
    }
}

fn others(page: &mut String) {
    page.push_str("\n## Of another program\n\n| names that begin with | belong to |\n|---|---|\n");
    for (start, program) in keys::OTHER_PROGRAMS {
        let _ = writeln!(page, "| {} | {program} |", code_of(start));
    }
}

/// A text as code within a table; nothing for an empty one.
fn code_of(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    if text.is_empty() { text } else { format!("`{text}`") }
}
