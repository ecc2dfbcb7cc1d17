//! Cache of compiled kernels on disk. The key is a hash of all inputs of the compilation.
//!
//! A damaged entry is a miss. Entries appear by renaming a
//! complete file, so several processes may share the folder. The folder is bounded: each of its shards has an equal
//! part of the limit and drops the least recently used entries, so that storing reads one shard only.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lightbench_units::Bytes;
use tempfile::NamedTempFile;

/// The default limit of the folder.
pub const DEFAULT_LIMIT: Bytes = Bytes(1 << 30);

const SHARDS: u64 = 16;
const CHECKSUM_BYTES: usize = blake3::OUT_LEN;
/// A temporary file older than this was left by a process that died.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// The key of an entry: a hash of all inputs that determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(blake3::Hash);

impl Key {
    /// The key of these parts, in this order; lengths are hashed too, so that no two lists of parts collide.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize())
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.to_hex().fmt(formatter)
    }
}

/// Why an entry could not be stored. The compilation itself succeeded.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep compiled kernels in {folder}: {source}", folder = .folder.display())]
pub struct CacheError {
    /// The folder that was to be written.
    pub folder: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

/// A bounded folder of entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: Bytes,
}

impl Cache {
    /// A cache in `folder`, which is made when the first entry is stored.
    pub fn new(folder: PathBuf, limit: Bytes) -> Self {
        Self { folder, limit }
    }

    /// The entry of that name, if it is there and undamaged.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let content = fs::read(&path).ok()?;
        let Some(body) = checked_body(content) else {
            // A later store replaces it; if it cannot be removed it stays a miss.
            fs::remove_file(&path).ok();
            return None;
        };
        // Being used recently is only a hint for the eviction.
        File::open(&path).and_then(|file| file.set_modified(SystemTime::now())).ok();
        Some(body)
    }

    /// Keeps an entry and drops the oldest of its shard beyond the limit.
    ///
    /// # Errors
    /// When the folder cannot be written: read-only, full, or not a folder.
    pub fn put(&self, key: Key, body: &[u8]) -> Result<(), CacheError> {
        self.store(key, body).map_err(|source| CacheError { folder: self.folder.clone(), source })
    }

    fn store(&self, key: Key, body: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let shard = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(shard)?;
        let mut file = NamedTempFile::new_in(shard)?;
        file.write_all(blake3::hash(body).as_bytes())?;
        file.write_all(body)?;
        file.persist(&path).map_err(|failure| failure.error)?;
        shrink(shard, self.limit.0 / SHARDS)
    }

    fn path(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        let (shard, rest) = name.split_at(1);
        self.folder.join(shard).join(rest)
    }
}

fn checked_body(mut content: Vec<u8>) -> Option<Vec<u8>> {
    let (checksum, body) = content.split_at_checked(CHECKSUM_BYTES)?;
    (blake3::hash(body).as_bytes() == checksum).then(|| content.split_off(CHECKSUM_BYTES))
}

/// Removes the files of `shard` that were used longest ago, until it holds at most `limit` bytes.
fn shrink(shard: &Path, limit: u64) -> io::Result<()> {
    let now = SystemTime::now();
    let mut files = Vec::new();
    for entry in fs::read_dir(shard)? {
        let entry = entry?;
        // Another process may have removed it since.
        let Ok(metadata) = entry.metadata() else { continue };
        let used = metadata.modified()?;
        let temporary = entry.file_name().to_string_lossy().starts_with('.');
        if temporary && now.duration_since(used).is_ok_and(|age| age > ABANDONED_AFTER) {
            fs::remove_file(entry.path()).ok();
        } else {
            files.push((used, metadata.len(), entry.path()));
        }
    }
    let mut total: u64 = files.iter().map(|(_, length, _)| length).sum();
    files.sort();
    for (_, length, path) in files {
        if total <= limit {
            break;
        }
        fs::remove_file(path).ok();
        total -= length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(limit: u64) -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("kernels"), Bytes(limit));
        (folder, cache)
    }

    #[test]
    fn what_was_put_is_got() {
        let (_folder, cache) = cache(1 << 20);
        let key = Key::new([b"a".as_slice()]);
        assert_eq!(cache.get(key), None);
        cache.put(key, b"body").unwrap();
        assert_eq!(cache.get(key), Some(b"body".to_vec()));
        assert_eq!(cache.get(Key::new([b"b".as_slice()])), None);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(
            Key::new([b"ab".as_slice(), b"c".as_slice()]),
            Key::new([b"a".as_slice(), b"bc".as_slice()])
        );
    }

    #[test]
    fn a_damaged_entry_is_a_miss_and_is_replaced() {
        let (_folder, cache) = cache(1 << 20);
        let key = Key::new([b"a".as_slice()]);
        for damage in [0, 5, CHECKSUM_BYTES, CHECKSUM_BYTES + 2] {
            cache.put(key, b"body").unwrap();
            let path = cache.path(key);
            let content = fs::read(&path).unwrap();
            fs::write(&path, &content[..damage]).unwrap();
            assert_eq!(cache.get(key), None, "truncated to {damage}");
        }
        cache.put(key, b"body").unwrap();
        let path = cache.path(key);
        let mut content = fs::read(&path).unwrap();
        *content.last_mut().unwrap() ^= 1;
        fs::write(&path, content).unwrap();
        assert_eq!(cache.get(key), None, "a flipped bit");
        cache.put(key, b"body").unwrap();
        assert_eq!(cache.get(key), Some(b"body".to_vec()));
    }

    #[test]
    fn the_folder_stays_within_its_limit() {
        let (_folder, cache) = cache(16 * 10_000);
        for index in 0_u32..400 {
            cache.put(Key::new([index.to_le_bytes().as_slice()]), &[7; 1000]).unwrap();
        }
        let mut total = 0;
        for shard in fs::read_dir(&cache.folder).unwrap() {
            for file in fs::read_dir(shard.unwrap().path()).unwrap() {
                total += file.unwrap().metadata().unwrap().len();
            }
        }
        assert!(total <= 16 * 10_000, "{total} bytes");
        assert!(total > 16 * 5_000, "{total} bytes: it must not drop more than needed");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_with_its_path() {
        let (folder, cache) = cache(1 << 20);
        fs::write(folder.path().join("kernels"), b"a file is in the way").unwrap();
        let error = cache.put(Key::new([b"a".as_slice()]), b"body").unwrap_err();
        assert!(error.to_string().contains("kernels"), "{error}");
    }
}
