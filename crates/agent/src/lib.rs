// SPDX-License-Identifier: GPL-2.0-only
//! The instrument: takes a plan's cells one after the other, on this machine or as the only process of a guest.

mod background;
pub mod booted;
mod cell;
pub mod commands;
mod controllers;
pub mod disk;
pub mod guest;
mod metrics;
mod requests;
pub mod session;
mod sweep;
mod take_over;
