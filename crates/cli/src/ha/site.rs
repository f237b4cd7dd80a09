//! The files of a configuration directory.

use std::path::Path;

use zerohop_conf::site_xml;

use crate::failure::{Failure, Outcome};

/// Writes core-site.xml and hdfs-site.xml with these names and values; makes the directory if need be.
pub fn write_site<'a>(
    directory: &Path,
    settings: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Outcome {
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::io(format!("cannot make {}: {error}", directory.display())))?;
    for (name, of_core) in [("core-site.xml", true), ("hdfs-site.xml", false)] {
        let of_file = settings.clone().filter(|(name, _)| name.starts_with("dfs.") != of_core);
        write(&directory.join(name), &site_xml(of_file))?;
    }
    Ok(())
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Outcome {
    zerohop_system::files::write(path, text)
        .map_err(|error| Failure::io(format!("cannot write {}: {error}", path.display())))
}
