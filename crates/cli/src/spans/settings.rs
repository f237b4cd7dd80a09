//! What the environment says of spans (OpenTelemetry's environment variable specification). What is not read here is read by
//! the SDK.

use std::time::Duration;

/// Where spans go; the second is for spans alone.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
/// How they are sent; the first counts.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
/// How long a request may take, in milliseconds; the first counts.
const TIMEOUTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
const TIMEOUT: Duration = Duration::from_secs(10);
/// The only protocol that is built in.
const PROTOCOL: &str = "http/protobuf";

/// Whether spans are asked for: by an endpoint or by `OTEL_TRACES_EXPORTER=otlp`, and `OTEL_SDK_DISABLED` is not true.
pub fn are_wanted(variable: impl Fn(&str) -> Option<String>) -> bool {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is_disabled =
        variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let is_chosen = match variable("OTEL_TRACES_EXPORTER") {
        Some(exporters) => exporters.split(',').any(|exporter| exporter.trim() == "otlp"),
        None => ENDPOINTS.into_iter().any(|name| variable(name).is_some()),
    };
    is_chosen && !is_disabled
}

/// What is asked for and cannot be done.
pub fn unsupported(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (name, protocol) = PROTOCOLS.into_iter().find_map(|name| Some((name, variable(name)?)))?;
    let is_built_in = protocol.is_empty() || protocol == PROTOCOL;
    (!is_built_in)
        .then(|| format!("{name}={protocol} is not supported; spans are sent as {PROTOCOL}"))
}

/// How long a request to the collector may take.
pub fn timeout(variable: impl Fn(&str) -> Option<String>) -> Duration {
    let given = TIMEOUTS.into_iter().find_map(|name| variable(name)?.trim().parse().ok());
    given.map_or(TIMEOUT, Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(values: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| values.iter().find(|value| value.0 == name).map(|value| value.1.to_owned())
    }

    #[test]
    fn spans_are_exported_where_the_environment_says_so() {
        let wanted = |values: &[(&str, &str)]| are_wanted(environment(values));
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        assert!(!wanted(&[]));
        assert!(wanted(&[endpoint]));
        assert!(wanted(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c/v1/traces")]));
        assert!(!wanted(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]));
        assert!(wanted(&[("OTEL_TRACES_EXPORTER", "console, otlp")]));
        assert!(!wanted(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]));
        assert!(!wanted(&[endpoint, ("OTEL_SDK_DISABLED", "true")]));
    }

    #[test]
    fn another_protocol_is_complained_about_and_time_outs_are_milliseconds() {
        let protocol = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        let text = unsupported(environment(&protocol)).unwrap();
        assert!(text.starts_with("OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported"), "{text}");
        assert_eq!(unsupported(environment(&[("OTEL_EXPORTER_OTLP_PROTOCOL", PROTOCOL)])), None);
        let limit = [("OTEL_EXPORTER_OTLP_TIMEOUT", "1500")];
        assert_eq!(timeout(environment(&limit)), Duration::from_millis(1500));
        assert_eq!(timeout(environment(&[])), TIMEOUT);
    }
}
