//! `-getfattr` and `-setfattr`

use super::encoding::{base64, from_base64};
use super::options::{pop_flag, pop_valued};
use super::shell::Shell;
use crate::failure::{Failure, Outcome};

/// How a value is printed.
#[derive(Clone, Copy)]
enum Encoding {
    Text,
    Hex,
    Base64,
}

fn encode(value: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Text => format!("\"{}\"", String::from_utf8_lossy(value)),
        Encoding::Hex => format!("0x{}", hex::encode(value)),
        Encoding::Base64 => format!("0s{}", base64(value)),
    }
}

fn decode(text: &str) -> Outcome<Vec<u8>> {
    if text.len() >= 2 && text.starts_with('"') && text.ends_with('"') {
        return Ok(text.as_bytes()[1..text.len() - 1].to_vec());
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return hex::decode(digits)
            .map_err(|_| Failure::io(format!("not a hexadecimal value: {text}")));
    }
    match text.strip_prefix("0s").or_else(|| text.strip_prefix("0S")) {
        Some(letters) => Ok(from_base64(letters)),
        None => Ok(text.as_bytes().to_vec()),
    }
}

fn check_one_path(args: &[String]) -> Outcome {
    match args.len() {
        0 => Err(Failure::usage("<path> is missing.")),
        1 => Ok(()),
        _ => Err(Failure::usage("Too many arguments.")),
    }
}

pub fn getfattr(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    let name = pop_valued("-n", &mut args)?;
    let encoding = match pop_valued("-e", &mut args)? {
        None => Encoding::Text,
        Some(text) => match text.to_ascii_lowercase().as_str() {
            "text" => Encoding::Text,
            "hex" => Encoding::Hex,
            "base64" => Encoding::Base64,
            _ => {
                return Err(Failure::usage(format!(
                    "Invalid/unsupported encoding option specified: {text}"
                )));
            }
        },
    };
    let recursive = pop_flag("-R", &mut args);
    let dump = pop_flag("-d", &mut args);
    if !dump && name.is_none() {
        return Err(Failure::usage("Must specify '-n name' or '-d' option."));
    }
    check_one_path(&args)?;
    shell.walk_args(&args, recursive, &mut |shell, item, _| {
        shell.line(format!("# file: {}", item.text))?;
        let all = item.store.xattrs(&item.path)?;
        let wanted = |one: &str| dump || Some(one) == name.as_deref();
        let mut found = false;
        for (one, value) in all.iter().filter(|(one, _)| wanted(one)) {
            found = true;
            match value.is_empty() {
                true => shell.line(one)?,
                false => shell.line(format!("{one}={}", encode(value, encoding)))?,
            }
        }
        match found || dump {
            true => Ok(()),
            false => Err(Failure::io("At least one of the attributes provided was not found.")),
        }
    })
}

pub fn setfattr(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    let name = pop_valued("-n", &mut args)?;
    let value = pop_valued("-v", &mut args)?.as_deref().map(decode).transpose()?;
    let removed = pop_valued("-x", &mut args)?;
    if name.is_some() && removed.is_some() {
        return Err(Failure::usage("Can not specify both '-n name' and '-x name' option."));
    }
    if name.is_none() && removed.is_none() {
        return Err(Failure::usage("Must specify '-n name' or '-x name' option."));
    }
    check_one_path(&args)?;
    name.iter().chain(&removed).try_for_each(|name| check_name(name))?;
    shell.each_found(&args, |_, item| match (&name, &removed) {
        (Some(name), _) => {
            item.store.set_xattr(&item.path, name, value.as_deref().unwrap_or_default())
        }
        (None, Some(name)) => item.store.remove_xattr(&item.path, name),
        (None, None) => Ok(()),
    })
}

/// An attribute belongs to a name space.
fn check_name(name: &str) -> Outcome {
    let space = name.split_once('.').map(|(space, _)| space.to_ascii_lowercase());
    match space.as_deref() {
        Some("user" | "trusted" | "security" | "system" | "raw") => Ok(()),
        _ => Err(Failure::usage(
            "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_prefix() {
        assert_eq!(decode("\"x y\"").unwrap(), b"x y");
        assert_eq!(decode("0x6162").unwrap(), b"ab");
        assert_eq!(decode("0sYWI=").unwrap(), b"ab");
        assert_eq!(decode("plain").unwrap(), b"plain");
        assert!(decode("0x6").is_err() && decode("0xé").is_err());
    }
}
