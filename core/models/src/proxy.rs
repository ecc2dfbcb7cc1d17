//! The proxy for connections to servers, from the settings or from environment variables passed by the caller.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::endpoint::Endpoint;
use crate::secret::Secret;

/// A proxy, as the settings name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProxySettings {
    /// Its address, such as `http://proxy.example.com:3128`; without a name or password.
    pub address: String,
    /// Hosts that are reached without it: `host`, `.domain`, or `*`.
    pub except: Vec<String>,
}

/// A defect of a proxy setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyProblem {
    /// It is no address of a proxy.
    #[error("the proxy is not an address such as http://host:3128")]
    NoAddress,
    /// Only `http://` and `https://` proxies are spoken to.
    #[error("a proxy must be http:// or https://, not `{scheme}://`")]
    Scheme {
        /// As written.
        scheme: String,
    },
    /// The settings contain a password.
    #[error(
        "the proxy contains a name or password, which settings must not store: put it into the variable HTTPS_PROXY"
    )]
    Password,
}

/// A proxy that can be used.
#[derive(Clone)]
pub(crate) struct Proxy {
    proxy: ureq::Proxy,
    except: Vec<String>,
    password: Option<Secret>,
}

impl Proxy {
    pub(crate) fn from_settings(settings: &ProxySettings) -> Result<Self, ProxyProblem> {
        if settings.address.contains('@') {
            return Err(ProxyProblem::Password);
        }
        Self::new(&settings.address, settings.except.iter().map(String::as_str))
    }

    /// From `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower case.
    pub(crate) fn from_variables(
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Self>, ProxyProblem> {
        let value = |names: &[&str]| {
            let values = names.iter().filter_map(|name| variable(name));
            values.map(|value| value.to_string_lossy().into_owned()).find(|value| !value.is_empty())
        };
        let Some(address) = value(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) else {
            return Ok(None);
        };
        let except = value(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Self::new(&address, except.split(',')).map(Some)
    }

    fn new<'a>(address: &str, except: impl Iterator<Item = &'a str>) -> Result<Self, ProxyProblem> {
        let scheme = address.split_once("://").map_or("http", |(scheme, _)| scheme);
        if !matches!(scheme, "http" | "https") {
            return Err(ProxyProblem::Scheme { scheme: scheme.to_owned() });
        }
        let proxy = ureq::Proxy::new(address).map_err(|_unfit| ProxyProblem::NoAddress)?;
        let password = proxy.password().map(|password| Secret::new(password.to_owned()));
        let except = except.map(|host| host.trim().to_ascii_lowercase());
        Ok(Self { except: except.filter(|host| !host.is_empty()).collect(), proxy, password })
    }

    /// The proxy for a server, if one applies.
    pub(crate) fn for_host(&self, endpoint: &Endpoint) -> Option<ureq::Proxy> {
        let direct = endpoint.is_this_machine()
            || self.except.iter().any(|except| excepts(except, endpoint.host()));
        (!direct).then(|| self.proxy.clone())
    }

    pub(crate) fn password(&self) -> Option<&Secret> {
        self.password.as_ref()
    }
}

/// `domain` and `.domain` both mean the domain and everything below it, as curl has it.
fn excepts(except: &str, host: &str) -> bool {
    let domain = except.trim_start_matches("*.").trim_start_matches('.');
    except == "*"
        || host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
