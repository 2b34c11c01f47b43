// SPDX-License-Identifier: GPL-2.0-only
//! Every parameter of a disk, and the disks that come with runoff.

use parameters::{Description, Parameter, ParameterError, Settings};
use serde::Serialize;

/// Parameters of every disk, with the values of `ide2003`.
const PARAMETERS: &[Parameter] = &[
    Parameter::choice(
        "moving_parts",
        &["yes", "no"],
        "yes",
        "no: every request takes no time, as in memory, so that only the elevator is left.",
    ),
    Parameter::number(
        "sectors",
        "1",
        1 << 16,
        1 << 33,
        78_000_000,
        "Size in sectors of 512 bytes.",
    ),
    Parameter::number("cylinders", "1", 100, 1_000_000, 60_000, "Positions of the head."),
    Parameter::number(
        "seek_settle_us",
        "us",
        0,
        50_000,
        800,
        "What every seek takes, however short.",
    ),
    Parameter::number(
        "seek_root_ns",
        "ns",
        0,
        1_000_000,
        57_300,
        "This times the root of its cylinders is added.",
    ),
    Parameter::number(
        "seek_knee_cylinders",
        "1",
        1,
        1_000_000,
        20_000,
        "From this length on seeks grow steadily.",
    ),
    Parameter::number("seek_knee_us", "us", 0, 100_000, 8900, "What a seek of that length takes."),
    Parameter::number(
        "seek_cylinder_ps",
        "ps",
        0,
        10_000_000,
        202_500,
        "What each cylinder beyond it adds.",
    ),
    Parameter::number(
        "write_settle_us",
        "us",
        0,
        10_000,
        0,
        "How much longer the head settles before a write.",
    ),
    Parameter::number("rpm", "1", 1000, 30_000, 7200, "Revolutions of the platter per minute."),
    Parameter::number(
        "rate_outer_kb_s",
        "kb/s",
        1000,
        1_000_000,
        40_000,
        "Media rate at the first sector, in 1000 bytes per second.",
    ),
    Parameter::number(
        "rate_inner_kb_s",
        "kb/s",
        1000,
        1_000_000,
        24_000,
        "Media rate at the last sector.",
    ),
    Parameter::number(
        "zones",
        "1",
        1,
        4096,
        1024,
        "Steps of the media rate; 1024 are as good as a steady fall, drives have about 12.",
    ),
    Parameter::number(
        "overhead_us",
        "us",
        0,
        10_000,
        300,
        "What every command takes: its transfer and the interrupt.",
    ),
    Parameter::number(
        "interface_kb_s",
        "kb/s",
        1000,
        10_000_000,
        80_000,
        "Rate to and from the drive's buffer.",
    ),
    Parameter::number(
        "contiguous_us",
        "us",
        0,
        100_000,
        2000,
        "What begins where the last request ended within this time needs neither seek nor rotation.",
    ),
    Parameter::number(
        "read_ahead_kb",
        "kb",
        0,
        65_536,
        256,
        "How much the drive reads on after a read while nothing is asked of it; 0: nothing.",
    ),
    Parameter::choice(
        "write_cache",
        &["off", "on"],
        "off",
        "on: a write is done when it is in the drive's buffer; a flush waits for the platter.",
    ),
    Parameter::number("write_cache_kb", "kb", 64, 65_536, 2048, "Room for such writes."),
    Parameter::choice(
        "rotation",
        &["angle", "drawn"],
        "angle",
        "angle: the platter turns with the time; drawn: each delay is drawn from the seed.",
    ),
    Parameter::number("seed", "1", 0, u64::MAX, 1, "Of the drawn delays."),
];

pub static DISK: Description = Description {
    name: "disk",
    sentence: "A rotational disk that serves one request at a time.",
    parameters: &[PARAMETERS],
};

#[derive(Debug, Serialize)]
pub struct Preset {
    pub name: &'static str,
    pub sentence: &'static str,
    /// Values that differ from the defaults.
    pub values: &'static [(&'static str, &'static str)],
}

pub static DISKS: &[Preset] = &[
    Preset { name: "ide2003", sentence: "7200 rpm ATA, 40 GB, of 2002 or 2003.", values: &[] },
    Preset {
        name: "scsi10k",
        sentence: "10,000 rpm SCSI of the same years, without command queueing.",
        values: &[
            ("sectors", "72000000"),
            ("seek_settle_us", "600"),
            ("seek_root_ns", "31000"),
            ("seek_knee_cylinders", "60000"),
            ("seek_knee_us", "8193"),
            ("rpm", "10000"),
            ("rate_outer_kb_s", "55000"),
            ("rate_inner_kb_s", "40000"),
            ("interface_kb_s", "160000"),
        ],
    },
    Preset {
        name: "none",
        sentence: "No moving parts: every request takes no time.",
        values: &[("moving_parts", "no")],
    },
];

/// The disk of that name, changed by `pairs` of `key=value`; None if there is no such disk.
///
/// # Errors
/// A pair that is not key=value, names no parameter, is out of range or given twice.
pub fn settings<'a>(
    name: &str,
    pairs: impl IntoIterator<Item = &'a str>,
) -> Option<Result<Settings, ParameterError>> {
    let preset = DISKS.iter().find(|preset| preset.name == name)?;
    Some(Settings::new(&DISK).with(preset.values).change(pairs))
}
