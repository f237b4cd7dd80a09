//! Writers that take over at the same time, over connections that lose calls and answers: no two of them get one epoch.

use crate::nodes::{Nodes, info, options};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use zerohop_journal::log::Journal;
use zerohop_quorum::{Connection, QuorumJournal, RpcConnection};
use zerohop_transport::rpc::ClientOptions;

/// One call in eight does not arrive, and as many have no answer.
struct Unreliable {
    rpc: RpcConnection,
    random: Mutex<fastrand::Rng>,
}

impl Connection for Unreliable {
    fn address(&self) -> &str {
        self.rpc.address()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        let random = self.random.lock().unwrap().u8(..8);
        if random == 0 {
            return Err(format!("it was not sent ({method})"));
        }
        let answer = self.rpc.call(method, request);
        if random == 1 { Err(format!("there is no answer ({method})")) } else { answer }
    }
}

fn writer(nodes: &Nodes, seed: u64) -> QuorumJournal {
    let connection = |(node, address): (usize, &std::net::SocketAddr)| -> Arc<dyn Connection> {
        let client = ClientOptions::default();
        let rpc = RpcConnection::new(&address.to_string(), client).unwrap();
        let random = Mutex::new(fastrand::Rng::with_seed(seed * 3 + node as u64));
        Arc::new(Unreliable { rpc, random })
    };
    let connections = nodes.addresses.iter().enumerate().map(connection).collect();
    QuorumJournal::over(nodes.address("ns"), info(), options(), connections).unwrap()
}

#[test]
fn writers_that_take_over_together_never_get_the_same_epoch() {
    const TOGETHER: u64 = 3;
    let nodes = Nodes::start();
    nodes.writer().format().unwrap();
    let mut given = BTreeSet::new();
    for round in 0..25 {
        let highest = given.last().copied().unwrap_or(0);
        let take_over = &|number| {
            let writer = writer(&nodes, round * TOGETHER + number);
            // It may fail behind the promise: a call was lost, or another writer was faster.
            let _ = writer.recover_unfinalized_segments();
            Some(writer.epoch()).filter(|epoch| *epoch > 0)
        };
        let promised: Vec<Option<u64>> = std::thread::scope(|scope| {
            let running: Vec<_> =
                (0..TOGETHER).map(|number| scope.spawn(move || take_over(number))).collect();
            running.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        for epoch in promised.into_iter().flatten() {
            assert!(epoch > highest, "round {round}: {epoch} after {highest}");
            assert!(given.insert(epoch), "round {round}: {epoch} was given twice");
        }
    }
    assert!(given.len() >= 10, "{given:?}");
}
