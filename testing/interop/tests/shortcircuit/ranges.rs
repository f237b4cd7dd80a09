//! Several ranges with one call of our client, every way to a block.

use crate::client::{BLOCK, LEN, expect, tokio_runtime};
use zerohop_client::{ErrorKind, FileSystem};
use zerohop_conf::Conf;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, client};
use zerohop_interop::{Outcome, content};

const OFF: (&str, &str) = ("dfs.client.read.shortcircuit", "false");
const TRAFFIC: (&str, &str) = ("dfs.client.domain.socket.data.traffic", "true");
const NO_MAP: (&str, &str) = ("dfs.client.mmap.enabled", "false");
const SOON: (&str, &str) = ("dfs.client.retry.window.base", "10");

/// Whether a buffer holds what was written at its place.
pub fn is_right(seed: u64, at: u64, read: &[u8]) -> bool {
    let mut want = vec![0; read.len()];
    content::fill(seed, at, &mut want);
    read == want
}

/// Places around the end of a block, that overlap, from the last to the first; the same one twice; a
/// long one over two ends; the last byte; empty ones.
fn places() -> Vec<(u64, usize)> {
    let mut places: Vec<_> = (0..30).rev().map(|n| (BLOCK - 2000 + 150 * n, 300)).collect();
    places.extend([(BLOCK - 5, 10), (BLOCK - 5, 10), (BLOCK - 300_000, 1_500_000)]);
    places.extend([(LEN - 1, 1), (LEN, 0), (0, 0), (LEN + 7, 0), (512, 512), (1024, 1)]);
    places
}

pub fn neighbours(cluster: &Cluster) -> Outcome {
    for settings in [&[][..], &[NO_MAP], &[OFF], &[OFF, TRAFFIC]] {
        let reader = client(&cluster.conf(), settings)?.open("/ways").at("/ways")?;
        let mut places = places();
        // Replicas that are not open yet, and that are; then with a range that goes too far.
        for goes_too_far in [false, false, true] {
            if goes_too_far {
                places.insert(3, (LEN - 1, 2));
            }
            let mut parts: Vec<Vec<u8>> = places.iter().map(|(_, len)| vec![0; *len]).collect();
            let mut ranges: Vec<(u64, &mut [u8])> =
                places.iter().zip(&mut parts).map(|((at, _), part)| (*at, &mut part[..])).collect();
            let read = reader.read_ranges(&mut ranges);
            expect(&format!("{settings:?}: {read:?}"), read.is_err(), goes_too_far)?;
            for ((at, len), part) in places.iter().zip(&parts) {
                let is_beyond = at + *len as u64 > LEN && *len > 0;
                let what = format!("{settings:?}: {len} bytes at {at}");
                expect(&what, is_beyond || is_right(1, *at, part), true)?;
            }
        }
        if settings.contains(&OFF) {
            // The neighbours at the end of a block, the long one, the first ones, the last byte.
            let opens: u64 = reader.statistics().opens.iter().sum();
            expect(&format!("{settings:?}: {opens} requests"), opens <= 3 * 7, true)?;
        }
    }
    tokio_runtime()?.block_on(async_face(cluster))
}

async fn async_face(cluster: &Cluster) -> Outcome {
    let mut conf = Conf::load(cluster.conf()).at("conf")?;
    for shortcircuit in ["true", "false"] {
        conf.set(OFF.0, shortcircuit);
        let fs = FileSystem::connect(&conf, None).at("connect")?;
        let reader = fs.open("/ways").await.at("/ways")?;
        let mut places = places();
        places.push((LEN - 5, 100));
        for _ in 0..2 {
            let read = reader.read_ranges(&places).await.at("read_ranges")?;
            for ((at, len), part) in places.iter().zip(&read) {
                let want = (*len as u64).min(LEN.saturating_sub(*at));
                let what = format!("shortcircuit {shortcircuit}: {len} bytes at {at}");
                expect(&what, (part.len() as u64, is_right(1, *at, part)), (want, true))?;
            }
        }
    }
    Ok(())
}

/// Of `/lost`, of which there is one replica, the second chunk is bad: ranges that touch it fail, and
/// take no neighbour with them.
pub fn one_that_is_bad(cluster: &Cluster) -> Outcome {
    let places = [(0, 100), (100, 412), (400, 200), (1020, 10), (1024, 500), (100_000, 50)];
    for settings in [&[SOON][..], &[SOON, NO_MAP], &[SOON, OFF]] {
        let reader = client(&cluster.conf(), settings)?.open("/lost").at("/lost")?;
        for _ in 0..2 {
            let mut parts: Vec<Vec<u8>> = places.iter().map(|(_, len)| vec![0; *len]).collect();
            let mut ranges: Vec<(u64, &mut [u8])> =
                places.iter().zip(&mut parts).map(|((at, _), part)| (*at, &mut part[..])).collect();
            let error = reader.read_ranges(&mut ranges).err().ok_or("bad bytes were read")?;
            expect(&error.to_string(), error.kind(), ErrorKind::Corrupt)?;
            for (number, ((at, _), part)) in places.iter().zip(&parts).enumerate() {
                let what = format!("{settings:?}: {} bytes at {at}", part.len());
                expect(&what, [2, 3].contains(&number) || is_right(6, *at, part), true)?;
            }
        }
    }
    Ok(())
}
