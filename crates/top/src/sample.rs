//! What the daemons of a cluster answered at one moment.

use crate::beans::Beans;
use serde_json::Value;

/// What was asked of all daemons within one interval.
#[derive(Debug, Default)]
pub struct Sample {
    /// Milliseconds of a steady clock.
    pub at_ms: u64,
    /// The NameNodes that share one namespace, in the order of the configuration.
    pub namenodes: Vec<NameNodeAnswer>,
    /// The DataNodes that were asked.
    pub datanodes: Vec<DataNodeAnswer>,
}

/// A NameNode's beans, or why there are none.
#[derive(Debug)]
pub struct NameNodeAnswer {
    /// `HOST:PORT` of its pages.
    pub address: String,
    /// Its id in the configuration; empty where it is the only one.
    pub id: String,
    /// At least `NameNodeStatus`; all beans of the one that is shown.
    pub beans: Result<Beans, String>,
}

/// A DataNode's beans, or why there are none.
#[derive(Debug)]
pub struct DataNodeAnswer {
    /// As the NameNode lists it: `HOST:TRANSFER_PORT`.
    pub name: String,
    /// All of its beans.
    pub beans: Result<Beans, String>,
}

impl NameNodeAnswer {
    /// `active`, `standby`, `observer` or `initializing`; none if it did not answer.
    pub(crate) fn state(&self) -> Option<&str> {
        self.beans.as_ref().ok()?.find("NameNode", "NameNodeStatus")?.text("State")
    }

    /// When it last became active or standby, in ms since 1970.
    fn changed_ms(&self) -> u64 {
        let status = self.beans.as_ref().ok().and_then(|b| b.find("NameNode", "NameNodeStatus"));
        status.and_then(|status| status.count("LastHATransitionTime")).unwrap_or(0)
    }
}

/// Which NameNode is shown: the active one, of two that say so that which became it last; else an observer, else
/// any that answers.
pub(crate) fn shown(namenodes: &[NameNodeAnswer]) -> Option<usize> {
    let rank = |answer: &NameNodeAnswer| match answer.state()? {
        "active" => Some((2, answer.changed_ms())),
        "observer" => Some((1, 0)),
        _ => Some((0, 0)),
    };
    let ranked = namenodes.iter().enumerate().filter_map(|(at, answer)| Some((rank(answer)?, at)));
    ranked.max_by_key(|(rank, at)| (*rank, std::cmp::Reverse(*at))).map(|(_, at)| at)
}

impl Sample {
    /// Which of the NameNodes is shown, by their answers for `NameNodeStatus`: the active one, or one that answers. The
    /// caller then asks it for all of its beans.
    pub fn shown_namenode(&self) -> Option<usize> {
        shown(&self.namenodes)
    }

    /// The live DataNodes by the NameNode that is shown: each by its name with the address of its pages.
    pub fn datanode_addresses(&self) -> Vec<(String, String)> {
        let beans = self.shown_namenode().and_then(|at| self.namenodes.get(at));
        let beans = beans.and_then(|answer| answer.beans.as_ref().ok());
        let info = beans.and_then(|beans| beans.find("NameNode", "NameNodeInfo"));
        let Some(Value::Object(nodes)) = info.and_then(|info| info.json("LiveNodes")) else {
            return Vec::new();
        };
        let address = |(name, node): (String, Value)| {
            Some((name, node.get("infoAddr")?.as_str()?.to_owned()))
        };
        nodes.into_iter().filter_map(address).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(state: &str, changed_ms: u64) -> NameNodeAnswer {
        let page = format!(
            r#"{{"beans":[{{"name":"Hadoop:service=NameNode,name=NameNodeStatus","State":"{state}",
                "LastHATransitionTime":{changed_ms}}}]}}"#
        );
        let beans = Beans::parse(page.as_bytes()).map_err(|e| e.to_string());
        NameNodeAnswer { address: String::new(), id: String::new(), beans }
    }

    #[test]
    fn the_active_namenode_is_shown() {
        let refused = || NameNodeAnswer { beans: Err("refused".to_owned()), ..answer("active", 9) };
        assert_eq!(shown(&[]), None);
        assert_eq!(shown(&[refused()]), None);
        assert_eq!(shown(&[refused(), answer("standby", 7), answer("active", 3)]), Some(2));
        assert_eq!(shown(&[answer("standby", 7), answer("observer", 3)]), Some(1));
        assert_eq!(shown(&[answer("standby", 7), answer("standby", 9)]), Some(0));
        // One that was cut off from the others does not know yet that it is no longer active.
        assert_eq!(shown(&[answer("active", 3), answer("active", 5)]), Some(1));
    }
}
