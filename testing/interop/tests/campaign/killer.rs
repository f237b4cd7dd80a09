//! Kills daemons and starts them again.

use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use zerohop_client::SafeModeAction;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{SETTLE, client};
use zerohop_interop::{Outcome, wait};

use crate::{Course, DATANODES};

/// One in so many kills takes the NameNode.
const NAMENODE: u32 = 4;

pub struct Killer {
    rng: Rng,
    /// How often the NameNode was killed.
    pub namenode: u32,
    /// How often a DataNode was killed.
    pub datanodes: u32,
}

impl Killer {
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed), namenode: 0, datanodes: 0 }
    }

    /// One process at a time, killed and started again, until the course ends; all run afterwards.
    pub fn kill_until(&mut self, cluster: &mut Cluster, course: &Course) -> Outcome {
        while course.goes_on() {
            self.pause(1200);
            match (self.namenode + self.datanodes) % NAMENODE {
                1 => self.kill_namenode(cluster)?,
                _ => self.kill_datanode(cluster)?,
            }
            course.is_namenode_killed.store(self.namenode > 0, Relaxed);
        }
        Ok(())
    }

    /// How long something stays as it is belongs to the course.
    fn pause(&mut self, most_ms: u64) {
        sleep(Duration::from_millis(self.rng.u64(..most_ms)));
    }

    fn kill_namenode(&mut self, cluster: &mut Cluster) -> Outcome {
        self.namenode += 1;
        cluster.kill_namenode();
        self.pause(500);
        cluster.start_namenode()?;
        let fs = client(&cluster.conf(), &[])?;
        wait::until("the NameNode serves again", SETTLE, || {
            let is_safe = fs.safe_mode(SafeModeAction::SafemodeGet).map_err(|e| e.to_string())?;
            if is_safe { Err("in safe mode".to_owned()) } else { Ok(true) }
        })
    }

    fn kill_datanode(&mut self, cluster: &mut Cluster) -> Outcome {
        self.datanodes += 1;
        let i = self.rng.usize(..DATANODES);
        cluster.kill_datanode(i);
        self.pause(2500);
        cluster.start_datanode(i)?;
        let port = cluster.site.data_ports[i];
        wait::until("the DataNode serves again", SETTLE, || {
            Ok(TcpStream::connect(("127.0.0.1", port)).is_ok())
        })
    }
}
