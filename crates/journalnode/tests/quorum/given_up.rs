//! A journal that is given up while a JournalNode has not answered yet.

use crate::nodes::{info, options};
use std::io::Read;
use std::net::TcpListener;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use zerohop_journal::log::Journal;
use zerohop_quorum::{QuorumAddress, QuorumJournal};
use zerohop_transport::rpc::ClientOptions;

/// Panics of the threads that call JournalNodes, from here on.
fn count_panics() -> Arc<AtomicUsize> {
    let panics = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&panics);
    let other = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some("journal-node") {
            counted.fetch_add(1, Ordering::AcqRel);
        }
        other(panic);
    }));
    panics
}

#[test]
fn a_call_on_its_way_ends_in_order_when_the_journal_is_given_up() {
    let panics = count_panics();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let nodes = vec![silent.local_addr().unwrap().to_string()];
    let address = QuorumAddress { nodes, journal: "ns".to_owned() };
    let timeout = Duration::from_millis(500);
    let client = ClientOptions { rpc_timeout: timeout, ..ClientOptions::default() };
    let mut options = options();
    options.new_epoch = Duration::from_millis(1);
    options.state = Duration::from_millis(1);
    let journal = QuorumJournal::new(address, info(), options, &client).unwrap();
    journal.recover_unfinalized_segments().outcome.unwrap_err();
    drop(journal);
    // The connection lasts until the call that has no answer has ended.
    let (mut connection, _) = silent.accept().unwrap();
    let mut request = Vec::new();
    connection.read_to_end(&mut request).unwrap();
    assert!(!request.is_empty(), "the JournalNode was asked");
    assert_eq!(panics.load(Ordering::Acquire), 0, "a thread that called a JournalNode panicked");
}
