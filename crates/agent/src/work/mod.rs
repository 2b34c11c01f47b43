// SPDX-License-Identifier: GPL-2.0-only
//! Small programs that need nothing but this binary: work with nothing but the scheduler in it.

pub mod burn;
pub mod counters;
pub mod hogs;
pub mod periodic;
pub mod process;
pub mod readers;
pub mod render;
pub mod schbench;
pub mod stress;
pub mod yielders;
