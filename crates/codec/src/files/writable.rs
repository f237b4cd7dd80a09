//! Hadoop's Writables, shown as Java's `toString` does.
//!
//! Values go out as they are read. Only a MapWritable is held, because Java shows it in the order of its hash table.

use std::cell::Cell;
use std::io::{self, BufRead, Write};

use super::fields::{FORMAT, Fields, java_text};
use super::hash_order::HashOrder;
use super::text::{Utf8Decoder, pieces};
use super::writable_kind::Writable;
use super::{java, unsupported};

/// Values within values, deeper than any that are meant.
const DEPTH_MAX: usize = 32;
/// Most memory for the maps of one record.
const MAPS_MAX: usize = 64 << 20;
/// Memory for an entry of a map, apart from its text.
const ENTRY: usize = 128;

/// Shows the keys or the values of a file, one after the other.
pub(super) struct Shower {
    kind: Writable,
    /// Memory that maps of this record may still take.
    left: Cell<usize>,
    /// The hash table of the MapWritable that Java uses for all records of the file.
    table: HashOrder,
}

impl Shower {
    pub(super) fn new(kind: Writable) -> Shower {
        Shower { kind, left: Cell::new(MAPS_MAX), table: HashOrder::default() }
    }

    /// Writes the next value.
    pub(super) fn show<R: BufRead>(
        &mut self,
        input: &mut Fields<R>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let values = Values { left: &self.left };
        self.left.set(MAPS_MAX);
        match self.kind {
            Writable::Map => values.map(&mut self.table, input, 0, out),
            kind => values.show(kind, input, 0, out),
        }
    }
}

/// Shows the values of a record.
#[derive(Clone, Copy)]
struct Values<'a> {
    left: &'a Cell<usize>,
}

impl Values<'_> {
    fn show<R: BufRead>(
        self,
        kind: Writable,
        input: &mut Fields<R>,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return input.wrong("values are nested too deeply");
        }
        match kind {
            Writable::Map => self.map(&mut HashOrder::default(), input, depth, out),
            Writable::SortedMap => self.sorted_map(input, depth, out),
            Writable::Object => self.object(input, depth, true, out),
            Writable::PrimitiveArray => {
                let class = input.short_text()?;
                primitive_array(&class, input, out)
            }
            Writable::EnumSet => self.enum_set(input, depth, out),
            simple => show_simple(simple, input, out).map(|_| ()),
        }
    }

    /// Java shows a SortedMapWritable by its class and a hash code; its entries say more.
    fn sorted_map<R: BufRead>(
        self,
        input: &mut Fields<R>,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let classes = Classes::read(input)?;
        out.write_all(b"{")?;
        for at in 0..input.int()? {
            separate(at > 0, out)?;
            self.show(classes.next(input)?, input, depth + 1, out)?;
            out.write_all(b"=")?;
            self.show(classes.next(input)?, input, depth + 1, out)?;
        }
        out.write_all(b"}")
    }

    fn map<R: BufRead>(
        self,
        table: &mut HashOrder,
        input: &mut Fields<R>,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let classes = Classes::read(input)?;
        let (mut entries, mut hashes) = (Vec::new(), Vec::new());
        for _ in 0..input.int()? {
            let mut text = Limited { text: Vec::new(), left: self.left };
            text.charge(ENTRY)?;
            let kind = classes.next(input)?;
            let hash = match kind.has_hash() {
                true => show_simple(kind, input, &mut text)?,
                // Java's order of such keys differs from run to run.
                false => self.show(kind, input, depth + 1, &mut text).map(|()| 0)?,
            };
            text.write_all(b"=")?;
            self.show(classes.next(input)?, input, depth + 1, &mut text)?;
            entries.push(text.text);
            hashes.push(hash);
        }
        out.write_all(b"{")?;
        for (at, entry) in table.of(&hashes).into_iter().enumerate() {
            separate(at > 0, out)?;
            out.write_all(entries.get(entry).map_or(&[][..], Vec::as_slice))?;
        }
        out.write_all(b"}")
    }

    /// Shows an object that ObjectWritable wrote. `is_outer`: shows its class, too.
    fn object<R: BufRead>(
        self,
        input: &mut Fields<R>,
        depth: usize,
        is_outer: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return input.wrong("values are nested too deeply");
        }
        let declared = input.short_text()?;
        let begin = |class: &str, out: &mut dyn Write| match is_outer {
            true => write!(out, "OW[class={class},value="),
            false => Ok(()),
        };
        if is_primitive(&declared) {
            begin(&declared, out)?;
            show_primitive(&declared, input, out)?;
        } else if declared.starts_with('[') {
            begin(&class_of(&declared), out)?;
            out.write_all(b"[")?;
            for at in 0..input.int()? {
                separate(at > 0, out)?;
                self.object(input, depth + 1, false, out)?;
            }
            out.write_all(b"]")?;
        } else if declared == "org.apache.hadoop.io.ArrayPrimitiveWritable$Internal" {
            let element = input.short_text()?;
            begin(&format!("class [{}", descriptor(&element)), out)?;
            primitive_array(&element, input, out)?;
        } else if declared == "java.lang.String" {
            begin(&class_of(&declared), out)?;
            out.write_all(input.short_text()?.as_bytes())?;
        } else {
            // The class of a Writable, or the name of an enum's constant.
            let name = input.short_text()?;
            match Writable::of_class(&name) {
                _ if name == "org.apache.hadoop.io.ObjectWritable$NullInstance" => {
                    begin(&class_of(&input.short_text()?), out)?;
                    out.write_all(b"null")?;
                }
                Ok(kind) => {
                    begin(&class_of(&declared), out)?;
                    self.show(kind, input, depth + 1, out)?;
                }
                Err(error) if name.contains('.') => return Err(error),
                Err(_) => {
                    begin(&class_of(&declared), out)?;
                    out.write_all(name.as_bytes())?;
                }
            }
        }
        if is_outer { out.write_all(b"]") } else { Ok(()) }
    }

    fn enum_set<R: BufRead>(
        self,
        input: &mut Fields<R>,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let count = input.int()?;
        if count <= 0 {
            // The name of the elements' class.
            let length = input.int()?.max(0).into();
            input.bytes(length)?;
            return out.write_all(if count == 0 { b"[]" } else { b"(null)" });
        }
        out.write_all(b"[")?;
        for at in 0..count {
            separate(at > 0, out)?;
            self.object(input, depth + 1, false, out)?;
        }
        out.write_all(b"]")
    }
}

/// The classes that a map names itself, by their numbers.
struct Classes(Vec<(i8, String)>);

impl Classes {
    fn read<R: BufRead>(input: &mut Fields<R>) -> io::Result<Classes> {
        let count = input.byte()?.cast_signed();
        let class = |input: &mut Fields<R>| Ok((input.byte()?.cast_signed(), input.short_text()?));
        (0..count).map(|_| class(input)).collect::<io::Result<_>>().map(Classes)
    }

    /// Reads the number of a class and returns the type.
    fn next<R: BufRead>(&self, input: &mut Fields<R>) -> io::Result<Writable> {
        let id = input.byte()?.cast_signed();
        match self.0.iter().find(|(known, _)| *known == id) {
            Some((_, class)) => Writable::of_class(class),
            None => Writable::of_id(id).ok_or_else(|| {
                unsupported(format!("a map has values of class {id}, which it does not name"))
            }),
        }
    }
}

/// Text in memory that is charged to the record.
struct Limited<'a> {
    text: Vec<u8>,
    left: &'a Cell<usize>,
}

impl Limited<'_> {
    fn charge(&self, bytes: usize) -> io::Result<()> {
        let left = self.left.get().checked_sub(bytes);
        let left = left.ok_or_else(|| {
            unsupported(format!("a record has maps of more than {MAPS_MAX} bytes"))
        })?;
        self.left.set(left);
        Ok(())
    }
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The buffer may be twice as large as what it holds.
        self.charge(2 * bytes.len())?;
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn separate(is_more: bool, out: &mut dyn Write) -> io::Result<()> {
    if is_more { out.write_all(b", ") } else { Ok(()) }
}

/// Writes a value that holds no others and returns its `hashCode`.
fn show_simple<R: BufRead>(
    kind: Writable,
    input: &mut Fields<R>,
    out: &mut dyn Write,
) -> io::Result<i32> {
    Ok(match kind {
        Writable::Text => {
            let length = input.vlong()?;
            text(input, length, out)?
        }
        Writable::Utf8 => {
            let length = input.short()?.into();
            let bytes = input.bytes(length)?;
            out.write_all(java_text(&bytes).as_bytes())?;
            hashed(1, &bytes)
        }
        Writable::Bytes => {
            let length = input.int()?;
            hex(input, length.into(), out)?
        }
        Writable::Md5 => {
            let bytes = input.bytes(16)?;
            bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
            i32::from_be_bytes(*bytes.first_chunk().unwrap_or(&[0; 4]))
        }
        Writable::Int => number(i64::from(input.int()?), out)?,
        Writable::Long => number(input.long()?, out)?,
        Writable::VInt => number(input.vlong()?, out)?,
        Writable::Short => number(input.short()?.cast_signed().into(), out)?,
        Writable::Byte => number(input.byte()?.cast_signed().into(), out)?,
        Writable::Boolean => {
            let value = input.byte()? != 0;
            write!(out, "{value}")?;
            i32::from(!value)
        }
        Writable::Float => {
            let value = f32::from_bits(input.int()?.cast_unsigned());
            out.write_all(java::number(value.into(), true).as_bytes())?;
            value.to_bits().cast_signed()
        }
        Writable::Double => {
            let value = f64::from_bits(input.long()?.cast_unsigned());
            out.write_all(java::number(value, false).as_bytes())?;
            value.to_bits() as i32
        }
        _ => {
            out.write_all(b"(null)")?;
            0
        }
    })
}

fn number(value: i64, out: &mut dyn Write) -> io::Result<i32> {
    write!(out, "{value}")?;
    Ok(value as i32)
}

/// Continues Hadoop's hash of bytes.
fn hashed(hash: i32, bytes: &[u8]) -> i32 {
    let add = |hash: i32, byte: &u8| hash.wrapping_mul(31).wrapping_add(byte.cast_signed().into());
    bytes.iter().fold(hash, add)
}

fn length<R: BufRead>(input: &Fields<R>, length: i64) -> io::Result<u64> {
    u64::try_from(length).or_else(|_| input.wrong(format!("a length of {length}")))
}

fn text<R: BufRead>(input: &mut Fields<R>, count: i64, out: &mut dyn Write) -> io::Result<i32> {
    let count = length(input, count)?;
    let (mut hash, mut decoder) = (1, Utf8Decoder::default());
    let mut take = |text: &str| out.write_all(text.as_bytes());
    pieces(&mut input.source, FORMAT, count, |piece| {
        hash = hashed(hash, piece);
        decoder.push(piece, &mut take)
    })?;
    decoder.finish(&mut take)?;
    Ok(hash)
}

/// Writes bytes as pairs of digits with spaces between them.
fn hex<R: BufRead>(input: &mut Fields<R>, count: i64, out: &mut dyn Write) -> io::Result<i32> {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let count = length(input, count)?;
    let (mut hash, mut shown, mut is_first) = (1, Vec::new(), true);
    pieces(&mut input.source, FORMAT, count, |piece| {
        hash = hashed(hash, piece);
        shown.clear();
        for byte in piece {
            let digit = |half: u8| DIGITS[usize::from(half & 15)];
            shown.extend([b' ', digit(byte >> 4), digit(*byte)]);
        }
        let skipped = usize::from(std::mem::take(&mut is_first));
        out.write_all(&shown[skipped..])
    })?;
    Ok(hash)
}

/// Java's primitive types, each with its letter in the names of arrays.
const PRIMITIVES: [(&str, char); 9] = [
    ("boolean", 'Z'),
    ("byte", 'B'),
    ("char", 'C'),
    ("short", 'S'),
    ("int", 'I'),
    ("long", 'J'),
    ("float", 'F'),
    ("double", 'D'),
    ("void", 'V'),
];

fn is_primitive(name: &str) -> bool {
    PRIMITIVES.iter().any(|(known, _)| *known == name)
}

fn descriptor(name: &str) -> char {
    PRIMITIVES.iter().find(|(known, _)| *known == name).map_or('?', |(_, letter)| *letter)
}

/// Returns the text of Java's `Class.toString`.
fn class_of(name: &str) -> String {
    match name {
        _ if is_primitive(name) => name.to_owned(),
        "org.apache.hadoop.io.Writable" | "org.apache.hadoop.io.WritableComparable" => {
            format!("interface {name}")
        }
        _ => format!("class {name}"),
    }
}

fn show_primitive<R: BufRead>(
    name: &str,
    input: &mut Fields<R>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let kind = match name {
        "boolean" => Writable::Boolean,
        "byte" => Writable::Byte,
        "short" => Writable::Short,
        "int" => Writable::Int,
        "long" => Writable::Long,
        "float" => Writable::Float,
        "double" => Writable::Double,
        "char" => {
            let letter = char::from_u32(input.short()?.into()).unwrap_or('\u{fffd}');
            return write!(out, "{letter}");
        }
        "void" => return out.write_all(b"null"),
        _ => return input.wrong(format!("{name} is not a primitive type")),
    };
    show_simple(kind, input, out).map(|_| ())
}

/// Java shows an ArrayPrimitiveWritable by its address; the numbers are shown here as `Arrays.toString` shows them.
fn primitive_array<R: BufRead>(
    element: &str,
    input: &mut Fields<R>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"[")?;
    // Only elements of `void` take no bytes, and no array has them.
    if element == "void" {
        return input.wrong("an array of void");
    }
    for at in 0..input.int()? {
        separate(at > 0, out)?;
        show_primitive(element, input, out)?;
    }
    out.write_all(b"]")
}
