//! Chooses the compiler and its tools among all search places, and records why other files were rejected.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::header_libraries::{Cutlass, cutlass};
use super::naming::{self, Naming};
use super::receipt::Receipt;
use super::rejected_file::{Part, Reason, RejectedFile};
use super::search_places::{self, Place, Source, file_name, is_of_split_layout};
use super::{
    DriverBranch, Headers, HostEnvironment, Nvrtc, Tool, Toolchain, ToolchainError, Version, binary,
};

/// Everything that was found.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// The compiler and the source of its headers.
    pub compiler: Option<(Nvrtc, Headers)>,
    /// The disassembler.
    pub nvdisasm: Option<Tool>,
    /// The cubin reader.
    pub cuobjdump: Option<Tool>,
    /// The stand-alone assembler.
    pub ptxas: Option<Tool>,
    /// Files that are not used, in the order of discovery.
    pub passed_over: Vec<RejectedFile>,
    /// CUTLASS's headers.
    pub cutlass: Cutlass,
    /// The path that the user gave.
    given: Option<PathBuf>,
}

impl Discovery {
    /// The toolchain.
    ///
    /// # Errors
    /// No compiler exists for this system, the given path holds none, or none was found.
    pub fn into_toolchain(self) -> Result<Toolchain, ToolchainError> {
        if let Some((nvrtc, headers)) = self.compiler {
            let Self { nvdisasm, cuobjdump, ptxas, cutlass, .. } = self;
            return Ok(Toolchain { nvrtc, headers, nvdisasm, cuobjdump, ptxas, cutlass });
        }
        if naming::native().is_none() {
            return Err(ToolchainError::Unsupported { system: system_name() });
        }
        let passed_over = self.passed_over;
        match self.given {
            Some(path) => Err(ToolchainError::Explicit { path, passed_over }),
            None => Err(ToolchainError::Missing { passed_over }),
        }
    }
}

/// Operating system and processor, as Rust names them.
pub(super) fn system_name() -> String {
    format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Searches all places: an explicit path, CUDA toolkits, Python packages, Lightbench's cache.
///
/// Reads folder entries and the first bytes of the files found; takes a few milliseconds.
#[must_use]
pub fn discover(surroundings: &HostEnvironment) -> Discovery {
    match naming::native() {
        Some(naming) => discover_as(surroundings, naming),
        None => Discovery {
            compiler: None,
            nvdisasm: None,
            cuobjdump: None,
            ptxas: None,
            passed_over: Vec::new(),
            cutlass: Cutlass::NotInstalled,
            given: surroundings.explicit.clone(),
        },
    }
}

/// [`discover`] with the file names of a chosen platform.
pub(super) fn discover_as(surroundings: &HostEnvironment, naming: &Naming) -> Discovery {
    let mut search = Search { naming, passed_over: Vec::new(), seen: Vec::new() };
    let mut places = search_places::all(surroundings, naming);
    search.keep_trusted(&mut places);
    let compiler = search.compiler(&places, surroundings);
    if let Some(chosen) = &compiler {
        // Tools of the same release are usually in the folder of the compiler.
        let chosen = places.remove(chosen.place);
        places.insert(0, chosen);
    }
    places.push(search_path(surroundings));
    let version = compiler.as_ref().map(|chosen| chosen.nvrtc.version);
    let mut tool = |part| search.tool(part, &places, version);
    let (nvdisasm, cuobjdump, ptxas) =
        (tool(Part::Nvdisasm), tool(Part::Cuobjdump), tool(Part::Ptxas));
    Discovery {
        compiler: compiler.map(|chosen| (chosen.nvrtc, chosen.headers)),
        nvdisasm,
        cuobjdump,
        ptxas,
        passed_over: search.passed_over,
        cutlass: cutlass(surroundings),
        given: surroundings.explicit.clone(),
    }
}

/// Programs that are found only on `PATH`.
fn search_path(surroundings: &HostEnvironment) -> Place {
    Place {
        source: Source::SearchPath,
        root: PathBuf::new(),
        libraries: Vec::new(),
        programs: surroundings.path.clone(),
        includes: Vec::new(),
        packages: None,
        only: None,
    }
}

/// The compiler that was chosen, and the place it came from.
struct Chosen {
    nvrtc: Nvrtc,
    headers: Headers,
    place: usize,
}

/// A compiler library with the builtins that belong to it, not yet checked.
struct Candidate {
    library: PathBuf,
    major: u32,
    builtins: Option<(PathBuf, Version)>,
}

/// A compiler library, and whether it can be used.
struct Examined {
    library: PathBuf,
    place: usize,
    result: Result<(Nvrtc, Headers), Reason>,
}

struct Search<'a> {
    naming: &'a Naming,
    passed_over: Vec<RejectedFile>,
    seen: Vec<PathBuf>,
}

impl Search<'_> {
    /// A folder of ours counts only with a receipt that fits; it may be several places.
    fn keep_trusted(&mut self, places: &mut Vec<Place>) {
        let mut known: BTreeMap<PathBuf, bool> = BTreeMap::new();
        places.retain(|place| {
            let (Source::Fetched, Some(folder)) = (place.source, &place.packages) else {
                return true;
            };
            *known.entry(folder.clone()).or_insert_with(|| self.is_trusted(place, folder))
        });
    }

    fn is_trusted(&mut self, place: &Place, folder: &Path) -> bool {
        let Err(problem) = Receipt::trusted(folder) else { return true };
        let is_assembler = file_name(folder).starts_with("assembler");
        let part = if is_assembler { Part::Ptxas } else { Part::Compiler };
        self.pass_over(part, place.source, folder, Reason::Untrusted { problem });
        false
    }

    /// A compiler whose output the driver loads before one of another major version, a newer major version before an
    /// older one, and then the first.
    fn compiler(&mut self, places: &[Place], surroundings: &HostEnvironment) -> Option<Chosen> {
        let examined = self.examine(places, surroundings.explicit.is_some());
        let preference = |index: &usize| {
            let (nvrtc, _) = examined[*index].result.as_ref().ok()?;
            let fits = surroundings.driver.is_none_or(|driver| driver.loads(nvrtc.version));
            Some(Reverse((fits, nvrtc.version.major)))
        };
        let best = (0..examined.len())
            .filter(|index| examined[*index].result.is_ok())
            .min_by_key(preference);
        let mut chosen = None;
        for (index, Examined { library, place, result }) in examined.into_iter().enumerate() {
            let reason = match result {
                Ok((nvrtc, headers)) if best == Some(index) => {
                    chosen = Some(Chosen { nvrtc, headers, place });
                    continue;
                }
                Ok((nvrtc, _)) => later(nvrtc.version, surroundings.driver),
                Err(reason) => reason,
            };
            self.pass_over(Part::Compiler, places[place].source, &library, reason);
        }
        chosen
    }

    /// The compilers of all places, each file once.
    fn examine(&mut self, places: &[Place], path_given: bool) -> Vec<Examined> {
        let mut examined = Vec::new();
        for (index, place) in places.iter().enumerate() {
            for candidate in candidates(place, self.naming) {
                if !self.is_new(&candidate.library) {
                    continue;
                }
                let result = match self.accept(&candidate, place) {
                    Ok(_) if path_given && place.source != Source::Explicit => {
                        Err(Reason::PathGiven)
                    }
                    result => result,
                };
                examined.push(Examined { library: candidate.library, place: index, result });
            }
        }
        examined
    }

    fn accept(&self, candidate: &Candidate, place: &Place) -> Result<(Nvrtc, Headers), Reason> {
        let named = candidate.builtins.as_ref().map(|(_, version)| *version);
        let is_supported = named
            .map_or_else(|| Version::is_supported_major(candidate.major), Version::is_supported);
        if !is_supported {
            let found = named.map_or_else(|| candidate.major.to_string(), |it| it.to_string());
            return Err(Reason::WrongVersion { found });
        }
        let Some((builtins, version)) = &candidate.builtins else {
            return Err(Reason::NoBuiltins);
        };
        for file in [&candidate.library, builtins] {
            self.check(file)?;
        }
        let version = match installed_version(place, Part::Compiler, &candidate.library) {
            Some(installed) if installed.same_release(*version) => installed,
            Some(_) | None => *version,
        };
        let headers = headers(place, version)?;
        let nvrtc = Nvrtc {
            library: candidate.library.clone(),
            builtins: builtins.clone(),
            version,
            source: place.source,
        };
        Ok((nvrtc, headers))
    }

    /// The first usable tool, but rather a later one than one older than the compiler. An assembler is of the major version
    /// of the compiler.
    fn tool(&mut self, part: Part, places: &[Place], compiler: Option<Version>) -> Option<Tool> {
        let name = self.naming.program(part.program()?);
        let mut older: Option<Tool> = None;
        for place in places {
            for folder in &place.programs {
                let program = folder.join(&name);
                if !program.is_file() || !self.is_new(&program) {
                    continue;
                }
                if let Err(reason) = self.check(&program) {
                    self.pass_over(part, place.source, &program, reason);
                    continue;
                }
                let version = installed_version(place, part, &program)
                    .or_else(|| toolkit_version(place, self.naming));
                let tool = Tool { program, version, source: place.source };
                match (version, compiler) {
                    (Some(found), Some(compiler))
                        if part == Part::Ptxas && found.major != compiler.major =>
                    {
                        let reason = Reason::OtherMajorVersion { found, compiler };
                        self.pass_over(part, place.source, &tool.program, reason);
                    }
                    (Some(found), Some(compiler)) if found.is_earlier_release(compiler) => {
                        let reason = Reason::OlderThanCompiler { found, compiler };
                        self.pass_over(part, place.source, &tool.program, reason);
                        older = older.or(Some(tool));
                    }
                    (Some(_) | None, Some(_) | None) => return Some(tool),
                }
            }
        }
        if let Some(tool) = &older {
            // It is used after all, because there is no better one.
            self.passed_over.retain(|candidate| candidate.path != tool.program);
        }
        older
    }

    fn check(&self, file: &Path) -> Result<(), Reason> {
        binary::check(file, self.naming.format)
            .map_err(|damage| Reason::Damaged { file: file.to_path_buf(), damage })
    }

    /// Whether this file was not seen before, links resolved.
    fn is_new(&mut self, file: &Path) -> bool {
        let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
        let is_new = !self.seen.contains(&real);
        if is_new {
            self.seen.push(real);
        }
        is_new
    }

    fn pass_over(&mut self, part: Part, source: Source, path: &Path, reason: Reason) {
        self.passed_over.push(RejectedFile { part, source, path: path.to_path_buf(), reason });
    }
}

/// The compiler libraries of a place, one per folder and major version, newest major first.
fn candidates(place: &Place, naming: &Naming) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for folder in &place.libraries {
        let files = files_in(folder);
        let mut libraries: Vec<(u32, PathBuf)> = files
            .iter()
            .filter(|file| place.only.as_ref().is_none_or(|only| *only == **file))
            .filter_map(|file| Some((naming.library_major(&file_name(file))?, file.clone())))
            .collect();
        // `libnvrtc.so.13` before `libnvrtc.so.13.0.88`: the name that the loader uses.
        libraries.sort_by_key(|(major, file)| (std::cmp::Reverse(*major), file.as_os_str().len()));
        libraries.dedup_by_key(|(major, _)| *major);
        for (major, library) in libraries {
            let builtins = builtins_of(major, &files, naming);
            found.push(Candidate { library, major, builtins });
        }
    }
    found
}

/// The builtins library of a major version: the loader's name for it, and the most precise known version.
fn builtins_of(major: u32, files: &[PathBuf], naming: &Naming) -> Option<(PathBuf, Version)> {
    let named: Vec<(&PathBuf, Version)> = files
        .iter()
        .filter_map(|file| Some((file, naming.builtins_version(&file_name(file))?)))
        .filter(|(_, version)| version.major == major)
        .collect();
    let version = named.iter().map(|(_, version)| *version).max()?;
    let (file, _) = named
        .iter()
        .filter(|(_, other)| other.same_release(version))
        .min_by_key(|(file, _)| file.as_os_str().len())?;
    Some(((*file).clone(), version))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

/// Why a usable compiler is not the one that was chosen.
fn later(version: Version, driver: Option<DriverBranch>) -> Reason {
    match driver {
        Some(driver) if !driver.loads(version) => Reason::NewerThanDriver { version, driver },
        Some(_) | None => Reason::Later,
    }
}

/// A header of each package of CUDA 12 that has headers.
const HEADERS_OF_12: [&str; 3] = ["cuda_fp16.h", "crt/mma.h", "cuda/std/type_traits"];

fn headers(place: &Place, version: Version) -> Result<Headers, Reason> {
    if version.has_bundled_headers() {
        return Ok(Headers::Bundled);
    }
    let needed = if version.major < 13 { &HEADERS_OF_12[..] } else { &HEADERS_OF_12[..1] };
    let mut folders: Vec<PathBuf> = Vec::new();
    for header in needed.iter().copied() {
        if folders.iter().any(|folder| folder.join(header).is_file()) {
            continue;
        }
        let Some(include) = place.includes.iter().find(|it| it.join(header).is_file()) else {
            return Err(Reason::NoHeaders { version, header, looked: place.includes.clone() });
        };
        let cccl = include.join("cccl");
        folders.extend([include.clone(), cccl].into_iter().filter(|folder| folder.is_dir()));
    }
    Ok(Headers::Folders(folders))
}

/// The version in the name of the package's metadata folder next to `nvidia`. Before CUDA 13, the names of packages end in
/// the major version: `nvidia_cuda_nvrtc_cu12-12.9.86.dist-info`.
fn installed_version(place: &Place, part: Part, file: &Path) -> Option<Version> {
    let packages = place.packages.as_ref()?;
    let is_split = is_of_split_layout(file);
    let version_of = |path: PathBuf| {
        let name = file_name(&path);
        let (package, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
        let suffix = package.strip_prefix(part.package())?;
        (suffix.is_empty() != is_split && (suffix.is_empty() || suffix.starts_with("_cu")))
            .then(|| Version::parse(version))?
    };
    files_in(packages).into_iter().find_map(version_of)
}

/// The version of the compiler in the same toolkit, which its programs share.
fn toolkit_version(place: &Place, naming: &Naming) -> Option<Version> {
    if place.packages.is_some() {
        return None;
    }
    candidates(place, naming).into_iter().find_map(|candidate| Some(candidate.builtins?.1))
}
