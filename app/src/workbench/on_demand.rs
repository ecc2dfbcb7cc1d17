//! What the virtual GPU finds out on request: the latest request and its state.

use std::sync::Arc;

/// The latest request and its state.
#[derive(Clone, Debug)]
pub struct OnDemand<Request, Found> {
    pub wanted: Option<Request>,
    pub state: OnDemandState<Found>,
}

/// State of the latest request.
#[derive(Clone, Debug)]
pub enum OnDemandState<Found> {
    /// No request yet.
    Nothing,
    /// The virtual GPU runs the kernel.
    Running,
    Found(Arc<Found>),
    /// It could not be found out, for this reason.
    Failed(String),
}

impl<Request, Found> Default for OnDemand<Request, Found> {
    fn default() -> Self {
        Self { wanted: None, state: OnDemandState::Nothing }
    }
}

impl<Request: PartialEq, Found> OnDemand<Request, Found> {
    /// Replaces the request.
    pub(super) fn begin(&mut self, wanted: Request) {
        *self = Self { wanted: Some(wanted), state: OnDemandState::Running };
    }

    /// Stores the result of a request; results of superseded requests are dropped.
    pub(super) fn finish(&mut self, wanted: &Request, found: Result<Found, String>) {
        if self.wanted.as_ref() == Some(wanted) {
            self.state = match found {
                Ok(found) => OnDemandState::Found(Arc::new(found)),
                Err(why) => OnDemandState::Failed(why),
            };
        }
    }
}
