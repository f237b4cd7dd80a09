//! Directories change hands: a stopped node of one kind opens as the other kind, and back again.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod states;

use zerohop_interop::Kind::{Apache, Ours};
use zerohop_interop::script::swap::run;
use zerohop_interop::script::viewers::{Seen, look};

/// Shows that the test asks nothing that Apache's own restart does not give.
#[test]
fn all_directories_apache_to_apache() {
    run("swap-apache", (Apache, Apache), (Apache, Apache));
}

#[test]
fn namenode_directory_apache_to_ours_and_back() {
    run("swap-nn-from-apache", (Apache, Apache), (Ours, Apache));
}

#[test]
fn namenode_directory_ours_to_apache_and_back() {
    run("swap-nn-from-ours", (Ours, Apache), (Apache, Apache));
}

#[test]
fn datanode_directories_apache_to_ours_and_back() {
    run("swap-dn-from-apache", (Apache, Apache), (Apache, Ours));
}

#[test]
fn datanode_directories_ours_to_apache_and_back() {
    run("swap-dn-from-ours", (Apache, Ours), (Apache, Apache));
}

#[test]
fn all_directories_ours_to_apache_and_back() {
    run("swap-all-from-ours", (Ours, Ours), (Apache, Apache));
}

/// Apache's offline viewers read what both NameNodes leave after the same script, and see the same
/// kinds of operations and the same inodes in them.
#[test]
fn viewers_see_the_same_in_both_directories() {
    let apache = look("viewers-apache", Apache).unwrap_or_else(|e| panic!("{e}"));
    let ours = look("viewers-ours", Ours).unwrap_or_else(|e| panic!("{e}"));
    println!("Apache's: {:?}\nours: {:?}", apache.operations, ours.operations);
    let kinds = |seen: &Seen| seen.operations.keys().cloned().collect::<Vec<_>>();
    assert_eq!(kinds(&ours), kinds(&apache));
    assert_eq!(ours.inodes, apache.inodes);
}
