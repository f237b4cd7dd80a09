//! Callers that a JournalNode does not know.

use crate::nodes::{info, options, runtime};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_journal::log::Journal;
use zerohop_journalnode::JournalNode;
use zerohop_quorum::{QuorumAddress, QuorumJournal};
use zerohop_transport::rpc::ClientOptions;

/// A JournalNode with a configuration of its own.
struct Node {
    _directory: tempfile::TempDir,
    node: JournalNode,
}

impl Node {
    fn start(settings: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut conf = Conf::new();
        conf.set("dfs.journalnode.edits.dir", directory.path().to_str().unwrap());
        conf.set("dfs.journalnode.rpc-address", "127.0.0.1:0");
        conf.set("dfs.journalnode.http-address", "127.0.0.1:0");
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        let node = runtime().block_on(JournalNode::start(Arc::new(conf))).unwrap();
        Self { _directory: directory, node }
    }

    fn journal(&self, journal: &str) -> QuorumJournal {
        let nodes = vec![self.node.rpc_addr().to_string()];
        let address = QuorumAddress { nodes, journal: journal.to_owned() };
        QuorumJournal::new(address, info(), options(), &ClientOptions::default()).unwrap()
    }

    /// Returns the answer to a request for a segment.
    fn get_journal(&self) -> String {
        let mut stream = TcpStream::connect(self.node.http_addr()).unwrap();
        let request =
            "GET /getJournal?jid=ns&segmentTxId=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// `format' by anybody who reached the port wiped the shared edits, and `/getJournal' gave them away.
#[test]
fn a_host_that_is_no_namenode_and_no_journal_node_formatted_and_read_a_journal() {
    let elsewhere = [("dfs.namenode.rpc-address", "192.0.2.1:8020")];
    for (settings, word) in [(&elsewhere[..], "192.0.2.1"), (&[], "dfs.ha.namenodes")] {
        let node = Node::start(settings);
        for refused in [
            node.journal("ns").format().unwrap_err().to_string(),
            node.journal("ns").has_data().unwrap_err().to_string(),
            node.journal("ns").recover_unfinalized_segments().outcome.unwrap_err().to_string(),
            node.get_journal(),
        ] {
            assert!(refused.contains("may not call this JournalNode"), "{refused}");
            assert!(refused.contains(word), "{word}: {refused}");
        }
        assert!(node.get_journal().starts_with("HTTP/1.1 403 "));
    }
    let open = Node::start(&[("zerohop.journalnode.allowed.hosts", "*")]);
    open.journal("ns").format().unwrap();
    assert!(!open.get_journal().starts_with("HTTP/1.1 403 "));
}

/// Each name made a directory and a thread.
#[test]
fn a_namenode_made_journals_without_end() {
    let node = Node::start(&[
        ("dfs.namenode.rpc-address", "127.0.0.1:8020"),
        ("zerohop.journalnode.journals.max", "2"),
    ]);
    node.journal("a").format().unwrap();
    node.journal("b").format().unwrap();
    let refused = node.journal("c").format().unwrap_err().to_string();
    assert!(refused.contains("zerohop.journalnode.journals.max"), "{refused}");
    node.journal("b").format().unwrap();
}
