//! `/profile`: a flame graph of this process, recorded while the caller waits. `?seconds=10&hz=99`, `&wait` for threads that
//! wait, `&format=svg|collapsed|pprof`; `?probe` only says that the page is there.
//!
//! A recording ends when its caller has left. A caller that closes only its sending side cannot be told from one that has left: it
//! gets what was recorded until then.

use super::admin::check_administrator;
use super::caller_socket::CallerSocket;
use super::page::Page;
use super::query::QueryValues;
use super::remote_address::RemoteAddress;
use super::threads::HandlerThreads;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::spawn_blocking;
use zerohop_conf::Conf;
use zerohop_profile::{
    Busy, Clock, Options, PROBE_ANSWER, Recording, SAMPLES_HEADER, Turn, collapsed, flame_graph,
    pprof,
};
use zerohop_system::clock;

/// Callers whose groups are looked up at once; it may take a while. The recording itself has a thread of its own.
const CHECKS_MAX: usize = 4;

#[derive(Clone, Copy)]
enum Format {
    Svg,
    Collapsed,
    Pprof,
}

/// The route of the page. It shows the whole process, also of several daemons in one; who may see it stands in the
/// configuration that `conf` returns.
pub fn profile_page(conf: impl Fn() -> Arc<Conf> + Clone + Send + Sync + 'static) -> Router {
    let threads = HandlerThreads::new(CHECKS_MAX);
    let page = async move |query: QueryValues,
                           RemoteAddress(remote): RemoteAddress,
                           socket: Option<Extension<CallerSocket>>| {
        if query.has("probe") {
            return Page::text(PROBE_ANSWER).into_response();
        }
        let user = query.get("user.name");
        let asks = user.map(str::to_owned);
        let check = threads.run(move || check_administrator(&conf(), asks.as_deref()));
        match check.await {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return refusal.into_response(),
            Err(unavailable) => return unavailable.into_response(),
        }
        let (options, format) = match asked_for(&query) {
            Ok(asked) => asked,
            Err(text) => {
                return Page::text(text).with_status(StatusCode::BAD_REQUEST).into_response();
            }
        };
        let who = format!("{} at {}", shown(user.unwrap_or("somebody")), remote.ip());
        match Turn::take(&who, options) {
            Ok(turn) => recorded(turn, format, socket.map(|Extension(socket)| socket)).await,
            Err(busy) => refused(&busy),
        }
    };
    Router::new().route("/profile", get(page))
}

fn asked_for(query: &QueryValues) -> Result<(Options, Format), String> {
    let clock = if query.has("wait") { Clock::Wall } else { Clock::Cpu };
    let options = Options::parse(query.get("seconds"), query.get("hz"), clock);
    let format = match query.get("format") {
        None | Some("" | "svg") => Format::Svg,
        Some("collapsed" | "txt" | "text") => Format::Collapsed,
        Some("pprof" | "pb") => Format::Pprof,
        Some(_) => return Err("format is svg, collapsed or pprof\n".to_owned()),
    };
    Ok((options.map_err(|error| format!("{error}\n"))?, format))
}

/// The beginning of a name that anybody may have made up.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(64).collect()
}

async fn recorded(turn: Turn, format: Format, socket: Option<CallerSocket>) -> Response {
    let dropped = HandlerDropped::default();
    let is_dropped = Arc::clone(&dropped.0);
    let made = spawn_blocking(move || {
        let recording = turn.record(|| {
            is_dropped.load(Ordering::Relaxed)
                || socket.as_ref().is_some_and(CallerSocket::has_ended)
        })?;
        file(&recording, format)
    });
    match made.await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            Page::failed(&format_args!("this process cannot be recorded: {error}")).into_response()
        }
        Err(error) => Page::failed(&error).into_response(),
    }
}

/// Ends a recording when the server has dropped its request: a stream of HTTP/2 that was reset, or the end of the server.
#[derive(Default)]
struct HandlerDropped(Arc<AtomicBool>);

impl Drop for HandlerDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn file(recording: &Recording, format: Format) -> io::Result<Response> {
    let (kind, name, bytes) = match format {
        Format::Svg => ("image/svg+xml", None, flame_graph(recording)?),
        Format::Collapsed => ("text/plain; charset=utf-8", None, collapsed(recording).into_bytes()),
        Format::Pprof => ("application/octet-stream", Some("profile.pb.gz"), pprof(recording)?),
    };
    let mut response = Page::new(kind, String::new()).into_response();
    *response.body_mut() = bytes.into();
    if let Some(value) = name.and_then(|name| format!("attachment; filename={name}").parse().ok()) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(SAMPLES_HEADER, recording.samples().into());
    Ok(response)
}

fn refused(busy: &Busy) -> Response {
    let left = busy.until.duration_since(clock::wall()).unwrap_or_default();
    let text = format!(
        "A process makes one recording at a time: that of {} takes until {} UTC, in {:.0} s.\n",
        busy.who,
        time_of_day(busy.until),
        left.as_secs_f64().ceil()
    );
    let retry = HeaderValue::from(left.as_secs() + 1);
    let page = Page::text(text).with_status(StatusCode::CONFLICT);
    ([(header::RETRY_AFTER, retry)], page).into_response()
}

fn time_of_day(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{HttpOptions, HttpServer};
    use axum::body::Body;
    use axum::http::Request;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::Mutex;
    use tower_service::Service;
    use zerohop_conf::keys;

    /// A process makes one recording at a time.
    static ALONE: Mutex<()> = Mutex::const_new(());

    async fn ask(router: &Router, url: &str) -> (u16, String) {
        let request = Request::builder().uri(url).body(Body::empty()).unwrap();
        let response = router.clone().call(request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 64 << 20).await.unwrap();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    fn router(administrators: &str) -> Router {
        let mut conf = Conf::new();
        conf.set(keys::DFS_CLUSTER_ADMINISTRATORS.name, administrators);
        let conf = Arc::new(conf);
        profile_page(move || Arc::clone(&conf))
    }

    #[tokio::test]
    async fn one_recording_is_made_and_the_second_caller_is_told_of_it() {
        let _alone = ALONE.lock().await;
        let router = router("");
        assert_eq!(ask(&router, "/profile?probe").await, (200, PROBE_ANSWER.to_owned()));
        let turn = Turn::take("alice at 10.0.0.7", Options::default()).unwrap();
        let (status, text) = ask(&router, "/profile?seconds=0.01").await;
        assert!(status == 409 && text.contains("that of alice at 10.0.0.7"), "{status} {text}");
        drop(turn);
        let url = "/profile?seconds=0.5&user.name=bob&wait&format=collapsed";
        let (status, stacks) = ask(&router, url).await;
        assert!(status == 200 && stacks.contains(';'), "{stacks}");
        let (status, picture) = ask(&router, "/profile?seconds=0.05").await;
        assert!(status == 200 && picture.contains("<svg"), "{picture}");
        let (status, _) = ask(&router, "/profile?seconds=0.05&format=pprof").await;
        assert_eq!(status, 200);
    }

    async fn send(address: SocketAddr, query: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request =
            format!("GET /profile?{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        String::from_utf8_lossy(&all).into_owned()
    }

    async fn short(address: SocketAddr) -> String {
        answer(send(address, "seconds=0.01").await).await
    }

    fn deadline() -> impl FnMut() {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        move || assert!(tokio::time::Instant::now() < deadline, "a recording does not end")
    }

    /// The connection of a caller whose long recording has begun: another is refused.
    async fn long(address: SocketAddr) -> TcpStream {
        let mut check = deadline();
        loop {
            let stream = send(address, "seconds=300&wait&format=collapsed").await;
            // The other one may have come first.
            if short(address).await.starts_with("HTTP/1.1 409 ") {
                return stream;
            }
            check();
        }
    }

    /// The server keeps the requests of clients that have closed their sending side, and so those of clients that have left.
    #[tokio::test]
    async fn a_recording_went_on_after_its_caller_had_left() {
        let _alone = ALONE.lock().await;
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = HttpServer::bind(any_port, HttpOptions::default()).unwrap();
        let address = server.local_addr();
        let serving = tokio::spawn(server.serve(router("")).unwrap());
        drop(long(address).await);
        let mut check = deadline();
        while !short(address).await.starts_with("HTTP/1.1 200 ") {
            check();
        }
        let mut half_closes = long(address).await;
        half_closes.shutdown().await.unwrap();
        let text = answer(half_closes).await;
        assert!(text.starts_with("HTTP/1.1 200 "), "what there is: {text:.400}");
        assert!(text.contains("\r\nzerohop-samples: "), "how many there are: {text:.400}");
        serving.abort();
    }

    #[tokio::test]
    async fn wrong_values_and_users_are_refused() {
        let (open, closed) = (router(""), router("alice"));
        let huge = format!("/profile?seconds={}&hz=1", "9".repeat(50_000));
        for url in ["/profile?seconds=0", "/profile?hz=-1", "/profile?format=exe", huge.as_str()] {
            let (status, text) = ask(&open, url).await;
            assert!(status == 400 && text.len() < 200, "{status} {text}");
        }
        let (status, text) = ask(&closed, "/profile?seconds=0.01&user.name=mallory").await;
        assert!(status == 403 && text.contains("dfs.cluster.administrators"), "{status} {text}");
        assert_eq!(ask(&closed, "/profile?seconds=0.01").await.0, 403);
    }
}
