// SPDX-License-Identifier: GPL-2.0-only
//! video_load: the task of `periodic` as a load.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::{Done, Stop, say_ready};
use crate::work::burn::Burn;
use crate::work::periodic::{Task, wake_and_work};

#[derive(Args)]
pub struct Video {
    /// What `calibrate` has written
    #[arg(long, value_name = "FILE")]
    calibration: PathBuf,
}

impl Video {
    /// A pass is a picture.
    pub fn run(&self, stop: &Stop) -> Result<Done> {
        let burn = Burn::calibrated(&self.calibration)?;
        say_ready()?;
        let passes = wake_and_work(Task::Video, burn, || stop.requested())?.burns;
        Ok(Done { passes, units: passes as f64, ..Done::default() })
    }
}
