//! Manual pages.

use roff::{Roff, bold, roman};

use super::entry::Entry;

/// `zerohop(1)`: all verbs.
pub fn overview(verbs: &[Entry]) -> String {
    let mut page = begin("zerohop", "HDFS in one binary: servers, client and tools");
    page.control("SH", ["SYNOPSIS"]);
    page.text([bold("zerohop"), roman(" [--config DIR] [-D KEY=VALUE]... VERB [WORDS]")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(
        "Called as hdfs or hadoop, by a link of that name, it takes the command lines of Apache's scripts.",
    )]);
    page.control("SH", ["VERBS"]);
    for verb in verbs {
        page.control("TP", []);
        page.text([bold(verb.name.as_str())]);
        page.text([roman(format!("{}; see zerohop-{}(1)", verb.about, verb.name))]);
    }
    page.control("SH", ["ENVIRONMENT"]);
    for (name, about) in [
        (
            "HADOOP_CONF_DIR",
            "Directory of core-site.xml and hdfs-site.xml, where --config names none.",
        ),
        ("HADOOP_USER_NAME", "The user whose name calls are made under."),
        ("ZEROHOP_LOG", "Which log lines are printed, as info or zerohop_client=debug."),
    ] {
        page.control("TP", []);
        page.text([bold(name)]);
        page.text([roman(about)]);
    }
    page.to_roff()
}

/// `zerohop-VERB(1)`.
pub fn of_verb(verb: &Entry) -> String {
    let mut page = begin(&format!("zerohop-{}", verb.name), &verb.about);
    if verb.commands.is_empty() {
        page.control("SH", ["SYNOPSIS"]);
        lines(&mut page, &verb.usage);
        return page.to_roff();
    }
    page.control("SH", ["COMMANDS"]);
    for command in &verb.commands {
        page.control("TP", []);
        page.text([bold(command.name.as_str()), roman(format!(" {}", command.usage.trim()))]);
        lines(&mut page, &command.description);
    }
    page.to_roff()
}

fn begin(name: &str, about: &str) -> Roff {
    let mut page = Roff::new();
    page.control("TH", [name.to_uppercase().as_str(), "1"]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {about}"))]);
    page
}

/// Text whose lines stay lines.
fn lines(page: &mut Roff, text: &str) {
    page.control("nf", []);
    for line in text.lines() {
        page.text([roman(line.replace('\t', "    "))]);
    }
    page.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_commands_and_escapes_dashes() {
        let command = Entry::new("-ls", "Lists", "[-C] <path>", "Lists files.\n-C: paths only");
        let commands = vec![command];
        let verb = Entry { name: "fs".into(), about: "Files".into(), commands, ..Entry::default() };
        let page = of_verb(&verb);
        assert!(page.contains(r"\-ls") && page.contains("Lists files."), "{page}");
        assert!(overview(&[verb]).contains("zerohop\\-fs(1)"), "{page}");
    }
}
