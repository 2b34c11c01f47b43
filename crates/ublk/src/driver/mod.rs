// SPDX-License-Identifier: GPL-2.0-only
//! The driver ublk_drv: its interface, its control device, the channel of its requests, and the
//! names of its devices.

pub mod abi;
pub mod channel;
pub mod control;
pub mod device;
pub mod shared;
