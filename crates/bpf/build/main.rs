// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the schedulers and the probes and puts their objects into the binary.

mod type_order;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use libbpf_cargo::SkeletonBuilder;
use libbpf_rs::Linker;
use scx_cargo::{BpfBuilder, ClangInfo};

const OLDEST_CLANG: u32 = 19;
const NEWEST_CLANG: u32 = 22;

/// Directory that receives the objects of tests/objects, and copies of the schedulers; without it the former are not
/// built.
const TEST_OBJECTS: &str = "RUNOFF_TEST_OBJECTS";

fn main() -> Result<()> {
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    println!("cargo::rerun-if-env-changed={TEST_OBJECTS}");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let compiler = Compiler::new(&root, &out)?;

    let made = |kind: &str| -> Result<Vec<(String, PathBuf)>> {
        let folder = out.join(kind);
        fs::create_dir_all(&folder)?;
        let objects = compiler.directory(&root.join(kind), &folder)?;
        fs::write(out.join(format!("{kind}.rs")), listing(&objects))?;
        Ok(objects)
    };
    let schedulers = made("schedulers")?;
    made("probes")?;

    for single in ["crates/ublk/src/identity", "crates/bpf/src/symbols"] {
        compiler.directory(&root.join(single), &out)?;
    }

    if let Ok(directory) = env::var(TEST_OBJECTS) {
        let ours = Path::new(&directory).join("schedulers");
        fs::create_dir_all(&ours).with_context(|| format!("{TEST_OBJECTS}={directory}"))?;
        compiler.directory(&root.join("tests/objects"), Path::new(&directory))?;
        for (name, path) in schedulers {
            fs::copy(path, ours.join(format!("{name}.bpf.o")))?;
        }
    }
    Ok(())
}

/// An array expression of (name, bytes) pairs.
fn listing(objects: &[(String, PathBuf)]) -> String {
    let items: String = objects
        .iter()
        .map(|(name, path)| format!("({name:?}, include_bytes!({path:?}).as_slice()),\n"))
        .collect();
    format!("[\n{items}]")
}

struct Compiler {
    clang: String,
    flags: Vec<String>,
    scratch: PathBuf,
}

impl Compiler {
    fn new(root: &Path, out: &Path) -> Result<Self> {
        let clang = find_clang()?;
        // SAFETY: a build script has one thread. scx_cargo reads its compiler from this variable.
        unsafe { env::set_var("BPF_CLANG", &clang) };
        // This unpacks the headers; the flags of `BpfBuilder` are private.
        BpfBuilder::new()?;
        let headers = out.join("scx_utils-bpf_h");
        let info = ClangInfo::new()?;
        let mut flags = info.determine_base_cflags()?;
        flags.push("-Werror".into());
        // BTF has the names of files: the object must be the same wherever it is built.
        for (place, name) in [(out, "out"), (root, ".")] {
            flags.push(format!("-ffile-prefix-map={}={name}", place.display()));
        }
        flags.push("-fdebug-compilation-dir=.".into());
        for directory in [
            headers.join("arch").join(info.kernel_target()?),
            headers.clone(),
            headers.join("bpf-compat"),
            root.join("schedulers"),
        ] {
            flags.push(format!("-I{}", directory.display()));
        }
        let scratch = out.join("unlinked");
        fs::create_dir_all(&scratch)?;
        Ok(Self { clang, flags, scratch })
    }

    /// Compiles every `*.bpf.c` of `sources` into `destination`. Returns names and objects.
    fn directory(&self, sources: &Path, destination: &Path) -> Result<Vec<(String, PathBuf)>> {
        println!("cargo::rerun-if-changed={}", sources.display());
        let mut files: Vec<PathBuf> = fs::read_dir(sources)
            .with_context(|| format!("cannot read {}", sources.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.sort();
        let mut objects = Vec::new();
        for source in files {
            let name = source.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if let Some(stem) = name.strip_suffix(".bpf.c") {
                objects.push((stem.to_owned(), self.object(&source, stem, destination)?));
            }
        }
        Ok(objects)
    }

    fn object(&self, source: &Path, stem: &str, destination: &Path) -> Result<PathBuf> {
        let unlinked = self.scratch.join(format!("{stem}.bpf.o"));
        let object = destination.join(format!("{stem}.bpf.o"));
        SkeletonBuilder::new()
            .source(source)
            .obj(&unlinked)
            .clang(&self.clang)
            .clang_args(&self.flags)
            .build()
            .with_context(|| format!("cannot compile {}", source.display()))?;
        type_order::settle(&unlinked)
            .with_context(|| format!("cannot order the types of {}", unlinked.display()))?;
        // Linking drops DWARF and settles the offsets of the variables in BTF.
        let mut linker = Linker::new(&object)?;
        linker.add_file(&unlinked)?;
        linker.link()?;
        Ok(object)
    }
}

fn find_clang() -> Result<String> {
    if let Ok(clang) = env::var("BPF_CLANG") {
        let version = clang_version(&clang)
            .with_context(|| format!("BPF_CLANG={clang} does not run as a clang"))?;
        ensure!(
            version >= OLDEST_CLANG,
            "BPF_CLANG={clang} is version {version}; the schedulers need {OLDEST_CLANG} or newer"
        );
        return Ok(clang);
    }
    let named = (OLDEST_CLANG..=NEWEST_CLANG).rev().map(|version| format!("clang-{version}"));
    for clang in named.chain(["clang".to_owned()]) {
        if clang_version(&clang).is_some_and(|version| version >= OLDEST_CLANG) {
            return Ok(clang);
        }
    }
    bail!(
        "the schedulers need clang {OLDEST_CLANG} or newer to compile: install one \
         (package clang-{OLDEST_CLANG}) or name it in BPF_CLANG"
    );
}

/// The major version of `clang`; None if there is no such program or it is not clang.
fn clang_version(clang: &str) -> Option<u32> {
    let output = Command::new(clang).arg("-dumpversion").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split('.').next()?.trim().parse().ok()
}
