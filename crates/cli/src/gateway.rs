//! `gateway`: REST in front of a cluster, until a signal ends it.

use tokio::sync::oneshot;
use zerohop_gateway::Gateway;

use crate::daemon::{end, log_warnings, serve};
use crate::failure::{Failure, Outcome, complain};
use crate::running::check_named;
use crate::settings::Settings;
use crate::stop::Stop;

pub const USAGE: &str = "Usage: gateway
\tServes the cluster of fs.defaultFS by REST, with the URLs of WebHDFS, HttpFS and Hoop, on httpfs.http.hostname and
\thttpfs.http.port (0.0.0.0, 14000). Who may act for others stands in httpfs.proxyuser.*; the NameNode must let this
\tprocess's user act for others (hadoop.proxyuser.*).
\tThe configuration comes from --config DIR or HADOOP_CONF_DIR (httpfs-site.xml there, too), single values from -D KEY=VALUE.";

/// The gateway's own site file, beside core-site.xml.
const SITE_FILE: &str = "httpfs-site.xml";

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take_all(&mut words) {
        return complain("gateway", &failure);
    }
    let run = || match words.first().map(|word| word.trim_start_matches('-')) {
        Some("h" | "help") => {
            sayln!("{USAGE}");
            Ok(0)
        }
        Some(_) => Err(Failure::usage(format!("{} is not supported here\n{USAGE}", words[0]))),
        None => start(&settings),
    };
    run().unwrap_or_else(|failure| complain("gateway", &failure))
}

fn start(settings: &Settings) -> Outcome<i32> {
    let mut settings = settings.clone();
    let own = settings.load()?.directory().map(|directory| directory.join(SITE_FILE));
    settings.files.extend(own.filter(|file| file.exists()));
    let conf = settings.load_for_cluster()?;
    check_named(&conf)?;
    log_warnings(&conf);
    let gateway = Gateway::bind(conf).map_err(|error| Failure::io(error.to_string()))?;
    serve(async move {
        let by = if gateway.scheme() == "https" { ", by TLS" } else { "" };
        tracing::info!("the gateway serves REST on {}{by}", gateway.local_addr());
        let (stopper, stopped) = oneshot::channel::<()>();
        let stopped = async { _ = stopped.await };
        let serving = tokio::spawn(gateway.serve(stopped)?);
        let mut stop = Stop::new()?;
        let cause = stop.wait().await;
        tracing::info!("stopping on {}, after the requests that are under way", cause.name());
        let ending = async move {
            drop(stopper);
            _ = serving.await;
        };
        end(&mut stop, ending).await;
        Ok(0)
    })
}
