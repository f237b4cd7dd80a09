//! The NameNode's brain: inodes, blocks, leases, quotas, placement as a state machine
