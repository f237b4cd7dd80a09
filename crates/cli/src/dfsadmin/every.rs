//! Commands that all NameNodes of a name service must hear, the standby ones too
//! (`HAUtil.getProxiesForAllNameNodesInNameservice`).

use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

use crate::failure::{Failure, Outcome};
use crate::fs::{client_failure, connect_client};
use crate::namenodes::{self, NameNode};

/// The NameNodes to tell; none where there is one only.
pub fn of_default(conf: &Conf) -> Outcome<Vec<NameNode>> {
    namenodes::of_service(conf, &namenodes::default_authority(conf)?)
}

/// Makes a call at every NameNode, prints what came of each, and fails in the end if one of them
/// did: those after it are told all the same.
pub fn tell(
    conf: &Conf,
    what: &str,
    call: impl Fn(&FileSystem) -> zerohop_client::Result<String>,
) -> Outcome<i32> {
    let nodes = of_default(conf)?;
    if nodes.is_empty() {
        let done = call(&connect_client(conf)?).map_err(client_failure)?;
        sayln!("{done}");
        return Ok(0);
    }
    let mut failures = Vec::new();
    for node in nodes {
        let answer = node.client(conf).and_then(|fs| call(&fs).map_err(client_failure));
        match answer {
            Ok(done) => sayln!("{done} for {}", node.address()),
            Err(failure) => {
                noteln!("{what} failed for {}", node.address());
                failures.push(failure);
            }
        }
    }
    match failures.as_slice() {
        [] => Ok(0),
        [one] => Err(one.clone()),
        several => {
            let texts: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Failure::io(format!("{} exceptions [{}]", several.len(), texts.join(", "))))
        }
    }
}
