//! Workloads and reports of our own stack
