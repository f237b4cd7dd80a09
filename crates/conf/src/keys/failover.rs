//! Keys of failover controllers and of `haadmin`.

use crate::key::keys;
use std::time::Duration;

keys! {
    /// ZooKeeper servers, as `host:port,host:port`.
    HA_ZOOKEEPER_QUORUM: Vec<String> = "ha.zookeeper.quorum", "", Plain;
    /// Silence after which ZooKeeper takes a failover controller for dead and gives its lock away.
    HA_ZOOKEEPER_SESSION_TIMEOUT: Duration = "ha.zookeeper.session-timeout.ms", "10000", Millis;
    /// Path in ZooKeeper below which each name service has its own.
    HA_ZOOKEEPER_PARENT_ZNODE: String = "ha.zookeeper.parent-znode", "/hadoop-ha", Plain;
    /// Who may do what in ZooKeeper, as `scheme:id:permissions` with commas between; `@FILE` reads it from a file.
    HA_ZOOKEEPER_ACL: String = "ha.zookeeper.acl", "world:anyone:rwcda", Plain;
    /// How to authenticate to ZooKeeper, as `scheme:secret` with commas between; `@FILE` reads it from a file.
    HA_ZOOKEEPER_AUTH: String = "ha.zookeeper.auth", "", Plain;
    /// Wait before a NameNode that could not be reached is asked again.
    HA_HEALTH_MONITOR_CONNECT_RETRY_INTERVAL: Duration = "ha.health-monitor.connect-retry-interval.ms", "1000", Millis;
    /// Time between two questions for a NameNode's health. A NameNode whose process ends is noticed at once.
    HA_HEALTH_MONITOR_CHECK_INTERVAL: Duration = "ha.health-monitor.check-interval.ms", "1000", Millis;
    /// Wait after a NameNode did not answer.
    HA_HEALTH_MONITOR_SLEEP_AFTER_DISCONNECT: Duration = "ha.health-monitor.sleep-after-disconnect.ms", "1000", Millis;
    /// How often a connection to a NameNode is tried again within one question.
    HA_HEALTH_MONITOR_RPC_CONNECT_MAX_RETRIES: i32 = "ha.health-monitor.rpc.connect.max.retries", "1", Plain;
    /// Longest wait for a NameNode to say that it is healthy; raise it where NameNodes are Apache's, which may pause for longer.
    HA_HEALTH_MONITOR_RPC_TIMEOUT: Duration = "ha.health-monitor.rpc-timeout.ms", "7000", Millis;
    /// Longest wait for a NameNode to become active.
    HA_NEW_ACTIVE_RPC_TIMEOUT: Duration = "ha.failover-controller.new-active.rpc-timeout.ms", "60000", Millis;
    /// Longest wait for a NameNode to become standby; after it, it is fenced.
    HA_GRACEFUL_FENCE_RPC_TIMEOUT: Duration = "ha.failover-controller.graceful-fence.rpc-timeout.ms", "5000", Millis;
    /// How often a connection to a NameNode that is to become standby is tried again.
    HA_GRACEFUL_FENCE_CONNECTION_RETRIES: i32 = "ha.failover-controller.graceful-fence.connection.retries", "1", Plain;
    /// How often an operation of ZooKeeper is tried when the connection is lost.
    HA_ELECTOR_ZK_OP_RETRIES: i32 = "ha.failover-controller.active-standby-elector.zk.op.retries", "3", Plain;
    /// Longest wait of `haadmin` for an answer.
    HA_CLI_CHECK_RPC_TIMEOUT: Duration = "ha.failover-controller.cli-check.rpc-timeout.ms", "20000", Millis;
    /// How a NameNode is ended that does not become standby: `sshfence`, `sshfence(USER:PORT)` or `shell(COMMAND)`, one a line.
    DFS_HA_FENCING_METHODS: Option<String> = "dfs.ha.fencing.methods", "", Plain;
    /// Longest wait for an SSH connection of `sshfence`.
    DFS_HA_FENCING_SSH_CONNECT_TIMEOUT: Duration = "dfs.ha.fencing.ssh.connect-timeout", "30000", Millis;
    /// Private keys for `sshfence`; without them those that ssh finds itself.
    DFS_HA_FENCING_SSH_PRIVATE_KEY_FILES: Vec<String> = "dfs.ha.fencing.ssh.private-key-files", "", Plain;
    /// Port of a failover controller, on the address of its NameNode.
    DFS_HA_ZKFC_PORT: u16 = "dfs.ha.zkfc.port", "8019", Plain;
    /// Longest wait for the stacks of a NameNode that is not healthy, which are logged; 0 asks for none.
    DFS_HA_ZKFC_NN_HTTP_TIMEOUT: Duration = "dfs.ha.zkfc.nn.http.timeout.ms", "20000", Millis;
}
