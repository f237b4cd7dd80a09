//! Where the DataNodes of this machine keep their blocks.

use std::path::{Path, PathBuf};

use zerohop_conf::Conf;

/// The directory of a cluster that `up` started: its client configuration lies in it, beside `data1`.
pub fn own_home() -> Option<PathBuf> {
    let home = Path::new(&std::env::var_os("HADOOP_CONF_DIR")?).parent()?.to_owned();
    home.join("data1").is_dir().then_some(home)
}

/// The DataNodes' directories on this machine, as far as the configuration or our own cluster tells.
pub fn data_directories(conf: &Conf, own_home: Option<&Path>) -> Vec<PathBuf> {
    if let Some(home) = own_home {
        return (1..)
            .map(|n| home.join(format!("data{n}")))
            .take_while(|dir| dir.is_dir())
            .collect();
    }
    let value = conf.get_raw("dfs.datanode.data.dir").unwrap_or_default();
    let directory = |entry: &str| {
        // `[SSD]file:///data/1`: a storage type and a scheme may stand in front.
        let path = entry.trim().rsplit(']').next()?;
        let path = path.strip_prefix("file:").unwrap_or(path);
        (!path.is_empty()).then(|| PathBuf::from(path.replacen("//", "", 1)))
    };
    value.split(',').filter_map(directory).collect()
}
