//! Files that an append has to wait for: those that a gateway which was killed had open, and those that WebHDFS on another port
//! has for an append.
//!
//! The lease of such a file belongs to a client that is gone. Others may have it a minute after the last renewal. A gateway that was
//! started again on the same port of the same machine knows that client by its name, and need not wait.

use crate::failure::{Failure, Lease};
use std::time::{Duration, UNIX_EPOCH};
use zerohop_client::{Error, FileSystem};
use zerohop_conf::Conf;
use zerohop_system::{clock, random};

/// How long an append waits for a file to be closed whose writer is gone.
pub(crate) const RECOVERY_MAX: Duration = Duration::from_secs(30);
const ASK_INTERVAL: Duration = Duration::from_millis(200);

/// Has the clients of this gateway named after its machine and port.
pub(crate) fn name_clients(conf: &mut Conf, host: &str, port: u16) {
    // Any free port may be another one the next time.
    if port != 0 {
        conf.set("mapreduce.task.attempt.id", format!("gateway-{host}-{port}"));
    }
}

/// Has the clients of WebHDFS on the ports of NameNode and DataNode known to each other by their names.
pub(crate) fn name_webhdfs_clients(conf: &mut Conf) {
    conf.set("mapreduce.task.attempt.id", "webhdfs");
}

/// How the names of these begin.
const WEBHDFS_CLIENT: &str = "DFSClient_webhdfs_";

/// Waits a moment for a file that a gateway before this one was writing, that is being closed for a writer that is gone, or that
/// WebHDFS on another port has for an append. True if it may be free then; false if another client writes it.
pub(crate) async fn waits_for_close(
    fs: &FileSystem,
    path: &str,
    error: &Error,
) -> Result<bool, Failure> {
    let class = error.java_class().unwrap_or_default();
    if class.ends_with(".AlreadyBeingCreatedException") {
        let message = error.server_message().unwrap_or_default();
        if holder(message).is_some_and(|holder| holder.starts_with(WEBHDFS_CLIENT)) {
            // Its append is the only one, and the file is closed behind it.
            clock::sleep(Duration::from_millis(random::u64(5..=20))).await;
            return Ok(true);
        }
        if is_of_this_client(message) {
            // It has the file closed by a recovery, after a stream failed or for the gateway before, or another request writes it.
        } else if is_of_gateway_before(message) {
            tracing::info!(
                "{path} was being written when the gateway before this one ended; closing it"
            );
            if fs.recover_lease(path).await? {
                return Ok(true);
            }
        } else {
            return Ok(false);
        }
    } else if !class.ends_with(".RecoveryInProgressException") {
        return Ok(false);
    }
    clock::sleep(ASK_INTERVAL).await;
    Ok(true)
}

/// Who writes the file that an append was refused for; none if the refusal has another reason.
pub(crate) async fn lease_in_the_way(fs: &FileSystem, path: &str, error: &Error) -> Option<Lease> {
    let holder = holder(error.server_message()?)?;
    let changed_ms = fs.status(path).await.ok()?.modified_ms;
    let now_ms = clock::wall().duration_since(UNIX_EPOCH).ok()?.as_millis();
    let age_ms = now_ms.saturating_sub(u128::from(changed_ms));
    let age_max = Duration::from_millis(u64::try_from(age_ms).unwrap_or(u64::MAX));
    Some(Lease { holder: holder.to_owned(), age_max })
}

/// The client that a NameNode's refusal names as the holder of the lease.
fn holder(message: &str) -> Option<&str> {
    let (_, reason) = reason(message)?;
    if let Some((client, _)) = reason.split_once(OWN_LEASE) {
        return Some(client);
    }
    let held = reason.strip_prefix(OWNED_BY)?;
    Some(held.split_once(" on ").map_or(held, |(holder, _)| holder).trim())
}

/// Returns the text before the reason of a NameNode's refusal, with the path, which may contain any words, and the reason.
fn reason(message: &str) -> Option<(&str, &str)> {
    message.lines().next()?.rsplit_once(" because ")
}

/// Whether a NameNode's refusal says that the client which asked has the lease itself. So it has after it began the recovery of
/// another one's.
fn is_of_this_client(message: &str) -> bool {
    reason(message).is_some_and(|(_, reason)| reason.contains(OWN_LEASE))
}

/// How a NameNode's refusal names the holder of a lease.
const OWNED_BY: &str = "this file lease is currently owned by ";
/// How it names the client that asked.
const OWN_LEASE: &str = " is already the current lease holder";

/// Whether a NameNode's refusal names as the holder of the lease another client of a gateway with the port, on the machine, that the
/// client which asked has: "... for CLIENT on ADDRESS because this file lease is currently owned by HOLDER on ADDRESS".
fn is_of_gateway_before(message: &str) -> bool {
    let Some((asked, reason)) = reason(message) else { return false };
    let Some(held) = reason.strip_prefix(OWNED_BY) else { return false };
    let asked = asked.rsplit_once(" for ").and_then(|(_, client)| client.split_once(" on "));
    let (Some((client, address)), Some((holder, holder_address))) =
        (asked, held.split_once(" on "))
    else {
        return false;
    };
    // Behind the task's name there are a random number and the process's id.
    let task = |name: &str| -> Option<String> {
        let name = name.strip_prefix("DFSClient_gateway-")?;
        Some(name.rsplitn(3, '_').nth(2)?.to_owned())
    };
    client != holder
        && address.trim() == holder_address.trim()
        && task(client).is_some_and(|gateway| Some(gateway) == task(holder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(client: &str, holder: &str) -> String {
        format!(
            "Failed to APPEND_FILE /a for b on c for {client} because this file lease is currently owned by {holder}"
        )
    }

    #[test]
    fn a_refusal_names_the_holder_of_the_lease() {
        let refused = refusal("DFSClient_webhdfs_1_2 on h", "DFSClient_webhdfs_3_4 on 10.0.0.2");
        assert_eq!(holder(&refused), Some("DFSClient_webhdfs_3_4"));
        let own = "Failed to APPEND_FILE /a for DFSClient_1 on h because DFSClient_1 is already the current lease holder.\n\tat org";
        assert_eq!((holder(own), is_of_this_client(own)), (Some("DFSClient_1"), true));
        assert!(!is_of_this_client(&refused) && !is_of_gateway_before(own));
        assert_eq!(holder("something else"), None);
        // A path may have the words of a refusal in it.
        let path = "/x because this file lease is currently owned by DFSClient_webhdfs_1 on h is already the current lease holder";
        let other = refused.replacen("/a", path, 1);
        assert_eq!(holder(&other), Some("DFSClient_webhdfs_3_4"));
        assert!(!is_of_this_client(&other));
        assert_eq!(holder(&own.replacen("/a", path, 1)), Some("DFSClient_1"));
    }

    #[test]
    fn only_the_lease_of_a_gateway_that_had_this_port_is_taken() {
        let own = "DFSClient_gateway-h_1-14000_-12_77 on 10.0.0.1";
        for (holder, expected) in [
            ("DFSClient_gateway-h_1-14000_99_12 on 10.0.0.1", true),
            // This one itself.
            (own, false),
            ("DFSClient_gateway-h_1-14000_99_12 on 10.0.0.2", false),
            ("DFSClient_gateway-h_1-14001_99_12 on 10.0.0.1", false),
            ("DFSClient_NONMAPREDUCE_99_12 on 10.0.0.1", false),
            ("DFSClient_gateway- on 10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_of_gateway_before(&refusal(own, holder)), expected, "{holder}");
        }
        let other = "DFSClient_NONMAPREDUCE_1_2 on 10.0.0.1";
        assert!(!is_of_gateway_before(&refusal(other, "DFSClient_NONMAPREDUCE_3_4 on 10.0.0.1")));
        assert!(!is_of_gateway_before("something else"));
    }
}
