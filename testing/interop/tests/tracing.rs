//! Apache's daemons take requests of ours that name a span, and serve them as others.

use std::sync::atomic::{AtomicUsize, Ordering};

use zerohop_client::AppendOptions;
use zerohop_interop::Kind;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, check, client, over, put, shape, write};
use zerohop_interop::site::settings;
use zerohop_transport::trace::{self, Propagator, Span};
use zerohop_wire::TraceContext;

const LEN: u64 = 2_500_000;
const BLOCK: u64 = 1 << 20;

/// Each request of this process is in the same span.
struct OneSpan;

static ASKED: AtomicUsize = AtomicUsize::new(0);

impl Propagator for OneSpan {
    fn current(&self) -> Option<TraceContext> {
        ASKED.fetch_add(1, Ordering::Relaxed);
        TraceContext::new([0xab; 16], [0xcd; 8], 1)
    }

    fn set_parent(&self, _: &Span, _: TraceContext) {}

    fn finish(&self) {}
}

#[test]
fn apache_s_daemons_serve_requests_that_name_a_span() {
    assert!(trace::install(Box::new(OneSpan)));
    let remote = [("dfs.client.read.shortcircuit", "false")];
    let spec = Spec {
        name: "tracing",
        namenode: Kind::Apache,
        datanodes: Kind::Apache,
        count: 2,
        settings: settings(&remote),
    };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        put(&fs, "/f", 1, LEN, shape(2, BLOCK))?;
        check(&fs, "/f", 1, LEN)?;
        let mut writer = fs.append("/f", AppendOptions::default()).at("append")?;
        write(&mut writer, 1, LEN).and_then(|()| writer.close()).at("append")?;
        check(&fs, "/f", 1, 2 * LEN)?;
        // Both ask DataNodes for it, one of them within a span.
        let ours = fs.checksum("/f").at("checksum")?.ok_or("no checksum")?;
        let hex: String = ours.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        cluster.judge()?.gives(&["checksum", "/f"], &[&ours.algorithm, &hex])?;
        // For calls of the NameNode and requests of block data; what each of them sends, unit tests say.
        let asked = ASKED.load(Ordering::Relaxed);
        if asked > 20 { Ok(()) } else { Err(format!("the span was asked for {asked} times")) }
    });
}
