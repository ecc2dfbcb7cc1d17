//! Files that are written whole: after an interruption, a file has its old content or the new one.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

/// Creates a file.
///
/// # Errors
///
/// Something exists at the path, or the file system refuses.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Ok(mut file) = linux::unnamed(folder(path)) {
        write(&mut file, content, None)?;
        return linux::link(&file, path);
    }
    named(path, content, None)?.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Creates or replaces a file. Follows links, keeps the permissions of a file that exists, and writes into anything that
/// is no regular file, such as a terminal.
///
/// # Errors
///
/// The file system refuses.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let known = fs::metadata(path).ok();
    if known.as_ref().is_some_and(|known| !known.is_file()) {
        return fs::write(path, content);
    }
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let permissions = known.map(|known| known.permissions());
    #[cfg(target_os = "linux")]
    if let Ok(mut file) = linux::unnamed(folder(path)) {
        write(&mut file, content, permissions)?;
        return linux::link_over(&file, path);
    }
    named(path, content, permissions)?.persist(path).map(drop).map_err(|error| error.error)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write(file: &mut File, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(content)?;
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
    file.sync_data()
}

/// A complete file under a temporary name, where a file cannot be without a name.
fn named(
    path: &Path,
    content: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<tempfile::NamedTempFile> {
    let mut names = tempfile::Builder::new();
    names.prefix(".lightbench-new-");
    #[cfg(unix)]
    names.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = names.tempfile_in(folder(path))?;
    write(file.as_file_mut(), content, permissions)?;
    Ok(file)
}

/// A file gets a name when it is complete, so that a process that is killed while writing leaves nothing.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    /// Fails on file systems without such files, for example NFS.
    pub(super) fn unnamed(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE.bits().cast_signed();
        OpenOptions::new().write(true).custom_flags(flags).open(folder)
    }

    pub(super) fn link(file: &File, name: &Path) -> io::Result<()> {
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Needs a second name, because `linkat` replaces nothing. What a killed process leaves under it, the next write of the
    /// same file removes.
    pub(super) fn link_over(file: &File, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let second = path.with_file_name(format!(".lightbench-new-{name}"));
        while let Err(error) = link(file, &second) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            match fs::remove_file(&second) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match fs::rename(&second, path) {
            // Another process wrote the same file at the same time: its content, or this one through it, is in place.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => Ok(()),
            renamed => renamed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create(&path, b"first").unwrap();
        assert_eq!(create(&path, b"second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        let missing = create(&folder.path().join("no/a"), b"").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&path, "by the system").unwrap();
        // The umask decides.
        let usual = mode(&path);
        fs::remove_file(&path).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(mode(&path), usual);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        replace(&link, b"newer").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"newer".to_vec(), 0o640));
        assert!(link.is_symlink());
        assert_eq!(create(&link, b"").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn concurrent_writers_leave_the_content_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || (0..50).for_each(|_| replace(path, &[writer; 100]).unwrap()));
            }
        });
        let content = fs::read(&path).unwrap();
        assert_eq!(content, [content[0]; 100]);
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_killed_writer_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".lightbench-new-a"), "left").unwrap();
        replace(&folder.path().join("a"), b"new").unwrap();
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to() {
        replace(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let error = replace(Path::new("/dev/full"), b"no room").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
