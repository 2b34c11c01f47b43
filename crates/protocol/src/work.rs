// SPDX-License-Identifier: GPL-2.0-only
//! Workloads and loads: what they bring, what they run, and which numbers they print.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::Setting;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub name: String,
    /// Becomes the root directory of every command; the scratch directory is made inside it.
    pub root: Option<PathBuf>,
    /// In the scratch directory before the first command.
    #[serde(default)]
    pub files: Vec<OwnFile>,
    /// Controllers of control groups, such as `cpu`, that it wants for groups of its own.
    #[serde(default)]
    pub controllers: Vec<String>,
    /// Settings of its processes, and of the control group that the measured program is in.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// Run one after the other before the clock starts, in the scratch directory.
    pub prepare: Vec<Vec<String>>,
    /// A program that answers the measured one.
    #[serde(default)]
    pub server: Option<Server>,
    /// The measured program.
    pub command: Vec<String>,
    /// Added to a clean environment.
    pub environment: BTreeMap<String, String>,
    /// Limit for each command in seconds.
    pub timeout_s: f64,
    /// Numbers to read from what the program prints.
    pub extract: Vec<Extract>,
}

/// It runs from before the start of the measured program to after its end, in its scratch directory, and is ended by
/// SIGTERM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    pub command: Vec<String>,
    /// Run again and again, until it succeeds: then the server answers, and the measured program starts.
    pub ready: Vec<String>,
}

/// A file of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnFile {
    /// The file's path in the scratch directory.
    pub name: String,
    /// Where the agent reads it.
    pub path: PathBuf,
    /// Digest of the content.
    pub sha256: String,
    pub is_executable: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    pub metric: String,
    pub find: Find,
    /// The unit of the metric.
    #[serde(default)]
    pub unit: String,
    #[serde(default)]
    pub which: Which,
    /// Reads of a table only the rows that have this text in another column.
    #[serde(default)]
    pub row: Option<String>,
    /// Commas, colons, points and blanks beside the number are not part of it.
    #[serde(default)]
    pub separated: bool,
    /// What stands between each three digits of a large number.
    #[serde(default)]
    pub thousands: Option<char>,
    #[serde(default)]
    pub stream: Stream,
}

/// Where the number stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Find {
    /// A regular expression whose first group is the number, and whose group named `unit`, if there is one, its unit.
    Pattern(String),
    /// A `JMESPath` query in each JSON document.
    Json(String),
    /// The name of a column in each table.
    Csv(String),
}

/// One of several numbers, or all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// There is no choice: all must be the same.
    #[default]
    Only,
    First,
    Last,
    Sum,
    Mean,
    Max,
    Min,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
}

impl Stream {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Work in the background. It is ended by SIGTERM after the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The load; its numbers are read from the output when it has ended.
    pub work: Workload,
    /// A regular expression: the workload starts when the output matches it; at once without it.
    pub ready: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_one_that_was_written() {
        let text = r#"{"name": "w", "root": null, "prepare": [], "command": [], "environment": {},
            "timeout_s": 1.888888888888889e91, "extract": []}"#;
        let workload: Workload = serde_json::from_str(text).unwrap();
        assert_eq!(workload.timeout_s, 1.888_888_888_888_889e91);
    }
}
