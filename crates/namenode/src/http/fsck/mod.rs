//! `/fsck`: what `hdfs fsck` prints. Apache's client shows the text as it is and takes its exit code from the last line.

mod asked;
mod block;
mod file;
mod mend;
mod out;
mod policies;
mod result;
mod walk;

use super::date::java_date;
use super::pages::Pages;
use crate::call_error::CallError;
use crate::core::Core;
use crate::service::{Caller, ClientService, Outcome};
use asked::{Options, Remedy};
use axum::extract::State;
use axum::response::Response;
use out::Out;
use policies::PolicySummary;
use result::Totals;
use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_daemon::http::{QueryValues, RemoteAddress, streamed};

pub(super) async fn page(
    State(Pages { core, .. }): State<Pages>,
    RemoteAddress(remote): RemoteAddress,
    query: QueryValues,
) -> Response {
    let (out, report) = out::report();
    tokio::spawn(async move {
        let turn = core.checks.turn().await;
        let breaker = out.breaker();
        let made = turn.run(move || Fsck::new(&core, &query, remote, out).run());
        if let Err(error) = made.await {
            breaker.break_off(io::Error::other(error)).await;
        }
    });
    streamed("text/plain; charset=utf-8", report)
}

struct Fsck<'a> {
    core: &'a Core,
    /// ClientProtocol for the user who asked.
    service: ClientService<'a>,
    path: String,
    block_ids: Option<String>,
    list_corrupt: bool,
    cookie: Option<String>,
    options: Options,
    remedy: Remedy,
    /// Something was not done that was asked for.
    has_failed: bool,
    out: Out,
    totals: Totals,
    /// Asked for by `-storagepolicies`.
    policies: Option<PolicySummary>,
}

impl<'a> Fsck<'a> {
    fn new(core: &'a Arc<Core>, query: &QueryValues, remote: SocketAddr, out: Out) -> Self {
        let has = |name: &str| query.has(name);
        let user = query.get("user.name").or_else(|| query.get("ugi")).unwrap_or("dr.who");
        let caller = Caller::of_page(core, user, remote);
        let params = &core.settings.namespace_params;
        Self {
            core,
            service: ClientService::new(core, caller),
            path: query.get("path").unwrap_or("/").to_owned(),
            block_ids: query.get("blockId").map(str::to_owned),
            list_corrupt: has("listcorruptfileblocks"),
            cookie: query.get("startblockafter").map(str::to_owned),
            remedy: Remedy::asked(has),
            has_failed: false,
            options: Options::asked(has),
            out,
            totals: Totals::new(params.replication_default, params.replication_min),
            policies: has("storagepolicies").then(PolicySummary::default),
        }
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push(text.as_ref());
        self.out.push("\n");
    }

    /// To be asked before more work is begun: nobody may be there any more who reads of it.
    fn go_on(&mut self) -> Outcome<()> {
        self.out.flush_if_full();
        if self.out.is_wanted() {
            return Ok(());
        }
        tracing::info!(
            "Fsck on path {} ends: {} does not listen any more",
            self.path,
            self.service.caller().remote()
        );
        Err(CallError::failed("the connection was closed"))
    }

    fn run(mut self) {
        self.report();
        self.out.flush();
    }

    fn report(&mut self) {
        let started = self.core.clock.now();
        let caller = self.service.caller();
        let (user, remote) = (caller.user().clone(), caller.remote().ip());
        let by = format!("FSCK started by {user} (auth:SIMPLE) from /{remote}");
        if self.options.progress {
            self.line(
                "The fsck switch -showprogress is deprecated and no longer has any effect. Progress is now shown by default.",
            );
        }
        if let Some(ids) = self.block_ids.take() {
            if let Err(error) = self.service.check_superuser() {
                return self.failed(started.mono_ms, &error);
            }
            self.line(format!("{by} at {}", java_date(started.wall_ms)));
            // Without any id Hadoop's takes the empty one.
            let ids =
                if ids.trim().is_empty() { vec![""] } else { ids.split_whitespace().collect() };
            return ids.into_iter().for_each(|id| self.block(id));
        }
        self.line(format!("{by} for path {} at {}", self.path, java_date(started.wall_ms)));
        self.out.flush();
        if let Err(error) = self.checked(started.mono_ms) {
            self.failed(started.mono_ms, &error);
        }
    }

    fn failed(&mut self, started_ms: u64, error: &CallError) {
        self.ended(started_ms);
        self.line(error.to_string());
        _ = write!(self.out, "\n\nFsck on path '{}' FAILED", self.path);
    }

    fn ended(&mut self, started_ms: u64) {
        let now = self.core.clock.now();
        self.line(format!(
            "FSCK ended at {} in {} milliseconds",
            java_date(now.wall_ms),
            now.mono_ms - started_ms
        ));
    }

    fn checked(&mut self, started_ms: u64) -> Outcome<()> {
        let Some(status) = self.service.file_info(&self.path).wait()? else {
            _ = write!(self.out, "\n\nPath '{}' does not exist", self.path);
            return Ok(());
        };
        if self.list_corrupt {
            return self.corrupt_files();
        }
        self.walk(&status)?;
        self.summary(started_ms)
    }

    fn summary(&mut self, started_ms: u64) -> Outcome<()> {
        let (nodes, racks) = self.core.read(|namespace| {
            (namespace.blocks().stats().live_nodes, namespace.blocks().datanodes().rack_count())
        });
        let verdict = if self.totals.is_healthy() { "HEALTHY" } else { "CORRUPT" };
        self.line(format!("\nStatus: {verdict}"));
        self.line(format!(" Number of data-nodes:\t{nodes}"));
        self.line(format!(" Number of racks:\t\t{racks}"));
        self.line(format!(" Total dirs:\t\t\t{}", self.totals.dirs));
        self.line(format!(" Total symlinks:\t\t{}", self.totals.symlinks));
        self.line("\nReplicated Blocks:");
        self.line(self.totals.to_string());
        self.line("\nErasure Coded Block Groups:");
        self.line(result::NO_ERASURE_CODING);
        if let Some(policies) = self.policies.take() {
            self.out.push(&policies.to_string());
        }
        self.ended(started_ms);
        if self.has_failed {
            return Err(CallError::failed("fsck encountered internal errors!"));
        }
        _ = write!(self.out, "\n\nThe filesystem under path '{}' is {verdict}", self.path);
        Ok(())
    }

    fn corrupt_files(&mut self) -> Outcome<()> {
        let cookie = self.cookie.as_deref();
        let (files, next) = self.service.corrupt_file_blocks(&self.path, cookie).wait()?;
        self.line(format!("Cookie:\t{next}"));
        files.iter().for_each(|file| self.line(file.to_string()));
        let count = match (files.len(), next.as_str()) {
            (0, "0") => "no".to_owned(),
            (0, _) => "no more".to_owned(),
            (some, _) => some.to_string(),
        };
        self.line(format!(
            "\n\nThe filesystem under path '{}' has {count} CORRUPT files\n",
            self.path
        ));
        Ok(())
    }
}
