//! The folder of calibrations: one file for each device, named by the device's UUID.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::speed_of_light::calibration::Calibration;
use crate::whole_file;

/// The folder in the state folder.
const FOLDER: &str = "calibrations";

/// Bytes that are read at most; a calibration has a few thousand.
const MOST_BYTES: u64 = 1 << 20;

/// The calibrations of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibrations {
    folder: PathBuf,
}

/// The stored calibration of a device.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredCalibration {
    /// The device is not calibrated.
    Nothing,
    /// The calibration.
    Usable(Box<Calibration>),
    /// A file without a usable calibration of this device; the device sheet is used.
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Calibrations {
    /// Those in a state folder; nothing is made.
    #[must_use]
    pub fn in_state_folder(state: &Path) -> Self {
        Self { folder: state.join(FOLDER) }
    }

    /// The file of a device; `None` if its UUID is not 32 hexadecimal digits, so that a UUID can never form another path.
    #[must_use]
    pub fn file(&self, uuid: &str) -> Option<PathBuf> {
        let is_identity = uuid.len() == 32 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_identity.then(|| self.folder.join(format!("{}.json", uuid.to_ascii_lowercase())))
    }

    /// Stores a calibration, and atomically replaces an older one of the same device.
    ///
    /// # Errors
    /// The folder cannot be written, or the calibration cannot be serialised.
    pub fn store(&self, calibration: &Calibration) -> io::Result<PathBuf> {
        let file = self.file(&calibration.device.uuid).ok_or_else(|| {
            io::Error::other(format!("`{}` identifies no device", calibration.device.uuid))
        })?;
        let text = calibration.to_json().map_err(io::Error::other)? + "\n";
        fs::create_dir_all(&self.folder)?;
        whole_file::replace(&file, text.as_bytes())?;
        Ok(file)
    }

    /// The stored calibration of a device.
    #[must_use]
    pub fn load(&self, uuid: &str) -> StoredCalibration {
        let Some(file) = self.file(uuid) else { return StoredCalibration::Nothing };
        let reason = match read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return StoredCalibration::Nothing;
            }
            Err(error) => error.to_string(),
            Ok(text) => match Calibration::from_json(&text) {
                Err(error) => error.to_string(),
                Ok(found) if found.is_of(uuid) => {
                    return StoredCalibration::Usable(Box::new(found));
                }
                Ok(found) => format!("it is for another device, {}", found.device.uuid),
            },
        };
        StoredCalibration::Unusable { file, reason }
    }
}

fn read(file: &Path) -> io::Result<String> {
    let file = File::open(file)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("more than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed_of_light::fixture::calibration;

    #[test]
    fn what_is_kept_is_found_again_and_replaced() {
        let state = tempfile::tempdir().unwrap();
        let kept = Calibrations::in_state_folder(&state.path().join("not yet there"));
        let mut own = calibration();
        assert_eq!(kept.load(&own.device.uuid), StoredCalibration::Nothing);
        let file = kept.store(&own).unwrap();
        assert!(file.ends_with("calibrations/00112233445566778899aabbccddeeff.json"));
        assert_eq!(
            kept.load("00112233445566778899AABBCCDDEEFF"),
            StoredCalibration::Usable(Box::new(own.clone()))
        );
        assert_eq!(kept.load(&"0".repeat(32)), StoredCalibration::Nothing);
        own.date = "2027-01-01T00:00:00Z".to_owned();
        assert_eq!(kept.store(&own).unwrap(), file);
        assert_eq!(kept.load(&own.device.uuid), StoredCalibration::Usable(Box::new(own)));
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_of_the_device_is_named_and_not_used() {
        let own = calibration();
        let check = |text: &str, expected: &str| {
            let state = tempfile::tempdir().unwrap();
            let kept = Calibrations::in_state_folder(state.path());
            let path = kept.store(&own).unwrap();
            fs::write(&path, text).unwrap();
            let StoredCalibration::Unusable { file, reason } = kept.load(&own.device.uuid) else {
                panic!("{text} was used")
            };
            assert_eq!(file, path);
            assert!(reason.contains(expected), "{reason}");
        };
        let text = own.to_json().unwrap();
        check("", "line 1");
        check(&text[..text.len() / 2], "line");
        check(&text.replace("\"schema\": 1", "\"schema\": 2"), "schema 2");
        check(&text.replace("00112233", "ffffffff"), "another device");
        check(&text.replace("2026-11-21T19:00:00Z", ""), "no date");
        check(&" ".repeat(MOST_BYTES as usize + 1), "more than");
    }

    #[test]
    fn what_identifies_no_device_is_no_path() {
        let kept = Calibrations::in_state_folder(Path::new("state"));
        for uuid in ["", "../../etc/passwd", &"g".repeat(32), &"0".repeat(31)] {
            assert_eq!(kept.file(uuid), None, "{uuid}");
            assert_eq!(kept.load(uuid), StoredCalibration::Nothing);
        }
        let mut own = calibration();
        own.device.uuid = "../else".to_owned();
        assert!(kept.store(&own).is_err());
    }
}
