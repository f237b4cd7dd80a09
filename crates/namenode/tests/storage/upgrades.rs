//! What Apache's upgrades leave.

use super::*;

/// Its `previous` is the way back, and DataNodes that report to a NameNode without one throw theirs away.
#[test]
fn an_upgrade_that_is_not_finalized_is_not_taken_over() {
    let directories = Directories::formatted(2);
    let previous = directories.path(1, "../previous");
    fs::create_dir(&previous).unwrap();
    refused(directories.open(), "hdfs dfsadmin -finalizeUpgrade");
    fs::remove_dir(&previous).unwrap();
    directories.open().unwrap();
}

#[test]
fn an_older_layout_is_upgraded_when_asked() {
    let mut directories = Directories::formatted(1);
    let version = fs::read_to_string(directories.path(0, "VERSION")).unwrap();
    fs::write(
        directories.path(0, "VERSION"),
        version.replace("layoutVersion=-67", "layoutVersion=-63"),
    )
    .unwrap();
    refused(directories.open(), "old layout version -63");
    directories.config.accepts_older_layout = true;
    let (storage, report, _) = directories.load().unwrap();
    assert!(report.needs_save);
    storage.save_image(0, image_of(0)).unwrap();
    drop(storage);
    let version = fs::read_to_string(directories.path(0, "VERSION")).unwrap();
    assert!(version.contains("layoutVersion=-67"), "{version}");
}
