//! Device workers: processes in which a station runs one side of a verification.

use lightbench_device::Description;
use lightbench_worker::frame::{Frame, FrameError};
use lightbench_worker::handle::WorkerHandle;
use lightbench_worker::protocol::{Call, Protocol};
use lightbench_worker::server::{Offer, Service};
use serde::{Deserialize, Serialize};

use super::station::{
    JudgeOrder, JudgeReport, MeasureOrder, MeasureReport, Opening, RunOrder, RunReport, Station,
    StationFailure,
};

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

/// Device workers, started when they are needed.
pub type DeviceWorker = WorkerHandle<DeviceProtocol>;

/// Every request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Open a device for one side of a verification; the one that was open is closed first.
    Open(Opening),
    /// Run a candidate.
    Run(Box<RunOrder>),
    /// Time candidates.
    Measure(Box<MeasureOrder>),
    /// Compare the outputs of a candidate with the reference.
    Judge(Box<JudgeOrder>),
}

impl From<Opening> for Request {
    fn from(opening: Opening) -> Self {
        Self::Open(opening)
    }
}

impl From<RunOrder> for Request {
    fn from(order: RunOrder) -> Self {
        Self::Run(Box::new(order))
    }
}

impl From<MeasureOrder> for Request {
    fn from(order: MeasureOrder) -> Self {
        Self::Measure(Box::new(order))
    }
}

impl From<JudgeOrder> for Request {
    fn from(order: JudgeOrder) -> Self {
        Self::Judge(Box::new(order))
    }
}

impl Call<DeviceProtocol> for Opening {
    type Reply = Result<Description, StationFailure>;
}

impl Call<DeviceProtocol> for RunOrder {
    type Reply = Result<RunReport, StationFailure>;
}

impl Call<DeviceProtocol> for MeasureOrder {
    type Reply = Result<MeasureReport, StationFailure>;
}

impl Call<DeviceProtocol> for JudgeOrder {
    type Reply = Result<JudgeReport, StationFailure>;
}

/// The function that opens a station.
pub type OpenStation = fn(&Opening) -> Result<Station, StationFailure>;

/// Offers the service to a parent.
#[must_use]
pub fn offer() -> Offer {
    offer_with(Station::open)
}

/// Offers the service with stations on devices that have no name.
#[must_use]
pub fn offer_with(open: OpenStation) -> Offer {
    Offer::new::<DeviceProtocol, _>(move |(), _scratch| {
        Ok((DeviceService { open, station: None }, ()))
    })
}

struct DeviceService {
    open: OpenStation,
    station: Option<Station>,
}

impl Service<DeviceProtocol> for DeviceService {
    fn answer(&mut self, request: Request) -> Result<Frame, FrameError> {
        match request {
            Request::Open(opening) => {
                // The device that was open is closed first: everything that is opened has a context of its own.
                self.station = None;
                let opened = (self.open)(&opening).map(|station| {
                    let description = station.description().clone();
                    self.station = Some(station);
                    description
                });
                Opening::encode(&opened)
            }
            Request::Run(order) => {
                RunOrder::encode(&self.station().and_then(|station| station.run(&order)))
            }
            Request::Measure(order) => {
                MeasureOrder::encode(&self.station().and_then(|station| station.measure(&order)))
            }
            Request::Judge(order) => {
                JudgeOrder::encode(&self.station().and_then(|station| station.judge(&order)))
            }
        }
    }
}

impl DeviceService {
    fn station(&mut self) -> Result<&mut Station, StationFailure> {
        let missing = || StationFailure::Order("no device is open".to_owned());
        self.station.as_mut().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::station::{ModuleImage, Side};

    #[test]
    fn an_opening_survives_the_round_trip() {
        let image = |ptx: &str, cubin| ModuleImage { ptx: ptx.to_owned(), cubin };
        for trusted in [None, Some(image("trusted", None)), Some(image("trusted", Some(vec![8])))] {
            let modules = vec![image("first", None), image("second", Some(vec![9, 9]))];
            let device = "cuda:0".to_owned();
            let request = Request::Open(Opening {
                side: Side::Candidate,
                device,
                max_steps: 5,
                modules,
                trusted,
            });
            assert_eq!(Frame::new(&request).unwrap().parse::<Request>().unwrap(), request);
        }
    }
}
