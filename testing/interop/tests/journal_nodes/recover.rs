//! `namenode -recover` where segments on JournalNodes are damaged: ours and Apache's save the same namespace, each from an image of
//! its own and the same JournalNodes.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use zerohop_interop::Kind::{Apache, Ours};
use zerohop_interop::Outcome;
use zerohop_interop::harm::{Explain, zerohop};

use super::{Kinds, Pair};

/// Directories that are made in each segment.
const EACH: usize = 8;

/// What is done to the second segment of a JournalNode.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// A bit of a record in the middle is another one.
    Flipped,
    /// The second half is not there.
    Short,
    /// There is no such file.
    Gone,
}

impl Damage {
    fn inflict(self, segment: &Path) -> Outcome {
        let mut bytes = fs::read(segment).at("a segment")?;
        let end = bytes.iter().rposition(|byte| *byte != 0xff).unwrap_or(0);
        match self {
            Self::Flipped => bytes[end / 2] ^= 1,
            Self::Short => bytes.truncate(end / 2),
            Self::Gone => return fs::remove_file(segment).at("a segment"),
        }
        fs::write(segment, bytes).at("a segment")
    }
}

/// A pair whose first NameNode is ours, the other one Apache's; both are stopped, with the same image. On the JournalNodes are
/// three finished segments, and one in progress.
struct Stopped {
    pair: Pair,
    kept: PathBuf,
}

impl Stopped {
    fn prepare() -> Outcome<Self> {
        let kinds = Kinds {
            namenodes: [Ours, Apache],
            journal_nodes: [Ours, Apache, Ours],
            controllers: None,
        };
        let mut pair = Pair::formatted("journal-nodes-recover", kinds)?;
        pair.start_namenode(0)?;
        pair.once("bootstrapStandby", 1)?;
        pair.admin("-transitionToActive --forceactive nn0")?;
        for segment in 0..4 {
            pair.make(EACH)?;
            if segment < 3 {
                let (code, said) = zerohop(&pair.conf("client"), &["dfsadmin", "-rollEdits"])?;
                if code != 0 {
                    return Err(said);
                }
            }
        }
        pair.namenodes = [None, None];
        let kept = pair.directory.join("kept");
        let stopped = Self { pair, kept };
        for name in ["nn0", "nn1", "jn0", "jn1", "jn2"] {
            copy(&stopped.pair.directory.join(name).join("data"), &stopped.kept.join(name))?;
        }
        Ok(stopped)
    }

    /// All is as it was when the NameNodes were stopped.
    fn bring_back(&mut self) -> Outcome {
        self.pair.namenodes = [None, None];
        self.pair.journal_nodes = [None, None, None];
        for name in ["nn0", "nn1", "jn0", "jn1", "jn2"] {
            let data = self.pair.directory.join(name).join("data");
            fs::remove_dir_all(&data).at(name)?;
            copy(&self.kept.join(name), &data)?;
        }
        Ok(())
    }

    /// Damages the second segment on the first `count` JournalNodes, and starts all.
    fn damage(&mut self, damage: Damage, count: usize) -> Outcome {
        self.bring_back()?;
        for i in 0..count {
            let segments = self.pair.segments(i);
            let name = segments.keys().nth(1).ok_or("no second segment")?;
            let current = self.pair.directory.join(format!("jn{i}/data/ns/current"));
            damage.inflict(&current.join(name))?;
        }
        (0..3).try_for_each(|i| self.pair.start_journal_node(i))
    }

    /// Recovers as the NameNode `i` does, always with the first choice; what it says.
    fn recover(&self, i: usize) -> Outcome<String> {
        let name = format!("nn{i}");
        let mut command = match self.pair.kinds.namenodes[i] {
            Apache => self.pair.apache("recover", &name)?,
            Ours => self.pair.ours(&name, &["namenode", "-recover", "-force"])?,
        };
        let ready = self.pair.directory.join("ready");
        fs::write(&ready, "Y\n").at("an answer")?;
        let output = command.stdin(Stdio::from(fs::File::open(&ready).at("an answer")?)).output();
        let output = output.at("-recover")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        if output.status.success() { Ok(said) } else { Err(format!("{name}: {said}")) }
    }

    /// The transaction of the newest image, and the names in it.
    fn image(&self, i: usize) -> Outcome<(String, BTreeSet<String>)> {
        let current = self.pair.directory.join(format!("nn{i}/data/current"));
        let files = fs::read_dir(&current).at("images")?.flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let images = names.filter(|name| name.starts_with("fsimage_") && !name.contains('.'));
        let newest = images.max().ok_or("no image")?;
        let (image, xml) = (current.join(&newest), self.pair.directory.join("image.xml"));
        let (image, to) = (image.display().to_string(), xml.display().to_string());
        let (code, said) =
            zerohop(&self.pair.conf("client"), &["oiv", "-p", "XML", "-i", &image, "-o", &to])?;
        let text = fs::read_to_string(&xml).at("an image's XML")?;
        let names = text.split("<name>").skip(1).filter_map(|rest| rest.split('<').next());
        let names = names.filter(|name| name.starts_with('d')).map(str::to_owned).collect();
        if code == 0 { Ok((newest, names)) } else { Err(said) }
    }

    /// Ours and Apache's recover the same; ours asks `questions` times. How many directories are lost.
    fn both_recover(&mut self, damage: Damage, count: usize, questions: usize) -> Outcome<usize> {
        self.damage(damage, count)?;
        let said = [self.recover(0)?, self.recover(1)?];
        let images = [self.image(0)?, self.image(1)?];
        let asked = said[0].matches("automatically choosing c").count();
        if images[0] == images[1] && asked == questions && said[0].contains("RECOVERY COMPLETE") {
            return Ok(3 * EACH - images[0].1.len());
        }
        let ([ours, apaches], [said, theirs]) = (images, said);
        Err(format!(
            "{damage:?} on {count}: ours: {ours:?}\nApache's: {apaches:?}\n{asked} questions of ours:\n{said}\n{theirs}"
        ))
    }

    /// Ours recovers everything, without a question.
    fn ours_recovers(&mut self, damage: Damage, count: usize) -> Outcome {
        self.damage(damage, count)?;
        let said = self.recover(0)?;
        let found = self.image(0)?;
        match found.1.len() == 3 * EACH && !said.contains("automatically choosing c") {
            true => Ok(()),
            false => Err(format!("{found:?}\n{said}")),
        }
    }

    /// The NameNodes go on from what they have recovered, with the segment that was in progress.
    fn go_on(&mut self, lost: usize) -> Outcome {
        for i in 0..2 {
            self.pair.start_namenode(i)?;
        }
        for i in [0, 1] {
            self.pair.admin(&format!("-transitionToActive nn{i}"))?;
            let listed = self.pair.listed()?;
            if listed.len() != 4 * EACH - lost {
                return Err(format!("nn{i}: {listed:?}"));
            }
            self.pair.ask(&format!("mkdirs /after{i}- 1"))?;
            let (_, said) =
                zerohop(&self.pair.conf("client"), &["fs", "-rmdir", &format!("/after{i}-0")])?;
            if !said.is_empty() {
                return Err(said);
            }
            self.pair.admin(&format!("-transitionToStandby nn{i}"))?;
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::create_dir_all(to).at("a directory")?;
    let copied = Command::new("cp").arg("-aT").args([from, to]).status().at("cp")?;
    if copied.success() { Ok(()) } else { Err(format!("cp {}", from.display())) }
}

fn story(stopped: &mut Stopped) -> Outcome {
    use Damage::{Flipped, Gone, Short};
    // One good copy is enough, and nothing is asked. Apache's asks only a majority of the JournalNodes for what they have: whether
    // that one is among them is chance.
    for (damage, count) in [(Flipped, 2), (Short, 2), (Gone, 2)] {
        let done = stopped.ours_recovers(damage, count);
        done.map_err(|error| format!("{damage:?} on {count}: {error}"))?;
    }
    for damage in [Flipped, Short, Gone] {
        lost(stopped.both_recover(damage, 1, 0)?, 0..=0)?;
    }
    stopped.go_on(0)?;
    // Nor does a start need more.
    stopped.damage(Flipped, 1)?;
    stopped.go_on(0).map_err(|error| format!("a start without recovery: {error}"))?;
    // The record, and the gap in its place.
    let gone = lost(stopped.both_recover(Flipped, 3, 2)?, 1..=1)?;
    stopped.go_on(gone)?;
    let gone = lost(stopped.both_recover(Short, 3, 1)?, 2..=EACH - 2)?;
    stopped.go_on(gone)
}

/// How many directories are lost, which must be as many as the damage explains.
fn lost(count: usize, explained: RangeInclusive<usize>) -> Outcome<usize> {
    match explained.contains(&count) {
        true => Ok(count),
        false => Err(format!("{count} directories are lost, not {explained:?}")),
    }
}

#[test]
fn damaged_segments_on_journal_nodes_are_recovered_as_apache_s_namenode_does() {
    let mut stopped = Stopped::prepare().unwrap();
    let outcome = story(&mut stopped);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", stopped.pair.logs()));
}
