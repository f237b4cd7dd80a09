//! What a command writes, into the log.

use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;
use zerohop_system::clock;

/// How long output is still read after the command has ended: a process that it left behind may hold it open for ever.
const REST_MAX: Duration = Duration::from_secs(1);

/// Runs a command without input; its exit code, none if a signal ended it. Each line it writes is logged.
pub(super) async fn run(mut command: Command, name: &str) -> std::io::Result<Option<i32>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let mut logged = std::pin::pin!(async { tokio::join!(log(out, name), log(err, name)) });
    let status = tokio::select! {
        status = child.wait() => {
            let status = status?;
            tokio::select! {
                _ = &mut logged => {}
                () = clock::sleep(REST_MAX) => {}
            }
            status
        }
        _ = &mut logged => child.wait().await?,
    };
    Ok(status.code())
}

async fn log(stream: Option<impl AsyncRead + Unpin>, name: &str) {
    let Some(stream) = stream else { return };
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::info!("{name}: {line}");
    }
}
