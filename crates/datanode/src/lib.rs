//! The DataNode: data-transfer operations, volumes, heartbeats and block reports
