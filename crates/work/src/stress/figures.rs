// SPDX-License-Identifier: GPL-2.0-only
//! The printed results of a stress.

use serde::Serialize;

/// What the stress did, and what happened.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    pub elapsed_s: f64,
    pub workers: usize,
    pub crowd: usize,
    pub forks: u64,
    pub affinity_changes: u64,
    pub nice_changes: u64,
    pub policy_changes: u64,
    pub stops: u64,
    pub hotplugs: u64,
    pub group_changes: u64,
    /// Steps of the workers by kind.
    pub yields: u64,
    pub naps: u64,
    pub messages: u64,
    pub visits: u64,
    /// The longest time for which a worker could run but did not.
    pub longest_wait_ms: f64,
    pub longest_wait_of: String,
    /// The longest wait of workers that were neither batch nor idle tasks meanwhile.
    pub longest_normal_wait_ms: f64,
    pub longest_normal_wait_of: String,
    /// Children that did not end as they should.
    pub lost: u64,
    /// Children that did not end when all was over.
    pub unfinished: u64,
}
