//! What the steps ask of the daemons under test, however many NameNodes there are.

use crate::Outcome;
use crate::cluster::Cluster;
use crate::driver::Driver;

/// The daemons under test.
pub trait Servers {
    /// Apache's client that the script itself asks with.
    fn judge(&mut self) -> Outcome<&mut Driver>;

    /// The DataNode behind a transfer address.
    fn datanode_at(&self, address: &str) -> Outcome<usize>;

    /// Starts a DataNode without waiting for it.
    fn start_datanode(&mut self, i: usize) -> Outcome;

    /// Takes a DataNode away with SIGKILL.
    fn kill_datanode(&mut self, i: usize);

    /// Waits until every running DataNode has spoken with the NameNode that serves since its start, and that is out of safe mode.
    fn wait_serving(&mut self) -> Outcome;

    /// Stops and starts everything, and waits until it serves.
    fn restart(&mut self) -> Outcome;

    /// Has the logs kept after the test.
    fn keep_logs(&mut self);
}

impl Servers for Cluster {
    fn judge(&mut self) -> Outcome<&mut Driver> {
        Self::judge(self)
    }

    fn datanode_at(&self, address: &str) -> Outcome<usize> {
        Self::datanode_at(self, address)
    }

    fn start_datanode(&mut self, i: usize) -> Outcome {
        Self::start_datanode(self, i)
    }

    fn kill_datanode(&mut self, i: usize) {
        Self::kill_datanode(self, i);
    }

    fn wait_serving(&mut self) -> Outcome {
        Self::wait_serving(self)
    }

    fn restart(&mut self) -> Outcome {
        Self::restart(self)
    }

    fn keep_logs(&mut self) {
        self.keep_logs = true;
    }
}
