//! `journalnode`: keeps the edit log that NameNodes share, until a signal ends it.

use std::sync::Arc;

use zerohop_journalnode::{JournalFormat, JournalNode};

use crate::daemon::{end, log_warnings, may_format, serve};
use crate::failure::{Failure, Outcome, complain};
use crate::settings::Settings;
use crate::stop::Stop;

pub const USAGE: &str = "Usage: journalnode [-format [-force] [-nonInteractive]]
\tKeeps the edit log that the NameNodes of a name service share, below dfs.journalnode.edits.dir. It serves NameNodes on
\tdfs.journalnode.rpc-address (0.0.0.0:8485) and gives segments on dfs.journalnode.http-address (0.0.0.0:8480).
\tA NameNode formats a new journal (namenode -format, namenode -initializeSharedEdits). -format is for a JournalNode that lost
\tits disk, while a NameNode and the other JournalNodes run: it asks them for the name space and for what was promised to writers.
\tThen start it, run dfsadmin -rollEdits, and it takes part from there on and fetches the segments before.
\tThe configuration comes from --config DIR or HADOOP_CONF_DIR, single values from -D KEY=VALUE.";

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take_all(&mut words) {
        return complain("journalnode", &failure);
    }
    let run = || {
        let Some(how) = how(&words)? else {
            sayln!("{USAGE}");
            return Ok(0);
        };
        match how {
            How::Serve => start(&settings),
            How::Format { force, ask } => format(&settings, force, ask),
        }
    };
    run().unwrap_or_else(|failure| complain("journalnode", &failure))
}

enum How {
    Serve,
    Format { force: bool, ask: bool },
}

/// What is wanted; none if it is the usage.
fn how(words: &[String]) -> Outcome<Option<How>> {
    let (mut formats, mut force, mut ask) = (false, false, true);
    for word in words {
        match word.trim_start_matches('-').to_ascii_lowercase().as_str() {
            "h" | "help" => return Ok(None),
            "format" => formats = true,
            "force" => force = true,
            "noninteractive" => ask = false,
            _ => return Err(Failure::usage(format!("{word} is not supported here\n{USAGE}"))),
        }
    }
    match (formats, force || !ask) {
        (true, _) => Ok(Some(How::Format { force, ask })),
        (false, false) => Ok(Some(How::Serve)),
        (false, true) => {
            Err(Failure::usage(format!("-force and -nonInteractive go with -format\n{USAGE}")))
        }
    }
}

fn format(settings: &Settings, force: bool, ask: bool) -> Outcome<i32> {
    let conf = settings.load()?;
    log_warnings(&conf);
    let found = serve(async {
        JournalFormat::find(&conf).await.map_err(|error| Failure::io(error.to_string()))
    })?;
    for journal in found {
        sayln!("{journal}");
        if !may_format(journal.data_before_format().as_slice(), force, ask)? {
            return Ok(1);
        }
        journal.run().map_err(|error| Failure::io(error.to_string()))?;
    }
    Ok(0)
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
