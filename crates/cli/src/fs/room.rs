//! How much room there is, said after a block found no place: Hadoop's own sentence does not name
//! the cause.

use zerohop_client::blocking::FileSystem;
use zerohop_client::{DatanodeReportType, DatanodeStorage};

use crate::units::human;

/// The NameNode's answer where no DataNode can be chosen.
const NO_PLACE: &str = "could only be written to";
/// The client's own error if it could set up no pipeline.
const NO_PIPELINE: &str = "Unable to create new block";
/// The client's own error where every DataNode of a pipeline failed.
const ALL_BAD: &str = "are bad. Aborting";
/// The smallest block that a NameNode takes by default (dfs.namenode.fs-limits.min-block-size).
const SMALLEST_BLOCK: u64 = 1 << 20;

/// Whether a failure may come from full disks.
pub fn may_be_short(failure: &str) -> bool {
    [NO_PLACE, NO_PIPELINE, ALL_BAD].iter().any(|text| failure.contains(text))
}

/// One line for the user; `None` where the disks are not the cause, or nobody may know.
pub fn line(fs: &FileSystem, block_size: u64, failure: &str) -> Option<String> {
    let Ok(nodes) = fs.datanode_storage_report(DatanodeReportType::Live) else {
        // Only administrators are told of single volumes.
        let remaining = fs.fs_stats().ok()?.remaining;
        return (remaining < block_size).then(|| short(block_size, remaining, None));
    };
    words(&nodes, block_size, failure)
}

/// How many DataNodes the client asked the NameNode to leave out: they had failed in this write.
fn excluded(failure: &str) -> usize {
    let before = failure.split(" node(s) are excluded").next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Returns what is wrong with these DataNodes, from the second line of the client's error.
fn faults(failure: &str) -> Option<&str> {
    failure.lines().nth(1).and_then(|line| line.split_once(": ")).map(|(_, faults)| faults)
}

/// Returns `true` if the DataNodes themselves answered that they could not write, as with a full disk.
fn is_answered(faults: &str) -> bool {
    faults.contains("Got error") || faults.contains("Bad response")
}

/// Where the NameNode refused, there is something to say even where there is room.
fn words(nodes: &[DatanodeStorage], block_size: u64, failure: &str) -> Option<String> {
    let refused = failure.contains(NO_PLACE);
    if nodes.is_empty() {
        return Some(
            "no DataNode is running; start one, or see in its log why it ended".to_owned(),
        );
    }
    let usable = |node: &DatanodeStorage| {
        node.volumes.iter().filter(|volume| !volume.is_failed).map(|v| v.remaining).collect()
    };
    let rooms: Vec<Vec<u64>> = nodes.iter().map(usable).collect();
    let largest = rooms.iter().flatten().copied().max().unwrap_or(0);
    let with_room =
        rooms.iter().filter(|rooms| rooms.iter().any(|room| *room >= block_size)).count();
    if with_room == 0 {
        let sum = rooms.iter().flatten().sum();
        return Some(short(block_size, sum, Some((nodes.len(), largest))));
    }
    let failed = excluded(failure);
    if let Some(faults) = faults(failure).filter(|faults| !is_answered(faults)) {
        return Some(format!(
            "DataNodes could not be reached while this file was written: {faults}; start them, or see in their logs why \
             they ended"
        ));
    }
    if refused && failed > 0 {
        return Some(format!(
            "{failed} of {} DataNode(s) failed while this file was written, as with a full disk: their logs say why; \
             at their last heartbeats {} remained at most on one volume",
            nodes.len(),
            bytes(largest)
        ));
    }
    refused.then(|| {
        format!(
            "{with_room} of {} DataNode(s) have room for a block of {}; the NameNode's log says why they were not chosen",
            nodes.len(),
            bytes(block_size)
        )
    })
}

/// `volumes`: the number of DataNodes, and the room of the volume with the most.
fn short(block_size: u64, remaining: u64, volumes: Option<(usize, u64)>) -> String {
    let (size, left) = (bytes(block_size), bytes(remaining));
    let on = match volumes {
        Some((nodes, largest)) => {
            format!("on {nodes} DataNode(s), {} at most on one volume", bytes(largest))
        }
        None => "on all DataNodes together".to_owned(),
    };
    let room = volumes.map_or(remaining, |(_, largest)| largest);
    let smaller = if room >= SMALLEST_BLOCK && room < block_size {
        format!(", or write smaller blocks (-D dfs.blocksize={})", 1_u64 << room.ilog2())
    } else {
        String::new()
    };
    format!(
        "no DataNode has room for a block of {size} (dfs.blocksize): {left} remain {on}, without what \
         dfs.datanode.du.reserved keeps free; delete files (-rm -skipTrash), add DataNodes or volumes{smaller}"
    )
}

fn bytes(count: u64) -> String {
    human(i64::try_from(count).unwrap_or(i64::MAX), "B", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::hdfs::{DatanodeInfoProto, DatanodeStorageReportProto, StorageReportProto};

    const REFUSED: &str = "could only be written to 0 of the 1 minReplication nodes";

    fn node(remaining: &[u64]) -> DatanodeStorage {
        let report = |left: &u64| StorageReportProto {
            storage_uuid: "DS-1".to_owned(),
            remaining: Some(*left),
            ..StorageReportProto::default()
        };
        DatanodeStorageReportProto {
            datanode_info: DatanodeInfoProto::default(),
            storage_reports: remaining.iter().map(report).collect(),
        }
        .into()
    }

    #[test]
    fn full_disks_are_counted_and_a_block_that_fits_is_named() {
        let nodes = [node(&[12 << 20, 3 << 20]), node(&[0])];
        let said = words(&nodes, 128 << 20, REFUSED).unwrap();
        assert_eq!(
            said,
            "no DataNode has room for a block of 128 MB (dfs.blocksize): 15 MB remain on 2 DataNode(s), 12 MB at most on \
             one volume, without what dfs.datanode.du.reserved keeps free; delete files (-rm -skipTrash), add DataNodes \
             or volumes, or write smaller blocks (-D dfs.blocksize=8388608)"
        );
        assert!(!words(&[node(&[4000])], 128 << 20, REFUSED).unwrap().contains("smaller"));
    }

    #[test]
    fn where_there_is_room_the_log_is_named_only_if_the_namenode_refused() {
        let mut failed = node(&[1 << 40]);
        let mut volume = failed.volumes[0].clone();
        volume.is_failed = true;
        failed.volumes.push(volume);
        let nodes = [failed, node(&[0])];
        let said = words(&nodes, 128 << 20, REFUSED).unwrap();
        assert!(said.starts_with("1 of 2 DataNode(s) have room for a block of 128 MB"), "{said}");
        assert_eq!(words(&nodes, 128 << 20, ""), None);
        assert!(words(&[], 1, "").unwrap().starts_with("no DataNode is running"));
        let mut broken = node(&[1 << 40]);
        broken.volumes[0].is_failed = true;
        assert!(words(&[broken], 128 << 20, "").unwrap().starts_with("no DataNode has room"));
    }

    /// "1 of 1 DataNode(s) have room" was said of a full disk: the last heartbeat came before it was full.
    #[test]
    fn a_datanode_that_failed_in_this_write_is_not_called_roomy() {
        let failure = "File /f could only be written to 0 of the 1 minReplication nodes. There are 1 datanode(s) running and 1 node(s) are excluded in this operation.";
        let said = words(&[node(&[2 << 20])], 1 << 20, failure).unwrap();
        assert!(
            said.starts_with("1 of 1 DataNode(s) failed while this file was written"),
            "{said}"
        );
        assert_eq!(
            excluded("There are 3 datanode(s) running and no node(s) are excluded in this"),
            0
        );
    }

    /// `fs` used to blame a full disk if DataNodes had been stopped.
    #[test]
    fn datanodes_that_refuse_connections_are_not_called_full() {
        let failure = "File /f could only be written to 0 of the 1 minReplication nodes. There are 2 datanode(s) running \
                       and 2 node(s) are excluded in this operation.\nDataNodes that this client could not use: \
                       10.0.0.1:9866: Connection refused (os error 111), 10.0.0.2:9866: timed out";
        let nodes = [node(&[1 << 40]), node(&[1 << 40])];
        assert_eq!(
            words(&nodes, 1 << 20, failure).unwrap(),
            "DataNodes could not be reached while this file was written: 10.0.0.1:9866: Connection refused (os error 111), \
             10.0.0.2:9866: timed out; start them, or see in their logs why they ended"
        );
        let full = failure.replace("timed out", "Got error, status=ERROR, status message ");
        assert!(words(&nodes, 1 << 20, &full).unwrap().contains("as with a full disk"));
    }

    #[test]
    fn other_failures_say_nothing_of_room() {
        assert!(may_be_short("File /f could only be written to 0 of the 1 minReplication nodes."));
        assert!(may_be_short("All datanodes [x] are bad. Aborting..."));
        assert!(!may_be_short("`/f': No such file or directory"));
    }
}
