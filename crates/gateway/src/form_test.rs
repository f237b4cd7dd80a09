//! Forms that used to be kept in memory whole.

use super::*;
use futures_util::stream;

const PIECE: usize = 8 << 10;
/// More than any reader may take of a form that makes no sense.
const ENDLESS: usize = 64 << 20;

/// Creates a body of `head` and then `len` bytes of `filler`, and returns the counter of the bytes that were read.
fn body(head: &str, filler: &'static [u8], len: usize) -> (Body, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let first = Bytes::copy_from_slice(head.as_bytes());
    let rest = stream::iter(0..len / PIECE).map(move |_| {
        let piece = filler.iter().copied().cycle().take(PIECE).collect::<Vec<u8>>();
        Bytes::from(piece)
    });
    let pieces = stream::iter([first]).chain(rest).map(move |piece| {
        count.fetch_add(piece.len(), Ordering::Relaxed);
        Ok::<_, io::Error>(piece)
    });
    (Body::from_stream(pieces), taken)
}

fn head(name: &str) -> String {
    format!("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n\r\n")
}

#[tokio::test]
async fn a_form_without_a_boundary_was_kept_whole() {
    let (body, taken) = body("", b"no boundary ", ENDLESS);
    let refused = Form::begin(body, "b").next().await.err().unwrap().to_string();
    assert!(refused.contains("no boundary"), "{refused}");
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken <= KEPT_MAX + PIECE, "{taken} bytes were taken");
}

#[tokio::test]
async fn the_head_of_a_part_was_kept_however_long_it_was() {
    let (body, taken) = body("--b\r\n", b"x-header: value\r\n", ENDLESS);
    let refused = Form::begin(body, "b").next().await.err().unwrap().to_string();
    assert!(refused.contains("end of a part's head"), "{refused}");
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken <= KEPT_MAX + 2 * PIECE, "{taken} bytes were taken");
}

#[tokio::test]
async fn a_part_was_read_ahead_of_its_file_without_a_bound() {
    let (body, taken) = body(&head("a"), b"data", ENDLESS);
    let mut form = Form::begin(body, "b");
    let mut part = form.next().await.unwrap().unwrap();
    let mut len = 0;
    for _ in 0..100 {
        len += part.next().await.unwrap().unwrap().len();
        let ahead = taken.load(Ordering::Relaxed) - len;
        assert!(ahead <= 2 * PIECE, "{ahead} bytes were taken ahead");
    }
}

#[tokio::test]
async fn parts_may_be_large_and_may_be_passed_over() {
    let mut text = head("a/b");
    text.push_str(&"x".repeat(3 * KEPT_MAX));
    text.push_str("\r\n");
    text.push_str(&head("c"));
    text.push_str("\r\nde\r\n--b--\r\n");
    let pieces: Vec<_> = text.as_bytes().chunks(1000).map(Bytes::copy_from_slice).collect();
    let body = Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, io::Error>)));
    let mut form = Form::begin(body, "b");
    let first = form.next().await.unwrap().unwrap();
    assert_eq!((first.name(), first.file_name()), (Some("f"), Some("a/b")));
    first.pass_over().await.unwrap();
    let mut second = form.next().await.unwrap().unwrap();
    let mut data = Vec::new();
    while let Some(piece) = second.next().await.unwrap() {
        data.extend_from_slice(&piece);
    }
    drop(second);
    assert_eq!(data, b"\r\nde");
    assert!(form.next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_form_that_breaks_off_is_refused() {
    for text in ["--b", "--b\r\nContent-", &head("a"), &format!("{}data", head("a"))] {
        let mut form = Form::begin(Body::from(text.to_owned()), "b");
        let broken = match form.next().await {
            Ok(Some(part)) => part.pass_over().await.err(),
            Ok(None) => None,
            Err(failure) => Some(failure),
        };
        assert!(broken.is_some(), "{text:?}");
    }
}
