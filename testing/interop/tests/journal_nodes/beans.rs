//! What the active NameNode's `/jmx` says of each JournalNode: ours has Apache's beans and attributes.

use zerohop_interop::harm::{Explain, http, zerohop};
use zerohop_interop::{Outcome, wait};

use super::{LIMIT, Pair};

pub fn name_each_journal_node(pair: &Pair) -> Outcome {
    let key = format!("dfs.namenode.http-address.ns.nn{}", pair.active);
    let (_, address) = zerohop(&pair.conf("client"), &["getconf", "-confKey", &key])?;
    let port = address.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let port = port.ok_or_else(|| format!("{key}: {address}"))?;
    for journal_port in pair.journal_ports {
        let name = format!("IPCLoggerChannel-127.0.0.1-{journal_port}");
        // A JournalNode that was too slow for one segment is left out until the next one.
        wait::until(&name, LIMIT, || {
            let page = http(port, &format!("/jmx?qry=Hadoop:service=NameNode,name={name}"))?;
            let beans: serde_json::Value = serde_json::from_str(&page).at(&name)?;
            let bean = &beans["beans"][0];
            let is_number = |attribute: &&str| bean[*attribute].is_u64();
            let numbers = ["CurrentLagTxns", "LagTimeMillis", "QueuedEditsSize"];
            match numbers.iter().all(is_number) && bean["tag.IsOutOfSync"] == "false" {
                true => Ok(true),
                false => Err(beans.to_string()),
            }
        })?;
    }
    Ok(())
}
