//! The words of a command, and what is said when they make no sense, as Java says it.

use zerohop_client as client;
use zerohop_client::CacheExpiry;

use crate::failure::Failure;
use crate::fs::{client_failure, pop_flag, pop_valued};

/// Why a command was not carried out: its text for standard error, and the exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub text: String,
    pub code: i32,
}

pub type Answer<T = ()> = Result<T, Refusal>;

/// What the caller said makes no sense; exit code 1.
pub fn refuse<T>(text: impl Into<String>) -> Answer<T> {
    Err(Refusal { text: text.into(), code: 1 })
}

/// A Java exception that nobody catches but the tool itself; exit code -1.
fn thrown(class: &str, text: &str) -> Refusal {
    Refusal { text: format!("{class}: {text}"), code: 255 }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        thrown("IllegalArgumentException", &failure.text)
    }
}

/// What the NameNode answered, or why it did not; exit code 2.
pub fn failed(error: &client::Error) -> Refusal {
    match (error.java_class(), error.server_message()) {
        (Some(class), Some(message)) => {
            no_answer(class.rsplit(['.', '$']).next().unwrap_or_default(), message)
        }
        _ => no_answer("IOException", &client_failure(error.clone()).text),
    }
}

/// The same for a list, whose exceptions Apache's client leaves in their wrapping.
pub fn list_failed(error: &client::Error) -> Refusal {
    match error.server_message() {
        Some(message) => no_answer("RemoteException", message),
        None => failed(error),
    }
}

/// Java's message has its stack trace behind the first line.
fn no_answer(class: &str, message: &str) -> Refusal {
    let line = message.lines().next().unwrap_or_default();
    Refusal { text: format!("{class}: {line}"), code: 2 }
}

/// Arguments that are taken one by one, as Java's `StringUtils` takes them.
pub struct Arguments {
    left: Vec<String>,
    /// Of the command; a line.
    synopsis: String,
}

impl Arguments {
    pub fn new(words: Vec<String>, synopsis: String) -> Self {
        Self { left: words, synopsis }
    }

    /// The value behind `-name`.
    pub fn value(&mut self, name: &str) -> Answer<Option<String>> {
        Ok(pop_valued(name, &mut self.left)?)
    }

    pub fn flag(&mut self, name: &str) -> bool {
        pop_flag(name, &mut self.left)
    }

    pub fn number(&mut self, name: &str) -> Answer<Option<i64>> {
        self.value(name)?.map(|text| number(&text)).transpose()
    }

    pub fn count(&mut self, name: &str) -> Answer<Option<i16>> {
        self.value(name)?.map(|text| short(&text, 10)).transpose()
    }

    /// The first word that is no option.
    pub fn first(&mut self) -> Option<String> {
        let at = self.left.iter().position(|word| word == "--" || !word.starts_with('-'))?;
        let at = at + usize::from(self.left.get(at).is_some_and(|word| word == "--"));
        (at < self.left.len()).then(|| self.left.remove(at))
    }

    /// Fails where words are left; names the first.
    pub fn none_left(&self) -> Answer {
        self.left.first().map_or(Ok(()), |word| {
            let synopsis = &self.synopsis;
            refuse(format!("Can't understand argument: {word}\nUsage is {synopsis}"))
        })
    }

    /// The same; names them all.
    pub fn none_of_them_left(&self) -> Answer {
        if self.left.is_empty() {
            return Ok(());
        }
        let (words, synopsis) = (self.left.join(" "), &self.synopsis);
        refuse(format!("Can't understand arguments: {words}\nUsage is {synopsis}"))
    }

    /// The synopsis of the command; a line.
    pub fn synopsis(&self) -> &str {
        &self.synopsis
    }

    /// What nobody took.
    pub fn rest(&self) -> &[String] {
        &self.left
    }
}

/// `Long.parseLong`.
pub fn number(text: &str) -> Answer<i64> {
    text.parse().map_err(|_| not_a_number(text, 10))
}

/// `Short.parseShort`.
pub fn short(text: &str, radix: u32) -> Answer<i16> {
    let number = i32::from_str_radix(text, radix).map_err(|_| not_a_number(text, radix))?;
    i16::try_from(number).map_err(|_| {
        let text = format!("Value out of range. Value:\"{text}\" Radix:{radix}");
        thrown("NumberFormatException", &text)
    })
}

/// `Integer.parseInt`, of permissions.
pub fn mode(text: &str) -> Answer<u16> {
    let mode = i32::from_str_radix(text, 8).map_err(|_| not_a_number(text, 8))?;
    Ok(mode as u16)
}

fn not_a_number(text: &str, radix: u32) -> Refusal {
    let radix = if radix == 10 { String::new() } else { format!(" under radix {radix}") };
    thrown("NumberFormatException", &format!("For input string: \"{text}\"{radix}"))
}

/// A time to live in milliseconds: `30m`, `never`; `what` it is of (`DFSUtil.parseRelativeTime`).
pub fn ttl(text: &str, what: &str) -> Answer<i64> {
    if text.eq_ignore_ascii_case("never") {
        return Ok(CacheExpiry::NEVER_MS);
    }
    let bad = |why: String| {
        let problem = format!("Unable to parse relative time value of {text}: {why}");
        refuse(format!("Error while parsing {what} value: {problem}"))
    };
    let Some((at, unit)) = text.char_indices().next_back().filter(|(at, _)| *at > 0) else {
        return bad("too short".to_owned());
    };
    let digits = &text[..at];
    let Ok(count) = digits.parse::<i64>() else {
        return bad(format!("{digits} is not a number"));
    };
    let seconds: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        other => return bad(format!("unknown time unit {other}")),
    };
    Ok(count.wrapping_mul(seconds).wrapping_mul(1000))
}

/// When a directive of that time to live ends.
pub fn expiry(ms: i64) -> Answer<CacheExpiry> {
    if ms > CacheExpiry::NEVER_MS {
        let text = "Expiration time is too far in the future!";
        return Err(thrown("IllegalArgumentException", text));
    }
    Ok(CacheExpiry { ms, is_relative: true })
}

/// `<path>` as Java's `Path` takes it.
pub fn path(text: &str) -> Answer<&str> {
    if text.is_empty() {
        let problem = "Can not create a Path from an empty string";
        return Err(thrown("IllegalArgumentException", problem));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Arguments {
        let words = text.split(' ').map(str::to_owned).collect();
        Arguments::new(words, "[-modifyPool <name>]\n".to_owned())
    }

    #[test]
    fn words_are_taken_from_anywhere() {
        let mut words = words("-force one -limit 3 two");
        assert_eq!(words.number("-limit").unwrap(), Some(3));
        assert!(words.flag("-force") && !words.flag("-force"));
        assert_eq!(words.first().as_deref(), Some("one"));
        assert_eq!(words.rest(), ["two"]);
        let left = words.none_left().unwrap_err().text;
        assert_eq!(left, "Can't understand argument: two\nUsage is [-modifyPool <name>]\n");
    }

    #[test]
    fn a_name_may_look_like_an_option_behind_two_dashes() {
        assert_eq!(words("-- -x").first().as_deref(), Some("-x"));
        assert_eq!(words("-x --").first(), None);
    }

    #[test]
    fn times_to_live() {
        assert_eq!(ttl("30m", "ttl"), Ok(1_800_000));
        assert_eq!(ttl("Never", "ttl"), Ok(CacheExpiry::NEVER_MS));
        let text = |text| ttl(text, "ttl").unwrap_err().text;
        let problem = "Error while parsing ttl value: Unable to parse relative time value of";
        assert_eq!(text("5"), format!("{problem} 5: too short"));
        assert_eq!(text("xs"), format!("{problem} xs: x is not a number"));
        assert_eq!(text("5é"), format!("{problem} 5é: unknown time unit é"));
    }

    #[test]
    fn numbers_are_refused_in_java_s_words() {
        let text = "NumberFormatException: For input string: \"9\" under radix 8";
        assert_eq!(short("9", 8).unwrap_err(), Refusal { text: text.to_owned(), code: 255 });
        let text = "NumberFormatException: Value out of range. Value:\"70000\" Radix:10";
        assert_eq!(short("70000", 10).unwrap_err().text, text);
    }
}
