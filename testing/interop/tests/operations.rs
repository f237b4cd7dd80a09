//! The pages for operators are run as they are written.

use zerohop_interop::page::Lab;
use zerohop_interop::pair::start_zookeeper;
use zerohop_interop::{Outcome, ports};

fn run_operations() -> Outcome {
    Lab::new("operations")?.run("docs/operations.md", &[])
}

/// Its ZooKeeper is there before the page begins.
fn run_ha() -> Outcome {
    let lab = Lab::new("ha")?;
    let port = ports::free();
    let _zookeeper = start_zookeeper(lab.directory(), port)?;
    lab.run("docs/ha.md", &[("zookeeper", &format!("127.0.0.1:{port}"))])
}

#[test]
fn each_procedure_of_the_operations_page_works_as_written() {
    run_operations().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn each_procedure_of_the_high_availability_page_works_as_written() {
    run_ha().unwrap_or_else(|e| panic!("{e}"));
}
