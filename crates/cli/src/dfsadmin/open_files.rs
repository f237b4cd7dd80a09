//! `-listOpenFiles`

use zerohop_conf::Conf;

use crate::failure::{Failure, Outcome};
use crate::fs::{client_failure, connect_at, connect_client};

pub fn run(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (fs, path) = match words.as_slice() {
        [] => (connect_client(conf)?, "/".to_owned()),
        ["-path", path] => connect_at(conf, path)?,
        ["-blockingDecommission"] => {
            return Err(Failure::unsupported("-blockingDecommission is not supported by zerohop"));
        }
        _ => return Err(Failure::usage("")),
    };
    let row =
        |machine: &str, client: &str, path: &str| sayln!("{machine:<20}\t{client:<20}\t{path}");
    row("Client Host", "Client Name", "Open File Path");
    let mut after = 0;
    loop {
        let (files, more) = fs.open_files(&path, after).map_err(client_failure)?;
        for file in &files {
            row(&file.client_machine, &file.client_name, &file.path);
        }
        match files.last().filter(|_| more) {
            Some(last) => after = last.id,
            None => return Ok(0),
        }
    }
}
