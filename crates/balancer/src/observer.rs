//! What the balancer and the mover report while they run.

/// What the balancer reports after each iteration; bytes each, `None` where it failed before they were known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// From 0.
    pub number: u32,
    /// Moved since the start.
    pub bytes_moved: u64,
    /// Blocks moved since the start.
    pub blocks_moved: u64,
    /// To be moved until the cluster is balanced.
    pub bytes_left: Option<u64>,
    /// To be moved in this iteration.
    pub bytes_planned: Option<u64>,
    /// The NameNode's URI.
    pub namenode: String,
}

/// Shows how far the balancer or the mover is.
pub trait Observer: Send + Sync {
    /// An iteration of the balancer has ended.
    fn iteration(&self, iteration: &Iteration);
    /// A line about the work as a whole.
    fn message(&self, text: &str);
    /// A line about a problem.
    fn problem(&self, text: &str);
    /// Another `bytes` are to be moved.
    fn planned(&self, bytes: u64);
    /// `bytes` of them have been moved.
    fn moved(&self, bytes: u64);
}
