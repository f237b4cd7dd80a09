//! `/pipelines`: what is written to this DataNode and read from it now.

use crate::node::Node;
use crate::transfer::running::RunningOperation;
use zerohop_pages::{Body, Cell, Content, Section, Table, Tile, age};
use zerohop_system::clock;
use zerohop_wire::transfer::op::OpCode;

const ROWS_MAX: usize = 500;

pub(super) fn content(node: &Node) -> Content {
    let running = node.operations.running();
    let (writes, others): (Vec<_>, Vec<_>) =
        running.iter().partition(|operation| operation.code == OpCode::WriteBlock);
    let tiles = vec![
        Tile::new("Pipelines", Cell::count(writes.len() as u64), "through this DataNode"),
        Tile::new("Other transfers", Cell::count(others.len() as u64), "reads, copies, checksums"),
        Tile::new("Threads", Cell::count(node.threads.busy() as u64), "at work"),
        Tile::new(
            "Copies out",
            Cell::count(u64::from(node.transfers_under_way())),
            "to other DataNodes",
        ),
    ];
    let mut ended = Table::new(&["Operation", "Ended", "All took"], "None has ended yet.");
    for (code, times) in node.operations.ended() {
        ended.row(vec![
            Cell::code(code),
            Cell::count(times.count),
            Cell::number(age(times.total.as_millis() as u64)),
        ]);
    }
    Content::new()
        .with(Section::new("figures", Body::Tiles(tiles)))
        .with(
            Section::new("pipelines", Body::Table(table(&writes, "Nothing is being written.")))
                .titled("Pipelines"),
        )
        .with(
            Section::new("others", Body::Table(table(&others, "Nothing else is going on.")))
                .titled("Other transfers"),
        )
        .with(Section::new("ended", Body::Table(ended)).titled("Since the start"))
        .every(1000)
}

fn table(operations: &[&RunningOperation], empty: &'static str) -> Table {
    let mut table =
        Table::new(&["Operation", "Block", "From", "Client", "Downstream", "For"], empty);
    for operation in operations.iter().take(ROWS_MAX) {
        let client = if operation.client.is_empty() { "a DataNode" } else { &operation.client };
        let downstream = match operation.downstream.is_empty() {
            true => "none".to_owned(),
            false => operation.downstream.join(", "),
        };
        table.row(vec![
            Cell::code(operation.code.to_string()),
            Cell::code(operation.block.to_string()),
            operation.peer.as_str().into(),
            client.into(),
            downstream.into(),
            Cell::number(age(clock::since(operation.begun).as_millis() as u64)),
        ]);
    }
    table
}
