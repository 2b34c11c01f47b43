// SPDX-License-Identifier: GPL-2.0-only
//! Settings that are a part of an arm: those of the whole machine, which are changed for a sample
//! and put back, also when this process is killed, and those of a work, which go with it.

mod applied;
mod boot;
mod catalogue;
mod error;
mod file;
mod files;
mod form;
mod saved;
mod work;

pub use applied::Applied;
pub use catalogue::{Description, describe};
pub use error::SettingError;
pub use saved::SavedFile;
pub use work::WorkSettings;
