//! Calls of open files, listings and moves: the same object is asked again.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use zerohop_client::{
    BlocksWanted, CreateOptions, DatanodeReportType, Error, ErrorKind, FileReader, FileStatus,
    FileWriter, ReplicaMove, ReplicaMoves, Result, StorageType, SyncOptions,
};
use zerohop_interop::given_up::give_up;

use crate::given_up::{Again, Case, POLLS, Place, TEXT};

pub type Doing = Pin<Box<dyn Future<Output = Result<()>>>>;

fn case(method: &'static str, call: fn(Arc<Place>) -> Doing) -> Case {
    Case { method, again: Again::Inside, call: Box::new(call) }
}

pub fn cases() -> Vec<Case> {
    readers().into_iter().chain(writers()).chain(lists()).chain(moves()).collect()
}

fn wrong(what: String) -> Error {
    Error::new(ErrorKind::Io, what)
}

/// A case that gives a call of a reader up, and then reads the file.
macro_rules! read {
    ($method:ident, |$reader:ident| $call:expr) => {
        case(concat!("FileReader::", stringify!($method)), |place| {
            Box::pin(async move {
                for polls in POLLS {
                    let mut opened = place.fs.open(&place.path("f")).await?;
                    let $reader = &mut opened;
                    let ended = give_up($call, polls).is_some();
                    whole(opened, ended).await?;
                }
                Ok(())
            })
        })
    };
}

/// A read that was given up has moved no position; the file is read as it is.
async fn whole(mut reader: FileReader, has_ended: bool) -> Result<()> {
    if !has_ended && reader.pos() != 0 {
        return Err(wrong(format!("the position is {}", reader.pos())));
    }
    let from = usize::try_from(reader.pos()).unwrap_or(usize::MAX);
    let rest = TEXT.get(from..).unwrap_or_default();
    let mut read = Vec::new();
    while read.len() < rest.len() {
        match reader.read_bytes(rest.len() - read.len()).await? {
            bytes if bytes.is_empty() => break,
            bytes => read.extend_from_slice(&bytes),
        }
    }
    let at = reader.read_bytes_at(0, TEXT.len()).await?;
    if read != rest || at != TEXT {
        return Err(wrong(format!("{read:?} and {at:?}")));
    }
    Ok(())
}

fn readers() -> Vec<Case> {
    vec![
        read!(refresh, |reader| reader.refresh()),
        read!(read, |reader| reader.read(&mut [0; 100])),
        read!(read_bytes, |reader| reader.read_bytes(100)),
        read!(read_zero_copy, |reader| reader.read_zero_copy(100)),
        read!(read_at, |reader| reader.read_at(1, &mut [0; 3])),
        read!(read_bytes_at, |reader| reader.read_bytes_at(1, 3)),
        read!(read_ranges, |reader| reader.read_ranges(&[(0, 2), (4, 2)])),
    ]
}

/// A case that gives a call of a writer up and closes the file.
macro_rules! write {
    ($method:ident, |$writer:ident| $call:expr) => {
        case(concat!("FileWriter::", stringify!($method)), |place| {
            Box::pin(async move {
                for polls in POLLS {
                    let path = place.path(&format!("w{polls}"));
                    let mut $writer = place.fs.create(&path, CreateOptions::default()).await?;
                    $writer.write(TEXT).await?;
                    _ = give_up($call, polls);
                    closed(&place, &path, $writer).await?;
                }
                Ok(())
            })
        })
    };
}

/// The file has every byte that the writer counts, once.
async fn closed(place: &Place, path: &str, mut writer: FileWriter) -> Result<()> {
    let len = writer.pos();
    writer.close().await?;
    writer.close().await?;
    if !place.fs.is_file_closed(path).await? {
        return Err(wrong("the file is open after its close".to_owned()));
    }
    let bytes = place.fs.open(path).await?.read_bytes_at(0, 1 << 20).await?;
    if bytes.len() as u64 != len || bytes != TEXT.repeat(bytes.len() / TEXT.len()) {
        return Err(wrong(format!("{} bytes of {len}", bytes.len())));
    }
    Ok(())
}

fn writers() -> Vec<Case> {
    vec![
        write!(write, |writer| writer.write(TEXT)),
        write!(write_bytes, |writer| writer.write_bytes(TEXT.repeat(50_000).into())),
        write!(hflush, |writer| writer.hflush()),
        write!(hsync, |writer| writer.hsync()),
        write!(hsync_with, |writer| writer.hsync_with(SyncOptions::default().update_length(true))),
        write!(close, |writer| writer.close()),
    ]
}

fn names(entries: &[FileStatus]) -> Vec<&str> {
    entries.iter().filter_map(|entry| entry.path.rsplit('/').next()).collect()
}

fn all_listed(listed: &[FileStatus]) -> Result<()> {
    match names(listed).as_slice() {
        ["d", "f", "g"] => Ok(()),
        others => Err(wrong(format!("{others:?}"))),
    }
}

/// A case that gives the first call of a listing up, and then takes all.
macro_rules! list {
    ($of:literal, |$place:ident| $listing:expr) => {
        case(concat!($of, "::next"), |$place| {
            Box::pin(async move {
                for polls in POLLS {
                    let (mut listing, mut listed) = ($listing, Vec::new());
                    if let Some(Some(first)) = give_up(listing.next(), polls) {
                        listed.push(first?);
                    }
                    while let Some(next) = listing.next().await {
                        listed.push(next?);
                    }
                    all_listed(&listed)?;
                }
                Ok(())
            })
        })
    };
}

fn lists() -> Vec<Case> {
    let pages: fn(Arc<Place>) -> Doing = |place| {
        Box::pin(async move {
            for polls in POLLS {
                let mut pages = place.fs.list_pages(&place.directory)?;
                let mut listed = Vec::new();
                if let Some(first) = give_up(pages.next(), polls) {
                    listed.extend(first?.unwrap_or_default());
                }
                while let Some(page) = pages.next().await? {
                    listed.extend(page);
                }
                all_listed(&listed)?;
            }
            Ok(())
        })
    };
    vec![
        case("ListPages::next", pages),
        list!("Entries", |place| place.fs.entries(&place.directory)),
        list!("Walk", |place| place.fs.walk(&place.directory)),
    ]
}

/// Blocks of any DataNode.
const WANTED: BlocksWanted = BlocksWanted {
    bytes: 1 << 20,
    len_min: 0,
    hot_for: Duration::ZERO,
    storage_type: StorageType::Disk,
};

fn moves() -> Vec<Case> {
    vec![
        case("ReplicaMoves::connect", |place| {
            Box::pin(async move {
                for polls in POLLS {
                    _ = give_up(ReplicaMoves::connect(&place.conf, &place.fs), polls);
                }
                ReplicaMoves::connect(&place.conf, &place.fs).await.map(drop)
            })
        }),
        case("ReplicaMoves::is_upgrade_finalized", |place| {
            Box::pin(async move {
                let moves = ReplicaMoves::connect(&place.conf, &place.fs).await?;
                for polls in POLLS {
                    _ = give_up(moves.is_upgrade_finalized(), polls);
                }
                moves.is_upgrade_finalized().await.map(drop)
            })
        }),
        case("ReplicaMoves::blocks_on", |place| {
            Box::pin(async move {
                let moves = ReplicaMoves::connect(&place.conf, &place.fs).await?;
                for node in place.fs.datanode_report(DatanodeReportType::Live).await? {
                    for polls in POLLS {
                        _ = give_up(moves.blocks_on(&node, WANTED), polls);
                    }
                    moves.blocks_on(&node, WANTED).await?;
                }
                Ok(())
            })
        }),
        case("ReplicaMoves::move_replica", |place| {
            Box::pin(async move {
                let moves = ReplicaMoves::connect(&place.conf, &place.fs).await?;
                let located = place.fs.block_locations(&place.path("f"), 0, 1).await?;
                let block = located.blocks.first().ok_or_else(|| wrong("no block".to_owned()))?;
                let source = block.nodes().next().ok_or_else(|| wrong("no node".to_owned()))?;
                let live = place.fs.datanode_report(DatanodeReportType::Live).await?;
                let target = live.iter().find(|node| *node != source);
                let wanted = ReplicaMove {
                    block: block.block.block,
                    source: source.clone(),
                    proxy: source.clone(),
                    target: target.ok_or_else(|| wrong("no other node".to_owned()))?.clone(),
                    storage_type: StorageType::Disk,
                };
                for polls in POLLS {
                    _ = give_up(moves.move_replica(&wanted), polls);
                }
                // The DataNodes may have moved it, or be at it: they say so.
                _ = moves.move_replica(&wanted).await;
                Ok(())
            })
        }),
    ]
}
