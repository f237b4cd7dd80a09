//! Options of a shell command: single dash, before the arguments, as Hadoop's CommandFormat reads them.

use std::collections::{HashMap, HashSet};

use zerohop_conf::closest;

use crate::failure::{Failure, Outcome};
use crate::wording;

/// What a command accepts.
pub struct Options {
    min: usize,
    max: usize,
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    pass_unknown: bool,
}

/// What was given.
#[derive(Debug, Default)]
pub struct ParsedOptions {
    flags: HashSet<String>,
    values: HashMap<String, String>,
    /// The arguments behind the options.
    pub rest: Vec<String>,
}

impl Options {
    /// `min` to `max` arguments after the options.
    pub fn new(min: usize, max: usize, flags: &'static [&'static str]) -> Self {
        Options { min, max, flags, valued: &[], pass_unknown: false }
    }

    /// Options that take a value.
    pub fn valued(mut self, names: &'static [&'static str]) -> Self {
        self.valued = names;
        self
    }

    /// Leaves unknown options among the arguments: `chmod -w FILE`.
    pub fn pass_unknown(mut self) -> Self {
        self.pass_unknown = true;
        self
    }

    pub fn parse(&self, args: Vec<String>) -> Outcome<ParsedOptions> {
        let mut given = ParsedOptions { rest: args, ..ParsedOptions::default() };
        let mut at = 0;
        while let Some(arg) = given.rest.get(at) {
            if !arg.starts_with('-') || arg == "-" {
                break;
            }
            if arg == "--" {
                given.rest.remove(at);
                break;
            }
            let name = arg[1..].to_owned();
            if self.flags.contains(&name.as_str()) {
                given.rest.remove(at);
                given.flags.insert(name);
            } else if self.valued.contains(&name.as_str()) {
                given.rest.remove(at);
                let value = self.take_value(&mut given.rest, at);
                given.values.insert(name, value);
            } else if self.pass_unknown {
                at += 1;
            } else {
                return Err(Failure::usage(format!("Illegal option {arg}{}", self.meant(&name))));
            }
        }
        self.check_count(given)
    }

    /// Which option a longer misspelt word was meant to be.
    fn meant(&self, name: &str) -> String {
        let known = self.flags.iter().chain(self.valued).filter(|known| known.len() > 2);
        match closest(name, known.copied()).filter(|_| !wording::is_apaches()) {
            Some(near) => format!("; did you mean -{near}?"),
            None => String::new(),
        }
    }

    /// The word after the option, unless it is an option or needed as an argument.
    fn take_value(&self, rest: &mut Vec<String>, at: usize) -> String {
        let usable = rest.len() > self.min && rest.get(at).is_some_and(|v| !v.starts_with('-'));
        if usable { rest.remove(at) } else { String::new() }
    }

    fn check_count(&self, given: ParsedOptions) -> Outcome<ParsedOptions> {
        let count = given.rest.len();
        let (word, expected) = match count {
            _ if count < self.min => ("Not enough", self.min),
            _ if count > self.max => ("Too many", self.max),
            _ => return Ok(given),
        };
        Err(Failure::usage(format!("{word} arguments: expected {expected} but got {count}")))
    }
}

impl ParsedOptions {
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub fn flag_count(&self) -> usize {
        self.flags.len()
    }

    /// The only flag that was given, or any of them.
    pub fn any_flag(&self) -> Option<&str> {
        self.flags.iter().next().map(String::as_str)
    }

    /// The first argument, taken out.
    pub fn take_first(&mut self) -> String {
        if self.rest.is_empty() { String::new() } else { self.rest.remove(0) }
    }

    /// A whole number, or the words of Java's NumberFormatException.
    pub fn number(text: &str) -> Outcome<i64> {
        text.parse().map_err(|_| Failure::usage(format!("For input string: \"{text}\"")))
    }
}

/// Takes `name value` out of the arguments, wherever it stands before `--`, as
/// StringUtils.popOptionWithArgument does.
pub fn pop_valued(name: &str, args: &mut Vec<String>) -> Outcome<Option<String>> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let Some(at) = args.iter().take(end).position(|arg| arg == name) else { return Ok(None) };
    args.remove(at);
    if at >= args.len() {
        return Err(Failure::usage(format!("option {name} requires 1 argument.")));
    }
    Ok(Some(args.remove(at)))
}

/// Takes a flag out of the arguments, wherever it stands before `--`.
pub fn pop_flag(name: &str, args: &mut Vec<String>) -> bool {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    match args.iter().take(end).position(|arg| arg == name) {
        Some(at) => {
            args.remove(at);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_end_at_the_first_argument() {
        let options = Options::new(1, 3, &["R", "h"]).valued(&["t"]);
        let given = options.parse(words("-R -t 4 /a -h")).unwrap();
        assert!(given.has("R") && !given.has("h"));
        assert_eq!(given.value("t"), Some("4"));
        assert_eq!(given.rest, ["/a", "-h"]);
        assert_eq!(options.parse(words("-t /a")).unwrap().value("t"), Some(""));
        assert_eq!(options.parse(words("-- -x")).unwrap().rest, ["-x"]);
        assert_eq!(options.parse(words("-")).unwrap().rest, ["-"]);
    }

    #[test]
    fn errors_have_hadoops_words() {
        let options = Options::new(1, 1, &[]);
        let text = |args: &str| options.parse(words(args)).unwrap_err().text;
        assert_eq!(text("-Z"), "Illegal option -Z");
        let long = Options::new(1, 1, &["skipTrash", "r"]).parse(words("-skipTrahs /f"));
        assert_eq!(long.unwrap_err().text, "Illegal option -skipTrahs; did you mean -skipTrash?");
        assert_eq!(text(""), "Not enough arguments: expected 1 but got 0");
        assert_eq!(text("a b"), "Too many arguments: expected 1 but got 2");
    }
}
