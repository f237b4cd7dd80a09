//! `-count`

use serde_json::json;

use super::options::{Options, ParsedOptions};
use super::shell::Shell;
use super::status::{QuotaUsage, Summary};
use crate::failure::{Failure, Outcome};
use crate::units::size;

/// The storage types that can have a quota, in Hadoop's order.
const TYPES: [&str; 5] = ["SSD", "DISK", "ARCHIVE", "PROVIDED", "NVDIMM"];

struct Count {
    given: ParsedOptions,
    /// Storage types to show; `None`: not by type.
    types: Option<Vec<String>>,
}

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let options = Options::new(1, usize::MAX, &["q", "h", "v", "u", "x", "e", "s"]).valued(&["t"]);
    let mut given = options.parse(args)?;
    let paths = std::mem::take(&mut given.rest);
    let quota = given.has("q") || given.has("u");
    let types = given.value("t").filter(|_| quota).map(storage_types).transpose()?;
    let count = Count { given, types };
    if count.given.has("v") && !shell.json {
        shell.line(count.header())?;
    }
    let mut values = Vec::new();
    shell.each_found(&paths, |shell, item| {
        if shell.json {
            values.push(as_json(&item.text, &item.store.summary(&item.path)?));
            return Ok(());
        }
        let mut line = count.row(&item.store, &item.path)?;
        line.push_str(&item.text);
        shell.line(line)
    })?;
    if shell.json { shell.json_line(&serde_json::Value::Array(values)) } else { Ok(()) }
}

fn storage_types(text: &str) -> Outcome<Vec<String>> {
    if text.is_empty() || text.eq_ignore_ascii_case("all") {
        return Ok(TYPES.map(str::to_owned).to_vec());
    }
    let known = |name: &str| {
        let upper = name.trim().to_ascii_uppercase();
        match TYPES.contains(&upper.as_str()) || upper == "RAM_DISK" {
            true => Ok(upper),
            false => Err(Failure::usage(format!(
                "No enum constant org.apache.hadoop.fs.StorageType.{upper}"
            ))),
        }
    };
    text.split(',').map(known).collect()
}

impl Count {
    fn header(&self) -> String {
        let mut header = String::new();
        if let Some(types) = &self.types {
            for name in types {
                header.push_str(&format!(
                    "{:>14} {:>18} ",
                    format!("{name}_QUOTA"),
                    format!("REM_{name}_QUOTA")
                ));
            }
        } else {
            if self.given.has("q") || self.given.has("u") {
                header.push_str(&quota_columns(
                    "QUOTA",
                    "REM_QUOTA",
                    "SPACE_QUOTA",
                    "REM_SPACE_QUOTA",
                ));
            }
            if !self.given.has("u") {
                header.push_str(&summary_columns("DIR_COUNT", "FILE_COUNT", "CONTENT_SIZE"));
            }
        }
        if self.given.has("e") {
            header.push_str(&format!("{:>20} ", "ERASURECODING_POLICY"));
        }
        if self.given.has("s") {
            header.push_str(&snapshot_columns([
                "SNAPSHOT_LENGTH",
                "SNAPSHOT_FILE_COUNT",
                "SNAPSHOT_DIR_COUNT",
                "SNAPSHOT_SPACE_CONSUMED",
            ]));
        }
        header.push_str("PATHNAME");
        header
    }

    fn row(&self, store: &std::sync::Arc<dyn super::store::Store>, path: &str) -> Outcome<String> {
        let human = self.given.has("h");
        let mut row = String::new();
        let by_type = self.types.is_some() || self.given.has("u");
        let summary = match !by_type || self.given.has("e") || self.given.has("s") {
            true => store.summary(path)?,
            false => Summary::default(),
        };
        if by_type {
            row.push_str(&self.usage_row(&store.quota_usage(path)?, human));
        } else {
            row.push_str(&self.summary_row(&summary, human));
        }
        if self.given.has("e") {
            let policy = match summary.erasure_policy.as_str() {
                "Replicated" => "Replicated".to_owned(),
                // A directory has no policy of its own as a rule; Hadoop prints the prefix all the same.
                policy => format!("EC:{policy}"),
            };
            row.push_str(&format!("{policy:>20} "));
        }
        if self.given.has("s") {
            let number = |value| size(value, human);
            row.push_str(&snapshot_columns([
                &number(summary.snapshot_length),
                &number(summary.snapshot_files),
                &number(summary.snapshot_directories),
                &number(summary.snapshot_space),
            ]));
        }
        Ok(row)
    }

    fn usage_row(&self, usage: &QuotaUsage, human: bool) -> String {
        let Some(types) = &self.types else {
            return quotas(usage, human);
        };
        let mut row = String::new();
        for name in types {
            let found = usage.types.iter().find(|one| one.storage_type == *name && one.quota >= 0);
            let (quota, rest) = match found {
                Some(one) => (size(one.quota, human), size(one.quota - one.consumed, human)),
                None => ("none".to_owned(), "inf".to_owned()),
            };
            row.push_str(&format!("{quota:>14} {rest:>18} "));
        }
        row
    }

    fn summary_row(&self, sum: &Summary, human: bool) -> String {
        let mut row = String::new();
        if self.given.has("q") {
            row.push_str(&quotas(
                &QuotaUsage {
                    files_and_directories: sum.files + sum.directories,
                    quota: sum.quota,
                    space_consumed: sum.space_consumed,
                    space_quota: sum.space_quota,
                    types: Vec::new(),
                },
                human,
            ));
        }
        let without = |value: i64, snapshot: i64| {
            size(if self.given.has("x") { value - snapshot } else { value }, human)
        };
        row.push_str(&summary_columns(
            &without(sum.directories, sum.snapshot_directories),
            &without(sum.files, sum.snapshot_files),
            &without(sum.length, sum.snapshot_length),
        ));
        row
    }
}

fn quotas(usage: &QuotaUsage, human: bool) -> String {
    let pair = |quota: i64, used: i64, is_set: bool| match is_set {
        true => (size(quota, human), size(quota - used, human)),
        false => ("none".to_owned(), "inf".to_owned()),
    };
    let (quota, rest) = pair(usage.quota, usage.files_and_directories, usage.quota > 0);
    let (space, space_rest) = pair(usage.space_quota, usage.space_consumed, usage.space_quota >= 0);
    quota_columns(&quota, &rest, &space, &space_rest)
}

fn quota_columns(quota: &str, rest: &str, space: &str, space_rest: &str) -> String {
    format!("{quota:>12} {rest:>15} {space:>15} {space_rest:>15} ")
}

fn summary_columns(directories: &str, files: &str, length: &str) -> String {
    format!("{directories:>12} {files:>12} {length:>18} ")
}

fn snapshot_columns([length, files, directories, space]: [&str; 4]) -> String {
    format!("{length:>18} {files:>24} {directories:>24} {space:>28} ")
}

fn as_json(path: &str, sum: &Summary) -> serde_json::Value {
    json!({
        "path": path,
        "directoryCount": sum.directories,
        "fileCount": sum.files,
        "length": sum.length,
        "quota": sum.quota,
        "spaceConsumed": sum.space_consumed,
        "spaceQuota": sum.space_quota,
    })
}
