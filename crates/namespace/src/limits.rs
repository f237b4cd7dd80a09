//! What paths and names may be: what the RPC server takes, and what the edit log can carry.

use zerohop_journal::op::string_fits;
use zerohop_wire::{JavaException, RemoteException};

const PATH_LEN_MAX: usize = 8000;
const PATH_DEPTH_MAX: usize = 1000;

/// What the RPC server refuses before anything else; here also for what a path below `/.reserved` stands for.
pub(crate) fn check_path_length(operation: &str, path: &str) -> Result<(), RemoteException> {
    if path.len() > PATH_LEN_MAX
        || path.bytes().filter(|byte| *byte == b'/').count() > PATH_DEPTH_MAX
    {
        return Err(JavaException::Io.with(format!(
            "{operation}: Pathname too long.  Limit {PATH_LEN_MAX} characters, {PATH_DEPTH_MAX} levels."
        )));
    }
    Ok(())
}

/// Refuses a string that no edit could carry: it would be another one after a restart.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), RemoteException> {
    if string_fits(text) {
        return Ok(());
    }
    Err(JavaException::Io.with(format!("{what} is too long: {} bytes", text.len())))
}
