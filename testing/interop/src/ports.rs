//! Free ports for daemons whose port must be known before they start.

/// A port at which nothing listens. No other test of this process and no outgoing connection gets it while its daemon is down.
pub fn free() -> u16 {
    zerohop_system::ports::free().expect("no free port on loopback")
}
