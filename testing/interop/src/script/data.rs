//! Steps that move file content.

use super::row::{BLOCK, Row};
use super::servers::Servers;
use crate::{Outcome, content};

/// Lengths around the edges of chunks, packets and blocks.
const LENGTHS: [u64; 12] =
    [0, 1, 511, 512, 513, 65_535, 65_536, 65_537, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 524_289];

pub(super) fn create(row: &mut Row<impl Servers>) -> Outcome {
    row.client.gives(&["mkdir", "/create/deep/er"], &["true"])?;
    for (seed, len) in (1..).zip(LENGTHS) {
        let path = format!("/create/f{len}");
        row.put(&path, seed, len, 2)?;
        row.read_by_all(&path, seed, len)?;
    }
    exclusive(row)?;
    // Overwriting replaces the content at once.
    row.put("/create/f512", 99, 700, 1)?;
    row.read_by_all("/create/f512", 99, 700)
}

fn exclusive(row: &mut Row<impl Servers>) -> Outcome {
    let block = BLOCK.to_string();
    let again = ["create", "w", "/create/f1", "1", &block, "false"];
    row.client.fails("", &again, "FileAlreadyExistsException")?;
    let dir = ["create", "w", "/create/deep", "1", &block, "true"];
    row.client.fails("", &dir, "FileAlreadyExistsException")?;
    let below_file = ["create", "w", "/create/f1/x", "1", &block, "true"];
    row.client.fails("", &below_file, "ParentNotDirectoryException")?;
    row.client.fails("", &["read", "/create/none", "0", "-1"], "FileNotFoundException")?;
    Ok(())
}

pub(super) fn append(row: &mut Row<impl Servers>) -> Outcome {
    // From each start length, over a chunk's edge, a block's edge, and from an exact block end.
    let cases: [(u64, u64); 5] =
        [(0, 100), (100, 1000), (512, 512), (BLOCK - 10, 5000), (BLOCK, 70_000)];
    for (i, (start, more)) in cases.into_iter().enumerate() {
        let (path, seed) = (format!("/append/f{i}"), 100 + i as u64);
        row.put(&path, seed, start, 3)?;
        row.client.ok(&["append", "a", &path])?;
        let end = (start + more).to_string();
        row.client.gives(&["write", "a", &more.to_string(), &seed.to_string()], &[&end])?;
        row.client.ok(&["close", "a"])?;
        row.keep(&path, seed, start + more);
        row.read_by_all(&path, seed, start + more)?;
    }
    row.client.fails("", &["append", "a", "/append/none"], "FileNotFoundException")?;
    row.client.fails(
        "",
        &["append", "a", "/append"],
        "FileNotFoundException|FileAlreadyExistsException",
    )?;
    append_by_another(row)
}

/// Another client goes on where this one ended.
fn append_by_another(row: &mut Row<impl Servers>) -> Outcome {
    row.put("/append/shared", 150, 1000, 3)?;
    let mut len = 1000;
    for other in &mut row.others {
        other.ok(&["append", "a", "/append/shared"])?;
        other.ok(&["write", "a", "777", "150"])?;
        other.ok(&["close", "a"])?;
        len += 777;
    }
    row.keep("/append/shared", 150, len);
    row.read_by_all("/append/shared", 150, len)
}

pub(super) fn hflush(row: &mut Row<impl Servers>) -> Outcome {
    let (path, block) = ("/hflush/f", BLOCK.to_string());
    row.client.ok(&["create", "w", path, "3", &block, "true"])?;
    let mut len = 0;
    for (more, sync) in [(1, "hflush"), (511, "hsync"), (70_000, "hflush"), (BLOCK, "hsync")] {
        row.client.ok(&["write", "w", &more.to_string(), "7"])?;
        row.client.ok(&[sync, "w"])?;
        len += more;
        // What was flushed is what everybody reads while the file is still open.
        let (bytes, crc) = (len.to_string(), content::crc(7, 0, len));
        for other in &mut row.others {
            other.gives(&["read", path, "0", &bytes], &[&bytes, &crc])?;
            other.gives(&["isclosed", path], &["false"])?;
        }
    }
    row.client.ok(&["close", "w"])?;
    row.keep(path, 7, len);
    row.read_by_all(path, 7, len)
}

pub(super) fn positioned(row: &mut Row<impl Servers>) -> Outcome {
    let len = 3 * BLOCK + 1000;
    row.put("/pread/f", 8, len, 2)?;
    let parts: [(u64, u64); 6] = [
        (0, 10),
        (BLOCK - 5, 10),
        (1000, 2 * BLOCK),
        (len - 100, 100),
        (513, 1),
        (BLOCK * 2 + 511, 1025),
    ];
    for client in row.everyone() {
        client.ok(&["open", "r", "/pread/f"])?;
        for (offset, count) in parts {
            let expected = [count.to_string(), content::crc(8, offset, count)];
            client.gives(
                &["pread", "r", &offset.to_string(), &count.to_string()],
                &[&expected[0], &expected[1]],
            )?;
        }
        // The stream's own position did not move.
        client.gives(&["next", "r", "600"], &["600", &content::crc(8, 0, 600)])?;
        client.ok(&["rclose", "r"])?;
        let tail = [(len - 700).to_string(), content::crc(8, 700, len - 700)];
        client.gives(&["read", "/pread/f", "700", "-1"], &[&tail[0], &tail[1]])?;
    }
    Ok(())
}

pub(super) fn truncate(row: &mut Row<impl Servers>) -> Outcome {
    let len = 2 * BLOCK + 5000;
    for (i, to) in [2 * BLOCK, BLOCK, BLOCK + 700, 100, 0].into_iter().enumerate() {
        let (path, seed) = (format!("/truncate/f{i}"), 200 + i as u64);
        row.put(&path, seed, len, 3)?;
        let at_once = row.client.ok(&["truncate", &path, &to.to_string()])?;
        if (at_once[0] == "true") != (to % BLOCK == 0) {
            return Err(format!("truncate of {path} to {to} said {at_once:?}"));
        }
        row.keep(&path, seed, to);
        row.wait_closed(&path)?;
        row.read_by_all(&path, seed, to)?;
    }
    let message = "HadoopIllegalArgumentException";
    row.client.fails("", &["truncate", "/truncate/f3", "101"], message)?;
    // An appended file goes on from the new end.
    row.client.ok(&["append", "a", "/truncate/f2"])?;
    row.client.ok(&["write", "a", "900", "202"])?;
    row.client.ok(&["close", "a"])?;
    row.keep("/truncate/f2", 202, BLOCK + 1600);
    row.read_by_all("/truncate/f2", 202, BLOCK + 1600)
}

pub(super) fn concat(row: &mut Row<impl Servers>) -> Outcome {
    // Equal content seeds would need offsets: the parts are checked one by one.
    let parts = [(1, BLOCK), (2, BLOCK), (3, 12_345)];
    for (seed, len) in parts {
        row.put(&format!("/concat/p{seed}"), seed, len, 2)?;
    }
    row.client.ok(&["concat", "/concat/p1", "/concat/p2", "/concat/p3"])?;
    let mut at = 0;
    for (seed, len) in parts {
        row.forget(&format!("/concat/p{seed}"));
        let (bytes, crc) = (len.to_string(), content::crc(seed, 0, len));
        for client in row.everyone() {
            client.gives(&["read", "/concat/p1", &at.to_string(), &bytes], &[&bytes, &crc])?;
        }
        at += len;
    }
    row.client.gives(&["exists", "/concat/p2"], &["false"])?;
    row.client.fails("", &["concat", "/concat/p1", "/concat/none"], "FileNotFoundException")?;
    Ok(())
}

pub(super) fn checksum(row: &mut Row<impl Servers>) -> Outcome {
    for (name, len) in [("empty", 0), ("small", 1000), ("blocks", 3 * BLOCK + 77)] {
        let path = format!("/checksum/{name}");
        row.put(&path, 11, len, 3)?;
        row.put(&format!("{path}2"), 11, len, 1)?;
        let first = row.client.ok(&["checksum", &path])?;
        for client in row.everyone() {
            for path in [path.clone(), format!("{path}2")] {
                let sum = client.ok(&["checksum", &path])?;
                if sum != first {
                    return Err(format!(
                        "{:?} client: {path}: {sum:?}, not {first:?}",
                        client.kind
                    ));
                }
            }
        }
    }
    let known = row.client.ok(&["checksum", "/checksum/blocks"])?;
    row.put("/checksum/other", 12, 3 * BLOCK + 77, 1)?;
    match row.client.ok(&["checksum", "/checksum/other"])? == known {
        true => Err("different content, equal checksums".to_owned()),
        false => Ok(()),
    }
}

pub(super) fn leases(row: &mut Row<impl Servers>) -> Outcome {
    let (path, block) = ("/lease/f", BLOCK.to_string());
    row.client.ok(&["create", "w", path, "3", &block, "true"])?;
    row.client.ok(&["write", "w", "5000", "9"])?;
    row.client.ok(&["hflush", "w"])?;
    let other = &mut row.others[0];
    let busy = "AlreadyBeingCreatedException|RecoveryInProgressException";
    other.fails("", &["append", "a", path], busy)?;
    // Whoever recovers the lease gets the file as far as it was flushed.
    other.ok(&["recoverlease", path])?;
    row.wait_closed(path)?;
    row.keep(path, 9, 5000);
    row.read_by_all(path, 9, 5000)?;
    // The old writer has lost the file: its next packet or its close says so.
    let written = row.client.ask("", &["write", "w", "10", "9"])?;
    if written.is_ok() {
        let lost = "LeaseExpiredException|FileNotFoundException|IOException|RemoteException";
        row.client.fails("", &["close", "w"], lost)?;
    }
    row.read_by_all(path, 9, 5000)
}

pub(super) fn pipeline(row: &mut Row<impl Servers>) -> Outcome {
    row.put("/pipeline/f", 13, 3 * BLOCK + 4321, 3)?;
    row.wait_replicas("/pipeline/f", 3)?;
    row.read_by_all("/pipeline/f", 13, 3 * BLOCK + 4321)?;
    row.put("/pipeline/four", 14, 100_000, 4)?;
    row.wait_replicas("/pipeline/four", 4)
}

pub(super) fn replication(row: &mut Row<impl Servers>) -> Outcome {
    let path = "/setrep/f";
    row.put(path, 15, 2 * BLOCK + 99, 1)?;
    row.wait_replicas(path, 1)?;
    for replicas in [3, 4, 2, 1] {
        row.client.gives(&["setrep", path, &replicas.to_string()], &["true"])?;
        row.wait_replicas(path, replicas)?;
        row.read_by_all(path, 15, 2 * BLOCK + 99)?;
    }
    row.client.gives(&["setrep", "/setrep/none", "2"], &["false"])
}
