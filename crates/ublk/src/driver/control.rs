// SPDX-License-Identifier: GPL-2.0-only
//! The driver's control device: makes, starts, stops and deletes block devices.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, cqueue, opcode, squeue, types};

use crate::driver::abi::{self, ControlCommand, DeviceInfo, DeviceParameters};
use crate::error::DiskError;

/// Mark of the devices of runoff among those of other servers: "rnof", above the process id of the
/// server. The driver itself stores that id only between start and stop.
const OURS: u64 = 0x726e_6f66 << 32;

/// Lets the driver choose the number.
const ANY: u32 = u32::MAX;
const NO_QUEUE: u16 = u16::MAX;

pub struct Control {
    device: File,
    ring: IoUring<squeue::Entry128, cqueue::Entry>,
}

impl Control {
    /// # Errors
    /// The driver is not there, or this process may not use it.
    pub fn open() -> Result<Self, DiskError> {
        let device = File::options().read(true).write(true).open(abi::CONTROL).map_err(
            |error| match error.kind() {
                io::ErrorKind::NotFound => DiskError::NoUblk,
                io::ErrorKind::PermissionDenied => DiskError::NotRoot,
                _ => DiskError::Ublk { what: "opening /dev/ublk-control", error },
            },
        )?;
        let ring = IoUring::builder().build(4).map_err(|error| DiskError::NoRing { error })?;
        Ok(Self { device, ring })
    }

    /// Adds a device with one queue and returns its number.
    pub fn add(&mut self, depth: u16, max_bytes: u32) -> Result<u32, DiskError> {
        let mut info = DeviceInfo {
            nr_hw_queues: 1,
            queue_depth: depth,
            max_io_buf_bytes: max_bytes,
            dev_id: ANY,
            flags: abi::F_USER_COPY | abi::F_CMD_IOCTL_ENCODE,
            ublksrv_flags: OURS | u64::from(std::process::id()),
            ..DeviceInfo::default()
        };
        self.pass(abi::ADD_DEV, ANY, &mut info).map_err(ublk("adding a device"))?;
        Ok(info.dev_id)
    }

    pub fn describe(
        &mut self,
        number: u32,
        mut parameters: DeviceParameters,
    ) -> Result<(), DiskError> {
        parameters.len = bytes_of::<DeviceParameters>().into();
        parameters.types = abi::PARAM_TYPE_BASIC;
        self.pass(abi::SET_PARAMS, number, &mut parameters).map_err(ublk("describing the device"))
    }

    /// Makes /dev/ublkbN; waits for a server that has fetched every tag and serves the first reads.
    pub fn start(&mut self, number: u32) -> Result<(), DiskError> {
        let command = ControlCommand {
            dev_id: number,
            queue_id: NO_QUEUE,
            data: u64::from(std::process::id()),
            ..ControlCommand::default()
        };
        self.call(abi::START_DEV, command).map_err(ublk("starting the device"))
    }

    /// Removes /dev/ublkbN: later requests fail, and its server gets all tags back.
    pub fn stop(&mut self, number: u32) -> Result<(), DiskError> {
        self.plain(abi::STOP_DEV, number).map_err(ublk("stopping the device"))
    }

    /// Deletes the device. Its number stays taken as long as any process has it mounted or open;
    /// kernels before 6.9 wait here for that to end.
    pub fn delete(&mut self, number: u32) -> Result<(), DiskError> {
        let deleted = self.plain(abi::DEL_DEV_ASYNC, number);
        let deleted = deleted.or_else(|_| self.plain(abi::DEL_DEV, number));
        deleted.map_err(ublk("deleting the device"))
    }

    /// Stops and deletes a device whose server is gone.
    pub fn take_away(&mut self, number: u32) -> Result<(), DiskError> {
        self.stop(number)?;
        self.delete(number)
    }

    fn info(&mut self, number: u32) -> io::Result<DeviceInfo> {
        let mut info = DeviceInfo::default();
        self.pass(abi::GET_DEV_INFO, number, &mut info)?;
        Ok(info)
    }

    fn plain(&mut self, operation: u32, number: u32) -> io::Result<()> {
        let command =
            ControlCommand { dev_id: number, queue_id: NO_QUEUE, ..ControlCommand::default() };
        self.call(operation, command)
    }

    fn pass<T>(&mut self, operation: u32, number: u32, argument: &mut T) -> io::Result<()> {
        let command = ControlCommand {
            dev_id: number,
            queue_id: NO_QUEUE,
            len: bytes_of::<T>(),
            addr: std::ptr::from_mut(argument) as u64,
            ..ControlCommand::default()
        };
        self.call(operation, command)
    }

    fn call(&mut self, operation: u32, command: ControlCommand) -> io::Result<()> {
        let entry = opcode::UringCmd80::new(types::Fd(self.device.as_raw_fd()), operation)
            .cmd(command.bytes())
            .build();
        // SAFETY: the memory that the command points to lives until its completion has been seen
        // below.
        unsafe { self.ring.submission().push(&entry) }.expect("the ring is empty");
        while let Err(error) = self.ring.submit_and_wait(1) {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let completion = self.ring.completion().next().expect("one was waited for");
        match completion.result() {
            0.. => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

fn bytes_of<T>() -> u16 {
    size_of::<T>().try_into().expect("what the driver takes is small")
}

fn ublk(what: &'static str) -> impl FnOnce(io::Error) -> DiskError {
    move |error| DiskError::Ublk { what, error }
}

/// Numbers of the devices of runoff, each with the process id of its server.
pub fn ours() -> Result<Vec<(u32, u32)>, DiskError> {
    let numbers = numbers();
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let mut control = Control::open()?;
    let infos = numbers.into_iter().map(|number| (number, control.info(number)));
    let ours = infos.filter_map(|(number, info)| {
        let server = u32::try_from(info.ok()?.ublksrv_flags ^ OURS).ok()?;
        Some((number, server))
    });
    Ok(ours.collect())
}

fn numbers() -> Vec<u32> {
    let entries = fs::read_dir("/sys/class/ublk-char").into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("ublkc")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}
