//! How a writer stands with each JournalNode: which follow, which are left out and why, and which are back.

use crate::nodes::{Nodes, append, info, options};
use std::time::{Duration, Instant};
use zerohop_journal::log::Journal;
use zerohop_quorum::{NodeStatus, QuorumJournal};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

/// Waits until the thread of a JournalNode has got so far.
fn until(writer: &QuorumJournal, node: usize, wanted: impl Fn(&NodeStatus) -> bool) -> NodeStatus {
    let begun = Instant::now();
    loop {
        let status = writer.nodes().swap_remove(node);
        if wanted(&status) {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{status:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_journal_node_that_is_down_is_left_out_until_the_next_segment() {
    let mut nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let (writer, last) = nodes.takeover();
    assert_eq!(last, 0);
    assert!(writer.nodes().iter().all(|node| !node.is_written && node.acknowledged.is_none()));
    let mut segment = writer.start_segment(TxId(1)).unwrap();
    append(&mut *segment, 1, &[1, 2, 3]).unwrap();
    for node in 0..3 {
        let status = until(&writer, node, |status| status.acknowledged == Some(TxId(3)));
        assert_eq!(status.name, nodes.addresses[node].to_string());
        assert_eq!((status.is_written, status.lag, status.failure), (true, 0, None));
        assert!(status.took.is_some());
    }
    nodes.down(2);
    append(&mut *segment, 4, &[4, 5]).unwrap();
    append(&mut *segment, 6, &[6]).unwrap();
    let left_out = until(&writer, 2, |status| !status.is_written);
    assert_eq!((left_out.acknowledged, left_out.lag), (Some(TxId(3)), 3));
    assert!(left_out.failure.is_some(), "{left_out:?}");
    until(&writer, 0, |status| status.acknowledged == Some(TxId(6)) && status.queued_bytes == 0);
    segment.finalize(TxId(6)).unwrap();
    nodes.up(2);
    let mut segment = writer.start_segment(TxId(7)).unwrap();
    append(&mut *segment, 7, &[7]).unwrap();
    let back = until(&writer, 2, |status| status.acknowledged == Some(TxId(7)));
    assert_eq!((back.is_written, back.lag), (true, 0));
}

/// A connection is looked after only while a call is on it.
#[test]
fn connections_that_were_closed_while_nothing_was_written_are_made_again() {
    let closed_by_nodes = [
        ("ipc.client.idlethreshold", "0"),
        ("ipc.client.connection.maxidletime", "50"),
        ("ipc.client.connection.idle-scan-interval.ms", "20"),
    ];
    let nodes = Nodes::start_with(&closed_by_nodes);
    nodes.writer().format().unwrap();
    let idle_after = [ClientOptions::default().idle_after, Duration::from_millis(50)];
    let mut last = 0;
    for idle_after in idle_after {
        let client = ClientOptions { idle_after, ..ClientOptions::default() };
        let writer = QuorumJournal::new(nodes.address("ns"), info(), options(), &client).unwrap();
        writer.recover_unfinalized_segments().outcome.unwrap();
        let mut segment = writer.start_segment(TxId(last + 1)).unwrap();
        for _ in 0..3 {
            last += 1;
            append(&mut *segment, last, &[last]).unwrap();
            for node in 0..3 {
                until(&writer, node, |status| status.acknowledged == Some(TxId(last)));
            }
            std::thread::sleep(Duration::from_millis(1200));
        }
        segment.finalize(TxId(last)).unwrap();
        assert!(writer.nodes().iter().all(|node| node.failure.is_none()), "{:?}", writer.nodes());
    }
}
