//! The options that every command takes: where the configuration comes from and what is changed in it.

use std::path::PathBuf;

use zerohop_conf::{Conf, keys};

use crate::failure::{Failure, Outcome};
use crate::running;

/// What the command line says about the configuration.
#[derive(Debug, Default, Clone)]
pub struct Settings {
    pub directory: Option<PathBuf>,
    pub files: Vec<PathBuf>,
    pub values: Vec<(String, String)>,
    /// Called as `hdfs` or `hadoop`: without a configuration the local disk is meant, as Apache's.
    pub as_apache: bool,
}

/// Hadoop's options about jobs: taken and of no use here.
const IGNORED: [&str; 5] = ["-jt", "-files", "-libjars", "-archives", "-tokenCacheFile"];

impl Settings {
    /// Takes the options off the front of the arguments.
    pub fn take(&mut self, args: &mut Vec<String>) -> Outcome {
        while let Some(word) = args.first().cloned() {
            let word = word.as_str();
            let mut value = || {
                args.remove(0);
                match args.is_empty() {
                    true => Err(Failure::usage(format!("{word} needs a value"))),
                    false => Ok(args.remove(0)),
                }
            };
            match word {
                "--config" => self.directory = Some(value()?.into()),
                "-conf" | "--conf" => self.files.push(value()?.into()),
                "-fs" | "--fs" => self.values.push(("fs.defaultFS".to_owned(), value()?)),
                "-D" => self.define(&value()?)?,
                "--loglevel" => drop(value()?),
                _ if IGNORED.contains(&word) => drop(value()?),
                _ => {
                    let joined = word.strip_prefix("-D").filter(|rest| rest.contains('='));
                    match (joined, word.strip_prefix("--config=")) {
                        (Some(pair), _) => self.define(pair)?,
                        (None, Some(directory)) => self.directory = Some(directory.into()),
                        (None, None) => return Ok(()),
                    }
                    args.remove(0);
                }
            }
        }
        Ok(())
    }

    /// Takes the options from wherever they stand: for verbs that have no such words of their own.
    pub fn take_all(&mut self, args: &mut Vec<String>) -> Outcome {
        let mut own = Vec::new();
        loop {
            self.take(args)?;
            if args.is_empty() {
                *args = own;
                return Ok(());
            }
            own.push(args.remove(0));
        }
    }

    /// Takes `--config DIR` off the end of the arguments, where people append it to a command that found no cluster. No
    /// command has such words of its own.
    pub fn take_from_end(&mut self, args: &mut Vec<String>) {
        if let [.., before, _] = args.as_slice()
            && before == "--config"
        {
            self.directory = args.pop().map(PathBuf::from);
            args.pop();
        }
    }

    fn define(&mut self, pair: &str) -> Outcome {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "-D {pair}: a key and its value are needed, as -D dfs.replication=2"
            ))
        })?;
        self.values.push((name.trim().to_owned(), value.to_owned()));
        Ok(())
    }

    /// The configuration with all that was said about it.
    pub fn load(&self) -> Outcome<Conf> {
        let conf = match &self.directory {
            Some(directory) => Conf::load(directory)?,
            None => Conf::from_env()?,
        };
        self.apply(conf)
    }

    /// As [`Self::load`]; where nothing names a cluster, the one that this user's `zerohop up` runs on
    /// this machine. Without exactly one such, the default file system is one that [`running::check_named`] refuses.
    pub fn load_for_cluster(&self) -> Outcome<Conf> {
        let mut conf = self.load()?;
        let is_named = conf.directory().is_some() || conf.is_set(keys::FS_DEFAULTFS.name);
        if self.as_apache || is_named {
            return Ok(conf);
        }
        match zerohop_conf::running::clusters().as_slice() {
            [cluster] => self.apply(Conf::load(cluster)?),
            _ => {
                conf.set(keys::FS_DEFAULTFS.name, running::UNNAMED);
                Ok(conf)
            }
        }
    }

    /// Lays files and values over a configuration.
    pub fn apply(&self, mut conf: Conf) -> Outcome<Conf> {
        for file in &self.files {
            conf.add_file(file)?;
        }
        for (name, value) in &self.values {
            conf.set_option(name, value);
        }
        Ok(conf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_stand_anywhere() {
        let words = "--format --config /c -force -D a=1";
        let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut settings = Settings::default();
        settings.take_all(&mut args).unwrap();
        assert_eq!(args, ["--format", "-force"]);
        assert_eq!(settings.directory, Some(PathBuf::from("/c")));
        assert_eq!(settings.values, [("a".to_owned(), "1".to_owned())]);
    }

    /// "choose one: --config DIR" was appended to a command, and taken for two paths.
    #[test]
    fn a_directory_appended_to_a_command_is_no_path() {
        let words = "fs -ls / --config /c";
        let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut settings = Settings::default();
        settings.take_from_end(&mut args);
        assert_eq!(args, ["fs", "-ls", "/"]);
        assert_eq!(settings.directory, Some(PathBuf::from("/c")));
        settings.take_from_end(&mut args);
        assert_eq!(args, ["fs", "-ls", "/"]);
    }

    #[test]
    fn options_end_at_the_command() {
        let words = "-D a=1 -Db=2=3 -fs hdfs://h:1 --config /c -jt x -ls -D c=4";
        let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut settings = Settings::default();
        settings.take(&mut args).unwrap();
        assert_eq!(args, ["-ls", "-D", "c=4"]);
        let pairs: Vec<_> = settings.values.iter().map(|(a, b)| format!("{a}={b}")).collect();
        assert_eq!(pairs, ["a=1", "b=2=3", "fs.defaultFS=hdfs://h:1"]);
        assert!(settings.take(&mut vec!["-D".to_owned()]).is_err());
        assert!(settings.take(&mut vec!["-D".to_owned(), "x".to_owned()]).is_err());
    }
}
