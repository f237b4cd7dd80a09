//! What a synced edit takes at least: a round trip on the loopback interface, and the sync of the second of three disks.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Instant;

use zerohop_interop::Outcome;
use zerohop_interop::harm::Explain;

/// As long as the record of a `mkdirs`, with its call.
const MESSAGE: [u8; 200] = [7; 200];

/// Round trips on the loopback interface, in seconds.
pub fn round_trips(count: usize) -> Outcome<Vec<f64>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).at("listener")?;
    let address = listener.local_addr().at("listener")?;
    std::thread::scope(|scope| {
        let echoes = scope.spawn(move || -> Outcome {
            let (mut stream, _) = listener.accept().at("accept")?;
            stream.set_nodelay(true).at("echo")?;
            let mut message = MESSAGE;
            (0..count).try_for_each(|_| {
                stream.read_exact(&mut message).and_then(|()| stream.write_all(&message)).at("echo")
            })
        });
        let mut stream = TcpStream::connect(address).at("connect")?;
        stream.set_nodelay(true).at("connect")?;
        let mut message = MESSAGE;
        let mut took = Vec::new();
        for _ in 0..count {
            let begun = Instant::now();
            let there = stream.write_all(&MESSAGE);
            there.and_then(|()| stream.read_exact(&mut message)).at("round trip")?;
            took.push(begun.elapsed().as_secs_f64());
        }
        echoes.join().map_err(|_| "the echo panicked".to_owned())??;
        Ok(took)
    })
}

/// Records are appended to three files at once and synced: when the second of them is on the disk, in seconds.
pub fn second_syncs(directory: &Path, count: usize) -> Outcome<Vec<f64>> {
    let open = |number: usize| {
        let path = directory.join(format!("synced-{number}"));
        let mut file = File::create(&path).at("file to sync")?;
        // As segments are: their blocks are allocated and written, so that a sync changes neither length nor extents.
        file.write_all(&vec![0xff; MESSAGE.len() * count]).at("file to sync")?;
        file.sync_all().and_then(|()| file.rewind()).at("file to sync")?;
        Ok(file)
    };
    let mut files = (0..3).map(open).collect::<Outcome<Vec<File>>>()?;
    let mut took = Vec::new();
    for _ in 0..count {
        let begun = Instant::now();
        let mut ends = std::thread::scope(|scope| {
            let synced: Vec<_> = (files.iter_mut())
                .map(|file| {
                    scope.spawn(move || -> Outcome<f64> {
                        file.write_all(&MESSAGE).and_then(|()| file.sync_data()).at("sync")?;
                        Ok(begun.elapsed().as_secs_f64())
                    })
                })
                .collect();
            let ended = synced.into_iter().map(|sync| sync.join());
            ended
                .map(|end| end.map_err(|_| "a sync panicked".to_owned())?)
                .collect::<Outcome<Vec<f64>>>()
        })?;
        ends.sort_by(f64::total_cmp);
        took.extend(ends.get(1));
    }
    Ok(took)
}
