// SPDX-License-Identifier: GPL-2.0-only
//! Small programs that need nothing but this binary, to see how a scheduler treats them.

pub mod hogs;
