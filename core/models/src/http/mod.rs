//! One HTTP request and its response; every wait can be cancelled and is limited.
//!
//! The library below implements HTTP; the sockets are our own (`line.rs`), because a blocking read that cannot be
//! interrupted would keep a cancelled request open until the server responds.

mod connect;
mod line;
mod watch;

use std::io::Read as _;
use std::sync::Arc;

use ureq::config::Config;
use ureq::http::{HeaderMap, HeaderValue, Request};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::{ConnectProxyConnector, Connector as _, RustlsConnector};
use ureq::{Agent, BodyReader};

use self::connect::{CancellableConnector, Lookup};
pub(crate) use self::watch::Watch;
use crate::endpoint::Endpoint;
use crate::error::{ModelErrorKind, WaitPhase};
use crate::text::excerpt;

/// A request: `GET` without a body, `POST` with one.
pub(crate) struct Outgoing<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) path: &'a str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
    pub(crate) proxy: Option<ureq::Proxy>,
}

/// An answer whose head has arrived.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: BodyReader<'static>,
    watch: Watch,
    host: String,
}

/// Sends a request and waits for the head of the answer. Redirects are answers like any other.
pub(crate) fn send(outgoing: Outgoing<'_>, watch: &Watch) -> Result<Incoming, ModelErrorKind> {
    let host = outgoing.endpoint.host().to_owned();
    let agent = agent(&outgoing, watch);
    let request = written(outgoing).map_err(|error| trouble_of(error, &host))?;
    let response = agent.run(request).map_err(|error| trouble_of(error, &host))?;
    watch.enter(WaitPhase::NextPiece);
    let (head, body) = response.into_parts();
    Ok(Incoming {
        status: head.status.as_u16(),
        headers: head.headers,
        body: body.into_reader(),
        watch: watch.clone(),
        host,
    })
}

/// Limit on the bytes of a response's head.
const HEAD_BYTES: usize = 64 << 10;

/// An HTTP agent for one request: connections are not reused, so a dead connection never affects a later request.
fn agent(outgoing: &Outgoing<'_>, watch: &Watch) -> Agent {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = Config::builder()
        .proxy(outgoing.proxy.clone())
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .max_response_header_size(HEAD_BYTES)
        .user_agent(concat!("lightbench/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build();
    let connector =
        ().chain(ConnectProxyConnector::default())
            .chain(CancellableConnector(watch.clone()))
            .chain(RustlsConnector::default());
    let lookup = Lookup { watch: watch.clone(), reach: outgoing.endpoint.reach() };
    Agent::with_parts(config, connector, lookup)
}

fn written(outgoing: Outgoing<'_>) -> Result<Request<String>, ureq::Error> {
    let address = outgoing.endpoint.with_path(outgoing.path);
    let mut request = match outgoing.body {
        Some(_) => Request::post(address),
        None => Request::get(address),
    };
    for (name, value) in outgoing.headers {
        let mut value = HeaderValue::try_from(value).map_err(ureq::http::Error::from)?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    // No body is an empty one, for which no length is sent with `GET`.
    Ok(request.body(outgoing.body.unwrap_or_default())?)
}

impl Incoming {
    /// The next bytes of the body; 0 at its end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ModelErrorKind> {
        self.watch.check()?;
        self.body.read(buffer).map_err(|error| trouble_of(error.into(), &self.host))
    }

    /// A header's text, if it has one.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The received beginning of the body, as text.
    pub(crate) fn beginning(&mut self, most: usize) -> Result<String, ModelErrorKind> {
        let mut bytes = Vec::new();
        let mut buffer = [0_u8; 8192];
        while bytes.len() < most {
            match self.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => bytes.extend(buffer.iter().take(count)),
                Err(ModelErrorKind::Cancelled) => return Err(ModelErrorKind::Cancelled),
                // A partial body suffices for the message; the status is the essential part.
                Err(_cut) => break,
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Our own errors pass through the library as the payload of an I/O error.
fn trouble_of(error: ureq::Error, host: &str) -> ModelErrorKind {
    let reason = excerpt(&error.to_string());
    let host = host.to_owned();
    if matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_)) {
        return ModelErrorKind::Encryption { host, reason };
    }
    if let ureq::Error::LargeResponseHeader(_, limit) = error {
        return ModelErrorKind::HeadTooLong { host, limit };
    }
    if matches!(error, ureq::Error::Protocol(_)) {
        return ModelErrorKind::NotHttp { host, reason };
    }
    let ureq::Error::Io(error) = error else { return ModelErrorKind::Connection { host, reason } };
    match error.into_inner() {
        Some(inner) if inner.is::<rustls::Error>() => ModelErrorKind::Encryption { host, reason },
        Some(inner) => match inner.downcast::<ModelErrorKind>() {
            Ok(trouble) => *trouble,
            Err(_other) => ModelErrorKind::Connection { host, reason },
        },
        None => ModelErrorKind::Connection { host, reason },
    }
}
