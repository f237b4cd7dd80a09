//! A recording as pprof's `profile.proto`, compressed: for `go tool pprof`, Speedscope, Pyroscope and their like.

use crate::options::Clock;
use crate::recording::Recording;
use crate::symbols::Function;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

/// `perftools.profiles.Profile`; fields that are not written are left out.
#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<FunctionEntry>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// The innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FunctionEntry {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

#[derive(Default)]
struct Builder {
    profile: Profile,
    strings: HashMap<String, i64>,
    locations: HashMap<Function, u64>,
}

impl Builder {
    fn new() -> Self {
        let mut builder = Self::default();
        builder.string("");
        builder
    }

    fn string(&mut self, text: &str) -> i64 {
        if let Some(index) = self.strings.get(text) {
            return *index;
        }
        let index = self.profile.string_table.len() as i64;
        self.profile.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn value_type(&mut self, kind: &str, unit: &str) -> ValueType {
        ValueType { kind: self.string(kind), unit: self.string(unit) }
    }

    fn location(&mut self, function: &Function) -> u64 {
        if let Some(id) = self.locations.get(function) {
            return *id;
        }
        let id = self.locations.len() as u64 + 1;
        let (name, filename) = (self.string(&function.name), self.string(&function.file));
        self.profile.function.push(FunctionEntry { id, name, filename });
        let line = vec![Line { function_id: id, line: function.line.into() }];
        self.profile.location.push(Location { id, line });
        self.locations.insert(function.clone(), id);
        id
    }

    fn sample(&mut self, stack: &[Function], values: [i64; 2]) {
        let key = self.string("thread");
        let role = stack.first().map(|role| role.name.to_string()).unwrap_or_default();
        let text = self.string(&role);
        let location_id = stack.iter().rev().map(|function| self.location(function)).collect();
        let label = vec![Label { key, text }];
        self.profile.sample.push(Sample { location_id, value: values.to_vec(), label });
    }
}

/// The bytes of the file.
///
/// # Errors
/// None that are known: they are written to memory.
pub fn pprof(recording: &Recording) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new();
    let kind = match recording.options.clock {
        Clock::Cpu => "cpu",
        Clock::Wall => "wall",
    };
    let period = (1e9 / recording.hz.max(0.001)) as i64;
    let types = [builder.value_type("samples", "count"), builder.value_type(kind, "nanoseconds")];
    builder.profile.sample_type = types.to_vec();
    builder.profile.period_type = types.last().copied();
    builder.profile.period = period;
    let nanos = recording.options.duration.as_nanos();
    builder.profile.duration_nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
    for (stack, count) in &recording.stacks {
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        builder.sample(stack, [count, count.saturating_mul(period)]);
    }
    let mut file = GzEncoder::new(Vec::new(), Compression::default());
    file.write_all(&builder.profile.encode_to_vec())?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn functions_are_written_once() {
        let stack =
            |names: &[&str]| names.iter().map(|name| Function::named(*name)).collect::<Vec<_>>();
        let recording = Recording {
            options: Options::default(),
            hz: 100.0,
            process: String::new(),
            has_kernel: false,
            dropped: 0,
            refused: 0,
            stacks: [(stack(&["reader", "f", "g"]), 2), (stack(&["reader", "f"]), 1)].into(),
        };
        let mut bytes = Vec::new();
        let file = pprof(&recording).unwrap();
        GzDecoder::new(&file[..]).read_to_end(&mut bytes).unwrap();
        let profile = Profile::decode(&bytes[..]).unwrap();
        assert_eq!(
            (profile.function.len(), profile.location.len(), profile.sample.len()),
            (3, 3, 2)
        );
        assert_eq!(profile.string_table[0], "");
        let deep = profile.sample.iter().find(|sample| sample.location_id.len() == 3).unwrap();
        assert_eq!(deep.value, [2, 20_000_000]);
        let name = |id: &u64| {
            let function = profile.function.iter().find(|function| function.id == *id).unwrap();
            profile.string_table[function.name as usize].as_str()
        };
        assert_eq!(deep.location_id.iter().map(name).collect::<Vec<_>>(), ["g", "f", "reader"]);
    }
}
