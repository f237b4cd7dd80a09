//! Calls of `FileSystem`.

use std::sync::Arc;

use zerohop_client::{
    AclEntry, AppendOptions, CacheDirective, CachePool, CreateOptions, DatanodeReportType,
    OpenOptions, RenameOptions, RollingUpgradeAction, SafeModeAction, SnapshotDiffCursor,
    StorageType, XAttrFlags,
};

use crate::given_up::{Again, Case, Place};

/// Calls of methods of `FileSystem` in a place.
macro_rules! calls {
    ($place:ident $again:ident: $($method:ident($($argument:expr),*);)*) => {
        vec![$(Case {
            method: concat!("FileSystem::", stringify!($method)),
            again: Again::$again,
            call: Box::new(|$place: Arc<Place>| Box::pin(async move {
                // Not every call names a path.
                let _ = &$place;
                $place.fs.$method($($argument),*).await.map(drop)
            })),
        }),*]
    };
}

pub fn cases() -> Vec<Case> {
    let all =
        [looks(), paths(), attributes(), snapshots_and_policies(), caching(), administration()];
    all.into_iter().flatten().collect()
}

/// They change nothing.
fn looks() -> Vec<Case> {
    calls! { p Succeeds:
        status(&p.path("f"));
        located_status(&p.path("f"));
        link_status(&p.path("f"));
        exists(&p.path("f"));
        block_locations(&p.path("f"), 0, 10);
        open(&p.path("f"));
        open_with(&p.path("f"), OpenOptions::default());
        is_file_closed(&p.path("f"));
        checksum(&p.path("f"));
        checksum_of(&p.path("f"), 3);
        list(&p.directory);
        located_list(&p.directory);
        access(&p.path("f"), 4);
        acl_status(&p.path("f"));
        xattrs(&p.path("f"));
        list_xattrs(&p.path("f"));
        snapshottable_directories();
        content_summary(&p.directory);
        quota_usage(&p.directory);
        fs_stats();
        server_defaults();
        datanode_report(DatanodeReportType::Live);
        slow_datanodes();
        datanode_storage_report(DatanodeReportType::Live);
        safe_mode(SafeModeAction::SafemodeGet);
        corrupt_files(&p.directory, "");
        open_files(&p.directory, 0);
        storage_policy(&p.path("f"));
        storage_policies();
        erasure_coding_policy(&p.path("f"));
        erasure_coding_policies();
        erasure_coding_codecs();
        cache_pools();
        cache_directives(&CacheDirective::default());
    }
}

fn paths() -> Vec<Case> {
    let mut repeatable = calls! { p Succeeds:
        mkdirs(&p.path("new/er"));
        mkdirs_with(&p.path("newer"), 0o700, true);
        mkdirs_masked(&p.path("newest"), 0o700, 0o777, true);
        delete(&p.path("f"), false);
        rename(&p.path("f"), &p.path("h"));
        recover_lease(&p.path("f"));
    };
    repeatable.extend(calls! { p MayBeRefused:
        rename2(&p.path("f"), &p.path("h"), RenameOptions::default());
        truncate(&p.path("f"), 0);
        concat(&p.path("f"), &[p.path("g")]);
        create_symlink(&p.path("f"), &p.path("l"), false);
        link_target(&p.path("f"));
        is_active();
    });
    // What they open is closed: a writer that is dropped keeps its lease.
    repeatable.push(Case {
        method: "FileSystem::append",
        again: Again::Succeeds,
        call: Box::new(|p| {
            Box::pin(async move {
                p.fs.append(&p.path("f"), AppendOptions::default()).await?.close().await
            })
        }),
    });
    repeatable.push(Case {
        method: "FileSystem::create",
        again: Again::MayBeRefused,
        call: Box::new(|p| {
            Box::pin(async move {
                p.fs.create(&p.path("new"), CreateOptions::default()).await?.close().await
            })
        }),
    });
    repeatable
}

fn attributes() -> Vec<Case> {
    let entries = || vec![AclEntry::parse("user:ann:r-x", true).unwrap()];
    let mut cases = calls! { p Succeeds:
        set_permission(&p.path("f"), 0o600);
        set_owner(&p.path("f"), Some("ann"), None);
        set_times(&p.path("f"), Some(1000), None);
        set_replication(&p.path("f"), 2);
        set_xattr(&p.path("f"), "user.a", b"x", XAttrFlags::default());
        remove_default_acl(&p.path("d"));
        remove_acl(&p.path("d"));
        set_quota(&p.path("d"), Some(Some(10)), None);
        set_type_quota(&p.path("d"), StorageType::Ssd, Some(1 << 30));
    };
    cases.extend(calls! { p MayBeRefused:
        xattr(&p.path("f"), "user.none");
        remove_xattr(&p.path("f"), "user.none");
    });
    let acl = move |method, call: fn(Arc<Place>, Vec<AclEntry>) -> crate::files::Doing| Case {
        method,
        again: Again::MayBeRefused,
        call: Box::new(move |place| call(place, entries())),
    };
    cases.extend([
        acl("FileSystem::set_acl", |p, entries| {
            let others = ["user::rwx", "group::r-x", "other::r-x"];
            let others = others.iter().map(|text| AclEntry::parse(text, true).unwrap());
            let all: Vec<AclEntry> = entries.into_iter().chain(others).collect();
            Box::pin(async move { p.fs.set_acl(&p.path("f"), &all).await })
        }),
        acl("FileSystem::modify_acl", |p, entries| {
            Box::pin(async move { p.fs.modify_acl(&p.path("f"), &entries).await })
        }),
        acl("FileSystem::remove_acl_entries", |p, entries| {
            Box::pin(async move { p.fs.remove_acl_entries(&p.path("f"), &entries).await })
        }),
    ]);
    cases
}

fn snapshots_and_policies() -> Vec<Case> {
    let mut cases = calls! { p Succeeds:
        set_storage_policy(&p.path("d"), "HOT");
        unset_storage_policy(&p.path("d"));
    };
    // Nothing there has snapshots or is erasure coded: what matters is that every call is answered.
    cases.extend(calls! { p MayBeRefused:
        allow_snapshot(&p.path("d"), true);
        create_snapshot(&p.path("d"), Some("s"));
        delete_snapshot(&p.path("d"), "s");
        rename_snapshot(&p.path("d"), "s", "t");
        snapshots(&p.path("d"));
        snapshot_diff(&p.path("d"), "s", "");
        snapshot_diff_page(&p.path("d"), "s", "", SnapshotDiffCursor::default());
        satisfy_storage_policy(&p.path("d"));
        enable_erasure_coding_policy("XOR-2-1-1024k", true);
        set_erasure_coding_policy(&p.path("d"), Some("XOR-2-1-1024k"));
        unset_erasure_coding_policy(&p.path("d"));
    });
    cases
}

fn caching() -> Vec<Case> {
    calls! { p MayBeRefused:
        add_cache_pool(&CachePool::new(p.directory.replace('/', "-")));
        modify_cache_pool(&CachePool::new("none"));
        remove_cache_pool("none");
        add_cache_directive(&directive_of(&p, None), false);
        modify_cache_directive(&directive_of(&p, Some(1)), false);
        remove_cache_directive(1);
    }
}

fn directive_of(place: &Place, id: Option<i64>) -> CacheDirective {
    let mut directive = CacheDirective::default();
    (directive.path, directive.pool) = (Some(place.path("f")), Some("none".to_owned()));
    directive.id = id;
    directive
}

fn administration() -> Vec<Case> {
    let mut cases = calls! { p Succeeds:
        roll_edits();
        refresh_nodes();
        set_balancer_bandwidth(1 << 20);
        restore_failed_storage("check");
        finalize_upgrade();
    };
    // Images are saved in safe mode alone.
    cases.extend(calls! { p MayBeRefused:
        metasave("given-up.txt");
        save_namespace();
        save_namespace_if_older(1, 1);
        rolling_upgrade(RollingUpgradeAction::Query);
    });
    cases
}
