// SPDX-License-Identifier: GPL-2.0-only

pub use rustix::io::Errno;

/// What a function of the kernel returns for an error.
pub const fn returned(error: Errno) -> u64 {
    (-(error.raw_os_error() as i64)).cast_unsigned()
}
