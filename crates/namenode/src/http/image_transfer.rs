//! `/imagetransfer`: images and segments for other NameNodes, and images from them (`ImageServlet`).
//!
//! ```text
//! GET ?getimage=1&txid=N|latest[&imageFile=KIND]&storageInfo=L:N:T:C[&bootstrapstandby=true]    an image
//! GET ?getedit=1&startTxId=N&endTxId=N&storageInfo=...                                          a finalized segment
//! PUT ?txid=N&imageFile=KIND&File-Length=N&storageInfo=...                                      takes an image
//! ```

use super::body::{BodyReader, file_body};
use super::pages::Pages;
use crate::core::Core;
use crate::ha::HaState;
use crate::image_uploads::Refusal;
use crate::storage::{ImageKind, ReceivedImage, StorageError};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::keys;
use zerohop_daemon::http::{Page, QueryValues, RemoteAddress};
use zerohop_journal::image;
use zerohop_system::clock;

/// The MD5 of what is sent, in hexadecimal digits.
const DIGEST: HeaderName = HeaderName::from_static("x-md5-digest");
/// The name of the file that is sent.
const FILE_NAME: HeaderName = HeaderName::from_static("x-image-edits-name");

/// Time that an image waits for an observer to apply its edits.
const APPLIED_WITHIN: Duration = Duration::from_secs(10);

/// What is sent.
struct Sent {
    file: File,
    path: PathBuf,
    len: u64,
    digest: Option<[u8; 16]>,
    bytes_per_s: u64,
}

/// An answer that sends nothing.
struct Failure(StatusCode, String);

impl Failure {
    /// As Java's servlet answers whatever goes wrong: the file is gone.
    fn gone(reason: impl std::fmt::Display) -> Self {
        Self(StatusCode::GONE, reason.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        Page::text(format!("{}\n", self.1)).with_status(self.0).into_response()
    }
}

pub(super) async fn send(
    State(Pages { core, threads }): State<Pages>,
    RemoteAddress(remote): RemoteAddress,
    query: QueryValues,
) -> Response {
    let counted = Arc::clone(&core);
    let is_image = query.has("getimage");
    let found = threads.run(move || {
        // Any client may download the image. NameNodes do not wait for clients that take it slowly.
        let transfers = match core.image_uploads.senders.include(remote.ip()) {
            true => core.image_uploads.threads.clone(),
            false => core.transfers.clone(),
        };
        Ok::<_, Failure>((find(&core, &query)?, transfers))
    });
    let (sent, transfers) = match found.await {
        Ok(Ok(found)) => found,
        Ok(Err(failure)) => return failure.into_response(),
        Err(unavailable) => return unavailable.into_response(),
    };
    let thread = transfers.turn().await;
    let name = file_name(&sent.path);
    let mut headers = HeaderMap::new();
    let mut put = |name: HeaderName, value: String| {
        // Digits and names that were made here.
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    };
    put(header::CONTENT_TYPE, "application/octet-stream".to_owned());
    put(header::CONTENT_LENGTH, sent.len.to_string());
    put(header::CONTENT_DISPOSITION, format!("attachment; filename={name}"));
    put(FILE_NAME, name);
    if let Some(digest) = sent.digest {
        put(DIGEST, hex::encode(digest));
    }
    let begun = clock::now();
    let count = move || {
        let activity = &counted.activity;
        let rate = if is_image { &activity.images_sent } else { &activity.segments_sent };
        rate.add_ms(clock::since(begun));
    };
    (headers, file_body(sent.file, sent.len, sent.bytes_per_s, thread, count)).into_response()
}

fn find(core: &Core, query: &QueryValues) -> Result<Sent, Failure> {
    check_namespace(core, query.get("storageInfo"))?;
    let number = |name: &str| {
        let value = query.get(name).and_then(|value| value.parse::<i64>().ok());
        value.ok_or_else(|| Failure::gone(format!("GetImage failed. {name} is no number")))
    };
    let storage = core.storage.transfers();
    let path = match (query.has("getimage"), query.has("getedit")) {
        (true, false) if query.get("txid") == Some("latest") => storage
            .newest_image_file()
            .ok_or_else(|| Failure::gone("GetImage failed. Could not find image"))?,
        (true, false) => {
            let txid = number("txid")?;
            storage.image_file(txid).ok_or_else(|| {
                Failure::gone(format!("GetImage failed. Could not find image with txid {txid}"))
            })?
        }
        (false, true) => {
            let (first, last) = (number("startTxId")?, number("endTxId")?);
            storage.finalized_segment_file(first, last).ok_or_else(|| {
                Failure::gone(format!(
                    "GetImage failed. No edits file for txid {first}-{last} found"
                ))
            })?
        }
        _ => return Err(Failure::gone("GetImage failed. Illegal parameters to TransferFsImage")),
    };
    let is_bootstrap =
        query.get("bootstrapstandby").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let key = match is_bootstrap {
        true => &keys::DFS_IMAGE_TRANSFER_BOOTSTRAP_STANDBY_BANDWIDTHPERSEC,
        false => &keys::DFS_IMAGE_TRANSFER_BANDWIDTHPERSEC,
    };
    let bytes_per_s = core.conf.get(key).map_err(Failure::gone)?;
    let file = File::open(&path).map_err(|e| Failure::gone(format!("{}: {e}", path.display())))?;
    let len = file.metadata().map_err(Failure::gone)?.len();
    let digest = image::read_md5(&path).map_err(Failure::gone)?;
    Ok(Sent { file, path, len, digest, bytes_per_s })
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// That the other NameNode has the same namespace. Who does not say may ask all the same, as at Apache's.
fn check_namespace(core: &Core, theirs: Option<&str>) -> Result<(), Failure> {
    let ours = core.storage.colon_separated_info();
    match theirs {
        Some(theirs) if theirs != ours => Err(Failure(
            StatusCode::FORBIDDEN,
            format!("This namenode has storage info {ours} but the secondary expected {theirs}"),
        )),
        _ => Ok(()),
    }
}

/// What a sender says of its image.
struct Announced {
    kind: ImageKind,
    txid: i64,
    len: u64,
    digest: Option<[u8; 16]>,
}

pub(super) async fn receive(
    State(Pages { core, threads }): State<Pages>,
    RemoteAddress(remote): RemoteAddress,
    query: QueryValues,
    request: Request,
) -> Response {
    let digest = request.headers().get(DIGEST).and_then(|value| value.to_str().ok());
    let digest = digest.map(str::to_owned);
    let announced = match announced(&core, &query, digest) {
        Ok(announced) => announced,
        Err(failure) => return failure.into_response(),
    };
    let asked = Arc::clone(&core);
    let is_sender = threads.run(move || asked.image_uploads.senders.include(remote.ip()));
    match is_sender.await {
        Ok(true) => {}
        Ok(false) => return no_sender(remote).into_response(),
        Err(unavailable) => return unavailable.into_response(),
    }
    wait_until_applied(&core, announced.txid).await;
    let (mut reader, feed) = BodyReader::of(request.into_body());
    let thread = core.image_uploads.threads.turn().await;
    let taken = thread.run(move || take(&core, &announced, &mut reader));
    feed.await;
    match taken.await {
        Ok(Ok(())) => StatusCode::OK.into_response(),
        Ok(Err(failure)) => failure.into_response(),
        Err(error) => Failure::gone(format!("PutImage failed. {error}")).into_response(),
    }
}

/// Refuses an image from an unknown machine: the next start would load it as the namespace.
fn no_sender(remote: SocketAddr) -> Failure {
    let address = remote.ip().to_canonical();
    let reason = format!(
        "Images are taken from the other NameNodes of the name service, or from {} of a NameNode that is alone; {address} is \
         neither. If an image should come from there, name it in {}",
        keys::DFS_NAMENODE_SECONDARY_HTTP_ADDRESS.name,
        keys::ZEROHOP_NAMENODE_IMAGE_SENDERS.name
    );
    tracing::warn!("refused an image from {address}: {reason}");
    Failure(StatusCode::FORBIDDEN, reason)
}

/// Waits a little until an observer has applied what the image of a standby, which may be ahead of it, holds.
async fn wait_until_applied(core: &Core, txid: i64) {
    if core.ha.state() != HaState::Observer {
        return;
    }
    let applied = async {
        loop {
            let advanced = core.served.advanced();
            if core.served.applied().0 >= txid {
                return;
            }
            advanced.await;
        }
    };
    // Where it does not come so far, the image is refused.
    _ = tokio::time::timeout(APPLIED_WITHIN, applied).await;
}

fn announced(
    core: &Arc<Core>,
    query: &QueryValues,
    digest: Option<String>,
) -> Result<Announced, Failure> {
    let illegal = || Failure::gone("PutImage failed. Illegal parameters to TransferFsImage");
    let number = |name: &str| query.get(name).and_then(|value| value.parse::<i64>().ok());
    let txid = number("txid").filter(|txid| *txid >= 0).ok_or_else(illegal)?;
    let len = number("File-Length").and_then(|len| u64::try_from(len).ok());
    let len = len.filter(|len| *len > 0).ok_or_else(illegal)?;
    let kind = match query.get("imageFile") {
        None | Some("IMAGE") => ImageKind::Image,
        Some("IMAGE_ROLLBACK") => ImageKind::Rollback,
        Some(_) => return Err(illegal()),
    };
    let theirs = query.get("storageInfo").filter(|info| !info.is_empty());
    check_namespace(core, Some(theirs.ok_or_else(illegal)?))?;
    let digest = match digest {
        None => None,
        Some(digits) => {
            let mut digest = [0; 16];
            hex::decode_to_slice(digits, &mut digest).map_err(|_| illegal())?;
            Some(digest)
        }
    };
    Ok(Announced { kind, txid, len, digest })
}

fn take(core: &Core, announced: &Announced, from: &mut BodyReader) -> Result<(), Failure> {
    let Announced { kind, txid, len, digest } = *announced;
    if core.ha.state() == HaState::Standby {
        let state = core.ha.state().name().to_uppercase();
        return Err(Failure(
            StatusCode::EXPECTATION_FAILED,
            format!(
                "Nameode {} is currently not in a state which can accept uploads of new fsimages. State: {state}",
                core.settings.rpc_bind
            ),
        ));
    }
    let refused = |Refusal(reason)| Failure(StatusCode::CONFLICT, reason);
    let known_txid = core.last_txid().0;
    if txid > known_txid {
        let reason = format!(
            "This NameNode has no transaction {txid}, only those up to {known_txid}: the image is of another history"
        );
        tracing::warn!("refused an image: {reason}");
        return Err(refused(Refusal(reason)));
    }
    let _upload = core.image_uploads.begin(txid).map_err(refused)?;
    if kind == ImageKind::Image {
        core.checkpoints.check_not_too_early(txid, core.clock.now()).map_err(refused)?;
    }
    let newest = core.storage.transfers().newest_of_kind(kind, known_txid);
    if let Some(newest) = newest.filter(|newest| *newest >= txid) {
        return Err(Failure(
            StatusCode::CONFLICT,
            format!(
                "Either current namenode has checkpointed or another checkpointer already uploaded an checkpoint for txid {newest}"
            ),
        ));
    }
    let begun = clock::now();
    let bytes_per_s = core.conf.get(&keys::DFS_IMAGE_TRANSFER_BANDWIDTHPERSEC);
    from.throttle(bytes_per_s.map_err(Failure::gone)?);
    let known_txid = &|| core.last_txid().0;
    let image = ReceivedImage { kind, txid, from, len, digest, known_txid };
    core.storage.transfers().receive_image(image).map_err(|error| match error {
        StorageError::Superseded { .. } => Failure(StatusCode::CONFLICT, error.to_string()),
        error => Failure::gone(format!("PutImage failed. {error}")),
    })?;
    core.activity.images_received.add_ms(clock::since(begun));
    if kind == ImageKind::Image {
        core.checkpoints.note(txid, core.clock.now());
    }
    tracing::info!("Took in the image of transaction {txid}, {len} bytes, from another NameNode");
    Ok(())
}
