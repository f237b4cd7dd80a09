//! Folders change hands: a stopped node of one kind opens as the other kind, and back again.

use zerohop_interop::Kind::{Apache, Ours};
use zerohop_interop::script::swap::run;

/// Shows that the test asks nothing that Apache's own restart does not give.
#[test]
fn all_folders_apache_to_apache() {
    run("swap-apache", (Apache, Apache), (Apache, Apache));
}

#[test]
fn namenode_folder_apache_to_ours_and_back() {
    run("swap-nn-from-apache", (Apache, Apache), (Ours, Apache));
}

#[test]
fn namenode_folder_ours_to_apache_and_back() {
    run("swap-nn-from-ours", (Ours, Apache), (Apache, Apache));
}

#[test]
fn datanode_folders_apache_to_ours_and_back() {
    run("swap-dn-from-apache", (Apache, Apache), (Apache, Ours));
}

#[test]
fn datanode_folders_ours_to_apache_and_back() {
    run("swap-dn-from-ours", (Apache, Ours), (Apache, Apache));
}

#[test]
fn all_folders_ours_to_apache_and_back() {
    run("swap-all-from-ours", (Ours, Ours), (Apache, Apache));
}
