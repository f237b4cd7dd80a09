//! The end of safe mode, where an operator asks for it.

use zerohop_namespace::blocks::SafeMode;

/// Blocks that are newer than the metadata are deleted when safe mode ends, so that needs force. The caller sees that safe
/// mode is still on.
pub(crate) fn leave_safe_mode(safe_mode: &mut SafeMode, force: bool) {
    let bytes = safe_mode.bytes_in_future();
    if !safe_mode.leave(force) {
        return tracing::error!(
            "Refusing to leave safe mode without a force flag. Exiting safe mode will cause a deletion of {bytes} byte(s). \
             Please use -forceExit flag to exit safe mode forcefully if data loss is acceptable."
        );
    }
    if bytes > 0 {
        tracing::warn!(
            "Leaving safe mode due to forceExit. This will cause a data loss of {bytes} byte(s)."
        );
    }
    tracing::info!("STATE* Safe mode is OFF");
}
