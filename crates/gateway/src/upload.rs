//! CREATE: a request's body becomes a file. And how a file is opened for APPEND.

use crate::body::BodyReader;
use crate::failure::Failure;
use crate::form::FormPart;
use crate::leftovers;
use crate::request::Request;
use crate::takeover;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::future::join;
use zerohop_client::{
    AppendOptions, CreateOptions, ErrorKind, FileKind, FileSystem, FileWriter, RenameOptions,
};
use zerohop_system::clock;

/// So many bytes of a name are kept in that of an unfinished file, which has 30 more. NameNodes take 255 unless they are told
/// otherwise (`dfs.namenode.fs-limits.max-component-length`).
const UNFINISHED_KEPT_MAX: usize = 255 - 30;

/// What a CREATE means that does not say it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreateDefaults {
    /// Whether a file that is there is replaced.
    pub(crate) overwrite: bool,
}

/// Refuses what is no upload by HttpFS's rule: a form that a browser was led to send.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    match kind {
        Some(kind) if kind.eq_ignore_ascii_case("application/octet-stream") => Ok(()),
        _ => Err(Failure::illegal(
            "Data upload requests must have content-type set to 'application/octet-stream'",
        )),
    }
}

/// Makes a file of the body. A file that is there is replaced when all of the body is written, and not before: if the caller
/// disappears, it stays as it was.
pub(crate) async fn create(
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    body: Body,
) -> Result<(), Failure> {
    let (path, options) = (request.path.as_str(), create_options(request, defaults)?);
    let replaces = options.overwrite && is_file(fs, path).await?;
    let unfinished = if replaces { unfinished_name(path) } else { path.to_owned() };
    let mut file = NewFile::begin_at(fs, unfinished, path, options).await?;
    let written = write_all(&mut file.writer, body).await;
    file.end(written).await.map(drop)
}

fn create_options(request: &Request, defaults: CreateDefaults) -> Result<CreateOptions, Failure> {
    // Who names flags means these.
    let default = defaults.overwrite && request.params.text("createflag").is_none();
    let overwrites = request.params.flag("overwrite", default)? || has_flag(request, "OVERWRITE");
    let permission = request.params.permission("permission")?.unwrap_or(0o644) & 0o777;
    Ok(CreateOptions::default()
        .overwrite(overwrites)
        .create_parent(request.params.flag("createparent", true)?)
        .permission(permission)
        .unmasked_permission(unmasked_permission(request)?)
        .lazy_persist(has_flag(request, "LAZY_PERSIST"))
        .replication(request.params.number("replication", "a short")?)
        .block_size(request.params.number("blocksize", "a long")?))
}

/// A file that is written under another name than it gets at its end, or under its own if nothing is there.
pub(crate) struct NewFile {
    fs: FileSystem,
    writer: FileWriter,
    unfinished: String,
    path: String,
    overwrites: bool,
}

impl NewFile {
    /// Begins a file that has its name only when it is whole.
    ///
    /// # Errors
    /// If something is there that is not to be replaced, or the file cannot be made.
    pub(crate) async fn begin(
        fs: &FileSystem,
        request: &Request,
        defaults: CreateDefaults,
        path: &str,
    ) -> Result<Self, Failure> {
        let options = create_options(request, defaults)?;
        if !options.overwrite && fs.exists(path).await? {
            return Err(Failure::exists(path));
        }
        Self::begin_at(fs, unfinished_name(path), path, options).await
    }

    async fn begin_at(
        fs: &FileSystem,
        unfinished: String,
        path: &str,
        options: CreateOptions,
    ) -> Result<Self, Failure> {
        let overwrites = options.overwrite;
        let writer = fs.create(&unfinished, options).await?;
        Ok(Self { fs: fs.clone(), writer, unfinished, path: path.to_owned(), overwrites })
    }

    /// Writes a piece.
    pub(crate) async fn write(&mut self, data: Bytes) -> Result<(), Failure> {
        Ok(self.writer.write_bytes(data).await?)
    }

    /// Writes a part of a form and ends the file. Returns its length.
    ///
    /// # Errors
    /// If the form breaks off or a write fails; the file is then deleted.
    pub(crate) async fn take_part(mut self, part: &mut FormPart) -> Result<u64, Failure> {
        let written = loop {
            match part.next().await {
                Ok(None) => break Ok(()),
                Err(failure) => break Err(failure),
                Ok(Some(data)) => {
                    if let Err(failure) = self.write(data).await {
                        break Err(failure);
                    }
                }
            }
        };
        self.end(written).await
    }

    /// Closes the file and gives it its name if all of it was `written`; else deletes it. Returns its length.
    pub(crate) async fn end(mut self, written: Result<(), Failure>) -> Result<u64, Failure> {
        let len = self.writer.pos();
        let finished = match written {
            Ok(()) => self.finish().await,
            Err(failure) => Err(failure),
        };
        let Self { fs, writer, unfinished, path, .. } = self;
        let Err(failure) = finished else { return Ok(len) };
        // Another upload may have taken the name meanwhile. One that was to be renamed is not followed: if it has its name
        // after all, the file that was there before is gone.
        let at = match unfinished == path {
            true => leftovers::inode_path(writer.file_id()),
            false => unfinished,
        };
        drop(writer);
        // This also ends the lease.
        leftovers::delete(fs, path, at).await;
        Err(failure)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        self.writer.close().await?;
        if self.unfinished != self.path {
            let options = RenameOptions::default().overwrite(self.overwrites);
            self.fs.rename2(&self.unfinished, &self.path, options).await?;
        }
        Ok(())
    }
}

/// Whether a path is there and no directory; the NameNode says what a directory is refused with.
async fn is_file(fs: &FileSystem, path: &str) -> Result<bool, Failure> {
    match fs.status(path).await {
        Ok(status) => Ok(status.kind != FileKind::Directory),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The bits to which the default ACL of the directory above applies, where the request says others than `permission`.
fn unmasked_permission(request: &Request) -> Result<Option<u16>, Failure> {
    Ok(request.params.permission("unmaskedpermission")?.map(|bits| bits & 0o777))
}

/// Whether `createflag` has a flag of this name (`CreateFlag`).
fn has_flag(request: &Request, name: &str) -> bool {
    let flags = request.params.text("createflag").unwrap_or_default();
    flags.split(',').any(|flag| flag.trim().eq_ignore_ascii_case(name))
}

/// Opens a file for writing at its end. With `createflag=CREATE` one that is missing is made; if another writer makes it in
/// the same moment, that one is opened. One that is being closed for a writer that is gone is waited for.
pub(crate) async fn open_for_append(
    fs: &FileSystem,
    request: &Request,
) -> Result<FileWriter, Failure> {
    let begun = clock::now();
    loop {
        match open_for_append_once(fs, request).await? {
            Ok(writer) => return Ok(writer),
            Err(error) => {
                let is_late = clock::since(begun) > takeover::RECOVERY_MAX;
                if is_late || !takeover::waits_for_close(fs, &request.path, &error).await? {
                    let lease = takeover::lease_in_the_way(fs, &request.path, &error).await;
                    let failure = Failure::from(error);
                    return Err(match lease {
                        Some(lease) => failure.with_lease(lease),
                        None => failure,
                    });
                }
            }
        }
    }
}

async fn open_for_append_once(
    fs: &FileSystem,
    request: &Request,
) -> Result<zerohop_client::Result<FileWriter>, Failure> {
    let path = request.path.as_str();
    let creates = has_flag(request, "CREATE");
    let opened = fs.append(path, AppendOptions::default()).await;
    if !creates || !opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(opened);
    }
    let permission = request.params.permission("permission")?.unwrap_or(0o644) & 0o777;
    let options = CreateOptions::default()
        .create_parent(request.params.flag("createparent", true)?)
        .permission(permission)
        .unmasked_permission(unmasked_permission(request)?);
    Ok(match fs.create(path, options).await {
        Err(error) if error.kind() == ErrorKind::Exists => {
            fs.append(path, AppendOptions::default()).await
        }
        created => created,
    })
}

/// Writes the body to its end; the next piece of it is read while one is written.
async fn write_all(writer: &mut FileWriter, body: Body) -> Result<(), Failure> {
    let mut body = BodyReader::of(body);
    let mut next = body.next().await?;
    while let Some(data) = next {
        let (written, received) = join(writer.write_bytes(data), body.next()).await;
        written?;
        next = received?;
    }
    Ok(())
}

/// An unused name beside a path. Lists of files show it during the upload, as they show the one of `fs -put`.
fn unfinished_name(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let kept = &name[..name.floor_char_boundary(UNFINISHED_KEPT_MAX)];
    format!("{directory}/.{kept}.{:016x}._UPLOADING_", zerohop_system::random::u64(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_are_octet_streams() {
        let check = |kind: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
            check_content_type(&headers)
        };
        check("application/octet-stream").unwrap();
        check("Application/Octet-Stream; charset=x").unwrap();
        assert!(check("application/x-www-form-urlencoded").is_err());
        assert!(check_content_type(&HeaderMap::new()).is_err());
    }

    #[test]
    fn an_unfinished_file_lies_beside_the_finished_one() {
        let name = unfinished_name("/a/b");
        assert!(name.starts_with("/a/.b.") && name.ends_with("._UPLOADING_"), "{name}");
        assert!(unfinished_name("/b").starts_with("/.b."));
        for long in ["x".repeat(255), "\u{e9}".repeat(127), "x".to_owned() + &"\u{e9}".repeat(127)]
        {
            let name = unfinished_name(&format!("/a/{long}"));
            let len = name.strip_prefix("/a/").unwrap().len();
            assert!((254..=255).contains(&len), "{name}: {len} bytes");
        }
    }
}
