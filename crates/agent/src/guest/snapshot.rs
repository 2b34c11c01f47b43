// SPDX-License-Identifier: GPL-2.0-only
//! The moment at which the lab saves a booted guest. Copies of it go on from there, each with its
//! own orders (python/runoff/engines/lab/snapshot.py).

use std::fs::{self, File};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use machine::stop::Stop;
use protocol::Scheduler;
use schedulers::Ready;
use serde::Deserialize;

use super::fw_cfg;
use super::ports::Ports;

const ORDERS: &str = "opt/org.runoff/orders";
const REQUESTS: &str = "/run/requests.jsonl";

/// What makes one copy different from the next.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Orders {
    /// Scheduler to make ready before the machine stops once more.
    ready: Option<Scheduler>,
    seed: u64,
    requests: Vec<serde_json::Value>,
}

/// What a copy goes on with: its scheduler, seed and requests.
pub struct Passed {
    pub ready: Option<Ready>,
    pub seed: u64,
    pub requests: File,
}

/// Stops the machine, and once more when a scheduler is ready, if the orders name one. A copy goes on.
pub fn pass(request: &Stop) -> Result<Passed> {
    let mut orders = stop()?;
    let mut ready = None;
    if let Some(scheduler) = &orders.ready {
        ready = schedulers::make_ready(scheduler, request)?;
        orders = stop()?;
    }
    let lines: Vec<String> = orders.requests.iter().map(|line| format!("{line}\n")).collect();
    fs::write(REQUESTS, lines.concat())?;
    Ok(Passed { ready, seed: orders.seed, requests: File::open(REQUESTS)? })
}

fn stop() -> Result<Orders> {
    stop_machine().context("cannot set the watchdog")?;
    let text = fw_cfg::read(ORDERS)?;
    serde_json::from_slice(&text).context("the orders are not valid")
}

/// Sleeps until the watchdog (QEMU hw/watchdog/wdt_ib700.c) has stopped the machine. It is then as
/// quiet as it can be: when all tasks sleep, every CPU is at the same time.
fn stop_machine() -> Result<()> {
    const START: u16 = 0x443;
    /// Two seconds.
    const LIMIT: u8 = 14;
    Ports::open(START, 1)?.write_byte(START, LIMIT);
    sleep(Duration::from_secs(3));
    Ok(())
}
