//! Keys that the balancer and the mover read.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// How long a replica that was moved is not moved again.
    DFS_BALANCER_MOVEDWINWIDTH: Duration = "dfs.balancer.movedWinWidth", "5400000", Millis;
    /// Moves of the balancer at a time, in the whole cluster.
    DFS_BALANCER_MOVERTHREADS: i32 = "dfs.balancer.moverThreads", "1000", Plain;
    /// Source DataNodes that the balancer asks the NameNode about at a time.
    DFS_BALANCER_DISPATCHERTHREADS: i32 = "dfs.balancer.dispatcherThreads", "200", Plain;
    /// Bytes that one storage type of a DataNode gives or takes in one iteration.
    DFS_BALANCER_MAX_SIZE_TO_MOVE: u64 = "dfs.balancer.max-size-to-move", "10737418240", Bytes;
    /// Bytes of blocks that one getBlocks call asks for.
    DFS_BALANCER_GETBLOCKS_SIZE: u64 = "dfs.balancer.getBlocks.size", "2147483648", Bytes;
    /// Smaller blocks are not moved by the balancer.
    DFS_BALANCER_GETBLOCKS_MIN_BLOCK_SIZE: u64 = "dfs.balancer.getBlocks.min-block-size", "10485760", Bytes;
    /// Blocks of files changed within this time are moved last.
    DFS_BALANCER_GETBLOCKS_HOT_TIME_INTERVAL: Duration = "dfs.balancer.getBlocks.hot-time-interval", "0", Millis;
    /// How long one move may take; 0 means as long as the iteration.
    DFS_BALANCER_BLOCK_MOVE_TIMEOUT: Duration = "dfs.balancer.block-move.timeout", "0", Millis;
    /// How long the balancer looks for a block to move away from a DataNode before it gives that DataNode up.
    DFS_BALANCER_MAX_NO_MOVE_INTERVAL: Duration = "dfs.balancer.max-no-move-interval", "60000", Millis;
    /// Longest iteration of the balancer; below 0: no limit.
    DFS_BALANCER_MAX_ITERATION_TIME: i64 = "dfs.balancer.max-iteration-time", "1200000", Plain;
    /// Wait between two rounds of a balancer that runs as a service.
    DFS_BALANCER_SERVICE_INTERVAL: Duration = "dfs.balancer.service.interval", "5m", Millis;
    /// Rounds in a row that may fail before a balancer that runs as a service ends.
    DFS_BALANCER_SERVICE_RETRIES_ON_EXCEPTION: i32 = "dfs.balancer.service.retries.on.exception", "5", Plain;
    /// getBlocks calls a second; 0 or below: no limit.
    DFS_NAMENODE_GETBLOCKS_MAX_QPS: i32 = "dfs.namenode.get-blocks.max-qps", "20", Plain;
    /// Moves of the mover at a time, in the whole cluster.
    DFS_MOVER_MOVERTHREADS: i32 = "dfs.mover.moverThreads", "1000", Plain;
    /// Rounds in a row in which every move failed, before the mover ends.
    DFS_MOVER_RETRY_MAX_ATTEMPTS: i32 = "dfs.mover.retry.max.attempts", "10", Plain;
}
