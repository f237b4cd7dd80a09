//! A report of a NameNode, ours or Apache's, as one object.

use serde_json::{Map, Value, json};

/// Lines of the form `label: value` become members, named as Java names fields; everything else is kept
/// in `lines`.
pub fn report(path: &str, lines: &[String], exit_code: i32) -> Value {
    let mut parts = Parts::default();
    lines.iter().for_each(|line| parts.take(line));
    let mut answer = Map::new();
    answer.insert("path".into(), path.into());
    answer.insert("status".into(), parts.status.unwrap_or(Value::Null));
    answer.insert("exitCode".into(), exit_code.into());
    answer.append(&mut parts.summary);
    for (name, section) in [("replicated", parts.replicated), ("erasureCoded", parts.coded)] {
        if !section.is_empty() {
            answer.insert(name.into(), section.into());
        }
    }
    if !parts.blocks.is_empty() {
        answer.insert("blocks".into(), Value::Array(parts.blocks));
    }
    answer.insert("lines".into(), Value::Array(parts.lines));
    Value::Object(answer)
}

/// The list of `-list-corruptfileblocks`: a block, its replication and its file in each line.
pub fn corrupt(path: &str, lines: &[String], exit_code: i32) -> Value {
    let one = |line: &String| {
        let mut parts = line.splitn(3, '\t');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(block), Some(replication), Some(file)) => json!({
                "block": block, "replication": value_of(replication), "path": file,
            }),
            _ => json!({ "path": line }),
        }
    };
    let corrupt: Vec<Value> = lines.iter().map(one).collect();
    json!({ "path": path, "exitCode": exit_code, "corrupt": corrupt })
}

/// Which part of the report the lines are in.
#[derive(Default, PartialEq)]
enum Section {
    /// Files and what is wrong with them.
    #[default]
    Files,
    Summary,
    Replicated,
    ErasureCoded,
    /// Behind the sums.
    Rest,
    /// Of `-blockId`.
    Block,
}

#[derive(Default)]
struct Parts {
    section: Section,
    status: Option<Value>,
    summary: Map<String, Value>,
    replicated: Map<String, Value>,
    coded: Map<String, Value>,
    blocks: Vec<Value>,
    lines: Vec<Value>,
}

impl Parts {
    fn take(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() || text.chars().all(|letter| letter == '*') {
            return;
        }
        if let Some(status) = text.strip_prefix("Status: ") {
            (self.status, self.section) = (Some(status.into()), Section::Summary);
        } else if text == "Replicated Blocks:" {
            self.section = Section::Replicated;
        } else if text == "Erasure Coded Block Groups:" {
            self.section = Section::ErasureCoded;
        } else if text.starts_with("Block Id: ") {
            self.section = Section::Block;
            self.blocks.push(json!({}));
            self.block(text);
        } else if self.is_sum(text) {
            let (label, value) = text.split_once(':').unwrap_or((text, ""));
            let members = match self.section {
                Section::Summary => &mut self.summary,
                Section::Replicated => &mut self.replicated,
                _ => &mut self.coded,
            };
            members.insert(name(label), value_of(value));
        } else if self.section == Section::Block && text.contains(": ") {
            self.block(text);
        } else {
            if self.section != Section::Files && self.section != Section::Block {
                self.section = Section::Rest;
            }
            self.lines.push(line.trim_end().into());
        }
    }

    fn is_sum(&self, text: &str) -> bool {
        let summed =
            matches!(self.section, Section::Summary | Section::Replicated | Section::ErasureCoded);
        // The next part begins with "FSCK ended at" or, of -storagepolicies, with a headline.
        let headline = text.starts_with("FSCK ") || text.ends_with(':');
        summed && !headline && text.contains(':')
    }

    fn block(&mut self, text: &str) {
        let Some((label, value)) = text.split_once(": ") else { return };
        let Some(block) = self.blocks.last_mut().and_then(Value::as_object_mut) else { return };
        if label == "Block replica on datanode/rack" {
            let replicas = block.entry("replicas").or_insert_with(|| json!([]));
            if let Some(replicas) = replicas.as_array_mut() {
                let (place, condition) = value.split_once(" is ").unwrap_or((value, ""));
                let (host, rack) = place.split_once('/').unwrap_or((place, ""));
                replicas.push(json!({
                    "host": host, "rack": format!("/{rack}"), "condition": condition.trim(),
                }));
            }
        } else {
            block.insert(name(label.trim_start_matches("No. of ")), value_of(value));
        }
    }
}

/// `Total blocks (validated)` becomes `totalBlocksValidated`.
fn name(label: &str) -> String {
    let label = label.replace('\'', "").to_lowercase();
    let mut words =
        label.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// The number that a value begins with, without its unit and remarks; else the text.
fn value_of(text: &str) -> Value {
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    if let Ok(number) = first.parse::<i64>() {
        return number.into();
    }
    first.parse::<f64>().map_or_else(|_| text.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn sums_have_names_and_the_rest_is_kept() {
        let text = "FSCK started by u (auth:SIMPLE) from /127.0.0.1 for path / at now\n\n/a <dir>\n\
            /a: b 3 bytes, replicated: replication=2, 1 block(s):  Under replicated x. Target Replicas is 2\n\
            0. x len=3 Live_repl=1\n\nStatus: HEALTHY\n Number of data-nodes:\t1\n\nReplicated Blocks:\n \
            Total size:\t3 B\n Total blocks (validated):\t1 (avg. block size 3 B)\n  \
            ********************************\n  UNDER MIN REPL'D BLOCKS:\t1 (100.0 %)\n Average block \
            replication:\t1.5\n\nErasure Coded Block Groups:\n Total size:\t0 B\n\nBlocks satisfying the \
            specified storage policy:\nStorage Policy                  # of blocks       % of blocks\n\
            DISK:1(HOT)                        1             100.0000%\nFSCK ended at now in 1 milliseconds\n\n\n\
            The filesystem under path '/' is HEALTHY";
        let found = report("/", &lines(text), 0);
        assert_eq!(found["status"], "HEALTHY");
        assert_eq!(found["numberOfDataNodes"], 1);
        assert_eq!(found["replicated"]["totalSize"], 3);
        assert_eq!(found["replicated"]["totalBlocksValidated"], 1);
        assert_eq!(found["replicated"]["underMinRepldBlocks"], 1);
        assert_eq!(found["replicated"]["averageBlockReplication"], 1.5);
        assert_eq!(found["erasureCoded"], json!({ "totalSize": 0 }));
        let kept: Vec<&str> =
            found["lines"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(kept.len(), 9, "{kept:?}");
        assert_eq!(kept[6], "DISK:1(HOT)                        1             100.0000%");
        assert!(kept[2].starts_with("/a: b 3 bytes, "));
    }

    #[test]
    fn blocks_and_corrupt_files_are_lists() {
        let text = "FSCK started\n\nBlock Id: blk_1\nBlock belongs to: /a: b\nNo. of live Replica: 2\n\
            Block replica on datanode/rack: h1/default-rack is HEALTHY\n\
            Block replica on datanode/rack: h2/r is CORRUPT\t ReasonCode: CORRUPTION_REPORTED";
        let found = report("/", &lines(text), 1);
        let block = &found["blocks"][0];
        assert_eq!(block["blockId"], "blk_1");
        assert_eq!(block["blockBelongsTo"], "/a: b");
        assert_eq!(block["liveReplica"], 2);
        assert_eq!(block["replicas"][1]["rack"], "/r");
        assert_eq!(block["replicas"][1]["condition"], "CORRUPT\t ReasonCode: CORRUPTION_REPORTED");
        let list = corrupt("/", &lines("blk_7\t1\t/x y"), 255);
        assert_eq!(
            list["corrupt"][0],
            json!({ "block": "blk_7", "replication": 1, "path": "/x y" })
        );
        assert_eq!(report("/", &lines("\n\nPath '/' does not exist"), 0)["status"], Value::Null);
    }
}
