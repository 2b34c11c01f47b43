// SPDX-License-Identifier: GPL-2.0-only
//! Complete fair queueing: every process has a queue of its own, and all queues get an equal share.

mod order;
mod process;
pub mod rounds;
pub mod sliced;
