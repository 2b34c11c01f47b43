// SPDX-License-Identifier: GPL-2.0-only
//! The language of scenes (docs/scenes.md): who does what, with which pipes, locks and files
//! between them, and which metrics that gives. Nothing here needs a kernel.

mod check;
mod held;
mod language;
mod length;
mod line;
mod metrics;
mod mistake;
mod resource;
mod scene;
mod script;
mod step;

pub use length::Length;
pub use metrics::{Direction, Kind as MetricKind, Metric, metrics};
pub use mistake::Mistake;
pub use resource::{Kind, MOST as MOST_RESOURCES, Resource};
pub use scene::Scene;
pub use script::{Repeat, Script};
pub use step::{Policy, STEPS, Step};
