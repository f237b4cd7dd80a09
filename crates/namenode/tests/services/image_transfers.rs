//! Images from other NameNodes: their senders, and the files that they replace.

use crate::harness::*;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zerohop_proto::hdfs::*;

/// An image may come whenever there are edits.
const ANY_TIME: (&str, &str) = ("dfs.namenode.checkpoint.period", "0");
/// Longer than anything takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

impl Harness {
    /// Returns the request target of an upload, with the namespace's own ids.
    fn upload(&self, txid: i64, len: usize) -> String {
        let version = self.directory.path().join("name/current/VERSION");
        let version = std::fs::read_to_string(version).unwrap();
        let value = |name: &str| {
            let line = version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.unwrap().to_owned()
        };
        let ids = ["layoutVersion", "namespaceID", "cTime", "clusterID"].map(value).join(":");
        format!("/imagetransfer?txid={txid}&imageFile=IMAGE&storageInfo={ids}&File-Length={len}")
    }

    /// Sends the head of an upload of `len` bytes, and the bytes.
    async fn begin_upload(&self, target: &str, len: usize, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.node.http_addr()).await.unwrap();
        let head = format!("PUT {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // A server that refuses does not wait for the bytes.
        _ = stream.write_all(bytes).await;
        stream
    }

    /// Uploads bytes as the image of a transaction. Returns the status and the reason.
    async fn put_image(&self, txid: i64, bytes: &[u8]) -> (u16, String) {
        let target = self.upload(txid, bytes.len());
        answer(self.begin_upload(&target, bytes.len(), bytes).await).await
    }

    /// Returns the names of files in the name directory that begin with `prefix`, without MD5 files.
    fn files(&self, prefix: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path().join("name/current")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> =
            names.filter(|name| name.starts_with(prefix) && !name.ends_with(".md5")).collect();
        names.sort();
        names
    }

    /// Saves the namespace. Returns the transaction of its image and the image, which is no longer in the directory.
    async fn image_to_send(&self) -> (i64, Vec<u8>) {
        let client = self.superuser();
        let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/kept")).await;
        self.set_safe_mode(SafeModeActionProto::SafemodeEnter).await;
        self.save_namespace().await;
        let name = self.files("fsimage_").pop().unwrap();
        let path = self.directory.path().join("name/current").join(&name);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(path.with_extension("md5")).unwrap();
        self.set_safe_mode(SafeModeActionProto::SafemodeLeave).await;
        (name.strip_prefix("fsimage_").unwrap().parse().unwrap(), bytes)
    }

    async fn set_safe_mode(&self, action: SafeModeActionProto) {
        let request = SetSafeModeRequestProto { action: action.into(), checked: None };
        let _: SetSafeModeResponseProto = call(&self.superuser(), "setSafeMode", request).await;
    }

    async fn save_namespace(&self) {
        let request = SaveNamespaceRequestProto::default();
        let saved: SaveNamespaceResponseProto =
            call(&self.superuser(), "saveNamespace", request).await;
        assert!(saved.saved());
    }
}

/// Reads one answer. Returns its status and all of it.
async fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    let read =
        async { while !is_whole(&bytes) && stream.read_buf(&mut bytes).await.unwrap_or(0) > 0 {} };
    tokio::time::timeout(LIMIT, read).await.expect("an answer");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {text:?}")), text)
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let len = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    len.is_some_and(|len: usize| body.len() >= len)
}

/// Two uploads with large transactions replaced all images and edits: the next start began with nothing.
#[tokio::test(flavor = "multi_thread")]
async fn images_of_transactions_that_were_never_written_purged_the_real_ones() {
    let mut harness = Harness::with(&[ANY_TIME]).await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/kept")).await;
    let before = (harness.files("fsimage"), harness.files("edits"));
    for txid in [50_000_000, 100_000_000] {
        let (status, text) = harness.put_image(txid, b"HDFSIMG1").await;
        assert_eq!(status, 409, "{text}");
    }
    assert_eq!((harness.files("fsimage"), harness.files("edits")), before);
    harness.restart().await;
    assert!(status(&harness.superuser(), "/kept").await.is_some());
    harness.node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn images_were_taken_from_everybody() {
    let elsewhere = ("dfs.namenode.secondary.http-address", "192.0.2.1:9868");
    let harness = Harness::with(&[ANY_TIME, elsewhere]).await;
    let (txid, image) = harness.image_to_send().await;
    let (status, text) = harness.put_image(txid, &image).await;
    assert_eq!(status, 403, "{text}");
    assert!(text.contains("zerohop.namenode.image.senders"), "{text}");
    assert_eq!(harness.files("fsimage"), ["fsimage_0000000000000000000"]);
    harness.node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_were_no_image_of_their_transaction_became_one() {
    let harness = Harness::with(&[ANY_TIME]).await;
    let (txid, image) = harness.image_to_send().await;
    let first = harness.files("fsimage");
    let longer = [&image[..], b"more"].concat();
    let wrong = [
        (txid, &b"HDFSIMG1, and then nothing of the kind"[..], "a summary of"),
        (txid - 1, &image[..], "it is of transaction"),
    ];
    for (txid, bytes, reason) in wrong {
        let (status, text) = harness.put_image(txid, bytes).await;
        assert!(status == 410 && text.contains(reason), "{text}");
    }
    for (bytes, reason) in
        [(&longer[..], "more than the"), (&image[..image.len() - 1], "bytes came")]
    {
        let target = harness.upload(txid, image.len());
        let (status, text) = answer(harness.begin_upload(&target, bytes.len(), bytes).await).await;
        assert!(status == 410 && text.contains(reason), "{text}");
    }
    assert_eq!(harness.files("fsimage"), first, "nothing is left of them");

    let (status, text) = harness.put_image(txid, &image).await;
    assert_eq!(status, 200, "{text}");
    let name = format!("fsimage_{txid:019}");
    assert_eq!(harness.files("fsimage"), [first[0].as_str(), name.as_str()]);
    assert_eq!(
        std::fs::read(harness.directory.path().join("name/current").join(name)).unwrap(),
        image
    );
    let (status, text) = harness.put_image(txid, &image).await;
    assert_eq!(status, 409, "{text}");
    harness.node.stop().await;
}

/// An image that no edit led to stood for the newest: the first real one and the edits after it were purged.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_from_the_future_purged_what_the_new_image_did_not_cover() {
    let retained = ("dfs.namenode.num.extra.edits.retained", "0");
    let harness = Harness::with(&[ANY_TIME, retained]).await;
    let (txid, image) = harness.image_to_send().await;
    let future = "fsimage_0000000000050000000";
    std::fs::write(harness.directory.path().join("name/current").join(future), b"none").unwrap();
    let edits = harness.files("edits");
    let (status, text) = harness.put_image(txid, &image).await;
    assert_eq!(status, 200, "{text}");
    let name = format!("fsimage_{txid:019}");
    assert_eq!(harness.files("fsimage"), ["fsimage_0000000000000000000", name.as_str(), future]);
    assert_eq!(harness.files("edits"), edits);
    harness.node.stop().await;
}

/// One byte every few seconds held the lock for images: neither saveNamespace nor a stop came to an end.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_trickled_in_held_up_others() {
    let harness = Harness::with(&[ANY_TIME]).await;
    let (txid, image) = harness.image_to_send().await;
    let target = harness.upload(txid, image.len());
    let mut trickle = harness.begin_upload(&target, image.len(), &image[..1]).await;
    until("the first byte", async || harness.files("fsimage.ckpt").len() == 1).await;
    harness.set_safe_mode(SafeModeActionProto::SafemodeEnter).await;
    let saved = tokio::time::timeout(LIMIT, harness.save_namespace()).await;
    saved.expect("saveNamespace waits for no sender");

    // A newer image was saved meanwhile.
    trickle.write_all(&image[1..]).await.unwrap();
    let (status, text) = answer(trickle).await;
    assert_eq!(status, 409, "{text}");

    let last = harness.files("fsimage_").pop().unwrap();
    let newest: i64 = last.strip_prefix("fsimage_").unwrap().parse().unwrap();
    harness.set_safe_mode(SafeModeActionProto::SafemodeLeave).await;
    let _: MkdirsResponseProto = call(&harness.superuser(), "mkdirs", mkdirs("/more")).await;
    let target = harness.upload(newest + 1, image.len());
    let _trickle = harness.begin_upload(&target, image.len(), &image[..1]).await;
    until("the first byte", async || harness.files("fsimage.ckpt").len() == 1).await;
    let stopped = tokio::time::timeout(LIMIT, harness.node.stop()).await;
    stopped.expect("a stop waits for no sender");
}
