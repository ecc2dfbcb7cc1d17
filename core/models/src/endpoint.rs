//! The address of a server, from the user's settings, validated once.

use std::net::IpAddr;

use ureq::http::Uri;
use ureq::http::uri::Scheme;

/// A checked base address, such as `https://api.example.com/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    base: String,
    host: String,
    reach: Reach,
}

/// Which addresses the host may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Any: the connection is encrypted, or the user permits that it is not.
    Anywhere,
    /// This machine only.
    Loopback,
}

/// Whether a connection may be unencrypted though it leaves this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    Required,
    Optional,
}

/// A defect of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointProblem {
    /// It is not an address at all.
    #[error("`{text}` is not an address: write one such as https://host/v1")]
    NoAddress {
        /// As written.
        text: String,
    },
    /// It is neither `http://` nor `https://`.
    #[error("`{scheme}://` is not supported: write https:// (or http:// for this machine)")]
    Scheme {
        /// As written.
        scheme: String,
    },
    /// It is `http://` to another machine.
    #[error(
        "http:// to `{host}` sends the key and the code unencrypted: use https://, or add `insecure: true` if you mean it"
    )]
    Unencrypted {
        /// The host.
        host: String,
    },
    /// It contains a name, password or query, which may hold a key.
    #[error("the endpoint contains a {part}: keys come from the environment or the keyring only")]
    Extra {
        /// Which part.
        part: &'static str,
    },
}

impl Endpoint {
    pub(crate) fn parse(text: &str, encryption: Encryption) -> Result<Self, EndpointProblem> {
        let no_address = || EndpointProblem::NoAddress { text: shown(text) };
        if text.contains('#') {
            return Err(EndpointProblem::Extra { part: "fragment" });
        }
        let uri: Uri = text.trim().parse().map_err(|_no_address| no_address())?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(no_address());
        };
        if authority.as_str().contains('@') {
            return Err(EndpointProblem::Extra { part: "name or password" });
        }
        if uri.query().is_some() {
            return Err(EndpointProblem::Extra { part: "query" });
        }
        let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
        if host.is_empty() {
            return Err(no_address());
        }
        let reach = match (scheme.clone(), encryption) {
            (scheme, _) if scheme == Scheme::HTTPS => Reach::Anywhere,
            (scheme, Encryption::Optional) if scheme == Scheme::HTTP => Reach::Anywhere,
            (scheme, Encryption::Required) if scheme == Scheme::HTTP => Reach::Loopback,
            (scheme, _) => return Err(EndpointProblem::Scheme { scheme: scheme.to_string() }),
        };
        if reach == Reach::Loopback && !names_this_machine(&host) {
            return Err(EndpointProblem::Unencrypted { host });
        }
        Ok(Self { base: uri.to_string().trim_end_matches('/').to_owned(), host, reach })
    }

    /// The host, without port.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The whole address, as it may be shown.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.base
    }

    pub(crate) fn with_path(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) const fn reach(&self) -> Reach {
        self.reach
    }

    /// Whether it names this machine: such addresses bypass the proxy.
    pub(crate) fn is_this_machine(&self) -> bool {
        names_this_machine(&self.host)
    }
}

fn names_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// An address for display: without the part before `@`, and shortened.
fn shown(text: &str) -> String {
    let after = text.rsplit_once('@').map_or(text, |(_, after)| after);
    crate::text::excerpt(after)
}
