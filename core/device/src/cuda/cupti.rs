//! The driver's time stamps: CUPTI activity records, of which only kind, call, start and end are read.
//!
//! The library is shared by the whole process and stays loaded. Its records are packed C structures that grow with
//! every release. The offsets of the four fields have not changed since CUDA 12.0 (`cupti_activity.h` up to
//! `CUpti_ActivityKernel10`, `CUpti_ActivityMemset4` and `CUpti_ActivityMemcpy6`); a release whose layout has not been
//! checked is refused.
#![expect(unsafe_code, reason = "calls into a C library that is loaded at run time")]

use std::ffi::{c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;
use lightbench_measure::timing::NoStamps;

use super::stamps::{Activity, Call};

/// `CUPTI_API_VERSION` of the releases with checked record layouts: CUDA 12.0 to 12.9, then 13.0 to 13.9.
const KNOWN: [std::ops::RangeInclusive<u32>; 2] = [18..=28, 130_000..=130_999];

/// `CUpti_ActivityKind`.
const MEMCPY: c_uint = 1;
const MEMSET: c_uint = 2;
const KERNEL: c_uint = 3;
const CONCURRENT_KERNEL: c_uint = 10;

/// Recorded kinds.
const KINDS: [c_uint; 3] = [CONCURRENT_KERNEL, MEMSET, MEMCPY];

/// `CUpti_ActivityFlag`: delivers incomplete records too; after synchronising the stream all records are complete.
const FORCED: c_uint = 1;

/// `CUptiResult`.
const SUCCESS: c_int = 0;
const NOT_COMPATIBLE: c_int = 14;
const HARDWARE_BUSY: c_int = 26;
const MULTIPLE_SUBSCRIBERS: c_int = 39;

/// 64-bit words of a buffer: half a mebibyte, some two thousand records.
const BUFFER_WORDS: usize = 64 << 10;

/// Offsets of start and end in a record of any kind.
const BEGIN: usize = 16;
const END: usize = 24;
/// Offset of the correlation number in the record of a kernel, a copy or a fill.
const CALL_OF_KERNEL: usize = 92;
const CALL_OF_MEMORY: usize = 44;

type NextRecord = unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> c_int;
type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Completed = extern "C" fn(*mut c_void, c_uint, *mut u8, usize, usize);

static LOADED: OnceLock<Result<Cupti, NoStamps>> = OnceLock::new();
static NEXT_RECORD: OnceLock<NextRecord> = OnceLock::new();
static RECORDS: Mutex<Vec<Activity>> = Mutex::new(Vec::new());

/// The library of time stamps.
#[derive(Debug)]
pub(super) struct Cupti {
    /// The version that the library reports.
    pub(super) version: u32,
    enable: unsafe extern "C" fn(c_uint) -> c_int,
    disable: unsafe extern "C" fn(c_uint) -> c_int,
    flush: unsafe extern "C" fn(c_uint) -> c_int,
    /// Never unloaded: the driver calls into it.
    _library: Library,
}

impl Cupti {
    /// The library from the first of these paths that loads; a bare name is passed to the system's loader. The result
    /// is kept for the whole process.
    pub(super) fn get(places: &[PathBuf]) -> Result<&'static Self, NoStamps> {
        LOADED.get_or_init(|| Self::load(places)).as_ref().map_err(|reason| *reason)
    }

    fn load(places: &[PathBuf]) -> Result<Self, NoStamps> {
        let mut found = NoStamps::NotFound;
        for place in places {
            // SAFETY: NVIDIA's library, whose initialisers only prepare the library itself; this process runs nothing
            // else.
            match unsafe { Library::new(place) } {
                Ok(library) => return Self::from_library(library),
                Err(_) if place.is_file() => found = NoStamps::Unloadable,
                Err(_) => {}
            }
        }
        Err(found)
    }

    fn from_library(library: Library) -> Result<Self, NoStamps> {
        let get_version: unsafe extern "C" fn(*mut u32) -> c_int =
            symbol(&library, c"cuptiGetVersion")?;
        let mut version = 0;
        // SAFETY: writes one number through a valid pointer.
        checked(unsafe { get_version(&raw mut version) })?;
        if !KNOWN.iter().any(|known| known.contains(&version)) {
            return Err(NoStamps::Version(version));
        }
        let register: unsafe extern "C" fn(Requested, Completed) -> c_int =
            symbol(&library, c"cuptiActivityRegisterCallbacks")?;
        let next: NextRecord = symbol(&library, c"cuptiActivityGetNextRecord")?;
        let loaded = Self {
            version,
            enable: symbol(&library, c"cuptiActivityEnable")?,
            disable: symbol(&library, c"cuptiActivityDisable")?,
            flush: symbol(&library, c"cuptiActivityFlushAll")?,
            _library: library,
        };
        NEXT_RECORD.get_or_init(|| next);
        // SAFETY: both functions live as long as the process.
        checked(unsafe { register(requested, completed) })?;
        Ok(loaded)
    }

    /// Records from now on.
    pub(super) fn attach(&self) -> Result<(), NoStamps> {
        for kind in KINDS {
            // SAFETY: takes an integer only.
            checked(unsafe { (self.enable)(kind) })?;
        }
        Ok(())
    }

    /// Stops recording, so that launches have their normal cost.
    pub(super) fn detach(&self) -> Result<(), NoStamps> {
        for kind in KINDS {
            // SAFETY: takes an integer only.
            checked(unsafe { (self.disable)(kind) })?;
        }
        self.take().map(drop)
    }

    /// Returns the records since the last call; all launched work has ended.
    pub(super) fn take(&self) -> Result<Vec<Activity>, NoStamps> {
        // SAFETY: takes an integer; calls back into `completed`.
        checked(unsafe { (self.flush)(FORCED) })?;
        Ok(std::mem::take(&mut *RECORDS.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// A function of the library.
fn symbol<F: Copy>(library: &Library, name: &std::ffi::CStr) -> Result<F, NoStamps> {
    // SAFETY: `F` is the type that the library's header declares for this name.
    let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
    found.map(|symbol| *symbol).map_err(|_missing| NoStamps::Unloadable)
}

fn checked(code: c_int) -> Result<(), NoStamps> {
    match code {
        SUCCESS => Ok(()),
        NOT_COMPATIBLE | HARDWARE_BUSY | MULTIPLE_SUBSCRIBERS => Err(NoStamps::Held),
        code => Err(NoStamps::Refused(code)),
    }
}

/// Callback: the library requests a buffer.
extern "C" fn requested(buffer: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    let room: Box<[u64]> = vec![0; BUFFER_WORDS].into_boxed_slice();
    let start = Box::into_raw(room).cast::<u64>().cast::<u8>();
    // SAFETY: the library passes three valid pointers; the buffer is freed in `completed`.
    unsafe { buffer.write(start) };
    // SAFETY: as above.
    unsafe { size.write(BUFFER_WORDS * size_of::<u64>()) };
    // SAFETY: as above; 0 means as many records as fit.
    unsafe { most_records.write(0) };
}

/// Callback: the library returns a buffer with records in its first `valid` bytes.
extern "C" fn completed(
    _context: *mut c_void,
    _stream: c_uint,
    buffer: *mut u8,
    _size: usize,
    valid: usize,
) {
    if buffer.is_null() {
        return;
    }
    if let Some(next) = NEXT_RECORD.get() {
        let mut records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = ptr::null_mut();
        // SAFETY: the buffer holds `valid` bytes of records; the library moves the pointer from one to the next.
        while unsafe { next(buffer, valid, &raw mut record) } == SUCCESS {
            records.extend(activity(record));
        }
    }
    let whole = ptr::slice_from_raw_parts_mut(buffer.cast::<u64>(), BUFFER_WORDS);
    // SAFETY: the room came from `requested`, whose only size this is, and is given back once.
    drop(unsafe { Box::from_raw(whole) });
}

/// Reads a record; `None` for a kind that was not requested.
fn activity(record: *const u8) -> Option<Activity> {
    let (call, at) = match word(record, 0) {
        KERNEL | CONCURRENT_KERNEL => (Call::Launch, CALL_OF_KERNEL),
        MEMSET => (Call::Fill, CALL_OF_MEMORY),
        MEMCPY => (Call::Copy, CALL_OF_MEMORY),
        _ => return None,
    };
    let (begin, end) = (long(record, BEGIN), long(record, END));
    Some(Activity { call, number: word(record, at), begin, end })
}

fn word(record: *const u8, at: usize) -> u32 {
    // SAFETY: every record read here has more than 96 bytes, except those of memory, which have more than 48.
    let place = unsafe { record.add(at) };
    // SAFETY: as above; the read does not require alignment.
    unsafe { place.cast::<u32>().read_unaligned() }
}

fn long(record: *const u8, at: usize) -> u64 {
    // SAFETY: as for a word.
    let place = unsafe { record.add(at) };
    // SAFETY: as for a word.
    unsafe { place.cast::<u64>().read_unaligned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record as the header declares it, with these fields and nothing else.
    fn record(kind: u32, number_at: usize) -> Vec<u8> {
        let mut bytes = vec![0xA5; 208];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[BEGIN..BEGIN + 8].copy_from_slice(&1_000_u64.to_le_bytes());
        bytes[END..END + 8].copy_from_slice(&4_000_u64.to_le_bytes());
        bytes[number_at..number_at + 4].copy_from_slice(&7_u32.to_le_bytes());
        bytes
    }

    #[test]
    fn records_are_read_where_the_header_says() {
        let check = |kind, number_at, expected: Option<Call>| {
            let found = activity(record(kind, number_at).as_ptr());
            let expected =
                expected.map(|call| Activity { call, number: 7, begin: 1_000, end: 4_000 });
            assert_eq!(found, expected, "kind {kind}");
        };
        check(10, 92, Some(Call::Launch));
        check(3, 92, Some(Call::Launch));
        check(2, 44, Some(Call::Fill));
        check(1, 44, Some(Call::Copy));
        check(4, 44, None);
    }

    #[test]
    fn room_that_was_asked_for_is_taken_back() {
        let (mut buffer, mut size, mut most) = (ptr::null_mut(), 0, 1);
        requested(&raw mut buffer, &raw mut size, &raw mut most);
        assert!(!buffer.is_null() && buffer.cast::<u64>().is_aligned());
        assert_eq!((size, most), (512 << 10, 0));
        completed(ptr::null_mut(), 0, buffer, size, 0);
    }

    #[test]
    fn where_there_is_no_library_the_reason_is_said() {
        let place = PathBuf::from("/nowhere/libcupti.so");
        let found = Cupti::load(&[place]).map(|_| ());
        let known = [Err(NoStamps::NotFound), Err(NoStamps::Unloadable), Ok(())];
        assert!(known.contains(&found), "{found:?}");
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("libcupti.so.13");
        std::fs::write(&text, "no library").unwrap();
        let found = Cupti::load(&[text]).map(|_| ());
        assert!(matches!(found, Err(NoStamps::Unloadable) | Ok(())), "{found:?}");
    }
}
