// SPDX-License-Identifier: GPL-2.0-only
//! Settings that are a part of an arm: those of the whole machine, which are changed for a sample
//! and put back, also when this process is killed.

mod applied;
mod catalogue;
mod error;
mod file;
mod files;
mod form;
mod saved;

pub use applied::Applied;
pub use catalogue::{Description, describe};
pub use error::SettingError;
pub use saved::SavedFile;
