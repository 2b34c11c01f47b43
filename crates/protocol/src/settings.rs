// SPDX-License-Identifier: GPL-2.0-only
//! Settings of the machine and of works that are a part of an arm.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting as `runoff-agent settings` describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: String,
    pub value: String,
}

/// A setting that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingSeen {
    /// What has it: `machine`, `workload` or `load`.
    pub of: String,
    pub name: String,
    pub wanted: String,
    /// The value before, and after everything is put back.
    pub was: String,
    /// The value in force: another number than was wanted where the kernel has rounded it.
    pub is: String,
}
