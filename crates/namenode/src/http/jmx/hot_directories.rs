//! HotDirectories, a bean of ours: the directories that calls are about, for `zerohop top`.

use crate::core::Core;
use crate::hot_directories::HotDirectories;
use serde_json::{Value, json};
use zerohop_daemon::http::bean;

/// Directories that are listed.
const DIRECTORIES_MAX: usize = 50;

pub(super) fn bean_of(core: &Core) -> Value {
    let hottest = core.hot_directories.hottest(DIRECTORIES_MAX, core.clock.now().mono_ms);
    let entry = |(path, count): (String, u64)| json!({ "path": path, "count": count });
    bean(
        "Hadoop:service=NameNode,name=HotDirectories",
        "HotDirectories",
        json!({
            "WindowLenMs": HotDirectories::WINDOW_MS,
            "Directories": hottest.into_iter().map(entry).collect::<Vec<_>>(),
        }),
    )
}
