//! Resolves names and opens connections. The system calls for both cannot be interrupted, so each runs in its own
//! thread, which is abandoned on cancellation; it ends at the system's own time limit and has no side effects.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::thread::Builder;

use crossbeam_channel::{RecvTimeoutError, bounded};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{ConnectionDetails, Connector, Either, NextTimeout, Transport};

use super::line::Line;
use super::watch::Watch;
use crate::endpoint::Reach;
use crate::error::{ModelErrorKind, WaitPhase};
use crate::stop_signal::SLICE;

/// Does something that cannot be interrupted, for as long as the watch permits.
fn beside<T: Send + 'static>(
    name: &str,
    watch: &Watch,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (tell, told) = bounded(1);
    Builder::new().name(name.to_owned()).spawn(move || {
        // Fails if the caller no longer waits.
        let _unheard = tell.send(work());
    })?;
    loop {
        match told.recv_timeout(SLICE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => watch.check_io()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread that connects ended"));
            }
        }
    }
}

/// Finds the addresses of hosts.
#[derive(Debug)]
pub(super) struct Lookup {
    pub(super) watch: Watch,
    pub(super) reach: Reach,
}

impl Resolver for Lookup {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let default = if uri.scheme_str() == Some("http") { 80 } else { 443 };
        let port = uri.port_u16().unwrap_or(default);
        let mut found = self.empty();
        for address in self.addresses(host.clone(), port)?.into_iter().take(MOST_ADDRESSES) {
            if self.reach == Reach::Loopback && !address.ip().is_loopback() {
                let address = address.ip().to_string();
                return Err(io::Error::other(ModelErrorKind::NotLoopback { host, address }).into());
            }
            found.push(address);
        }
        if found.is_empty() {
            let reason = "the name exists without one".to_owned();
            return Err(io::Error::other(ModelErrorKind::Address { host, reason }).into());
        }
        Ok(found)
    }
}

/// The limit of the HTTP library.
const MOST_ADDRESSES: usize = 16;

impl Lookup {
    fn addresses(&self, host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let name = host.clone();
        let found = beside("model-lookup", &self.watch, move || {
            Ok((name.as_str(), port).to_socket_addrs().map(Vec::from_iter))
        })?;
        found.map_err(|error| {
            io::Error::other(ModelErrorKind::Address { host, reason: error.to_string() })
        })
    }
}

/// Connects to the addresses that were found.
#[derive(Debug)]
pub(super) struct CancellableConnector(pub(super) Watch);

impl<In: Transport> Connector<In> for CancellableConnector {
    type Out = Either<In, Line>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        if let Some(through_proxy) = chained {
            return Ok(Some(Either::A(through_proxy)));
        }
        let addresses: Vec<SocketAddr> = details.addrs.iter().copied().collect();
        let limit = self.0.limit(WaitPhase::Connection);
        let connected = beside("model-dial", &self.0, move || {
            let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
            for address in addresses {
                match TcpStream::connect_timeout(&address, limit) {
                    Ok(stream) => return Ok(Ok(stream)),
                    Err(error) => last = error,
                }
            }
            Ok(Err(last))
        })?;
        let stream = connected?;
        self.0.enter(WaitPhase::Beginning);
        Ok(Some(Either::B(Line::new(stream, self.0.clone())?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{TimeLimits, WrittenTimeLimits};
    use crate::stop_signal::StopSignal;

    #[test]
    fn what_must_stay_on_this_machine_does() {
        let check = |uri: &str, reach: Reach, may_be_reached: bool| {
            let limits = TimeLimits::from_written(WrittenTimeLimits::default()).unwrap();
            let lookup = Lookup { watch: Watch::new(StopSignal::never(), limits), reach };
            let timeout = NextTimeout {
                after: ureq::unversioned::transport::time::Duration::NotHappening,
                reason: ureq::Timeout::Global,
                ..NextTimeout::default()
            };
            let found = lookup.resolve(&uri.parse().unwrap(), &Config::default(), timeout);
            assert_eq!(found.is_ok(), may_be_reached, "{uri}: {found:?}");
        };
        check("http://127.0.0.1:80/", Reach::Loopback, true);
        check("http://[::1]/", Reach::Loopback, true);
        check("http://localhost:8080/", Reach::Loopback, true);
        check("http://10.0.0.1/", Reach::Loopback, false);
        check("http://[2001:db8::1]/", Reach::Loopback, false);
        check("https://10.0.0.1/", Reach::Anywhere, true);
    }
}
