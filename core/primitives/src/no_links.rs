//! Files below a project's `.lightbench/`, opened without following symbolic links.
//!
//! A project may come from anywhere, with links planted where this program writes. Each folder from `.lightbench` on is
//! therefore opened relative to the one before it and refused where it is a link, and so is the file itself. Above
//! `.lightbench`, and in the user's own state folder, links are the user's and are followed; there only the file itself
//! is refused where it is a link.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The folder of a project in which everything is ours.
pub const FOLDER: &str = ".lightbench";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read.
    Read,
    /// For reading and writing; created if it is missing.
    Write,
    /// To read and write; it must not exist.
    New,
}

/// A path of ours leads through a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRefused {
    /// The link.
    pub link: PathBuf,
}

impl fmt::Display for LinkRefused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} is a symbolic link, and links are not followed below `{FOLDER}`: replace it by a folder or file of its own, \
             or remove it",
            self.link.display()
        )
    }
}

impl std::error::Error for LinkRefused {}

/// Opens a file.
///
/// # Errors
/// A [`LinkRefused`], or the error of the operating system.
pub fn open(path: &Path, access: Access) -> io::Result<File> {
    platform::open(path, access)
}

/// Creates a folder and its missing parents.
///
/// # Errors
/// As [`open`].
pub fn create_folder(path: &Path) -> io::Result<()> {
    let (anchor, below) = split(path);
    std::fs::create_dir_all(&anchor)?;
    platform::create_folders(&anchor, &below)
}

/// The names in a folder, sorted.
///
/// # Errors
/// As [`open`].
pub fn names(path: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    platform::names(path)
}

/// Renames a file within its folder; the new name must not exist.
///
/// # Errors
/// As [`open`]; the new name exists.
pub fn rename(folder: &Path, from: &OsStr, to: &OsStr) -> io::Result<()> {
    platform::rename(folder, from, to)
}

/// Removes a file.
///
/// # Errors
/// As [`open`].
pub fn remove(path: &Path) -> io::Result<()> {
    platform::remove(path)
}

/// The device and inode number of a file; `None` if the file does not exist.
///
/// # Errors
/// As [`open`].
pub fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    if let Some(link) = first_link(path) {
        return Err(io::Error::other(link));
    }
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(platform::identity(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The first symbolic link at or below `.lightbench`.
#[must_use]
pub fn first_link(path: &Path) -> Option<LinkRefused> {
    let (mut reached, below) = split(path);
    for name in below {
        reached.push(name);
        if std::fs::symlink_metadata(&reached).is_ok_and(|metadata| metadata.is_symlink()) {
            return Some(LinkRefused { link: reached });
        }
    }
    None
}

/// The part of a path that may lead through links, and the names below it that may not be one.
fn split(path: &Path) -> (PathBuf, Vec<PathBuf>) {
    let components: Vec<Component<'_>> = path.components().collect();
    let ours = components.iter().rposition(|each| each.as_os_str() == FOLDER);
    // Outside a project only the last name counts.
    let at = ours.unwrap_or(components.len().saturating_sub(1));
    let (above, below) = components.split_at(at);
    let mut anchor: PathBuf = above.iter().collect();
    if anchor.as_os_str().is_empty() {
        anchor.push(Component::CurDir);
    }
    (anchor, below.iter().map(|each| PathBuf::from(each.as_os_str())).collect())
}

#[cfg(unix)]
mod platform {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Path, PathBuf};

    use rustix::fs::{
        AtFlags, CWD, Dir, Mode, OFlags, linkat, mkdirat, openat, renameat, statat, unlinkat,
    };
    use rustix::io::Errno;

    use super::{Access, first_link, split};

    const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    pub(super) fn open(path: &Path, access: Access) -> io::Result<File> {
        let (folder, name) = folder_of(path)?;
        // Without waiting: a planted pipe would block for ever.
        let common = OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR | OFlags::CREATE,
            Access::New => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        let mode = Mode::from_raw_mode(0o666);
        let file =
            openat(&folder, &name, common | flags, mode).map_err(|error| named(error, path))?;
        let file = File::from(file);
        if !file.metadata()?.is_file() {
            let reason = format!("{} is not a plain file", path.display());
            return Err(io::Error::other(reason));
        }
        Ok(file)
    }

    pub(super) fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
        use std::os::unix::fs::MetadataExt as _;
        (metadata.dev(), metadata.ino())
    }

    pub(super) fn create_folders(anchor: &Path, below: &[PathBuf]) -> io::Result<()> {
        let mut reached = anchor.to_owned();
        let mut folder = opened(CWD, anchor, OFlags::empty(), &reached)?;
        for name in below {
            reached.push(name);
            match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(named(error, &reached)),
            }
            folder = opened(&folder, name, OFlags::NOFOLLOW, &reached)?;
        }
        Ok(())
    }

    pub(super) fn names(path: &Path) -> io::Result<Vec<OsString>> {
        let entries = Dir::read_from(folder(path)?)?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    pub(super) fn rename(path: &Path, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let folder = folder(path)?;
        // The file briefly has two names, which is safe: a rename would replace an existing file.
        match linkat(&folder, from, &folder, to, AtFlags::empty()) {
            Ok(()) => Ok(unlinkat(&folder, from, AtFlags::empty())?),
            // A file system without hard links: the name is free unless another process creates it at this moment.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
                match statat(&folder, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST.into()),
                    Err(_) => Ok(renameat(&folder, from, &folder, to)?),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn remove(path: &Path) -> io::Result<()> {
        let (folder, name) = folder_of(path)?;
        unlinkat(&folder, &name, AtFlags::empty()).map_err(|error| named(error, path))
    }

    /// The folder that holds a file, and the file's name in it.
    fn folder_of(path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
        let (anchor, mut below) = split(path);
        let name = below.pop().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((walked(&anchor, &below)?, name))
    }

    fn folder(path: &Path) -> io::Result<OwnedFd> {
        let (anchor, below) = split(path);
        walked(&anchor, &below)
    }

    fn walked(anchor: &Path, below: &[PathBuf]) -> io::Result<OwnedFd> {
        let mut reached = anchor.to_owned();
        let mut folder = opened(CWD, anchor, OFlags::empty(), &reached)?;
        for name in below {
            reached.push(name);
            folder = opened(&folder, name, OFlags::NOFOLLOW, &reached)?;
        }
        Ok(folder)
    }

    fn opened(
        from: impl std::os::fd::AsFd,
        name: &Path,
        more: OFlags,
        reached: &Path,
    ) -> io::Result<OwnedFd> {
        openat(from, name, FOLDER_FLAGS | more, Mode::empty())
            .map_err(|error| named(error, reached))
    }

    /// The error with the link's path, if a link is the reason.
    fn named(error: Errno, path: &Path) -> io::Error {
        // Linux returns `ELOOP`, or `ENOTDIR` where a folder was expected; FreeBSD returns `EMLINK`.
        match first_link(path) {
            Some(link) if [Errno::LOOP, Errno::NOTDIR, Errno::MLINK].contains(&error) => {
                io::Error::other(link)
            }
            Some(_) | None => error.into(),
        }
    }
}

/// On systems that cannot open a folder and keep it open, each name is checked before use.
#[cfg(not(unix))]
mod platform {
    use std::ffi::{OsStr, OsString};
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::path::{Path, PathBuf};

    use super::{Access, first_link};

    fn checked(path: &Path) -> io::Result<()> {
        first_link(path).map_or(Ok(()), |link| Err(io::Error::other(link)))
    }

    pub(super) fn open(path: &Path, access: Access) -> io::Result<File> {
        checked(path)?;
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Write => options.read(true).write(true).create(true),
            Access::New => options.read(true).write(true).create_new(true),
        };
        options.open(path)
    }

    /// No number of a file is at hand; another length is another file.
    pub(super) fn identity(metadata: &fs::Metadata) -> (u64, u64) {
        (0, metadata.len())
    }

    pub(super) fn create_folders(anchor: &Path, below: &[PathBuf]) -> io::Result<()> {
        let path: PathBuf =
            std::iter::once(anchor).chain(below.iter().map(PathBuf::as_path)).collect();
        checked(&path)?;
        fs::create_dir_all(path)
    }

    pub(super) fn names(path: &Path) -> io::Result<Vec<OsString>> {
        checked(path)?;
        let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.file_name()));
        let mut names: Vec<OsString> = entries.collect::<io::Result<_>>()?;
        names.sort();
        Ok(names)
    }

    pub(super) fn rename(folder: &Path, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (folder.join(from), folder.join(to));
        checked(&to)?;
        fs::hard_link(&from, to)?;
        fs::remove_file(from)
    }

    pub(super) fn remove(path: &Path) -> io::Result<()> {
        checked(path)?;
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests;
