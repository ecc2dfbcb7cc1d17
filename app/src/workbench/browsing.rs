//! Folders on the way to a project, while somebody types its path.

/// What is known of folders while a path is typed.
#[derive(Clone, Debug, Default)]
pub struct Browsing {
    /// The folder that was listed last, as it was typed, and what is in it.
    pub listed: Option<Listed>,
    /// Why the last path that somebody wanted is not opened.
    pub refused: Option<Refused>,
}

/// What is in a folder.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The folder as it was typed, with the separator at its end.
    pub folder: String,
    /// The folders in it, or why it cannot be listed.
    pub found: Result<Vec<Entry>, String>,
}

/// A path that is not opened.
#[derive(Clone, Debug)]
pub struct Refused {
    /// As it was typed.
    pub typed: String,
    /// Why, in a sentence.
    pub why: String,
}

/// A folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// What a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A project.
    Project,
    /// Something else.
    Folder,
}

/// A path as it is typed: the folder with the separator at its end, and the beginning of a name in it.
#[must_use]
pub fn split(typed: &str) -> (&str, &str) {
    typed.split_at(typed.rfind(std::path::is_separator).map_or(0, |at| at + 1))
}

impl Browsing {
    /// The folders that a path may be going to, where its folder was listed.
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

    /// What is wrong with a path, as far as that is known.
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
        let listed = Some(Listed { folder: "~/code/".to_owned(), found });
        let browsing = Browsing { listed, refused: None };
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
