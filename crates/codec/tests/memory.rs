//! Small files that unpack to much: showing them takes little memory, counted by the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Cursor, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use zerohop_codec::files::{avro, orc, parquet, sequence};

/// Counts the bytes that are allocated now, and the most there were.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Tests take turns: they count together.
static TURN: Mutex<()> = Mutex::new(());

// SAFETY: all work is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns what `work` returned and the most bytes that it had allocated at a time.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let done = work();
    (done, PEAK.load(Ordering::Relaxed) - before)
}

/// Counts what is written.
#[derive(Default)]
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const MB: usize = 1 << 20;

fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field of bytes of a protobuf message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [vec![number << 3 | 2], varint(bytes.len()), bytes.to_vec()].concat()
}

fn orc_file(footer: &[u8]) -> Vec<u8> {
    // A chunk of zstd holds at most 4 MB.
    let mut packed = Vec::new();
    for part in footer.chunks(4 * MB) {
        let chunk = zstd::encode_all(part, 3).unwrap();
        packed.extend(&(chunk.len() as u32 * 2).to_le_bytes()[..3]);
        packed.extend(chunk);
    }
    let mut post = [vec![8], varint(packed.len()), vec![16, 5]].concat();
    // Number 8000.
    post.extend([0x82, 0xf4, 3, 3, b'O', b'R', b'C']);
    [b"ORC".as_slice(), &packed, &post, &[post.len() as u8]].concat()
}

fn show_orc(footer: &[u8]) -> (io::Result<usize>, usize, usize) {
    let file = orc_file(footer);
    let length = file.len();
    let (shown, peak) = peak(move || {
        let mut out = Count::default();
        orc::write_summary(Cursor::new(file), &mut out).map(|()| out.0)
    });
    (shown, peak, length)
}

#[test]
fn an_orc_footer_of_many_empty_messages() {
    let _turn = TURN.lock();
    // A type takes 80 bytes of memory for two.
    let (shown, peak, length) = show_orc(&field(4, &[]).repeat(2 * MB));
    let error = shown.unwrap_err().to_string();
    assert!(error.contains("a schema of more than"), "{error}");
    assert!(length < 8192 && peak < 150 * MB, "{peak} bytes for {length}");
    let (shown, peak, length) = show_orc(&field(3, &[]).repeat(MB / 4));
    assert!(shown.unwrap() > MB / 4);
    assert!(length < 8192 && peak < 8 * MB, "{peak} bytes for {length}");
}

#[test]
fn an_orc_schema_whose_fields_name_each_other() {
    let _turn = TURN.lock();
    let name = field(3, &[b'x'; 2000]);
    // A struct of 300 fields, all of which are the next such struct.
    let of = |next: u8| {
        let fields = [[0x10, next].repeat(300), name.repeat(300)].concat();
        field(4, &[vec![8, 12], fields].concat())
    };
    let footer: Vec<u8> = (1..60).flat_map(of).collect();
    let (shown, peak, _) = show_orc(&footer);
    assert!(shown.unwrap() < 2 * MB);
    assert!(peak < 150 * MB, "{peak} bytes");
}

#[test]
fn a_parquet_footer_of_many_small_values() {
    let _turn = TURN.lock();
    // Row groups (field 4) that are booleans, and a column whose path has many parts.
    let list = |kind: u8, count: usize| [vec![0xf0 | kind], varint(count)].concat();
    let many = [vec![0x49], list(1, MB), vec![1; MB], vec![0]].concat();
    let path = [vec![0x39], list(8, MB), vec![0; MB], vec![0]].concat();
    let column = [vec![0x3c], path, vec![0]].concat();
    let group = [vec![0x19, 0x1c], column, vec![0]].concat();
    let parts = [vec![0x49, 0x1c], group, vec![0]].concat();
    for footer in [many, parts] {
        let end = (footer.len() as u32).to_le_bytes();
        let file = [b"PAR1".as_slice(), &footer, &end, b"PAR1"].concat();
        let (shown, peak) = peak(|| {
            let mut out = Count::default();
            parquet::write_summary(Cursor::new(&file), &mut out).map(|()| out.0)
        });
        assert!(shown.unwrap() > MB);
        assert!(peak < 6 * MB, "{peak} bytes for {}", file.len());
    }
}

fn avro_long(value: usize) -> Vec<u8> {
    varint(value << 1)
}

fn avro_file(schema: &str, codec: &str, block: &[u8]) -> Vec<u8> {
    let text = |text: &str| [avro_long(text.len()), text.as_bytes().to_vec()].concat();
    let head = [avro_long(2), text("avro.schema"), text(schema), text("avro.codec"), text(codec)];
    let block = [avro_long(1), avro_long(block.len()), block.to_vec()].concat();
    [b"Obj\x01".to_vec(), head.concat(), vec![0], vec![9; 16], block, vec![9; 16]].concat()
}

#[test]
fn avro_strings_and_bytes_that_were_packed() {
    let _turn = TURN.lock();
    for (schema, factor) in [(r#""string""#, 1), (r#""bytes""#, 2)] {
        let value = [avro_long(16 * MB), vec![0xc3; 16 * MB]].concat();
        let packed = zstd::encode_all(value.as_slice(), 3).unwrap();
        drop(value);
        let file = avro_file(schema, "zstandard", &packed);
        let (shown, peak) = peak(|| {
            let mut out = Count::default();
            avro::write_lines(file.as_slice(), &mut out).map(|()| out.0)
        });
        assert!(shown.unwrap() > factor * 16 * MB);
        assert!(file.len() < 16_384 && peak < 8 * MB, "{peak} bytes for {}", file.len());
    }
}

#[test]
fn avro_names_that_repeat_their_namespace() {
    let _turn = TURN.lock();
    let space = "n".repeat(100_000);
    let union = vec![r#""R""#; 20_000].join(",");
    let definitions: Vec<String> = (0..20_000)
        .map(|at| {
            format!(r#"{{"name":"f{at}","type":{{"type":"fixed","name":"F{at}","size":1}}}}"#)
        })
        .collect();
    let unions = format!(r#"{{"name":"u","type":[{union}]}}"#);
    for fields in [unions, definitions.join(",")] {
        let schema =
            format!(r#"{{"type":"record","name":"R","namespace":"{space}","fields":[{fields}]}}"#);
        let file = avro_file(&schema, "null", &[]);
        let (_, peak) = peak(|| avro::write_lines(file.as_slice(), &mut Count::default()));
        assert!(peak < 100 * MB, "{peak} bytes for {}", file.len());
    }
}

/// Returns a SequenceFile of one record, with NullWritable as key.
fn sequence_file(class: &str, value: &[u8]) -> Vec<u8> {
    let text = |text: &str| [vec![text.len() as u8], text.as_bytes().to_vec()].concat();
    let io = "org.apache.hadoop.io";
    let packed = zstd::encode_all(value, 3).unwrap();
    let mut out = b"SEQ\x06".to_vec();
    out.extend(text(&format!("{io}.NullWritable")));
    out.extend(text(&format!("{io}.{class}")));
    out.extend([1, 0]);
    out.extend(text(&format!("{io}.compress.ZStandardCodec")));
    out.extend([0; 4]);
    out.extend([7; 16]);
    out.extend((packed.len() as u32).to_be_bytes());
    out.extend([0; 4]);
    [out, packed].concat()
}

#[test]
fn records_of_a_sequence_file_that_were_packed() {
    let _turn = TURN.lock();
    let length = (16 * MB as u32).to_be_bytes();
    let bytes = [length.as_slice(), &[7; 16 * MB]].concat();
    let text = [&[0x8c_u8][..], &length, &[b'x'; 16 * MB]].concat();
    for (class, value) in [("BytesWritable", bytes), ("Text", text)] {
        let file = sequence_file(class, &value);
        drop(value);
        let (shown, peak) = peak(|| {
            let mut out = Count::default();
            sequence::write_lines(file.as_slice(), &mut out).map(|()| out.0)
        });
        assert!(shown.unwrap() > 16 * MB, "{class}");
        assert!(file.len() < 16_384 && peak < 8 * MB, "{class}: {peak} bytes for {}", file.len());
    }
}

/// A map is held until it is whole, up to a limit.
#[test]
fn a_map_of_many_entries() {
    let _turn = TURN.lock();
    // Each entry is a VIntWritable (-114) with a NullWritable (-119).
    let entries = [0x8e, 1, 0x89].repeat(10 * MB);
    let value = [vec![0], (10 * MB as u32).to_be_bytes().to_vec(), entries].concat();
    let file = sequence_file("MapWritable", &value);
    drop(value);
    let (shown, peak) = peak(|| sequence::write_lines(file.as_slice(), &mut Count::default()));
    let error = shown.unwrap_err().to_string();
    assert!(error.contains("maps of more than"), "{error}");
    assert!(peak < 150 * MB, "{peak} bytes for {}", file.len());
}
