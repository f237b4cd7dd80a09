//! `-find`: the expressions of Hadoop's find, all joined by "and".

use super::item::Item;
use super::location::file_name;
use super::options::Options;
use super::pattern::Pattern;
use super::shell::Shell;
use crate::failure::{Failure, Outcome};

enum Test {
    Name(Pattern),
    /// The pattern is in lower case.
    NameIgnoringCase(Pattern),
    Print,
    Print0,
}

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["L", "H"]).pass_unknown().parse(args)?;
    let start = given.rest.iter().position(|arg| arg.starts_with('-'));
    let (paths, words) = given.rest.split_at(start.unwrap_or(given.rest.len()));
    let mut tests = parse(words)?;
    if !tests.iter().any(|test| matches!(test, Test::Print | Test::Print0)) {
        tests.push(Test::Print);
    }
    let paths = if paths.is_empty() { vec![".".to_owned()] } else { paths.to_vec() };
    shell.walk_args(&paths, true, &mut |shell, item, _| apply(shell, item, &tests))
}

fn parse(words: &[String]) -> Outcome<Vec<Test>> {
    let mut tests = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut argument = || {
            words.next().ok_or_else(|| {
                Failure::usage(format!("Not enough arguments for {word}; a pattern must follow"))
            })
        };
        match word.as_str() {
            "(" | ")" | "-a" | "-and" => {}
            "-print" => tests.push(Test::Print),
            "-print0" => tests.push(Test::Print0),
            "-name" => tests.push(Test::Name(Pattern::new(argument()?)?)),
            "-iname" => {
                let pattern = Pattern::new(&argument()?.to_lowercase())?;
                tests.push(Test::NameIgnoringCase(pattern));
            }
            _ => return Err(Failure::io(format!("Unexpected argument: {word}"))),
        }
    }
    Ok(tests)
}

fn apply(shell: &mut Shell, item: &Item, tests: &[Test]) -> Outcome {
    let name = file_name(&item.path);
    for test in tests {
        match test {
            Test::Name(pattern) if !pattern.matches(name) => return Ok(()),
            Test::NameIgnoringCase(pattern) if !pattern.matches(&name.to_lowercase()) => {
                return Ok(());
            }
            Test::Name(_) | Test::NameIgnoringCase(_) => {}
            Test::Print => shell.line(&item.text)?,
            Test::Print0 => shell.print(format!("{}\0", item.text).as_bytes())?,
        }
    }
    Ok(())
}
