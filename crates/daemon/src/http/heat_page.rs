//! `/heatmap`: how long calls to disks took in the last minutes, as a picture or for programs. `?minutes=10`, `&format=svg|json`.

use super::admin::check_administrator;
use super::page::Page;
use super::query::QueryValues;
use super::threads::HandlerThreads;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_profile::PROBE_ANSWER;
use zerohop_profile::heat::{HeatMap, SECONDS_KEPT, heat_picture};

const MINUTES_DEFAULT: f64 = 10.0;
const NOTE: &str = "Calls of the DataNode to its disks. Short-circuit reads are the client's own: they are not among them.";

/// Makes the maps of the last so many seconds.
pub type HeatMaps = Arc<dyn Fn(u64) -> Vec<HeatMap> + Send + Sync>;

/// The route of the page, with the maps of `name`; made on `threads`.
pub fn heat_page(
    name: String,
    maps: HeatMaps,
    conf: impl Fn() -> Arc<Conf> + Clone + Send + Sync + 'static,
    threads: HandlerThreads,
) -> Router {
    let page = async move |query: QueryValues| -> Response {
        if query.has("probe") {
            return Page::text(PROBE_ANSWER).into_response();
        }
        let Some(seconds) = seconds(query.get("minutes")) else {
            let text = format!("minutes is a number above 0 and up to {}\n", SECONDS_KEPT / 60);
            return Page::text(text).with_status(StatusCode::BAD_REQUEST).into_response();
        };
        let is_json = match query.get("format") {
            None | Some("" | "svg") => false,
            Some("json") => true,
            Some(_) => {
                let page = Page::text("format is svg or json\n");
                return page.with_status(StatusCode::BAD_REQUEST).into_response();
            }
        };
        let user = query.get("user.name").map(str::to_owned);
        let make = move || match check_administrator(&conf(), user.as_deref()) {
            Ok(()) => made(&name, &maps(seconds), seconds, is_json),
            Err(refusal) => refusal,
        };
        threads.run(make).await.into_response()
    };
    Router::new().route("/heatmap", get(page))
}

fn seconds(minutes: Option<&str>) -> Option<u64> {
    let minutes = match minutes {
        None => MINUTES_DEFAULT,
        Some(word) => word.parse().ok()?,
    };
    let seconds = (minutes * 60.0).ceil();
    // A number that is none is in no range.
    (1.0..=SECONDS_KEPT as f64).contains(&seconds).then_some(seconds as u64)
}

fn made(name: &str, maps: &[HeatMap], seconds: u64, is_json: bool) -> Page {
    if is_json {
        let maps: Vec<_> = maps.iter().map(HeatMap::json).collect();
        return Page::json(format!("{}\n", json!({ "seconds": seconds, "maps": maps })));
    }
    let with_calls: Vec<HeatMap> =
        maps.iter().filter(|map| map.summary().is_some()).cloned().collect();
    let title = format!("Disks of {name}, the last {} min", (seconds as f64 / 6.0).round() / 10.0);
    Page::new("image/svg+xml", heat_picture(&title, NOTE, &with_calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_within_the_hour_that_is_kept() {
        assert_eq!(seconds(None), Some(600));
        assert_eq!((seconds(Some("0.01")), seconds(Some("60"))), (Some(1), Some(3600)));
        for word in ["", "0", "-1", "60.1", "NaN", "inf", "1e300", "x"] {
            assert_eq!(seconds(Some(word)), None, "{word}");
        }
    }
}
