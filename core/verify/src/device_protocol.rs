//! The protocol of device workers: processes in which a session runs one side of a verification.

use lightbench_device::Description;
use lightbench_remote::sequence::Sequenced;
use lightbench_worker::frame::{Frame, FrameError};
use lightbench_worker::protocol::{Call, Protocol};
use lightbench_worker::server::{Offer, Service};
use serde::{Deserialize, Serialize};

use super::device_session::{
    DeviceSession, JudgeReport, JudgeRequest, MeasureReport, MeasureRequest, OpenRequest,
    RunReport, RunRequest, SessionFailure,
};
use super::rehearsal;

/// The service that runs kernels on a device.
#[derive(Debug)]
pub struct DeviceProtocol;

impl Protocol for DeviceProtocol {
    const SERVICE: &'static str = "device";
    const BUILD: &'static str = env!("LIGHTBENCH_SOURCE_HASH");
    type Options = ();
    type Facts = ();
    type Request = Request;
}

/// Every request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Open a device for one side of a verification; the one that was open is closed first.
    Open(OpenRequest),
    /// Run a candidate.
    Run(Box<RunRequest>),
    /// Time candidates.
    Measure(Box<MeasureRequest>),
    /// Compare the outputs of a candidate with the reference.
    Judge(Box<JudgeRequest>),
}

impl Sequenced for DeviceProtocol {
    fn continues(request: &Frame, reply: &Frame) -> Result<bool, FrameError> {
        Ok(match request.parse()? {
            Request::Open(_) => reply.parse::<<OpenRequest as Call<Self>>::Reply>()?.is_ok(),
            Request::Run(_) => {
                let ran = reply.parse::<<RunRequest as Call<Self>>::Reply>()?;
                ran.is_ok_and(|report| rehearsal::is_clean(&report))
            }
            Request::Measure(_) => {
                let measured = reply.parse::<<MeasureRequest as Call<Self>>::Reply>()?;
                measured.is_ok_and(|report| rehearsal::is_measured(&report))
            }
            Request::Judge(_) => {
                let judged = reply.parse::<<JudgeRequest as Call<Self>>::Reply>()?;
                judged.is_ok_and(|report| rehearsal::is_accepted(&report))
            }
        })
    }
}

impl From<OpenRequest> for Request {
    fn from(opening: OpenRequest) -> Self {
        Self::Open(opening)
    }
}

impl From<RunRequest> for Request {
    fn from(order: RunRequest) -> Self {
        Self::Run(Box::new(order))
    }
}

impl From<MeasureRequest> for Request {
    fn from(order: MeasureRequest) -> Self {
        Self::Measure(Box::new(order))
    }
}

impl From<JudgeRequest> for Request {
    fn from(order: JudgeRequest) -> Self {
        Self::Judge(Box::new(order))
    }
}

impl Call<DeviceProtocol> for OpenRequest {
    type Reply = Result<Description, SessionFailure>;
}

impl Call<DeviceProtocol> for RunRequest {
    type Reply = Result<RunReport, SessionFailure>;
}

impl Call<DeviceProtocol> for MeasureRequest {
    type Reply = Result<MeasureReport, SessionFailure>;
}

impl Call<DeviceProtocol> for JudgeRequest {
    type Reply = Result<JudgeReport, SessionFailure>;
}

/// The function that opens a session.
pub type OpenSession = fn(&OpenRequest) -> Result<DeviceSession, SessionFailure>;

/// Offers the service to a parent.
#[must_use]
pub fn offer() -> Offer {
    offer_with(DeviceSession::open)
}

/// Offers the service with sessions on devices that have no name.
#[must_use]
pub fn offer_with(open: OpenSession) -> Offer {
    Offer::new::<DeviceProtocol, _>(move |(), _scratch| {
        Ok((DeviceService { open, session: None }, ()))
    })
}

struct DeviceService {
    open: OpenSession,
    session: Option<DeviceSession>,
}

impl Service<DeviceProtocol> for DeviceService {
    fn answer(&mut self, request: Request) -> Result<Frame, FrameError> {
        match request {
            Request::Open(opening) => {
                // The device that was open is closed first: everything that is opened has a context of its own.
                self.session = None;
                let opened = (self.open)(&opening).map(|session| {
                    let description = session.description().clone();
                    self.session = Some(session);
                    description
                });
                OpenRequest::encode(&opened)
            }
            Request::Run(order) => {
                RunRequest::encode(&self.session().and_then(|session| session.run(&order)))
            }
            Request::Measure(order) => {
                MeasureRequest::encode(&self.session().and_then(|session| session.measure(&order)))
            }
            Request::Judge(order) => {
                JudgeRequest::encode(&self.session().and_then(|session| session.judge(&order)))
            }
        }
    }
}

impl DeviceService {
    fn session(&mut self) -> Result<&mut DeviceSession, SessionFailure> {
        let missing = || SessionFailure::Order("no device is open".to_owned());
        self.session.as_mut().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_session::{ModuleImage, Side};

    #[test]
    fn an_opening_survives_the_round_trip() {
        let image = |ptx: &str, cubin| ModuleImage { ptx: ptx.to_owned(), cubin };
        for trusted in [None, Some(image("trusted", None)), Some(image("trusted", Some(vec![8])))] {
            let modules = vec![image("first", None), image("second", Some(vec![9, 9]))];
            let device = "cuda:0".to_owned();
            let request = Request::Open(OpenRequest {
                side: Side::Candidate,
                device,
                max_steps: 5,
                modules,
                harness_kernels: trusted,
            });
            assert_eq!(Frame::new(&request).unwrap().parse::<Request>().unwrap(), request);
        }
    }
}
