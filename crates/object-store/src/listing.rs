//! Lists of objects.

use crate::errors::reading;
use crate::inner::Inner;
use crate::key_range::KeyRange;
use crate::metadata::object_meta;
use crate::walk::{Named, Walk};
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta, Result};

impl Inner {
    /// The objects below a prefix, after a name if there is one, in order of name.
    pub(crate) fn list(
        &self,
        prefix: Option<&Path>,
        after: Option<&Path>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix = prefix.cloned().unwrap_or_default();
        let after = after.map(|after| after.as_ref().to_owned());
        let range = KeyRange { after, prefix: String::new() };
        match Walk::new(&self.fs, &self.path_of(&prefix), &directory(&prefix), range) {
            Ok(walk) => self.shown(objects(walk, prefix)).boxed(),
            // No object has such a name.
            Err(_) => stream::empty().boxed(),
        }
    }

    /// The objects and directories in the directory of a prefix.
    pub(crate) async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let prefix = prefix.cloned().unwrap_or_default();
        let (path, range) = (self.path_of(&prefix), KeyRange::default());
        let mut found = nothing();
        if let Ok(mut walk) = Walk::flat(&self.fs, &path, &directory(&prefix), range) {
            while let Some(named) = walk.next().await.map_err(|error| reading(&prefix, error))? {
                add(&mut found, &named);
            }
        }
        found.objects.iter().for_each(|meta| self.seen(meta));
        Ok(found)
    }

    /// The same objects, of which the store has learned.
    fn shown(
        &self,
        objects: impl Stream<Item = Result<ObjectMeta>> + Send + 'static,
    ) -> impl Stream<Item = Result<ObjectMeta>> + Send + 'static {
        let inner = self.clone();
        objects.inspect_ok(move |meta| inner.seen(meta))
    }

    fn path_of(&self, prefix: &Path) -> String {
        self.names.directory(prefix.as_ref())
    }
}

fn objects(walk: Walk, prefix: Path) -> impl Stream<Item = Result<ObjectMeta>> {
    let named = stream::try_unfold((walk, prefix), |(mut walk, prefix)| async move {
        let next = walk.next().await.map_err(|error| reading(&prefix, error))?;
        Ok(next.map(|named| (named, (walk, prefix))))
    });
    named.try_filter_map(|named| async move { Ok(object(&named)) })
}

/// The object of a file; none if no object can have the name.
fn object(named: &Named) -> Option<ObjectMeta> {
    let location = Path::parse(&named.name).ok()?;
    Some(object_meta(location, &named.status))
}

/// The name of the directory of a prefix: empty for the root, with a slash at its end otherwise.
fn directory(prefix: &Path) -> String {
    match prefix.as_ref() {
        "" => String::new(),
        prefix => format!("{prefix}/"),
    }
}

pub(crate) fn nothing() -> ListResult {
    ListResult { common_prefixes: Vec::new(), objects: Vec::new() }
}

/// Adds a file or a directory to what was found.
pub(crate) fn add(found: &mut ListResult, named: &Named) {
    match named.status.is_dir() {
        true => found.common_prefixes.extend(Path::parse(&named.name).ok()),
        false => found.objects.extend(object(named)),
    }
}
