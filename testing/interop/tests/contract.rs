//! Apache's FileSystem contract tests, a Rust test a contract class. The same classes run over
//! Apache's own cluster first, which shows that a failure on ours is ours.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::sync::OnceLock;

use zerohop_interop::contract::{CLASSES, Case, run};
use zerohop_interop::{Kind, Outcome};

/// All cases of one kind of cluster; the first test that asks runs them.
fn cases(kind: Kind) -> Outcome<&'static Vec<Case>> {
    static APACHE: OnceLock<Outcome<Vec<Case>>> = OnceLock::new();
    static OURS: OnceLock<Outcome<Vec<Case>>> = OnceLock::new();
    let cell = if kind == Kind::Apache { &APACHE } else { &OURS };
    cell.get_or_init(|| run(kind, &CLASSES)).as_ref().map_err(Clone::clone)
}

/// Passes if the class passed; a class of which every test is skipped proves nothing and fails.
fn check(kind: Kind, class: &str) {
    let all = cases(kind).unwrap_or_else(|e| panic!("{e}"));
    let prefix = format!("{class}#");
    let own: Vec<&Case> = all.iter().filter(|c| c.name.starts_with(&prefix)).collect();
    let count = |verdict: &str| own.iter().filter(|c| c.verdict == verdict).count();
    println!("{class}: {} passed, {} skipped", count("pass"), count("skip"));
    let failed: Vec<String> = own
        .iter()
        .filter(|c| c.verdict == "fail")
        .map(|c| format!("{}: {}", c.name, c.reason))
        .collect();
    assert!(failed.is_empty(), "{} of {} failed\n{}", failed.len(), own.len(), failed.join("\n"));
    assert!(count("pass") > 0, "no test of {class} ran");
}

macro_rules! contract {
    ($($name:ident $class:literal)*) => {
        mod apache {
            $(#[test] fn $name() { super::check(super::Kind::Apache, $class); })*
        }
        mod ours {
            $(#[test] fn $name() { super::check(super::Kind::Ours, $class); })*
        }
        /// No class is left without a test.
        #[test]
        fn every_class_has_a_test() {
            assert_eq!([$($class),*], CLASSES);
        }
    };
}

contract! {
    append "Append"
    bulk_delete "BulkDelete"
    concat "Concat"
    content_summary "ContentSummary"
    copy_from_local "CopyFromLocal"
    create "Create"
    delete "Delete"
    get_file_status "GetFileStatus"
    lease_recovery "LeaseRecovery"
    mkdir "Mkdir"
    multipart_uploader "MultipartUploader"
    open "Open"
    path_handle "PathHandle"
    rename "Rename"
    root_directory "RootDirectory"
    safe_mode "SafeMode"
    seek "Seek"
    set_times "SetTimes"
    unbuffer "Unbuffer"
    vectored_read "VectoredRead"
}
