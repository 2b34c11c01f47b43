// SPDX-License-Identifier: GPL-2.0-only
//! The interface of ublk_drv (Linux include/uapi/linux/ublk_cmd.h, Documentation/block/ublk.rst).

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The driver's own device, for everything that is not a request.
pub const CONTROL: &str = "/dev/ublk-control";

/// Most requests in one queue.
pub const MAX_DEPTH: u16 = 4096;

/// The data of requests is read and written through the character device (Linux 6.5).
pub const F_USER_COPY: u64 = 1 << 7;
/// Commands are encoded like those of ioctl(2).
pub const F_CMD_IOCTL_ENCODE: u64 = 1 << 6;

pub const GET_DEV_INFO: u32 = read(0x02, size_of::<ControlCommand>());
pub const ADD_DEV: u32 = read_write(0x04, size_of::<ControlCommand>());
pub const DEL_DEV: u32 = read_write(0x05, size_of::<ControlCommand>());
pub const START_DEV: u32 = read_write(0x06, size_of::<ControlCommand>());
pub const STOP_DEV: u32 = read_write(0x07, size_of::<ControlCommand>());
pub const SET_PARAMS: u32 = read_write(0x08, size_of::<ControlCommand>());
/// Linux 6.9.
pub const DEL_DEV_ASYNC: u32 = read(0x14, size_of::<ControlCommand>());
pub const FETCH_REQ: u32 = read_write(0x20, size_of::<IoCommand>());
pub const COMMIT_AND_FETCH_REQ: u32 = read_write(0x21, size_of::<IoCommand>());

pub const OP_READ: u8 = 0;
pub const OP_WRITE: u8 = 1;
pub const OP_FLUSH: u8 = 2;

pub const ATTR_ROTATIONAL: u32 = 1 << 1;
pub const ATTR_VOLATILE_CACHE: u32 = 1 << 2;
pub const PARAM_TYPE_BASIC: u32 = 1 << 0;

/// Offset of the descriptors of queue 0 in a mapping.
pub const DESCRIPTORS: i64 = 0;
/// Offset of the data of queue 0; tags are 1 << `DATA_BITS` apart.
const DATA: u64 = 0x8000_0000;
const DATA_BITS: u32 = 25;

/// The offset of the data of `tag` in the character device.
pub fn data_offset(tag: u16) -> u64 {
    DATA + (u64::from(tag) << DATA_BITS)
}

/// `_IOR('u', number, bytes)` of asm-generic/ioctl.h.
const fn read(number: u8, bytes: usize) -> u32 {
    encode(2, number, bytes)
}

const fn read_write(number: u8, bytes: usize) -> u32 {
    encode(3, number, bytes)
}

#[expect(clippy::cast_possible_truncation, reason = "the assertion is made when this is compiled")]
const fn encode(direction: u32, number: u8, bytes: usize) -> u32 {
    assert!(bytes < 1 << 14, "a command has no room for its size");
    (direction << 30) | ((bytes as u32) << 16) | ((b'u' as u32) << 8) | number as u32
}

#[repr(C)]
#[derive(Debug, Default, Clone, Copy, IntoBytes, Immutable)]
pub struct ControlCommand {
    pub dev_id: u32,
    pub queue_id: u16,
    pub len: u16,
    pub addr: u64,
    pub data: u64,
    pub dev_path_len: u16,
    pub pad: u16,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Debug, Default, Clone, Copy, FromBytes, IntoBytes)]
pub struct DeviceInfo {
    pub nr_hw_queues: u16,
    pub queue_depth: u16,
    pub state: u16,
    pub pad0: u16,
    pub max_io_buf_bytes: u32,
    pub dev_id: u32,
    pub ublksrv_pid: i32,
    pub pad1: u32,
    pub flags: u64,
    /// Free for servers; the driver only keeps it.
    pub ublksrv_flags: u64,
    pub owner_uid: u32,
    pub owner_gid: u32,
    pub reserved: [u64; 2],
}

/// `struct ublk_params` up to the last field that is used.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, FromBytes, IntoBytes)]
pub struct DeviceParameters {
    pub len: u32,
    pub types: u32,
    pub attrs: u32,
    pub logical_bs_shift: u8,
    pub physical_bs_shift: u8,
    pub io_opt_shift: u8,
    pub io_min_shift: u8,
    pub max_sectors: u32,
    pub chunk_sectors: u32,
    pub dev_sectors: u64,
    pub virt_boundary_mask: u64,
}

/// A request, as the driver describes it.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, FromBytes)]
pub struct Descriptor {
    pub op_flags: u32,
    pub nr_sectors: u32,
    pub start_sector: u64,
    pub addr: u64,
}

impl Descriptor {
    pub fn op(&self) -> u8 {
        (self.op_flags & 0xff) as u8
    }

    /// The first sector and the number of sectors; none for a flush, whose fields are invalid
    /// (block/blk-mq.c `blk_rq_init`: -1).
    pub fn extent(&self) -> (u64, u64) {
        match self.op() {
            OP_FLUSH => (0, 0),
            _ => (self.start_sector, self.nr_sectors.into()),
        }
    }
}

#[repr(C)]
#[derive(Debug, Default, Clone, Copy, IntoBytes, Immutable)]
pub struct IoCommand {
    pub q_id: u16,
    pub tag: u16,
    pub result: i32,
    pub addr: u64,
}

impl IoCommand {
    pub fn bytes(&self) -> [u8; 16] {
        zerocopy::transmute!(*self)
    }
}

impl ControlCommand {
    /// The bytes, padded to the size of a long entry of io_uring.
    pub fn bytes(&self) -> [u8; 80] {
        let mut padded = [0; 80];
        padded[..size_of::<Self>()].copy_from_slice(self.as_bytes());
        padded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_driver() {
        assert_eq!(size_of::<DeviceInfo>(), 64);
        assert_eq!(size_of::<DeviceParameters>(), 40);
        assert_eq!(size_of::<Descriptor>(), 24);
        assert_eq!((size_of::<ControlCommand>(), size_of::<IoCommand>()), (32, 16));
        assert_eq!((ADD_DEV, FETCH_REQ), (0xc020_7504, 0xc010_7520));
        assert_eq!(data_offset(1), 0x8200_0000);
    }

    #[test]
    fn a_flush_has_no_sectors() {
        let flush =
            Descriptor { op_flags: OP_FLUSH.into(), start_sector: u64::MAX, ..Default::default() };
        assert_eq!(flush.extent(), (0, 0));
        let read = Descriptor { nr_sectors: 8, start_sector: u64::MAX, ..Default::default() };
        assert_eq!((read.op(), read.extent()), (OP_READ, (u64::MAX, 8)));
    }

    #[test]
    fn commands_are_as_c_lays_them_out() {
        let command = IoCommand { q_id: 1, tag: 0x203, result: -1, addr: 4 };
        let (four, last) = (4_u64.to_ne_bytes(), [0xff; 4]);
        let expected = [&1_u16.to_ne_bytes()[..], &0x203_u16.to_ne_bytes(), &last, &four].concat();
        assert_eq!(command.bytes()[..], expected);
        let command = ControlCommand { dev_id: 7, reserved: 9, ..ControlCommand::default() };
        let bytes = command.bytes();
        assert_eq!(bytes[..4], 7_u32.to_ne_bytes());
        assert_eq!(bytes[28..32], 9_u32.to_ne_bytes());
        assert!(bytes[32..].iter().all(|byte| *byte == 0));
    }
}
