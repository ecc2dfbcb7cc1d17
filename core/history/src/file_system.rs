//! The kind of file system of a folder: local, or shared with machines that may write to it.

use std::path::Path;

/// The kind of file system of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileSystem {
    /// Only this machine writes to it, so processes can share memory over it.
    Local,
    /// Other machines may write to it without notice to this one.
    Shared(&'static str),
}

/// File systems that several machines, or a machine and its guests, may write to, by the numbers of `linux/magic.h`
/// and of the file systems' own headers.
#[cfg(target_os = "linux")]
const SHARED: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x6a65_6a63, "virtiofs"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x7375_7245, "Coda"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

/// The file system that holds an existing folder.
#[cfg(target_os = "linux")]
pub(super) fn detect(folder: &Path) -> std::io::Result<FileSystem> {
    // The type of the field differs between platforms; the numbers have 32 bits.
    let magic = rustix::fs::statfs(folder)?.f_type as u64 & 0xffff_ffff;
    let known = SHARED.iter().find(|(number, _)| *number == magic);
    Ok(known.map_or(FileSystem::Local, |(_, name)| FileSystem::Shared(name)))
}

/// On other platforms the file system is not checked; SQLite reports an unsupported write-ahead log when the journal is
/// chosen.
#[cfg(not(target_os = "linux"))]
pub(super) fn detect(_folder: &Path) -> std::io::Result<FileSystem> {
    Ok(FileSystem::Local)
}
