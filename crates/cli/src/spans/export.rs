//! Spans of `tracing` become OpenTelemetry's: their ids, their recording, and their way to a collector.

use std::env;
use std::sync::Arc;

use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use super::http_client::{CollectorClient, Failures};
use super::settings;
use zerohop_transport::trace::{self, Propagator, TARGET};
use zerohop_wire::TraceContext;

/// The name of the service, where the environment gives none.
const SERVICE: &str = "zerohop";

/// Begins to record spans where the environment asks for it: the layer that takes them from `tracing`.
pub fn layer<S>() -> Option<impl Layer<S>>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let variable = |name: &str| env::var(name).ok();
    if trace::is_on() || !settings::are_wanted(variable) {
        return None;
    }
    if let Some(text) = settings::unsupported(variable) {
        noteln!("{text}");
    }
    let failures = Arc::<Failures>::default();
    let provider = match provider(&failures) {
        Ok(provider) => provider,
        Err(error) => {
            noteln!("spans cannot be exported: {error}");
            return None;
        }
    };
    let tracer = provider.tracer(SERVICE);
    if !trace::install(Box::new(Exporting { provider, failures })) {
        return None;
    }
    let layer = tracing_opentelemetry::layer()
        .with_tracer(tracer)
        .with_location(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_context_activation(false);
    let filter = filter_fn(|metadata| metadata.is_span() && metadata.target() == TARGET);
    Some(layer.with_filter(filter.with_max_level_hint(LevelFilter::INFO)))
}

/// Where spans go. The SDK reads the rest of the environment: endpoint, headers, sampler, limits and batches.
fn provider(
    failures: &Arc<Failures>,
) -> Result<SdkTracerProvider, opentelemetry_otlp::ExporterBuildError> {
    let variable = |name: &str| env::var(name).ok();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(CollectorClient::new(settings::timeout(variable), Arc::clone(failures)))
        .build()?;
    let mut resource = Resource::builder()
        .with_attribute(KeyValue::new("process.pid", i64::from(std::process::id())));
    if let Ok(host) = nix::unistd::gethostname() {
        let host = host.to_string_lossy().into_owned();
        resource = resource.with_attribute(KeyValue::new("host.name", host));
    }
    let is_named = variable("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty())
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
    if !is_named {
        resource = resource.with_service_name(SERVICE);
    }
    Ok(SdkTracerProvider::builder()
        .with_resource(resource.build())
        .with_batch_exporter(exporter)
        .build())
}

/// Connects spans of this process with those of others.
struct Exporting {
    provider: SdkTracerProvider,
    failures: Arc<Failures>,
}

impl Propagator for Exporting {
    fn current(&self) -> Option<TraceContext> {
        let context = Span::current().context();
        let span = context.span().span_context().clone();
        TraceContext::new(
            span.trace_id().to_bytes(),
            span.span_id().to_bytes(),
            span.trace_flags().to_u8(),
        )
    }

    fn set_parent(&self, span: &Span, parent: TraceContext) {
        let parent = SpanContext::new(
            TraceId::from_bytes(parent.trace_id()),
            SpanId::from_bytes(parent.span_id()),
            TraceFlags::new(parent.flags),
            true,
            TraceState::default(),
        );
        if let Err(error) = span.set_parent(Context::new().with_remote_span_context(parent)) {
            tracing::debug!("a span got no parent: {error}");
        }
    }

    fn finish(&self) {
        let ended = self.provider.shutdown();
        if let Some(failure) = self.failures.last() {
            noteln!("{failure}");
        } else if let Err(error) = ended {
            noteln!("spans may be missing at the collector: {error}");
        }
    }
}
