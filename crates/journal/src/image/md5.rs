//! `<image>.md5`: one line, `<32 hex digits> *<file name>`, as md5sum writes it.

use crate::error::JournalError;
use hex::FromHex;
use md5::{Digest, Md5};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, JournalError>;

/// The MD5 file beside an image.
pub fn md5_path(image: &Path) -> PathBuf {
    let mut name = image.as_os_str().to_owned();
    name.push(".md5");
    name.into()
}

/// Writes the MD5 file beside an image, atomically and durably.
pub fn write_md5(image: &Path, digest: &[u8; 16]) -> Result<()> {
    let path = md5_path(image);
    let name = image.file_name().unwrap_or_default().to_string_lossy();
    let line = format!("{} *{name}\n", hex::encode(digest));
    let tmp = path.with_extension("md5.tmp");
    let mut file = File::create(&tmp).map_err(JournalError::io("create", &tmp))?;
    file.write_all(line.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(JournalError::io("write", &tmp))?;
    std::fs::rename(&tmp, &path).map_err(JournalError::io("rename to", &path))
}

/// What the MD5 file beside an image says; none if there is no such file.
pub fn read_md5(image: &Path) -> Result<Option<[u8; 16]>> {
    let path = md5_path(image);
    let mut text = String::new();
    match File::open(&path) {
        Ok(file) => {
            file.take(4096).read_to_string(&mut text).map_err(JournalError::io("read", &path))?
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(JournalError::io("open", &path)(e)),
    };
    let digest =
        text.split_whitespace().next().and_then(|digits| <[u8; 16]>::from_hex(digits).ok());
    let reason = || format!("its MD5 file {} is not in md5sum's form", path.display());
    digest.map(Some).ok_or_else(|| JournalError::Image { path: image.to_owned(), reason: reason() })
}

/// That the image is what its MD5 file says; an image without one is refused, as Hadoop does.
pub fn verify_md5(image: &Path) -> Result<()> {
    let bad = |reason: String| JournalError::Image { path: image.to_owned(), reason };
    let expected =
        read_md5(image)?.ok_or_else(|| bad("it has no MD5 file beside it".to_owned()))?;
    let mut file = File::open(image).map_err(JournalError::io("open", image))?;
    let mut digest = Md5::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer).map_err(JournalError::io("read", image))? {
            0 => break,
            len => digest.update(&buffer[..len]),
        }
    }
    let found: [u8; 16] = digest.finalize().into();
    if found != expected {
        return Err(bad(format!(
            "its MD5 is {}, its MD5 file says {}",
            hex::encode(found),
            hex::encode(expected)
        )));
    }
    Ok(())
}
