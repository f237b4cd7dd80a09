//! Free ports for daemons whose port must be known before they start.

/// A port nobody listens on, and that neither a test of this process nor an outgoing connection gets while its daemon is down.
pub fn free() -> u16 {
    zerohop_system::ports::free().expect("no free port on loopback")
}
