//! `mover`: moves replicas to the types of storage that the policies of their files want, with the options and the
//! exit codes of Apache's.

use zerohop_balancer::{Cluster, ExitStatus, mover};
use zerohop_conf::Conf;

use crate::failure::{Failure, Kind, Outcome, complain};
use crate::fs::{Location, pop_flag};
use crate::moves::{self, Display};
use crate::settings::Settings;

pub const USAGE: &str = "Usage: mover [-p <path>... | -f <file>] [--json]
\tMoves replicas to the types of storage that the storage policies of their files want; all files, or those named.
\t-p <path>...\tfiles and directories, separated by blanks
\t-f <file>\ta local file with a path on each line
\t--json\tone object with the end
Exit codes: 0 all blocks are where they belong; 255 another mover runs; 254 some blocks have no place to go;
253 moves failed again and again; 252 a server failed; 251 the command line or a configured value is wrong.";

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let as_json = pop_flag("--json", &mut words);
    let done = paths(words).and_then(|paths| {
        let conf = settings.load_for_cluster()?;
        let clusters = clusters(&conf, &paths)?;
        move_all(&conf, &clusters, as_json)
    });
    done.unwrap_or_else(|failure| {
        if failure.kind == Kind::Usage {
            noteln!("mover: {failure}\n{USAGE}");
            return ExitStatus::IllegalArguments.code();
        }
        complain("mover", &failure)
    })
}

fn move_all(conf: &Conf, clusters: &[Cluster], as_json: bool) -> Outcome<i32> {
    moves::warn_of_ineffective_keys(conf, "dfs.mover.");
    let display = Display::new("mover", as_json);
    moves::run(conf, &display, took, async |stop| mover::run(conf, clusters, &display, stop).await)
}

/// As Java's `StringUtils.formatTime`.
fn took(ms: i64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let hours = if hours > 0 { format!("{hours}hrs, ") } else { String::new() };
    let minutes = if minutes > 0 { format!("{minutes}mins, ") } else { String::new() };
    format!("Mover took {hours}{minutes}{}sec", seconds % 60)
}

fn paths(words: Vec<String>) -> Outcome<Vec<String>> {
    let Some((option, values)) = words.split_first() else { return Ok(Vec::new()) };
    match (option.as_str(), values) {
        ("-p", []) => Err(Failure::usage("-p needs a path")),
        ("-p", paths) => match paths.iter().find(|path| path.starts_with('-')) {
            Some(other) => Err(Failure::usage(format!("{other} cannot stand beside -p"))),
            None => Ok(paths.to_vec()),
        },
        ("-f", [file]) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::usage(format!("-f {file}: {error}")))?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(lines.map(str::to_owned).collect())
        }
        ("-f", _) => Err(Failure::usage("-f needs one file")),
        (other, _) => Err(Failure::usage(format!("{other} is no option; -p and -f are"))),
    }
}

/// The clusters with the paths that are theirs; all clusters, where no path is named.
fn clusters(conf: &Conf, paths: &[String]) -> Outcome<Vec<Cluster>> {
    let mut all = moves::clusters(conf)?;
    for text in paths {
        let location = Location::parse(text);
        if !location.path.starts_with('/') {
            return Err(Failure::usage(format!("The path {text} is not absolute")));
        }
        let is_single = all.len() == 1;
        let is_named = |cluster: &Cluster| match location.place() {
            Some(place) => Location::parse(&cluster.uri).place().as_ref() == Some(&place),
            None => is_single,
        };
        let Some(cluster) = all.iter_mut().find(|cluster| is_named(cluster)) else {
            let uris: Vec<&str> = all.iter().map(|cluster| cluster.uri.as_str()).collect();
            return Err(Failure::usage(format!(
                "The path {text} is in none of the configured file systems: {}",
                uris.join(", ")
            )));
        };
        cluster.paths.push(location.path);
    }
    all.retain(|cluster| paths.is_empty() || !cluster.paths.is_empty());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn paths_come_from_the_command_line_or_from_a_file() {
        assert_eq!(paths(Vec::new()).unwrap(), Vec::<String>::new());
        assert_eq!(paths(words("-p /a /b")).unwrap(), ["/a", "/b"]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "/a b\n\n /c\n").unwrap();
        let name = file.path().to_str().unwrap().to_owned();
        assert_eq!(paths(vec!["-f".to_owned(), name]).unwrap(), ["/a b", "/c"]);
        for bad in ["-p", "-f", "-p /a -f x", "/a", "-f /no/such/file"] {
            assert_eq!(paths(words(bad)).unwrap_err().kind, Kind::Usage, "{bad}");
        }
    }

    #[test]
    fn each_path_goes_to_its_cluster() {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "hdfs://h:1");
        let of = |conf: &Conf, line: &str| clusters(conf, &words(line)).map_err(|f| f.text);
        let one = of(&conf, "/a hdfs://h:1/b").unwrap();
        assert_eq!(one[0].paths, ["/a", "/b"]);
        assert!(of(&conf, "a").is_err() && of(&conf, "hdfs://other/a").is_err());
        conf.set("dfs.nameservices", "x,y");
        assert_eq!(of(&conf, "").unwrap().len(), 1, "-fs names one that is no name service");
        conf.set("fs.defaultFS", "hdfs://x/");
        let both = of(&conf, "").unwrap();
        assert_eq!(both.len(), 2);
        let two = of(&conf, "hdfs://y/a").unwrap();
        assert_eq!(two, [Cluster { uri: "hdfs://y".to_owned(), paths: words("/a") }]);
        assert!(of(&conf, "/a").is_err(), "whose?");
    }

    #[test]
    fn times_as_hadoop_prints_them() {
        assert_eq!(took(9_700), "Mover took 9sec");
        assert_eq!(took(3_661_000), "Mover took 1hrs, 1mins, 1sec");
    }
}
