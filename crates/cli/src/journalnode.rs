//! `journalnode`: keeps the edit log that NameNodes share, until a signal ends it.

use std::sync::Arc;

use zerohop_journalnode::JournalNode;

use crate::daemon::{end, log_warnings, serve};
use crate::failure::{Failure, Outcome, complain};
use crate::settings::Settings;
use crate::stop::Stop;

pub const USAGE: &str = "Usage: journalnode
\tKeeps the edit log that the NameNodes of a name service share, below dfs.journalnode.edits.dir. It serves NameNodes on
\tdfs.journalnode.rpc-address (0.0.0.0:8485) and gives segments on dfs.journalnode.http-address (0.0.0.0:8480).
\tA NameNode formats it (namenode -format, namenode -initializeSharedEdits).
\tThe configuration comes from --config DIR or HADOOP_CONF_DIR, single values from -D KEY=VALUE.";

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take_all(&mut words) {
        return complain("journalnode", &failure);
    }
    let run = || match words.first().map(|word| word.trim_start_matches('-')) {
        Some("h" | "help") => {
            sayln!("{USAGE}");
            Ok(0)
        }
        Some(_) => Err(Failure::usage(format!("{} is not supported here\n{USAGE}", words[0]))),
        None => start(&settings),
    };
    run().unwrap_or_else(|failure| complain("journalnode", &failure))
}

fn start(settings: &Settings) -> Outcome<i32> {
    let conf = Arc::new(settings.load()?);
    log_warnings(&conf);
    serve(async move {
        let node =
            JournalNode::start(conf).await.map_err(|error| Failure::io(error.to_string()))?;
        tracing::info!(
            "JournalNode serves RPC on {} and HTTP on {}",
            node.rpc_addr(),
            node.http_addr()
        );
        let mut stop = Stop::new()?;
        let cause = stop.wait().await;
        tracing::info!("stopping on {}", cause.name());
        end(&mut stop, node.stop()).await;
        Ok(0)
    })
}
