//! One kind's directories under the other kind's daemons: what stopped as the first starts as the
//! second, with the same files in it, and back again.

use super::row::{BLOCK, Row, same};
use crate::{Kind, Outcome};

/// Whose NameNode and whose DataNodes.
pub type Cast = (Kind, Kind);

/// Both kinds write images in parts, and Apache's NameNode loads them by several threads.
const IMAGES_IN_PARTS: [(&str, &str); 3] = [
    ("dfs.image.parallel.load", "true"),
    ("dfs.image.parallel.inode.threshold", "1"),
    ("dfs.image.parallel.target.sections", "3"),
];

/// Fills a cluster of `first`, opens its directories as `second` (from edits alone), changes things,
/// saves an image, and opens it as `first` again (from image and edits). Apache's client judges.
pub fn run(name: &str, first: Cast, second: Cast) {
    let outcome =
        Row::start_with(name, Kind::Apache, first, &IMAGES_IN_PARTS).and_then(|mut row| {
            row.cluster.keep_logs = true;
            there_and_back(&mut row, first, second)?;
            row.cluster.keep_logs = false;
            Ok(())
        });
    outcome.unwrap_or_else(|e| panic!("{name}: {e}"));
}

fn there_and_back(row: &mut Row, first: Cast, second: Cast) -> Outcome {
    // Ours would only read here what Apache's client reads; it has rows of its own.
    row.others.truncate(1);
    row.fill().map_err(|e| format!("on {first:?}: {e}"))?;
    change_hands(row, second)?;
    go_on(row, "second", 500).map_err(|e| format!("on {second:?}: {e}"))?;
    row.save_namespace()?;
    go_on(row, "third", 510).map_err(|e| format!("after the image of {second:?}: {e}"))?;
    change_hands(row, first)?;
    go_on(row, "fourth", 520).map_err(|e| format!("back on {first:?}: {e}"))
}

fn change_hands(row: &mut Row, to: Cast) -> Outcome {
    let before = row.fingerprint()?;
    row.cluster.stop_all()?;
    row.cluster.start_all(to.0, to.1).map_err(|e| format!("start as {to:?}: {e}"))?;
    row.reconnect()?;
    same(&before, &row.fingerprint()?).map_err(|e| format!("as {to:?}: {e}"))?;
    row.read_all_kept().map_err(|e| format!("as {to:?}: {e}"))
}

/// New files, and changes to files that the other kind wrote.
fn go_on(row: &mut Row, name: &str, seed: u64) -> Outcome {
    row.put(&format!("/swap/{name}"), seed, 2 * BLOCK + 3, 3)?;
    let other = format!("/swap/{name}-more");
    row.put(&other, seed + 1, 1234, 2)?;
    let old = "/create/f513";
    let len: u64 = row.client.ok(&["stat", old])?[1].parse().map_err(|e| format!("{e}"))?;
    row.client.ok(&["append", "a", old])?;
    row.client.ok(&["write", "a", "1000", "5"])?;
    row.client.ok(&["close", "a"])?;
    row.keep(old, 5, len + 1000);
    row.read_by_all(old, 5, len + 1000)?;
    row.client.ok(&["truncate", &other, "700"])?;
    row.keep(&other, seed + 1, 700);
    row.wait_closed(&other)?;
    row.client.ok(&["delete", "/create/f1", "false"])?;
    row.put("/create/f1", seed + 2, 1, 2)?;
    row.read_all_kept()
}
