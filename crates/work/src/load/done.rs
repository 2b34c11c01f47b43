// SPDX-License-Identifier: GPL-2.0-only
//! The counters of loads.

use serde::Serialize;

/// What a load did between `ready` and its end.
#[derive(Debug, Default, Serialize)]
pub struct Done {
    /// How often it went through all of its work.
    pub passes: u64,
    /// Passes with a fraction, in contest's unit of this load.
    pub units: f64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}
