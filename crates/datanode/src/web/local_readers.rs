//! `/local-readers`: the processes that read replicas of this DataNode without asking it for the bytes.

use crate::node::Node;
use crate::short_circuit::{LocalReader, local_readers};
use std::time::SystemTime;
use zerohop_pages::{Body, Cell, Content, Section, Table, Tile, age};
use zerohop_system::clock;

const ROWS_MAX: usize = 500;

pub(super) fn content(node: &Node) -> Content {
    let readers = local_readers(node.store.slots());
    let (segments, slots) = node.store.slots().counts();
    let limits = node.store.slots().limits();
    let tiles = vec![
        Tile::new("Segments", Cell::count(segments as u64), format!("of {} at most", limits.total)),
        Tile::new("Replicas held", Cell::count(slots as u64), "with descriptors passed"),
        Tile::new(
            "Connections",
            Cell::count(node.domain_socket.accepted.load(std::sync::atomic::Ordering::Relaxed)),
            "on the domain socket so far",
        ),
    ];
    let mut processes = Table::new(
        &["Process", "User", "Client", "Descriptors", "In use now", "For"],
        "Nobody reads locally.",
    );
    let mut replicas =
        Table::new(&["Process", "Block", "State", "Readers", "For"], "No replica is held.");
    let mut rows = 0;
    for reader in &readers {
        let pid = reader.pid.to_string();
        let in_use = reader.replicas.iter().filter(|held| held.anchors > 0).count();
        processes.row(vec![
            Cell::code(&pid),
            user(reader.uid).into(),
            reader.client.as_str().into(),
            Cell::count(reader.descriptors() as u64),
            Cell::count(in_use as u64),
            Cell::number(since(reader.since)),
        ]);
        for held in &reader.replicas {
            rows += 1;
            if rows > ROWS_MAX {
                break;
            }
            let state = match (held.is_valid, held.is_anchorable) {
                (false, _) => "taken back",
                (true, true) => "may be mapped",
                (true, false) => "valid",
            };
            replicas.row(vec![
                Cell::code(&pid),
                Cell::code(held.block.as_str()),
                state.into(),
                Cell::count(u64::from(held.anchors)),
                Cell::number(since(held.since)),
            ]);
        }
    }
    Content::new()
        .with(Section::new("figures", Body::Tiles(tiles)))
        .with(Section::new("processes", Body::Table(processes)).titled("Processes"))
        .with(Section::new("replicas", Body::Table(replicas)).titled("Replicas that they hold"))
}

fn since(moment: SystemTime) -> String {
    let span = clock::wall().duration_since(moment).unwrap_or_default();
    age(span.as_millis() as u64)
}

fn user(uid: u32) -> String {
    let name = zerohop_system::users::user_name(uid);
    name.map_or_else(|| uid.to_string(), |name| format!("{name} ({uid})"))
}

impl LocalReader {
    /// Of each replica the data and the meta file were passed.
    fn descriptors(&self) -> usize {
        2 * self.replicas.len()
    }
}
