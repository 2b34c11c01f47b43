// SPDX-License-Identifier: GPL-2.0-only
//! The session's line: the second serial port, as a raw byte stream.

use std::fs::File;

use anyhow::{Context, Result};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

/// The first port is the kernel's console.
const PORT: &str = "/dev/ttyS1";

pub fn open() -> Result<File> {
    let port = File::options()
        .read(true)
        .write(true)
        .open(PORT)
        .with_context(|| format!("cannot open {PORT}"))?;
    let mut settings = tcgetattr(&port)?;
    cfmakeraw(&mut settings);
    tcsetattr(&port, SetArg::TCSANOW, &settings)?;
    Ok(port)
}
