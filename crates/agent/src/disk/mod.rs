// SPDX-License-Identifier: GPL-2.0-only
//! The disk that a sample's directories are on: made for it, or the machine's own.

pub mod borrowed;
mod error;
mod mounted;
pub mod place;
mod sample;
mod server_output;

pub use error::exit_code;
pub use sample::SampleDisk;
