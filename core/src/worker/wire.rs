//! Requests and replies as frames: the heads say what the blobs are.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::frame::{Frame, FrameError};
use super::protocol::{
    AssembleReply, AssembleRequest, CompileReply, CompileRequest, DisassembleRequest, Reply,
    Request, RequestFailure,
};
use crate::compile::nvrtc::NvrtcOutcome;
use crate::device::Description;
use crate::verify::station::{
    JudgeOrder, JudgeReport, MeasureOrder, MeasureReport, ModuleImage, Opening, OpeningHead,
    RunOrder, RunReport,
};

/// The head of a request.
#[derive(Serialize, Deserialize)]
enum RequestHead {
    /// Blobs: the PTX of each module, then the cubins of those that have one. The last one may be trusted.
    Open { head: OpeningHead, with_cubin: Vec<bool>, with_trusted: bool },
    /// No blobs.
    Run(Box<RunOrder>),
    /// No blobs.
    Measure(Box<MeasureOrder>),
    /// No blobs.
    Judge(Box<JudgeOrder>),
    /// Blobs: the source, then one for each header.
    Compile {
        name: String,
        headers: Vec<String>,
        name_expressions: Vec<String>,
        options: Vec<String>,
        include_folders: Vec<PathBuf>,
    },
    /// Blobs: the cubin.
    Disassemble { functions: Vec<u32> },
    /// Blobs: the PTX.
    Assemble { architecture: String, options: Vec<String> },
    /// No blobs.
    ExtractHeaders { into: PathBuf },
}

/// The head of a reply.
#[derive(Serialize, Deserialize)]
enum ReplyHead {
    /// No blobs.
    Opened(Box<Description>),
    /// No blobs.
    Ran(Box<RunReport>),
    /// No blobs.
    Measured(Box<MeasureReport>),
    /// No blobs.
    Judged(Box<JudgeReport>),
    /// Blobs: the log, the PTX, then the cubin if there is one.
    Compiled { elapsed: Duration, lowered_names: Vec<String> },
    /// Blobs: the log.
    Rejected { elapsed: Duration, code: i32, name: String },
    /// Blobs: the JSON.
    Disassembled,
    /// Blobs: the log, then the cubin if there is one.
    Assembled,
    /// No blobs.
    HeadersExtracted,
    /// No blobs.
    Failed(RequestFailure),
}

impl Request {
    /// The request as a frame; texts are moved, not copied.
    pub(crate) fn into_frame(self) -> Result<Frame, FrameError> {
        match self {
            Self::Open(Opening { head, mut modules, trusted }) => {
                let with_trusted = trusted.is_some();
                modules.extend(trusted);
                let with_cubin = modules.iter().map(|module| module.cubin.is_some()).collect();
                let (texts, cubins): (Vec<_>, Vec<_>) =
                    modules.into_iter().map(|module| (module.ptx, module.cubin)).unzip();
                let texts = texts.into_iter().map(String::into_bytes);
                let blobs = texts.chain(cubins.into_iter().flatten()).collect();
                Frame::new(&RequestHead::Open { head, with_cubin, with_trusted }, blobs)
            }
            Self::Run(order) => Frame::new(&RequestHead::Run(order), Vec::new()),
            Self::Measure(order) => Frame::new(&RequestHead::Measure(order), Vec::new()),
            Self::Judge(order) => Frame::new(&RequestHead::Judge(order), Vec::new()),
            Self::Compile(request) => {
                let (headers, texts): (Vec<String>, Vec<String>) =
                    request.headers.into_iter().unzip();
                let blobs = std::iter::once(request.source).chain(texts).map(String::into_bytes);
                let head = RequestHead::Compile {
                    name: request.name,
                    headers,
                    name_expressions: request.name_expressions,
                    options: request.options,
                    include_folders: request.include_folders,
                };
                Frame::new(&head, blobs.collect())
            }
            Self::Disassemble(DisassembleRequest { cubin, functions }) => {
                Frame::new(&RequestHead::Disassemble { functions }, vec![cubin])
            }
            Self::Assemble(AssembleRequest { ptx, architecture, options }) => {
                Frame::new(&RequestHead::Assemble { architecture, options }, vec![ptx])
            }
            Self::ExtractHeaders { into } => {
                Frame::new(&RequestHead::ExtractHeaders { into }, Vec::new())
            }
        }
    }

    /// The request that a frame holds.
    pub(crate) fn from_frame(frame: Frame) -> Result<Self, FrameError> {
        match frame.parse()? {
            RequestHead::Open { head, with_cubin, with_trusted } => {
                let cubins = with_cubin.iter().filter(|has| **has).count();
                let (expected, found) = (with_cubin.len() + cubins, frame.blobs.len());
                if expected != found {
                    return Err(FrameError::Blobs { expected, found });
                }
                let mut texts = frame.blobs;
                let mut cubins = texts.split_off(with_cubin.len()).into_iter();
                let modules = texts.into_iter().zip(with_cubin).map(|(text, has)| ModuleImage {
                    ptx: text_from_bytes(text),
                    cubin: if has { cubins.next() } else { None },
                });
                let mut modules: Vec<ModuleImage> = modules.collect();
                let trusted = if with_trusted { modules.pop() } else { None };
                Ok(Self::Open(Opening { head, modules, trusted }))
            }
            RequestHead::Run(order) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Run(order))
            }
            RequestHead::Measure(order) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Measure(order))
            }
            RequestHead::Judge(order) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Judge(order))
            }
            RequestHead::Compile { name, headers, name_expressions, options, include_folders } => {
                let (expected, found) = (headers.len() + 1, frame.blobs.len());
                if expected != found {
                    return Err(FrameError::Blobs { expected, found });
                }
                // Texts left the parent as UTF-8; replacing is for a parent that is not ours.
                let mut texts = frame.blobs.into_iter().map(text_from_bytes);
                let source = texts.next().unwrap_or_default();
                let headers = headers.into_iter().zip(texts).collect();
                let request = CompileRequest {
                    name,
                    source,
                    headers,
                    name_expressions,
                    options,
                    include_folders,
                };
                Ok(Self::Compile(request))
            }
            RequestHead::Disassemble { functions } => {
                let [cubin] = frame.into_blobs()?;
                Ok(Self::Disassemble(DisassembleRequest { cubin, functions }))
            }
            RequestHead::Assemble { architecture, options } => {
                let [ptx] = frame.into_blobs()?;
                Ok(Self::Assemble(AssembleRequest { ptx, architecture, options }))
            }
            RequestHead::ExtractHeaders { into } => {
                let [] = frame.into_blobs()?;
                Ok(Self::ExtractHeaders { into })
            }
        }
    }
}

impl Reply {
    /// The reply as bytes, for a file.
    ///
    /// # Errors
    /// When it is larger than a frame may be.
    pub fn encode(self) -> Result<Vec<u8>, FrameError> {
        let mut bytes = Vec::new();
        self.into_frame()?.write_to(&mut bytes)?;
        Ok(bytes)
    }

    /// The reply that [`Reply::encode`] wrote.
    ///
    /// # Errors
    /// When the bytes are no reply of this version.
    pub fn decode(mut bytes: &[u8]) -> Result<Self, FrameError> {
        Self::from_frame(Frame::read_from(&mut bytes)?)
    }

    /// The reply as a frame.
    pub(crate) fn into_frame(self) -> Result<Frame, FrameError> {
        match self {
            Self::Opened(device) => Frame::new(&ReplyHead::Opened(device), Vec::new()),
            Self::Ran(report) => Frame::new(&ReplyHead::Ran(report), Vec::new()),
            Self::Measured(report) => Frame::new(&ReplyHead::Measured(report), Vec::new()),
            Self::Judged(report) => Frame::new(&ReplyHead::Judged(report), Vec::new()),
            Self::Compiled(CompileReply { outcome, log, elapsed }) => match outcome {
                NvrtcOutcome::Compiled { ptx, cubin, lowered_names } => {
                    let blobs = [log, ptx].into_iter().chain(cubin).collect();
                    Frame::new(&ReplyHead::Compiled { elapsed, lowered_names }, blobs)
                }
                NvrtcOutcome::Rejected { code, name } => {
                    Frame::new(&ReplyHead::Rejected { elapsed, code, name }, vec![log])
                }
            },
            Self::Disassembled(json) => Frame::new(&ReplyHead::Disassembled, vec![json]),
            Self::Assembled(AssembleReply { cubin, log }) => {
                let blobs = std::iter::once(log).chain(cubin).collect();
                Frame::new(&ReplyHead::Assembled, blobs)
            }
            Self::HeadersExtracted => Frame::new(&ReplyHead::HeadersExtracted, Vec::new()),
            Self::Failed(failure) => Frame::new(&ReplyHead::Failed(failure), Vec::new()),
        }
    }

    /// The reply that a frame holds.
    pub(crate) fn from_frame(mut frame: Frame) -> Result<Self, FrameError> {
        match frame.parse()? {
            ReplyHead::Opened(device) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Opened(device))
            }
            ReplyHead::Ran(report) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Ran(report))
            }
            ReplyHead::Measured(report) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Measured(report))
            }
            ReplyHead::Judged(report) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Judged(report))
            }
            ReplyHead::Compiled { elapsed, lowered_names } => {
                let cubin = if frame.blobs.len() > 2 { frame.blobs.pop() } else { None };
                let [log, ptx] = frame.into_blobs()?;
                let outcome = NvrtcOutcome::Compiled { ptx, cubin, lowered_names };
                Ok(Self::Compiled(CompileReply { outcome, log, elapsed }))
            }
            ReplyHead::Rejected { elapsed, code, name } => {
                let [log] = frame.into_blobs()?;
                let outcome = NvrtcOutcome::Rejected { code, name };
                Ok(Self::Compiled(CompileReply { outcome, log, elapsed }))
            }
            ReplyHead::Disassembled => {
                let [json] = frame.into_blobs()?;
                Ok(Self::Disassembled(json))
            }
            ReplyHead::Assembled => {
                let cubin = if frame.blobs.len() > 1 { frame.blobs.pop() } else { None };
                let [log] = frame.into_blobs()?;
                Ok(Self::Assembled(AssembleReply { cubin, log }))
            }
            ReplyHead::HeadersExtracted => {
                let [] = frame.into_blobs()?;
                Ok(Self::HeadersExtracted)
            }
            ReplyHead::Failed(failure) => {
                let [] = frame.into_blobs()?;
                Ok(Self::Failed(failure))
            }
        }
    }
}

fn text_from_bytes(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::station::Side;

    fn check_request(request: &Request) {
        let again = Request::from_frame(request.clone().into_frame().unwrap()).unwrap();
        assert_eq!(&again, request);
    }

    fn check_reply(reply: &Reply) {
        let again = Reply::from_frame(reply.clone().into_frame().unwrap()).unwrap();
        assert_eq!(&again, reply);
    }

    #[test]
    fn requests_survive_the_round_trip() {
        check_request(&Request::Compile(CompileRequest {
            name: "a.cu".to_owned(),
            source: "é\n\"quoted\"".to_owned(),
            headers: vec![("b.cuh".to_owned(), "text".to_owned()), ("c".to_owned(), String::new())],
            name_expressions: vec!["f<1>".to_owned()],
            options: vec!["-lineinfo".to_owned()],
            include_folders: vec!["include".into()],
        }));
        check_request(&Request::Disassemble(DisassembleRequest {
            cubin: vec![0, 255],
            functions: vec![7],
        }));
        check_request(&Request::Assemble(AssembleRequest {
            ptx: b".version 9.0".to_vec(),
            architecture: "sm_90".to_owned(),
            options: Vec::new(),
        }));
        check_request(&Request::ExtractHeaders { into: "headers".into() });
        let image = |ptx: &str, cubin| ModuleImage { ptx: ptx.to_owned(), cubin };
        for trusted in [None, Some(image("trusted", None)), Some(image("trusted", Some(vec![8])))] {
            let (side, device) = (Side::Candidate, "cuda:0".to_owned());
            let head = OpeningHead { side, device, max_steps: 5 };
            let modules = vec![image("first", None), image("second", Some(vec![9, 9]))];
            check_request(&Request::Open(Opening { head, modules, trusted }));
        }
    }

    #[test]
    fn replies_survive_the_round_trip() {
        let elapsed = Duration::from_nanos(123_456_789);
        for cubin in [None, Some(vec![1, 2])] {
            let lowered_names = vec!["_Z1fv".to_owned()];
            let outcome =
                NvrtcOutcome::Compiled { ptx: vec![3], cubin: cubin.clone(), lowered_names };
            check_reply(&Reply::Compiled(CompileReply { outcome, log: vec![4], elapsed }));
            check_reply(&Reply::Assembled(AssembleReply { cubin, log: vec![5] }));
        }
        let outcome =
            NvrtcOutcome::Rejected { code: 6, name: "NVRTC_ERROR_COMPILATION".to_owned() };
        check_reply(&Reply::Compiled(CompileReply { outcome, log: vec![27], elapsed }));
        check_reply(&Reply::Disassembled(b"[]".to_vec()));
        check_reply(&Reply::HeadersExtracted);
        check_reply(&Reply::Failed(RequestFailure::NotConfigured { tool: "nvdisasm".to_owned() }));
    }

    #[test]
    fn blobs_that_the_head_does_not_name_are_refused() {
        let mut frame = Reply::HeadersExtracted.into_frame().unwrap();
        frame.blobs.push(vec![1]);
        assert!(matches!(
            Reply::from_frame(frame),
            Err(FrameError::Blobs { expected: 0, found: 1 })
        ));
    }
}
