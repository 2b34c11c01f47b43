// SPDX-License-Identifier: GPL-2.0-only
//! The log of a disk's requests: what is kept of each, the lines that it is written in, and its way to who reads it.

pub mod pieces;
pub mod request_lines;
pub mod request_log;
