//! Lists of objects in pages that are asked for one by one.

use crate::errors::{not_supported, reading};
use crate::inner::Inner;
use crate::key_range::KeyRange;
use crate::listing::{add, nothing};
use crate::walk::Walk;
use object_store::Result;
use object_store::list::{PaginatedListOptions, PaginatedListResult};
use object_store::path::Path;

impl Inner {
    /// A page of the names that begin with a prefix, which need not end at a slash. The token of a page is the last name in it.
    pub(crate) async fn list_page(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        let is_flat = match options.delimiter.as_deref() {
            None => false,
            Some("/") => true,
            Some(other) => {
                return Err(not_supported(format!("HDFS has no delimiter but the slash: {other}")));
            }
        };
        let prefix = prefix.unwrap_or_default().trim_start_matches('/').to_owned();
        let directory = prefix.rfind('/').map_or("", |slash| &prefix[..=slash]).to_owned();
        let is_later_page = options.page_token.is_some();
        let after = options.page_token.max(options.offset);
        let path = self.names.directory(directory.trim_end_matches('/'));
        let range = KeyRange { after, prefix };
        let walk = match is_flat {
            true => Walk::flat(&self.fs, &path, &directory, range),
            false => Walk::new(&self.fs, &path, &directory, range),
        };
        let max = options.max_keys.unwrap_or(usize::MAX);
        match walk {
            Ok(walk) => {
                let walk = if is_later_page { walk.continued() } else { walk };
                let page = page(walk, max).await?;
                page.result.objects.iter().for_each(|meta| self.seen(meta));
                Ok(page)
            }
            // No object has such a name.
            Err(_) => Ok(PaginatedListResult { result: nothing(), page_token: None }),
        }
    }
}

async fn page(mut walk: Walk, max: usize) -> Result<PaginatedListResult> {
    let (mut result, mut last) = (nothing(), None);
    let mut count = 0;
    while let Some(named) = walk.next().await.map_err(|error| reading(&Path::ROOT, error))? {
        if count == max {
            return Ok(PaginatedListResult { result, page_token: last });
        }
        add(&mut result, &named);
        count += 1;
        last = Some(named.name);
    }
    Ok(PaginatedListResult { result, page_token: None })
}
