// SPDX-License-Identifier: GPL-2.0-only
//! The log of a disk's requests: its entries, its lines, and its way to the reader.

pub mod pieces;
pub mod request_lines;
pub mod request_log;
