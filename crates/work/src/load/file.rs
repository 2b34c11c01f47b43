// SPDX-License-Identifier: GPL-2.0-only
//! io_load and read_load: one large file, written or read from beginning to end without a pause.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::sys::statvfs::statvfs;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::done::Done;
use super::end::EndFlag;
use super::ready::say_ready;
use super::sizes::memory_and_swap;
use crate::figures::as_f64;

const CHUNK: usize = 128 << 10;
/// Most bytes that wait for the disk while a file is made.
const SYNC: u64 = 8 << 20;
/// Bytes that a load leaves free in its file system.
const ROOM: u64 = 16 << 20;

#[derive(Args)]
pub struct Write {
    /// How large the file is; 0 is the size of the memory
    #[arg(long, value_name = "MB", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
    size_mb: u64,
    /// Where the file is; the working directory without it
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// That directory must be on another device than the working directory
    #[arg(long, requires = "directory")]
    other_device: bool,
}

#[derive(Args)]
pub struct Read {
    /// How large the file is; 0 is the size of the memory
    #[arg(long, value_name = "MB", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
    size_mb: u64,
}

impl Write {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let mut writer = self.prepare()?;
        say_ready()?;
        writer.work(flag)
    }

    fn prepare(&self) -> Result<Writer> {
        let directory = self.directory.as_deref().unwrap_or(Path::new("."));
        if self.other_device {
            ensure!(
                device(directory)? != device(Path::new("."))?,
                "{} is on the same device as the working directory: name one on another disk",
                directory.display()
            );
        }
        let size = size(self.size_mb)?;
        require_room(directory, size)?;
        Writer::create(directory, size)
    }
}

/// A file that is written from its beginning again when it is full.
pub struct Writer {
    file: Temporary,
    size: u64,
}

impl Writer {
    /// contest 0.61 counted quarters of the memory: its author's logs have 34.1 where 0.60 had 8.
    const UNITS_A_PASS: f64 = 4.0;

    pub fn create(directory: &Path, size: u64) -> Result<Self> {
        Ok(Self { file: Temporary::create(directory.join("io.dat"))?, size })
    }

    pub fn work(&mut self, flag: &EndFlag) -> Result<Done> {
        let (file, size) = (&mut self.file.0, self.size);
        let zeros = vec![0; CHUNK];
        let (mut done, mut at) = (Done::default(), 0);
        while !flag.is_set() {
            let length = CHUNK.min(usize::try_from(size - at).unwrap_or(CHUNK));
            let written = unless_interrupted(file.write(&zeros[..length]))
                .context("cannot write the file")?;
            done.bytes_written += written;
            at += written;
            if at == size {
                done.passes += 1;
                at = 0;
                file.rewind()?;
            }
        }
        done.units = Self::UNITS_A_PASS * as_f64(done.bytes_written) / as_f64(size);
        Ok(done)
    }
}

impl Read {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let size = size(self.size_mb)?;
        require_room(Path::new("."), size)?;
        let mut reader = Reader::create(Path::new("."), size, flag)?;
        say_ready()?;
        reader.work(flag)
    }
}

/// A file that is read from its beginning again when its end has come.
pub struct Reader {
    file: Temporary,
    size: u64,
}

impl Reader {
    /// Makes the file. It is shorter if the load is told to end meanwhile.
    pub fn create(directory: &Path, size: u64, flag: &EndFlag) -> Result<Self> {
        let mut file = Temporary::create(directory.join("read.dat"))?;
        file.fill(size, flag)?;
        Ok(Self { file, size })
    }

    /// Reads until the request to end, and then to the end of the file, so that the next run does
    /// not find a part of it in the cache.
    pub fn work(&mut self, flag: &EndFlag) -> Result<Done> {
        let (file, size) = (&mut self.file.0, self.size);
        let mut buffer = vec![0; CHUNK];
        let mut done = Done::default();
        while !flag.is_set() {
            file.rewind()?;
            loop {
                let read =
                    unless_interrupted(file.read(&mut buffer)).context("cannot read the file")?;
                done.bytes_read += read;
                if done.bytes_read == (done.passes + 1) * size {
                    break;
                }
            }
            done.passes += 1;
        }
        done.units = as_f64(done.passes);
        Ok(done)
    }
}

/// The size of a load's file in bytes: as given, or the memory's.
pub fn size(given_mb: u64) -> Result<u64> {
    Ok(if given_mb == 0 { memory_and_swap()?.0 } else { given_mb << 20 })
}

fn device(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?.dev())
}

/// Requires room for the file before anything is written.
pub fn require_room(directory: &Path, bytes: u64) -> Result<()> {
    let found =
        statvfs(directory).with_context(|| format!("cannot look at {}", directory.display()))?;
    let free = found.blocks_available() * found.fragment_size();
    ensure!(
        free >= bytes + ROOM,
        "the load needs {} MB in {}, which has {} MB free",
        (bytes + ROOM) >> 20,
        fs::canonicalize(directory)?.display(),
        free >> 20
    );
    Ok(())
}

/// A signal in the middle of a call is not an error: the caller checks whether it was the request to end.
fn unless_interrupted(result: io::Result<usize>) -> io::Result<u64> {
    match result {
        Ok(bytes) => Ok(bytes as u64),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) => Err(error),
    }
}

/// A file that is removed with the load.
struct Temporary(File, PathBuf);

impl Temporary {
    fn create(path: PathBuf) -> Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(file, path))
    }

    /// Writes bytes that neither compression nor holes make smaller, through to the disk.
    fn fill(&mut self, size: u64, flag: &EndFlag) -> Result<()> {
        let mut numbers = SplitMix64::seed_from_u64(1);
        let mut left = size;
        while left > 0 && !flag.is_set() {
            let chunk: Vec<u8> =
                (0..CHUNK / 8).flat_map(|_| numbers.next_u64().to_ne_bytes()).collect();
            let length = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
            self.0.write_all(&chunk[..length]).context("cannot write the file to be read")?;
            left -= length as u64;
            // A process that waits for its disk cannot be ended, so it never waits for much at a
            // time.
            if left.is_multiple_of(SYNC) {
                self.0.sync_data().context("cannot write the file to be read")?;
            }
        }
        self.0.sync_all().context("cannot write the file to be read")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The directory goes too; this only saves its disk space sooner.
        let _ = fs::remove_file(&self.1);
    }
}
