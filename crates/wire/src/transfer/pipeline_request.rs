//! How the request for a pipeline goes down it: each DataNode sends it to the next one.
//!
//! ```text
//! client  -> a: storage of a, targets b c, storages of b c
//! a       -> b: storage of b, targets c,   storages of c
//! b       -> c: storage of c, no targets
//! ```

use zerohop_proto::hdfs::OpWriteBlockProto;

/// The request for the next DataNode of a pipeline: its storage in front, and itself no longer among the targets.
pub fn for_downstream(request: &OpWriteBlockProto) -> OpWriteBlockProto {
    let mut next = request.clone();
    let storage_type = take_first(&mut next.target_storage_types);
    next.storage_type = storage_type.or(next.storage_type);
    next.storage_id = take_first(&mut next.target_storage_ids);
    next.pinning = take_first(&mut next.target_pinnings).or(Some(false));
    take_first(&mut next.targets);
    next
}

fn take_first<T>(list: &mut Vec<T>) -> Option<T> {
    if list.is_empty() { None } else { Some(list.remove(0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::hdfs::{DataTransferTraceInfoProto, DatanodeInfoProto, StorageTypeProto};

    fn node(name: &str) -> DatanodeInfoProto {
        let mut node = DatanodeInfoProto::default();
        node.id.host_name = name.to_owned();
        node
    }

    #[test]
    fn each_datanode_finds_its_own_storage_in_front() {
        let (disk, ssd) = (StorageTypeProto::Disk as i32, StorageTypeProto::Ssd as i32);
        let first = OpWriteBlockProto {
            targets: vec![node("b"), node("c")],
            storage_type: Some(disk),
            target_storage_types: vec![ssd, disk],
            pinning: Some(false),
            target_pinnings: vec![true, false],
            storage_id: Some("DS-a".to_owned()),
            target_storage_ids: vec!["DS-b".to_owned(), "DS-c".to_owned()],
            ..Default::default()
        };
        let second = for_downstream(&first);
        assert_eq!((&second.targets, second.pipeline_size), (&vec![node("c")], 0));
        assert_eq!((second.storage_type, second.pinning), (Some(ssd), Some(true)));
        assert_eq!(second.storage_id.as_deref(), Some("DS-b"));
        let third = for_downstream(&second);
        assert!(third.targets.is_empty() && third.target_storage_ids.is_empty());
        assert_eq!(third.storage_id.as_deref(), Some("DS-c"));
    }

    #[test]
    fn each_datanode_sees_the_span_that_the_client_was_in() {
        let mut first = OpWriteBlockProto { targets: vec![node("b")], ..Default::default() };
        let info = DataTransferTraceInfoProto { trace_id: Some(7), ..Default::default() };
        first.header.base_header.trace_info = Some(info.clone());
        assert_eq!(for_downstream(&first).header.base_header.trace_info, Some(info));
    }

    /// Old clients send no storages and no pinnings.
    #[test]
    fn what_a_client_does_not_say_is_not_made_up() {
        let first = OpWriteBlockProto {
            targets: vec![node("b")],
            storage_type: Some(StorageTypeProto::Disk as i32),
            storage_id: Some("DS-a".to_owned()),
            ..Default::default()
        };
        let second = for_downstream(&first);
        assert!(second.targets.is_empty());
        assert_eq!(second.storage_type, first.storage_type);
        assert_eq!((second.storage_id, second.pinning), (None, Some(false)));
    }
}
