//! `-df` and `-du`

use serde_json::{Value, json};

use super::item::Item;
use super::options::Options;
use super::shell::Shell;
use super::store::MountUsage;
use crate::failure::Outcome;
use crate::units::{percent, size};

/// Rows with aligned columns, two blanks apart; the last column is not padded. Written here and not by comfy-table,
/// because Apache's shell counts a path's characters and not the columns that they take in a terminal.
struct Table {
    right: &'static [usize],
    rows: Vec<Vec<String>>,
}

impl Table {
    fn print(&self, shell: &mut Shell) -> Outcome {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut cells = Vec::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                cells.push(match column {
                    _ if self.right.contains(&column) => format!("{cell:>width$}"),
                    _ if column + 1 == columns => cell.clone(),
                    _ => format!("{cell:<width$}"),
                });
            }
            shell.line(cells.join("  "))?;
        }
        Ok(())
    }
}

fn or_here(mut paths: Vec<String>, default: &str) -> Vec<String> {
    if paths.is_empty() {
        paths.push(default.to_owned());
    }
    paths
}

pub fn df(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(0, usize::MAX, &["h"]).parse(args)?;
    let human = given.has("h");
    let header = ["Filesystem", "Size", "Used", "Available", "Use%", "Mounted on"];
    let header = header.map(str::to_owned).to_vec();
    let mut table = Table { right: &[1, 2, 3, 4], rows: vec![header] };
    let (mut values, mut shows_mounts) = (Vec::new(), true);
    shell.each_found(&or_here(given.rest, "/"), |_, item| {
        let usages = match item.store.mounts(&item.path)? {
            Some(mounts) => mounts,
            None => {
                shows_mounts = false;
                let (target, status) = (item.store.uri(), item.store.fs_status()?);
                vec![MountUsage { target, status, mounted_on: "/".to_owned() }]
            }
        };
        for MountUsage { target, status, mounted_on } in usages {
            values.push(json!({
                "filesystem": target, "capacity": status.capacity, "used": status.used,
                "remaining": status.remaining,
            }));
            table.rows.push(vec![
                target,
                size(status.capacity, human),
                size(status.used, human),
                size(status.remaining, human),
                percent(status.used as f64, status.capacity as f64, 0),
                mounted_on,
            ]);
        }
        Ok(())
    })?;
    if !shows_mounts {
        table.rows.iter_mut().for_each(|row| row.truncate(5));
    }
    match () {
        () if shell.json => shell.json_line(&Value::Array(values)),
        () if table.rows.len() > 1 => table.print(shell),
        () => Ok(()),
    }
}

/// As `-du -s`.
pub fn dus(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    args.insert(0, "-s".to_owned());
    du(shell, args)
}

pub fn du(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(0, usize::MAX, &["h", "s", "v", "x"]).parse(args)?;
    let paths = or_here(std::mem::take(&mut given.rest), ".");
    let mut sizes = Vec::new();
    let mut add = |item: &Item| -> Outcome {
        let sum = item.store.summary(&item.path)?;
        let (mut length, mut space) = (sum.length, sum.space_consumed);
        if given.has("x") {
            length -= sum.snapshot_length;
            space -= sum.snapshot_space;
        }
        sizes.push((length, space, item.text.clone()));
        Ok(())
    };
    shell.each_found(&paths, |shell, item| {
        if given.has("s") || !item.is_dir() {
            return add(item);
        }
        for status in item.store.list_all(&item.path)? {
            let one = add(&item.listed(status));
            shell.note(one)?;
        }
        Ok(())
    })?;
    if shell.json {
        let value =
            |(length, space, path)| json!({"path": path, "length": length, "spaceConsumed": space});
        return shell.json_line(&Value::Array(sizes.into_iter().map(value).collect()));
    }
    let human = given.has("h");
    let mut table = Table { right: &[], rows: Vec::new() };
    if given.has("v") && !sizes.is_empty() {
        let header = ["SIZE", "DISK_SPACE_CONSUMED_WITH_ALL_REPLICAS", "FULL_PATH_NAME"];
        table.rows.push(header.map(str::to_owned).to_vec());
    }
    for (length, space, path) in sizes {
        table.rows.push(vec![size(length, human), size(space, human), path]);
    }
    table.print(shell)
}
