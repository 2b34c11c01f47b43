// SPDX-License-Identifier: GPL-2.0-only
//! The programs of an attached scheduler, as its struct_ops map shows them.

use libbpf_rs::btf::types::{FuncProto, MemberAttr, Struct, StructMember};
use libbpf_rs::btf::{Btf, BtfType, TypeId};
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::kernel_types;

/// One of the programs of the scheduler that was attached last under `name`. None if there is no
/// such scheduler, or no link holds it.
///
/// # Errors
/// libbpf cannot read the kernel's BTF.
pub fn program(name: &str) -> libbpf_rs::Result<Option<u32>> {
    Ok(newest(name)?.map(|(_, program)| program))
}

/// The link that holds the scheduler that was attached last under `name`.
///
/// # Errors
/// libbpf cannot read the kernel's BTF.
pub fn link(name: &str) -> libbpf_rs::Result<Option<u32>> {
    Ok(newest(name)?.map(|(link, _)| link))
}

fn newest(name: &str) -> libbpf_rs::Result<Option<(u32, u32)>> {
    kernel_types::with(|kernel| {
        // Links come in the order in which they were made; an earlier scheduler of that name was
        // ejected.
        let maps = LinkInfoIter::default().filter_map(|link| match link.info {
            LinkTypeInfo::StructOps(ops) => Some((link.id, ops.map_id)),
            _ => None,
        });
        let seen = maps.filter_map(|(link, map)| Some((link, look_at(kernel, map)?)));
        let named = seen.filter(|(_, (seen, _))| seen == name);
        named.map(|(link, (_, program))| (link, program)).last()
    })
}

/// The name and a program of the scheduler in the map `id`; None if the map is not a scheduler's or
/// has just gone.
fn look_at(kernel: &Btf<'_>, id: u32) -> Option<(String, u32)> {
    let info = MapInfoIter::default().find(|info| info.id == id)?;
    let layout = Layout::read(kernel, info.btf_vmlinux_value_type_id)?;
    let map = MapHandle::from_map_id(id).ok()?;
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    Some((layout.name(&value)?, layout.program(&value)?))
}

/// Offsets in the value of a scheduler's struct_ops map, in bytes. A reader finds the numbers of
/// programs where the kernel has pointers to them (kernel/bpf/bpf_struct_ops.c,
/// bpf_struct_ops_map_update_elem).
struct Layout {
    name: usize,
    programs: Vec<usize>,
}

impl Layout {
    fn read(kernel: &Btf<'_>, value: u32) -> Option<Self> {
        let value: Struct<'_> = kernel.type_by_id(TypeId::from(value))?;
        if !value.name()?.to_str()?.starts_with("bpf_struct_ops_sched_ext_ops") {
            return None;
        }
        let data = value.iter().find(|member| named(member, "data"))?;
        let start = offset(&data)?;
        let ops: Struct<'_> = kernel.type_by_id(data.ty)?;
        let name = start + offset(&ops.iter().find(|member| named(member, "name"))?)?;
        let calls = ops.iter().filter(|member| is_call(kernel, member.ty));
        let programs = calls.filter_map(|member| Some(start + offset(&member)?)).collect();
        Some(Self { name, programs })
    }

    fn name(&self, value: &[u8]) -> Option<String> {
        let text = value.get(self.name..)?.split(|&byte| byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn program(&self, value: &[u8]) -> Option<u32> {
        self.programs
            .iter()
            .filter_map(|&place| value.get(place..place + 4)?.try_into().ok())
            .map(u32::from_ne_bytes)
            .find(|&id| id != 0)
    }
}

fn named(member: &StructMember<'_>, name: &str) -> bool {
    member.name.is_some_and(|own| own == name)
}

fn offset(member: &StructMember<'_>) -> Option<usize> {
    match member.attr {
        MemberAttr::Normal { offset } => usize::try_from(offset / 8).ok(),
        MemberAttr::BitField { .. } => None,
    }
}

/// Whether `ty` is a pointer to a function.
fn is_call(kernel: &Btf<'_>, ty: TypeId) -> bool {
    let pointer: Option<BtfType<'_>> = kernel.type_by_id(ty);
    let target = pointer.and_then(|pointer| pointer.skip_mods_and_typedefs().next_type());
    target.is_some_and(|target| FuncProto::try_from(target.skip_mods_and_typedefs()).is_ok())
}
