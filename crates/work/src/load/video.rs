// SPDX-License-Identifier: GPL-2.0-only
//! video_load: the task of `periodic` as a load.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::done::Done;
use super::end::EndFlag;
use super::ready::say_ready;
use crate::burn::Calibration;
use crate::figures::as_f64;
use crate::periodic::{Task, wake_and_work};

#[derive(Args)]
pub struct Video {
    /// What `calibrate` has written
    #[arg(long, value_name = "FILE")]
    calibration: PathBuf,
}

impl Video {
    /// Runs the task; a pass is one picture.
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let calibration = Calibration::read(&self.calibration)?;
        say_ready()?;
        let passes = wake_and_work(Task::Video, calibration, || flag.is_set())?.burns;
        Ok(Done { passes, units: as_f64(passes), ..Done::default() })
    }
}
