//! Completion of folder names while the user types the path of a project.

/// The folder listing and the refusal for a path that the user types.
#[derive(Clone, Debug, Default)]
pub struct PathBrowser {
    /// The latest listing.
    pub listed: Option<FolderListing>,
    /// Why the latest path could not be opened.
    pub refused: Option<RefusedPath>,
}

/// The subfolders of a folder.
#[derive(Clone, Debug)]
pub struct FolderListing {
    /// The folder as typed, with a separator at the end.
    pub folder: String,
    /// The subfolders, or why the folder cannot be listed.
    pub found: Result<Vec<Entry>, String>,
}

/// A path that could not be opened.
#[derive(Clone, Debug)]
pub struct RefusedPath {
    pub typed: String,
    pub why: String,
}

/// A subfolder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: Kind,
}

/// Whether a folder is a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Project,
    Folder,
}

/// Splits a typed path into the folder, with a separator at the end, and the prefix of a name in it.
#[must_use]
pub fn split(typed: &str) -> (&str, &str) {
    typed.split_at(typed.rfind(std::path::is_separator).map_or(0, |at| at + 1))
}

impl PathBrowser {
    /// The subfolders whose names begin with the typed prefix.
    pub fn fitting<'a>(&'a self, typed: &'a str) -> impl Iterator<Item = &'a Entry> {
        let (folder, beginning) = split(typed);
        let beginning = beginning.to_lowercase();
        let listed = self.listed.iter().filter(move |listed| listed.folder == folder);
        let entries = listed.filter_map(|listed| listed.found.as_ref().ok()).flatten();
        entries.filter(move |entry| {
            let is_hidden = entry.name.starts_with('.') && !beginning.starts_with('.');
            !is_hidden && entry.name.to_lowercase().starts_with(&beginning)
        })
    }

    /// Why a typed path cannot be opened, if that is known.
    #[must_use]
    pub fn wrong(&self, typed: &str) -> Option<&str> {
        let refused = self.refused.as_ref().filter(|refused| refused.typed == typed);
        let listed = self.listed.as_ref().filter(|listed| listed.folder == split(typed).0);
        let unlisted = listed.and_then(|listed| listed.found.as_ref().err());
        refused.map(|refused| refused.why.as_str()).or(unlisted.map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_fit_by_the_beginning_of_their_names() {
        let entry = |name: &str| Entry { name: name.to_owned(), kind: Kind::Folder };
        let found = Ok(["gemm", "Gelu", ".cache", "rmsnorm"].map(entry).into());
        let listed = Some(FolderListing { folder: "~/code/".to_owned(), found });
        let browsing = PathBrowser { listed, refused: None };
        let check = |typed: &str, expected: &[&str]| {
            let found: Vec<&str> =
                browsing.fitting(typed).map(|entry| entry.name.as_str()).collect();
            assert_eq!(found, expected, "{typed}");
        };
        check("~/code/", &["gemm", "Gelu", "rmsnorm"]);
        check("~/code/ge", &["gemm", "Gelu"]);
        check("~/code/GEM", &["gemm"]);
        check("~/code/.", &[".cache"]);
        check("~/code/x", &[]);
        check("~/", &[]);
        check("gemm", &[]);
    }
}
