//! What a power cut leaves of a disk, and putting that into real files.

use super::file::{File, Left, SECTOR, Sector};
use super::{Disk, split};
use fastrand::Rng;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What survives of all that was not synced.
pub enum Survival<'a> {
    /// All of it: the process died, not the machine.
    All,
    /// Nothing of it.
    Synced,
    /// All but the end of the last write to this file: so many of the bytes that it changed are there.
    TornWrite(&'a Path, usize),
    /// Any part of it.
    Any(&'a mut Rng),
}

/// The files that a power cut left.
#[derive(Clone)]
pub struct Image<'a> {
    files: Vec<(PathBuf, Cow<'a, [u8]>)>,
    directories: Vec<PathBuf>,
    /// A write of several sectors may have a hole.
    may_have_holes: bool,
}

impl Disk {
    /// With files that are all durable.
    pub fn of(image: &Image<'_>) -> Self {
        let mut disk = Self::default();
        for (path, content) in image.files() {
            let (directory, name) = split(path);
            let file = disk.add(File::durable(content.to_vec()));
            disk.directories.entry(directory).or_default().durable.insert(name, file);
        }
        for directory in image.directories() {
            disk.directories.entry(directory.to_owned()).or_default();
        }
        disk
    }

    /// What a power cut leaves.
    pub fn after_crash(&self, survival: &mut Survival<'_>) -> Image<'_> {
        image(self, survival)
    }
}

fn image<'a>(disk: &'a Disk, survival: &mut Survival<'_>) -> Image<'a> {
    let mut image = Image { files: Vec::new(), directories: Vec::new(), may_have_holes: false };
    for (path, directory) in &disk.directories {
        image.directories.push(path.clone());
        let pending = directory.pending.len();
        let names = directory.after(match survival {
            Survival::All | Survival::TornWrite(..) => pending,
            Survival::Synced => 0,
            Survival::Any(rng) => rng.usize(0..=pending),
        });
        for (name, file) in names {
            let (path, file) = (path.join(name), &disk.files[file]);
            let pending = file.pending_len();
            let content = match survival {
                _ if pending == 0 => file.after_crash(Left::All),
                Survival::All => file.after_crash(Left::All),
                Survival::Synced => file.after_crash(Left::Nothing),
                Survival::TornWrite(torn, count) if *torn == path => {
                    file.after_crash(Left::Torn(*count))
                }
                Survival::TornWrite(..) => file.after_crash(Left::All),
                Survival::Any(rng) => match rng.u8(0..8) {
                    0 => file.after_crash(Left::All),
                    1 => file.after_crash(Left::Nothing),
                    2 | 3 => {
                        let (changes, bytes) = (rng.usize(0..=pending), rng.usize(0..2 * SECTOR));
                        file.after_crash(Left::Prefix(changes, bytes))
                    }
                    _ => {
                        image.may_have_holes = true;
                        file.after_crash(Left::Sectors(&mut || any_sector(rng)))
                    }
                },
            };
            image.files.push((path, content));
        }
    }
    image
}

fn any_sector(rng: &mut Rng) -> Sector {
    match rng.u8(0..5) {
        0 | 1 => Sector::New,
        2 | 3 => Sector::Old,
        _ => Sector::Torn(rng.usize(0..SECTOR)),
    }
}

impl Image<'_> {
    /// The files of a directory that exists.
    pub fn read(root: &Path) -> io::Result<Image<'static>> {
        let mut image = Image { files: Vec::new(), directories: Vec::new(), may_have_holes: false };
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            let below = |path: &Path| path.strip_prefix(root).map(Path::to_owned);
            image.directories.push(below(&directory).map_err(io::Error::other)?);
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    open.push(entry.path());
                } else if entry.file_name() != "in_use.lock" {
                    let path = below(&entry.path()).map_err(io::Error::other)?;
                    image.files.push((path, Cow::Owned(fs::read(entry.path())?)));
                }
            }
        }
        Ok(image)
    }

    /// Paths and contents.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.files.iter().map(|(path, content)| (&**path, &**content))
    }

    /// All directories.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(|path| &**path)
    }

    /// Whether sectors of one write survived apart from each other.
    pub fn may_have_holes(&self) -> bool {
        self.may_have_holes
    }

    /// Independent of the disk that it was taken from.
    pub fn into_owned(self) -> Image<'static> {
        let own =
            |(path, content): (PathBuf, Cow<'_, [u8]>)| (path, Cow::Owned(content.into_owned()));
        Image {
            files: self.files.into_iter().map(own).collect(),
            directories: self.directories,
            may_have_holes: self.may_have_holes,
        }
    }

    /// Changes a file's bytes.
    pub fn edit(&mut self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        if let Some((_, content)) = self.files.iter_mut().find(|(known, _)| known == path) {
            change(content.to_mut());
        }
    }

    /// Takes the files below a directory from another image.
    pub fn replace_below(&mut self, directory: &Path, other: &Image<'_>) {
        self.files.retain(|(path, _)| !path.starts_with(directory));
        let others = other.files().filter(|(path, _)| path.starts_with(directory));
        let own = others.map(|(path, content)| (path.to_owned(), Cow::Owned(content.to_vec())));
        self.files.extend(own);
    }

    /// Puts the files into a directory in place of what was there.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        match fs::remove_dir_all(root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(root)?;
        for directory in &self.directories {
            fs::create_dir_all(root.join(directory))?;
        }
        for (path, content) in &self.files {
            fs::write(root.join(path), content)?;
        }
        Ok(())
    }
}
