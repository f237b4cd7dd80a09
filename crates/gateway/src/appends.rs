//! APPEND: appends to one file queue on one open stream.
//!
//! A stream is opened for the first append and kept for a while, so that the next one costs no lease and no pipeline. An append
//! is answered when its bytes are flushed to the DataNodes; the NameNode learns the new length when the stream is closed. What
//! else is asked for a path closes the streams at and below it first. What is done to a path by others is seen within a second:
//! then the stream of the file that has lost the name is closed.

use crate::append_answers::{AnswerKey, Answers, Appended, Known};
use crate::body::BodyReader;
use crate::failure::Failure;
use crate::leftovers;
use crate::request::Request;
use crate::upload::open_for_append;
use axum::body::Body;
use axum::http::HeaderMap;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex as Queue;
use zerohop_client::{ErrorKind, FileSystem, FileWriter};
use zerohop_system::clock;

/// How often the NameNode is asked whether the path of a stream in use still names its file.
const NAME_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// A NameNode that takes longer to say so holds up no append.
const NAME_CHECK_MAX: Duration = Duration::from_secs(2);

/// Bytes that are read at once where some of a file are written again.
const COPIED_MAX: usize = 1 << 20;

/// Names an append for its repetitions.
const KEY_HEADER: &str = "idempotency-key";

/// What an append asks for besides its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// Where it has to begin.
    offset: Option<u64>,
    /// Its name; a second append of that name gets the answer of the first.
    key: Option<String>,
    /// Its bytes are on disk before it is answered.
    is_synced: bool,
}

impl Terms {
    /// The parameters `offset` and `hsync`, and the header `Idempotency-Key`.
    pub(crate) fn read(request: &Request, headers: &HeaderMap) -> Result<Self, Failure> {
        let key = headers.get(KEY_HEADER).and_then(|key| key.to_str().ok());
        Ok(Self {
            offset: request.params.number("offset", "a long")?,
            key: key.map(str::to_owned).filter(|key| !key.is_empty()),
            is_synced: request.params.flag("hsync", false)?,
        })
    }
}

/// The files that are being appended to. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Appends(Arc<Shared>);

struct Shared {
    /// How long a stream without appends stays open; zero closes it before the answer.
    idle_max: Duration,
    files: Mutex<HashMap<String, Arc<Queue<Slot>>>>,
    answers: Mutex<Answers>,
}

/// A file's stream, while there is one. Who holds its lock appends.
#[derive(Default)]
struct Slot(Option<Stream>);

struct Stream {
    writer: FileWriter,
    /// The client of the user who opened it.
    fs: FileSystem,
    last_use: Instant,
    /// When the path was last known to name this file.
    name_checked: Instant,
}

impl Appends {
    /// With the time that a stream without appends stays open; zero closes it before the answer.
    pub(crate) fn new(idle_max: Duration) -> Self {
        let (files, answers) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Shared { idle_max, files, answers }))
    }

    /// Appends a body. An append that fails may have written a beginning of it; one with the same key goes on behind it.
    pub(crate) async fn append(
        &self,
        fs: &FileSystem,
        request: &Request,
        terms: Terms,
        body: Body,
    ) -> Result<Appended, Failure> {
        // A caller that is slow to send little holds up no other one.
        let body = BodyReader::begin(body).await?;
        let queue = self.0.enter(&request.path);
        let done = self.append_in_turn(&queue, fs, request, terms, body).await;
        self.0.leave(&request.path, queue);
        done
    }

    async fn append_in_turn(
        &self,
        queue: &Arc<Queue<Slot>>,
        fs: &FileSystem,
        request: &Request,
        terms: Terms,
        body: BodyReader,
    ) -> Result<Appended, Failure> {
        let mut slot = queue.lock().await;
        let user = fs.user().name.as_str();
        let key = terms.key.as_deref().map(|key| AnswerKey::new(user, &request.path, key));
        let known = self.known(key.as_ref(), fs, &request.path).await?;
        if let Some(Known::Done(answer)) = known {
            return Ok(answer);
        }
        let is_new = slot.open(fs, request).await?;
        let Some(stream) = &mut slot.0 else { return Err(Failure::io("the stream is closed")) };
        let file_id = stream.writer.file_id();
        self.0.answers.lock().settle(file_id, stream.writer.pos());
        // It may have been settled just now.
        let known = key.as_ref().and_then(|key| self.0.answers.lock().get(key, file_id));
        let written = match stream.place(fs, &request.path, terms.offset, known, body).await {
            Ok(place) => {
                if let Some(key) = &key {
                    self.0.answers.lock().begin(key.clone(), file_id, place.start);
                }
                stream.append(fs, &request.path, &terms, place).await
            }
            Err(failure) => Err(failure),
        };
        let closes = written.is_err() || self.0.idle_max.is_zero();
        let closed = if closes { slot.close().await } else { Ok(()) };
        let done = written?;
        closed?;
        if !closes && is_new {
            tokio::spawn(Arc::clone(&self.0).close_when_idle(
                request.path.clone(),
                // Counted as the others are, so that the queue is not forgotten.
                self.0.enter(&request.path),
            ));
        }
        if let Some(key) = key {
            self.0.answers.lock().finish(key, file_id, done);
        }
        Ok(done)
    }

    /// What became of an append to the file that the path names.
    async fn known(
        &self,
        key: Option<&AnswerKey>,
        fs: &FileSystem,
        path: &str,
    ) -> Result<Option<Known>, Failure> {
        let Some(key) = key.filter(|key| self.0.answers.lock().knows(key)) else { return Ok(None) };
        let file_id = file_id(fs, path).await?;
        Ok(file_id.and_then(|file_id| self.0.answers.lock().get(key, file_id)))
    }

    /// Closes the streams at and below a path; waits for the appends that were there before.
    pub(crate) async fn close_below(&self, path: &str) {
        let path = path.trim_end_matches('/');
        let is_below = |file: &str| {
            file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        for (file, queue) in self.0.enter_all(is_below) {
            if let Err(error) = queue.lock().await.close().await {
                tracing::warn!("{file} was not closed: {error}");
            }
            self.0.leave(&file, queue);
        }
    }
}

impl Shared {
    /// The queue of a file. It is given back to [`leave`](Self::leave).
    fn enter(&self, path: &str) -> Arc<Queue<Slot>> {
        Arc::clone(self.files.lock().entry(path.to_owned()).or_default())
    }

    fn enter_all(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, Arc<Queue<Slot>>)> {
        let files = self.files.lock();
        let found = files.iter().filter(|(file, _)| wanted(file));
        found.map(|(file, queue)| (file.clone(), Arc::clone(queue))).collect()
    }

    /// The last one who leaves forgets the queue.
    fn leave(&self, path: &str, queue: Arc<Queue<Slot>>) {
        let mut files = self.files.lock();
        drop(queue);
        if files.get(path).is_some_and(|queue| Arc::strong_count(queue) == 1) {
            files.remove(path);
        }
    }

    async fn close_when_idle(self: Arc<Self>, path: String, queue: Arc<Queue<Slot>>) {
        loop {
            clock::sleep(self.idle_max).await;
            let mut slot = queue.lock().await;
            match &slot.0 {
                Some(stream) if clock::since(stream.last_use) < self.idle_max => {}
                _ => {
                    if let Err(error) = slot.close().await {
                        tracing::warn!("{path} was not closed: {error}");
                    }
                    break;
                }
            }
        }
        self.leave(&path, queue);
    }
}

/// The inode that a path names; none where there is nothing.
async fn file_id(fs: &FileSystem, path: &str) -> Result<Option<u64>, Failure> {
    match fs.status(path).await {
        Ok(status) => Ok(Some(status.file_id.0)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Slot {
    /// Opens the file unless it is open for this user; true if it was opened now.
    async fn open(&mut self, fs: &FileSystem, request: &Request) -> Result<bool, Failure> {
        if let Some(stream) = &mut self.0 {
            if let Some(error) = stream.writer.failure() {
                tracing::info!("{} lost its stream between two appends: {error}", request.path);
                // What was answered is in the file. Nothing of this append was written, and the file can be opened for it again.
                let _ = self.close().await;
            } else if !stream.has_its_name().await {
                tracing::info!("{} is another file now; its stream is closed", request.path);
                // Its file may be gone, which is no reason to refuse this append.
                let _ = self.close().await;
            } else if stream.fs.user().name == fs.user().name {
                return Ok(false);
            }
        }
        self.close().await?;
        let writer = open_for_append(fs, request).await?;
        let now = clock::now();
        self.0 = Some(Stream { writer, fs: fs.clone(), last_use: now, name_checked: now });
        Ok(true)
    }

    async fn close(&mut self) -> Result<(), Failure> {
        match self.0.take() {
            Some(mut stream) => {
                let closed = stream.writer.close().await;
                if closed.is_err() {
                    let (path, file_id) = (stream.writer.path(), stream.writer.file_id());
                    leftovers::close(stream.fs, path.to_owned(), file_id);
                }
                Ok(closed?)
            }
            None => Ok(()),
        }
    }
}

impl Stream {
    /// Whether its path still names its file, as far as is known: the NameNode is asked once in a while.
    async fn has_its_name(&mut self) -> bool {
        if clock::since(self.name_checked) < NAME_CHECK_INTERVAL {
            return true;
        }
        let status = self.fs.status(self.writer.path());
        let is_same = match tokio::time::timeout(NAME_CHECK_MAX, status).await {
            Ok(Ok(status)) => status.file_id.0 == self.writer.file_id(),
            Ok(Err(error)) if error.kind() == ErrorKind::NotFound => false,
            // DataNodes take appends while no NameNode answers.
            Ok(Err(_)) | Err(_) => return true,
        };
        self.name_checked = clock::now();
        is_same
    }

    async fn append(
        &mut self,
        fs: &FileSystem,
        path: &str,
        terms: &Terms,
        place: Place,
    ) -> Result<Appended, Failure> {
        let done = self.write(fs, path, place).await?;
        match terms.is_synced {
            true => self.writer.hsync().await?,
            false => self.writer.hflush().await?,
        }
        self.last_use = clock::now();
        Ok(done)
    }

    async fn write(
        &mut self,
        fs: &FileSystem,
        path: &str,
        place: Place,
    ) -> Result<Appended, Failure> {
        let Place { start, mut end, again, mut body } = place;
        if !again.is_empty() {
            let (reader, mut at) = (fs.open(path).await?, again.start);
            while at < again.end {
                let count = usize::try_from(again.end - at).unwrap_or(COPIED_MAX).min(COPIED_MAX);
                self.writer.write_bytes(reader.read_bytes_at(at, count).await?).await?;
                at += count as u64;
            }
        }
        while let Some(data) = body.next().await? {
            end += data.len() as u64;
            self.writer.write_bytes(data).await?;
        }
        Ok(Appended { start, end })
    }

    /// Where an append's bytes go. Those that the file holds already, as the append is a repetition, are taken out of the body.
    async fn place(
        &self,
        fs: &FileSystem,
        path: &str,
        offset: Option<u64>,
        known: Option<Known>,
        mut body: BodyReader,
    ) -> Result<Place, Failure> {
        let len = self.writer.pos();
        let (start, held_end) = match (offset, known) {
            (Some(offset), _) => (offset, len),
            (None, Some(Known::Begun { start, end })) => (start, end.min(len)),
            (None, _) => (len, len),
        };
        if offset.is_some() && start > len {
            return Err(Failure::precondition(format!(
                "{path} has {len} bytes, and the append is for offset {start}"
            )));
        }
        if start >= held_end {
            return Ok(Place { start: len, end: len, again: 0..0, body });
        }
        let held = self.skip_held(fs, path, start..held_end, &mut body).await?;
        if offset.is_some() && !held.is_same {
            return Err(Failure::precondition(format!(
                "{path} has {len} bytes, and others at offset {start} than the append's"
            )));
        }
        let follows = held_end == len || !body.has_more().await?;
        if held.is_same && follows {
            return Ok(Place { start, end: held.end, again: 0..0, body });
        }
        // Bytes of other appends lie behind the beginning of this one.
        let again = start..held.end;
        Ok(Place { start: len, end: len + (held.end - start), again, body })
    }

    /// Passes over the bytes of a body that the file holds in this range.
    async fn skip_held(
        &self,
        fs: &FileSystem,
        path: &str,
        range: Range<u64>,
        body: &mut BodyReader,
    ) -> Result<Held, Failure> {
        let (reader, mut at) = (fs.open(path).await?, range.start);
        while at < range.end {
            let Some(mut data) = body.next().await? else { break };
            let count = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(data.len());
            let sent = data.split_to(count);
            body.put_back(data);
            if reader.read_bytes_at(at, count).await? != sent {
                body.put_back(sent);
                return Ok(Held { end: at, is_same: false });
            }
            at += count as u64;
        }
        Ok(Held { end: at, is_same: true })
    }
}

/// Where an append goes.
struct Place {
    /// Where its bytes begin in the file.
    start: u64,
    /// The offset of the first byte of `body`.
    end: u64,
    /// Bytes of the file that are written again before `body`.
    again: Range<u64>,
    body: BodyReader,
}

/// How far a file holds the bytes of a body.
struct Held {
    end: u64,
    /// Whether that is all of the body, or of the range.
    is_same: bool,
}
