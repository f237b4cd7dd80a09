//! `/fsck`: what `hdfs fsck` prints. Apache's client shows the text as it is and takes its exit code from the last line.

mod block;
mod file;
mod mend;
mod out;
mod policies;
mod request;
mod result;
mod walk;

use super::date::java_date;
use super::pages::Pages;
use crate::call_error::CallError;
use crate::core::Core;
use crate::service::Outcome;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use block::write_block;
use file::FileChecks;
use mend::Mender;
use out::Out;
use policies::PolicySummary;
use request::{Remedy, Request};
use result::Totals;
use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use walk::Walk;
use zerohop_daemon::http::{QueryValues, RemoteAddress, streamed};
use zerohop_pages::check_same_site;

pub(super) async fn page(
    State(Pages { core, threads }): State<Pages>,
    RemoteAddress(remote): RemoteAddress,
    headers: HeaderMap,
    query: QueryValues,
) -> Response {
    if Request::is_change(&query)
        && let Err(refused) = check_same_site(&headers)
    {
        let audit = move || Request::new(&core, &query, remote).audit(false);
        let audited = threads.run(audit).await;
        return audited.map_or_else(IntoResponse::into_response, |()| refused.into_response());
    }
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
    block_ids: Option<String>,
    list_corrupt: bool,
    cookie: Option<String>,
    files: FileChecks<'a>,
}

impl<'a> Fsck<'a> {
    fn new(core: &'a Arc<Core>, query: &QueryValues, remote: SocketAddr, out: Out) -> Self {
        let has = |name: &str| query.has(name);
        let params = &core.settings.namespace_params;
        Self {
            block_ids: query.get("blockId").map(str::to_owned),
            list_corrupt: has("listcorruptfileblocks"),
            cookie: query.get("startblockafter").map(str::to_owned),
            files: FileChecks {
                request: Request::new(core, query, remote),
                out,
                totals: Totals::new(params.replication_default, params.replication_min),
                policies: has("storagepolicies").then(PolicySummary::default),
                mender: Mender::new(Remedy::asked(has)),
            },
        }
    }

    fn request(&self) -> &Request<'a> {
        &self.files.request
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.files.out.line(text);
    }

    fn run(mut self) {
        let outcome = self.report();
        let is_denied = matches!(&outcome, Err(error) if error.is_denied());
        self.request().audit(!is_denied);
        self.files.out.flush();
    }

    /// Writes the report. A failure stands in the report, too.
    fn report(&mut self) -> Outcome<()> {
        let started = self.request().core.clock.now();
        let caller = self.request().service.caller();
        let (user, remote) = (caller.user().clone(), caller.remote().ip());
        let by = format!("FSCK started by {user} (auth:SIMPLE) from /{remote}");
        if self.request().options.progress {
            self.line(
                "The fsck switch -showprogress is deprecated and no longer has any effect. Progress is now shown by default.",
            );
        }
        if let Some(ids) = self.block_ids.take() {
            if let Err(error) = self.request().service.check_superuser() {
                return self.failed(started.mono_ms, error);
            }
            tracing::info!("{}", format!("{by} for blockIds: {ids}").escape_debug());
            self.line(format!("{by} at {}", java_date(started.wall_ms)));
            // Without any id Hadoop's takes the empty one.
            let ids =
                if ids.trim().is_empty() { vec![""] } else { ids.split_whitespace().collect() };
            let FileChecks { request, out, .. } = &mut self.files;
            ids.into_iter().for_each(|id| write_block(request, id, out));
            return Ok(());
        }
        let path = &self.files.request.path;
        tracing::info!("{}", format!("{by} for path {path}").escape_debug());
        self.line(format!(
            "{by} for path {} at {}",
            self.files.request.path,
            java_date(started.wall_ms)
        ));
        self.files.out.flush();
        self.checked(started.mono_ms).or_else(|error| self.failed(started.mono_ms, error))
    }

    fn failed(&mut self, started_ms: u64, error: CallError) -> Outcome<()> {
        self.ended(started_ms);
        self.line(error.to_string());
        _ = write!(self.files.out, "\n\nFsck on path '{}' FAILED", self.files.request.path);
        Err(error)
    }

    fn ended(&mut self, started_ms: u64) {
        let now = self.request().core.clock.now();
        self.line(format!(
            "FSCK ended at {} in {} milliseconds",
            java_date(now.wall_ms),
            now.mono_ms - started_ms
        ));
    }

    fn checked(&mut self, started_ms: u64) -> Outcome<()> {
        let Some(status) = self.request().service.reads().file_info(&self.request().path).wait()?
        else {
            _ = write!(self.files.out, "\n\nPath '{}' does not exist", self.files.request.path);
            return Ok(());
        };
        if self.list_corrupt {
            return self.corrupt_files();
        }
        Walk { files: &mut self.files }.run(&status)?;
        self.summary(started_ms)
    }

    fn summary(&mut self, started_ms: u64) -> Outcome<()> {
        let (nodes, racks) = self.request().core.read(|namespace| {
            (namespace.blocks().stats().live_nodes, namespace.blocks().datanodes().rack_count())
        });
        let verdict = if self.files.totals.is_healthy() { "HEALTHY" } else { "CORRUPT" };
        self.line(format!("\nStatus: {verdict}"));
        self.line(format!(" Number of data-nodes:\t{nodes}"));
        self.line(format!(" Number of racks:\t\t{racks}"));
        self.line(format!(" Total dirs:\t\t\t{}", self.files.totals.dirs));
        self.line(format!(" Total symlinks:\t\t{}", self.files.totals.symlinks));
        self.line("\nReplicated Blocks:");
        self.line(self.files.totals.to_string());
        self.line("\nErasure Coded Block Groups:");
        self.line(result::NO_ERASURE_CODING);
        if let Some(policies) = self.files.policies.take() {
            self.files.out.push(&policies.to_string());
        }
        self.ended(started_ms);
        if self.files.mender.has_failed() {
            return Err(CallError::failed("fsck encountered internal errors!"));
        }
        _ = write!(
            self.files.out,
            "\n\nThe filesystem under path '{}' is {verdict}",
            self.files.request.path
        );
        Ok(())
    }

    fn corrupt_files(&mut self) -> Outcome<()> {
        let cookie = self.cookie.as_deref();
        let (files, next) = self
            .request()
            .service
            .reports()
            .corrupt_file_blocks(&self.files.request.path, cookie)
            .wait()?;
        self.line(format!("Cookie:\t{next}"));
        files.iter().for_each(|file| self.line(file.to_string()));
        let count = match (files.len(), next.as_str()) {
            (0, "0") => "no".to_owned(),
            (0, _) => "no more".to_owned(),
            (some, _) => some.to_string(),
        };
        self.line(format!(
            "\n\nThe filesystem under path '{}' has {count} CORRUPT files\n",
            self.files.request.path
        ));
        Ok(())
    }
}
