//! The signed cookie `hadoop.auth` (`AuthenticationFilter`, `Signer`): who has said its name once need not say it again, to any
//! server that has the same secret.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_system::clock;

const NAME: &str = "hadoop.auth";
/// What HttpFS's servers call simple authentication with delegation tokens beside it.
const TYPE: &str = "simple-dt";
const SIGNATURE: &str = "&s=";

/// Makes and reads cookies.
pub(crate) struct Cookies {
    signer: Hmac<Sha256>,
    validity: Duration,
    domain: Option<String>,
    /// Whether browsers send it by HTTPS only.
    is_secure: bool,
}

/// Why cookies cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum CookieError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// The file with the secret.
    #[error("{key}, {}: {source}", path.display())]
    Secret {
        /// The key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Cookies {
    /// By `httpfs.authentication.*`, or else `hadoop.http.authentication.*`. Without a file for the secret it is a new one, and
    /// cookies count until this process ends.
    ///
    /// # Errors
    /// If the file cannot be read or is empty.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, CookieError> {
        let of_httpfs = &keys::HTTPFS_AUTHENTICATION_SIGNATURE_SECRET_FILE;
        let of_hadoop = &keys::HADOOP_HTTP_AUTHENTICATION_SIGNATURE_SECRET_FILE;
        let mut secret = random_secret()?;
        for key in [of_httpfs, of_hadoop] {
            if let Some(path) = conf.get(key)?.filter(|path| !path.is_empty()) {
                secret = read_secret(key.name, PathBuf::from(path))?;
                break;
            }
        }
        Ok(Self {
            signer: signer(&secret),
            validity: conf.get(&keys::HADOOP_HTTP_AUTHENTICATION_TOKEN_VALIDITY)?,
            domain: conf.get(&keys::HADOOP_HTTP_AUTHENTICATION_COOKIE_DOMAIN)?,
            is_secure: conf.get(&keys::HTTPFS_SSL_ENABLED)?,
        })
    }

    /// The user of a request's cookie; none without one that is good.
    pub(crate) fn user(&self, headers: &HeaderMap) -> Option<String> {
        let now_ms = now_ms();
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut cookies = lines.flat_map(|line| line.split(';'));
        cookies.find_map(|cookie| {
            let (name, value) = cookie.trim().split_once('=')?;
            (name == NAME).then(|| self.read(value.trim_matches('"'), now_ms))?
        })
    }

    /// The head of an answer that gives a user its cookie.
    pub(crate) fn header(&self, user: &str) -> Option<HeaderValue> {
        let validity_ms = u64::try_from(self.validity.as_millis()).unwrap_or(u64::MAX);
        let value = self.signed(user, now_ms().saturating_add(validity_ms));
        let domain = self.domain.as_ref().map(|domain| format!("; Domain={domain}"));
        let domain = domain.unwrap_or_default();
        let secure = if self.is_secure { "; Secure" } else { "" };
        // Requests that another site's page makes do not carry it, but links to this server do.
        let flags = format!("Path=/{domain}{secure}; HttpOnly; SameSite=Lax");
        HeaderValue::from_str(&format!("{NAME}=\"{value}\"; {flags}")).ok()
    }

    fn signed(&self, user: &str, expires_ms: u64) -> String {
        let token = format!("u={user}&p={user}&t={TYPE}&e={expires_ms}");
        let mut signer = self.signer.clone();
        signer.update(token.as_bytes());
        let signature = STANDARD.encode(signer.finalize().into_bytes());
        format!("{token}{SIGNATURE}{signature}")
    }

    fn read(&self, value: &str, now_ms: u64) -> Option<String> {
        let (token, signature) = value.rsplit_once(SIGNATURE)?;
        let mut signer = self.signer.clone();
        signer.update(token.as_bytes());
        signer.verify_slice(&STANDARD.decode(signature).ok()?).ok()?;
        let part = |name: &str| {
            let mut parts = token.split('&').filter_map(|part| part.split_once('='));
            parts.find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        let is_simple = matches!(part("t")?, "simple" | TYPE);
        let is_fresh = part("e")?.parse::<u64>().is_ok_and(|expires_ms| now_ms <= expires_ms)
            && part("i").is_none_or(|idle| idle.parse::<u64>().is_ok_and(|idle| now_ms <= idle));
        (is_simple && is_fresh).then(|| part("u").map(str::to_owned))?
    }
}

/// Reads a secret. With an empty one every caller could sign cookies for every user.
fn read_secret(key: &'static str, path: PathBuf) -> Result<Vec<u8>, CookieError> {
    let secret = std::fs::read(&path).and_then(|secret| match secret.trim_ascii().is_empty() {
        false => Ok(secret),
        true => Err(std::io::Error::other(
            "the file is empty; write a random secret into it, or remove the key",
        )),
    });
    secret.map_err(|source| CookieError::Secret { key, path, source })
}

fn random_secret() -> Result<Vec<u8>, CookieError> {
    let path = "/dev/urandom";
    let mut secret = vec![0; 32];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut secret));
    read.map_err(|source| CookieError::Secret { key: "random bytes", path: path.into(), source })?;
    Ok(secret)
}

fn now_ms() -> u64 {
    let since = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn signer(secret: &[u8]) -> Hmac<Sha256> {
    // A key may have any length.
    Hmac::new_from_slice(secret).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookies(secret: &str) -> Cookies {
        Cookies {
            signer: signer(secret.as_bytes()),
            validity: Duration::from_secs(36_000),
            domain: None,
            is_secure: false,
        }
    }

    #[test]
    fn a_cookie_counts_until_it_expires_and_only_with_its_signature() {
        let (ours, others) = (cookies("secret"), cookies("another"));
        let value = ours.signed("alice", 1000);
        // As Python's hmac and base64 make it.
        assert_eq!(
            value,
            "u=alice&p=alice&t=simple-dt&e=1000&s=b+qWzu3mevmvkTcG9FHOOaTabBJ2UxI5lbyCOnrMM7o="
        );
        assert_eq!(ours.read(&value, 1000).as_deref(), Some("alice"));
        assert_eq!(ours.read(&value, 1001), None);
        assert_eq!(others.read(&value, 1000), None);
        assert_eq!(ours.read(&value.replace("alice", "root"), 1000), None);
        for bad in ["", "u=a&p=a&t=simple&e=5", "&s=", "u=a&s=%"] {
            assert_eq!(ours.read(bad, 0), None, "{bad}");
        }
    }

    /// The gateway used to sign with an empty secret: every caller could sign cookies.
    #[test]
    fn an_empty_secret_signed_cookies() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for key in [
            "httpfs.authentication.signature.secret.file",
            "hadoop.http.authentication.signature.secret.file",
        ] {
            let mut conf = Conf::new();
            conf.set(key, file.path().display().to_string());
            for empty in ["", "\n", " \t\n"] {
                std::fs::write(file.path(), empty).unwrap();
                let refusal = Cookies::from_conf(&conf).err().unwrap().to_string();
                assert!(refusal.starts_with(key) && refusal.contains("empty"), "{refusal}");
            }
            std::fs::write(file.path(), "s").unwrap();
            assert!(Cookies::from_conf(&conf).is_ok());
        }
    }

    #[test]
    fn the_header_is_read_by_who_gets_it() {
        let cookies = cookies("secret");
        let header = cookies.header("alice").unwrap();
        let text = header.to_str().unwrap();
        assert!(text.starts_with("hadoop.auth=\"u=alice&p=alice&t=simple-dt&e="), "{text}");
        assert!(text.ends_with("\"; Path=/; HttpOnly; SameSite=Lax"), "{text}");
        let mut headers = HeaderMap::new();
        let cookie = format!("a=b; {}", text.split(';').next().unwrap());
        headers.insert(header::COOKIE, cookie.parse().unwrap());
        assert_eq!(cookies.user(&headers).as_deref(), Some("alice"));
    }
}
