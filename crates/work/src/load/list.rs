// SPDX-License-Identifier: GPL-2.0-only
//! list_load: a recursive listing.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use clap::Args;

use super::done::Done;
use super::end::EndFlag;
use super::programs::{Unfinished, complete};
use super::ready::say_ready;
use crate::figures::as_f64;

#[derive(Args)]
pub struct List {
    /// Where it begins; not a directory with /proc or /sys below it, which change all the time
    #[arg(long, value_name = "DIRECTORY")]
    tree: PathBuf,
}

impl List {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        ensure!(self.tree.is_dir(), "there is no directory {}", self.tree.display());
        let mut done = Done::default();
        say_ready()?;
        let list = || {
            let mut command = Command::new("ls");
            command.args(["-lRa", "--color=never"]).arg(&self.tree);
            command
        };
        while complete(list(), Unfinished::Reaped, flag)? {
            done.passes += 1;
        }
        done.units = as_f64(done.passes);
        Ok(done)
    }
}
