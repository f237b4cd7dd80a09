//! Reads on tasks: given up, of one another's length, with tokio's traits.

use super::*;
use crate::fixture::{Cluster, bytes_of, located};
use crate::fs::FileSystem;
use futures_util::TryStreamExt;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use zerohop_conf::Conf;
use zerohop_transport::login::User;

/// Blocks of 100 bytes; the DataNode has those of `has`.
fn file_of(blocks: u64, has: &[i64]) -> Cluster {
    let blocks = (0..blocks).map(|at| located(at as i64 + 1, at * 100, 100)).collect();
    Cluster::with_file(&[], blocks, has)
}

async fn open(cluster: &Cluster) -> FileReader {
    FileReader::open(&cluster.client, "/f".into(), OpenOptions::default()).await.unwrap()
}

fn content(blocks: i64) -> Vec<u8> {
    (1..=blocks).flat_map(|id| bytes_of(id, 0..100)).collect()
}

/// Begins a read, and gives it up when the DataNode has its request.
async fn give_up<T>(cluster: &Cluster, read: impl Future<Output = T>) {
    cluster.datanode.close();
    let asked = cluster.datanode.asked();
    let is_asked = async {
        while cluster.datanode.asked() == asked {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = read => panic!("the DataNode has answered"),
        () = is_asked => {}
    }
    cluster.datanode.open();
}

/// The thread that reads for a call continues when the call is given up; its bytes were lost.
#[tokio::test]
async fn a_read_that_is_given_up_loses_no_bytes() {
    for next in [60, 61, 30] {
        let cluster = file_of(1, &[1]);
        let mut reader = open(&cluster).await;
        give_up(&cluster, reader.read_bytes(60)).await;
        assert_eq!(reader.pos(), 0);
        assert_eq!(reader.read_bytes(next).await.unwrap(), bytes_of(1, 0..next as u64));
        assert_eq!(reader.read_bytes(100).await.unwrap(), bytes_of(1, next as u64..100));
        assert_eq!(reader.pos(), 100);
        assert!(reader.read_bytes(60).await.unwrap().is_empty());
        reader.seek_to(10).unwrap();
        assert_eq!(reader.read_bytes(5).await.unwrap(), bytes_of(1, 10..15));
        assert!(reader.seek_to(101).is_err());
    }
}

/// A read with tokio's trait may be given up and another one begun: whichever way, each byte comes once.
#[tokio::test]
async fn the_ways_to_read_on_can_be_mixed() {
    let cluster = file_of(3, &[1, 2, 3]);
    let (mut reader, all) = (open(&cluster).await, content(3));
    let mut some = [0; 7];
    give_up(&cluster, AsyncReadExt::read(&mut reader, &mut some)).await;
    assert_eq!(reader.pos(), 0);
    assert_eq!(reader.read_bytes(5).await.unwrap(), all[..5]);
    assert_eq!(AsyncReadExt::read(&mut reader, &mut some).await.unwrap(), 7);
    assert_eq!(some, all[5..12]);
    // The rest of the file was read ahead.
    assert_eq!(reader.read_bytes(9).await.unwrap(), all[12..21]);
    AsyncSeekExt::seek(&mut reader, SeekFrom::Current(9)).await.unwrap();
    assert_eq!(reader.read_bytes(9).await.unwrap(), all[30..39]);
    assert_eq!(reader.seek(SeekFrom::End(-12)).await.unwrap(), 288);
    let mut rest = Vec::new();
    assert_eq!(reader.read_to_end(&mut rest).await.unwrap(), 12);
    assert_eq!(rest, all[288..]);
    assert_eq!(AsyncReadExt::read(&mut reader, &mut some).await.unwrap(), 0, "the end");
    assert!(reader.seek(SeekFrom::Start(301)).await.is_err());
    assert!(reader.seek(SeekFrom::Current(-301)).await.is_err());
    reader.rewind().await.unwrap();
    let pieces: Vec<Bytes> = reader.into_stream().try_collect().await.unwrap();
    assert_eq!(pieces.concat(), all);
}

#[tokio::test]
async fn a_stream_ends_with_its_range_or_its_error() {
    let (cluster, all) = (file_of(3, &[1, 2]), content(3));
    let mut reader = open(&cluster).await;
    reader.seek_to(50).unwrap();
    let mut stream = reader.into_stream_of(60);
    let piece = stream.try_next().await.unwrap().unwrap();
    assert_eq!(piece, all[50..110]);
    assert!(stream.try_next().await.unwrap().is_none());
    assert_eq!(stream.reader().statistics().total(), 60);
    // What lies in front of a failure is given.
    let mut stream = stream.into_reader().into_stream();
    assert_eq!(stream.try_next().await.unwrap().unwrap(), all[110..200]);
    stream.try_next().await.unwrap_err();
    assert!(stream.try_next().await.unwrap().is_none());
    let mut reader = stream.into_reader();
    let mut byte = [0];
    let error = AsyncReadExt::read(&mut reader, &mut byte).await.unwrap_err();
    assert!(error.to_string().starts_with("Could not obtain block"), "{error}");
    assert_eq!(reader.pos(), 200);
}

#[tokio::test]
async fn ranges_and_positions_need_no_turn() {
    let (cluster, all) = (file_of(3, &[1, 2]), content(3));
    let reader = open(&cluster).await;
    let reads = [(190, 10), (0, 5), (3, 50), (120, 0), (95, 10)];
    let found = reader.read_ranges(&reads).await.unwrap();
    for ((offset, len), bytes) in reads.into_iter().zip(&found) {
        assert_eq!(bytes, &all[offset as usize..][..len]);
    }
    let (a, b) = tokio::join!(reader.read_bytes_at(20, 100), reader.read_bytes_at(150, 10));
    assert_eq!(
        (a.unwrap(), b.unwrap()),
        (all[20..120].to_vec().into(), all[150..160].to_vec().into())
    );
    reader.read_ranges(&[(190, 5), (199, 5)]).await.unwrap_err();
    assert!(reader.read_bytes_at(300, 5).await.unwrap().is_empty());
}

/// The call went to a thread, which waited for a task to ask the NameNode: two changes of the thread,
/// and none opened while all threads for blocking calls were busy.
#[test]
fn an_open_needs_no_thread() {
    let cluster = file_of(1, &[1]);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || finished.recv());
        let uri = &cluster.client.target.uri;
        let fs = FileSystem::connect_as(&Conf::new(), Some(uri), User::new("test")).unwrap();
        let mut reader = fs.open("/f").await.unwrap();
        assert_eq!(reader.refresh().await.unwrap(), 100);
        finish.send(()).unwrap();
        busy.await.unwrap().unwrap();
        assert_eq!(reader.read_bytes(100).await.unwrap(), content(1));
    });
}
