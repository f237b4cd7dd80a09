//! OPEN: a file's bytes, or a range of them.

use crate::call::Call;
use crate::failure::Failure;
use crate::file_body::body_of;
use crate::request::Request;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use zerohop_client::{ErrorKind, FileReader, FileSystem};

/// What is to be sent of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    start: u64,
    end: u64,
    /// Whether the answer says that it is a part.
    is_range: bool,
}

/// Sends a file, or the part that `offset` and `length` or the header `Range` name.
pub(crate) async fn open(
    fs: &FileSystem,
    request: &Request,
    call: &Call,
) -> Result<Response, Failure> {
    let headers = &call.headers;
    let mut reader = fs.open(&request.path).await?;
    // The NameNode does not know yet how long a file is that is being written.
    let len = reader.len();
    let tag = entity_tag(&reader);
    let known = header_text(headers, header::IF_NONE_MATCH);
    if known.is_some_and(|known| lists(known, Some(&tag), true, true)) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, value(&tag))]).into_response());
    }
    let params = &request.params;
    let (offset, length) = (params.number("offset", "a long")?, params.number("length", "a long")?);
    let part = if offset.is_some() || length.is_some() {
        let start: u64 = offset.unwrap_or(0);
        if start > len {
            return Err(Failure::io(format!(
                "Offset={start} out of the range [0, {len}); OPEN, path={}",
                request.path
            )));
        }
        let end = length.map_or(len, |length: u64| start.saturating_add(length).min(len));
        Part { start, end, is_range: false }
    } else {
        // A range of a file that is another one by now is not what was asked for.
        let is_same = header_text(headers, header::IF_RANGE).is_none_or(|known| known == tag);
        match header_text(headers, header::RANGE).filter(|_| is_same).map(|text| range(text, len)) {
            Some(Range::Part(part)) => part,
            Some(Range::Behind) => return Ok(Failure::not_satisfiable(len)),
            Some(Range::Unknown) | None => Part { start: 0, end: len, is_range: false },
        }
    };
    reader.seek_to(part.start)?;
    let size = part.end - part.start;
    let body = match call.method == Method::HEAD {
        true => Body::empty(),
        false => body_of(reader, size, &call.exchange).await?,
    };
    let mut response = Response::new(body);
    let mut set = |name, text: &str| drop(response.headers_mut().insert(name, value(text)));
    set(header::CONTENT_TYPE, "application/octet-stream");
    set(header::CONTENT_LENGTH, &size.to_string());
    set(header::ACCEPT_RANGES, "bytes");
    set(header::ETAG, &tag);
    if part.is_range {
        let last = part.end.saturating_sub(1);
        set(header::CONTENT_RANGE, &format!("bytes {}-{last}/{len}", part.start));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// Refuses a change of a file that is another one than the caller has seen (`If-Match`), or that is there (`If-None-Match: *`).
/// Another client may change it after this.
pub(crate) async fn check_preconditions(
    fs: &FileSystem,
    path: &str,
    headers: &HeaderMap,
) -> Result<(), Failure> {
    let wanted = header_text(headers, header::IF_MATCH);
    let unwanted = header_text(headers, header::IF_NONE_MATCH);
    if wanted.is_none() && unwanted.is_none() {
        return Ok(());
    }
    let exists = fs.exists(path).await?;
    let names_tags = |list: &str| list.split(',').any(|one| one.trim() != "*");
    let tag = match exists && [wanted, unwanted].into_iter().flatten().any(names_tags) {
        true => match fs.open(path).await {
            Ok(reader) => Some(entity_tag(&reader)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        },
        false => None,
    };
    let names = |list: &str, takes_weak| lists(list, tag.as_deref(), exists, takes_weak);
    // A tag that is weak does not say that the bytes are the same.
    match wanted.is_none_or(|list| names(list, false))
        && !unwanted.is_some_and(|list| names(list, true))
    {
        true => Ok(()),
        false => Err(Failure::precondition(format!(
            "{path} is another file than the request is for; {}",
            match tag {
                Some(tag) => format!("its tag is {tag}"),
                None if exists => "it exists".to_owned(),
                None => "it does not exist".to_owned(),
            }
        ))),
    }
}

/// Whether a list of tags, or `*`, names a file that has this tag. A tag in it may be marked as weak (`W/`), and counts if `takes_weak`.
fn lists(list: &str, tag: Option<&str>, exists: bool, takes_weak: bool) -> bool {
    list.split(',').map(str::trim).any(|one| {
        let strong = one.strip_prefix("W/").filter(|_| takes_weak).unwrap_or(one);
        one == "*" && exists || Some(strong) == tag
    })
}

/// Changes when the file's bytes do: every change ends in another last block, another generation stamp of it, or another length.
fn entity_tag(reader: &FileReader) -> String {
    let last = reader.last_block().unwrap_or_default();
    format!("\"{:x}-{:x}-{:x}\"", last.id.0, last.stamp.0, reader.len())
}

fn header_text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// What a header `Range` means for a file.
#[derive(Debug, PartialEq, Eq)]
enum Range {
    Part(Part),
    /// All of it lies behind the file's end.
    Behind,
    /// Several ranges, or another unit: the whole file is sent, as the specification permits.
    Unknown,
}

fn range(text: &str, len: u64) -> Range {
    let bounds = text.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-'));
    let Some((first, last)) = bounds else { return Range::Unknown };
    let (start, end) = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(start), Ok(last)) if start <= last => (start, last.saturating_add(1).min(len)),
        (Ok(start), Err(_)) if last.is_empty() => (start, len),
        // The last bytes, so many.
        (Err(_), Ok(count)) if first.is_empty() && count > 0 => (len.saturating_sub(count), len),
        (Err(_), Ok(_)) if first.is_empty() => return Range::Behind,
        _ => return Range::Unknown,
    };
    match start < len {
        true => Range::Part(Part { start, end, is_range: true }),
        false => Range::Behind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_a_list_of_tags() {
        let tag = Some("\"a-1\"");
        for (list, weak, strong) in [
            ("\"a-1\"", true, true),
            ("\"b\", \"a-1\"", true, true),
            ("W/\"a-1\"", true, false),
            ("W/\"b\",W/\"a-1\"", true, false),
            ("*", true, true),
            ("\"a-12\", a-1", false, false),
            ("", false, false),
        ] {
            assert_eq!(lists(list, tag, true, true), weak, "{list}");
            assert_eq!(lists(list, tag, true, false), strong, "{list}");
        }
        assert!(!lists("*", None, false, true) && !lists("\"a-1\"", None, true, true));
    }

    #[test]
    fn ranges_are_those_of_the_http_specification() {
        let part = |start, end| Range::Part(Part { start, end, is_range: true });
        for (text, expected) in [
            ("bytes=0-0", part(0, 1)),
            ("bytes=5-", part(5, 10)),
            ("bytes=3-99", part(3, 10)),
            ("bytes=-4", part(6, 10)),
            ("bytes=-40", part(0, 10)),
            ("bytes=10-", Range::Behind),
            ("bytes=-0", Range::Behind),
            ("bytes=4-2", Range::Unknown),
            ("bytes=1-2,4-5", Range::Unknown),
            ("lines=1-2", Range::Unknown),
            ("bytes=x-", Range::Unknown),
        ] {
            assert_eq!(range(text, 10), expected, "{text}");
        }
        assert_eq!(range("bytes=0-", 0), Range::Behind);
    }
}
