//! Harness that starts Apache Hadoop and zerohop daemons on loopback.
