// SPDX-License-Identifier: GPL-2.0-only
//! ctar_load and xtar_load: packing a tree of files, unpacking it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::done::Done;
use super::end::EndFlag;
use super::file::require_room;
use super::programs::{Unfinished, complete};
use super::ready::say_ready;
use crate::figures::as_f64;

#[derive(Args)]
pub struct Create {
    /// The tree
    #[arg(long, value_name = "DIRECTORY")]
    tree: PathBuf,
}

#[derive(Args)]
pub struct Extract {
    /// The tree; it is packed before the load is ready
    #[arg(long, value_name = "DIRECTORY")]
    tree: PathBuf,
}

const ARCHIVE: &str = "load.tar";

/// What either load did, from the number of completed archives.
fn done(passes: u64, archive_bytes: u64) -> Done {
    Done {
        passes,
        units: as_f64(passes),
        bytes_read: passes * archive_bytes,
        bytes_written: passes * archive_bytes,
    }
}

impl Create {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let tree_bytes = tree_bytes(&self.tree)?;
        require_room(Path::new("."), tree_bytes)?;
        say_ready()?;
        let (mut passes, mut size) = (0, 0);
        while complete(pack(&self.tree), Unfinished::Left, flag)? {
            passes += 1;
            size = fs::metadata(ARCHIVE)?.len();
            fs::remove_file(ARCHIVE).context("cannot remove the archive")?;
        }
        Ok(done(passes, size))
    }
}

impl Extract {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let tree_bytes = tree_bytes(&self.tree)?;
        require_room(Path::new("."), 2 * tree_bytes)?;
        if !complete(pack(&self.tree), Unfinished::Reaped, flag)? {
            return Ok(Done::default());
        }
        let size = fs::metadata(ARCHIVE)?.len();
        say_ready()?;
        let mut passes = 0;
        loop {
            let target = format!("xtar.{passes}");
            fs::create_dir(&target).context("cannot make a directory")?;
            if !complete(unpack(&target), Unfinished::Left, flag)? {
                return Ok(done(passes, size));
            }
            fs::remove_dir_all(&target).context("cannot remove an unpacked tree")?;
            passes += 1;
        }
    }
}

fn pack(tree: &Path) -> Command {
    let mut command = Command::new("tar");
    command.args(["--create", "--file", ARCHIVE, "--directory"]).arg(tree).arg(".");
    command
}

fn unpack(target: &str) -> Command {
    let mut command = Command::new("tar");
    command.args(["--extract", "--file", ARCHIVE, "--directory", target]);
    command
}

/// About the size of a tree in an archive.
fn tree_bytes(tree: &Path) -> Result<u64> {
    const HEADER: u64 = 512;
    let mut bytes = 0;
    let mut directories = vec![tree.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory)
            .with_context(|| format!("cannot read the tree {}", directory.display()))?;
        for entry in entries {
            let entry = entry?;
            let metadata = entry.metadata()?;
            bytes += HEADER + metadata.len().next_multiple_of(HEADER);
            if metadata.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    ensure!(bytes > 0, "the tree {} is empty", tree.display());
    Ok(bytes)
}
