//! What a DataNode does with a key that has changed.

use super::adjustable::Adjustable;
use super::volumes;
use crate::node::Node;
use std::sync::Arc;
use zerohop_conf::{Conf, keys};
use zerohop_transport::reconfigure::{Reconfigurable, Reconfiguration, Refused};

const DATA_DIR: &str = keys::DFS_DATANODE_DATA_DIR.name;

/// All keys that can be changed.
const KEYS: [&str; 5] =
    [DATA_DIR, Adjustable::KEYS[0], Adjustable::KEYS[1], Adjustable::KEYS[2], Adjustable::KEYS[3]];

impl Reconfigurable for Node {
    fn keys(&self) -> &'static [&'static str] {
        &KEYS
    }

    fn reconfiguration(&self) -> &Reconfiguration {
        &self.reconfiguration
    }

    /// Failed volumes are tried again although their names have not changed.
    fn is_due(&self, key: &'static str) -> bool {
        key == DATA_DIR && self.store.failures().summary().0 > 0
    }

    /// Of directories some may be in force, also where there is an error.
    fn put_into_force(
        this: &Arc<Self>,
        key: &'static str,
        mut conf: Conf,
    ) -> Result<Conf, Refused> {
        if key != DATA_DIR {
            this.set_adjustable(Adjustable::read(&conf)?);
            return Ok(conf);
        }
        let changed = volumes::change(this, &conf);
        if let Some(in_force) = changed.in_force {
            conf.set(DATA_DIR, in_force);
        }
        match changed.result {
            Ok(()) => Ok(conf),
            Err(reason) => Err(Refused { reason, in_force: Some(Box::new(conf)) }),
        }
    }
}
