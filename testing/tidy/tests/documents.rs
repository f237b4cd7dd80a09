//! Every block of commands in the documents is run by a test, or says why it is not.

use zerohop_tidy::{Source, root, sources};

/// Pages whose blocks of `sh` without a marker are run one after the other, and the test that does so.
const WHOLE: [(&str, &str, &str); 2] = [
    ("docs/ha.md", "testing/interop/tests/operations.rs", "docs/ha.md"),
    ("docs/operations.md", "testing/interop/tests/operations.rs", "docs/operations.md"),
];

/// Words with which a line of commands begins: a block of them must be called `sh`.
const COMMANDS: [&str; 13] = [
    "zerohop ",
    "hdfs ",
    "hadoop ",
    "make ",
    "curl ",
    "cargo ",
    "cc ",
    "sh ",
    "bash ",
    "export ",
    "mkdir ",
    "ln ",
    "systemctl ",
];

fn documents() -> Vec<Source> {
    let all = sources(&["docs", "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"], &[".md"]);
    assert!(all.len() > 20, "{}", all.len());
    all
}

/// The reason why a marker is no good.
fn fault(marker: &str) -> Option<String> {
    let inner = marker.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    if let Some(reason) = inner.strip_prefix("not run: ") {
        return (reason.split(' ').count() < 3).then(|| "its reason is too short".to_owned());
    }
    let Some(test) = inner.strip_prefix("run by ") else {
        return Some("its marker says neither `run by` nor `not run`".to_owned());
    };
    let Some((file, name)) = test.split_once("::") else {
        return Some("it names no FILE::TEST".to_owned());
    };
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    (!text.contains(&format!("fn {name}("))).then(|| format!("there is no test {test}"))
}

#[test]
fn every_block_of_commands_is_run_or_says_why_not() {
    let mut wrong = Vec::new();
    for page in documents() {
        let is_whole = WHOLE.iter().any(|(name, ..)| *name == page.path);
        let (mut before, mut kind, mut text) = (String::new(), None, Vec::new());
        for (number, line) in page.text.lines().enumerate() {
            let mut say = |what: &str| wrong.push(format!("{}:{}: {what}", page.path, number + 1));
            match (line.strip_prefix("```"), kind.clone()) {
                (Some(_), Some(_)) => {
                    // What has boxes and branches is a drawing.
                    let is_drawn = |line: &String| line.contains(['└', '│']);
                    let is_command =
                        |line: &String| COMMANDS.iter().any(|word| line.starts_with(word));
                    if text.iter().any(is_command) && !text.iter().any(is_drawn) {
                        say("a command in a block of text");
                    }
                    (kind, text) = (None, Vec::new());
                }
                (Some(""), None) => {
                    say("this block has no language: `sh` is for commands, `text` for the rest");
                    kind = Some(String::new());
                }
                (Some(language), None) => {
                    if language == "sh" {
                        let is_marked = before.starts_with("<!-- ");
                        match fault(&before) {
                            Some(what) => say(&what),
                            None if is_marked || is_whole => {}
                            None => say("no test runs this block, and no marker says why not"),
                        }
                    }
                    kind = Some(language.to_owned());
                }
                (None, Some(language)) if language == "text" => text.push(line.to_owned()),
                _ => {}
            }
            before = line.to_owned();
        }
    }
    assert!(wrong.is_empty(), "blocks of commands:\n  {}", wrong.join("\n  "));
}

#[test]
fn the_pages_that_are_run_as_a_whole_are_run() {
    for (page, file, part) in WHOLE {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(&format!("run(\"{part}\"")), "{file} does not run {page}");
    }
}
