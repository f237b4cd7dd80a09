//! The server: one port, several protocols, one task a connection.
//!
//! A connection's task reads what has arrived, calls the services inline, and sends all answers of
//! one wake-up in one write. Only calls that must wait ([`Reply::Later`]) outlive the wake-up; they
//! wait inside the same task, so an answer costs no task switch.

mod activity;
mod alignment;
mod budget;
mod connection;
mod contact;
mod counters;
mod dispatch;
mod fair;
mod handshake;
mod impersonation;
mod intake;
mod listener;
mod metrics;
mod opening;
mod options;
mod panic;
mod readers;
mod request;
mod response;
mod service;
mod shared;
mod slow_calls;
mod trace;
mod waiting;

pub use activity::{ActivityFigures, CallActivity, MethodTimes, RunningCallInfo, note_lock_wait};
pub use alignment::{Admission, AdmissionWait, StateAlignment};
pub use budget::CallMemory;
pub use fair::FairOptions;
pub use impersonation::ProxyUsers;
pub use listener::RpcServer;
pub use options::ServerOptions;
pub use service::{
    CallContext, Gate, Reply, RpcService, decode_charged, decode_param, no_such_method,
};
pub use slow_calls::SlowCallSettings;
